// SPDX-License-Identifier: BSD-2-Clause
#include "shared/expr/predefined_acls.h"

namespace penstock {

static constexpr PredefinedAcl rows[] = {
    {"FALSE", "always_false"},
    {"HTTP", "req.proto_http"},
    {"HTTP_1.0", "req.ver 1.0"},
    {"HTTP_1.1", "req.ver 1.1"},
    {"HTTP_2.0", "req.ver 2.0"},
    {"HTTP_3.0", "req.ver 3.0"},
    {"HTTP_CONTENT", "req.hdr_val(content-length) gt 0"},
    {"HTTP_URL_ABS", "url_reg ^[^/:]*://"},
    {"HTTP_URL_SLASH", "url_beg /"},
    {"HTTP_URL_STAR", "url *"},
    {"LOCALHOST", "src 127.0.0.1/8 ::1"},
    {"METH_CONNECT", "method CONNECT"},
    {"METH_DELETE", "method DELETE"},
    {"METH_GET", "method GET HEAD"},
    {"METH_HEAD", "method HEAD"},
    {"METH_OPTIONS", "method OPTIONS"},
    {"METH_POST", "method POST"},
    {"METH_PUT", "method PUT"},
    {"METH_TRACE", "method TRACE"},
    {"RDP_COOKIE", "req.rdp_cookie_cnt gt 0"},
    {"REQ_CONTENT", "req.len gt 0"},
    {"TRUE", "always_true"},
    {"WAIT_END", "wait_end"},
};

std::span<const PredefinedAcl> predefined_acls() { return rows; }

} // namespace penstock
