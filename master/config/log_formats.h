// SPDX-License-Identifier: BSD-2-Clause
// The headers that a log line may get, by their words (`log … format`, `format` of a ring).
#pragma once

#include "master/config/choice.h"
#include "shared/model/log_target.h"

namespace penstock {

inline constexpr Choice<LogLineFormat> log_line_formats[] = {
    {"iso", LogLineFormat::Iso},     {"local", LogLineFormat::Local}, {"priority", LogLineFormat::Priority}, {"raw", LogLineFormat::Raw},
    {"rfc3164", LogLineFormat::Rfc3164}, {"rfc5424", LogLineFormat::Rfc5424}, {"short", LogLineFormat::Short}, {"timed", LogLineFormat::Timed}};

} // namespace penstock
