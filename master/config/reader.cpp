// SPDX-License-Identifier: BSD-2-Clause
#include "master/config/reader.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "shared/base/text.h"

namespace penstock {

// ---------------------------------------------------------------------------------------- Tokenizer

bool Tokenizer::fail(size_t at, std::string text) {
  error.text = std::move(text);
  error.at = at;
  return false;
}

void Tokenizer::begin_word(size_t at) {
  if (in_word_) return;
  in_word_ = true;
  vanished_ = false;
  word_at_ = at;
  if (count_ == out_->size()) out_->emplace_back();
  Word &w = (*out_)[count_++];
  w.text.clear();
  w.column = static_cast<u16>(std::min<size_t>(at + 1, 65535));
}

void Tokenizer::end_word() {
  if (!in_word_) return;
  in_word_ = false;
  if (!(*out_)[count_ - 1].text.empty()) return;
  if (!vanished_ && empty_word == no_empty_word) empty_word = word_at_;
  if (vanished_) count_--;
}

bool Tokenizer::run(string_view line, const PseudoVariables &pseudo, std::vector<Word> &out) {
  line_ = line;
  pseudo_ = &pseudo;
  out_ = &out;
  count_ = 0;
  in_word_ = false;
  at_ = 0;
  error = {};
  empty_word = no_empty_word;

  Quote quote = Quote::None;
  size_t quote_at = 0;
  bool ok = true;
  while (ok && at_ < line_.size()) {
    char c = line_[at_];
    if (quote == Quote::Strong) {
      if (c == '\'') quote = Quote::None;
      else put(c);
      at_++;
    } else if (c == '\\') {
      begin_word(at_);
      ok = escape(quote);
    } else if (quote == Quote::Weak) {
      if (c == '"') quote = Quote::None, at_++;
      else if (c == '$') ok = variable();
      else put(c), at_++;
    } else if (c == '#' && comments) {
      break;
    } else if (is_space(c)) {
      end_word();
      at_++;
    } else {
      begin_word(at_);
      if (c == '"' || c == '\'') {
        quote = c == '"' ? Quote::Weak : Quote::Strong;
        quote_at = at_;
      } else {
        put(c);
      }
      at_++;
    }
  }
  if (ok && quote != Quote::None) ok = fail(quote_at, "this quote is never closed on its line");
  end_word();

  // The first empty word ends the line; it is worth a word only when something follows it.
  auto empty = std::find_if(out.begin(), out.begin() + static_cast<long>(count_), [](const Word &w) { return w.text.empty(); });
  size_t kept = static_cast<size_t>(empty - out.begin());
  if (kept + 1 >= count_) empty_word = no_empty_word;
  out.resize(kept);
  return ok;
}

bool Tokenizer::escape(Quote quote) {
  size_t start = at_++;
  if (at_ >= line_.size()) {
    put('\\'); // a lone one at the line's end stands for itself
    return true;
  }
  char c = line_[at_++];
  switch (c) {
  case ' ': case '\t': case '#': case '\\': case '\'': case '"': put(c); return true;
  case 'n': put('\n'); return true;
  case 'r': put('\r'); return true;
  case 't': put('\t'); return true;
  case '$':
    if (quote == Quote::None) put('\\'); // not special outside quotes: regular expressions rely on it
    put('$');
    return true;
  case 'x': {
    int high = at_ < line_.size() ? hex_digit(line_[at_]) : -1;
    int low = at_ + 1 < line_.size() ? hex_digit(line_[at_ + 1]) : -1;
    if (high < 0 || low < 0) return fail(start, "\\x must be followed by two hexadecimal digits");
    put(static_cast<char>(high * 16 + low));
    at_ += 2;
    return true;
  }
  default:
    put('\\');
    put(c);
    return true;
  }
}

static bool is_name_char(char c) { return is_alpha(c) || is_digit(c) || c == '_'; }

/// $NAME, ${NAME}, ${NAME-default}, ${NAME[*]}, ${NAME[*]-default}; the cursor is on the dollar.
bool Tokenizer::variable() {
  size_t dollar = at_++;
  bool braces = at_ < line_.size() && line_[at_] == '{';
  if (braces) at_++;
  size_t start = at_;
  if (at_ < line_.size() && line_[at_] == '.') at_++; // a pseudo-variable
  if (at_ >= line_.size() || !is_name_char(line_[at_]) || is_digit(line_[at_]))
    return fail(at_ < line_.size() ? at_ : dollar, "a variable's name must follow the dollar (write \\$ for the sign itself)");
  while (at_ < line_.size() && is_name_char(line_[at_])) at_++;
  std::string name(line_.substr(start, at_ - start));
  if (!braces) return substitute(name, false, {}, false);

  bool as_list = line_.substr(at_, 3) == "[*]";
  if (as_list) at_ += 3;
  bool has_default = at_ < line_.size() && line_[at_] == '-';
  string_view default_value;
  if (has_default) {
    size_t from = ++at_;
    while (at_ < line_.size() && line_[at_] != '}' && line_[at_] != '"') at_++;
    default_value = line_.substr(from, at_ - from);
    if (default_value.ends_with("[*]")) as_list = true, default_value.remove_suffix(3);
  }
  if (at_ >= line_.size() || line_[at_] != '}') return fail(dollar, "the brace after the dollar is never closed");
  at_++;
  return substitute(name, has_default, default_value, as_list);
}

bool Tokenizer::lookup(const std::string &name, std::string &value) const {
  if (name == ".FILE") return value = pseudo_->file, true;
  if (name == ".LINE") return value = std::to_string(pseudo_->line), true;
  if (name == ".SECTION") return value = pseudo_->section, true;
  const char *v = getenv(name.c_str());
  if (!v) return false;
  value = v;
  return true;
}

bool Tokenizer::substitute(const std::string &name, bool has_default, string_view default_value, bool as_list) {
  std::string value;
  if (!lookup(name, value)) {
    if (name[0] == '.') return fail(at_ - 1, "there is no pseudo-variable '" + name + "', only .FILE, .LINE and .SECTION");
    if (has_default) value = default_value;
  }
  if (!as_list) {
    (*out_)[count_ - 1].text += value;
    return true;
  }
  // Each blank-separated part is a word of its own; the first joins what stands before it.
  if (value.find_first_not_of(" \t") == std::string::npos) {
    vanished_ = true;
    return true;
  }
  bool first = true;
  size_t at = 0;
  while ((at = value.find_first_not_of(" \t", at)) != std::string::npos) {
    size_t stop = std::min(value.find_first_of(" \t", at), value.size());
    if (!first) {
      size_t word_at = word_at_;
      end_word();
      begin_word(word_at);
    }
    first = false;
    (*out_)[count_ - 1].text.append(value, at, stop - at);
    at = stop;
  }
  return true;
}

// -------------------------------------------------------------------------------------------- files

static bool is_configuration_name(string_view name) { return !name.starts_with('.') && name.ends_with(".cfg"); }

static void expand_directory(const std::string &path, std::vector<std::string> &out, Diagnostics &diags) {
  DIR *dir = opendir(path.c_str());
  if (!dir) {
    diags.alert({}, "cannot open the directory " + path + ": " + std::strerror(errno));
    return;
  }
  std::vector<std::string> names;
  while (dirent *entry = readdir(dir))
    if (is_configuration_name(entry->d_name)) names.emplace_back(entry->d_name);
  closedir(dir);
  std::sort(names.begin(), names.end());
  for (const std::string &name : names) {
    std::string file = path.ends_with('/') ? path + name : path + "/" + name;
    struct stat st;
    if (stat(file.c_str(), &st) == 0 && S_ISREG(st.st_mode)) out.push_back(std::move(file));
  }
}

std::vector<std::string> expand_file_list(const std::vector<std::string> &arguments, Diagnostics &diags) {
  std::vector<std::string> out;
  for (const std::string &argument : arguments) {
    struct stat st;
    if (stat(argument.c_str(), &st) != 0)
      diags.alert({}, "cannot open the configuration file or directory " + argument + ": " + std::strerror(errno));
    else if (S_ISDIR(st.st_mode)) expand_directory(argument, out, diags);
    else out.push_back(argument);
  }
  return out;
}

bool read_file(const std::string &path, std::string &out) {
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (fd < 0) return false;
  out.clear();
  struct stat st;
  if (fstat(fd, &st) == 0 && st.st_size > 0) out.reserve(static_cast<size_t>(st.st_size) + 1);
  char block[65536];
  ssize_t n;
  while ((n = read(fd, block, sizeof block)) > 0 || (n < 0 && errno == EINTR))
    if (n > 0) out.append(block, static_cast<size_t>(n));
  int error = errno;
  close(fd);
  errno = error;
  return n == 0;
}

} // namespace penstock
