// SPDX-License-Identifier: BSD-2-Clause
// The statistics page (`stats enable`, `stats uri`): recognises its requests, checks who asks, obeys the
// orders of its form and prepares the answer, which is made while it is sent (html_page.h, or CSV, JSON
// and typed lines). Called by Step::Request after the rules of a proxy that has the page.
#pragma once

#include "worker/stream/stream.h"

namespace penstock {

/// Whether the request is for `p`'s page; then stream.answer and its response are ready for Step::Reply.
bool serve_statistics(Stream &stream, const Proxy &p);
/// Whether serve_statistics() has to see the request's body: orders are posted.
bool statistics_need_body(Stream &stream, const Proxy &p);

} // namespace penstock
