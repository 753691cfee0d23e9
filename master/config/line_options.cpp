// SPDX-License-Identifier: BSD-2-Clause
// The lists of tables of `bind` and `server` line options. A new file of options adds its function here.
#include "master/config/kw_proxy.h"

namespace penstock {

std::span<const OptionRows> bind_option_tables() {
  static constexpr OptionRows tables[] = {bind_options, bind_tls_options};
  return tables;
}

std::span<const OptionRows> server_option_tables() {
  static constexpr OptionRows tables[] = {server_options, server_check_options, server_tls_options};
  return tables;
}

} // namespace penstock
