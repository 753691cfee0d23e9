// SPDX-License-Identifier: BSD-2-Clause
// The rows of which the language is made. A keyword, fetch, converter, action, … is one constexpr
// row with its documentation and its function; nothing else has to change to add one. Rows are
// grouped in one array per source file and collected by the explicit lists in shared/table/registry.h.
#pragma once

#include <memory>
#include <span>

#include "shared/expr/eval.h"
#include "shared/expr/sample.h"
#include "shared/table/args.h"
#include "shared/table/doc.h"

namespace penstock {

class Words;
class Compiler; // shared/expr/compile.h
struct LineContext; // master/config/parser.h

// ---------------------------------------------------------------------------- configuration keywords

/// Section kinds, one bit each; a keyword names all in which it may stand.
enum SectionBits : u32 {
  in_global = 1 << 0,
  in_defaults = 1 << 1,
  in_frontend = 1 << 2,
  in_backend = 1 << 3,
  in_listen = 1 << 4,
  in_userlist = 1 << 5,
  in_http_errors = 1 << 6,
  in_peers = 1 << 7,
  in_resolvers = 1 << 8,
  in_mailers = 1 << 9,
  in_cache = 1 << 10,
  in_ring = 1 << 11,
  in_log_forward = 1 << 12,
  in_crt_store = 1 << 13,
  in_fcgi_app = 1 << 14,
  in_program = 1 << 15,
  in_traces = 1 << 16,
  in_log_profile = 1 << 17,
  in_acme = 1 << 18,
  in_front = in_defaults | in_frontend | in_listen,
  in_back = in_defaults | in_backend | in_listen,
  in_proxies = in_front | in_back,
};

enum class Standing : u8 {
  Current,
  Legacy,  // accepted, translated, one warning that names the modern form
  Planned, // the manual knows it, we do not do it yet: refused as exactly that
};

struct KeywordDef {
  string_view name; // as written; several words for families: "timeout client", "option httplog"
  u32 sections = 0; // SectionBits
  Doc doc;
  void (*parse)(LineContext &) = nullptr; // the cursor stands after the name
  Standing standing = Standing::Current;
  bool negatable = false; // `no NAME` / `default NAME` are allowed; LineContext::negated says which
  string_view modern = {}; // of a Legacy row: what to write instead
  bool replayed = false;  // rules: a named defaults section keeps the line, and each proxy that inherits from it parses it anew
};

/// An option of a `bind` or `server` line.
struct OptionDef {
  string_view name;
  string_view value = {}; // what follows, for the documentation: "<delay>", or empty
  Doc doc;
  void (*parse)(LineContext &, void *target) = nullptr; // target: Bind * or Server *
  Standing standing = Standing::Current;
};

// ---------------------------------------------------------------------------------------- expressions

/// What a fetch must be able to see; checked when the rule is read (manual 7.3, "usable in").
enum Needs : u32 {
  needs_nothing = 0,
  needs_client = 1 << 0,   // layer 4 of the client side, from accept on
  needs_session = 1 << 1,  // after handshakes (layer 5)
  needs_req_bytes = 1 << 2, // request contents (layer 6)
  needs_req_head = 1 << 3,  // HTTP request head
  needs_req_body = 1 << 4,
  needs_server = 1 << 5,    // layer 4 of the server side: after connect
  needs_res_bytes = 1 << 6,
  needs_res_head = 1 << 7,
  needs_res_body = 1 << 8,
  needs_stream = 1 << 9,    // a stream (variables, captures, counters)
  needs_end = 1 << 10,      // only when logging
  needs_check = 1 << 11,
  needs_any_head = 1 << 12, // the head of the message that the rule looks at
  needs_status = 1 << 13,   // the response's status, which is remembered to the end
};

/// False: no match. A fetch that lacks bytes sets ctx.need_more (unless ctx.final) and returns false.
/// `occurrence` state for fetches that may yield several values lives in Sample::num of the previous
/// call only through FetchCursor: the engine calls again while `s.may_change` and a match asks for more.
struct FetchCursor {
  u32 position = 0; // the fetch's own: where the next value starts
  u32 part = 0;     // likewise: where within it
  bool iterate = false; // an ACL wants every value one by one; else the fetch gives the one that the manual says
};
using FetchFn = bool (*)(EvalContext &ctx, const Args &args, FetchCursor &cursor, Sample &out);

struct FetchDef {
  string_view name;
  ArgSpecs args{};
  Type out = Type::Any;
  u32 needs = needs_nothing;
  Doc doc;
  FetchFn eval = nullptr;
  /// Checks what types cannot say; adds to `error` and returns false to refuse. May be null.
  bool (*check)(Args &args, std::string &error) = nullptr;
  string_view acl_match = {}; // match method that an ACL uses when it names none; "" asks for -m unless the type has one
};

/// path_beg, hdr_dom(…): a fetch with a match method of its own (manual 7.3.6, "ACL derivatives").
struct AclAliasDef {
  string_view name;  // "path_beg"
  string_view fetch; // "path"
  string_view match; // "beg"
};

using ConvFn = bool (*)(EvalContext &ctx, const Args &args, Sample &s);
struct ConverterDef {
  string_view name;
  ArgSpecs args{};
  Type in = Type::Any;
  Type out = Type::Same;
  Doc doc;
  ConvFn eval = nullptr;
  bool (*check)(Args &args, std::string &error) = nullptr;
};

// -------------------------------------------------------------------------------------------- actions

enum RuleSets : u32 {
  at_tcp_connection = 1 << 0,
  at_tcp_session = 1 << 1,
  at_tcp_request = 1 << 2,  // tcp-request content
  at_tcp_response = 1 << 3, // tcp-response content
  at_http_request = 1 << 4,
  at_http_response = 1 << 5,
  at_http_after = 1 << 6, // http-after-response
  at_any_http = at_http_request | at_http_response | at_http_after,
  at_any_tcp = at_tcp_connection | at_tcp_session | at_tcp_request | at_tcp_response,
};

/// What an action asks of the step that runs the rules.
enum class Verdict : u8 {
  Next,   // go on with the next rule
  Stop,   // accept/allow: no further rule of this set
  Yield,  // not done: run this rule again on the next event or when ctx.stream's rule timer fires
  Deny,   // refuse: the action has set the stream's answer (status, reply)
  Reject, // close without an answer
  Drop,   // silent-drop: forget the connection
  Abort,  // internal failure: 500
  Done,   // the action has produced a complete answer itself (return, redirect, service)
};

/// What an action's parser leaves behind. Owned by the rule; derived classes hold typed fields.
struct ActionData {
  virtual ~ActionData() = default;
};

struct ActionDef {
  string_view name; // "set-header"; one that ends in '(' takes arguments: "set-var(", one that ends in '#' a number: "track-sc#"
  u32 sets = 0;     // RuleSets
  Doc doc;
  /// The cursor stands after the name. Reports and returns false on a mistake.
  bool (*parse)(Compiler &, std::unique_ptr<ActionData> &out) = nullptr;
  Verdict (*run)(EvalContext &ctx, const ActionData *data) = nullptr;
  bool is_final = false; // nothing after it runs unless it has a condition (for the "unreachable" warning)
  Standing standing = Standing::Current;
};

/// A log-format alias (`%ci`) of the manual's table in 8.2.6. Writes text to `out` (capacity given);
/// returns the length, 0 for "empty" (the formatter then writes '-' in logs). Quotes and hexadecimal
/// digits are the formatter's business.
struct LogTagDef {
  string_view name; // without the percent sign
  u32 needs = needs_nothing;
  bool http_only = false;
  Doc doc;
  size_t (*write)(EvalContext &ctx, char *out, size_t capacity) = nullptr;
  Type type = Type::Str; // Str and Addr are put in quotes by +Q
  bool bare = false;     // never in quotes: dates, termination states
  bool list = false;     // several values, each ended by a NUL
  u8 hex_width = 0;      // least number of digits under +X; 0: +X changes nothing
};

} // namespace penstock
