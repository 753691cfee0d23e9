# SPDX-License-Identifier: BSD-2-Clause
"""Settings of health checks and agents, and what the runtime socket changes of them."""
import os
import pathlib
import re
import socket
import threading
import unittest

from penstock_test import Case, Server, free_port, main, response, wait_until

TOP = """
global
    log 127.0.0.1:@LOG@ local0
    stats socket @DIR@/sock mode 600 level admin
    nbthread 1
@GLOBAL@
defaults
    mode http
    log global
    timeout connect 2s
    timeout client 5s
    timeout server 5s
"""


class Recorder(Server):
    """Keeps what each connection said first; answers 200."""

    def __init__(self):
        self.heard = []
        super().__init__(Recorder.talk)

    @staticmethod
    def talk(sock, self):
        data = b""
        sock.settimeout(5)
        while b"\r\n\r\n" not in data[16:]:
            more = sock.recv(4096)
            if not more:
                break
            data += more
        self.heard.append(data)
        sock.sendall(response(200, [], b"", close=True))


class CheckCase(Case):
    def backend(self, lines, glob=""):
        self.log = self.syslog()
        text = TOP + f"listen be\n    bind 127.0.0.1:{free_port()}\n" + "".join(f"    {l}\n" for l in lines)
        return self.penstock(text, LOG=self.log.port, GLOBAL=glob)

    def heard(self, server):
        return wait_until("a check came", lambda: server.heard and server.heard[0])


class Http(CheckCase):
    def test_variables_are_set_by_expressions_and_by_formats(self):
        s = self.use(Recorder())
        self.backend(["option httpchk", "http-check connect", "http-check set-var(check.a) int(41),add(1)",
                      'http-check set-var-fmt(check.b) "<%[var(check.a)]> of all"', "http-check set-var(check.c) str(gone)",
                      "http-check unset-var(check.c)", 'http-check send hdr x "%[var(check.b)] %[var(check.c)]"', f"server s 127.0.0.1:{s.port} check inter 200"])
        self.assertIn(b"x: <42> of all ", self.heard(s))

    def test_their_memory_is_bounded(self):
        s = self.use(Recorder())
        self.backend(["option httpchk", "http-check connect", "http-check set-var(check.a) str(" + "a" * 200 + ")", "http-check set-var(check.b) int(1)",
                      'http-check send hdr x "%[var(check.a)]/%[var(check.b)]"', f"server s 127.0.0.1:{s.port} check inter 200"],
                     glob="    tune.vars.check-max-size 180")
        self.assertIn(b"x: /1", self.heard(s))

    def proxied(self, option, glob=""):
        s = self.use(Recorder())
        self.backend(["option httpchk", f"server s 127.0.0.1:{s.port} {option} check inter 200"], glob)
        return self.heard(s), s.port

    def test_proxy_headers_of_checks_tell_their_own_connection(self):
        head, port = self.proxied("send-proxy")
        self.assertRegex(head.decode("latin-1"), rf"^PROXY TCP4 127\.0\.0\.1 127\.0\.0\.1 \d+ {port}\r\nOPTIONS ")

    def test_version_2_says_local_unless_it_must_not(self):
        signature = b"\r\n\r\n\0\r\nQUIT\n"
        head, _ = self.proxied("send-proxy-v2")
        self.assertTrue(head.startswith(signature + b"\x20\0\0\0OPTIONS"), head)
        head, port = self.proxied("send-proxy-v2", "    pp2-never-send-local")
        self.assertTrue(head.startswith(signature + b"\x21\x11\0\x0c" + bytes([127, 0, 0, 1] * 2)), head)
        self.assertEqual(head[26:28], port.to_bytes(2, "big"))
        self.assertEqual(head[28:35], b"OPTIONS")

    def test_checks_come_from_the_backends_source(self):
        peers = []

        def note(sock, _):
            peers.append(sock.getpeername()[0])
            sock.recv(4096)
        self.backend(["source 127.0.0.9", "option httpchk", f"server s 127.0.0.1:{self.server(note).port} check inter 200"])
        wait_until("a check came", lambda: peers)
        self.assertEqual(peers[0], "127.0.0.9")


class Limits(CheckCase):
    def at_one_time(self, glob):
        lock, now, most = threading.Lock(), [0], [0]
        all_seen = threading.Event()

        def slow(sock, s):
            with lock:
                now[0] += 1
                most[0] = max(most[0], now[0])
                if s.connections >= 10:
                    all_seen.set()
            sock.recv(100)
            while sock.recv(100):
                pass
        s = self.server(lambda sock, srv: slow_and_leave(sock, srv))

        def slow_and_leave(sock, srv):
            try:
                slow(sock, srv)
            finally:
                with lock:
                    now[0] -= 1
        self.backend(["option httpchk", "timeout check 150ms"] + [f"server s{i} 127.0.0.1:{s.port} check inter 100 fall 100" for i in range(5)], glob)
        self.assertTrue(all_seen.wait(10))
        return most[0]

    def test_checks_at_one_time_are_bounded(self):
        self.assertGreater(self.at_one_time(""), 3)
        # the next one may begin before the server has seen the end of the last
        self.assertLessEqual(self.at_one_time("    tune.max-checks-per-thread 2"), 3)


class External(CheckCase):
    def variables(self, words):
        folder = pathlib.Path(self.enterContext(__import__("tempfile").TemporaryDirectory()))
        script, out = folder / "check", folder / "out"
        script.write_text(f"#!/bin/sh\n/usr/bin/env > {out}.tmp; /bin/mv {out}.tmp {out}\n")
        script.chmod(0o755)
        self.backend(["option external-check", f"external-check command {script}", f"server s 127.0.0.1:{free_port()} check inter 200"],
                     glob=f"    insecure-fork-wanted\n    setenv KEEP me\n    external-check {words}")
        wait_until("the program ran", out.exists)
        return dict(l.split("=", 1) for l in out.read_text().splitlines() if "=" in l)

    def test_the_environment_is_kept_on_demand_only(self):
        lean, rich = self.variables(""), self.variables("preserve-env")
        self.assertNotIn("KEEP", lean)
        self.assertEqual(rich["KEEP"], "me")
        for v in (lean, rich):
            self.assertEqual(v["HAPROXY_SERVER_NAME"], "s")


class AtRunTime(CheckCase):
    def test_the_port_and_address_of_checks_can_be_moved(self):
        first, second = self.use(Recorder()), self.use(Recorder())
        p = self.backend(["option httpchk", f"server s 127.0.0.1:{first.port} check inter 100", f"server plain 127.0.0.1:{first.port}"])
        self.heard(first)
        self.assertEqual(p.cli(f"set server be/s check-port {second.port}").strip(), "")
        self.heard(second)
        self.assertIn("Health checks are not enabled", p.cli("set server be/plain check-port 1"))
        self.assertIn("not valid", p.cli("set server be/s check-port 70000"))
        peers = []

        def note(sock, _):
            peers.append(sock.getsockname()[0])
        third = self.use(Server(note))
        self.assertEqual(p.cli(f"set server be/s check-addr 127.0.0.1 port {third.port}").strip(), "")
        wait_until("a check came to the third", lambda: peers)
        # it holds over a reload that says the same, and not over another one
        seen = len(peers)
        p.reload()
        wait_until("a check came after the reload", lambda: len(peers) > seen)
        moved = len(first.heard)
        p.reload(re.sub(r"check inter 100", f"check inter 100 port {first.port}", p.file.read_text()))
        wait_until("a check came to the configured port", lambda: len(first.heard) > moved)

    def test_an_agent_can_be_moved_and_told_something_else(self):
        said = []

        def agent(number):
            def talk(sock, _):
                said.append((number, sock.recv(100)))
                sock.sendall(b"ready\n")
            return talk
        one, two, o = self.server(agent(1)), self.server(agent(2)), self.origin()
        p = self.backend([f"server s 127.0.0.1:{o.port} check agent-check agent-port {one.port} agent-send hello agent-inter 100 inter 60s",
                          f"server plain 127.0.0.1:{o.port}"])
        wait_until("the agent was asked", lambda: (1, b"hello") in said)
        self.assertEqual(p.cli("set server be/s agent-send bye").strip(), "")
        wait_until("the agent was told otherwise", lambda: (1, b"bye") in said)
        self.assertEqual(p.cli(f"set server be/s agent-addr 127.0.0.1 port {two.port}").strip(), "")
        wait_until("the other agent was asked", lambda: (2, b"bye") in said)
        self.assertEqual(p.cli(f"set server be/s agent-port {one.port}").strip(), "")
        said.clear()
        wait_until("the first agent was asked again", lambda: (1, b"bye") in said)
        self.assertIn("agent checks are not enabled", p.cli("set server be/plain agent-port 1"))

    def test_a_name_cannot_be_given_without_resolvers(self):
        p = self.backend([f"server s 127.0.0.1:{free_port()}"])
        self.assertIn("no resolution", p.cli("set server be/s fqdn example.org"))

    def test_checks_and_agents_can_be_switched_off(self):
        s, asked = self.use(Recorder()), []

        def agent(sock, _):
            asked.append(1)
            sock.sendall(b"ready\n")
        p = self.backend(["option httpchk", f"server s 127.0.0.1:{s.port} check inter 50 agent-check agent-port {self.server(agent).port} agent-inter 50"])
        for kind, seen in (("health", s.heard), ("agent", asked)):
            wait_until("a check came", lambda: seen)
            self.assertEqual(p.cli(f"disable {kind} be/s").strip(), "")
            # what was under way ends, and then there is silence
            other = asked if kind == "health" else s.heard
            p.cli(f"enable {'agent' if kind == 'health' else 'health'} be/s")
            mark = len(other)
            wait_until("the other kind goes on", lambda: len(other) > mark + 1)
            before, mark = len(seen), len(other)
            wait_until("the other kind goes on", lambda: len(other) > mark + 3)
            self.assertEqual(len(seen), before)
            self.assertEqual(p.cli(f"enable {kind} be/s").strip(), "")
            wait_until("checks came again", lambda: len(seen) > before)

    def test_health_and_agent_can_be_spoken_for(self):
        def agent(sock, _):
            sock.recv(100)  # says nothing for long
        o = self.origin()
        p = self.backend([f"server s 127.0.0.1:{o.port} check inter 60s agent-check agent-port {self.server(agent).port} agent-inter 60s"])
        status = lambda: p.stat()[("be", "s")]["status"]
        wait_until("the first check is through", lambda: p.stat()[("be", "s")]["check_status"] == "L4OK")
        for command, want in (("health down", "DOWN"), ("health up", "UP"), ("health stopping", "NOLB"), ("health up", "UP"),
                              ("agent down", "DOWN (agent)"), ("agent up", "UP")):
            self.assertEqual(p.cli(f"set server be/s {command}").strip(), "")
            self.assertEqual(status(), want, command)


if __name__ == "__main__":
    main()
