// SPDX-License-Identifier: BSD-2-Clause
// Pieces of syntax that several keyword files of proxy sections share (kw_proxy.h).
#include <algorithm>

#include "master/config/choice.h"
#include "master/config/kw_proxy.h"
#include "shared/base/text.h"
#include "shared/table/registry.h"

namespace penstock {

std::string rest_of_line(Words &words) {
  std::string out;
  while (!words.at_end()) {
    if (!out.empty()) out += ' ';
    out += words.next();
  }
  return out;
}

std::optional<Millis> need_delay_seconds(Words &words) {
  if (auto plain = words.at_end() ? std::nullopt : parse_u64(words.peek()); plain && *plain <= 2'147'483) {
    words.next();
    return static_cast<Millis>(*plain * 1000);
  }
  return words.need_delay("a delay (in seconds without a unit)");
}

// ------------------------------------------------------------------------------------------ source

namespace {

/// "hdr_ip(name)" or "hdr_ip(name,occurrence)".
bool parse_usesrc_header(Words &words, SourceSettings &out) {
  string_view inside = words.peek();
  inside.remove_prefix(string_view("hdr_ip(").size());
  if (!inside.ends_with(')')) {
    alert_expected(words, "'hdr_ip(NAME)' or 'hdr_ip(NAME,OCCURRENCE)'");
    return false;
  }
  inside.remove_suffix(1);
  size_t comma = inside.find(',');
  out.usesrc = SourceSettings::HdrIp;
  out.usesrc_header = trim(inside.substr(0, comma));
  out.usesrc_occurrence = -1;
  if (comma != string_view::npos) {
    auto n = parse_i64(trim(inside.substr(comma + 1)));
    if (!n || *n < -10 || *n > 10) {
      words.alert("the occurrence of 'hdr_ip' is a number between -10 and 10");
      return false;
    }
    out.usesrc_occurrence = static_cast<i32>(*n);
  }
  if (out.usesrc_header.empty()) {
    words.alert("'hdr_ip' expects the name of a header");
    return false;
  }
  words.next();
  return true;
}

bool parse_usesrc(Words &words, SourceSettings &out) {
  if (words.take("clientip")) return out.usesrc = SourceSettings::ClientIp, true;
  if (words.take("client")) return out.usesrc = SourceSettings::Client, true;
  if (words.peek().starts_with("hdr_ip(")) return parse_usesrc_header(words, out);
  if (words.at_end()) {
    words.alert("'usesrc' expects 'client', 'clientip', 'hdr_ip(NAME)' or an address");
    return false;
  }
  AddressWord address;
  if (!parse_address(words, {.unix_path = false}, address)) return false;
  out.usesrc = SourceSettings::Address_;
  out.usesrc_address = address.address;
  return true;
}

} // namespace

bool parse_source(Words &words, SourceSettings &out) {
  AddressWord address;
  if (!parse_address(words, {.port_range = true, .unix_path = false}, address)) return false;
  out.address = address.address;
  out.port_low = address.port_low;
  out.port_high = address.port_high;
  for (;;) {
    if (words.take("usesrc")) {
      if (!parse_usesrc(words, out)) return false;
    } else if (words.take("interface")) {
      auto name = words.need("the name of a network interface");
      if (!name) return false;
      out.interface = *name;
    } else {
      return true;
    }
  }
}

// ---------------------------------------------------------------------------- options of bind and server

OptionIndex::OptionIndex(std::span<const OptionRows> tables) {
  for (OptionRows rows : tables)
    for (const OptionDef &def : rows()) sorted_.push_back(&def);
  std::sort(sorted_.begin(), sorted_.end(), [](const OptionDef *a, const OptionDef *b) { return a->name < b->name; });
}

const OptionDef *OptionIndex::find(string_view written) const {
  // "set-proxy-v2-tlv-fmt(0x20)" is the row "set-proxy-v2-tlv-fmt(".
  size_t open = written.find('(');
  string_view name = open == string_view::npos ? written : written.substr(0, open + 1);
  auto at = std::lower_bound(sorted_.begin(), sorted_.end(), name, [](const OptionDef *d, string_view n) { return d->name < n; });
  return at != sorted_.end() && (*at)->name == name ? *at : nullptr;
}

const OptionIndex &bind_option_index() {
  static const OptionIndex index(bind_option_tables());
  return index;
}
const OptionIndex &server_option_index() {
  static const OptionIndex index(server_option_tables());
  return index;
}

namespace {

void alert_unknown_option(Words &words, string_view kind, const OptionIndex &index) {
  NearMiss near(words.peek());
  for (const OptionDef *def : index.all()) near.consider(def->name);
  words.alert("unknown option '" + std::string(words.peek()) + "' on a '" + std::string(kind) + "' line", near.hint());
}

/// Options that the manual knows and we don't do yet are refused by name; their values are skipped.
void refuse_planned(Words &words, const OptionDef &def) {
  words.alert("the option '" + std::string(def.name) + "' is known but not implemented yet");
  words.next();
  if (!def.value.empty() && !words.at_end()) words.next();
}

} // namespace

bool parse_line_options(LineContext &ctx, const OptionIndex &index, void *target) {
  Words &words = ctx.words;
  std::string kind(words.subject());
  unsigned alerts_before = words.diags().alerts();
  while (!words.at_end()) {
    const OptionDef *def = index.find(words.peek());
    if (!def) {
      alert_unknown_option(words, kind, index);
      do words.next(); // perhaps its value
      while (!words.at_end() && !index.find(words.peek()));
      continue;
    }
    if (def->standing == Standing::Planned) {
      refuse_planned(words, *def);
      continue;
    }
    words.next();
    words.set_subject(def->name);
    def->parse(ctx, target);
  }
  words.set_subject(ctx.def ? ctx.def->name : string_view());
  return words.diags().alerts() == alerts_before;
}

} // namespace penstock
