// SPDX-License-Identifier: BSD-2-Clause
// Everything a message owns is text behind offsets. A change appends the new text and moves the
// offset; the old text is garbage until clear(), which comes with the next message.
#include "shared/http/message.h"

#include <cstring>

#include "shared/base/text.h"

namespace penstock {

void HttpMessage::clear() {
  text_.clear();
  fields_.clear();
  method_at_ = target_at_ = target_len_ = reason_at_ = 0;
  method_len_ = reason_len_ = status_ = 0;
  method_ = Method::Other;
  version_ = 11;
  is_request_ = false;
}

void HttpMessage::adopt_text(string_view head) { text_.assign(head.begin(), head.end()); }

void HttpMessage::set_request_line_at(Method m, u32 method_at, u32 method_len, u32 target_at, u32 target_len, u8 version) {
  is_request_ = true;
  method_ = m;
  method_at_ = method_at;
  method_len_ = static_cast<u16>(method_len);
  target_at_ = target_at;
  target_len_ = target_len;
  version_ = version;
}

void HttpMessage::set_status_line_at(u16 status, u32 reason_at, u32 reason_len, u8 version) {
  is_request_ = false;
  status_ = status;
  reason_at_ = reason_at;
  reason_len_ = static_cast<u16>(reason_len);
  version_ = version;
}

/// The text may be a view of our own memory, which growing would take away from under it.
u32 HttpMessage::append(string_view s) {
  size_t at = text_.size();
  bool ours = s.data() >= text_.data() && s.data() < text_.data() + at;
  size_t from = ours ? static_cast<size_t>(s.data() - text_.data()) : 0;
  text_.resize(at + s.size());
  if (!s.empty()) std::memcpy(text_.data() + at, ours ? text_.data() + from : s.data(), s.size());
  return static_cast<u32>(at);
}

void HttpMessage::set_method(string_view m) {
  method_ = method_of(m);
  method_len_ = static_cast<u16>(m.size());
  method_at_ = append(m);
}

void HttpMessage::set_target(string_view t) {
  target_len_ = static_cast<u32>(t.size());
  target_at_ = append(t);
}

void HttpMessage::set_status(u16 s, string_view reason) {
  status_ = s;
  reason_len_ = static_cast<u16>(reason.size());
  reason_at_ = append(reason);
}

void HttpMessage::make_request(string_view method, string_view target, u8 version) {
  clear();
  is_request_ = true;
  version_ = version;
  set_method(method);
  set_target(target);
}

void HttpMessage::make_response(u16 status, string_view reason, u8 version) {
  clear();
  version_ = version;
  set_status(status, reason);
}

size_t HttpMessage::find(Header id, size_t from) const {
  for (size_t i = from; i < fields_.size(); i++)
    if (fields_[i].id == id) return i;
  return npos;
}

size_t HttpMessage::find(string_view name, size_t from) const { return find(header_of(name), name, from); }

size_t HttpMessage::find(Header id, string_view wanted, size_t from) const {
  if (id != Header::Other) return find(id, from);
  for (size_t i = from; i < fields_.size(); i++)
    if (fields_[i].id == Header::Other && fields_[i].name_len == wanted.size() && iequals(name(i), wanted)) return i;
  return npos;
}

string_view HttpMessage::get(Header id) const {
  size_t i = find(id);
  return i == npos ? string_view{} : value(i);
}

void HttpMessage::lower_names() {
  for (const Field &f : fields_)
    if (f.id == Header::Other)
      for (char *p = text_.data() + f.name_at, *end = p + f.name_len; p < end; p++) *p = ascii_lower(*p);
}

void HttpMessage::unfold_values() {
  for (const Field &f : fields_)
    for (char *p = text_.data() + f.value_at, *end = p + f.value_len; p < end; p++)
      if (*p == '\r' || *p == '\n') *p = ' ';
}

void HttpMessage::add(string_view name, string_view value) {
  Header id = header_of(name);
  if (id != Header::Other) return add(id, value);
  Field f;
  f.name_len = static_cast<u16>(name.size());
  f.value_len = static_cast<u32>(value.size());
  // Making room first would move what a view of ours points at: so remember the one that is copied second.
  bool value_is_ours = value.data() >= text_.data() && value.data() < text_.data() + text_.size();
  size_t value_from = value_is_ours ? static_cast<size_t>(value.data() - text_.data()) : 0;
  f.name_at = append(name);
  f.value_at = append(value_is_ours ? string_view{text_.data() + value_from, value.size()} : value);
  fields_.push_back(f);
  for (char *p = text_.data() + f.name_at, *end = p + f.name_len; p < end; p++) *p = ascii_lower(*p);
}

void HttpMessage::add(Header id, string_view value) {
  Field f;
  f.id = id;
  f.name_len = static_cast<u16>(header_name(id).size());
  f.value_len = static_cast<u32>(value.size());
  f.value_at = append(value);
  fields_.push_back(f);
}

void HttpMessage::set(string_view name, string_view value) {
  add(name, value);
  Field f = fields_.back();
  fields_.pop_back();
  string_view stored = this->name(f); // ours: `name` may have been a view that add() moved
  for (size_t i = find(f.id, stored, 0); i != npos; i = find(f.id, stored, i)) remove(i);
  fields_.push_back(f);
}

void HttpMessage::set_value(size_t i, string_view value) {
  u32 n = static_cast<u32>(value.size());
  fields_[i].value_at = append(value);
  fields_[i].value_len = n;
}

void HttpMessage::replace_in_value(size_t i, size_t from, size_t len, string_view with) {
  Field &f = fields_[i];
  if (with.size() == len) {
    if (len != 0) std::memmove(text_.data() + f.value_at + from, with.data(), len);
    return;
  }
  u32 rest_at = f.value_at + static_cast<u32>(from + len), rest_len = f.value_len - static_cast<u32>(from + len);
  u32 with_len = static_cast<u32>(with.size());
  bool ours = with.data() >= text_.data() && with.data() < text_.data() + text_.size();
  size_t with_from = ours ? static_cast<size_t>(with.data() - text_.data()) : 0;
  u32 at = append({text_.data() + f.value_at, from});
  append(ours ? string_view{text_.data() + with_from, with_len} : with);
  append({text_.data() + rest_at, rest_len});
  f.value_at = at;
  f.value_len = static_cast<u32>(from) + with_len + rest_len;
}

void HttpMessage::remove(size_t i) { fields_.erase(fields_.begin() + static_cast<std::ptrdiff_t>(i)); }

size_t HttpMessage::remove_all(Header id) {
  return std::erase_if(fields_, [id](const Field &f) { return f.id == id; });
}

size_t HttpMessage::remove_all(string_view wanted) {
  Header id = header_of(wanted);
  if (id != Header::Other) return remove_all(id);
  return std::erase_if(fields_, [&](const Field &f) { return f.id == Header::Other && iequals(name(f), wanted); });
}

size_t HttpMessage::wire_size() const {
  size_t n = is_request_ ? method_len_ + target_len_ + 14u : reason_len_ + 17u;
  for (const Field &f : fields_) n += f.name_len + f.value_len + 4u;
  return n + 2;
}

} // namespace penstock
