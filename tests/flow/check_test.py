# SPDX-License-Identifier: BSD-2-Clause
"""Health and agent checks against scripted servers: each kind passes a healthy one and names a sick one's fault."""
import os
import stat
import struct
import threading

from penstock_test import Case, free_port, get, main, response

BASE = """
global
    log 127.0.0.1:@LOG@ local0
    stats socket @DIR@/sock mode 600 level admin
    nbthread 2
@GLOBAL@
defaults
    mode tcp
    log global
    option log-health-checks
    timeout connect 2s
    timeout client 5s
    timeout server 5s
    timeout check 2s
"""


def recv_line(sock):
    data = b""
    while not data.endswith(b"\n"):
        more = sock.recv(1)
        if not more:
            break
        data += more
    return data


class CheckCase(Case):
    def check(self, lines, handler, options="", extra="", glob=""):
        """Starts a backend `be` with these check lines and one server; gives the syslog and the penstock."""
        log = self.syslog()
        srv = self.server(handler) if callable(handler) else handler
        port = srv.port if srv else free_port()
        text = BASE.replace("@GLOBAL@", glob) + f"""
listen be
    bind 127.0.0.1:{free_port()}
{lines}
    server s1 127.0.0.1:{port} check inter 100 fall 1 rise 1 {options}
{extra}
"""
        p = self.penstock(text, LOG=log.port)
        return log, p

    def passes(self, lines, handler, reason, **kw):
        log, _ = self.check(lines, handler, **kw)
        line = log.next("Health check for server be/s1")
        self.assertRegex(line, r"Health check for server be/s1 succeeded, reason: " + reason + r".*check duration: \d+ms, status: 1/1 UP\.")

    def fails(self, lines, handler, reason, **kw):
        log, _ = self.check(lines, handler, **kw)
        line = log.next("Health check for server be/s1")
        self.assertRegex(line, r"Health check for server be/s1 failed, reason: " + reason + r".*status: 0/1 DOWN\.")
        self.assertRegex(log.next("Server be/s1"), r"^<129>.*Server be/s1 is DOWN.* 0 active and 0 backup servers left\.")
        self.assertRegex(log.next("has no server"), r"^<128>.*has no server available!")


def http(status, headers=(), body=b"hello world"):
    def talk(sock, _):
        data = b""
        while b"\r\n\r\n" not in data:
            data += sock.recv(4096)
        sock.sendall(response(status, headers, body, close=True))
    return talk


def reply(*replies):
    """Says each reply, reading something before all but a leading greeting marked by None first."""
    def talk(sock, _):
        first = True
        for r in replies:
            if not first or r is not None:
                if not first:
                    sock.recv(4096)
            if r:
                sock.sendall(r)
            first = False
        sock.recv(4096)
    return talk


class Connect(CheckCase):
    def test_a_plain_check_connects(self):
        self.passes("", lambda sock, _: sock.recv(1), "Layer4 check passed")

    def test_a_refused_connection_is_named(self):
        self.fails("", None, 'Layer4 connection problem, info: "Connection refused"')


class Http(CheckCase):
    def test_httpchk_takes_2xx_and_3xx(self):
        self.passes("    option httpchk", http(302), "Layer7 check passed, code: 302")

    def test_httpchk_fails_on_5xx_with_the_code(self):
        self.fails("    option httpchk GET /health", http(503), "Layer7 wrong status, code: 503")

    def test_the_old_form_with_a_host_in_the_version_is_sent_as_meant(self):
        seen = []

        def talk(sock, _):
            data = b""
            while b"\r\n\r\n" not in data:
                data += sock.recv(4096)
            seen.append(data)
            sock.sendall(response(200, close=True))
        self.passes("    option httpchk HEAD / HTTP/1.1\\r\\nHost:\\ localhost", talk, "Layer7 check passed, code: 200")
        self.assertTrue(seen[0].startswith(b"HEAD / HTTP/1.1\r\n"), seen[0])
        self.assertIn(b"\r\nhost: localhost\r\n", seen[0].lower())

    def test_expect_status_list(self):
        self.passes("    option httpchk\n    http-check expect status 200,400-404", http(403), "Layer7 check passed, code: 403")

    def test_expect_string_in_the_body(self):
        self.passes("    option httpchk\n    http-check expect string world", http(200), "Layer7 check passed")

    def test_expect_rstring_fails_when_absent(self):
        self.fails("    option httpchk\n    http-check expect rstring ^nothing", http(200), "Layer7 invalid response")

    def test_expect_not(self):
        self.fails("    option httpchk\n    http-check expect ! string hello", http(200), "Layer7 invalid response")

    def test_expect_header(self):
        self.passes("    option httpchk\n    http-check expect hdr name x-state value -m beg rea", http(200, [("X-State", "ready")]), "Layer7 check passed")

    def test_send_says_method_uri_headers_and_body(self):
        seen = []

        def talk(sock, _):
            data = b""
            while b"ping" not in data:
                data += sock.recv(4096)
            seen.append(data)
            sock.sendall(response(200, close=True))
        self.passes("    option httpchk\n    http-check send meth POST uri /probe ver HTTP/1.1 hdr Host www.example.org body ping", talk, "Layer7 check passed")
        self.assertTrue(seen[0].startswith(b"POST /probe HTTP/1.1\r\n"), seen[0])
        self.assertIn(b"content-length: 4\r\n", seen[0].lower())

    def test_disable_on_404_stops_the_server_softly(self):
        log, _ = self.check("    option httpchk\n    http-check disable-on-404", http(404))
        self.assertRegex(log.next("Server be/s1"), r"^<133>.*Server be/s1 is stopping")

    def test_garbage_is_an_invalid_response(self):
        self.fails("    option httpchk", reply(None, b"SSH-2.0-OpenSSH\r\n\r\n"), "Layer7 invalid response")

    def test_a_silent_server_times_out(self):
        self.fails("    option httpchk\n    timeout check 200", lambda sock, _: sock.recv(4096) and sock.recv(1), "Layer7 timeout")


class TcpScript(CheckCase):
    def test_a_conversation(self):
        self.passes("    option tcp-check\n    tcp-check expect string 220\n    tcp-check send QUIT\\r\\n\n    tcp-check expect rstring ^bye", reply(b"220 hi\r\n", b"bye\r\n"), "Layer7 check passed")

    def test_binary(self):
        self.passes("    option tcp-check\n    tcp-check send-binary 00ff\n    tcp-check expect binary cafe", reply(None, b"\xca\xfe"), "Layer7 check passed")

    def test_the_failing_step_is_named(self):
        self.fails("    option tcp-check\n    tcp-check connect\n    tcp-check expect string ready comment greeting", reply(b"not yet\r\n"), "Layer7 .* at step 2 of tcp-check", extra="")

    def test_connect_to_another_port(self):
        other = self.server(lambda sock, _: sock.sendall(b"yes"))
        self.passes(f"    option tcp-check\n    tcp-check connect port {other.port}\n    tcp-check expect string yes", None, "Layer7 check passed")


class NamedProtocols(CheckCase):
    def test_smtp(self):
        self.passes("    option smtpchk EHLO mail.example.org", reply(b"220-x\r\n220 y\r\n", b"250 ok\r\n", b"221 bye\r\n"), "Layer7 check passed")

    def test_smtp_refusing(self):
        self.fails("    option smtpchk", reply(b"554 no\r\n"), "Layer7 wrong status, code: 554")

    def test_redis(self):
        self.passes("    option redis-check", reply(None, b"+PONG\r\n"), "Layer7 check passed")

    def test_mysql(self):
        greeting = b"\x0a8.0.30\x00" + b"\x00" * 20
        ok = b"\x07\x00\x00\x02\x00\x00\x00\x02\x00\x00\x00"
        self.passes("    option mysql-check user checker", reply(struct.pack("<I", len(greeting)) + greeting, ok), "Layer7 check passed")

    def test_mysql_denied(self):
        error = b"\xff\x15\x04#28000Access denied"
        greeting = b"\x0a8.0.30\x00" + b"\x00" * 20
        self.fails("    option mysql-check user checker", reply(struct.pack("<I", len(greeting)) + greeting, struct.pack("<I", len(error) | 2 << 24) + error), "Layer7 wrong status, code: 1045")

    def test_pgsql(self):
        self.passes("    option pgsql-check user checker", reply(None, b"R\x00\x00\x00\x08\x00\x00\x00\x05"), "Layer7 check passed")

    def test_ldap(self):
        self.passes("    option ldap-check", reply(None, b"\x30\x0c\x02\x01\x01\x61\x07\x0a\x01\x00\x04\x00\x04\x00"), "Layer7 check passed")

    def test_ssl_hello(self):
        self.passes("    option ssl-hello-chk", reply(None, b"\x16\x03\x03\x00\x02\x02\x00"), "Layer6 check passed")

    def test_external_program(self):
        _, p = self.check("", lambda sock, _: sock.recv(1))
        script = p.folder / "check.sh"
        script.write_text("#!/bin/sh\n[ \"$4\" = \"$HAPROXY_SERVER_PORT\" ] && [ \"$HAPROXY_SERVER_NAME\" = s1 ] || exit 3\n")
        os.chmod(script, stat.S_IRWXU | stat.S_IRGRP | stat.S_IXGRP | stat.S_IROTH | stat.S_IXOTH)
        os.chmod(p.folder, 0o755)
        lines = f"    option external-check\n    external-check command {script}\n    external-check path /usr/bin:/bin"
        self.passes(lines, lambda sock, _: sock.recv(1), "External check passed", glob="    external-check\n    insecure-fork-wanted")


class States(CheckCase):
    def test_fall_and_rise_are_counted(self):
        healthy = threading.Event()
        healthy.set()
        log = self.syslog()

        def talk(sock, server):
            http(200 if healthy.is_set() else 500)(sock, server)
        srv = self.server(talk)
        self.penstock(BASE.replace("@GLOBAL@", "") + f"""
backend be
    option httpchk
    server s1 127.0.0.1:{srv.port} check inter 60 fall 3 rise 2
""", LOG=log.port)
        self.assertIn("status: 3/3 UP", log.next("Health check"))
        healthy.clear()
        self.assertIn("status: 2/3 UP", log.next("Health check"))
        self.assertIn("status: 1/3 UP", log.next("Health check"))
        self.assertIn("status: 0/2 DOWN", log.next("Health check"))
        self.assertIn("Server be/s1 is DOWN.", log.next("Server be/s1"))
        healthy.set()
        self.assertIn("status: 1/2 DOWN", log.next("Health check"))
        self.assertIn("status: 3/3 UP", log.next("Health check"))
        self.assertRegex(log.next("Server be/s1"), r"^<133>.*Server be/s1 is UP\. 1 active and 0 backup servers online\.")

    def test_a_tracker_follows(self):
        log, _ = self.check("    option httpchk", http(500), extra="backend tr\n    server t1 127.0.0.1:1 track be/s1\n")
        self.assertRegex(log.next("Server tr/t1"), r"Server tr/t1 is DOWN via be/s1\.")

    def test_traffic_avoids_what_is_down(self):
        good = self.origin("good")
        log = self.syslog()
        port = free_port()
        self.penstock(BASE.replace("@GLOBAL@", "") + f"""
listen be
    mode http
    bind 127.0.0.1:{port}
    server s1 127.0.0.1:{free_port()} check inter 50 fall 1
    server s2 127.0.0.1:{good.port} check inter 50
""", LOG=log.port)
        log.next("Server be/s1 is DOWN")
        self.assertEqual([get(port).body for _ in range(8)], [b"good"] * 8)

    def test_health_outlives_a_reload(self):
        log, p = self.check("    option httpchk", http(500), options="inter 3600s fastinter 3600s downinter 3600s".replace("inter 3600s ", "", 1))
        log.next("Server be/s1 is DOWN")
        p.reload()
        self.assertEqual(p.stat()[("be", "s1")]["status"], "DOWN")

    def test_one_process_checks_for_all_workers(self):
        count = []

        def talk(sock, server):
            count.append(1)
            http(200)(sock, server)
        log = self.syslog()
        srv = self.server(talk)
        self.penstock(BASE.replace("@GLOBAL@", "").replace("nbthread 2", "nbthread 4") + f"""
backend be
    option httpchk
    server s1 127.0.0.1:{srv.port} check inter 60s
""", LOG=log.port)
        log.next("Health check for server be/s1 succeeded")
        self.assertEqual(len(count), 1)


class Agent(CheckCase):
    def agent(self, says):
        said = []

        def talk(sock, _):
            said.append(recv_line(sock))
            sock.sendall(says[0])
        agent = self.server(talk)
        log, p = self.check("", lambda sock, _: sock.recv(1), options=f"agent-check agent-port {agent.port} agent-inter 60 agent-send hello\\n weight 10")
        return log, p, said

    def test_down_and_up_again(self):
        says = [b"down #maintenance window\n"]
        log, _, said = self.agent(says)
        self.assertIn("Server be/s1 is DOWN", log.next("Server be/s1"))
        says[0] = b"up\n"
        self.assertIn("Server be/s1 is UP", log.next("Server be/s1 is UP"))
        self.assertEqual(said[0], b"hello\n")

    def test_drain_and_ready(self):
        says = [b"drain\n"]
        log, _, _ = self.agent(says)
        log.next("Server be/s1 enters drain state")
        says[0] = b"ready up\n"
        log.next(r"Server be/s1 is UP \(leaving forced drain\)")


class Observe(CheckCase):
    def test_traffic_errors_bring_a_server_down(self):
        def talk(sock, _):
            data = sock.recv(4096)
            if data:
                sock.sendall(b"HTTP/1.1 500 X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        port = free_port()
        log = self.syslog()
        srv = self.server(talk)
        self.penstock(BASE.replace("@GLOBAL@", "") + f"""
listen be
    mode http
    bind 127.0.0.1:{port}
    server s1 127.0.0.1:{srv.port} check inter 60s observe layer7 error-limit 3 on-error mark-down
""", LOG=log.port)
        log.next("Health check for server be/s1 succeeded")
        for _ in range(3):
            get(port)
        log.next("Server be/s1 is DOWN")


if __name__ == "__main__":
    main()
