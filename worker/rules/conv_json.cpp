// SPDX-License-Identifier: BSD-2-Clause
// json_query: finds a value in JSON text by a path such as $.a.b[2] (manual, section 7.3.1). The text is
// walked, never turned into objects: nothing is allocated but the text that comes out.
#include "worker/rules/conv_json.h"

#include <charconv>
#include <cstdio>
#include <cstdlib>

#include "shared/base/text.h"

namespace penstock {

namespace {

constexpr unsigned deepest = 64;

struct Walker {
  string_view text;
  size_t at = 0;

  void blanks() {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\t' || text[at] == '\n' || text[at] == '\r')) at++;
  }
  bool take(char c) {
    blanks();
    if (at >= text.size() || text[at] != c) return false;
    at++;
    return true;
  }
  /// A string's inside, escapes as they are.
  bool string(string_view &inside) {
    if (!take('"')) return false;
    size_t begin = at;
    for (; at < text.size(); at++) {
      if (text[at] == '\\') at++;
      else if (text[at] == '"') return inside = text.substr(begin, at++ - begin), true;
    }
    return false;
  }
  /// Any value; its text.
  bool value(string_view &out, unsigned depth = 0) {
    blanks();
    if (at >= text.size() || depth > deepest) return false;
    size_t begin = at;
    char c = text[at];
    string_view inside;
    bool good = c == '"' ? string(inside) : c == '{' ? object(depth) : c == '[' ? array(depth) : scalar();
    out = text.substr(begin, at - begin);
    return good;
  }

 private:
  bool object(unsigned depth) {
    at++;
    if (take('}')) return true;
    string_view key, v;
    do {
      if (!string(key) || !take(':') || !value(v, depth + 1)) return false;
    } while (take(','));
    return take('}');
  }
  bool array(unsigned depth) {
    at++;
    if (take(']')) return true;
    string_view v;
    do {
      if (!value(v, depth + 1)) return false;
    } while (take(','));
    return take(']');
  }
  bool scalar() {
    for (string_view word : {"true", "false", "null"})
      if (text.substr(at).starts_with(word)) return at += word.size(), true;
    size_t begin = at;
    if (at < text.size() && text[at] == '-') at++;
    size_t digits = at;
    while (at < text.size() && (is_digit(text[at]) || text[at] == '.' || text[at] == 'e' || text[at] == 'E' || text[at] == '+' || (text[at] == '-' && at > begin))) at++;
    return at > digits && is_digit(text[digits]);
  }
};

/// Whether a key as it stands in the text is this one; escapes of the simple kind are understood.
bool same_key(string_view raw, string_view key) {
  size_t k = 0;
  for (size_t i = 0; i < raw.size(); i++, k++) {
    if (raw[i] == '\\' && i + 1 < raw.size()) i++;
    if (k >= key.size() || raw[i] != key[k]) return false;
  }
  return k == key.size();
}

bool member(string_view object, string_view key, string_view &out) {
  Walker w{object};
  if (!w.take('{') || w.take('}')) return false;
  string_view name, v;
  do {
    if (!w.string(name) || !w.take(':') || !w.value(v)) return false;
    if (same_key(name, key)) return out = v, true;
  } while (w.take(','));
  return false;
}

bool element(string_view array, size_t index, string_view &out) {
  Walker w{array};
  if (!w.take('[') || w.take(']')) return false;
  string_view v;
  do {
    if (!w.value(v)) return false;
    if (index-- == 0) return out = v, true;
  } while (w.take(','));
  return false;
}

/// One step of a path: ".name" (a backslash protects a dot or bracket) or "[3]", "[*]" (the first). False: malformed.
struct PathStep {
  char name[128];
  size_t length = 0, index = 0;
  bool is_index = false;
};
bool next_step(string_view &path, PathStep &step) {
  step.length = 0;
  if (path[0] == '[') {
    size_t close = path.find(']');
    if (close == string_view::npos) return false;
    string_view inside = path.substr(1, close - 1);
    path.remove_prefix(close + 1);
    step.is_index = true;
    step.index = 0;
    if (inside == "*") return true;
    auto n = parse_u64(inside);
    if (n) step.index = static_cast<size_t>(*n);
    return n.has_value();
  }
  if (path[0] != '.') return false;
  step.is_index = false;
  size_t i = 1;
  for (; i < path.size() && path[i] != '.' && path[i] != '['; i++) {
    if (path[i] == '\\' && i + 1 < path.size()) i++;
    if (step.length == sizeof step.name) return false;
    step.name[step.length++] = path[i];
  }
  path.remove_prefix(i);
  return true;
}

bool find(string_view text, string_view path, string_view &out) {
  Walker whole{text};
  if (!whole.value(out)) return false;
  path.remove_prefix(1);
  while (!path.empty()) {
    PathStep step;
    if (!next_step(path, step)) return false;
    if (step.is_index ? !element(out, step.index, out) : !member(out, {step.name, step.length}, out)) return false;
  }
  return true;
}

char *put_utf8(char *at, u32 c) {
  if (c < 0x80) return *at++ = static_cast<char>(c), at;
  if (c < 0x800) return *at++ = static_cast<char>(0xC0 | c >> 6), *at++ = static_cast<char>(0x80 | (c & 63)), at;
  if (c >= 0x10000) *at++ = static_cast<char>(0xF0 | c >> 18), *at++ = static_cast<char>(0x80 | (c >> 12 & 63));
  else *at++ = static_cast<char>(0xE0 | c >> 12);
  return *at++ = static_cast<char>(0x80 | (c >> 6 & 63)), *at++ = static_cast<char>(0x80 | (c & 63)), at;
}

bool four_digits(string_view s, size_t at, u32 &unit) {
  if (at + 4 > s.size()) return false;
  unit = 0;
  for (char c : s.substr(at, 4)) {
    int digit = hex_digit(c);
    if (digit < 0) return false;
    unit = unit << 4 | static_cast<u32>(digit);
  }
  return true;
}

/// A string's inside without its escapes; false on one that JSON does not know.
bool unescape(Arena &arena, string_view raw, string_view &out) {
  if (raw.find('\\') == string_view::npos) return out = raw, true;
  char *p = arena.chars(raw.size() + 1), *at = p;
  for (size_t i = 0; i < raw.size(); i++) {
    if (raw[i] != '\\') {
      *at++ = raw[i];
      continue;
    }
    constexpr string_view from = "bfnrt\"\\/", to = "\b\f\n\r\t\"\\/";
    char c = i + 1 < raw.size() ? raw[i + 1] : '\0';
    u32 unit, low;
    if (size_t k = from.find(c); k != string_view::npos) {
      *at++ = to[k];
      i++;
    } else if (c == 'u' && four_digits(raw, i + 2, unit)) {
      i += 5;
      if (unit >= 0xD800 && unit < 0xDC00 && raw.substr(i + 1, 2) == "\\u" && four_digits(raw, i + 3, low) && low >= 0xDC00 && low < 0xE000) {
        unit = 0x10000 + ((unit - 0xD800) << 10 | (low - 0xDC00));
        i += 6;
      } else if (unit >= 0xD800 && unit < 0xE000) {
        return false;
      }
      at = put_utf8(at, unit);
    } else {
      return false;
    }
  }
  return out = {p, static_cast<size_t>(at - p)}, true;
}

bool give_number(Arena &arena, string_view text, bool as_integer, Sample &s) {
  i64 whole = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), whole);
  bool is_whole = error == std::errc() && end == text.data() + text.size();
  constexpr i64 exact = i64{1} << 53; // what every reader of JSON agrees on
  if (as_integer) return error == std::errc() && whole < exact && whole > -exact && give_int(s, whole);
  char *p = arena.chars(32);
  if (is_whole && text != "-0") return give_str(s, {p, static_cast<size_t>(std::to_chars(p, p + 32, whole).ptr - p)});
  char copy[64];
  if (text.size() >= sizeof copy) return false;
  text.copy(copy, text.size());
  copy[text.size()] = '\0';
  int n = std::snprintf(p, 32, "%g", std::strtod(copy, nullptr));
  return give_str(s, {p, static_cast<size_t>(n)});
}

} // namespace

bool query_json(EvalContext &ctx, string_view text, const ArgValue &path, const ArgValue &type, Sample &s) {
  string_view found;
  if (!find(text, path.str, found)) return false;
  switch (found[0]) {
    case '"': return unescape(ctx.scratch, found.substr(1, found.size() - 2), found) && give_str(s, found);
    case 't': return give_bool(s, true);
    case 'f': return give_bool(s, false);
    case '[': return give_str(s, found);
    case '{':
    case 'n': return false; // objects have no text of their own, and null is nothing
    default: return give_number(ctx.scratch, found, static_cast<bool>(type), s);
  }
}

bool check_json_path(const ArgValue &path, const ArgValue &type, std::string &error) {
  if (path.str.empty() || path.str[0] != '$') error = "a path begins with '$', as in $.user.name or $.list[0], got '" + path.str + "'";
  else if (type && type.str != "int") error = "the only output type is int, got '" + type.str + "'";
  for (string_view rest = string_view(path.str).substr(path.str.empty() ? 0 : 1); error.empty() && !rest.empty();) {
    PathStep step;
    if (!next_step(rest, step)) error = "malformed path '" + path.str + "': steps are .name and [number]";
  }
  return error.empty();
}

namespace {

PENSTOCK_CONVERTER(json_query) { return query_json(ctx, s.str, args[0], args[1], s); }
bool check_json_query(Args &args, std::string &error) { return check_json_path(args[0], args[1], error); }

constexpr ConverterDef rows[] = {
    {.name = "json_query", .args = {req(ArgType::Str, "path"), opt(ArgType::Str, "type")}, .in = Type::Str, .out = Type::Any,
     .doc = {"The value at a path in JSON text.",
             "Steps of a path are .name, with a backslash before a dot that belongs to the name, and [number], from 0; [*] stands for the first element. "
             "Text comes out without its escapes, truth as boolean, a list as it is written; an object or null gives no value. Whole numbers are exact, "
             "others come out with six digits; with the type int a number comes out as integer, cut at its point.\n\nOf a name that occurs twice the first "
             "counts; other readers may see it otherwise, so this is no check of what a server will understand.",
             "http-request wait-for-body time 1s\nhttp-request set-var(txn.user) req.body,json_query('$.user.id','int')"},
     .eval = json_query, .check = check_json_query},
};
static_assert(sorted_and_documented<ConverterDef>(rows));

} // namespace

std::span<const ConverterDef> conv_json() { return rows; }

} // namespace penstock
