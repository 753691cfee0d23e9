// SPDX-License-Identifier: BSD-2-Clause
// The longest name wins, by section; hints name what is near.
#include "master/config/keyword_index.h"

#include <doctest/doctest.h>

#include <set>

#include "shared/table/words.h"

using namespace penstock;

namespace {

Words line(Diagnostics &diags, std::initializer_list<const char *> words) {
  std::vector<Word> list;
  for (const char *w : words) list.push_back({w, 1});
  return Words(std::move(list), {}, diags);
}

} // namespace

TEST_CASE("names of several words") {
  Diagnostics diags;
  Words words = line(diags, {"timeout", "client", "30s"});
  KeywordMatch match = find_keyword(words, in_frontend);
  REQUIRE(match.row);
  CHECK(match.row->name == "timeout client");
  CHECK(match.words == 2);
}

TEST_CASE("one name in several sections") {
  Diagnostics diags;
  Words words = line(diags, {"maxconn", "3"});
  CHECK(find_keyword(words, in_global).row != find_keyword(words, in_frontend).row);
  KeywordMatch match = find_keyword(words, in_backend);
  CHECK(match.row == nullptr);
  REQUIRE(match.elsewhere);
  CHECK((match.elsewhere->sections & in_frontend) != 0); // not the global one
}

TEST_CASE("what is not there") {
  Diagnostics diags;
  Words words = line(diags, {"option", "htplog"});
  CHECK(find_keyword(words, in_frontend).row == nullptr);
  CHECK(is_keyword_family("option", in_frontend));
  CHECK(keyword_hint(words, in_frontend) == "did you mean 'httplog'?");
  CHECK(find_keyword(line(diags, {std::string(500, 'x').c_str()}), in_global).row == nullptr);
  CHECK(find_keyword(line(diags, {"timeout", std::string(500, 'x').c_str()}), in_listen).row == nullptr);
}

TEST_CASE("every working name is unique within its sections") {
  std::set<std::pair<std::string, u32>> seen;
  for (KeywordRows rows : keyword_tables())
    for (const KeywordDef &row : rows())
      for (u32 bit = 1; bit != 0; bit <<= 1)
        if ((row.sections & bit) && row.standing != Standing::Planned) CHECK_MESSAGE(seen.emplace(row.name, bit).second, row.name);
}
