// SPDX-License-Identifier: BSD-2-Clause
// `show info` (management guide 9.3): figures about the service as a whole, one row each, in the
// reference's order and with its names. What the reference counts per process is a sum over all workers here.
#pragma once

#include "worker/stats/csv_json.h"

namespace penstock {

struct InfoSubject {
  const Config *config = nullptr;
  const Service *service = nullptr;
  ProcessCounters process; // summed over the workers
  u32 workers = 0, pid = 0;
  u64 streams_now = 0;
  Tick now = 0;
  i64 wall_s = 0;
  bool stopping = false;
  std::string scratch;
};
/// Reads the sums. `pid` is that of the answering process' service.
InfoSubject read_info(const Config &config, const Service &service, Tick now, i64 wall_s);

struct InfoField {
  string_view name;
  char tags[4] = {};
  string_view summary;
  StatValue (*get)(InfoSubject &) = nullptr;
};
std::span<const InfoField> info_fields();

enum class InfoForm : u8 { Plain, Typed, Json };
void dump_info(std::string &out, InfoForm form, bool with_descriptions, InfoSubject &subject);

} // namespace penstock
