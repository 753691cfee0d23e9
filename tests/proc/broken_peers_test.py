# SPDX-License-Identifier: BSD-2-Clause
"""Peers that reset, answer early or close half; the control process and the master killed under load; logs that lead nowhere."""
import os
import shutil
import signal
import socket
import struct
import tempfile
import threading

from penstock_test import Case, Client, Reader, Server, free_port, get, main, wait_until

CONFIG = """
global
    nbthread 2
    stats socket @DIR@/sock mode 600 level admin
defaults
    mode http
    timeout connect 5s
    timeout client 20s
    timeout server 20s
    retries 2
@DEFAULTS@
frontend www
    bind 127.0.0.1:@PORT@
    default_backend app
backend app
    server s1 127.0.0.1:@ORIGIN@ @OPTIONS@
"""
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


def reset(sock):
    """Closes so that the peer gets a reset."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    sock.close()


class BrokenPeers(Case):
    def start(self, handler, defaults="", options="", **k):
        self.backend = self.use(Server(handler)) if handler else self.origin("s1")
        self.port = free_port()
        text = CONFIG.replace("@DEFAULTS@", defaults).replace("@OPTIONS@", options)
        return self.penstock(text, PORT=self.port, ORIGIN=self.backend.port, **k)

    def nothing_is_left(self, p):
        wait_until("all sessions have ended", lambda: p.stat()[("www", "FRONTEND")]["scur"] == "0" and p.stat()[("app", "s1")]["scur"] == "0")

    # ------------------------------------------------------------------------------------------- servers
    def test_a_server_that_resets_before_an_answer_gives_502(self):
        def handler(sock, _):
            Reader(sock).line_block()
            reset(sock)
        p = self.start(handler)
        before = p.children()
        for _ in range(20):
            self.assertEqual(get(self.port).status, 502)
        self.assertEqual(p.children(), before)
        self.nothing_is_left(p)

    def test_a_server_that_resets_within_an_answer_breaks_only_that_connection(self):
        def handler(sock, _):
            reader = Reader(sock)
            while True:
                if b"/whole" in reader.line_block():
                    sock.sendall(OK)
                    continue
                sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + b"x" * 500)
                reset(sock)
                return
        p = self.start(handler)
        for _ in range(20):
            with Client(self.port) as c:
                c.send("GET /part HTTP/1.1\r\nHost: x\r\n\r\n")
                data = b""
                try:
                    while more := c.sock.recv(65536):
                        data += more
                except ConnectionResetError:
                    pass
                self.assertLess(len(data), 100000)  # never shown as complete
            self.assertEqual(get(self.port, "/whole").status, 200)
        self.nothing_is_left(p)

    def test_an_answer_before_the_body_is_passed_on_at_once(self):
        def handler(sock, _):
            Reader(sock).line_block()
            sock.sendall(b"HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\nConnection: close\r\n\r\nbig")
            sock.shutdown(socket.SHUT_WR)
            while sock.recv(65536):
                pass
        p = self.start(handler)
        for _ in range(5):
            with Client(self.port) as c:
                c.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\nonly the start")
                r = c.response()
                self.assertEqual((r.status, r.body), (413, b"big"))
        self.nothing_is_left(p)

    def test_an_answer_and_a_reset_while_the_body_comes(self):
        def handler(sock, _):
            Reader(sock).line_block()
            sock.sendall(b"HTTP/1.1 403 No\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno")
            sock.close()  # what still comes is answered by a reset
        p = self.start(handler)
        body = b"y" * 300000
        for _ in range(10):
            with Client(self.port) as c:
                try:
                    c.send(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 300000\r\n\r\n" + body)
                    status = c.response().status
                except OSError:
                    continue  # the client's own side was reset while it still sent
                self.assertIn(status, (403, 502))
        self.nothing_is_left(p)

    def test_what_a_server_says_unasked_is_no_answer(self):
        def handler(sock, _):
            reader = Reader(sock)
            reader.line_block()
            sock.sendall(OK + b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged")
            reader.line_block()
            sock.sendall(OK)
        p = self.start(handler, "    http-reuse always")
        for _ in range(20):
            with Client(self.port) as c:
                self.assertEqual(c.get().body, b"ok")
                self.assertEqual(c.get("/next").body, b"ok")
        self.nothing_is_left(p)

    # ------------------------------------------------------------------------------------------- clients
    def test_a_client_that_shuts_its_side_after_the_request_gets_the_answer(self):
        p = self.start(None)
        for _ in range(20):
            with Client(self.port) as c:
                c.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
                c.sock.shutdown(socket.SHUT_WR)
                self.assertEqual(c.response().status, 200)
                self.assertTrue(c.closed())
        self.nothing_is_left(p)

    def test_clients_that_reset_within_their_body_leave_nothing(self):
        p = self.start(None)
        for _ in range(50):
            c = Client(self.port)
            c.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel")
            reset(c.sock)
        self.nothing_is_left(p)
        self.assertEqual(get(self.port).status, 200)

    # ------------------------------------------------------------------------------------------- processes
    def test_the_control_process_killed_under_load_costs_no_request(self):
        p = self.start(None, options="check inter 200ms")
        load = self.load(self.port, clients=6)
        load.wait_for(50)
        for _ in range(3):
            control = p.children()[0]
            os.kill(control, signal.SIGKILL)
            wait_until("another is in its place", lambda: control not in p.children() and len(p.children()) == 3)
            load.wait_for(50)
        load.stop()
        self.assertEqual(load.failures, [])
        wait_until("it answers questions again", lambda: os.path.exists(p.folder / "sock") and "Name:" in p.cli("show info"))

    def test_what_is_under_way_ends_well_when_the_master_is_killed(self):
        go = threading.Event()

        def handler(sock, _):
            Reader(sock).line_block()
            sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf ")
            go.wait(20)
            sock.sendall(b"whole")
        p = self.start(handler)
        clients = [self.client(self.port) for _ in range(8)]
        for c in clients:
            c.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            c.reader.line_block()
        children = p.children()
        p.process.kill()
        p.process.wait()
        go.set()
        for c in clients:
            self.assertEqual(c.reader.exactly(10), b"half whole")
            c.close()
        wait_until("nobody stays", lambda: not any(os.path.exists(f"/proc/{pid}/exe") for pid in children), 20)

    # ------------------------------------------------------------------------------------------- logs
    def test_a_full_disk_behind_the_log_hinders_nobody(self):
        folder = tempfile.mkdtemp(prefix="penstock-test-")
        self.addCleanup(shutil.rmtree, folder, True)
        os.symlink("/dev/full", os.path.join(folder, "stdout"))
        p = self.start(None, "    log stdout format raw local0\n    option httplog", folder=folder)
        for _ in range(50):
            self.assertEqual(get(self.port).status, 200)
        self.assertEqual(len(p.children()), 3)
        self.nothing_is_left(p)


if __name__ == "__main__":
    main()
