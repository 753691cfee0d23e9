// SPDX-License-Identifier: BSD-2-Clause
// Quoting, escapes, comments and variables of a line (manual 2.2, 2.3).
#include "master/config/reader.h"

#include <doctest/doctest.h>

#include <cstdlib>

using namespace penstock;

namespace {

/// The words of a line joined by '|', or "error: …".
std::string words_of(string_view line) {
  static constexpr PseudoVariables pseudo{"site.cfg", 7, "www"};
  Tokenizer tokenizer;
  std::vector<Word> words;
  if (!tokenizer.run(line, pseudo, words)) return "error at " + std::to_string(tokenizer.error.at);
  std::string out;
  for (const Word &w : words) out += (out.empty() ? "" : "|") + w.text;
  return out;
}

} // namespace

TEST_CASE("words are cut at blanks and end at a hash") {
  CHECK(words_of("  bind\t:80   # all") == "bind|:80");
  CHECK(words_of("global#comment") == "global");
  CHECK(words_of("") == "");
  CHECK(words_of("   \t ") == "");
  CHECK(words_of("# only a comment \"with a quote") == "");
  CHECK(words_of("mode http\r") == "mode|http");
}

TEST_CASE("quotes join and protect") {
  CHECK(words_of(R"(a "b c" 'd e')") == "a|b c|d e");
  CHECK(words_of(R"(x"y"'z')") == "xyz");
  CHECK(words_of(R"('"' "'" '\n' "#")") == R"("|'|\n|#)");
  CHECK(words_of("a 'b") == "error at 2");
  CHECK(words_of("a \"b") == "error at 2");
}

TEST_CASE("escapes") {
  CHECK(words_of(R"(a\ b \# \\ \' \" c)") == R"(a b|#|\|'|"|c)");
  CHECK(words_of(R"(\x41\x7a "\x42")") == "Az|B");
  CHECK(words_of(R"("a\nb\tc\rd")") == "a\nb\tc\rd");
  CHECK(words_of(R"(a\qb "a\qb")") == R"(a\qb|a\qb)");
  CHECK(words_of(R"(^/x\.php$ \$x "\$x")") == R"(^/x\.php$|\$x|$x)");
  CHECK(words_of(R"(a\x4g)") == "error at 1");
  CHECK(words_of("a\\x4") == "error at 1");
  CHECK(words_of("a\\") == "a\\");
}

TEST_CASE("variables are seen inside double quotes only") {
  setenv("PENSTOCK_T", "v w", 1);
  setenv("PENSTOCK_EMPTY", "", 1);
  unsetenv("PENSTOCK_NONE");
  CHECK(words_of(R"($PENSTOCK_T '$PENSTOCK_T' "$PENSTOCK_T")") == "$PENSTOCK_T|$PENSTOCK_T|v w");
  CHECK(words_of(R"("${PENSTOCK_T}x" "$PENSTOCK_T.x")") == "v wx|v w.x");
  CHECK(words_of(R"(a "${PENSTOCK_T[*]}" b)") == "a|v|w|b");
  CHECK(words_of(R"(a"${PENSTOCK_T[*]}"b)") == "av|wb");
  CHECK(words_of(R"(a "${PENSTOCK_EMPTY[*]}" b)") == "a|b");
  CHECK(words_of(R"("${PENSTOCK_NONE-d}" "${PENSTOCK_NONE-127.0.0.1:514}")") == "d|127.0.0.1:514");
  CHECK(words_of(R"(x"${PENSTOCK_EMPTY-d}")") == "x"); // set, though empty
  CHECK(words_of(R"(a "${PENSTOCK_NONE[*]-d}" b)") == "a|d|b");
  CHECK(words_of(R"("${.FILE}" "$.LINE" "${.SECTION}")") == "site.cfg|7|www");
  CHECK(words_of(R"("$1")") == "error at 2");
  CHECK(words_of(R"(a "${PENSTOCK_T")") == "error at 3");
  CHECK(words_of(R"("$")") == "error at 2");
  CHECK(words_of(R"("${.NONE}")").starts_with("error"));
}

TEST_CASE("an empty word ends the line") {
  Tokenizer tokenizer;
  std::vector<Word> words;
  CHECK(tokenizer.run("a \"\" b", {}, words));
  CHECK(words.size() == 1);
  CHECK(tokenizer.empty_word == 2);
  CHECK(tokenizer.run("a b \"\"", {}, words));
  CHECK(words.size() == 2);
  CHECK(tokenizer.empty_word == Tokenizer::no_empty_word); // nothing is lost
}

TEST_CASE("columns count from one") {
  Tokenizer tokenizer;
  std::vector<Word> words;
  CHECK(tokenizer.run("  timeout 'client'  30s", {}, words));
  CHECK(words[0].column == 3);
  CHECK(words[1].column == 11);
  CHECK(words[2].column == 21);
}
