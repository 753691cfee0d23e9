# SPDX-License-Identifier: BSD-2-Clause
"""The runtime socket and the statistics page of a running service: one answer and one effect for all workers."""
import base64
import csv
import io
import json
import re
import socket
import time

from penstock_test import Case, free_port, get, main, wait_until

CONFIG = """
global
    stats socket @DIR@/sock mode 600 level admin
    stats socket @DIR@/user.sock mode 600 level user
    nbthread 2
    setenv FROM_CONFIG here
defaults
    mode http
    timeout connect 2s
    timeout client 20s
    timeout server 20s
frontend www
    bind 127.0.0.1:@PORT@
    option socket-stats
    default_backend app
backend app
    balance roundrobin
    server s1 127.0.0.1:@S1@
    server s2 127.0.0.1:@S2@
listen stats
    bind 127.0.0.1:@STATS@
    stats enable
    stats uri /admin
    stats auth joe:secret
    stats admin if TRUE
    stats refresh 7s
    stats hide-version
"""
AUTH = [("Authorization", "Basic " + base64.b64encode(b"joe:secret").decode())]


class RuntimeCase(Case):
    def setUp(self):
        self.s1, self.s2 = self.origin("one"), self.origin("two")
        self.port, self.stats = free_port(), free_port()
        self.p = self.penstock(CONFIG, PORT=self.port, STATS=self.stats, S1=self.s1.port, S2=self.s2.port)

    def bodies(self, n):
        return {get(self.port).body for _ in range(n)}


class Socket(RuntimeCase):
    def test_counters_are_summed_over_workers(self):
        for _ in range(20):
            self.assertEqual(get(self.port).status, 200)
        rows = wait_until("20 requests are counted", lambda: (r := self.p.stat())[("app", "BACKEND")]["hrsp_2xx"] == "20" and r)
        self.assertEqual(rows[("www", "FRONTEND")]["req_tot"], "20")
        self.assertEqual(rows[("www", "FRONTEND")]["stot"], "20")
        self.assertEqual(rows[("app", "s1")]["stot"], "10")
        self.assertEqual(rows[("app", "s2")]["lbtot"], "10")
        self.assertGreater(int(rows[("www", "FRONTEND")]["bin"]), 20 * 30)
        self.assertGreaterEqual(int(self.p.info()["CumReq"]), 20)
        self.p.cli("clear counters all")
        self.assertEqual(self.p.stat()[("www", "FRONTEND")]["req_tot"], "0")

    def test_states_hold_for_all_workers_at_once_and_over_a_reload(self):
        self.p.cli("set server app/s1 state maint")
        self.assertEqual(self.bodies(8), {b"two"})
        self.assertEqual(self.p.stat()[("app", "s1")]["status"], "MAINT")
        self.p.reload()
        self.assertEqual(self.bodies(8), {b"two"})
        self.p.cli("set server app/s1 state ready")
        self.assertEqual(self.bodies(8), {b"one", b"two"})
        self.p.cli("set weight app/s2 0")
        self.assertEqual(self.bodies(8), {b"one"})
        self.p.cli("set weight app/s2 100%")
        self.assertEqual(self.bodies(8), {b"one", b"two"})

    def test_an_address_is_changed_for_all(self):
        third = self.origin("three")
        self.p.cli("disable server app/s2")
        self.p.cli(f"set server app/s1 addr 127.0.0.1 port {third.port}")
        self.assertEqual(self.bodies(6), {b"three"})

    def test_a_disabled_frontend_refuses_and_comes_back(self):
        self.assertEqual(get(self.port).status, 200)
        self.p.cli("disable frontend www")
        def refused():
            with socket.socket() as s:
                return s.connect_ex(("127.0.0.1", self.port)) != 0
        wait_until("connections are refused", refused)
        self.assertEqual(self.p.stat()[("www", "FRONTEND")]["status"], "PAUSED")
        self.p.cli("enable frontend www")
        wait_until("connections are accepted", lambda: not refused())
        self.assertEqual(self.bodies(8), {b"one", b"two"})

    def test_streams_are_listed_and_ended(self):
        slow = self.server(lambda sock, _: sock.recv(65536) and time.sleep(30))
        self.p.cli("disable server app/s2")
        self.p.cli(f"set server app/s1 addr 127.0.0.1 port {slow.port}")
        clients = [self.client(self.port) for _ in range(6)]
        for c in clients:
            c.send("GET /held HTTP/1.1\r\nHost: a\r\n\r\n")
        text = wait_until("six streams are shown", lambda: (t := self.p.cli("show sess")).count("be=app srv=s1") == 6 and t)
        first = text.split(":", 1)[0]
        self.assertIn('request="GET /held"', self.p.cli(f"show sess {first}"))
        self.p.cli(f"shutdown session {first}")
        wait_until("one is gone", lambda: self.p.cli("show sess").count("srv=s1") == 5)
        self.p.cli("shutdown sessions server app/s1")
        wait_until("all are gone", lambda: "srv=s1" not in self.p.cli("show sess"))
        self.assertEqual(self.p.cli("shutdown session 0x1000000ffffff"), "No such session (use 'show sess').\n\n")

    def test_unreadable_messages_are_shown(self):
        with self.client(self.port) as c:
            c.send("GET / HTTP/1.1\r\nHost: a\r\nBad\x01Name: x\r\n\r\n")
            self.assertEqual(c.response().status, 400)
        text = self.p.cli("show errors")
        self.assertRegex(text, r"\] frontend www \(#\d+\): invalid request\n")
        self.assertIn("Bad\\x01Name: x\\r\\n", text)
        self.assertIn("Total events captured: 1\n", text)
        self.assertIn("Total events captured: 0\n", self.p.cli("show errors stats"))
        self.assertEqual(self.p.cli("show errors nobody"), "No such proxy.\n\n")
        self.assertEqual(self.p.info()["Listeners"], "4")  # two addresses in two workers

    def test_levels_environment_and_answers(self):
        user = str(self.p.folder / "user.sock")
        self.assertEqual(self.p.cli("show cli level", user), "user\n\n")
        self.assertEqual(self.p.cli("set weight app/s1 3", user), "Permission denied\n\n")
        self.assertEqual(self.p.cli("show env FROM_CONFIG"), "FROM_CONFIG=here\n\n")
        self.assertTrue(json.loads(self.p.cli("show info json")))
        self.assertTrue(json.loads(self.p.cli("show stat json")))
        self.assertTrue(json.loads(self.p.cli("show schema json")))
        self.assertIn("S.", self.p.cli("show stat typed"))
        self.assertEqual(self.p.cli("show version; show backend").count("\n\n"), 2)
        self.assertTrue(self.p.cli("nonsense").startswith("Unknown command: 'nonsense'"))

    def test_a_client_that_does_not_read_stops_nobody(self):
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(str(self.p.folder / "sock"))
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
            s.sendall(b"show stat typed;" * 200 + b"\n")
            for _ in range(5):
                self.assertIn("Name: penstock", self.p.cli("show info"))
            self.assertEqual(get(self.port).status, 200)


class Page(RuntimeCase):
    def page(self, path="", auth=True, **kw):
        return get(self.stats, "/admin" + path, AUTH if auth else [], **kw)

    def test_who_asks(self):
        r = self.page(auth=False)
        self.assertEqual(r.status, 401)
        self.assertIn('Basic realm="', r.header("www-authenticate"))
        self.assertEqual(self.page().status, 200)
        self.assertEqual(get(self.stats, "/other").status, 503)

    def test_html(self):
        text = self.page().body.decode()
        self.assertIn('name="viewport"', text)
        self.assertIn('http-equiv="refresh" content="7"', text)
        self.assertNotIn("<script", text)
        self.assertNotIn("0.", text.split("</h1>")[0].split("<h1>")[1])  # hide-version
        for name in ("www", "app", "stats"):
            self.assertIn(f'<section id="{name}">', text)
        self.assertNotIn("http-equiv", self.page(";norefresh").body.decode())
        self.assertEqual(self.page(method="HEAD").body, b"")

    def test_other_forms(self):
        r = self.page(";csv")
        self.assertTrue(r.header("content-type").startswith("text/plain"))
        rows = list(csv.reader(io.StringIO(r.body.decode())))
        self.assertEqual(rows[0][0], "# pxname")
        self.assertEqual({len(row) for row in rows if row}, {len(rows[0])})
        self.assertTrue(json.loads(self.page(";json").body))
        self.p.cli("disable server app/s1")
        self.assertNotIn("app,s1,", self.page(";csv;no-maint").body.decode())

    def test_only_what_is_asked_for(self):
        self.p.cli("disable server app/s1")
        names = lambda path: re.findall(r'<section id="(.*?)">', self.page(path).body.decode())
        self.assertEqual(names(""), ["www", "app", "stats"])
        self.assertEqual(names(";scope=ap"), ["app"])
        self.assertEqual(names("?scope=ap"), ["app"])  # what the search field sends
        self.assertNotIn(">s1<", self.page(";up").body.decode())
        self.assertIn("s2", self.page(";up").body.decode())
        text = self.page(";up;norefresh;scope=ap").body.decode()
        self.assertIn('href="/admin;norefresh;scope=ap"', text)  # the switch that takes ';up' back keeps the rest
        self.assertNotIn("http-equiv", text)

    def test_scopes_of_the_configuration_bound_all_forms(self):
        self.p.reload(self.p.file.read_text() + "    stats scope www\n    stats scope .\n")
        self.assertEqual({r.split(",")[0] for r in self.page(";csv").body.decode().splitlines()[1:] if r}, {"www", "stats"})
        self.assertNotIn('<section id="app">', self.page().body.decode())

    def test_orders(self):
        form = [("Content-Type", "application/x-www-form-urlencoded")]
        r = get(self.stats, "/admin", AUTH + form, method="POST", body=b"s=s1&action=maint&b=app")
        self.assertEqual((r.status, r.header("location")), (303, "/admin;st=DONE"))
        self.assertEqual(self.bodies(6), {b"two"})
        r = get(self.stats, "/admin", AUTH + form, method="POST", body=b"s=s1&action=maint&b=app")
        self.assertEqual(r.header("location"), "/admin;st=NONE")
        self.assertEqual(get(self.stats, "/admin", form, method="POST", body=b"s=s1&action=ready&b=app").status, 401)
        r = get(self.stats, "/admin", AUTH + form + [("Sec-Fetch-Site", "cross-site")], method="POST", body=b"s=s1&action=ready&b=app")
        self.assertEqual(r.header("location"), "/admin;st=DENY")
        get(self.stats, "/admin", AUTH + form, method="POST", body=b"s=s1&action=ready&b=app")
        self.assertEqual(self.bodies(6), {b"one", b"two"})


if __name__ == "__main__":
    main()
