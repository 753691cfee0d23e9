# SPDX-License-Identifier: BSD-2-Clause
"""Rings: log lines kept in memory, shown on the runtime socket, carried on over TCP."""
import re
import socket

from penstock_test import Case, free_port, get, main, wait_until

CONFIG = """
global
    stats socket @DIR@/sock mode 600 level admin
    nbthread 2
    log ring@recent local0
ring recent
    description "what came last"
    format rfc5424
    maxlen 1200
    size 64k
    timeout connect 1s
    server collector 127.0.0.1:@COLLECTOR@ log-proto octet-count
ring short
    format raw
    maxlen 90
defaults
    mode http
    log global
    log ring@short len 200 local1
    timeout client 5s
    timeout connect 5s
    timeout server 5s
listen web
    bind 127.0.0.1:@PORT@
    log-format "%HU seen"
    http-request return status 200
"""


class Ring(Case):
    def setUp(self):
        self.port = free_port()
        self.collector = socket.create_server(("127.0.0.1", 0))
        self.collector.settimeout(10)
        self.addCleanup(self.collector.close)
        self.p = self.penstock(CONFIG, PORT=self.port, COLLECTOR=self.collector.getsockname()[1])

    def events(self, what):
        return self.p.cli(f"show events {what}").strip("\n").split("\n")

    def collect(self, connection, count):
        """So many messages in octet counting."""
        data, out = b"", []
        while len(out) < count:
            more = connection.recv(65536)
            self.assertTrue(more, f"closed after {out}")
            data += more
            while (m := re.match(rb"(\d+) ", data)) and len(data) >= m.end() + int(m[1]):
                out.append(data[m.end():m.end() + int(m[1])].decode())
                data = data[m.end() + int(m[1]):]
        return out

    def test_lines_of_all_workers_are_shown(self):
        for i in range(20):
            get(self.port, f"/{i}")
        lines = wait_until("20 lines", lambda: len(got := self.events("short")) == 20 and got)
        self.assertEqual(sorted(lines), sorted(f"/{i} seen" for i in range(20)))
        self.assertRegex(self.events("recent")[0], r"^<134>1 \d{4}-\d\d-\d\dT[^ ]+ \S+ penstock \d+ - - /\d+ seen$")
        get(self.port, "/" + "x" * 300)
        wait_until("the long line", lambda: "xxx" in (last := self.events("short")[-1]) and self.assertEqual(len(last), 89) is None)

    def test_sinks_are_listed_and_unknown_ones_refused(self):
        self.assertIn("recent     : type=buffer, 0 dropped, what came last", self.p.cli("show events"))
        self.assertIn("No such event sink", self.p.cli("show events nope"))
        self.assertIn("unknown option", self.p.cli("show events short -x"))
        get(self.port, "/z")
        wait_until("the line with a NUL", lambda: "/z seen\0" in self.p.cli("show events short -0"))

    def test_waiting_shows_new_lines_until_a_key(self):
        get(self.port, "/old")
        wait_until("the old line", lambda: "/old seen" in self.events("short"))
        s = socket.socket(socket.AF_UNIX)
        s.connect(f"{self.p.folder}/sock")
        s.settimeout(10)
        s.sendall(b"show events short -wn\n")
        got = b""
        self.p.cli("show info")  # the command before it has been taken by now
        get(self.port, "/new")
        while b"\n" not in got:
            got += s.recv(1000)
        self.assertEqual(got, b"/new seen\n")
        s.sendall(b"\n")
        while more := s.recv(1000):
            got += more
        self.assertEqual(got, b"/new seen\n\n")
        s.close()

    def test_a_server_gets_each_line_once_over_breaks_and_reloads(self):
        for i in range(10):
            get(self.port, f"/{i}")
        first, _ = self.collector.accept()
        first.settimeout(10)
        self.assertEqual(sorted(m.split()[-2] for m in self.collect(first, 10)), [f"/{i}" for i in range(10)])
        first.close()
        for i in range(10, 15):
            get(self.port, f"/{i}")
        second, _ = self.collector.accept()
        second.settimeout(10)
        messages = [m for m in self.collect(second, 6) if "seen" in m]  # and one that tells of the break
        self.assertLessEqual({f"/{i}" for i in range(11, 15)}, {m.split()[-2] for m in messages})
        self.p.reload()
        get(self.port, "/after")
        third, _ = self.collector.accept()
        third.settimeout(10)
        self.assertEqual([m.split()[-2] for m in self.collect(third, 1)], ["/after"])


if __name__ == "__main__":
    main()
