// SPDX-License-Identifier: BSD-2-Clause
#include "shared/expr/pattern_keys.h"

#include "shared/base/regex.h"
#include "shared/base/text.h"

namespace penstock {

namespace {

/// "3" or, dotted, "3.1" (major and minor in one number, as in version checks).
bool parse_number(string_view text, bool dotted, i64 &out) {
  size_t dot = dotted ? text.find('.') : string_view::npos;
  auto major = parse_i64(text.substr(0, dot));
  if (!major) return false;
  out = *major;
  if (!dotted) return true;
  i64 low = 0;
  if (dot != string_view::npos) {
    auto minor = parse_u64(text.substr(dot + 1));
    if (!minor || *minor > 65535) return false;
    low = static_cast<i64>(*minor);
  }
  if (*major > INT32_MAX || *major < INT32_MIN) return false;
  out = *major * 65536 + low;
  return true;
}

std::string number_text(i64 v, bool dotted) {
  return dotted ? std::to_string(v >> 16) + "." + std::to_string(v & 0xffff) : std::to_string(v);
}

std::string quoted(string_view s) { return "'" + std::string(s) + "'"; }

/// "10.12", "192.168.1/22": what is left out are zero bytes in the middle.
std::optional<Network> parse_short_v4(string_view text) {
  string_view ip = text.substr(0, text.find('/'));
  auto parts = split(ip, '.');
  if (parts.size() < 2 || parts.size() > 3) return std::nullopt;
  std::string full(parts[0]);
  if (parts.size() == 3) full += "." + std::string(parts[1]) + ".0." + std::string(parts[2]);
  else full += ".0.0." + std::string(parts[1]);
  full += text.substr(ip.size());
  return parse_network(full);
}

} // namespace

bool parse_range(string_view text, bool dotted, i64 &low, i64 &high) {
  size_t colon = text.find(':');
  if (text.empty() || text == ":") return false;
  low = INT64_MIN, high = INT64_MAX;
  string_view from = text.substr(0, colon), to = colon == string_view::npos ? from : text.substr(colon + 1);
  if (!from.empty() && !parse_number(from, dotted, low)) return false;
  if (!to.empty() && !parse_number(to, dotted, high)) return false;
  return low <= high;
}

bool range_of_operator(string_view op, string_view text, bool dotted, std::string &out, std::string &error) {
  i64 low = 0, high = 0;
  if (!parse_range(text, dotted, low, high)) {
    error = quoted(text) + " is neither a number, a range such as 1:100, nor one of eq, ge, gt, le, lt";
    return false;
  }
  if (op == "eq") out = text;
  else if (op == "ge") out = number_text(low, dotted) + ":";
  else if (op == "gt") out = number_text(high == INT64_MAX ? high : high + 1, dotted) + ":";
  else if (op == "le") out = ":" + number_text(high, dotted);
  else out = ":" + number_text(low == INT64_MIN ? low : low - 1, dotted);
  return true;
}

/// The usual form, "192.0.2.0/24", of which a list may have a million; nothing for any other.
static std::optional<Network> parse_plain_v4(string_view text) {
  u32 address = 0, number = 0, dots = 0, digits = 0;
  size_t i = 0;
  for (; i < text.size() && text[i] != '/'; i++) {
    if (is_digit(text[i]) && digits < 3) number = number * 10 + static_cast<u32>(text[i] - '0'), digits++;
    else if (text[i] == '.' && digits > 0 && number < 256 && dots < 3) address = address << 8 | number, number = digits = 0, dots++;
    else return std::nullopt;
    if (digits > 1 && number < 10) return std::nullopt; // leading zeros: whoever means that shall say what
  }
  if (dots != 3 || digits == 0 || number > 255) return std::nullopt;
  auto bits = i == text.size() ? std::optional<u64>(32) : parse_u64(text.substr(i + 1));
  if (!bits || *bits > 32) return std::nullopt;
  return Network{Ip::v4(address << 8 | number), static_cast<u8>(*bits)};
}

std::optional<Network> parse_pattern_network(string_view text) {
  if (auto plain = parse_plain_v4(text)) return plain;
  auto net = parse_network(text);
  return net ? net : parse_short_v4(text);
}

bool hex_to_bytes(string_view hex, std::string &out) {
  if (hex.size() % 2) return false;
  for (size_t i = 0; i < hex.size(); i += 2) {
    int high = hex_digit(hex[i]), low = hex_digit(hex[i + 1]);
    if (high < 0 || low < 0) return false;
    out += static_cast<char>(high * 16 + low);
  }
  return true;
}

bool check_pattern(MatchMethod method, bool ignore_case, bool dotted, string_view text, std::string &error) {
  switch (method) {
    case MatchMethod::Int:
    case MatchMethod::Len: {
      i64 low = 0, high = 0;
      if (parse_range(text, dotted, low, high)) return true;
      error = quoted(text) + " is neither a number nor a range such as 1:100";
      return false;
    }
    case MatchMethod::Ip:
      if (parse_pattern_network(text)) return true;
      error = quoted(text) + " is no IPv4 or IPv6 address or network";
      return false;
    case MatchMethod::Reg: return Regex::check(text, ignore_case, error);
    case MatchMethod::Bin: {
      std::string bytes;
      if (hex_to_bytes(text, bytes)) return true;
      error = quoted(text) + " is no series of pairs of hexadecimal digits";
      return false;
    }
    default: return true;
  }
}

// ------------------------------------------------------------------------------------------- literals

namespace {

/// Past a character class that opens at `i`.
size_t skip_class(string_view e, size_t i) {
  i++;
  if (i < e.size() && e[i] == '^') i++;
  if (i < e.size() && e[i] == ']') i++;
  while (i < e.size() && e[i] != ']') {
    if (e[i] == '\\') i++;
    else if (e[i] == '[' && i + 1 < e.size() && (e[i + 1] == ':' || e[i + 1] == '.' || e[i + 1] == '=')) {
      size_t end = e.find(e[i + 1], i + 2);
      if (end != string_view::npos && end + 1 < e.size() && e[end + 1] == ']') i = end + 1;
    }
    i++;
  }
  return i < e.size() ? i + 1 : e.size();
}

/// Past a group that opens at `i`.
size_t skip_group(string_view e, size_t i) {
  int depth = 0;
  while (i < e.size()) {
    if (e[i] == '\\') i += 2;
    else if (e[i] == '[') i = skip_class(e, i);
    else {
      depth += e[i] == '(';
      depth -= e[i] == ')';
      i++;
      if (depth == 0) return i;
    }
  }
  return e.size();
}

} // namespace

/// The longest run of plain characters outside of groups. What might change how the rest is read (options,
/// verbs, \Q, a choice) makes nothing certain.
string_view certain_literal(string_view e) {
  if (e.find("(?") != string_view::npos || e.find("(*") != string_view::npos || e.find("\\Q") != string_view::npos) return {};
  string_view best;
  size_t begin = 0;
  auto end_run = [&](size_t end) {
    if (end > begin && end - begin > best.size()) best = e.substr(begin, end - begin);
  };
  for (size_t i = 0; i < e.size();) {
    char c = e[i];
    if (c == '|') return {};
    if (c == '*' || c == '?' || c == '{') { // what stands before may be missing
      end_run(i > begin ? i - 1 : begin);
      if (c == '{') {
        i = e.find_first_not_of("0123456789,", i + 1);
        if (i == string_view::npos || e[i] != '}') return {};
      }
      begin = ++i;
    } else if (c == '(' || c == '[' || c == '\\') {
      end_run(i);
      constexpr string_view one_letter = "dDwWsSbBAzZGhHvVRKnrtfeaXN"; // those that nothing further belongs to
      if (c == '\\' && (i + 1 == e.size() || ((is_alpha(e[i + 1]) || is_digit(e[i + 1])) && one_letter.find(e[i + 1]) == string_view::npos))) return {};
      i = c == '(' ? skip_group(e, i) : c == '[' ? skip_class(e, i) : i + 2;
      begin = i;
    } else if (c == '.' || c == '^' || c == '$' || c == '+' || c == ')') {
      end_run(i);
      begin = ++i;
    } else {
      i++;
    }
  }
  end_run(e.size());
  return best;
}

} // namespace penstock
