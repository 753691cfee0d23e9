// SPDX-License-Identifier: BSD-2-Clause
// The sections that exist, as rows: those of later issues stand here as Planned until they come.
#pragma once

#include <span>

#include "master/config/parser.h"

namespace penstock {

enum class SectionName : u8 { None, Optional, Required };

struct SectionDef {
  string_view name; // the word that opens it
  u32 bit = 0;      // SectionBits
  SectionName takes_name = SectionName::None;
  Doc doc;
  /// Makes or finds the section's object and puts it into the context; the cursor stands after the
  /// section's name. False after an alert: the lines of the section are then not looked at.
  bool (*open)(LineContext &, string_view name) = nullptr;
  void (*close)(LineContext &) = nullptr; // at the section's end; may be null
  Standing standing = Standing::Current;
};

std::span<const SectionDef> section_rows();
const SectionDef *find_section(string_view word); // null if the word opens none
const SectionDef *find_section_by_bit(u32 bit);

/// Gives a new proxy what the defaults section says that it inherits from (manual, section 4): the one
/// named by `from NAME` at the cursor, else the nearest one above. False after an alert.
bool inherit_defaults(LineContext &ctx, ProxySettings &into, const Defaults *&source);

/// Parses one line whose cursor stands on its first word, in the section that `ctx` describes. Also
/// used to replay the rules of a named defaults section.
void parse_line_in_section(LineContext &ctx);

} // namespace penstock
