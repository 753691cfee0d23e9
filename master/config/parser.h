// SPDX-License-Identifier: BSD-2-Clause
// The parser's side of a keyword row: what its function gets. Reading, quoting and conditions are in
// reader.h and conditions.h; the sections that exist are rows too (sections.h).
#pragma once

#include <span>
#include <string>

#include "shared/model/config.h"
#include "shared/table/words.h"

namespace penstock {

enum class Negation : u8 { None, No, Default }; // `no option x`, `default option x`

struct LineContext {
  Words &words;          // the cursor stands after the keyword's name
  Config &config;
  u32 section;           // one bit of SectionBits: where we are
  const KeywordDef *def = nullptr;
  Negation negation = Negation::None;

  // The section's object; what the section is says which are set.
  ProxySettings *settings = nullptr; // defaults, frontend, backend, listen
  Proxy *proxy = nullptr;            // frontend, backend, listen
  Defaults *defaults = nullptr;
  Userlist *userlist = nullptr;
  HttpErrors *http_errors = nullptr;
  void *other = nullptr;             // sections of later issues

  Diagnostics &diags() { return words.diags(); }
  /// Whether the section has that half: warns "ignored because …" as the manual says and returns false if not.
  bool wants_frontend(), wants_backend();
};

/// Reads `files` (files, or directories in alphabetical order) into `config`. All mistakes are in
/// `diags` afterwards; the configuration may be used only if !diags.failed(). Resolves and validates.
void read_configuration(const std::vector<std::string> &files, Config &config, Diagnostics &diags);

/// One address word of a bind or server line (manual, section 11): `[ipv4@|unix@|fd@|…]host:port[-port]`.
struct AddressWord {
  Address address;      // family AF_UNSPEC when `host` must be resolved
  std::string host;
  u16 port_low = 0, port_high = 0;
  bool has_port = false, relative_port = false; // "+1000"
  i32 port_offset = 0;
  int fd = -1;          // fd@N
  bool datagram = false, quic = false;
};
struct AddressRules {
  bool port_required = false, port_range = false, relative_port = false, resolve = true, fd = false, unix_path = true;
};
/// Alerts at the current word and returns false on a mistake; moves on after the word.
bool parse_address(Words &words, const AddressRules &rules, AddressWord &out);

} // namespace penstock
