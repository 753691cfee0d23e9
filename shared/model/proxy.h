// SPDX-License-Identifier: BSD-2-Clause
// What a `frontend`, `backend`, `listen` or `defaults` section says: plain data, written by the parser,
// const once the processes are forked. Durations are ms, `eternity` where not set.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "shared/base/diagnostics.h"
#include "shared/base/time.h"
#include "shared/expr/compile.h"
#include "shared/model/bind.h"
#include "shared/model/check.h"
#include "shared/model/log_target.h"
#include "shared/model/server.h"

namespace penstock {

enum class Mode : u8 { Tcp, Http, Log, Spop };

struct Timeouts {
  Millis client = eternity, server = eternity, connect = eternity, queue = eternity, tunnel = eternity;
  Millis client_fin = eternity, server_fin = eternity, http_request = eternity, http_keep_alive = eternity;
  Millis check = eternity, tarpit = eternity, client_hs = eternity;
};

/// The `option …` words that are plain switches, one bit each; the table in master/config/kw_option.cpp
/// names them as the manual does.
enum class Opt : u8 {
  Abortonclose, AcceptUnsafeRequest, AcceptUnsafeResponse, Allbackups, Checkcache, Clitcpka, Contstats,
  DontlogNormal, Dontlognull, ForcePersistUnused, HttpBufferRequest, HttpIgnoreProbes, HttpNoDelay, HttpPretendKeepalive,
  HttpUseHtx, HttpUseProxyHeader, IdleCloseOnResponse, IndependentStreams, LogHealthChecks, LogSeparateErrors, Logasap,
  Nolinger, Persist, PreferLastServer, Redispatch, SocketStats, SpliceAuto, SpliceRequest, SpliceResponse, Srvtcpka,
  TcpSmartAccept, NoTcpSmartAccept, TcpSmartConnect, Transparent, H1CaseAdjustBogusClient, H1CaseAdjustBogusServer,
  DropUnencrypted, DisableH2Upgrade, HttpDropRequestTrailers, HttpDropResponseTrailers, count_
};

enum class HttpConnMode : u8 { KeepAlive, ServerClose, Close };
enum class HttpReuse : u8 { Safe, Never, Aggressive, Always };

/// `option forwardfor` and `option originalto`.
struct ForwardHeader {
  bool enabled = false;
  bool if_none = false;
  std::string header;
  std::vector<Network> except;
};

/// `option forwarded` (RFC 7239): what each parameter holds.
struct ForwardedPart {
  bool enabled = false;             // with what the proxy knows itself, unless `expr` is there
  std::shared_ptr<const Expr> expr;
};
struct ForwardedHeader {
  bool enabled = false, proto = false;
  ForwardedPart host, by, by_port, for_, for_port;
};

enum class BalanceAlgorithm : u8 { RoundRobin, StaticRr, LeastConn, First, Source, Uri, UrlParam, Hdr, Random, RdpCookie, Hash, Sticky, None };
enum class HashKind : u8 { MapBased, Consistent };
enum class HashFunction : u8 { Sdbm, Djb2, Wt6, Crc32, None };

struct Balance {
  bool given = false;          // a `balance` line chose it
  BalanceAlgorithm algorithm = BalanceAlgorithm::RoundRobin;
  std::string name;            // header, URL parameter or cookie name
  u32 len = 0, depth = 0;      // uri
  bool whole = false, path_only = false;
  bool check_post = false;
  u32 post_wait = 0;
  bool domain_only = false;    // hdr(name) use_domain_only
  u32 draws = 2;               // random(n)
  std::shared_ptr<const Expr> expr; // hash EXPR
  HashKind hash = HashKind::MapBased;
  HashFunction function = HashFunction::Sdbm;
  bool avalanche = false;
  u32 balance_factor = 0;      // hash-balance-factor, percent; 0 off
};

/// `cookie NAME …`
struct CookiePersistence {
  std::string name;
  bool insert = false, prefix = false, rewrite = false, indirect = false, nocache = false, postonly = false;
  bool preserve = false, httponly = false, secure = false, dynamic = false;
  std::vector<std::string> domains;
  std::vector<std::string> attrs;
  u32 maxidle_s = 0, maxlife_s = 0;
};

/// An answer that the proxy gives by itself: built in, from `errorfile`, `http-error`, `return`, `deny`.
struct HttpReply {
  u16 status = 200;
  enum Kind : u8 { None, Default, Raw /* errorfile: a whole HTTP message */, Body, BodyFormat, Empty, Errorfiles } kind = Default;
  std::string content_type;
  std::string text;                   // Raw or Body
  LogFormat format;                   // BodyFormat
  std::vector<std::pair<std::string, LogFormat>> headers;
  std::string errorfiles;             // name of an http-errors section
  std::string redirect_to;            // errorloc: 302 or 303 to this URL
  u16 redirect_code = 302;
  Place place;                        // of a line that refers to an http-errors section
  std::shared_ptr<const HttpReply> otherwise; // Errorfiles: what holds where the section has no such page
};
using ReplyPtr = std::shared_ptr<const HttpReply>;

struct UseBackend {
  LogFormat name;              // dynamic, or constant
  const struct Proxy *target = nullptr; // when constant
  Condition condition;
  Place place;
};
struct UseServer {
  LogFormat name;
  const Server *target = nullptr;
  Condition condition;
  Place place;
};
struct PersistRule { // force-persist, ignore-persist
  bool force = true;
  Condition condition;
};

/// stick on|match|store-request|store-response
struct StickRule {
  Expr key;
  std::shared_ptr<const struct NameRef> table; // to const TableDef *
  bool match = false, store = false, response = false;
  Condition condition;
  Place place;
};

struct StatsSettings {
  std::string uri = "/haproxy?stats"; // as the manual's default
  std::string realm = "HAProxy Statistics";
  std::vector<std::string> users; // "user:password" of `stats auth`
  std::vector<std::string> scopes;
  std::string node, description;
  u32 refresh_s = 0;
  bool enabled = false, hide_version = false, show_legends = false, show_desc = false, show_node = false, show_modules = false;
  std::shared_ptr<Condition> admin;
  std::shared_ptr<RuleList> rules; // stats http-request
};

struct CaptureSlot { std::string header; u32 length = 0; bool is_request = true; };

/// retry-on: one bit a word.
enum RetryOn : u32 {
  retry_none = 0, retry_conn_failure = 1, retry_empty_response = 2, retry_junk_response = 4, retry_response_timeout = 8,
  retry_0rtt_rejected = 16, retry_status_401 = 32, retry_status_403 = 64, retry_status_404 = 128, retry_status_408 = 256,
  retry_status_421 = 512, retry_status_425 = 1024, retry_status_429 = 2048, retry_status_500 = 4096, retry_status_501 = 8192,
  retry_status_502 = 16384, retry_status_503 = 32768, retry_status_504 = 65536,
};

/// All that a `defaults` section can give: copied whole into a new proxy. Heavy parts are shared and
/// replaced, never changed in place (copy on write).
struct ProxySettings {
  Mode mode = Mode::Tcp;
  u64 options = 0; // bits of Opt
  bool has(Opt o) const { return options >> static_cast<u8>(o) & 1; }
  void set(Opt o, bool on) { options = on ? options | u64{1} << static_cast<u8>(o) : options & ~(u64{1} << static_cast<u8>(o)); }

  /// option http-restrict-req-hdr-names
  enum class HeaderNames : u8 { Preserve, Delete, Reject } restrict_header_names = HeaderNames::Preserve;

  Timeouts timeout;
  HttpConnMode conn_mode = HttpConnMode::KeepAlive;
  HttpReuse reuse = HttpReuse::Safe;
  std::optional<u32> maxconn; // frontend
  u32 backlog = 0;
  u32 fullconn = 0;
  std::optional<u32> rate_limit_sessions;
  i32 retries = 3;
  u32 retry_on = retry_conn_failure;
  i32 redispatch_interval = 0; // option redispatch N
  Millis grace = 0;
  u32 max_keep_alive_queue = ~0u;
  bool disabled = false;
  Balance balance;
  std::shared_ptr<const ForwardHeader> forwardfor, originalto;
  std::shared_ptr<const ForwardedHeader> forwarded; // backend only
  std::shared_ptr<const CookiePersistence> cookie;
  std::string dynamic_cookie_key;
  std::shared_ptr<const ServerOptions> default_server; // accumulated `default-server` lines
  std::shared_ptr<const CheckSettings> check;          // option httpchk, tcp-check, …
  std::map<u16, ReplyPtr> error_replies;
  std::vector<LogTarget> logs;
  std::string log_tag;
  std::shared_ptr<const LogFormat> log_format, error_log_format, log_format_sd, unique_id_format;
  std::string log_format_text, error_log_format_text, log_format_sd_text, unique_id_format_text; // compiled by the validator: a defaults section cannot know the mode
  Place log_format_place, error_log_format_place, log_format_sd_place, unique_id_format_place;
  std::string unique_id_header;
  std::string monitor_uri;
  std::vector<Network> monitor_net;
  std::shared_ptr<const StatsSettings> stats;
  std::shared_ptr<const SourceSettings> source;
  std::string default_backend;
  Place default_backend_place;
  std::string description;
  std::string server_state_file_name;
  bool load_server_state = false, load_server_state_global = false;
  std::string email_from, email_to; // accepted for the mailers issue
  Millis tcp_inspect_delay = eternity, tcp_response_inspect_delay = eternity;
  u32 clitcpka_cnt = 0, srvtcpka_cnt = 0;
  Millis clitcpka_idle = 0, clitcpka_intvl = 0, srvtcpka_idle = 0, srvtcpka_intvl = 0;
};

/// A line kept to be parsed again elsewhere.
struct KeptLine { std::vector<Word> words; Place place; };

/// A named or anonymous `defaults` section; also carries the rules that named ones may hold.
struct Defaults : ProxySettings {
  std::string name;
  Place place;
  std::vector<KeptLine> rules;             // lines whose rows are `replayed`
  std::unique_ptr<struct Proxy> rehearsal; // where those lines were parsed first, for their mistakes
  bool used = false;
};

struct Proxy : ProxySettings {
  std::string name;
  Place place;
  bool is_frontend = false, is_backend = false; // both: listen
  const Defaults *defaults = nullptr;           // what it inherited from
  u32 id = 0;          // `id`, or given in order
  u32 index = 0;       // in Config::proxies
  u32 uuid = 0;
  std::vector<std::unique_ptr<Bind>> binds;
  std::vector<std::unique_ptr<Server>> servers;
  std::unique_ptr<Server> direct; // dispatch, option transparent: where goes what is bound to no server
  std::vector<std::unique_ptr<Acl>> acls;
  RuleList blocks;    // `block` lines; moved before http_request when all is read
  RuleList redirects; // `redirect` lines: run after http_request, even after its 'allow'
  RuleList tcp_connection, tcp_session, tcp_request, tcp_response, http_request, http_response, http_after;
  std::vector<UseBackend> use_backend;
  std::vector<UseServer> use_server;
  std::vector<PersistRule> persist_rules;
  std::vector<StickRule> stick_rules;
  struct TableDef *table = nullptr; // its `stick-table`
  std::vector<std::unique_ptr<Condition>> monitor_fail;
  std::vector<CaptureSlot> captures;
  std::string capture_cookie;          // `capture cookie`; empty: none
  u32 capture_cookie_length = 0;
  bool capture_cookie_prefix = false;  // a beginning of names, not a whole name
  const Proxy *default_target = nullptr; // default_backend, resolved
  u32 needs = 0;        // union of what its rules need
  u32 front_row = ~0u, back_row = ~0u; // in shared memory (shared/shm/service.h); given by the master
};

} // namespace penstock
