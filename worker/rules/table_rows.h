// SPDX-License-Identifier: BSD-2-Clause
// The values of stick table entries as rules name them, once for all families of rows: sc_conn_cnt(0),
// sc0_conn_cnt, src_conn_cnt and the converter table_conn_cnt are the same value of another entry.
#pragma once

#include <algorithm>
#include <array>

#include "worker/rules/table_access.h"

namespace penstock::table_rows {

struct Value {
  string_view name;     // behind "sc_"
  string_view conv;     // behind "table_", where it differs
  ValueSpec spec;
  bool indexed;         // takes the number of an element
  string_view store;    // what an example has to store
  string_view summary;
};

using enum DataType;
inline constexpr ValueSpec get(DataType t) { return {ValueOp::Get, t}; }

inline constexpr Value values[] = {
    {"bytes_in_rate", "", {ValueOp::ByteRate, BytesInRate}, false, "bytes_in_rate(10s)", "Bytes from the client within the period of bytes_in_rate."},
    {"bytes_out_rate", "", {ValueOp::ByteRate, BytesOutRate}, false, "bytes_out_rate(10s)", "Bytes to the client within the period of bytes_out_rate."},
    {"clr_gpc", "", {ValueOp::Clear, Gpc}, true, "gpc(2)", "Clears an element of gpc and gives what it was."},
    {"clr_gpc0", "", {ValueOp::Clear, Gpc0}, false, "gpc0", "Clears gpc0 and gives what it was."},
    {"clr_gpc1", "", {ValueOp::Clear, Gpc1}, false, "gpc1", "Clears gpc1 and gives what it was."},
    {"conn_cnt", "", get(ConnCnt), false, "conn_cnt", "Connections so far."},
    {"conn_cur", "", get(ConnCur), false, "conn_cur", "Connections and streams that track the entry now, over all workers."},
    {"conn_rate", "", get(ConnRate), false, "conn_rate(10s)", "Connections within the period of conn_rate."},
    {"get_gpc", "gpc", get(Gpc), true, "gpc(2)", "An element of gpc."},
    {"get_gpc0", "gpc0", get(Gpc0), false, "gpc0", "The counter gpc0."},
    {"get_gpc1", "gpc1", get(Gpc1), false, "gpc1", "The counter gpc1."},
    {"get_gpt", "gpt", get(Gpt), true, "gpt(2)", "An element of gpt."},
    {"get_gpt0", "gpt0", get(Gpt0), false, "gpt0", "The tag gpt0."},
    {"glitch_cnt", "", get(GlitchCnt), false, "glitch_cnt", "Protocol oddities of the client so far."},
    {"glitch_rate", "", get(GlitchRate), false, "glitch_rate(10s)", "Protocol oddities of the client within the period of glitch_rate."},
    {"gpc0_rate", "", get(Gpc0Rate), false, "gpc0_rate(10s)", "How often gpc0 was incremented within its period."},
    {"gpc1_rate", "", get(Gpc1Rate), false, "gpc1_rate(10s)", "How often gpc1 was incremented within its period."},
    {"gpc_rate", "", get(GpcRate), true, "gpc_rate(2,10s)", "How often an element of gpc was incremented within the period of gpc_rate."},
    {"http_err_cnt", "", get(HttpErrCnt), false, "http_err_cnt", "Requests so far that the client got wrong: unreadable, denied, answered 4xx."},
    {"http_err_rate", "", get(HttpErrRate), false, "http_err_rate(10s)", "Requests that the client got wrong within the period of http_err_rate."},
    {"http_fail_cnt", "", get(HttpFailCnt), false, "http_fail_cnt", "Responses so far that the server got wrong: missing, unreadable, 5xx."},
    {"http_fail_rate", "", get(HttpFailRate), false, "http_fail_rate(10s)", "Responses that the server got wrong within the period of http_fail_rate."},
    {"http_req_cnt", "", get(HttpReqCnt), false, "http_req_cnt", "Requests so far."},
    {"http_req_rate", "", get(HttpReqRate), false, "http_req_rate(10s)", "Requests within the period of http_req_rate."},
    {"inc_gpc", "", {ValueOp::Increment, Gpc, GpcRate}, true, "gpc(2)", "Increments an element of gpc and gives what it is now."},
    {"inc_gpc0", "", {ValueOp::Increment, Gpc0, Gpc0Rate}, false, "gpc0", "Increments gpc0 and gives what it is now."},
    {"inc_gpc1", "", {ValueOp::Increment, Gpc1, Gpc1Rate}, false, "gpc1", "Increments gpc1 and gives what it is now."},
    {"kbytes_in", "", {ValueOp::Kilobytes, BytesInCnt}, false, "bytes_in_cnt", "Kilobytes from the client so far."},
    {"kbytes_out", "", {ValueOp::Kilobytes, BytesOutCnt}, false, "bytes_out_cnt", "Kilobytes to the client so far."},
    {"sess_cnt", "", get(SessCnt), false, "sess_cnt", "Sessions so far: connections that tcp-request connection rules let in."},
    {"sess_rate", "", get(SessRate), false, "sess_rate(10s)", "Sessions within the period of sess_rate."},
};
inline constexpr size_t count = std::size(values);

/// Texts put together when the program is compiled.
template <size_t N> struct Text {
  char chars[N] = {};
  size_t size = 0;
  constexpr void add(string_view s) {
    for (char c : s) chars[size++] = c;
  }
  constexpr string_view view() const { return {chars, size}; }
};

} // namespace penstock::table_rows
