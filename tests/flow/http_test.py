# SPDX-License-Identifier: BSD-2-Clause
"""Mode http from end to end: persistence of both sides, bodies in every framing, what passes while a response
is awaited, tunnels, time limits, retries, and the termination state that each ending logs."""
import socket
import threading
import time

from penstock_test import Case, Client, Reader, free_port, get, main, response

BASE = """
global
    log 127.0.0.1:@LOG@ local0
    nbthread 1
defaults
    mode http
    log global
    option httplog
    retries 2
    timeout connect 2s
    timeout client 5s
    timeout server 5s
"""


class HttpCase(Case):
    def proxy(self, lines, server=None, options="", defaults=""):
        """`listen p` on a free port with these lines and one server; gives its port."""
        self.log = self.syslog()
        self.port = free_port()
        port = server.port if server is not None else free_port()
        text = BASE + defaults + f"""
listen p
    bind 127.0.0.1:{self.port}
{lines}
    server s1 127.0.0.1:{port} {options}
"""
        self.p = self.penstock(text, LOG=self.log.port)
        return self.port

    def state(self):
        """The termination state of the next log line."""
        line = self.log.next(r" p/")
        return line.split(" p/")[1].split()[6]


def scripted(*steps):
    """A server for one connection at a time: reads a head, then runs the steps (bytes to send, or functions of the socket)."""
    def handler(sock, _server):
        reader = Reader(sock)
        while True:
            try:
                reader.line_block()
            except (EOFError, OSError):
                return
            for step in steps:
                if callable(step):
                    if step(sock, reader) == "end":
                        return
                else:
                    sock.sendall(step)
    return handler


class Persistence(HttpCase):
    def test_keep_alive_on_both_sides_uses_one_connection(self):
        o = self.origin()
        c = self.client(self.proxy("", o))
        for _ in range(5):
            self.assertEqual(c.get("/").status, 200)
        self.assertEqual({r.connection for r in o.requests}, {1})
        self.assertIsNone(o.requests[0].header("connection"))

    def test_http_server_close_takes_a_new_connection_for_each_request(self):
        o = self.origin()
        c = self.client(self.proxy("    option http-server-close", o))
        for _ in range(3):
            self.assertEqual(c.get("/").status, 200)
        self.assertEqual(len({r.connection for r in o.requests}), 3)
        self.assertEqual(o.requests[0].header("connection"), "close")

    def test_httpclose_closes_both(self):
        o = self.origin()
        c = self.client(self.proxy("    option httpclose", o))
        r = c.get("/")
        self.assertEqual(r.header("connection"), "close")
        self.assertTrue(c.closed())

    def test_pretend_keepalive_does_not_tell_the_server(self):
        o = self.origin()
        c = self.client(self.proxy("    option http-server-close\n    option http-pretend-keepalive", o))
        c.get("/")
        self.assertIsNone(o.requests[0].header("connection"))

    def test_http_1_0(self):
        o = self.origin()
        port = self.proxy("", o)
        c = self.client(port)
        c.send(b"GET / HTTP/1.0\r\n\r\n")
        self.assertEqual(c.response().status, 200)
        self.assertTrue(c.closed())
        c = self.client(port)
        for _ in range(2):
            c.send(b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
            self.assertEqual(c.response().header("connection"), "keep-alive")

    def test_pipelined_requests_are_answered_in_order(self):
        o = self.origin(answer=lambda r: (200, [], r.line.encode()))
        c = self.client(self.proxy("", o))
        c.send(b"".join(b"GET /%d HTTP/1.1\r\nHost: a\r\n\r\n" % i for i in range(20)))
        for i in range(20):
            self.assertIn(b"/%d " % i, c.response().body)

    def test_clients_of_one_request_each_do_not_pile_up_idle_connections(self):
        o = self.origin()
        port = self.proxy("", o)
        for _ in range(40):
            get(port)
        self.assertLessEqual(len(o.open), 2)  # one at a time was busy: no more are kept

    def test_http_reuse(self):
        for reuse, connections in (("safe", 2), ("never", 2), ("always", 1)):
            o = self.origin()
            port = self.proxy(f"    http-reuse {reuse}", o)
            for _ in range(2):
                get(port)
            self.assertEqual(len({r.connection for r in o.requests}), connections, reuse)

    def test_a_connection_that_the_server_closed_while_idle_is_not_used(self):
        o = self.server(scripted(response(body=b"x"), lambda s, r: "end"))
        c = self.client(self.proxy("", o))
        for _ in range(5):
            self.assertEqual(c.get("/").status, 200)

    def test_keep_alive_timeout_ends_an_idle_connection_silently(self):
        o = self.origin()
        c = self.client(self.proxy("    timeout http-keep-alive 200", o))
        c.get("/")
        self.assertTrue(c.closed())


class Bodies(HttpCase):
    def echo(self):
        return self.origin(answer=lambda r: (200, [], r.body))

    def test_request_bodies_of_all_sizes_and_framings(self):
        port = self.proxy("", self.echo())
        c = self.client(port)
        for size in (0, 1, 1000, 16384, 100_000, 3_000_000):
            body = bytes(i * 7 % 251 for i in range(1000)) * (size // 1000) + b"z" * (size % 1000)
            self.assertEqual(c.get("/", method="POST", body=body).body, body)
            c.send(b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
            for at in range(0, size, 70_001):
                part = body[at:at + 70_001]
                c.send(b"%x\r\n%s\r\n" % (len(part), part))
            c.send(b"0\r\n\r\n")
            self.assertEqual(c.response().body, body)

    def test_response_framings(self):
        chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;x=y\r\n world\r\n0\r\nX-T: 1\r\n\r\n"
        c = self.client(self.proxy("", self.server(scripted(chunked))))
        for _ in range(3):
            self.assertEqual(c.get("/").body, b"hello world")

    def test_a_body_that_ends_with_the_connection_becomes_chunked(self):
        o = self.server(scripted(b"HTTP/1.1 200 OK\r\n\r\nall of it", lambda s, r: "end"))
        c = self.client(self.proxy("", o))
        for _ in range(2):
            r = c.get("/")
            self.assertEqual((r.body, r.header("transfer-encoding")), (b"all of it", "chunked"))

    def test_chunked_to_http_1_0_ends_with_the_connection(self):
        o = self.server(scripted(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"))
        c = self.client(self.proxy("", o))
        c.send(b"GET / HTTP/1.0\r\n\r\n")
        self.assertTrue(c.reader.to_end().endswith(b"\r\n\r\nhello"))

    def test_head_204_and_304_have_no_body(self):
        def answer(r):
            if r.method == "HEAD":
                return b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"
            return b"HTTP/1.1 %s X\r\n%s\r\n" % (r.line.split()[1][1:].encode(), b"Content-Length: 5\r\n" if "304" in r.line else b"")
        c = self.client(self.proxy("", self.origin(answer=answer)))
        self.assertEqual(c.get("/x", method="HEAD").header("content-length"), "1000")
        for status in (204, 304):
            c.send(b"GET /%d HTTP/1.1\r\nHost: a\r\n\r\n" % status)
            self.assertTrue(c.response("HEAD").status == status)
        self.assertEqual(c.get("/x", method="HEAD").status, 200)

    def test_trailers_pass(self):
        o = self.server(scripted(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX-Sum: 42\r\n\r\n"))
        c = self.client(self.proxy("", o))
        c.send(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        self.assertIn(b"0\r\nx-sum: 42\r\n\r\n", c.reader.to_end().lower())

    def test_a_server_that_answers_early(self):
        o = self.server(scripted(response(413, body=b"too much")))
        c = self.client(self.proxy("", o))
        c.send(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10000000\r\n\r\nxx")
        r = c.response()
        self.assertEqual((r.status, r.body), (413, b"too much"))

    def test_a_large_response_to_a_slow_reader_is_whole_and_not_hoarded(self):
        body = b"0123456789abcdef" * (1 << 20)
        o = self.origin(answer=lambda r: (200, [], body))
        c = self.client(self.proxy("", o))
        c.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        got = c.response()
        self.assertEqual(len(got.body), len(body))
        self.assertEqual(got.body, body)


class Interim(HttpCase):
    def test_expect_100_continue(self):
        c = self.client(self.proxy("", self.origin(answer=lambda r: (200, [], r.body))))
        c.send(b"POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n")
        self.assertEqual(c.response(interim=True).status, 100)
        c.send(b"body")
        self.assertEqual(c.response().body, b"body")

    def test_103_passes(self):
        c = self.client(self.proxy("", self.server(scripted(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + response(body=b"b")))))
        c.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        self.assertEqual(c.response(interim=True).status, 103)
        self.assertEqual(c.response().body, b"b")

    def test_websocket_becomes_a_tunnel(self):
        def echo(sock, reader):
            while data := reader.buf or sock.recv(1000):
                reader.buf = b""
                sock.sendall(data.upper())
            return "end"
        o = self.server(scripted(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n", echo))
        c = self.client(self.proxy("", o))
        c.send(b"GET /ws HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
               b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n")
        r = c.response("HEAD", interim=True)
        self.assertEqual((r.status, r.header("upgrade")), (101, "websocket"))
        c.send(b"hello")
        self.assertEqual(c.reader.exactly(5), b"HELLO")
        c.sock.shutdown(socket.SHUT_WR)
        self.assertTrue(c.closed())

    def test_a_101_that_nobody_asked_for_is_502(self):
        c = self.client(self.proxy("", self.server(scripted(b"HTTP/1.1 101 Switching Protocols\r\n\r\nhello"))))
        c.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        self.assertEqual(c.response().status, 502)
        self.assertEqual(self.state(), "PH--")

    def test_an_upgrade_of_http_1_0_leaves_nothing_behind(self):
        heads = []
        def note(sock, server):
            heads.append(Reader(sock).line_block())
            sock.sendall(response(body=b"b"))
        c = self.client(self.proxy("", self.server(note)))
        c.send(b"GET / HTTP/1.0\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
        self.assertEqual(c.response().status, 200)
        self.assertNotIn(b"pgrade", heads[0])

    def test_an_http_1_0_client_is_told_that_the_connection_ends(self):
        c = self.client(self.proxy("", self.origin()))
        c.send(b"GET / HTTP/1.0\r\nHost: a\r\n\r\n")
        self.assertEqual(c.response().header("connection"), "close")
        self.assertTrue(c.closed())

    def test_connect_becomes_a_tunnel(self):
        def echo(sock, reader):
            sock.sendall(reader.exactly(4))
            return "end"
        c = self.client(self.proxy("", self.server(scripted(b"HTTP/1.1 200 OK\r\n\r\n", echo))))
        c.send(b"CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n")
        c.reader.line_block()
        c.send(b"ping")
        self.assertEqual(c.reader.exactly(4), b"ping")


class Endings(HttpCase):
    def test_normal(self):
        self.assertEqual(get(self.proxy("", self.origin())).status, 200)
        self.assertEqual(self.state(), "----")

    def test_a_request_that_never_ends_is_answered_408(self):
        c = self.client(self.proxy("    timeout http-request 300", self.origin()))
        for piece in (b"GET / HT", b"TP/1.1\r\n", b"X: y\r\n"):
            c.send(piece)
            time.sleep(0.05)
        self.assertEqual(c.response().status, 408)
        self.assertEqual(self.state()[:2], "cR")

    def test_malformed_request(self):
        c = self.client(self.proxy("", self.origin()))
        c.send(b"GET / HTTP/1.1\r\nBad Header: x\r\n\r\n")
        self.assertEqual(c.response().status, 400)
        self.assertEqual(self.state()[:2], "PR")

    def test_the_server_refuses(self):
        self.proxy("    retries 0")
        self.assertEqual(get(self.port).status, 503)
        self.assertEqual(self.state()[:2], "SC")

    def test_the_server_is_too_slow(self):
        o = self.server(lambda s, _: s.recv(10000) and s.recv(1))
        self.proxy("    timeout server 200", o)
        self.assertEqual(get(self.port).status, 504)
        self.assertEqual(self.state()[:2], "sH")

    def test_the_server_closes_without_an_answer(self):
        o = self.server(scripted(lambda s, r: "end"))
        self.proxy("", o)
        self.assertEqual(get(self.port).status, 502)
        self.assertEqual(self.state()[:2], "SH")

    def test_the_server_says_nonsense(self):
        o = self.server(scripted(b"hello\r\n\r\n", lambda s, r: "end"))
        self.proxy("", o)
        self.assertEqual(get(self.port).status, 502)
        self.assertEqual(self.state()[:2], "PH")

    def test_the_server_breaks_off_in_the_middle(self):
        o = self.server(scripted(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf", lambda s, r: "end"))
        c = self.client(self.proxy("", o))
        c.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        self.assertTrue(c.reader.to_end().endswith(b"half"))
        self.assertEqual(self.state()[:2], "SD")

    def test_the_client_leaves_in_the_middle(self):
        body = b"x" * 50_000_000
        c = self.client(self.proxy("", self.origin(answer=lambda r: (200, [], body))))
        c.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        c.reader.fill()
        c.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        c.close()
        self.assertEqual(self.state()[:2], "CD")

    def test_the_client_stops_reading(self):
        body = b"x" * 50_000_000
        c = self.client(self.proxy("    timeout client 300", self.origin(answer=lambda r: (200, [], body))))
        c.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        self.assertEqual(self.state()[:2], "cD")

    def test_the_client_does_not_send_its_body(self):
        c = self.client(self.proxy("    timeout client 300", self.origin()))
        c.send(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc")
        self.assertEqual(c.response().status, 408)
        self.assertEqual(self.state()[:2], "cH")


class Retries(HttpCase):
    def failing_first(self, first):
        """A server whose first connection does `first`; later ones answer."""
        count = [0]

        def handler(sock, server):
            reader = Reader(sock)
            while True:
                head = reader.line_block()
                length = 5 if b"Content-Length: 5" in head or b"content-length: 5" in head else 0
                body = reader.exactly(length)
                count[0] += 1
                if count[0] == 1:
                    return first(sock)
                sock.sendall(response(body=body or b"ok"))
        return self.server(handler)

    def test_retry_on_empty_response_replays_the_body(self):
        o = self.failing_first(lambda s: None)
        c = self.client(self.proxy("    retry-on empty-response", o))
        self.assertEqual(c.get("/", method="POST", body=b"12345").body, b"12345")

    def test_retry_on_status(self):
        o = self.failing_first(lambda s: s.sendall(response(503)))
        self.assertEqual(get(self.proxy("    retry-on 503", o)).body, b"ok")

    def test_retry_on_junk(self):
        o = self.failing_first(lambda s: s.sendall(b"junk\r\n\r\n"))
        self.assertEqual(get(self.proxy("    retry-on junk-response", o)).body, b"ok")

    def test_retry_on_timeout(self):
        o = self.failing_first(lambda s: s.recv(1))
        self.assertEqual(get(self.proxy("    timeout server 300\n    retry-on response-timeout", o)).body, b"ok")

    def test_redispatch_finds_the_other_server(self):
        o = self.origin()
        self.log = self.syslog()
        port = free_port()
        self.penstock(BASE + f"""
listen p
    bind 127.0.0.1:{port}
    option redispatch 1
    server dead 127.0.0.1:{free_port()}
    server alive 127.0.0.1:{o.port}
""", LOG=self.log.port)
        for _ in range(4):
            self.assertEqual(get(port).status, 200)


class Queue(HttpCase):
    def test_requests_wait_for_a_slot_and_time_out(self):
        release = threading.Event()

        def handler(sock, _):
            Reader(sock).line_block()
            release.wait(20)
            sock.sendall(response(body=b"late"))
        o = self.server(handler)
        port = self.proxy("    timeout queue 300", o, "maxconn 1")
        first = self.client(port)
        first.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        while o.connections < 1:
            time.sleep(0.01)
        self.assertEqual(get(port).status, 503)
        self.assertEqual(self.state()[:2], "sQ")
        release.set()
        self.assertEqual(first.response().body, b"late")

    def test_a_freed_slot_serves_the_next(self):
        o = self.origin(answer=lambda r: time.sleep(0.05) or (200, [], b"x"))
        port = self.proxy("", o, "maxconn 1")
        results = []
        threads = [threading.Thread(target=lambda: results.append(get(port).status)) for _ in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(results, [200] * 8)


if __name__ == "__main__":
    main()
