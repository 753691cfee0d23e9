// SPDX-License-Identifier: BSD-2-Clause
// Fuzzes pattern and map files. Whatever a file holds and whatever is looked up, a list of which a handful was copied, the
// indexes behind it, and the plain words of the manual written down below must give the same row, also after changes.
//
// Input: method, flags, the file's lines up to a byte 0xff, then what is looked up, a line each.
#include <algorithm>
#include <cstring>
#include <vector>

#include "shared/base/text.h"
#include "shared/expr/pattern.h"
#include "tests/fuzz/fuzz.h"

using namespace penstock;

namespace {

using Kind = PatternFiles::Kind;

constexpr MatchMethod methods[] = {MatchMethod::Int, MatchMethod::Ip,  MatchMethod::Bin, MatchMethod::Len, MatchMethod::Str, MatchMethod::Beg,
                                   MatchMethod::Sub, MatchMethod::Dir, MatchMethod::Dom, MatchMethod::End, MatchMethod::Reg};

std::string lowered(string_view s) {
  std::string out(s);
  for (char &c : out) c = ascii_lower(c);
  return out;
}

bool parts_words(MatchMethod m, char c) { return m == MatchMethod::Dir ? c == '/' || c == '?' : std::strchr("/?.:", c) != nullptr && c != '\0'; }

using Rows = std::vector<const PatternRow *>;

Rows rows_of(const PatternSet &set) {
  Rows out;
  PatternList &list = set.list();
  for (u32 at = list.head().oldest; at != 0; at = list.row(at).newer) out.push_back(&list.row(at));
  return out;
}

/// -m dir and -m dom: the key stands between delimiters, or the text's ends.
bool stands_alone(MatchMethod m, string_view text, string_view key) {
  for (size_t at = 0; !key.empty() && (at = text.find(key, at)) != string_view::npos; at++) {
    size_t end = at + key.size();
    if ((at == 0 || parts_words(m, text[at - 1])) && (end == text.size() || parts_words(m, text[end]))) return true;
  }
  return false;
}

bool text_fits(MatchMethod m, string_view text, string_view key) {
  switch (m) {
    case MatchMethod::Str:
    case MatchMethod::Bin: return text == key;
    case MatchMethod::Beg: return text.starts_with(key);
    case MatchMethod::End: return text.ends_with(key);
    case MatchMethod::Sub: return text.find(key) != string_view::npos;
    default: return stands_alone(m, text, key);
  }
}

std::string comparable(const PatternSet &set, string_view key) {
  MatchMethod m = set.method();
  if (m == MatchMethod::Bin) {
    std::string bytes;
    hex_to_bytes(key, bytes);
    return bytes;
  }
  if (m == MatchMethod::Dir || m == MatchMethod::Dom) {
    while (!key.empty() && parts_words(m, key.front())) key.remove_prefix(1);
    while (!key.empty() && parts_words(m, key.back())) key.remove_suffix(1);
  }
  return set.ignore_case() ? lowered(key) : std::string(key);
}

/// The row that the manual means: the finest of prefixes, else the first.
const PatternRow *plain_text_answer(const PatternSet &set, const Rows &rows, string_view text) {
  MatchMethod m = set.method();
  std::string folded = set.ignore_case() && m != MatchMethod::Bin ? lowered(text) : std::string(text);
  const PatternRow *best = nullptr;
  size_t best_length = 0;
  for (const PatternRow *row : rows) {
    std::string key = comparable(set, row->text());
    if (!text_fits(m, folded, key)) continue;
    if (m != MatchMethod::Beg || set.ignore_case()) return row;
    if (!best || key.size() > best_length) best = row, best_length = key.size();
  }
  return best;
}

const PatternRow *plain_number_answer(const Rows &rows, i64 v) {
  for (const PatternRow *row : rows) {
    i64 low, high;
    if (parse_range(row->text(), false, low, high) && v >= low && v <= high) return row;
  }
  return nullptr;
}

/// Networks of the address' own family first, then of the other as far as the address exists there.
const PatternRow *plain_ip_answer(const Rows &rows, const Ip &ip) {
  auto as_v4 = ip.is_v4() ? std::optional<Ip>(ip) : ip.to_v4();
  std::optional<Ip> as_v6 = ip.is_v6() ? ip : ip.to_v6();
  for (bool v4 : {ip.is_v4(), !ip.is_v4()}) {
    const PatternRow *best = nullptr;
    unsigned best_bits = 0;
    auto &address = v4 ? as_v4 : as_v6;
    for (const PatternRow *row : rows) {
      auto net = parse_pattern_network(row->text());
      if (!address || !net || net->ip.is_v4() != v4 || !net->contains(*address)) continue;
      if (!best || net->bits > best_bits) best = row, best_bits = net->bits;
    }
    if (best) return best;
  }
  return nullptr;
}

bool sample_of(MatchMethod m, string_view text, Sample &s) {
  auto number = m == MatchMethod::Int ? parse_i64(text) : std::nullopt;
  auto ip = m == MatchMethod::Ip ? parse_ip(text) : std::nullopt;
  if (number) s.set_int(*number);
  else if (ip) s.set_ip(*ip);
  else if (m == MatchMethod::Bin) s.set_bin(text);
  else s.set_str(text);
  return (m != MatchMethod::Int || number) && (m != MatchMethod::Ip || ip);
}

const PatternRow *plain_answer(const PatternSet &set, const Rows &rows, const Sample &s) {
  switch (set.method()) {
    case MatchMethod::Int: return plain_number_answer(rows, s.num);
    case MatchMethod::Len: return plain_number_answer(rows, static_cast<i64>(s.str.size()));
    case MatchMethod::Ip: return plain_ip_answer(rows, s.ip);
    default: return plain_text_answer(set, rows, s.str);
  }
}

void compare(const PatternSet &set, const Rows &rows, string_view text) {
  Sample s;
  if (!sample_of(set.method(), text, s)) return;
  const PatternRow *found = set.find(s);
  if (set.method() == MatchMethod::Reg) return;
  const PatternRow *plain = plain_answer(set, rows, s);
  auto shown = [](const PatternRow *row) { return row ? std::string(row->text()) : "nothing"; };
  if (found != plain)
    std::fprintf(stderr, "-m %s%s: found %s, by hand %s, %zu rows\n", std::string(match_method_name(set.method())).c_str(), set.indexed() ? " by index" : "", shown(found).c_str(), shown(plain).c_str(), rows.size());
  must(found == plain, "a look-up answers like a search by hand");
}

void compare_all(const PatternSet &set, string_view wanted) {
  Rows rows = rows_of(set);
  FuzzInput lines(reinterpret_cast<const std::uint8_t *>(wanted.data()), wanted.size());
  for (int i = 0; i < 64 && !lines.rest().empty(); i++) compare(set, rows, lines.until('\n'));
  for (size_t i = 0; i < std::min<size_t>(rows.size(), 32); i++) compare(set, rows, rows[i]->text());
}

/// Deletes every other row and adds those again: from now on the indexes answer.
void change(const PatternSet &set) {
  std::vector<std::string> keys;
  for (const PatternRow *row : rows_of(set))
    if (keys.size() < 64) keys.emplace_back(row->text());
  std::string error;
  for (size_t i = 0; i < keys.size(); i += 2) set.list().remove(keys[i]);
  for (size_t i = 0; i < keys.size(); i += 4) set.list().add_once(keys[i], error);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  FuzzInput in(data, size);
  MatchMethod m = methods[in.byte() % std::size(methods)];
  u8 flags = in.byte();
  std::string content(in.until('\xff'));
  if (m == MatchMethod::Reg && content.size() > 300) return 0; // PCRE2 has fuzzers of its own
  static MemoryFile file;
  PatternFiles files;
  std::string error;
  const PatternSet *set = files.of_file(file.holding(content), {.kind = flags & 1 ? PatternFiles::Map : PatternFiles::Patterns, .method = m, .ignore_case = (flags & 2) != 0}, error);
  must((set == nullptr) == !error.empty(), "a file that is refused is told why");
  if (set == nullptr) return 0;
  compare_all(*set, in.rest());
  change(*set);
  compare_all(*set, in.rest());
  return 0;
}
