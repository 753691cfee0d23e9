// SPDX-License-Identifier: BSD-2-Clause
// What logs keep of a message that is gone by then: the headers of `capture request|response header` and
// `declare capture` slots, and the cookie of `capture cookie` (manual, section 8.8).
#pragma once

namespace penstock {

class Stream;

void capture_request_head(Stream &s);
void capture_response_head(Stream &s);

} // namespace penstock
