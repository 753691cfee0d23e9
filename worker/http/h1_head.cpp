// SPDX-License-Identifier: BSD-2-Clause
// One pass over the bytes of a head: lines are checked and noted as offsets while they are read, and
// the whole head is copied into the message at its end. A head that is not complete yet is read again
// from its start when a further line has arrived, so that a bad line is refused at once.
// What several implementations could read in different ways is refused (RFC 9112, sections 2.2, 3, 5 and 6);
// what `relaxed` lets through is the list of `option accept-unsafe-violations-in-http-request`.
#include "worker/http/h1_head.h"

#include <algorithm>
#include <cstring>

#include "shared/base/text.h"
#include "shared/http/uri.h"
#include "worker/http/h1_chars.h"
#include "worker/http/h1_fields.h"

namespace penstock {

namespace {

using namespace h1;

class HeadReader {
 public:
  HeadReader(string_view bytes, const H1Limits &limits, HttpMessage &msg, H1Framing &framing)
      : base_(bytes.data()), p_(base_), end_(base_ + bytes.size()), limits_(limits), msg_(msg), framing_(framing) {}

  HeadResult request();
  HeadResult response(Method request_method);

 private:
  enum class Line : u8 { Read, Empty, Short, Bad }; // Short: its end has not arrived

  bool bad(const char *at, const char *why, u16 with = 400) {
    result_.status = HeadStatus::Bad;
    result_.error_at = static_cast<u32>(at - base_);
    result_.error = why;
    result_.refuse_with = with;
    return false;
  }
  Line bad_line(const char *at, const char *why, u16 with = 400) { return bad(at, why, with), Line::Bad; }
  u32 at(const char *p) const { return static_cast<u32>(p - base_); }

  HeadResult ended_as(Line line) {
    if (line == Line::Short) result_.status = HeadStatus::NeedMore;
    return result_;
  }

  Line skip_empty_lines();
  Line end_of_line(bool first);
  Line request_line();
  Line version(u8 &out);
  Line status_line();
  Line fields();
  Line field();
  Line value(Field &f);
  bool note(Field &f, const char *where);
  bool note_host(Field &f, const char *where, bool &drop);

  bool target_form();
  bool request_framing();
  bool websocket_key();
  bool response_framing(Method request_method);
  void connection_lasts();
  void complete();

  const char *base_, *p_, *end_;
  const H1Limits &limits_;
  HttpMessage &msg_;
  H1Framing &framing_;
  HeadResult result_;
  FieldFacts facts_;
  bool is_request_ = false;
  bool lf_only_ = false;  // the first line ended without CR: then all must
  u8 version_ = 11;
  Method method_ = Method::Other;
  const char *target_ = nullptr, *target_end_ = nullptr;
  bool folded_ = false;
};

/// Empty lines before a request are forgiven (RFC 9112, section 2.2).
HeadReader::Line HeadReader::skip_empty_lines() {
  while (p_ < end_) {
    if (*p_ == '\n') {
      p_++;
    } else if (*p_ == '\r') {
      if (end_ - p_ < 2) return Line::Short;
      if (p_[1] != '\n') return bad_line(p_ + 1, "CR without LF before the request line");
      p_ += 2;
    } else {
      return Line::Read;
    }
  }
  return Line::Short;
}

/// Stands on CR or LF. A person at a terminal ends all lines by LF alone, which is accepted; a single LF
/// among CRLFs is what one reader takes for a line's end and another for content. Servers are known to mix.
HeadReader::Line HeadReader::end_of_line(bool first) {
  if (*p_ == '\n') {
    if (first) lf_only_ = true;
    else if (is_request_ && !lf_only_ && !limits_.relaxed) return bad_line(p_, "LF without CR");
    p_++;
    return Line::Read;
  }
  if (end_ - p_ < 2) return Line::Short;
  if (p_[1] != '\n') return bad_line(p_, "CR without LF");
  p_ += 2;
  return Line::Read;
}

HeadReader::Line HeadReader::version(u8 &out) {
  constexpr string_view name = "HTTP/";
  const char *start = p_;
  if (limits_.relaxed) { // any protocol name, any number of digits
    while (p_ < end_ && is_alpha(*p_)) p_++;
    const char *slash = p_;
    if (p_ < end_ && *p_ == '/') p_++;
    const char *major = p_;
    while (p_ < end_ && is(*p_, char_digit)) p_++;
    bool one = p_ - major == 1 && *major == '1';
    if (p_ < end_ && *p_ == '.') p_++;
    const char *minor = p_;
    while (p_ < end_ && is(*p_, char_digit)) p_++;
    if (p_ == end_) return Line::Short;
    if (slash == start || minor == p_) return bad_line(p_, "malformed protocol version");
    out = one && p_ - minor == 1 && *minor == '0' ? 10 : string_view(start, 5) == name || one ? 11 : 10;
    return Line::Read;
  }
  size_t n = std::min<size_t>(static_cast<size_t>(end_ - p_), name.size());
  for (size_t i = 0; i < n; i++)
    if (p_[i] != name[i]) return bad_line(p_ + i, "not HTTP/x.y");
  if (end_ - p_ < 9) return Line::Short; // one byte beyond the minor digit
  if (!is(p_[5], char_digit) || p_[6] != '.' || !is(p_[7], char_digit)) return bad_line(p_ + 5, "malformed HTTP version");
  if (p_[5] > '1') return bad_line(p_ + 5, "HTTP version not supported in this form", 505);
  if (p_[5] == '0') return bad_line(p_ + 5, "HTTP version 0");
  out = p_[7] == '0' ? 10 : 11; // 1.2 and later are read as 1.1
  p_ += 8;
  return Line::Read;
}

HeadReader::Line HeadReader::request_line() {
  const char *method = p_;
  while (p_ < end_ && is(*p_, char_token)) p_++;
  const char *method_end = p_;
  if (p_ == end_) return Line::Short;
  if (*p_ != ' ' || p_ == method) return bad_line(p_, "bad character in the method");
  p_++;
  if (limits_.relaxed)
    while (p_ < end_ && *p_ == ' ') p_++;

  target_ = p_;
  while (p_ < end_ && is(*p_, char_target)) p_++;
  if (limits_.relaxed)
    while (p_ < end_ && (is(*p_, char_target) || *p_ == '#' || static_cast<u8>(*p_) > 0x7f)) p_++;
  target_end_ = p_;
  if (p_ == end_) return Line::Short;
  if (p_ == target_) return bad_line(p_, "no request target");
  if (*p_ == '\r' || *p_ == '\n') {
    if (!limits_.relaxed || string_view(method, static_cast<size_t>(method_end - method)) != "GET")
      return bad_line(p_, "no HTTP version in the request line");
    version_ = 10; // HTTP/0.9, by option
  } else {
    if (*p_ != ' ') return bad_line(p_, "bad character in the request target");
    p_++;
    if (limits_.relaxed)
      while (p_ < end_ && *p_ == ' ') p_++;
    if (Line l = version(version_); l != Line::Read) return l;
    if (*p_ != '\r' && *p_ != '\n') return bad_line(p_, "something after the HTTP version");
  }
  if (Line l = end_of_line(true); l != Line::Read) return l;
  method_ = method_of({method, static_cast<size_t>(method_end - method)});
  msg_.set_request_line_at(method_, at(method), at(method_end) - at(method), at(target_), at(target_end_) - at(target_), version_);
  return Line::Read;
}

HeadReader::Line HeadReader::status_line() {
  if (Line l = version(version_); l != Line::Read) return l;
  if (*p_ != ' ') return bad_line(p_, "no blank after the HTTP version");
  p_++;
  u32 status = 0;
  const char *digits = p_;
  while (p_ < end_ && is(*p_, char_digit) && p_ - digits < 6) status = status * 10 + static_cast<u32>(*p_++ - '0');
  if (p_ == end_) return Line::Short;
  bool long_but_fits = limits_.relaxed && p_ - digits > 3 && status <= 0xffff;
  if ((p_ - digits != 3 || status < 100) && !long_but_fits) return bad_line(p_, "status code is not three digits");
  const char *reason = p_;
  if (*p_ == ' ') {
    reason = p_ + 1;
    p_ = find_line_stop(reason, end_);
    if (p_ == end_) return Line::Short;
  }
  if (*p_ != '\r' && *p_ != '\n') return bad_line(p_, "bad character in the status line");
  const char *reason_end = p_;
  if (Line l = end_of_line(true); l != Line::Read) return l;
  msg_.set_status_line_at(static_cast<u16>(status), at(reason), at(reason_end) - at(reason), version_);
  return Line::Read;
}

HeadReader::Line HeadReader::fields() {
  for (;;)
    if (Line l = field(); l != Line::Read) return l;
}

HeadReader::Line HeadReader::field() {
  if (p_ == end_) return Line::Short;
  if (*p_ == '\r' || *p_ == '\n') {
    Line l = end_of_line(false);
    return l == Line::Read ? Line::Empty : l;
  }
  const char *name = p_;
  while (p_ < end_ && is(*p_, char_token)) p_++;
  if (p_ == end_) return Line::Short;
  Field f;
  f.name_at = at(name);
  f.name_len = static_cast<u16>(p_ - name);
  bool drop = false;
  if (*p_ != ':' || p_ == name || p_ - name > 0xffff) {
    if (!limits_.relaxed || p_ == name) return bad_line(p_, p_ == name ? "field line without a name" : "bad character in a field name");
    while (p_ < end_ && *p_ != ':' && *p_ != '\r' && *p_ != '\n') p_++;
    if (p_ == end_) return Line::Short;
    if (*p_ != ':') return bad_line(p_, "field line without a colon");
    drop = true;
  }
  p_++;
  if (Line l = value(f); l != Line::Read) return l;
  if (drop) return Line::Read;
  f.id = header_of({name, f.name_len});
  if (!note(f, name)) return Line::Bad;
  return Line::Read;
}

/// Stands behind the colon; notes the value without the blanks around it.
HeadReader::Line HeadReader::value(Field &f) {
  while (p_ < end_ && (*p_ == ' ' || *p_ == '\t')) p_++;
  const char *start = p_;
  for (;;) {
    p_ = find_line_stop(p_, end_);
    if (p_ == end_) return Line::Short;
    if (*p_ == '\0') {
      if (!limits_.relaxed) return bad_line(p_, "NUL in a field value");
      p_++;
      continue;
    }
    const char *stop = p_;
    if (Line l = end_of_line(false); l != Line::Read) return l;
    if (p_ == end_) return Line::Short; // whether the line is continued shows only now
    if (*p_ == ' ' || *p_ == '\t') {
      if (is_request_ && !limits_.relaxed) return bad_line(p_, "folded field line");
      folded_ = true;
      while (p_ < end_ && (*p_ == ' ' || *p_ == '\t')) p_++;
      if (stop == start) start = p_; // nothing came before the fold
      continue;
    }
    const char *last = stop;
    while (last > start && (last[-1] == ' ' || last[-1] == '\t' || last[-1] == '\r' || last[-1] == '\n')) last--; // line ends: of folds
    f.value_at = at(start);
    f.value_len = at(last) - at(start);
    return Line::Read;
  }
}

/// Reads what the codec itself must know, and adds the field to the message unless it is a repetition.
bool HeadReader::note(Field &f, const char *where) {
  string_view v{base_ + f.value_at, f.value_len};
  bool drop = false;
  const char *why = nullptr;
  switch (f.id) {
    case Header::ContentLength: why = facts_.content_length(v, f, drop); break;
    case Header::TransferEncoding: why = facts_.transfer_encoding(v, is_request_, limits_.relaxed); break;
    case Header::Connection: facts_.connection(v); break;
    case Header::Upgrade: facts_.upgrade(v); break;
    case Header::TE: facts_.te_field = true; break;
    case Header::Expect: facts_.expect_continue |= iequals(v, "100-continue"); break;
    case Header::Host:
      if (is_request_ && !note_host(f, where, drop)) return false;
      break;
    default: break;
  }
  if (why) return bad(base_ + f.value_at, why, facts_.refuse_with);
  if (drop) return true;
  if (msg_.size() + 1 >= limits_.max_fields) return bad(where, "too many fields"); // the empty line counts
  msg_.add_field_at(f);
  return true;
}

bool HeadReader::note_host(Field &f, const char *where, bool &drop) {
  string_view v{base_ + f.value_at, f.value_len};
  if (facts_.host_seen) {
    if (v != facts_.host) return bad(where, "several different Host fields");
    drop = true;
    return true;
  }
  facts_.host_seen = true;
  facts_.host = v;
  if (!limits_.relaxed && !valid_host(v)) return bad(base_ + f.value_at, "malformed Host");
  return true;
}

// ---------------------------------------------------------------------------------------- requests

/// RFC 9112, section 3.2: which form of target goes with which method, and with which Host.
bool HeadReader::target_form() {
  string_view t{target_, static_cast<size_t>(target_end_ - target_)};
  if (method_ == Method::Connect) {
    if (limits_.relaxed) return true;
    Authority a;
    if (!split_authority(t, a) || a.port.empty()) return bad(target_, "CONNECT wants host:port");
    if (!facts_.host_seen || same_authority(t, facts_.host, "443") || same_authority(t, facts_.host, "80")) return true;
    return bad(target_, "Host differs from the target's authority");
  }
  if (t.front() == '/') return true;
  if (t == "*") return method_ == Method::Options || limits_.relaxed || bad(target_, "'*' is for OPTIONS only");
  Uri uri;
  if (!split_uri(t, uri) || uri.scheme.empty()) return bad(target_, "request target in no known form");
  if (limits_.relaxed || !facts_.host_seen) return true;
  if (!same_authority(uri.authority, facts_.host, default_port_of(uri.scheme))) return bad(target_, "Host differs from the target's authority");
  return true;
}

bool HeadReader::websocket_key() {
  return !facts_.websocket || limits_.relaxed || msg_.find(Header::SecWebSocketKey) != HttpMessage::npos ||
         bad(base_, "WebSocket request without a key");
}

bool HeadReader::request_framing() {
  bool te = facts_.te_seen, cl = facts_.cl_seen;
  if (te && !facts_.chunked) return bad(base_, "transfer coding does not end in 'chunked'");
  if (te && facts_.other_coding) return bad(base_, "transfer coding not supported", 422);
  if (te && cl && !limits_.relaxed && !limits_.both_lengths) return bad(base_, "Content-Length beside Transfer-Encoding");
  if (te && version_ == 10 && !limits_.relaxed) return bad(base_, "Transfer-Encoding in an HTTP/1.0 request");
  if (method_ == Method::Connect && (te || facts_.length > 0)) return bad(base_, "CONNECT with content");
  if (version_ == 10 && facts_.length > 0 && !limits_.payload_with_any_method &&
      (method_ == Method::Get || method_ == Method::Head || method_ == Method::Delete))
    return bad(base_, "content in an HTTP/1.0 request of a method that has none", 413);
  bool has_content = te || facts_.length > 0;
  framing_.kind = te ? BodyKind::Chunked : cl ? BodyKind::Length : BodyKind::None;
  framing_.length = te ? 0 : facts_.length;
  framing_.upgrade = facts_.upgrade_option && facts_.upgrade_seen && version_ == 11 && !has_content;
  framing_.expect_continue = facts_.expect_continue && version_ == 11;
  if (framing_.upgrade && !websocket_key()) return false;
  connection_lasts();
  if (te && ((cl && !limits_.both_lengths) || version_ == 10)) framing_.keep_alive = false;
  return true;
}

void HeadReader::connection_lasts() {
  framing_.close_said = facts_.close;
  framing_.keep_alive = !facts_.close && (version_ == 11 || facts_.keep_alive);
}

HeadResult HeadReader::request() {
  is_request_ = true;
  if (Line l = skip_empty_lines(); l != Line::Read) return ended_as(l);
  if (Line l = request_line(); l != Line::Read) return ended_as(l);
  if (Line l = fields(); l != Line::Empty) return ended_as(l);
  if (!target_form() || !request_framing()) return result_;
  complete();
  return result_;
}

// ---------------------------------------------------------------------------------------- responses

/// RFC 9112, section 6.3.
bool HeadReader::response_framing(Method request_method) {
  u16 status = msg_.status();
  if (facts_.te_seen && !(limits_.relaxed && !facts_.other_coding)) {
    if (!facts_.chunked) return bad(base_, "transfer coding does not end in 'chunked'");
    if (facts_.other_coding) return bad(base_, "transfer coding not supported");
  }
  connection_lasts();
  framing_.upgrade = status == 101;
  bool tunnel = status == 101 || (request_method == Method::Connect && status / 100 == 2);
  bool without = status / 100 == 1 || status == 204 || status == 304 || request_method == Method::Head;
  if (tunnel) framing_.kind = BodyKind::Tunnel;
  else if (without) framing_.kind = BodyKind::None;
  else if (facts_.chunked) framing_.kind = BodyKind::Chunked;
  else if (facts_.te_seen /* empty, by option */ || !facts_.cl_seen) framing_.kind = BodyKind::UntilClose;
  else framing_.kind = BodyKind::Length;
  framing_.length = framing_.kind == BodyKind::Length ? facts_.length : 0;
  if (framing_.kind == BodyKind::UntilClose) framing_.keep_alive = false;
  if (facts_.te_seen && ((facts_.cl_seen && !limits_.both_lengths) || version_ == 10)) framing_.keep_alive = false;
  if (status / 100 == 1 || status == 204 || tunnel) { // they delimit nothing there, and mislead the next reader
    if (facts_.te_seen) msg_.remove_all(Header::TransferEncoding);
    if (facts_.cl_seen) msg_.remove_all(Header::ContentLength);
  }
  return true;
}

HeadResult HeadReader::response(Method request_method) {
  if (Line l = status_line(); l != Line::Read) return ended_as(l);
  if (Line l = fields(); l != Line::Empty) return ended_as(l);
  if (!response_framing(request_method)) return result_;
  complete();
  if (msg_.reason().empty() && !reason_phrase(msg_.status()).empty()) msg_.set_status(msg_.status(), reason_phrase(msg_.status()));
  return result_;
}

void HeadReader::complete() {
  size_t n = static_cast<size_t>(p_ - base_);
  msg_.adopt_text({base_, n});
  msg_.lower_names();
  if (folded_) msg_.unfold_values();
  if (facts_.nominates) drop_nominated(msg_);
  if (facts_.te_field) reduce_te(msg_);
  bool coded = msg_.find(Header::TransferEncoding) != HttpMessage::npos; // a 204 has lost it
  if (coded && facts_.chunked && msg_.get(Header::TransferEncoding) != "chunked") msg_.set("transfer-encoding", "chunked");
  if (facts_.te_seen && facts_.cl_seen) msg_.remove_all(Header::ContentLength);
  if (is_request_ && facts_.upgrade_seen && !framing_.upgrade) msg_.remove_all(Header::Upgrade);
  if (is_request_ && target_[0] != '/' && !limits_.relaxed) normalise_absolute_target(msg_);
  result_.status = HeadStatus::Complete;
  result_.consumed = static_cast<u32>(n);
}

/// True when there is something new to look at: `scanned` bytes held no complete head, and a line has ended since.
bool worth_reading(string_view bytes, u32 &scanned) {
  if (scanned == 0) return true;
  size_t from = scanned;
  return from < bytes.size() && std::memchr(bytes.data() + from, '\n', bytes.size() - from) != nullptr;
}

HeadResult too_large(string_view bytes, const H1Limits &limits) {
  HeadResult r;
  r.status = HeadStatus::TooLarge;
  r.error = "head larger than the buffer";
  r.error_at = limits.max_head_bytes;
  size_t line = std::min(bytes.find('\n'), bytes.size());
  r.refuse_with = line >= limits.max_head_bytes ? 414 : 431;
  return r;
}

template <class Read>
HeadResult read_head(string_view bytes, const H1Limits &limits, u32 &scanned, HttpMessage &msg, H1Framing &framing, Read read) {
  HeadResult r;
  if (worth_reading(bytes, scanned)) {
    msg.clear();
    framing = {};
    HeadReader reader(bytes, limits, msg, framing);
    r = read(reader);
  }
  if (r.status == HeadStatus::NeedMore) {
    scanned = static_cast<u32>(bytes.size());
    if (bytes.size() >= limits.max_head_bytes) return too_large(bytes, limits);
  } else if (r.status == HeadStatus::Complete && r.consumed > limits.max_head_bytes) {
    return too_large(bytes, limits);
  }
  return r;
}

} // namespace

HeadResult parse_request_head(string_view bytes, const H1Limits &limits, u32 &scanned, HttpMessage &msg, H1Framing &framing) {
  return read_head(bytes, limits, scanned, msg, framing, [](HeadReader &r) { return r.request(); });
}

HeadResult parse_response_head(string_view bytes, const H1Limits &limits, Method request_method, u32 &scanned,
                               HttpMessage &msg, H1Framing &framing) {
  HeadResult r = read_head(bytes, limits, scanned, msg, framing, [=](HeadReader &h) { return h.response(request_method); });
  r.refuse_with = 502;
  return r;
}

} // namespace penstock
