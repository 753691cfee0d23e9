# SPDX-License-Identifier: BSD-2-Clause
"""Configurations as people write them run as they are: forwarding headers and checks in old and new forms, the
statistics page on its own port, routing and rewriting by legacy and modern rules, leastconn against slow servers."""
import base64
import threading
import time

from penstock_test import Case, Client, free_port, get, main, run, wait_until

TOP = """
global
    nbthread 2
defaults
    mode http
    timeout connect 5s
    timeout client 20s
    timeout server 20s
"""


class ThreeServers(Case):
    def site(self, balance, httpchk):
        self.origins = [self.origin(n) for n in ("s1", "s2", "s3")]
        self.port = free_port()
        servers = "".join(f"    server {o.name} 127.0.0.1:{o.port} check\n" for o in self.origins)
        return self.penstock(TOP + f"""
frontend www
    bind *:{self.port}
    mode http
    option forwardfor
    http-request set-header X-Forwarded-Port %[dst_port]
    http-request add-header X-Forwarded-Proto https if {{ ssl_fc }}
    default_backend nodes

backend nodes
    mode http
    balance {balance}
    {httpchk}
{servers}""")

    def test_roundrobin_with_each_way_to_write_the_check(self):
        for httpchk in (r"option httpchk HEAD / HTTP/1.1\r\nHost:localhost", r"option httpchk HEAD / HTTP/1.1\r\nHost:\ localhost",
                        "option httpchk HEAD / HTTP/1.1\n    http-check send hdr Host localhost"):
            with self.subTest(httpchk=httpchk):
                self.site("roundrobin", httpchk)
                seen = sorted(get(self.port).body.decode() for _ in range(9))
                self.assertEqual(seen, ["s1"] * 3 + ["s2"] * 3 + ["s3"] * 3)
                request = next(r for r in self.origins[0].requests if r.method == "GET")
                self.assertEqual(request.header("x-forwarded-for"), "127.0.0.1")
                self.assertEqual(request.header("x-forwarded-port"), str(self.port))
                self.assertIsNone(request.header("x-forwarded-proto"))
                check = wait_until("a check", lambda: next((r for r in self.origins[0].requests if r.method == "HEAD"), None))
                self.assertEqual((check.method, check.version, check.header("host")), ("HEAD", "HTTP/1.1", "localhost"))

    def test_source_keeps_a_client_on_its_server(self):
        self.site("source", "option httpchk")
        self.assertEqual(len({get(self.port).body for _ in range(6)}), 1)

    def test_leastconn_serves_all(self):
        self.site("leastconn", "option httpchk")
        self.assertEqual({get(self.port).body for _ in range(9)}, {b"s1", b"s2", b"s3"})


class StatsPage(Case):
    def test_listen_stats_on_a_port_of_its_own(self):
        port = free_port()
        self.penstock(TOP + f"""
listen stats
    bind :{port}
    stats enable
    stats uri /
    stats auth admin:admin
    stats refresh 2s
""")
        self.assertEqual(get(port).status, 401)
        page = get(port, headers=[("Authorization", "Basic " + base64.b64encode(b"admin:admin").decode())])
        self.assertEqual(page.status, 200)
        self.assertIn(b"stats", page.body)
        wrong = get(port, headers=[("Authorization", "Basic " + base64.b64encode(b"admin:wrong").decode())])
        self.assertEqual(wrong.status, 401)


class Routing(Case):
    def test_paths_choose_backends_and_are_rewritten(self):
        api, web = self.origin("api"), self.origin("web")
        port = free_port()
        self.penstock(TOP + f"""
frontend www
    bind 127.0.0.1:{port}
    acl url_api path_beg /api
    acl old hdr(host) -i old.example.org
    http-request redirect prefix http://new.example.org code 301 if old
    use_backend api if url_api
    default_backend web
backend api
    http-request replace-path /api/(.*) /\\1
    server a 127.0.0.1:{api.port}
backend web
    reqrep ^([^\\ :]*)\\ /legacy/(.*) \\1\\ /\\2
    server w 127.0.0.1:{web.port}
""")
        self.assertEqual(get(port, "/api/v1/things").body, b"api")
        self.assertEqual(api.requests[0].target, "/v1/things")
        self.assertEqual(get(port, "/legacy/page").body, b"web")
        self.assertEqual(web.requests[0].target, "/page")
        r = get(port, "/x?y", host="old.example.org")
        self.assertEqual((r.status, r.header("location")), (301, "http://new.example.org/x?y"))

    def test_reqrep_warns_once_and_names_the_modern_form(self):
        status, _, err = run("-c", config=TOP + """
listen l
    bind 127.0.0.1:1
    reqrep ^([^\\ :]*)\\ /legacy/(.*) \\1\\ /\\2
    server s 127.0.0.1:2
""")
        self.assertEqual(status, 0, err)
        self.assertEqual(err.count("[WARNING]"), 1, err)
        self.assertIn("replace-", err)


class SlowServers(Case):
    def longest(self, balance):
        """40 clients, 200 requests, three servers that take 2, 10 and 60 ms for one request at a time."""
        def slow(seconds):
            turn = threading.Lock()

            def answer(_):
                with turn:
                    time.sleep(seconds)  # this is the server's speed, not a wait of the test
                return 200, [], b"x"
            return answer
        servers = [self.origin(f"s{i}", slow(t)) for i, t in enumerate((0.002, 0.01, 0.06))]
        port = free_port()
        p = self.penstock(TOP + f"listen l\n    bind 127.0.0.1:{port}\n    balance {balance}\n" +
                          "".join(f"    server s{i} 127.0.0.1:{s.port}\n" for i, s in enumerate(servers)))
        times, lock = [], threading.Lock()

        def client():
            with Client(port, timeout=60) as c:
                for _ in range(5):
                    began = time.monotonic()
                    c.get()
                    with lock:
                        times.append(time.monotonic() - began)
        threads = [threading.Thread(target=client) for _ in range(40)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        p.stop()
        self.assertEqual(len(times), 200)
        return max(times)

    def test_leastconn_cuts_the_longest_request(self):
        self.assertLess(self.longest("leastconn"), self.longest("roundrobin") * 0.8)


if __name__ == "__main__":
    main()
