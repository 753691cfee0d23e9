// SPDX-License-Identifier: BSD-2-Clause
// The lines of check scripts, shared by `http-check` and `tcp-check` (manual, section 4.2). Each reader
// stands after the line's second word and fills a step; false after an alert.
#pragma once

#include "master/config/kw_proxy.h"

namespace penstock {

bool read_check_connect(LineContext &ctx, CheckStep &step);
bool read_http_send(LineContext &ctx, CheckStep &step);
bool read_tcp_send(LineContext &ctx, CheckStep &step, CheckStep::Kind kind, bool is_format);
bool read_http_expect(LineContext &ctx, CheckStep &step);
bool read_tcp_expect(LineContext &ctx, CheckStep &step);
bool read_check_comment(LineContext &ctx, CheckStep &step);
/// "set-var(check.x)", "set-var-fmt(…)", "unset-var(…)": the word is the cursor's last.
bool read_check_variable(LineContext &ctx, CheckStep &step, string_view word);

/// An even number of hexadecimal digits.
bool is_hex_text(string_view text);

/// Checks of a proxy may be shared with a defaults section: a changed copy takes their place.
template <class Change> void change_checks(LineContext &ctx, Change &&make_change) {
  auto &current = ctx.settings->check;
  auto made = current ? std::make_shared<CheckSettings>(*current) : std::make_shared<CheckSettings>();
  make_change(*made);
  current = std::move(made);
}

} // namespace penstock
