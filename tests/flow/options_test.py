# SPDX-License-Identifier: BSD-2-Clause
"""Settings that change one thing each, shown by their effect. `PENSTOCK=haproxy tests/run -k options flow` asks the
reference the same questions."""
import time

from penstock_test import Case, Client, Reader, free_port, get, main

TOP = """
global
    log 127.0.0.1:@LOG@ local0
    stats socket @DIR@/sock mode 600 level admin
defaults
    mode http
    log global
    option httplog
    timeout connect 5s
    timeout client 10s
    timeout server 10s
"""


class Options(Case):
    def listen(self, lines, extra=""):
        self.log = self.syslog()
        self.port = free_port()
        return self.penstock(TOP + f"listen p\n    bind 127.0.0.1:{self.port}\n{lines}\n{extra}\n", LOG=self.log.port)

    def test_capture_cookie_logs_name_and_value_of_both_sides(self):
        o = self.origin(answer=lambda _: (200, [("Set-Cookie", "SIDE=other"), ("Set-Cookie", "SESSION=fresh; path=/")], b"x"))
        self.listen(f"    capture cookie SESSION= len 12\n    server s 127.0.0.1:{o.port}")
        get(self.port, headers=[("Cookie", "a=b; SESSION=abcdefgh; c=d")])
        self.assertIn(" 200 ", line := self.log.next(" p/s "))
        self.assertIn(" SESSION=abcd SESSION=fres ", line)

    def test_capture_cookie_by_the_beginning_of_its_name(self):
        o = self.origin()
        self.listen(f"    capture cookie SESS len 40\n    server s 127.0.0.1:{o.port}")
        get(self.port, headers=[("Cookie", "a=b; SESSION_X=1")])
        self.assertIn(" SESSION_X=1 - ", self.log.next(" p/s "))

    def test_redir_sends_the_client_to_the_server(self):
        o = self.origin()
        self.listen(f"    server s 127.0.0.1:{o.port} redir http://static.example.org")
        r = get(self.port, "/a?b=c")
        self.assertEqual((r.status, r.header("location")), (302, "http://static.example.org/a?b=c"))
        self.assertEqual(get(self.port, method="POST", body=b"x").status, 200)
        self.assertEqual(o.count, 1)

    def test_trailers_are_dropped_on_demand(self):
        def answer(_):
            return b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-T\r\n\r\n3\r\nabc\r\n0\r\nX-T: 1\r\n\r\n"
        o = self.origin(answer=answer)
        for option, seen in (("", True), ("    option http-drop-response-trailers", False)):
            p = self.listen(f"{option}\n    server s 127.0.0.1:{o.port}")
            with Client(self.port) as c:
                c.send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                raw = Reader(c.sock).to_end()
            self.assertEqual(b"x-t: 1" in raw.lower(), seen, raw)
            self.assertTrue(raw.endswith(b"\r\n\r\n"))
            p.stop()

    def test_tcp_response_inspect_delay_bounds_the_wait_of_content_rules(self):
        def talk(sock, _):
            sock.sendall(b"ab")
            sock.recv(10)
        srv = self.server(talk)
        self.listen(f"    mode tcp\n    option tcplog\n    tcp-response inspect-delay 300\n    tcp-response content accept if {{ res.len gt 4 }}\n"
                    f"    tcp-response content reject if {{ res.len gt 100 }}\n    server s 127.0.0.1:{srv.port}")
        began = time.monotonic()
        with Client(self.port) as c:
            self.assertEqual(c.sock.recv(10), b"ab")
        self.assertGreater(time.monotonic() - began, 0.25)

    def test_a_server_that_returns_takes_over_from_backups(self):
        def hold(sock, _):
            while data := sock.recv(100):
                sock.sendall(data)
        main_server, backup = self.server(hold), self.server(hold)
        p = self.listen(f"    mode tcp\n    option tcplog\n    server s 127.0.0.1:{main_server.port} on-marked-up shutdown-backup-sessions check inter 60s\n"
                        f"    server b 127.0.0.1:{backup.port} backup")
        p.cli("set server p/s state maint")
        with Client(self.port) as c:
            c.send("x")
            self.assertEqual(c.sock.recv(10), b"x")
            self.assertEqual(backup.connections, 1)
            p.cli("set server p/s state ready")
            self.assertTrue(c.closed())


if __name__ == "__main__":
    main()
