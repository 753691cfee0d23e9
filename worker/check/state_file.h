// SPDX-License-Identifier: BSD-2-Clause
// `load-server-state-from-file`: what `show servers state` wrote before the service stopped is put back
// when it starts. A reload needs no file: its state is in shared memory.
#pragma once

#include <string>

#include "shared/model/config.h"

namespace penstock {

class Service;

/// One line of such a file, as far as it is taken back.
struct SavedServer {
  std::string backend, server, address;
  u32 backend_id = 0, server_id = 0;
  u32 op_state = 2, admin = 0, user_weight = 1, initial_weight = 1, check_health = 0, check_status = 0;
  u64 seconds_since_change = 0;
  u16 port = 0;
};
/// The rows of a file of format 1; false, and why in `error`, where it is another or damaged. Comment
/// lines and rows with too few fields are passed over.
bool parse_server_states(string_view text, std::vector<SavedServer> &out, std::string &error);

/// Reads the files that the configuration names and applies them to servers whose rows are new. Notices
/// about files that cannot be used go to `diags`; a missing file is none.
void load_server_states(const Config &config, Service &service, Diagnostics &diags);

} // namespace penstock
