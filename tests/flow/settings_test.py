# SPDX-License-Identifier: BSD-2-Clause
"""Settings that tune how traffic is handled, each shown by its effect and by the lack of it without the setting."""
import ctypes
import os
import signal
import socket
import struct
import time
import unittest

from penstock_test import PATIENCE, Case, Client, free_port, get, main, wait_until

TOP = """
global
    log 127.0.0.1:@LOG@ local0
    stats socket @DIR@/sock mode 600 level admin
    nbthread 1
@GLOBAL@
defaults
    mode @MODE@
    log global
    timeout connect 5s
    timeout client 10s
    timeout server 10s
"""
ROOT = os.geteuid() == 0


class SettingsCase(Case):
    def listen(self, lines, glob="", mode="http", bind="", args=("-Ws",)):
        self.log = self.syslog()
        self.port = free_port()
        text = TOP + f"listen p\n    bind 127.0.0.1:{self.port} {bind}\n" + "".join(f"    {l}\n" for l in lines)
        self.p = self.penstock(text, args=args, LOG=self.log.port, GLOBAL=glob, MODE=mode)
        return self.p


class Timeouts(SettingsCase):
    def lasts(self, option):
        """How long a client can talk to a server that says nothing, with 'timeout server' at 400 ms."""
        def silent(sock, _):
            while sock.recv(4096):
                pass
        self.listen(["timeout server 400ms", option, f"server s 127.0.0.1:{self.server(silent).port}"], mode="tcp")
        began = time.monotonic()
        with Client(self.port) as c:
            c.sock.settimeout(0.05)
            while time.monotonic() - began < 1.2 * PATIENCE:
                try:
                    c.send(b"x")
                    if c.sock.recv(1) == b"":
                        break
                except TimeoutError:
                    continue
                except OSError:
                    break
        return time.monotonic() - began

    def test_what_is_sent_to_a_server_extends_its_timeout_unless_streams_are_independent(self):
        self.assertGreater(self.lasts("no option independent-streams"), 1.1)
        self.assertLess(self.lasts("option independent-streams"), 1.0 * PATIENCE)


class SoftStop(SettingsCase):
    def after_stop(self, option):
        """An idle client connection of a service that stops."""
        o = self.origin()
        p = self.listen([option, f"server s 127.0.0.1:{o.port}"])
        busy, idle = self.client(self.port), self.client(self.port)
        busy.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n")  # keeps the service alive
        self.assertEqual(idle.get().status, 200)
        p.process.send_signal(signal.SIGUSR1)
        return idle, busy

    def test_idle_connections_are_closed_at_once(self):
        idle, busy = self.after_stop("no option idle-close-on-response")
        self.assertTrue(idle.closed(5))
        busy.send(b"x")
        busy.response()

    def test_idle_close_on_response_waits_for_one_more(self):
        idle, busy = self.after_stop("option idle-close-on-response")
        idle.sock.settimeout(0.4)
        with self.assertRaises(TimeoutError):
            idle.sock.recv(1)
        idle.sock.settimeout(5)
        r = idle.get()
        self.assertEqual((r.status, r.header("connection")), (200, "close"))
        busy.send(b"x")
        busy.response()


class Sockets(SettingsCase):
    def accepted_option(self, client, level, name):
        """An option of the worker's side of a connection."""
        port = client.sock.getsockname()[1]
        for pid in self.p.children():
            for fd in os.listdir(f"/proc/{pid}/fd"):
                try:
                    if not os.readlink(f"/proc/{pid}/fd/{fd}").startswith("socket:"):
                        continue
                    handle = os.pidfd_open(pid)
                    copy = ctypes.CDLL(None, use_errno=True).syscall(438, handle, int(fd), 0)  # pidfd_getfd
                    os.close(handle)
                    if copy < 0:
                        continue
                    with socket.socket(fileno=copy) as s:
                        if s.family == socket.AF_INET and s.getpeername() == ("127.0.0.1", port):
                            return s.getsockopt(level, name)
                except OSError:
                    continue
        self.skipTest("the kernel does not show other processes' sockets")

    def quickack(self, option, mode):
        o = self.origin()
        self.listen([option, f"server s 127.0.0.1:{o.port}"], mode=mode)
        c = self.client(self.port)
        wait_until("the connection is accepted", lambda: self.p.info()["CumConns"] != "0")
        return self.accepted_option(c, socket.IPPROTO_TCP, socket.TCP_QUICKACK)

    def test_smart_accept_delays_the_first_acknowledgement(self):
        self.assertEqual(self.quickack("option tcp-smart-accept", "tcp"), 0)
        self.assertEqual(self.quickack("default option tcp-smart-accept", "tcp"), 1)
        self.assertEqual(self.quickack("default option tcp-smart-accept", "http"), 0)
        self.assertEqual(self.quickack("no option tcp-smart-accept", "http"), 1)

    def spliced(self, args):
        o = self.origin(answer=lambda _: (200, [], b"z" * 4_000_000))
        self.listen([f"server s 127.0.0.1:{o.port}"], args=args)
        self.assertEqual(len(get(self.port).body), 4_000_000)
        return int(self.p.info()["TotalSplicedBytesOut"])

    def test_splicing_can_be_switched_off(self):
        self.assertGreater(self.spliced(("-Ws",)), 1_000_000)
        self.assertEqual(self.spliced(("-Ws", "-dS")), 0)

    @unittest.skipUnless(ROOT, "needs privileges")
    def test_usesrc_takes_the_address_of_a_header(self):
        peers = []

        def note(sock, _):
            peers.append(sock.getpeername()[0])
            sock.recv(4096)
            sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        self.listen(["source 0.0.0.0 usesrc hdr_ip(X-From,-1)", f"server s 127.0.0.1:{self.server(note).port}"])
        for value, seen in (("127.0.0.71", "127.0.0.71"), ("127.0.0.72, 127.0.0.73", "127.0.0.73"), ("nobody", "127.0.0.1")):
            self.assertEqual(get(self.port, headers=[("X-From", value)]).status, 200)
            self.assertEqual(peers[-1], seen)

    @unittest.skipUnless(ROOT, "needs privileges")
    def test_clients_from_privileged_ports_are_refused_on_demand(self):
        def from_privileged(glob):
            o = self.origin()
            self.listen([f"server s 127.0.0.1:{o.port}"], glob=glob)
            with socket.socket() as s:
                s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                s.settimeout(5)
                for port in range(600, 1000):
                    try:
                        s.bind(("127.0.0.1", port))
                        break
                    except OSError:
                        continue
                try:
                    s.connect(("127.0.0.1", self.port))
                    s.sendall(b"GET / HTTP/1.0\r\n\r\n")
                    return s.recv(12)
                except ConnectionError:
                    return b""
        self.assertEqual(from_privileged("    harden.reject-privileged-ports.tcp on"), b"")
        self.assertEqual(from_privileged(""), b"HTTP/1.1 200")


class Limits(SettingsCase):
    def test_captured_cookies_are_no_longer_than_the_global_limit(self):
        o = self.origin()
        self.listen(["option httplog", "capture cookie SID len 60", f"server s 127.0.0.1:{o.port}"], glob="    tune.http.cookielen 9")
        get(self.port, headers=[("Cookie", "SID=0123456789")])
        self.assertRegex(self.log.next(r"p/s"), r" SID=01234 - ")

    def kept(self, ratio):
        o = self.origin()
        self.listen([f"server s 127.0.0.1:{o.port}"], glob=f"    maxconn 100\n    ulimit-n 400\n    tune.pool-low-fd-ratio {ratio}")
        clients = [self.client(self.port) for _ in range(4)]
        for c in clients:
            self.assertEqual(c.get().status, 200)
        return int(self.p.stat()[("p", "s")]["idle_conn_cur"])

    def test_server_connections_are_not_kept_idle_when_descriptors_run_short(self):
        self.assertEqual(self.kept(1), 0)
        self.assertEqual(self.kept(50), 1)

    def test_variables_of_all_scopes_have_a_common_limit(self):
        o = self.origin()
        rules = ["http-request set-var(txn.a) req.hdr(a)", "http-request set-var(sess.b) req.hdr(b)",
                 "http-request return hdr got \"%[var(txn.a),length]/%[var(sess.b),length]\"", f"server s 127.0.0.1:{o.port}"]
        fields = [("a", "x" * 900), ("b", "y" * 900)]
        for limit, got in ((0, ["900/900", "900/900"]), (1500, ["900/", "900/"])):
            self.listen(rules, glob=f"    tune.vars.global-max-size {limit}")
            # what a stream had is free for the next one
            self.assertEqual([get(self.port, headers=fields).header("got") for _ in range(2)], got)


class Direct(SettingsCase):
    def test_dispatch_is_where_requests_go_that_no_server_is_bound_to(self):
        o, bound = self.origin("dispatched"), self.origin("bound")
        self.listen(["option httplog", "cookie SRV", f"dispatch 127.0.0.1:{o.port}", f"server b 127.0.0.1:{bound.port} cookie b"])
        self.assertEqual(get(self.port).body, b"dispatched")
        self.assertRegex(self.log.next("GET"), r" p p/<NOSRV> \d")
        self.assertEqual(get(self.port, headers=[("Cookie", "SRV=b")]).body, b"bound")
        self.assertRegex(self.log.next("GET"), r" p p/b \d")
        rows = self.p.stat()
        self.assertEqual([s for _, s in rows], ["FRONTEND", "b", "BACKEND"])
        self.assertEqual((rows[("p", "BACKEND")]["algo"], rows[("p", "BACKEND")]["status"]), ("none", "UP"))

    def test_balance_wins_over_dispatch(self):
        o, served = self.origin("dispatched"), self.origin("served")
        self.listen([f"dispatch 127.0.0.1:{o.port}", "balance roundrobin", f"server b 127.0.0.1:{served.port}"])
        self.assertEqual(get(self.port).body, b"served")
        self.assertIn("'dispatch' of proxy 'p' is ignored", self.p.stderr())

    def test_transparent_connects_to_where_the_client_wanted(self):
        o = self.origin("wanted")
        self.listen(["option transparent"], bind="accept-proxy")
        with Client(self.port) as c:
            c.send(f"PROXY TCP4 127.0.0.1 127.0.0.1 1234 {o.port}\r\n")
            self.assertEqual(c.get().body, b"wanted")

    def test_a_client_that_wanted_us_is_not_sent_round_for_ever(self):
        self.listen(["option transparent", "retries 0"])
        self.assertEqual(get(self.port).status, 503)
        self.assertLess(int(self.p.info()["CumConns"]), 5)


class ProxyProtocol(SettingsCase):
    def test_fields_of_a_log_format_are_added(self):
        got = []

        def read(sock, _):
            data = sock.recv(65536)
            while len(data) < 16 or len(data) < 16 + struct.unpack("!H", data[14:16])[0]:
                data += sock.recv(65536)
            got.append(data)
            sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        self.listen([f"server s 127.0.0.1:{self.server(read).port} send-proxy-v2 set-proxy-v2-tlv-fmt(0xE1) who=%[req.hdr(who)] set-proxy-v2-tlv-fmt(226) %[src]"])
        self.assertEqual(get(self.port, headers=[("who", "joe" * 1000)]).status, 200)
        length = struct.unpack("!H", got[0][14:16])[0]
        at, fields = 16 + 12, {}
        while at < 16 + length:
            kind, size = struct.unpack("!BH", got[0][at:at + 3])
            fields[kind] = got[0][at + 3:at + 3 + size]
            at += 3 + size
        self.assertEqual(fields, {0xE1: b"who=" + b"joe" * 1000, 0xE2: b"127.0.0.1"})


class Bodies(SettingsCase):
    def test_check_post_waits_for_the_parameter_in_the_body(self):
        servers = [self.origin(f"s{i}") for i in range(4)]
        self.listen(["balance url_param user check_post"] + [f"server s{i} 127.0.0.1:{o.port}" for i, o in enumerate(servers)])

        def ask(user):
            with Client(self.port) as c:
                c.send(f"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: {11 + len(user)}\r\n\r\nother")
                time.sleep(0.05)  # the parameter comes in another packet
                c.send(f"&user={user}")
                return c.response().body
        by_user = {u: {ask(u) for _ in range(3)} for u in ("anna", "bert", "carl", "dora", "egon", "fritz")}
        self.assertTrue(all(len(s) == 1 for s in by_user.values()), by_user)
        self.assertGreater(len(set.union(*by_user.values())), 1)


if __name__ == "__main__":
    main()
