// SPDX-License-Identifier: BSD-2-Clause
#include "master/config/keyword_index.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "shared/table/words.h"

namespace penstock {

namespace {

constexpr size_t max_name_words = 4;
constexpr size_t max_name_length = 96;

size_t word_count(string_view name) { return 1 + static_cast<size_t>(std::count(name.begin(), name.end(), ' ')); }
string_view first_word(string_view name) { return name.substr(0, name.find(' ')); }

class KeywordIndex {
 public:
  KeywordIndex() {
    for (KeywordRows rows : keyword_tables())
      for (const KeywordDef &row : rows()) all_.push_back(&row);
    // A row that works comes before a Planned one of the same name, so that a list of planned names may lag behind.
    std::stable_partition(all_.begin(), all_.end(), [](const KeywordDef *r) { return r->standing != Standing::Planned; });
    by_name_.reserve(all_.size() * 2);
    for (const KeywordDef *row : all_) {
      by_name_[row->name].push_back(row);
      size_t &longest = longest_[first_word(row->name)];
      longest = std::max(longest, word_count(row->name));
    }
  }

  KeywordMatch find(const Words &words, u32 section) const {
    KeywordMatch match;
    auto longest = longest_.find(words.peek());
    if (longest == longest_.end()) return match;
    char joined[max_name_length];
    size_t ends[max_name_words], n = 0, length = 0;
    for (; n < std::min({longest->second, max_name_words, words.left()}); n++) {
      string_view w = words.peek(n);
      if (length + w.size() + 1 > max_name_length) break;
      if (n > 0) joined[length++] = ' ';
      length += w.copy(joined + length, w.size());
      ends[n] = length;
    }
    for (; n > 0; n--) {
      auto found = by_name_.find(string_view(joined, ends[n - 1]));
      if (found == by_name_.end()) continue;
      for (const KeywordDef *row : found->second) {
        if (row->sections & section) {
          match.row = row, match.words = n;
          return match;
        }
        // Among rows for other sections, one of the same kind of section tells most.
        bool nearer = match.elsewhere && match.elsewhere_words == n && (section & in_proxies) && (row->sections & in_proxies);
        if (!match.elsewhere || nearer) match.elsewhere = row, match.elsewhere_words = n;
      }
    }
    return match;
  }

  std::string hint(const Words &words, u32 section) const {
    string_view first = words.peek(), second = words.peek(1);
    if (is_family(first, section) && !second.empty()) { // "option htplog": the second word is the wrong one
      NearMiss near(second);
      for (const KeywordDef *row : all_)
        if ((row->sections & section) && row->name.size() > first.size() && first_word(row->name) == first)
          near.consider(row->name.substr(first.size() + 1));
      return near.hint();
    }
    NearMiss near(first);
    for (const KeywordDef *row : all_)
      if (row->sections & section) near.consider(first_word(row->name));
    return near.hint();
  }

  bool is_family(string_view word, u32 section) const {
    return std::any_of(all_.begin(), all_.end(), [&](const KeywordDef *row) {
      return (row->sections & section) && row->name.size() > word.size() && first_word(row->name) == word;
    });
  }

 private:
  std::vector<const KeywordDef *> all_;
  std::unordered_map<string_view, std::vector<const KeywordDef *>> by_name_;
  std::unordered_map<string_view, size_t> longest_; // by first word: words of its longest name
};

const KeywordIndex &index() {
  static const KeywordIndex the_index;
  return the_index;
}

} // namespace

KeywordMatch find_keyword(const Words &words, u32 section) { return index().find(words, section); }
std::string keyword_hint(const Words &words, u32 section) { return index().hint(words, section); }
bool is_keyword_family(string_view word, u32 section) { return index().is_family(word, section); }

} // namespace penstock
