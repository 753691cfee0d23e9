// SPDX-License-Identifier: BSD-2-Clause
#include "master/config/settle_rules.h"

#include <iterator>

namespace penstock {

void settle_rules(Config &config) {
  for (const auto &proxy : config.proxies) {
    RuleList &rules = proxy->http_request;
    rules.insert(rules.begin(), std::make_move_iterator(proxy->blocks.begin()), std::make_move_iterator(proxy->blocks.end()));
    proxy->blocks.clear();
  }
}

} // namespace penstock
