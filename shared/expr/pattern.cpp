// SPDX-License-Identifier: BSD-2-Clause
#include "shared/expr/pattern.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

#include "shared/base/text.h"
#include "shared/expr/pattern_index.h"

namespace penstock {

/// Up to here a plain array is searched from front to back.
static constexpr size_t few = 8;

struct PatternSet::Index {
  HashIndex hash;
  PrefixIndex prefix;
  SubstringIndex substring;
  RangeIndex<u64> ints;
  RangeIndex<u32> v4;
  RangeIndex<u128> v6;
  std::vector<char> folded; // lower-case copy of the text, where case is ignored
  bool usable = true;
};

PatternSet::PatternSet(MatchMethod method, bool ignore_case)
    : method_(method), ignore_case_(ignore_case && method != MatchMethod::Bin) {}
PatternSet::~PatternSet() = default;

// --------------------------------------------------------------------------------------------- filling

namespace {

bool is_delimiter(MatchMethod m, char c) {
  return m == MatchMethod::Dir ? c == '/' || c == '?' : c == '/' || c == '?' || c == '.' || c == ':';
}

std::string strip_delimiters(MatchMethod m, string_view key) {
  while (!key.empty() && is_delimiter(m, key.front())) key.remove_prefix(1);
  while (!key.empty() && is_delimiter(m, key.back())) key.remove_suffix(1);
  return std::string(key);
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

/// "10.12", "127.1", "192.168.1/22": what is left out are zero bytes in the middle.
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
  out = (*major << 16) + low;
  return true;
}

u64 biased(i64 v) { return static_cast<u64>(v) ^ (u64{1} << 63); }

u128 bits_of(const Ip &ip) {
  u128 v = 0;
  for (u8 b : ip.bytes) v = v << 8 | b;
  return v;
}

} // namespace

bool PatternSet::add_key(string_view key, string_view value) {
  if (text_.size() + key.size() + value.size() >= UINT32_MAX) return false;
  PatternEntry e;
  e.key_at = static_cast<u32>(text_.size());
  e.key_len = static_cast<u32>(key.size());
  text_.insert(text_.end(), key.begin(), key.end());
  e.value_at = static_cast<u32>(text_.size());
  e.value_len = static_cast<u32>(value.size());
  text_.insert(text_.end(), value.begin(), value.end());
  entries_.push_back(e);
  return true;
}

bool PatternSet::add(string_view key, string_view value, std::string &error) {
  switch (method_) {
    case MatchMethod::Int:
    case MatchMethod::Len:
      if (!add_int("eq", key, false, error)) return false;
      entries_.back().value_at = static_cast<u32>(text_.size());
      entries_.back().value_len = static_cast<u32>(value.size());
      text_.insert(text_.end(), value.begin(), value.end());
      return true;
    case MatchMethod::Ip: {
      auto net = parse_network(key);
      if (!net) net = parse_short_v4(key);
      if (!net) {
        error = "'" + std::string(key) + "' is no IPv4 or IPv6 address or network";
        return false;
      }
      networks_.push_back(*net);
      break;
    }
    case MatchMethod::Reg: {
      auto re = Regex::compile(key, ignore_case_, error);
      if (!re) return false;
      regexes_.push_back(std::move(re));
      break;
    }
    case MatchMethod::Bin: {
      std::string bytes;
      if (!hex_to_bytes(key, bytes)) {
        error = "'" + std::string(key) + "' is no series of pairs of hexadecimal digits";
        return false;
      }
      return add_key(bytes, value);
    }
    case MatchMethod::Dir:
    case MatchMethod::Dom: return add_key(strip_delimiters(method_, key), value);
    default: break;
  }
  if (add_key(key, value)) return true;
  error = "too many patterns";
  return false;
}

bool PatternSet::add_int(string_view op, string_view text, bool dotted, std::string &error) {
  IntRange r{INT64_MIN, INT64_MAX};
  size_t colon = text.find(':');
  auto bad = [&] {
    error = "'" + std::string(text) + "' is neither a number, a range such as 1:100, nor one of eq, ge, gt, le, lt";
    return false;
  };
  if (text.empty() || text == ":") return bad();
  string_view low = text.substr(0, colon), high = colon == string_view::npos ? low : text.substr(colon + 1);
  if (!low.empty() && !parse_number(low, dotted, r.low)) return bad();
  if (!high.empty() && !parse_number(high, dotted, r.high)) return bad();
  if (r.low > r.high) return bad();
  if (op == "ge") r.high = INT64_MAX;
  else if (op == "le") r.low = INT64_MIN;
  else if (op == "gt") r = {r.high == INT64_MAX ? INT64_MAX : r.high + 1, INT64_MAX};
  else if (op == "lt") r = {INT64_MIN, r.low == INT64_MIN ? INT64_MIN : r.low - 1};
  ints_.push_back(r);
  std::string shown = op == "eq" ? std::string(text) : std::string(op) + " " + std::string(text);
  return add_key(shown, {});
}

void PatternSet::build_index() {
  if (entries_.size() <= few || method_ == MatchMethod::Reg) return;
  index_ = std::make_unique<Index>();
  std::vector<string_view> keys;
  const char *base = text_.data();
  if (ignore_case_) {
    index_->folded = text_;
    for (char &c : index_->folded) c = ascii_lower(c);
    base = index_->folded.data();
  }
  for (const PatternEntry &e : entries_) keys.emplace_back(base + e.key_at, e.key_len);
  switch (method_) {
    case MatchMethod::Str:
    case MatchMethod::Bin: index_->hash.build(keys, ignore_case_); break;
    case MatchMethod::Beg:
    case MatchMethod::Dir:
    case MatchMethod::Dom: index_->prefix.build(keys, ignore_case_, false); break;
    case MatchMethod::End: index_->prefix.build(keys, ignore_case_, true); break;
    case MatchMethod::Sub: index_->usable = index_->substring.build(keys, ignore_case_); break;
    case MatchMethod::Int:
    case MatchMethod::Len: {
      std::vector<RangeIndex<u64>::Range> ranges;
      for (u32 i = 0; i < ints_.size(); i++) ranges.push_back({biased(ints_[i].low), biased(ints_[i].high), i, 0});
      index_->ints.build(std::move(ranges));
      break;
    }
    case MatchMethod::Ip: {
      std::vector<RangeIndex<u32>::Range> v4;
      std::vector<RangeIndex<u128>::Range> v6;
      for (u32 i = 0; i < networks_.size(); i++) {
        const Network &n = networks_[i];
        if (n.ip.is_v4()) {
          u32 host = n.bits >= 32 ? 0 : ~u32{0} >> n.bits, low = n.ip.v4_host_order() & ~host;
          v4.push_back({low, low | host, i, n.bits});
        } else {
          u128 host = n.bits >= 128 ? u128{0} : ~u128{0} >> n.bits, low = bits_of(n.ip) & ~host;
          v6.push_back({low, low | host, i, n.bits});
        }
      }
      index_->v4.build(std::move(v4));
      index_->v6.build(std::move(v6));
      break;
    }
    default: index_->usable = false;
  }
}

// -------------------------------------------------------------------------------------------- searching

namespace {

/// Calls `at` with every place where a component (between delimiters) starts, until it says true.
template <class F> bool each_component(MatchMethod m, string_view s, F at) {
  for (size_t i = 0; i < s.size(); i++)
    if ((i == 0 || is_delimiter(m, s[i - 1])) && at(i)) return true;
  return false;
}

bool starts_with(string_view s, string_view p, bool fold) { return fold ? istarts_with(s, p) : s.starts_with(p); }

bool contains(string_view s, string_view p, bool fold) {
  if (p.empty()) return true;
  if (!fold) return s.size() >= p.size() && memmem(s.data(), s.size(), p.data(), p.size()) != nullptr;
  for (size_t i = 0; i + p.size() <= s.size(); i++)
    if (iequals(s.substr(i, p.size()), p)) return true;
  return false;
}

bool word_matches(MatchMethod m, string_view s, string_view key, bool fold) {
  if (key.empty()) return false;
  return each_component(m, s, [&](size_t i) {
    string_view rest = s.substr(i);
    return starts_with(rest, key, fold) && (rest.size() == key.size() || is_delimiter(m, rest[key.size()]));
  });
}

bool text_matches(MatchMethod m, string_view s, string_view key, bool fold) {
  switch (m) {
    case MatchMethod::Str:
    case MatchMethod::Bin: return fold ? iequals(s, key) : s == key;
    case MatchMethod::Beg: return starts_with(s, key, fold);
    case MatchMethod::End: return s.size() >= key.size() && (fold ? iequals(s.substr(s.size() - key.size()), key) : s.ends_with(key));
    case MatchMethod::Sub: return contains(s, key, fold);
    default: return word_matches(m, s, key, fold);
  }
}

} // namespace

i64 PatternSet::find_linear(string_view s) const {
  i64 best = -1;
  size_t best_len = 0;
  bool longest = method_ == MatchMethod::Beg || method_ == MatchMethod::End; // the finest match, as the index gives
  for (size_t i = 0; i < entries_.size(); i++) {
    string_view k = key(i);
    if (!text_matches(method_, s, k, ignore_case_)) continue;
    if (!longest) return static_cast<i64>(i);
    if (best < 0 || k.size() > best_len) best = static_cast<i64>(i), best_len = k.size();
  }
  return best;
}

i64 PatternSet::find_text(string_view s) const {
  if (!index_ || !index_->usable) return find_linear(s);
  auto any = [](size_t) { return true; };
  switch (method_) {
    case MatchMethod::Str:
    case MatchMethod::Bin: return index_->hash.find(s);
    case MatchMethod::Beg:
    case MatchMethod::End: return index_->prefix.find(s, any);
    case MatchMethod::Sub: return index_->substring.find(s);
    default: break;
  }
  i64 found = -1; // Dir, Dom
  each_component(method_, s, [&](size_t i) {
    string_view rest = s.substr(i);
    found = index_->prefix.find(rest, [&](size_t n) { return n > 0 && (n == rest.size() || is_delimiter(method_, rest[n])); });
    return found >= 0;
  });
  return found;
}

i64 PatternSet::find(const Sample &s) const {
  switch (method_) {
    case MatchMethod::Found: return 0;
    case MatchMethod::Bool: return s.num ? 0 : -1;
    case MatchMethod::Int:
    case MatchMethod::Len: {
      i64 v = method_ == MatchMethod::Len ? static_cast<i64>(s.str.size()) : s.num;
      if (index_) return index_->ints.find(biased(v));
      for (size_t i = 0; i < ints_.size(); i++)
        if (v >= ints_[i].low && v <= ints_[i].high) return static_cast<i64>(i);
      return -1;
    }
    case MatchMethod::Ip: {
      Ip v4 = s.ip, v6;
      if (s.ip.is_v6()) {
        v6 = s.ip;
        auto inner = s.ip.to_v4();
        v4 = inner ? *inner : Ip{};
      } else {
        v6 = s.ip.to_v6();
      }
      if (index_) {
        i64 i = v4 && s.ip.is_v4() ? index_->v4.find(v4.v4_host_order()) : -1;
        if (i < 0 && !index_->v6.empty()) i = index_->v6.find(bits_of(v6));
        if (i < 0 && v4 && s.ip.is_v6()) i = index_->v4.find(v4.v4_host_order());
        return i;
      }
      i64 best = -1;
      for (size_t i = 0; i < networks_.size(); i++) {
        const Network &n = networks_[i];
        bool in = n.ip.is_v4() ? v4 && n.contains(v4) : n.contains(v6);
        if (in && (best < 0 || n.bits > networks_[static_cast<size_t>(best)].bits)) best = static_cast<i64>(i);
      }
      return best;
    }
    case MatchMethod::Reg:
      for (size_t i = 0; i < regexes_.size(); i++)
        if (regexes_[i]->matches(s.str)) return static_cast<i64>(i);
      return -1;
    default: return find_text(s.str);
  }
}

// ------------------------------------------------------------------------------------------------ files

namespace {

/// One line of a file: blanks at both ends off; a map line is cut after the first word.
bool cut_line(string_view line, PatternFiles::Kind kind, string_view &key, string_view &value) {
  line = trim(line);
  if (line.empty() || line.front() == '#') return false;
  key = line;
  value = {};
  if (kind == PatternFiles::Map) {
    size_t gap = line.find_first_of(" \t");
    key = line.substr(0, gap);
    if (gap != string_view::npos) value = trim(line.substr(gap));
  }
  return true;
}

} // namespace

std::shared_ptr<const PatternSet> PatternFiles::load(string_view name, Kind kind, MatchMethod method, bool ignore_case, std::string &error) {
  bool optional = name.starts_with("opt@"), is_virtual = name.starts_with("virt@");
  if (optional) name.remove_prefix(4);
  else if (name.starts_with("file@")) name.remove_prefix(5);
  std::string id = std::string(name) + '\0' + std::to_string(static_cast<int>(method)) + (ignore_case ? "i" : "") + (kind == Map ? "m" : "");
  if (auto it = loaded_.find(id); it != loaded_.end()) return it->second;

  auto set = std::make_shared<PatternSet>(method, ignore_case);
  set->file = name;
  if (!is_virtual) {
    std::ifstream in{std::string(name), std::ios::binary};
    if (!in && !optional) {
      error = "cannot read the pattern file '" + std::string(name) + "': " + std::strerror(errno);
      return nullptr;
    }
    std::string content{std::istreambuf_iterator<char>(in), {}};
    size_t number = 0;
    for (string_view rest = content; !rest.empty();) {
      size_t end = rest.find('\n');
      string_view line = rest.substr(0, end), key, value;
      rest = end == string_view::npos ? string_view() : rest.substr(end + 1);
      number++;
      if (!cut_line(line, kind, key, value)) continue;
      if (!set->add(key, value, error)) {
        error = std::string(name) + ":" + std::to_string(number) + ": " + error;
        return nullptr;
      }
    }
  }
  set->build_index();
  loaded_.emplace(std::move(id), set);
  return set;
}

} // namespace penstock
