// SPDX-License-Identifier: BSD-2-Clause
// Which lists of patterns a configuration has, and reading their files.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "shared/base/text.h"
#include "shared/expr/pattern.h"

namespace penstock {

namespace {

bool is_blank(char c) { return c == ' ' || c == '\t'; }

/// One line of a file: blanks before it do not count. A map line is cut after its first word, and what
/// follows that is the value, without the blanks around it.
bool cut_line(string_view line, PatternFiles::Kind kind, string_view &key, string_view &value) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.starts_with('#')) return false;
  while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
  if (line.empty()) return false;
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

bool PatternReference::used_by(bool map) const {
  return std::any_of(uses.begin(), uses.end(), [&](const Use &u) { return map ? u.map : u.acl; }) || (!map && name.empty());
}

PatternFiles::PatternFiles() : store_(PatternStore::create(store_error_)) {}
PatternFiles::~PatternFiles() = default;

PatternReference *PatternFiles::make(u32 indexes, std::string &error) {
  auto list = store_ ? store_->make_list(indexes) : nullptr;
  if (!list) {
    error = "no memory for patterns" + (store_error_.empty() ? std::string() : ": " + store_error_);
    return nullptr;
  }
  auto &ref = references_.emplace_back(std::make_unique<PatternReference>());
  ref->list = std::move(list);
  return ref.get();
}

PatternReference *PatternFiles::named(string_view name, std::string &error) {
  string_view identity = name;
  if (name.starts_with("opt@")) identity.remove_prefix(4);
  else if (name.starts_with("file@")) identity.remove_prefix(5);
  if (identity.empty()) {
    error = "the name of a file of patterns is empty";
    return nullptr;
  }
  if (auto it = names_.find(std::string(identity)); it != names_.end()) return it->second;
  PatternReference *ref = make(PatternStore::indexes_of_files, error);
  if (!ref) return nullptr;
  ref->name = identity;
  ref->shown = name.starts_with("file@") ? identity : name;
  return names_[ref->name] = ref;
}

const PatternSet *PatternFiles::of_file(string_view name, const Wanted &wanted, std::string &error) {
  PatternReference *ref = named(name, error);
  if (!ref) return nullptr;
  if (ref->read && ref->has_values != (wanted.kind == Map)) {
    error = "'" + ref->name + "' is already used " + (ref->has_values ? "as a map, with values: an ACL over it needs -M" : "as a list without values; if it is a map, let the ACL over it say -M");
    return nullptr;
  }
  ref->uses.push_back({wanted.kind == Map, wanted.acl, wanted.place});
  PatternSet *set = nullptr;
  for (auto &s : ref->sets)
    if (s->method() == wanted.method && s->ignore_case() == wanted.ignore_case && s->dotted() == wanted.dotted) set = s.get();
  bool fresh = set == nullptr;
  if (fresh) set = ref->sets.emplace_back(std::make_unique<PatternSet>(*ref->list, wanted.method, wanted.ignore_case, wanted.dotted)).get();
  bool good = ref->read ? !fresh || set->prepare({}, error) : read(*ref, wanted, *set, name.starts_with("opt@"), error);
  if (good && ref->list->demand(wanted.values, error)) {
    if (fresh) set->copy_few();
    return set;
  }
  if (!error.starts_with(ref->name) && !error.starts_with("cannot")) error = ref->name + ": " + error;
  return nullptr;
}

PatternSet *PatternFiles::of_words(string_view criterion, MatchMethod method, bool ignore_case, bool dotted, std::optional<u32> id, Place place, std::string &error) {
  PatternReference *ref = make(PatternStore::indexes_of_words, error);
  if (!ref) return nullptr;
  ref->criterion = criterion;
  ref->place = place;
  ref->id_forced = id.has_value();
  ref->id = id.value_or(0);
  auto &set = ref->sets.emplace_back(std::make_unique<PatternSet>(*ref->list, method, ignore_case, dotted));
  return set->prepare({}, error) ? set.get() : nullptr;
}

bool PatternFiles::add_word(PatternSet &set, string_view word, std::string &error) {
  return set.list().load(word, {}, error) == PatternChange::Done;
}

PatternList *PatternFiles::of_rule(string_view name, Place place, std::string &error) {
  PatternReference *ref = named(name, error);
  if (!ref) return nullptr;
  if (!ref->changed_by_rule) ref->place = place;
  ref->changed_by_rule = true;
  return ref->list.get();
}

void PatternFiles::finish(Diagnostics &diags) {
  if (!store_) return;
  std::vector<u32> forced;
  for (const auto &r : references_)
    if (r->id_forced) forced.push_back(r->id);
  u32 next = 0;
  by_number_.clear();
  for (auto &r : references_) {
    while (std::find(forced.begin(), forced.end(), next) != forced.end()) next++;
    if (!r->id_forced) r->id = next++;
    by_number_.push_back(r.get());
    if (r->changed_by_rule && r->uses.empty())
      diags.warning(r->place, "nothing looks up in '" + r->shown + "': no ACL and no map converter names it");
  }
  std::stable_sort(by_number_.begin(), by_number_.end(), [](auto *a, auto *b) { return a->id < b->id; });
  store_->loaded();
}

PatternReference *PatternFiles::find(string_view id, bool map) const {
  if (id.starts_with('#')) {
    auto number = parse_u64(id.substr(1));
    for (PatternReference *r : by_number_)
      if (number && r->id == *number && r->used_by(map)) return r;
    return nullptr;
  }
  auto it = names_.find(std::string(id));
  return it != names_.end() && (it->second->used_by(map)) ? it->second : nullptr;
}

bool PatternFiles::content_of(const std::string &name, bool optional, std::string &content, std::string &error) {
  std::ifstream in{name, std::ios::binary};
  if (!in && optional) return true;
  bool good = static_cast<bool>(in);
  if (good) {
    in.seekg(0, std::ios::end);
    auto bytes = in.tellg();
    if (bytes > 0 && bytes < i64{1} << 40) content.reserve(static_cast<size_t>(bytes));
    in.clear();
    in.seekg(0);
    in.clear(); // a pipe cannot seek
    std::vector<char> block(1 << 18);
    while (in.read(block.data(), static_cast<std::streamsize>(block.size())) || in.gcount() > 0) content.append(block.data(), static_cast<size_t>(in.gcount()));
    good = !in.bad();
  }
  if (!good) error = "cannot read the pattern file '" + name + "': " + std::strerror(errno);
  return good;
}

bool PatternFiles::read(PatternReference &ref, const Wanted &wanted, PatternSet &set, bool optional, std::string &error) {
  ref.read = true;
  ref.has_values = wanted.kind == Map;
  std::string content;
  if (!ref.name.starts_with("virt@") && !content_of(ref.name, optional, content, error)) return false;
  PatternList::Ahead ahead{static_cast<size_t>(std::count(content.begin(), content.end(), '\n')) + 1};
  if (wanted.method == MatchMethod::Ip)
    for (size_t at = 0; (at = content.find("::", at)) != std::string::npos; at += 2) ahead.v6++;
  ref.list->expect_rows(ahead.rows);
  if (!set.prepare(ahead, error) || !ref.list->demand(wanted.values, error)) return false;
  size_t number = 0;
  for (string_view rest = content; !rest.empty();) {
    size_t end = rest.find('\n');
    string_view line = rest.substr(0, end), key, value;
    rest = end == string_view::npos ? string_view() : rest.substr(end + 1);
    number++;
    if (!cut_line(line, wanted.kind, key, value)) continue;
    if (ref.list->load(key, value, error) == PatternChange::Done) continue;
    error = ref.name + ":" + std::to_string(number) + ": " + error;
    return false;
  }
  return true;
}

} // namespace penstock
