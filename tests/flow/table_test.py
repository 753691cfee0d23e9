# SPDX-License-Identifier: BSD-2-Clause
"""Stick tables: limits that hold on the whole host, what counts, persistence, the runtime socket."""
import re
import socket
import threading
import time

from penstock_test import Case, Client, free_port, get, main, wait_until

HEAD = """
global
    nbthread @WORKERS@
    stats socket @DIR@/sock level admin
defaults
    mode http
    timeout connect 2s
    timeout client 20s
    timeout server 20s
"""
# the issue's "real input", as it is
LIMIT = """
backend per_ip_rates
    stick-table type ip size 1m expire 10m store http_req_rate(10s)
frontend servers
    bind 127.0.0.1:@PORT@
    http-request track-sc0 src table per_ip_rates@WHEN@
    http-request @DENY@ if { sc_http_req_rate(0) gt 100 }
    default_backend app
backend app
    server s1 127.0.0.1:@S1@
"""
ALL_DATA = ("conn_cnt,conn_cur,sess_cnt,http_req_cnt,http_req_rate(60s),http_err_cnt,http_fail_cnt,bytes_in_cnt,bytes_out_cnt,gpc0,gpc0_rate(60s),gpt0")


def hammer(port, requests, threads=50, method="GET"):
    """`ab -c THREADS -n REQUESTS`: a connection each; the statuses that came."""
    statuses, lock, left = [], threading.Lock(), [requests]

    def run():
        while True:
            with lock:
                if left[0] == 0:
                    return
                left[0] -= 1
            status = get(port, method=method, headers=[("Connection", "close")]).status
            with lock:
                statuses.append(status)
    all_threads = [threading.Thread(target=run) for _ in range(threads)]
    for t in all_threads:
        t.start()
    for t in all_threads:
        t.join()
    return statuses


class TableCase(Case):
    def start(self, config, workers=2, **values):
        self.origin_ = self.origin(answer=values.pop("answer", None))
        values.setdefault("PORT", free_port())
        self.port = values["PORT"]
        return self.penstock(HEAD + config, WORKERS=workers, S1=self.origin_.port, **values)

    def rows(self, p, table, extra=""):
        """{key: {column: value}} of `show table`."""
        out = {}
        for line in p.cli(f"show table {table} {extra}").splitlines():
            if m := re.match(r"0x[0-9a-f]+: key=(\S+) use=(\d+) exp=(\d+) shard=0(.*)", line):
                out[m[1]] = {"use": int(m[2]), "exp": int(m[3])}
                out[m[1]] |= {re.sub(r"\(.*", "", k): v if k == "server_key" else int(v) for k, v in (w.split("=") for w in m[4].split())}
        return out


class Limits(TableCase):
    def test_a_limit_of_100_lets_exactly_100_through_four_workers(self):
        p = self.start(LIMIT, workers=4, WHEN="", DENY="deny deny_status 429")
        statuses = hammer(self.port, 2000)
        self.assertEqual((statuses.count(200), statuses.count(429)), (100, 1900))
        self.assertEqual(self.origin_.count, 100)
        self.assertEqual(self.rows(p, "per_ip_rates")["127.0.0.1"]["http_req_rate"], 2000)

    def test_only_posts_are_limited_where_only_posts_are_tracked(self):
        self.start(LIMIT, workers=4, WHEN=" if METH_POST", DENY="deny deny_status 429")
        posts = hammer(self.port, 300, method="POST")
        gets = hammer(self.port, 300)
        self.assertEqual((posts.count(200), posts.count(429)), (100, 200))
        self.assertEqual(gets.count(200), 300)

    def test_silent_drop_answers_100_and_forgets_the_rest(self):
        p = self.start(LIMIT, workers=4, WHEN="", DENY="silent-drop")
        clients = [self.client(self.port) for _ in range(300)]
        for c in clients:
            c.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        wait_until("all requests are counted", lambda: self.rows(p, "per_ip_rates").get("127.0.0.1", {}).get("http_req_rate") == 300)
        wait_until("100 are answered", lambda: self.origin_.count == 100)
        self.assertEqual(self.origin_.count, 100)

    def test_connections_at_a_time_are_limited_exactly(self):
        p = self.start("""
frontend f
    bind 127.0.0.1:@PORT@
    stick-table type ip size 1k expire 1m store conn_cur
    tcp-request connection track-sc0 src
    tcp-request connection reject if { sc_conn_cur(0) gt 10 }
    default_backend app
backend app
    server s1 127.0.0.1:@S1@
""", workers=4)
        clients = []
        for _ in range(10):
            c = self.client(self.port)
            self.assertEqual(c.get().status, 200)
            clients.append(c)
        for _ in range(20):
            with self.assertRaises((EOFError, ConnectionError)):
                Client(self.port).get()
        self.assertEqual(self.rows(p, "f")["127.0.0.1"]["conn_cur"], 10)
        clients.pop().close()
        wait_until("its place is free", lambda: self.rows(p, "f")["127.0.0.1"]["conn_cur"] == 9)
        self.assertEqual(get(self.port).status, 200)


class Counting(TableCase):
    CONFIG = f"""
frontend f
    bind 127.0.0.1:@PORT@
    tcp-request connection track-sc0 src table conns
    tcp-request content reject if {{ path /creject }}
    http-request track-sc1 path table paths
    http-request deny if {{ path /deny }}
    http-request auth if {{ path /auth }}
    http-request return status 404 if {{ path /ret404 }}
    default_backend app
backend app
    server s1 127.0.0.1:@S1@
backend conns
    stick-table type ip size 100 expire 10m store {ALL_DATA}
backend paths
    stick-table type string size 100 expire 10m store {ALL_DATA}
"""

    def answer(self, request):
        if request.target == "/404":
            return 404, [], b"no"
        if request.target == "/500":
            return 500, [], b"no"
        if request.target == "/501":
            return 501, [], b"no"
        if request.target == "/junk":
            return b"junk\r\n\r\n"
        if request.target == "/short":
            return b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\nConnection: close\r\n\r\nabc"
        return 200, [], b"ok"

    def test_what_counts_as_request_error_and_failure(self):
        # as the reference counts them: (http_req_cnt, http_err_cnt, http_fail_cnt)
        p = self.start(self.CONFIG, answer=self.answer)
        expected = {"/ok": (1, 0, 0), "/404": (1, 1, 0), "/500": (1, 0, 1), "/501": (1, 0, 0), "/deny": (1, 1, 0), "/auth": (1, 1, 0),
                    "/ret404": (1, 0, 0), "/junk": (1, 0, 1), "/short": (1, 0, 1), "/creject": (0, 0, 0)}
        for path, counts in expected.items():
            with self.subTest(path=path):
                p.cli("clear table conns")
                p.cli("clear table paths")
                try:
                    get(self.port, path)
                except (EOFError, ConnectionError):
                    pass
                wait_until("the connection is over", lambda: self.rows(p, "conns")["127.0.0.1"]["use"] == 0)
                row = self.rows(p, "conns")["127.0.0.1"]
                self.assertEqual((row["http_req_cnt"], row["http_err_cnt"], row["http_fail_cnt"]), counts)
                self.assertEqual((row["conn_cnt"], row["sess_cnt"], row["conn_cur"]), (1, 1, 0))
                if path != "/creject":
                    row = self.rows(p, "paths")[path]
                    self.assertEqual((row["http_req_cnt"], row["http_err_cnt"], row["http_fail_cnt"]), counts)
                    self.assertEqual((row["conn_cnt"], row["sess_cnt"], row["conn_cur"]), (1, 0, 0))

    def test_unreadable_requests_count_for_the_connection(self):
        p = self.start(self.CONFIG)
        c = self.client(self.port)
        c.send("GARBAGE\r\n\r\n")
        self.assertEqual(c.response().status, 400)
        row = wait_until("counted", lambda: self.rows(p, "conns")["127.0.0.1"])
        self.assertEqual((row["http_req_cnt"], row["http_err_cnt"]), (1, 1))

    def test_a_kept_connection_counts_requests_and_bytes(self):
        p = self.start(self.CONFIG)
        c = self.client(self.port)
        sent = b"GET /ok HTTP/1.1\r\nHost: x\r\n\r\n"
        received = 0
        for _ in range(3):
            c.send(sent.decode())
            r = c.response()
            received += len(r.head) + len(r.body)
        row = wait_until("bytes are counted", lambda: (r := self.rows(p, "conns")["127.0.0.1"])["bytes_out_cnt"] >= received and r)
        self.assertEqual((row["conn_cnt"], row["conn_cur"], row["use"], row["http_req_cnt"]), (1, 1, 1, 3))
        self.assertEqual(row["bytes_in_cnt"], 3 * len(sent))
        row = self.rows(p, "paths")["/ok"]
        self.assertEqual((row["conn_cnt"], row["conn_cur"], row["use"], row["http_req_cnt"]), (3, 0, 0, 3))


class Values(TableCase):
    def test_fetches_and_converters_see_the_same_entry(self):
        self.start("""
backend t
    stick-table type ip size 100 expire 10m store conn_cnt,conn_cur,http_req_cnt,gpc(2),gpc_rate(2,60s),gpt(2)
backend other
    stick-table type ip size 100 expire 10m store http_req_cnt,conn_cnt
backend paths
    stick-table type string len 8 size 100 expire 10m store http_req_cnt
frontend f
    bind 127.0.0.1:@PORT@
    tcp-request connection track-sc1 src table other
    http-request track-sc0 src table t
    http-request track-sc0 path table paths
    http-request track-sc2 hdr(none) table paths
    http-request sc-inc-gpc(0,0)
    http-request sc-add-gpc(1,0) 5
    http-request sc-inc-gpc1(0)
    http-request sc-set-gpt(1,0) int(7)
    http-request sc-set-gpt0(0) 9
    http-request return content-type text/plain lf-string "@FORMAT@"
""", FORMAT=" ".join(f"{n}=%[{e}]" for n, e in {
            "req": "sc_http_req_cnt(0)", "req0": "sc0_http_req_cnt", "alt": "sc_http_req_cnt(0,other)", "none": "sc_http_req_cnt(2)",
            "t0": "sc_tracked(0)", "t2": "sc2_tracked", "k": "sc_key(0)", "use": "sc_trackers(0)", "use2": "src,table_trackers(t)",
            "g0": "sc_get_gpc0(0)", "g1": "sc_get_gpc(1,0)", "gt0": "sc_get_gpt0(0)", "gt1": "sc_get_gpt(1,0)", "gt9": "sc_get_gpt(9,0)",
            "rate": "sc_gpc_rate(1,0)", "in": "src,in_table(t)", "nin": "str(9.9.9.9),in_table(t)", "exp": "src,table_expire(t)",
            "noexp": "str(9.9.9.9),table_expire(t)", "def": "str(9.9.9.9),table_expire(t,5)", "cnt": "table_cnt(t)", "avl": "table_avl(t)",
            "inc": "sc_inc_gpc(0,0)", "clr": "sc_clr_gpc0(0)", "src": "src_get_gpc(1,t)", "tinc": "str(8.8.8.8),table_inc_gpc0(t)",
            "unstored": "sc_get_gpc0(1)", "missing": "str(nope),table_http_req_cnt(paths)", "u": "src_updt_conn_cnt(other)"}.items()))
        values = dict(v.split("=") for v in get(self.port, "/p").body.decode().split(" "))
        self.assertEqual(values, {
            "req": "1", "req0": "1", "alt": "1", "none": "", "t0": "1", "t2": "0", "k": "127.0.0.1", "use": "1", "use2": "1", "g0": "1",
            "g1": "6", "gt0": "9", "gt1": "7", "gt9": "", "rate": "6", "in": "1", "nin": "0", "exp": "600000", "noexp": "", "def": "5",
            "cnt": "1", "avl": "99", "inc": "2", "clr": "2", "src": "6", "tinc": "1", "unstored": "", "missing": "0", "u": "2"})

    def test_prefixes_make_one_customer_of_many_addresses(self):
        p = self.start("""
frontend f
    bind 127.0.0.1:@PORT@
    stick-table type ipv6 size 1k expire 1m store http_req_cnt
    http-request track-sc0 hdr(x-from),ipmask(24,64)
    http-request return content-type text/plain lf-string "%[sc_http_req_cnt(0)]"
""")
        def ask(address):
            return int(get(self.port, headers=[("X-From", address)]).body)
        self.assertEqual([ask("2001:db8:1:2::1"), ask("2001:db8:1:2:ffff::9"), ask("2001:db8:1:3::1")], [1, 2, 1])
        self.assertEqual([ask("192.0.2.1"), ask("192.0.2.200"), ask("192.0.3.1")], [1, 2, 1])
        self.assertIn("2001:db8:1:2::", self.rows(p, "f"))
        self.assertIn("::ffff:192.0.2.0", self.rows(p, "f"))


class Stick(TableCase):
    def test_stick_on_keeps_a_key_at_its_server(self):
        two = self.origin("two")
        p = self.start("""
frontend f
    bind 127.0.0.1:@PORT@
    default_backend b
backend b
    balance roundrobin
    stick-table type string len 20 size 1k expire 1m
    stick on hdr(x-user)
    server one 127.0.0.1:@S1@
    server two 127.0.0.1:@S2@
""", S2=two.port)
        def ask(user):
            return get(self.port, headers=[("X-User", user)] if user else []).body.decode()
        first = {u: ask(u) for u in "abcdefgh"}
        self.assertEqual(set(first.values()), {"origin", "two"})
        for _ in range(3):
            self.assertEqual({u: ask(u) for u in first}, first)
        rows = self.rows(p, "b")
        self.assertEqual(set(rows), set(first))
        for user, where in first.items():
            self.assertEqual((rows[user]["server_id"], rows[user]["server_key"]), (1, "one") if where == "origin" else (2, "two"))
        self.assertEqual({ask("") for _ in range(4)}, {"origin", "two"})
        # the server goes: its users move, and stay where they are then
        p.cli("set server b/two state maint")
        self.assertEqual({ask(u) for u in first}, {"origin"})
        p.cli("set server b/two state ready")
        self.assertEqual({ask(u) for u in first}, {"origin"})

    def test_store_response_learns_what_the_server_said(self):
        two = self.origin("two", answer=lambda r: (200, [("X-Session", "s2")], b"two"))
        self.start("""
frontend f
    bind 127.0.0.1:@PORT@
    default_backend b
backend b
    balance roundrobin
    stick-table type string len 20 size 1k expire 1m
    stick match hdr(x-session)
    stick store-response res.hdr(x-session)
    server one 127.0.0.1:@S1@
    server two 127.0.0.1:@S2@
""", S2=two.port, answer=lambda r: (200, [("X-Session", "s1")], b"one"))
        for _ in range(4):
            get(self.port)
        for session, server in (("s1", "one"), ("s2", "two")):
            for _ in range(5):
                self.assertEqual(get(self.port, headers=[("X-Session", session)]).body.decode(), server)


class RuntimeSocket(TableCase):
    CONFIG = """
frontend f
    bind 127.0.0.1:@PORT@
    http-request deny if { src_get_gpc0(t) gt 0 }
    http-request return status 200
backend t
    stick-table type ip size 100 expire 30s store gpc0,conn_rate(10s),bytes_out_cnt
backend s
    stick-table type string len 10 size 5 store gpt(2)
backend i
    stick-table type integer size 100000 store gpc0
peers p
    table named type ipv6 size 10 store gpc1
"""

    def test_show_set_and_clear(self):
        p = self.start(self.CONFIG)
        self.assertEqual(p.cli("show table"), "# table: t, type: ip, size:100, used:0\n# table: s, type: string, size:5, used:0\n"
                         "# table: i, type: integer, size:100000, used:0\n# table: p/named, type: ipv6, size:10, used:0\n\n")
        self.assertEqual(get(self.port).status, 200)
        self.assertEqual(p.cli("set table t key 127.0.0.1 data.gpc0 1"), "\n")
        for _ in range(4):  # every worker
            self.assertEqual(get(self.port).status, 403)
        out = p.cli("show table t")
        self.assertRegex(out, r"^# table: t, type: ip, size:100, used:1\n0x[0-9a-f]+: key=127\.0\.0\.1 use=0 exp=\d+ shard=0 gpc0=1 conn_rate\(10000\)=0 bytes_out_cnt=0\n\n$")
        pointer = re.search("0x[0-9a-f]+", out)[0]
        self.assertEqual(p.cli(f"show table t ptr {pointer}").count("key=127.0.0.1"), 1)
        self.assertEqual(p.cli("clear table t key 127.0.0.1"), "\n")
        self.assertEqual(get(self.port).status, 200)
        self.assertIn("matching ptr", p.cli(f"clear table t ptr {pointer}"))
        p.cli("set table p/named key 10.0.0.1 data.gpc1 4")
        self.assertEqual(self.rows(p, "p/named")["::ffff:10.0.0.1"]["gpc1"], 4)

    def test_filters_choose_rows(self):
        p = self.start(self.CONFIG)
        for i in range(1, 10):
            p.cli(f"set table i key {i} data.gpc0 {i * 10}")
        self.assertEqual(set(self.rows(p, "i", "data.gpc0 gt 30 data.gpc0 le 60 data.gpc0 ne 50")), {"4", "6"})
        self.assertEqual(set(self.rows(p, "i", "key 7")), {"7"})
        p.cli("clear table i data.gpc0 ge 50")
        self.assertEqual(set(self.rows(p, "i")), {"1", "2", "3", "4"})
        p.cli("clear table i")
        self.assertEqual(self.rows(p, "i"), {})

    def test_a_full_table_keeps_what_was_used_last(self):
        p = self.start(self.CONFIG)
        for name in ["a", "b", "c", "d", "e"]:
            p.cli(f"set table s key {name} data.gpt[1] 3")
        p.cli("set table s key a data.gpt[0] 1")
        p.cli("set table s key f; set table s key g")
        rows = self.rows(p, "s")
        self.assertEqual(set(rows), {"a", "d", "e", "f", "g"})
        self.assertEqual((rows["a"]["gpt0"], rows["a"]["gpt1"]), (1, 3))

    def test_mistakes_are_told(self):
        p = self.start(self.CONFIG)
        for command, said in {
                "show table nope": "No such table", "show table t data.gpt0 gt 1": "Data type not stored", "show table t data.x gt 1": "Unknown data type",
                "show table t data.gpc0 zz 1": "Require an operator", "show table t data.gpc0 gt x": "valid integer value", "show table t key x": "Invalid key",
                "show table t foo": "Optional argument", "set table t key": "Key value expected", "set table t key x": "Invalid key",
                "set table t key 1.1.1.1 data.gpc0": "valid integer value", "set table t key 1.1.1.1 foo 1": "followed by a value",
                "clear table": "Required arguments", "clear table t foo": "Required arguments", "show table t ptr 0x99": "No entry",
                "show table s data.gpt[0] gt 1 data.gpt[0] gt 1 data.gpt[0] gt 1 data.gpt[0] gt 1 data.gpt[0] gt 1": "extra data"}.items():
            with self.subTest(command=command):
                self.assertIn(said, p.cli(command))
        self.assertEqual(self.rows(p, "t"), {})

    def test_tracked_entries_are_not_removed(self):
        p = self.start("""
frontend f
    bind 127.0.0.1:@PORT@
    stick-table type ip size 1 expire 1s store conn_cur
    tcp-request connection track-sc0 src
    default_backend app
backend app
    server s1 127.0.0.1:@S1@
""")
        c = self.client(self.port)
        self.assertEqual(c.get().status, 200)
        self.assertIn("in use", p.cli("clear table f key 127.0.0.1"))
        p.cli("clear table f")
        p.cli("set table f key 10.0.0.1")
        self.assertEqual(set(self.rows(p, "f")), {"127.0.0.1"})
        c.close()
        wait_until("it expires", lambda: self.rows(p, "f") == {})

    def test_a_long_table_streams_while_traffic_goes_on(self):
        p = self.start(self.CONFIG)
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(20)
            s.connect(str(p.folder / "sock"))
            s.sendall(b"prompt i\n")
            for base in range(0, 20_000, 500):
                s.sendall(("; ".join(f"set table i key {i}" for i in range(base, base + 500)) + "\n").encode())
            wait_until("20000 entries", lambda: "type: integer, size:100000, used:20000" in p.cli("show table"))
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(str(p.folder / "sock"))
            s.sendall(b"show table i\n")
            began = time.monotonic()
            self.assertEqual(get(self.port).status, 200)  # nobody reads the answer yet
            self.assertIn("used:20000", p.cli("show table"))
            self.assertLess(time.monotonic() - began, 5)
            out = b""
            while data := s.recv(65536):
                out += data
        self.assertEqual(out.count(b"key="), 20_000)


if __name__ == "__main__":
    main()
