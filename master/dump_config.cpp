// SPDX-License-Identifier: BSD-2-Clause
#include "master/dump_config.h"

#include <cstdio>
#include <unordered_set>

#include "master/config/keyword_list.h"
#include "master/config/reader.h"
#include "master/config/sections.h"
#include "shared/base/text.h"

namespace penstock {
namespace {

/// FNV-1a over key and word: hides, and stays the same within a file. No cryptography is claimed.
std::string hidden(const std::string &key, const std::string &word) {
  u32 hash = 2166136261u;
  for (const std::string *part : {&key, &word})
    for (char c : *part) hash = (hash ^ static_cast<u8>(c)) * 16777619u;
  char text[12];
  snprintf(text, sizeof text, "%06x", hash & 0xffffff);
  return text;
}

std::unordered_set<std::string> language() {
  std::unordered_set<std::string> out = {"if", "unless", "or", "!", "{", "}", "on", "off", "http", "tcp", "check", "server", "global"};
  std::string word;
  for (char c : list_keywords("all")) {
    if (!is_space(c)) word += c;
    else if (!word.empty()) out.insert(std::move(word)), word.clear();
  }
  return out;
}

bool is_number(const std::string &word) { return !word.empty() && is_digit(word[0]) && word.find_first_not_of("0123456789smhdukg") == std::string::npos; }

std::string quoted(const std::string &word) {
  if (!word.empty() && word.find_first_of(" \t\"'\\#$") == std::string::npos) return word;
  std::string out = "\"";
  for (char c : word) {
    if (c == '"' || c == '\\' || c == '$') out += '\\';
    out += c;
  }
  return out + '"';
}

} // namespace

std::string dump_configuration(const std::vector<std::string> &files, const std::string &key) {
  Diagnostics ignored;
  std::unordered_set<std::string> known = language();
  std::string out;
  for (const std::string &file : expand_file_list(files, ignored)) {
    std::string text;
    if (!read_file(file, text)) continue;
    Tokenizer tokenizer;
    std::vector<Word> words;
    PseudoVariables pseudo{.file = file, .line = 0, .section = {}};
    for (string_view line : split(text, '\n')) {
      pseudo.line++;
      tokenizer.run(line, pseudo, words);
      if (words.empty()) continue;
      bool section = find_section(words[0].text) != nullptr;
      if (!section) out += '\t';
      for (size_t i = 0; i < words.size(); i++) {
        const std::string &w = words[i].text;
        bool show = key.empty() || i == 0 || (!(section && i > 0) && (known.contains(w) || is_number(w)));
        out += (show ? quoted(w) : hidden(key, w)) + " ";
      }
      out += '\n';
    }
  }
  return out;
}

} // namespace penstock
