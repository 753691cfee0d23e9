// SPDX-License-Identifier: BSD-2-Clause
#include "worker/stream/error_page.h"

#include <algorithm>

#include "shared/base/text.h"
#include "worker/http/h1_head.h"

namespace penstock {

namespace {

#define PENSTOCK_PAGE(title, sentence) "<html><body><h1>" title "</h1>\n" sentence "\n</body></html>\n"

constexpr ErrorPage pages[] = {
    {200, "OK", PENSTOCK_PAGE("200 OK", "All runs well."), false},
    {400, "Bad request", PENSTOCK_PAGE("400 Bad request", "The request isn't HTTP as we know it."), true},
    {401, "Unauthorized", PENSTOCK_PAGE("401 Unauthorized", "Please give a user name and the password that go together."), false},
    {403, "Forbidden", PENSTOCK_PAGE("403 Forbidden", "The rules of this site forbid the request."), false},
    {404, "Not Found", PENSTOCK_PAGE("404 Not Found", "Nothing is known by such a name."), false},
    {405, "Method Not Allowed", PENSTOCK_PAGE("405 Method Not Allowed", "The method of this request is one that the resource, which does exist here, won't take."), false},
    {407, "Unauthorized", PENSTOCK_PAGE("407 Unauthorized", "Please give a user name and the password that go together."), false},
    {408, "Request Time-out", PENSTOCK_PAGE("408 Request Time-out", "The request did not arrive complete within its time."), true},
    {410, "Gone", PENSTOCK_PAGE("410 Gone", "What was here has been taken away for good and won't ever come back."), false},
    {413, "Payload Too Large", PENSTOCK_PAGE("413 Payload Too Large", "The request has more content than we will take."), false},
    {414, "URI Too Long", PENSTOCK_PAGE("414 URI Too Long", "The address in the request is longer than we can handle."), false},
    {421, "Misdirected Request", PENSTOCK_PAGE("421 Misdirected Request", "This server doesn't answer for such a name."), false},
    {422, "Unprocessable Content", PENSTOCK_PAGE("422 Unprocessable Content", "The request was understood but it cannot be followed."), false},
    {425, "Too Early", PENSTOCK_PAGE("425 Too Early", "The request came a bit early."), false},
    {429, "Too Many Requests", PENSTOCK_PAGE("429 Too Many Requests", "More requests came from you than are allowed at this time."), false},
    {431, "Request Header Fields Too Large", PENSTOCK_PAGE("431 Request Header Fields Too Large", "The request fields are too long."), false},
    {500, "Internal Server Error", PENSTOCK_PAGE("500 Internal Server Error", "The proxy failed by its own fault."), false},
    {501, "Not Implemented", PENSTOCK_PAGE("501 Not Implemented", "What the request asks for is something that this server has not learned to do."), false},
    {502, "Bad Gateway", PENSTOCK_PAGE("502 Bad Gateway", "The server gave no answer that could be passed onward."), false},
    {503, "Service Unavailable", PENSTOCK_PAGE("503 Service Unavailable", "There is no server now to handle this request."), false},
    {504, "Gateway Time-out", PENSTOCK_PAGE("504 Gateway Time-out", "No server gave its answer in time."), false},
    {505, "HTTP Version Not Supported", PENSTOCK_PAGE("505 HTTP Version Not Supported", "The request is in a version of HTTP that is not spoken here."), true},
};
static_assert(std::ranges::is_sorted(pages, {}, &ErrorPage::status));

constexpr string_view class_names[] = {"Other", "Informational", "Success", "Redirection", "Client Error", "Server Error"};

bool may_have_length(u16 status) { return status / 100 != 1 && status != 204; }

void add_number(HttpMessage &head, Header id, u64 v) {
  char text[24];
  head.add(id, {text, static_cast<size_t>(write_u64(text, v) - text)});
}

} // namespace

const ErrorPage *error_page(u16 status) {
  auto it = std::ranges::lower_bound(pages, status, {}, &ErrorPage::status);
  return it != std::end(pages) && it->status == status ? it : nullptr;
}

string_view reason_for(u16 status) {
  string_view known = reason_phrase(status);
  return known.empty() ? class_names[status < 600 ? status / 100 : 0] : known;
}

string_view build_error_page(u16 status, HttpMessage &head, bool &close) {
  const ErrorPage *page = error_page(status);
  if (page == nullptr) {
    head.make_response(status, reason_for(status));
    finish_reply_head(head, 0, {});
    return {};
  }
  head.make_response(status, page->reason);
  add_number(head, Header::ContentLength, page->text.size());
  head.add(Header::CacheControl, "no-cache");
  head.add(Header::ContentType, "text/html");
  close |= page->close;
  return page->text;
}

void finish_reply_head(HttpMessage &head, size_t body_bytes, string_view content_type) {
  if (may_have_length(head.status())) add_number(head, Header::ContentLength, body_bytes);
  if (!content_type.empty()) head.add(Header::ContentType, content_type);
}

void build_error_redirect(u16 code, string_view location, HttpMessage &head) {
  head.make_response(code, reason_for(code));
  head.add(Header::CacheControl, "no-cache");
  head.add(Header::ContentLength, "0");
  head.add(Header::Location, location);
}

bool build_from_file(string_view text, HttpMessage &head, string_view &body, bool &close) {
  H1Limits limits;
  limits.max_head_bytes = ~u32{0};
  u32 scanned = 0;
  H1Framing framing;
  HeadResult r = parse_response_head(text, limits, Method::Get, scanned, head, framing);
  if (r.status != HeadStatus::Complete) return false;
  body = text.substr(r.consumed);
  close |= framing.close_said || framing.kind == BodyKind::UntilClose;
  head.remove_all(Header::Connection);
  return true;
}

} // namespace penstock
