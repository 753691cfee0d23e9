// SPDX-License-Identifier: BSD-2-Clause
#include "worker/cli/cli_line.h"

#include "shared/base/text.h"

namespace penstock {

namespace {

/// The payload's announcement is the line's last word; what comes before it stays.
bool take_payload_mark(std::vector<std::string> &words, std::string &end) {
  if (words.empty() || !words.back().starts_with("<<")) return false;
  end = words.back().substr(2);
  words.pop_back();
  return true;
}

} // namespace

CliLine parse_cli_line(string_view line) {
  CliLine out;
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  auto end_word = [&] {
    if (in_word) words.push_back(std::move(word));
    word.clear();
    in_word = false;
  };
  auto end_command = [&] {
    end_word();
    if (!words.empty()) out.commands.push_back(std::move(words));
    words.clear();
  };
  for (size_t i = 0; i < line.size(); i++) {
    char c = line[i];
    if (c == '\\' && i + 1 < line.size()) {
      char next = line[++i];
      if (next != ' ' && next != '\t' && next != ';' && next != '\\') word += '\\';
      word += next;
      in_word = true;
    } else if (c == ';') {
      end_command();
    } else if (is_space(c)) {
      end_word();
    } else {
      word += c;
      in_word = true;
    }
  }
  end_word();
  out.payload = take_payload_mark(words, out.payload_end);
  if (!words.empty()) out.commands.push_back(std::move(words));
  return out;
}

} // namespace penstock
