# SPDX-License-Identifier: BSD-2-Clause
"""The examples of abuse protection do what they say."""
import pathlib
import re

from penstock_test import ROOT, Case, Client, free_port, get, main, wait_until


class Example(Case):
    def start(self, name, answer=None):
        self.origin_ = self.origin(answer=answer)
        self.port = free_port()
        text = (pathlib.Path(ROOT) / "conf" / "examples" / f"{name}.cfg").read_text()
        text = text.replace("bind :80\n", f"bind 127.0.0.1:{self.port} accept-proxy\n").replace("192.0.2.1:8080", f"127.0.0.1:{self.origin_.port}")
        return self.penstock("global\n    nbthread 2\n    stats socket @DIR@/sock level admin\n" + text)

    def ask(self, source, path="/", method="GET", headers=()):
        """As a client at that address; the status, or None when it is closed without an answer."""
        try:
            c = self.client(self.port)
            c.send(f"PROXY TCP{6 if ':' in source else 4} {source} {'::1' if ':' in source else '127.0.0.1'} 1000 80\r\n")
            return c.get(path, headers, method).status
        except (EOFError, ConnectionError):
            return None

    def test_rate_limits(self):
        self.start("rate-limits")
        self.assertEqual([self.ask("192.0.2.9") for _ in range(103)], [200] * 100 + [429] * 3)
        self.assertEqual(self.ask("192.0.2.10"), 200)
        logins = [self.ask("192.0.2.11", "/login", "POST") for _ in range(7)]
        self.assertEqual(logins, [200] * 5 + [429] * 2)
        self.assertEqual(self.ask("192.0.2.11", "/login"), 200)

    def test_connection_limits(self):
        # connection rules see the address of the socket: no PROXY header is read before them
        origin = self.origin()
        port = free_port()
        text = (pathlib.Path(ROOT) / "conf" / "examples" / "connection-limits.cfg").read_text()
        text = text.replace("bind :80\n", f"bind 127.0.0.1:{port}\n").replace("192.0.2.1:8080", f"127.0.0.1:{origin.port}")
        p = self.penstock("global\n    nbthread 2\n    stats socket @DIR@/sock level admin\n" + text)
        held = []
        for _ in range(20):
            c = self.client(port)
            self.assertEqual(c.get().status, 200)
            held.append(c)
        with self.assertRaises((EOFError, ConnectionError)):
            Client(port).get()
        held.pop().close()
        wait_until("one has left", lambda: " conn_cur=19" in p.cli("show table mail"))
        self.assertEqual(get(port).status, 200)

    def test_error_blocks(self):
        p = self.start("error-blocks", answer=lambda r: (401, [], b"") if r.target == "/secret" else (404, [], b"") if r.target == "/404" else (200, [], b""))
        c = self.client(self.port)
        c.send("PROXY TCP4 192.0.2.9 127.0.0.1 1000 80\r\n")
        for _ in range(15):
            self.assertEqual(c.get("/404").status, 404)  # http-err-codes leaves these out
        for _ in range(11):
            self.assertEqual(c.get("/secret").status, 401)
        self.assertRegex(p.cli("show table offenders"), r"http_err_rate\(30000\)=11")
        self.assertIsNone(self.ask("192.0.2.9"))
        p.cli("clear table offenders")
        c.close()
        wait_until("nobody tracks it", lambda: "used:0" in p.cli("clear table offenders; show table offenders"))
        self.assertEqual(self.ask("192.0.2.9"), 200)

    def test_greylist(self):
        p = self.start("greylist")
        self.assertEqual([self.ask("192.0.2.9", "/wp-admin/") for _ in range(3)], [200, 200, 403])
        self.assertEqual(self.ask("192.0.2.9"), 403)
        self.assertEqual(self.ask("192.0.2.10"), 200)
        p.cli("set table marks key 192.0.2.10 data.gpc0 3")
        self.assertEqual(self.ask("192.0.2.10"), 403)
        p.cli("clear table marks key 192.0.2.10")
        self.assertEqual(self.ask("192.0.2.10"), 200)

    def test_limits_by_key_url_and_network(self):
        p = self.start("key-limits")
        by_key = [self.ask(f"192.0.2.{i}", f"/{i}", headers=[("X-Api-Key", "k1")]) for i in range(1, 33)]
        self.assertEqual(by_key, [200] * 30 + [429] * 2)
        by_url = [self.ask("192.0.2.100", "/same") for _ in range(12)]
        self.assertEqual(by_url, [200] * 10 + [429] * 2)
        by_net = [self.ask(f"2001:db8:1:2::{i:x}", f"/{i}") for i in range(1, 103)]
        self.assertEqual(by_net, [200] * 100 + [429] * 2)
        self.assertEqual(self.ask("2001:db8:1:3::1", "/other"), 200)
        self.assertTrue(re.search(r"key=2001:db8:1:: .*gpc0=\d+", p.cli("show table sites")))


if __name__ == "__main__":
    main()
