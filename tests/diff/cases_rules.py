# SPDX-License-Identifier: BSD-2-Clause
"""Rules of the HTTP rule sets: what the client gets, what the server sees, what the log says."""
import re

from diff import Case, get

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Num: 1\r\nX-List: a, b\r\nX-List: c\r\nSet-Cookie: s=1\r\n\r\nok"


def to_server(name, front, *, request=None, answer=OK, **kw):
    """A request that a server answers."""
    return Case(name, front, request or get("/a/b?x=1", "X-One: 1", "X-List: a, b", "X-List: c"), answer=answer, **kw)


def seen(target):
    """A request line as the server sees it."""
    return "^" + re.escape(f"GET {target} HTTP/1.1")


def normalizer(word, before, after, **kw):
    if after is None:
        return Case(f"normalize-uri {word} {before}", f"http-request normalize-uri {word}", get(before), status=400, top="expose-experimental-directives", **kw)
    return Case(f"normalize-uri {word} {before}", f"http-request normalize-uri {word}\nhttp-request return status 200 content-type text/plain lf-string %[url]",
                get(before), status=200, body=after, top="expose-experimental-directives", **kw)


CASES = [
    # deny
    Case("deny", "http-request deny", get(), status=403, headers={"content-type": "text/html"}, log=["c0"] * 0),
    Case("deny with a status", "http-request deny deny_status 429", get(), status=429),
    Case("deny with a string", 'http-request deny status 400 content-type text/plain string "no way"', get(), status=400, body="no way", headers={"content-type": "text/plain"}),
    Case("deny with a format", 'http-request deny status 404 content-type text/plain lf-string "%[path] %[method]"', get("/zz"), status=404, body="/zz GET"),
    Case("deny with fields", 'http-request deny status 401 hdr X-A "%[path]" hdr X-B two', get("/q"), status=401, headers={"x-a": "/q", "x-b": "two"}),
    Case("deny under a condition that fails", "http-request deny if { path /other }\nhttp-request return status 200", get(), status=200),
    Case("deny unless", "http-request deny unless { path /other }", get(), status=403),
    to_server("deny a response", "http-response deny if { res.hdr(x-num) 1 }", status=502),
    to_server("deny a response with a status", "http-response deny deny_status 404", status=404),
    Case("reject", "http-request reject", get(), raw=b"", closed=True),
    Case("tarpit", "timeout tarpit 150ms\nhttp-request tarpit", get(), status=500, least=0.14),
    Case("tarpit with a status", "timeout tarpit 50ms\nhttp-request tarpit deny_status 429", get(), status=429),
    # return
    Case("return", "http-request return", get(), status=200, body=""),
    Case("return with a status", "http-request return status 204", get(), status=204),
    Case("return a string", "http-request return status 200 content-type text/plain string hello", get(), status=200, body="hello", headers={"content-type": "text/plain", "content-length": "5"}),
    Case("return a file", "http-request return status 200 content-type text/html file page.html", get(), status=200, body="<p>page</p>\n", headers={"content-type": "text/html"}),
    Case("return a format file", "http-request return status 200 content-type text/plain lf-file format.txt", get("/p"), status=200, body="m=GET /p\n"),
    Case("return with fields", "http-request return status 200 content-type text/plain string x hdr Cache-Control no-store hdr X-P %[path]", get("/p"), status=200,
         headers={"cache-control": "no-store", "x-p": "/p"}),
    Case("return default error files", "http-request return status 503 default-errorfiles", get(), status=503),
    to_server("return in place of a response", "http-response return status 200 content-type text/plain string other", status=200, body="other"),
    # redirect
    Case("redirect location", "http-request redirect location http://x.example/y", get(), status=302, headers={"location": "http://x.example/y"}),
    Case("redirect code", "http-request redirect location /y code 308", get(), status=308, headers={"location": "/y"}),
    Case("redirect prefix", "http-request redirect prefix http://x.example code 301", get("/a?b=c"), status=301, headers={"location": "http://x.example/a?b=c"}),
    Case("redirect prefix drop-query", "http-request redirect prefix http://x.example drop-query", get("/a?b=c"), status=302, headers={"location": "http://x.example/a"}),
    Case("redirect prefix append-slash", "http-request redirect prefix http://x.example drop-query append-slash", get("/a?b=c"), status=302, headers={"location": "http://x.example/a/"}),
    Case("redirect scheme", "http-request redirect scheme https", get("/a?b=c"), status=302, headers={"location": "https://example.com/a?b=c"}),
    Case("redirect scheme code", "http-request redirect scheme https code 301 if { path /a }", get("/a"), status=301, headers={"location": "https://example.com/a"}),
    Case("redirect with a format", "http-request redirect location https://%[req.hdr(host)]%[pathq]", get("/a?b"), status=302, headers={"location": "https://example.com/a?b"}),
    Case("redirect sets a cookie", "http-request redirect location /in set-cookie SEEN=1", get(), status=302, headers={"set-cookie": re.compile("^SEEN=1; path=/;?$")}),
    Case("redirect clears a cookie", "http-request redirect location /out clear-cookie USER=", get(), status=302, headers={"set-cookie": re.compile("^USER=; path=/; Max-Age=0;?$")}),
    Case("redirect ignore-empty", "http-request redirect location %[req.hdr(x-none)] ignore-empty\nhttp-request return status 200", get(), status=200, since=(2, 6)),
    to_server("redirect in place of a response", "http-response redirect location /z", status=302, headers={"location": "/z"}),
    # fields
    to_server("set-header", "http-request set-header X-One two", origin="^x-one: two", origin_lacks="x-one: 1", status=200),
    to_server("set-header with a format", "http-request set-header X-New %[path]-%[src]", origin="^x-new: /a/b-127.0.0.1"),
    to_server("add-header", "http-request add-header X-One two", origin=["^x-one: 1", "^x-one: two"]),
    to_server("del-header", "http-request del-header X-One", origin_lacks="x-one"),
    to_server("del-header -m beg", "http-request del-header X- -m beg", origin_lacks="(?i)x-"),
    to_server("del-header -m end", "http-request del-header -One -m end", origin_lacks="x-one", origin="x-list"),
    to_server("del-header -m sub", "http-request del-header lis -m sub", origin_lacks="x-list", origin="x-one"),
    to_server("del-header -m reg", "http-request del-header ^x-(one|two)$ -m reg", origin_lacks="x-one", origin="x-list"),
    to_server("replace-header", r"http-request replace-header X-List '(.*), (.*)' '\2;\1'", origin=["^x-list: b;a", "^x-list: c"]),
    to_server("replace-value", r"http-request replace-value X-List b B", origin=["^x-list: a, ?B", "^x-list: c"]),
    to_server("set-header of a response", "http-response set-header X-Num two", headers={"x-num": "two"}),
    to_server("add-header to a response", "http-response add-header X-Num two", headers={"x-num": ["1", "two"]}),
    to_server("del-header of a response", "http-response del-header x-list", headers={"x-list": None}),
    to_server("replace-value in a response", "http-response replace-value x-list b Q", headers={"x-list": [re.compile("^a, ?Q$"), re.compile("^c$")]}),
    to_server("set-status", 'http-response set-status 404 reason "Gone fishing"', status=404),
    to_server("http-after-response set-header", "http-after-response set-header X-After %[status]", headers={"x-after": "200"}),
    Case("http-after-response sees our own answers", "http-request deny\nhttp-after-response set-header X-After %[status]", get(), status=403, headers={"x-after": "403"}),
    to_server("allow ends the list", "http-request allow if { path_beg /a }\nhttp-request deny", status=200),
    to_server("the name of a field is compared in any case", "http-request set-header x-ONE two", origin="(?i)^x-one: two", origin_lacks="x-one: 1"),
    # the target
    to_server("set-path", "http-request set-path /new%[path]", origin=seen("/new/a/b?x=1")),
    to_server("set-pathq", "http-request set-pathq /n?y=2", origin=seen("/n?y=2")),
    to_server("set-query", "http-request set-query z=%[query]", origin=seen("/a/b?z=x=1")),
    to_server("set-uri", "http-request set-uri /u", origin=seen("/u")),
    to_server("set-method", "http-request set-method PATCH", origin="^PATCH /a/b"),
    to_server("replace-path", r"http-request replace-path /a/(.*) /\1/a", origin=seen("/b/a?x=1")),
    to_server("replace-pathq", r"http-request replace-pathq ([^?]*)\?(.*) /q/\2", origin=seen("/q/x=1")),
    to_server("replace-uri", r"http-request replace-uri (.*)x=1 \1x=2", origin=seen("/a/b?x=2")),
    to_server("set-path with regsub", r"http-request set-path %[path,regsub(^/a,/z)]", origin=seen("/z/b?x=1")),
    # variables over the stream's life
    to_server("a txn variable reaches the response", "http-request set-var(txn.p) path\nhttp-response set-header X-P %[var(txn.p)]", headers={"x-p": "/a/b"}),
    to_server("a req variable is gone in the response", "http-request set-var(req.p) path\nhttp-response set-header X-P <%[var(req.p)]>", headers={"x-p": "<>"}),
    to_server("a sess variable reaches the response", "http-request set-var(sess.p) path\nhttp-response set-header X-P %[var(sess.p)]", headers={"x-p": "/a/b"}),
    Case("tcp rules come before http rules", "tcp-request connection set-var(sess.a) src\ntcp-request content set-var(txn.b) str(two)\n"
         "http-request return status 200 content-type text/plain lf-string %[var(sess.a)]-%[var(txn.b)]", get(), status=200, body="127.0.0.1-two"),
    # routing
    Case("use_backend", "use_backend o@N@ if { path /o }", get("/o"), extra="backend o@N@\n    mode http\n    http-request return status 200 content-type text/plain string other", body="other"),
    Case("use_backend with a format", "use_backend %[path,word(1,/)]@N@", get("/o"), extra="backend o@N@\n    mode http\n    http-request return status 200 content-type text/plain string other", body="other"),
    Case("the first use_backend that holds", "use_backend x@N@ if { path /x }\nuse_backend o@N@ if { path_beg / }", get("/o"),
         extra="backend o@N@\n    mode http\n    http-request return status 200 content-type text/plain string o\nbackend x@N@\n    mode http\n    http-request return status 200 content-type text/plain string x", body="o"),
    # conditions
    Case("several terms must all hold", "acl a path /a\nacl b method POST\nhttp-request deny if a b\nhttp-request return status 200", get("/a"), status=200),
    Case("or", "acl a path /a\nacl b method POST\nhttp-request deny if b or a\nhttp-request return status 200", get("/a"), status=403),
    Case("||", "acl a path /a\nacl b method POST\nhttp-request deny if b || a\nhttp-request return status 200", get("/a"), status=403),
    Case("a negated ACL", "acl a path /a\nhttp-request deny if !a\nhttp-request return status 200", get("/a"), status=200),
    Case("an ACL of two lines", "acl a path /a\nacl a path /b\nhttp-request deny if a", get("/b"), status=403),
    Case("a file of patterns", "http-request deny if { path,word(1,/) -f a.txt }\nhttp-request return status 200", get("/two"), status=403),
    # waiting
    to_server("wait-for-body", "http-request wait-for-body time 2s at-least 3\nhttp-request set-header X-Len %[req.body_len]",
              request=[b"POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 4\r\n\r\nab", 0.1, b"cd"], origin="^x-len: 4"),
    Case("pause", "http-request pause 150ms\nhttp-request return status 200", get(), status=200, least=0.14, since=(3, 2)),
    to_server("early-hint", 'http-request early-hint Link "</s.css>; rel=preload"', status=200, headers={"link": "</s.css>; rel=preload"}),
    to_server("wait-for-handshake lets clear requests pass", "http-request wait-for-handshake", status=200),
    # logs
    to_server("set-log-level silent, and the variables of the log", 'log-format "c@N@ %HM %HP %HQ %HU %HV %ST %ft %b %s %B"', log=["GET /a/b ?x=1 /a/b?x=1 HTTP/1.1 200 f"]),
    to_server("captures in the log", 'capture request header X-One len 8\ncapture response header X-Num len 8\nlog-format "c@N@ %hr|%hs|%[capture.req.hdr(0)]"', log=["{1}|{1}|1"]),
    to_server("http-request capture", 'http-request capture path len 10\nlog-format "c@N@ %hr"', log=["{/a/b}"]),
    to_server("declare capture and capture by id", 'declare capture request len 3\nhttp-request capture path id 0\nlog-format "c@N@ %[capture.req.hdr(0)]"', log=["/a/"]),
    Case("set-src and set-src-port", "http-request set-src req.hdr(x-from)\nhttp-request set-src-port int(77)\nhttp-request return status 200 content-type text/plain lf-string %[src]:%[src_port]:%[fc_src]",
         get("/", "X-From: 10.9.8.7"), body="10.9.8.7:77:127.0.0.1"),
    Case("set-dst and set-dst-port", "http-request set-dst str(10.1.1.1)\nhttp-request set-dst-port int(99)\nhttp-request return status 200 content-type text/plain lf-string %[dst]:%[dst_port]", get(), body="10.1.1.1:99"),
    Case("monitor-uri", "monitor-uri /up", get("/up"), status=200),
    Case("monitor fail", "monitor-uri /up\nmonitor fail if { always_true }", get("/up"), status=503),
    Case("auth asks", 'http-request auth realm "Members"', get(), status=401, headers={"www-authenticate": 'Basic realm="Members"'}),
    Case("http_auth", "http-request auth unless { http_auth(u@N@) }\nhttp-request return status 200", get("/", "Authorization: Basic am9lOnB3"), extra="userlist u@N@\n    user joe insecure-password pw", status=200),
    Case("http_auth with a wrong password", "http-request auth unless { http_auth(u@N@) }\nhttp-request return status 200", get("/", "Authorization: Basic am9lOng="), extra="userlist u@N@\n    user joe insecure-password pw", status=401),
    Case("http_auth with crypt, asked twice", "http-request return status 200 if { http_auth(u@N@) } { http_auth(u@N@) }\nhttp-request deny", get("/", "Authorization: Basic am9lOnB3"),
         extra="userlist u@N@\n    user joe password $5$saltsalt$.FUgT2yEpdGMvmHTARVoAAxKxFHmOYzGwjJJZnHdLJ/", status=403),
    Case("http_auth_group", "http-request return status 200 if { http_auth_group(u@N@) staff }\nhttp-request deny", get("/", "Authorization: Basic am9lOnB3"),
         extra="userlist u@N@\n    group staff users joe\n    user joe insecure-password pw", status=200),
    # normalizers
    normalizer("path-merge-slashes", "//", "/"), normalizer("path-merge-slashes", "/foo//bar///x?a//b", "/foo/bar/x?a//b"),
    normalizer("path-strip-dot", "/.", "/"), normalizer("path-strip-dot", "/./bar/", "/bar/"), normalizer("path-strip-dot", "/a/./a", "/a/a"),
    normalizer("path-strip-dot", "/.well-known/", "/.well-known/"), normalizer("path-strip-dot", "/a/././b/.?x=/./", "/a/b/?x=/./"),
    normalizer("path-strip-dotdot", "/foo/../", "/"), normalizer("path-strip-dotdot", "/foo/../bar/", "/bar/"), normalizer("path-strip-dotdot", "/foo/bar/../", "/foo/"),
    normalizer("path-strip-dotdot", "/../bar/", "/../bar/"), normalizer("path-strip-dotdot", "/bar/../../", "/../"), normalizer("path-strip-dotdot", "/foo//../", "/foo/"),
    normalizer("path-strip-dotdot", "/foo/%2E%2E/", "/foo/%2E%2E/"), normalizer("path-strip-dotdot full", "/../bar/", "/bar/"), normalizer("path-strip-dotdot full", "/bar/../../", "/"),
    normalizer("path-strip-dotdot", "/foo/..", "/"), normalizer("path-strip-dotdot", "/foo/bar/..", "/foo/"), normalizer("path-strip-dotdot full", "/..", "/"), normalizer("path-strip-dotdot", "/..", "/../"),
    normalizer("path-strip-dotdot", "/a/..b/../c", "/a/c"), normalizer("path-strip-dotdot full", "/a/../../../b?x=/../", "/b?x=/../"),
    normalizer("percent-decode-unreserved", "/%61dmin", "/admin"), normalizer("percent-decode-unreserved", "/foo%3Fbar=baz", "/foo%3Fbar=baz"), normalizer("percent-decode-unreserved", "/%%36%36", "/%66"),
    normalizer("percent-decode-unreserved", "/%ZZ", "/%ZZ"), normalizer("percent-decode-unreserved strict", "/%ZZ", None), normalizer("percent-decode-unreserved strict", "/%%36%36", None),
    normalizer("percent-decode-unreserved", "/%2e%7E%2f?%41=%26", "/.~%2f?A=%26"),
    normalizer("percent-to-uppercase", "/a%2fb?c=%c3%a4", "/a%2Fb?c=%C3%A4"), normalizer("percent-to-uppercase", "/%zz", "/%zz"), normalizer("percent-to-uppercase strict", "/%zz", None),
    normalizer("query-sort-by-name", "/?c=3&a=1&b=2", "/?a=1&b=2&c=3"), normalizer("query-sort-by-name", "/?aaa=3&a=1&aa=2", "/?a=1&aa=2&aaa=3"),
    normalizer("query-sort-by-name", "/?a=3&b=4&a=1&b=5&a=2", "/?a=3&a=1&a=2&b=4&b=5"), normalizer("query-sort-by-name", "/", "/"), normalizer("query-sort-by-name", "/p?b&a", "/p?a&b"),
]

REFUSED = [
    "http-request deny deny_status 99999", "http-request nonsense", "http-request set-header X", "http-request set-var(txn) path", "http-request set-var(wrong.x) path",
    "http-request set-var(txn.x)", "http-request redirect", "http-request redirect location", "http-request redirect location /x code 200", "http-request deny if nosuchacl",
    "http-request deny if { path_beg }x", "http-request set-var(txn.x) nosuchfetch", "http-request set-var(txn.x) path,nosuchconverter", "http-request set-var(txn.x) req.hdr(",
    "http-request set-var(txn.x) str(a),field(0,.)", "http-request set-var(txn.x) str(a),bytes(-1)", "http-request set-var(txn.x) str(a),sha2(100)", "http-request set-var(txn.x) str(a),regsub([,x)",
    "http-request set-var(txn.x) int(x)", "http-request set-var(txn.x) ipv4(1.2.3)", "http-request set-var(txn.x) bool(maybe)", "http-request set-var(txn.x) str(a),hmac(nosuch,a2V5)",
    "http-request set-var(txn.x) src,ipmask(99)", "http-request set-timeout", "http-request capture path", "http-request set-log-level loud",
    "http-request wait-for-body", "http-request replace-path [ x", "http-request return status 99 string x", "http-request set-var(txn.x) res.hdr(a)", "tcp-request content nonsense",
    "tcp-request connection set-var(sess.x) path", "http-request deny if { path -m nosuch x }", "acl a nosuchfetch 1", "http-request normalize-uri nosuch",
    "http-request set-var(txn.x) str(a),when(nosuch)", "http-request set-var(txn.x) str(a),protobuf(x)", "http-request set-var(txn.x) str(a),mqtt_field_value(publish,x)",
    "http-request set-var(txn.x) str(a),fix_tag_value(Nosuch)", "http-request set-var(txn.x) str(a),has_ctl(x)", "http-request set-var(txn.x) str(a),jwt_verify(XX1,k)",
    "http-request set-var(txn.x) str(a),digest(nosuch)", "http-request set-var(txn.x,ifnosuch) str(a)", "http-request set-var(txn.x) uuid(9)", "http-request set-var(txn.x) rand(x)",
]
CASES += [Case(f"refused: {line}", line, refused=True, since=(3, 2)) for line in REFUSED]
