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

/// One address word of a bind, server, log or source line (manual, section 2.9):
/// `[ipv4@|unix@|fd@|…]host:port[-port]`.
struct AddressWord {
  Address address;      // family AF_UNSPEC when `host` must be resolved
  std::string host;
  u16 family_hint = AF_UNSPEC; // what `host` must resolve to, if its prefix says so
  u16 port_low = 0, port_high = 0;
  bool has_port = false, relative_port = false; // "+1000"
  i32 port_offset = 0;
  int fd = -1;          // fd@N, sockpair@N
  bool sockpair = false;
  bool datagram = false, quic = false;
  bool socket_given = false; // the kind of socket was written: stream+, udp@, …
};
struct AddressRules {
  bool port_required = false, port_range = false, relative_port = false;
  bool resolve = true;  // host names are resolved now; else left in AddressWord::host
  bool fd = false, unix_path = true;
  bool stream = true, datagram = false, datagram_default = false;
};
/// Alerts at the current word and returns false on a mistake; moves on after the word.
bool parse_address(Words &words, const AddressRules &rules, AddressWord &out);
/// The same for a piece of a word, such as one of the addresses of "bind :80,:81".
bool parse_address_text(string_view text, const AddressRules &rules, AddressWord &out, std::string &error);

} // namespace penstock
