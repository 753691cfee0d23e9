// SPDX-License-Identifier: BSD-2-Clause
// The machine-readable forms of statistics (management guide 9.1, 9.2): CSV, typed lines, JSON. Pure
// text making; what to write comes from fields.h, collect.h and info.h.
#pragma once

#include "worker/stats/fields.h"

namespace penstock {

enum class DumpForm : u8 { Csv, Typed, Json };

/// `text` as one CSV column: quoted only where a reader could be misled.
void add_csv(std::string &out, string_view text);
/// `text` inside a JSON string, without the quotes around it.
void add_json(std::string &out, string_view text);
void add_number(std::string &out, const StatValue &v);

/// What comes before the first, for each, and after the last line. `first` starts true.
void dump_stat_head(std::string &out, DumpForm form);
void dump_stat(std::string &out, DumpForm form, bool with_descriptions, bool &first, StatSubject &subject);
void dump_stat_tail(std::string &out, DumpForm form);

/// One figure of typed or JSON output, without what names the object: `"field":{…},…,"value":{…}`.
void add_json_figure(std::string &out, u32 position, string_view name, const char *tags, const StatValue &value);
/// ":MGP:u32:17"
void add_typed_figure(std::string &out, const char *tags, const StatValue &value);

/// The answer to `show schema json`.
string_view stats_schema();

} // namespace penstock
