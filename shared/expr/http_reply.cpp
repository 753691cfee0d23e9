// SPDX-License-Identifier: BSD-2-Clause
#include "shared/expr/http_reply.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "shared/base/text.h"
#include "shared/model/proxy.h"

namespace penstock {

namespace {

constexpr u16 page_statuses[] = {200, 400, 401, 403, 404, 405, 407, 408, 410, 413, 414, 425, 429, 431, 500, 501, 502, 503, 504};

struct Lines {
  string_view rest;
  /// The next line without its end; false when no line end is left.
  bool next(string_view &line) {
    size_t end = rest.find('\n');
    if (end == string_view::npos) return false;
    line = rest.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    rest.remove_prefix(end + 1);
    return true;
  }
};

bool is_status_line(string_view line) {
  return line.size() >= 12 && line.starts_with("HTTP/1.") && is_digit(line[7]) && line[8] == ' ' && is_digit(line[9]) &&
         is_digit(line[10]) && is_digit(line[11]) && (line.size() == 12 || line[12] == ' ');
}

/// Checks a field line; remembers the announced length of the body.
bool check_field(string_view line, std::optional<u64> &length, std::string &error) {
  size_t colon = line.find(':');
  if (colon == 0 || colon == string_view::npos || line.find_first_of(" \t") < colon) {
    error = "the line '" + std::string(line.substr(0, 60)) + "' is not a header field";
    return false;
  }
  if (iequals(line.substr(0, colon), "content-length")) length = parse_u64(trim(line.substr(colon + 1)));
  return true;
}

/// Puts a message's head into canonical form (CRLF) and checks it.
std::optional<std::string> canonical_message(string_view text, std::string &error) {
  Lines lines{text};
  string_view line;
  if (!lines.next(line) || !is_status_line(line)) {
    error = "it does not begin with a status line such as 'HTTP/1.0 503 Service Unavailable'";
    return std::nullopt;
  }
  std::string out(line);
  out += "\r\n";
  std::optional<u64> length;
  for (;;) {
    if (!lines.next(line)) {
      error = "the empty line that ends the head is missing";
      return std::nullopt;
    }
    if (line.empty()) break;
    if (!check_field(line, length, error)) return std::nullopt;
    out.append(line).append("\r\n");
  }
  if (length && *length != lines.rest.size()) {
    error = "Content-Length says " + std::to_string(*length) + ", but the body has " + std::to_string(lines.rest.size()) + " bytes";
    return std::nullopt;
  }
  return out.append("\r\n").append(lines.rest);
}

/// Where the parts of a reply are collected while its words are read.
class ReplyReader {
 public:
  ReplyReader(Compiler &compiler, ReplyUse use, HttpReply &out) : compiler_(compiler), words_(compiler.words()), use_(use), out_(out) {}

  bool read() {
    while (!words_.at_end() && words_.peek() != "if" && words_.peek() != "unless")
      if (!read_word()) return false;
    return finish();
  }

 private:
  using Reader = bool (ReplyReader::*)();
  struct Row {
    string_view word;
    Reader read;
  };

  bool read_word() {
    static constexpr Row rows[] = {
        {"status", &ReplyReader::status},         {"deny_status", &ReplyReader::status},
        {"content-type", &ReplyReader::content_type}, {"default-errorfiles", &ReplyReader::default_errorfiles},
        {"errorfile", &ReplyReader::errorfile},   {"errorfiles", &ReplyReader::errorfiles},
        {"file", &ReplyReader::file},             {"lf-file", &ReplyReader::lf_file},
        {"string", &ReplyReader::string},         {"lf-string", &ReplyReader::lf_string},
        {"hdr", &ReplyReader::header},
    };
    for (const Row &row : rows)
      if (row.word == words_.peek() && (use_ == ReplyUse::Deny || row.word != "deny_status")) {
        words_.next();
        return (this->*row.read)();
      }
    NearMiss near(words_.peek());
    for (const Row &row : rows) near.consider(row.word);
    words_.alert("unknown word '" + std::string(words_.peek()) + "' of a reply", near.hint());
    return false;
  }

  bool status() {
    auto v = words_.need_int("a status", 200, 599);
    if (!v) return false;
    out_.status = static_cast<u16>(*v);
    status_given_ = true;
    return true;
  }

  bool content_type() {
    auto v = words_.need("a content type such as text/plain");
    if (v) out_.content_type = *v;
    return v.has_value();
  }

  /// Only one payload may be given.
  bool claim(HttpReply::Kind kind) {
    if (payload_given_) {
      words_.alert_last("a reply has one payload only");
      return false;
    }
    payload_given_ = true;
    out_.kind = kind;
    return true;
  }

  bool default_errorfiles() { return claim(HttpReply::Default); }

  bool errorfile() {
    if (!claim(HttpReply::Raw)) return false;
    auto path = words_.need("the name of a file");
    if (!path) return false;
    raw_path_ = *path;
    raw_word_ = words_.position() - 1;
    return true;
  }

  bool errorfiles() {
    if (!claim(HttpReply::Errorfiles)) return false;
    auto name = words_.need("the name of an http-errors section");
    if (name) out_.errorfiles = *name;
    return name.has_value();
  }

  bool load(std::string &into) {
    auto path = words_.need("the name of a file");
    if (!path) return false;
    std::string error;
    auto text = read_whole_file(std::string(*path), error);
    if (!text) {
      words_.alert_last("'" + std::string(*path) + "': " + error);
      return false;
    }
    into = std::move(*text);
    return true;
  }

  bool file() { return claim(HttpReply::Body) && load(out_.text); }
  bool string() {
    if (!claim(HttpReply::Body)) return false;
    auto text = words_.need("a text");
    if (text) out_.text = *text;
    return text.has_value();
  }

  bool compile(string_view text, LogFormat &into) {
    auto format = compiler_.log_format(text, words_.place_of(words_.position() - 1));
    if (format) into = std::move(*format);
    return format.has_value();
  }
  bool lf_file() {
    std::string text;
    return claim(HttpReply::BodyFormat) && load(text) && compile(text, out_.format);
  }
  bool lf_string() {
    if (!claim(HttpReply::BodyFormat)) return false;
    auto text = words_.need("a log format");
    return text && compile(*text, out_.format);
  }

  bool header() {
    auto name = words_.need("the name of a header");
    if (!name) return false;
    std::string header_name(*name);
    auto value = words_.need("a log format");
    if (!value) return false;
    LogFormat format;
    if (!compile(*value, format)) return false;
    out_.headers.emplace_back(std::move(header_name), std::move(format));
    return true;
  }

  bool finish() {
    if (use_ == ReplyUse::HttpError && !status_given_) {
      words_.alert("'http-error' expects 'status' and a code");
      return false;
    }
    if (!payload_given_) out_.kind = use_ == ReplyUse::Deny && out_.headers.empty() ? HttpReply::Default : HttpReply::Empty;
    if (out_.kind == HttpReply::Body && out_.text.empty()) out_.kind = HttpReply::Empty;
    return check_page() && load_raw() && check_content_type();
  }

  bool check_page() {
    bool needs_page = use_ == ReplyUse::HttpError || out_.kind == HttpReply::Default || out_.kind == HttpReply::Errorfiles || out_.kind == HttpReply::Raw;
    if (!needs_page || has_error_page(out_.status)) return true;
    words_.alert_last("there is no error page for the status " + std::to_string(out_.status), "give a payload, or one of 400 401 403 404 405 407 408 410 413 414 425 429 431 500 501 502 503 504");
    return false;
  }

  bool load_raw() {
    if (raw_path_.empty()) return true;
    std::string error;
    auto loaded = load_error_file(raw_path_, out_.status, error);
    if (!loaded) {
      words_.diags().alert(words_.place_of(raw_word_), "the error file '" + raw_path_ + "' cannot be used: " + error);
      return false;
    }
    out_.text = std::move(loaded->text);
    return true;
  }

  bool check_content_type() {
    bool has_body = out_.kind == HttpReply::Body || out_.kind == HttpReply::BodyFormat;
    if (has_body && out_.content_type.empty()) {
      words_.alert_last("a payload needs a 'content-type'", "write content-type text/plain, for example");
      return false;
    }
    if (!has_body && !out_.content_type.empty()) words_.diags().warning(words_.line_place(), "'content-type' is ignored because the reply has no payload of its own");
    if (!has_body) out_.content_type.clear();
    return true;
  }

  Compiler &compiler_;
  Words &words_;
  ReplyUse use_;
  HttpReply &out_;
  bool payload_given_ = false, status_given_ = false;
  std::string raw_path_;
  size_t raw_word_ = 0;
};

} // namespace

std::span<const u16> error_page_statuses() { return page_statuses; }
bool has_error_page(u16 status) { return std::find(std::begin(page_statuses), std::end(page_statuses), status) != std::end(page_statuses); }

bool parse_http_reply(Compiler &compiler, ReplyUse use, HttpReply &out) { return ReplyReader(compiler, use, out).read(); }

std::optional<std::string> read_whole_file(const std::string &path, std::string &error) {
  std::FILE *f = std::fopen(path.c_str(), "re");
  if (!f) {
    error = std::strerror(errno);
    return std::nullopt;
  }
  std::string out;
  char piece[8192];
  while (size_t n = std::fread(piece, 1, sizeof piece, f)) out.append(piece, n);
  bool failed = std::ferror(f) != 0;
  if (failed) error = std::strerror(errno);
  std::fclose(f);
  return failed ? std::nullopt : std::optional<std::string>(std::move(out));
}

std::optional<HttpReply> load_error_file(const std::string &path, u16 status, std::string &error) {
  auto text = read_whole_file(path, error);
  if (!text) return std::nullopt;
  HttpReply reply;
  reply.status = status;
  reply.kind = HttpReply::Raw;
  if (text->empty()) return reply;
  auto message = canonical_message(*text, error);
  if (!message) return std::nullopt;
  reply.text = std::move(*message);
  return reply;
}

} // namespace penstock
