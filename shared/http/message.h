// SPDX-License-Identifier: BSD-2-Clause
// One HTTP message head, whatever version carried it: start line and a list of fields over one
// block of text (RFC 9110, sections 5 and 6). Codecs fill it, rules change it, codecs write it.
// Everything is an offset into `text_`, so growth moves nothing that others hold but views: a view
// that a getter returns lives until the next change of the message.
// Names are kept in lower case, the one form that all versions can carry (`h1-case-adjust` is for peers that care).
#pragma once

#include <vector>

#include "shared/base/basic.h"
#include "shared/http/names.h"

namespace penstock {

struct Field {
  u32 name_at = 0; // of Other; the text of the known names is not stored
  u32 value_at = 0;
  u32 value_len = 0;
  u16 name_len = 0;
  Header id = Header::Other;
};

class HttpMessage {
 public:
  /// Empties it; keeps the memory.
  void clear();
  bool empty() const { return text_.empty(); }

  // ------------------------------------------------------------------ filling (codecs)
  /// Takes a copy of a whole head; offsets given to the setters below then refer to it.
  void adopt_text(string_view head); // replaces the text only: clear() comes first, fields may be told before or after
  void set_request_line_at(Method m, u32 method_at, u32 method_len, u32 target_at, u32 target_len, u8 version);
  void set_status_line_at(u16 status, u32 reason_at, u32 reason_len, u8 version);
  void add_field_at(const Field &f) { fields_.push_back(f); }
  /// To be called once after the fields of an adopted text were told.
  void lower_names();
  /// Line breaks inside values, with the blanks that continued them, become blanks (RFC 9112, section 5.2).
  void unfold_values();

  // ------------------------------------------------------------------ start line
  bool is_request() const { return is_request_; }
  Method method() const { return method_; }
  string_view method_text() const { return view(method_at_, method_len_); }
  string_view target() const { return view(target_at_, target_len_); } // as sent: origin, absolute, authority or asterisk form
  u16 status() const { return status_; }
  string_view reason() const { return view(reason_at_, reason_len_); }
  u8 version() const { return version_; } // 10 or 11 (20 from HTTP/2): only for what a peer may be sent
  void set_version(u8 v) { version_ = v; }
  void set_method(string_view m);
  void set_target(string_view t);
  void set_status(u16 s, string_view reason);
  void make_request(string_view method, string_view target, u8 version = 11);
  void make_response(u16 status, string_view reason, u8 version = 11);

  // ------------------------------------------------------------------ fields
  size_t size() const { return fields_.size(); }
  const Field &field(size_t i) const { return fields_[i]; }
  string_view name(const Field &f) const { return f.id == Header::Other ? view(f.name_at, f.name_len) : header_name(f.id); }
  string_view value(const Field &f) const { return view(f.value_at, f.value_len); }
  string_view name(size_t i) const { return name(fields_[i]); }
  string_view value(size_t i) const { return value(fields_[i]); }

  static constexpr size_t npos = ~size_t{0};
  /// Index of the next field of that name at or after `from`, or npos. Case-insensitive.
  size_t find(Header id, size_t from = 0) const;
  size_t find(string_view name, size_t from = 0) const;
  size_t find(Header id, string_view name, size_t from) const; // id, or name where id is Other
  /// First field's value, "" without one.
  string_view get(Header id) const;
  void add(string_view name, string_view value);
  void add(Header id, string_view value);
  void set(string_view name, string_view value); // replaces all of that name by one at the end
  void set_value(size_t i, string_view value);
  /// Puts `with` in the place of `len` bytes of a value.
  void replace_in_value(size_t i, size_t from, size_t len, string_view with);
  void remove(size_t i);
  size_t remove_all(Header id);
  size_t remove_all(string_view name);

  /// Bytes that the head takes when written as HTTP/1 (upper bound).
  size_t wire_size() const;
  size_t text_bytes() const { return text_.size(); }

 private:
  string_view view(u32 at, size_t len) const { return {text_.data() + at, len}; }
  u32 append(string_view s);

  std::vector<char> text_;
  std::vector<Field> fields_;
  u32 method_at_ = 0, target_at_ = 0, target_len_ = 0, reason_at_ = 0;
  u16 method_len_ = 0, reason_len_ = 0, status_ = 0;
  Method method_ = Method::Other;
  u8 version_ = 11;
  bool is_request_ = false;
};

} // namespace penstock
