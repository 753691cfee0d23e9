// SPDX-License-Identifier: BSD-2-Clause
#include "shared/table/known_names.h"

#include <algorithm>
#include <iterator>

namespace penstock {

namespace {

constexpr string_view actions[] = {
    "accept", "add-acl", "add-header", "allow", "attach-srv", "auth", "cache-store", "cache-use", "capture", "del-acl", "del-header", "del-map", "deny",
    "disable-l7-retry", "do-log", "do-resolve", "early-hint", "expect-netscaler-cip", "expect-proxy", "normalize-uri", "ot-group", "pause",
    "redirect", "reject", "replace-header", "replace-path", "replace-pathq", "replace-uri", "replace-value", "return", "sc-add-gpc", "sc-inc-gpc",
    "sc-inc-gpc0", "sc-inc-gpc1", "sc-set-gpt", "sc-set-gpt0", "send-spoe-group", "set-bandwidth-limit", "set-bc-mark", "set-bc-tos", "set-dst",
    "set-dst-port", "set-fc-mark", "set-fc-tos", "set-header", "set-log-level", "set-map", "set-mark", "set-method", "set-nice", "set-path",
    "set-pathq", "set-priority-class", "set-priority-offset", "set-query", "set-retries", "set-src", "set-src-port", "set-status", "set-timeout",
    "set-tos", "set-uri", "set-var", "set-var-fmt", "silent-drop", "strict-mode", "switch-mode", "tarpit", "track-sc", "unset-var", "use-service",
    "wait-for-body", "wait-for-handshake",
};

constexpr string_view converters[] = {
    "51d.single", "add", "add_item", "aes_gcm_dec", "aes_gcm_enc", "and", "b64dec", "base2", "base64", "be2dec", "be2hex", "bool", "bytes",
    "capture-req", "capture-res", "concat", "cpl", "crc32", "crc32c", "cut_crlf", "da-csv-conv", "date", "debug", "digest", "div", "djb2", "even",
    "field", "fix_is_valid", "fix_tag_value", "has_ctl", "hex", "hex2i", "hmac", "host_only", "htonl", "http_date", "iif", "in_table", "ipmask",
    "json", "json_query", "jwt_header_query", "jwt_payload_query", "jwt_verify", "language", "le2dec", "length", "lower", "ltime", "ltrim", "map",
    "map_beg", "map_beg_int", "map_beg_ip", "map_beg_key", "map_dir", "map_dir_int", "map_dir_ip", "map_dir_key", "map_dom", "map_dom_int",
    "map_dom_ip", "map_dom_key", "map_end", "map_end_int", "map_end_ip", "map_end_key", "map_int", "map_int_int", "map_int_ip", "map_int_key",
    "map_ip", "map_ip_int", "map_ip_ip", "map_ip_key", "map_reg", "map_reg_int", "map_reg_ip", "map_reg_key", "map_regm", "map_str", "map_str_int",
    "map_str_ip", "map_str_key", "map_sub", "map_sub_int", "map_sub_ip", "map_sub_key", "mod", "mqtt_field_value", "mqtt_is_valid", "ms_ltime",
    "ms_utime", "mul", "nbsrv", "neg", "not", "odd", "or", "param", "port_only", "protobuf", "regsub", "rfc7239_field", "rfc7239_is_valid",
    "rfc7239_n2nn", "rfc7239_n2np", "rfc7239_nn", "rfc7239_np", "rtrim", "sdbm", "secure_memcmp", "set-var", "sha1", "sha2", "srv_is_up", "srv_queue",
    "strcmp", "sub", "table_bytes_in_rate", "table_bytes_out_rate", "table_clr_gpc", "table_clr_gpc0", "table_clr_gpc1", "table_conn_cnt",
    "table_conn_cur", "table_conn_rate", "table_expire", "table_glitch_cnt", "table_glitch_rate", "table_gpc", "table_gpc0", "table_gpc0_rate",
    "table_gpc1", "table_gpc1_rate", "table_gpc_rate", "table_gpt", "table_gpt0", "table_http_err_cnt", "table_http_err_rate", "table_http_fail_cnt",
    "table_http_fail_rate", "table_http_req_cnt", "table_http_req_rate", "table_idle", "table_inc_gpc", "table_inc_gpc0", "table_inc_gpc1",
    "table_kbytes_in", "table_kbytes_out", "table_server_id", "table_sess_cnt", "table_sess_rate", "table_trackers", "ub64dec", "ub64enc", "ungrpc",
    "unset-var", "upper", "url_dec", "url_enc", "us_ltime", "us_utime", "utime", "when", "word", "wt6", "x509_v_err_str", "xor", "xxh3", "xxh32",
    "xxh64",
};

constexpr string_view fetches[] = {
    "51d.all", "accept_date", "acl", "act_conn", "always_false", "always_true", "avg_queue", "base", "base32", "base32+src", "base_beg", "base_dir", "base_dom",
    "base_end", "base_len", "base_reg", "base_sub", "baseq", "bc.timer.connect", "bc_be_queue", "bc_dst", "bc_dst_port", "bc_err", "bc_err_name",
    "bc_err_str", "bc_glitches", "bc_http_major", "bc_nb_streams", "bc_reused", "bc_rtt", "bc_rttvar", "bc_settings_streams_limit", "bc_src",
    "bc_src_port", "bc_srv_queue", "be_conn", "be_conn_free", "be_id", "be_name", "be_server_timeout", "be_sess_rate", "be_tunnel_timeout", "bin",
    "bool", "bs.aborted", "bs.debug_str", "bs.id", "bs.rst_code", "bytes_in", "bytes_out", "capture.req.hdr", "capture.req.method", "capture.req.uri",
    "capture.req.ver", "capture.res.hdr", "capture.res.ver", "connslots", "cook", "cook_beg", "cook_cnt", "cook_dir", "cook_dom", "cook_end",
    "cook_len", "cook_reg", "cook_sub", "cook_val", "cookie", "cpu_calls", "cpu_ns_avg", "cpu_ns_tot", "cur_client_timeout", "cur_server_timeout",
    "cur_tunnel_timeout", "da-csv-fetch", "date", "date_us", "distcc_body", "distcc_param", "dst", "dst_conn", "dst_is_local", "dst_port", "env",
    "fc.timer.handshake", "fc.timer.total", "fc_dst", "fc_dst_is_local", "fc_dst_port", "fc_err", "fc_err_name", "fc_err_str", "fc_fackets",
    "fc_glitches", "fc_http_major", "fc_lost", "fc_nb_streams", "fc_pp_authority", "fc_pp_tlv", "fc_pp_unique_id", "fc_rcvd_proxy", "fc_reordering",
    "fc_retrans", "fc_rtt", "fc_rttvar", "fc_sacked", "fc_settings_streams_limit", "fc_src", "fc_src_is_local", "fc_src_port", "fc_unacked",
    "fcgi.docroot", "fcgi.index", "fe_client_timeout", "fe_conn", "fe_defbe", "fe_id", "fe_name", "fe_req_rate", "fe_sess_rate", "fs.aborted",
    "fs.debug_str", "fs.id", "fs.rst_code", "hdr", "hdr_beg", "hdr_cnt", "hdr_dir", "hdr_dom", "hdr_end", "hdr_ip", "hdr_len", "hdr_reg", "hdr_sub",
    "hdr_val", "hostname", "http_auth", "http_auth_bearer", "http_auth_group", "http_auth_pass", "http_auth_type", "http_auth_user", "http_first_req",
    "int", "internal.htx.data", "internal.htx.free", "internal.htx.free_data", "internal.htx.has_eom", "internal.htx.nbblks", "internal.htx.size",
    "internal.htx.used", "internal.htx_blk.data", "internal.htx_blk.hdrname", "internal.htx_blk.hdrval", "internal.htx_blk.size",
    "internal.htx_blk.start_line", "internal.htx_blk.type", "internal.strm.is_htx", "ipv4", "ipv6", "last_entity", "last_rule_file", "last_rule_line",
    "lat_ns_avg", "lat_ns_tot", "meth", "method", "nbproc", "nbsrv", "path", "path_beg", "path_dir", "path_dom", "path_end", "path_len", "path_reg",
    "path_sub", "pathq", "payload", "payload_lv", "pid", "prio_class", "prio_offset", "proc", "query", "queue", "quic_enabled", "rand", "rdp_cookie",
    "rdp_cookie_cnt", "rep_ssl_hello_type", "req.body", "req.body_len", "req.body_param", "req.body_size", "req.cook", "req.cook_cnt",
    "req.cook_names", "req.cook_val", "req.fhdr", "req.fhdr_cnt", "req.hdr", "req.hdr_cnt", "req.hdr_ip", "req.hdr_names", "req.hdr_val", "req.hdrs",
    "req.hdrs_bin", "req.len", "req.payload", "req.payload_lv", "req.proto_http", "req.rdp_cookie", "req.rdp_cookie_cnt", "req.ssl_alpn",
    "req.ssl_cipherlist", "req.ssl_ec_ext", "req.ssl_hello_type", "req.ssl_keyshare_groups", "req.ssl_sigalgs", "req.ssl_sni", "req.ssl_st_ext",
    "req.ssl_supported_groups", "req.ssl_ver", "req.timer.hdr", "req.timer.idle", "req.timer.queue", "req.timer.tq", "req.ver", "req_len",
    "req_proto_http", "req_rdp_cookie", "req_rdp_cookie_cnt", "req_ssl_hello_type", "req_ssl_sni", "req_ssl_ver", "req_ver", "request_date",
    "res.body", "res.body_len", "res.body_size", "res.cache_hit", "res.cache_name", "res.comp", "res.comp_algo", "res.cook", "res.cook_cnt",
    "res.cook_names", "res.cook_val", "res.fhdr", "res.fhdr_cnt", "res.hdr", "res.hdr_cnt", "res.hdr_ip", "res.hdr_names", "res.hdr_val", "res.hdrs",
    "res.hdrs_bin", "res.len", "res.payload", "res.payload_lv", "res.ssl_hello_type", "res.timer.data", "res.timer.hdr", "res.ver", "resp_ver",
    "sc0_bytes_in_rate", "sc0_bytes_out_rate", "sc0_clr_gpc0", "sc0_clr_gpc1", "sc0_conn_cnt", "sc0_conn_cur", "sc0_conn_rate", "sc0_get_gpc0",
    "sc0_get_gpc1", "sc0_get_gpt0", "sc0_glitch_cnt", "sc0_glitch_rate", "sc0_gpc0_rate", "sc0_gpc1_rate", "sc0_http_err_cnt", "sc0_http_err_rate",
    "sc0_http_fail_cnt", "sc0_http_fail_rate", "sc0_http_req_cnt", "sc0_http_req_rate", "sc0_inc_gpc0", "sc0_inc_gpc1", "sc0_kbytes_in",
    "sc0_kbytes_out", "sc0_key", "sc0_sess_cnt", "sc0_sess_rate", "sc0_tracked", "sc0_trackers", "sc1_bytes_in_rate", "sc1_bytes_out_rate",
    "sc1_clr_gpc", "sc1_clr_gpc0", "sc1_clr_gpc1", "sc1_conn_cnt", "sc1_conn_cur", "sc1_conn_rate", "sc1_get_gpc0", "sc1_get_gpc1", "sc1_get_gpt0",
    "sc1_glitch_cnt", "sc1_glitch_rate", "sc1_gpc0_rate", "sc1_gpc1_rate", "sc1_http_err_cnt", "sc1_http_err_rate", "sc1_http_fail_cnt",
    "sc1_http_fail_rate", "sc1_http_req_cnt", "sc1_http_req_rate", "sc1_inc_gpc0", "sc1_inc_gpc1", "sc1_kbytes_in", "sc1_kbytes_out", "sc1_key",
    "sc1_sess_cnt", "sc1_sess_rate", "sc1_tracked", "sc1_trackers", "sc2_bytes_in_rate", "sc2_bytes_out_rate", "sc2_clr_gpc0", "sc2_clr_gpc1",
    "sc2_conn_cnt", "sc2_conn_cur", "sc2_conn_rate", "sc2_get_gpc0", "sc2_get_gpc1", "sc2_get_gpt0", "sc2_glitch_cnt", "sc2_glitch_rate",
    "sc2_gpc0_rate", "sc2_gpc1_rate", "sc2_http_err_cnt", "sc2_http_err_rate", "sc2_http_fail_cnt", "sc2_http_fail_rate", "sc2_http_req_cnt",
    "sc2_http_req_rate", "sc2_inc_gpc0", "sc2_inc_gpc1", "sc2_kbytes_in", "sc2_kbytes_out", "sc2_key", "sc2_sess_cnt", "sc2_sess_rate", "sc2_tracked",
    "sc2_trackers", "sc_bytes_in_rate", "sc_bytes_out_rate", "sc_clr_gpc", "sc_clr_gpc0", "sc_clr_gpc1", "sc_conn_cnt", "sc_conn_cur", "sc_conn_rate",
    "sc_get_gpc", "sc_get_gpc0", "sc_get_gpc1", "sc_get_gpt", "sc_get_gpt0", "sc_glitch_cnt", "sc_glitch_rate", "sc_gpc0_rate", "sc_gpc1_rate",
    "sc_gpc_rate", "sc_http_err_cnt", "sc_http_err_rate", "sc_http_fail_cnt", "sc_http_fail_rate", "sc_http_req_cnt", "sc_http_req_rate",
    "sc_inc_gpc", "sc_inc_gpc0", "sc_inc_gpc1", "sc_kbytes_in", "sc_kbytes_out", "sc_key", "sc_sess_cnt", "sc_sess_rate", "sc_tracked", "sc_trackers",
    "scook", "scook_beg", "scook_cnt", "scook_dir", "scook_dom", "scook_end", "scook_len", "scook_reg", "scook_sub", "scook_val", "server_status",
    "set-cookie", "shdr", "shdr_beg", "shdr_cnt", "shdr_dir", "shdr_dom", "shdr_end", "shdr_ip", "shdr_len", "shdr_reg", "shdr_sub", "shdr_val",
    "so_id", "so_name", "spoe.engine-id", "src", "src_bytes_in_rate", "src_bytes_out_rate", "src_clr_gpc", "src_clr_gpc0", "src_clr_gpc1",
    "src_conn_cnt", "src_conn_cur", "src_conn_rate", "src_get_gpc", "src_get_gpc0", "src_get_gpc1", "src_get_gpt", "src_get_gpt0", "src_glitch_cnt",
    "src_glitch_rate", "src_gpc0_rate", "src_gpc1_rate", "src_gpc_rate", "src_http_err_cnt", "src_http_err_rate", "src_http_fail_cnt",
    "src_http_fail_rate", "src_http_req_cnt", "src_http_req_rate", "src_inc_gpc", "src_inc_gpc0", "src_inc_gpc1", "src_is_local", "src_kbytes_in",
    "src_kbytes_out", "src_port", "src_sess_cnt", "src_sess_rate", "src_updt_conn_cnt", "srv_conn", "srv_conn_free", "srv_id", "srv_is_up",
    "srv_iweight", "srv_name", "srv_queue", "srv_sess_rate", "srv_uweight", "srv_weight", "ssl_bc", "ssl_bc_alg_keysize", "ssl_bc_alpn",
    "ssl_bc_cipher", "ssl_bc_client_early_traffic_secret", "ssl_bc_client_handshake_traffic_secret", "ssl_bc_client_random",
    "ssl_bc_client_traffic_secret_0", "ssl_bc_curve", "ssl_bc_early_exporter_secret", "ssl_bc_err", "ssl_bc_err_str", "ssl_bc_exporter_secret",
    "ssl_bc_is_resumed", "ssl_bc_npn", "ssl_bc_protocol", "ssl_bc_server_handshake_traffic_secret", "ssl_bc_server_random",
    "ssl_bc_server_traffic_secret_0", "ssl_bc_session_id", "ssl_bc_session_key", "ssl_bc_sni", "ssl_bc_unique_id", "ssl_bc_use_keysize",
    "ssl_c_ca_err", "ssl_c_ca_err_depth", "ssl_c_chain_der", "ssl_c_der", "ssl_c_err", "ssl_c_i_dn", "ssl_c_key_alg", "ssl_c_notafter",
    "ssl_c_notbefore", "ssl_c_r_dn", "ssl_c_s_dn", "ssl_c_san", "ssl_c_serial", "ssl_c_sha1", "ssl_c_sig_alg", "ssl_c_used", "ssl_c_verify",
    "ssl_c_version", "ssl_f_der", "ssl_f_i_dn", "ssl_f_key_alg", "ssl_f_notafter", "ssl_f_notbefore", "ssl_f_s_dn", "ssl_f_serial", "ssl_f_sha1",
    "ssl_f_sig_alg", "ssl_f_version", "ssl_fc", "ssl_fc_alg_keysize", "ssl_fc_alpn", "ssl_fc_cipher", "ssl_fc_cipherlist_bin",
    "ssl_fc_cipherlist_hex", "ssl_fc_cipherlist_str", "ssl_fc_cipherlist_xxh", "ssl_fc_client_early_traffic_secret",
    "ssl_fc_client_handshake_traffic_secret", "ssl_fc_client_random", "ssl_fc_client_traffic_secret_0", "ssl_fc_curve",
    "ssl_fc_early_exporter_secret", "ssl_fc_early_rcvd", "ssl_fc_ecformats_bin", "ssl_fc_eclist_bin", "ssl_fc_err", "ssl_fc_err_str",
    "ssl_fc_exporter_secret", "ssl_fc_extlist_bin", "ssl_fc_has_crt", "ssl_fc_has_early", "ssl_fc_has_sni", "ssl_fc_is_resumed", "ssl_fc_npn",
    "ssl_fc_protocol", "ssl_fc_protocol_hello_id", "ssl_fc_server_handshake_traffic_secret", "ssl_fc_server_random", "ssl_fc_server_traffic_secret_0",
    "ssl_fc_session_id", "ssl_fc_session_key", "ssl_fc_sigalgs_bin", "ssl_fc_sni", "ssl_fc_sni_end", "ssl_fc_sni_reg",
    "ssl_fc_supported_versions_bin", "ssl_fc_unique_id", "ssl_fc_use_keysize", "ssl_s_chain_der", "ssl_s_der", "ssl_s_i_dn", "ssl_s_key_alg",
    "ssl_s_notafter", "ssl_s_notbefore", "ssl_s_s_dn", "ssl_s_serial", "ssl_s_sha1", "ssl_s_sig_alg", "ssl_s_version", "status", "stopping", "str",
    "table_avl", "table_cnt", "term_events", "thread", "txn.conn_retries", "txn.id32", "txn.redispatched", "txn.sess_term_state", "txn.status",
    "txn.timer.total", "txn.timer.user", "unique-id", "uptime", "url", "url32", "url32+src", "url_beg", "url_dir", "url_dom", "url_end", "url_ip", "url_len",
    "url_param", "url_port", "url_reg", "url_sub", "urlp", "urlp_beg", "urlp_dir", "urlp_dom", "urlp_end", "urlp_len", "urlp_reg", "urlp_sub",
    "urlp_val", "uuid", "var", "wait_end", "waiting_entity", "wurfl-get", "wurfl-get-all",
};

template <size_t n> bool contains(const string_view (&names)[n], string_view name) { return std::binary_search(std::begin(names), std::end(names), name); }

} // namespace

bool language_has_action(string_view name) { return contains(actions, name); }
bool language_has_converter(string_view name) { return contains(converters, name); }
bool language_has_fetch(string_view name) { return contains(fetches, name); }

} // namespace penstock
