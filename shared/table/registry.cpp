// SPDX-License-Identifier: BSD-2-Clause
// Look-ups in the tables of rows: sorted once, at first use, then binary search.
#include "shared/table/registry.h"

#include <algorithm>
#include <vector>

namespace penstock {

namespace {

template <class Def> class Sorted {
 public:
  template <class Tables> explicit Sorted(Tables tables) {
    for (auto rows : tables)
      for (const Def &def : rows()) all_.push_back(&def);
    std::stable_sort(all_.begin(), all_.end(), [](const Def *a, const Def *b) { return a->name < b->name; });
  }
  /// All rows of that name.
  std::span<const Def *const> find_all(string_view name) const {
    auto [low, high] = std::equal_range(all_.begin(), all_.end(), name, Less{});
    return {low, high};
  }
  const Def *find(string_view name) const {
    auto found = find_all(name);
    return found.empty() ? nullptr : found.front();
  }

 private:
  struct Less {
    bool operator()(const Def *a, string_view b) const { return a->name < b; }
    bool operator()(string_view a, const Def *b) const { return a < b->name; }
  };
  std::vector<const Def *> all_;
};

} // namespace

const FetchDef *find_fetch(string_view name) {
  static const Sorted<FetchDef> index(fetch_tables());
  return index.find(name);
}
const ConverterDef *find_converter(string_view name) {
  static const Sorted<ConverterDef> index(converter_tables());
  return index.find(name);
}
const LogTagDef *find_log_tag(string_view name) {
  static const Sorted<LogTagDef> index(log_tag_tables());
  return index.find(name);
}
const AclAliasDef *find_acl_alias(string_view name) {
  static const Sorted<AclAliasDef> index(acl_alias_tables());
  return index.find(name);
}

const ActionDef *find_action(string_view word, u32 set) {
  static const Sorted<ActionDef> index(action_tables());
  size_t open = word.find('(');
  string_view name = open == string_view::npos ? word : word.substr(0, open + 1);
  for (const ActionDef *def : index.find_all(name))
    if (def->sets & set) return def;
  size_t digits = word.find_last_not_of("0123456789") + 1;
  if (digits == 0 || digits == word.size()) return nullptr;
  for (const ActionDef *def : index.find_all(std::string(word.substr(0, digits)) + '#'))
    if (def->sets & set) return def;
  return nullptr;
}

} // namespace penstock
