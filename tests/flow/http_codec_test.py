# SPDX-License-Identifier: BSD-2-Clause
"""HTTP/1 through the real binary: what is refused never reaches a server, what is accepted arrives in one spelling."""
import sys

sys.path.insert(0, __file__.rsplit("/", 2)[0] + "/support")
from penstock_test import Case, Client, Reader, free_port  # noqa: E402

CONFIG = """
global
    @GLOBAL@
defaults
    mode http
    timeout client 5s
    timeout server 5s
    timeout connect 5s
    timeout http-request 5s
frontend web
    bind 127.0.0.1:@PORT@
    @FRONT@
    default_backend app
backend app
    retries 0
    @BACK@
    server s 127.0.0.1:@ORIGIN@
"""
HOST = b"Host: a\r\n"
POST = b"POST / HTTP/1.1\r\n" + HOST
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n"
CHUNK = b"3\r\nabc\r\n0\r\n\r\n"
SMUGGLED = b"GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"

REFUSED = [  # (bytes, status)
    (CHUNKED + b"Content-Length: 3\r\n\r\n" + CHUNK, 400),
    (POST + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n" + CHUNK, 400),
    (POST + b"Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", 400),
    (POST + b"Content-Length: 3, 4\r\n\r\nabcd", 400),
    (POST + b"Content-Length: +3\r\n\r\nabc", 400),
    (POST + b"Content-Length: 99999999999999999999\r\n\r\nabc", 400),
    (POST + b"Content-Length : 3\r\n\r\nabc", 400),
    (POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n" + CHUNK, 422),
    (POST + b"Transfer-Encoding: chunked, gzip\r\n\r\n" + CHUNK, 400),
    (POST + b"Transfer-Encoding: chunked, chunked\r\n\r\n" + CHUNK, 400),
    (POST + b"Transfer-Encoding: \x0bchunked\r\n\r\n" + CHUNK, 400),
    (POST + b"Transfer-Encoding: xchunked\r\n\r\n" + CHUNK, 400),
    (POST + b"Transfer-Encoding:\r\n chunked\r\n\r\n" + CHUNK, 400),
    (b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n" + CHUNK, 400),
    (POST + b"X: a\nTransfer-Encoding: chunked\r\n\r\n" + CHUNK, 400),
    (POST + b"X: a\rTransfer-Encoding: chunked\r\n\r\n" + CHUNK, 400),
    (POST + b"X: a\x00b\r\n\r\n", 400),
    (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
    (b"GET http://b/ HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    (b"GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505),
    (b"GET /" + b"a" * 20000 + b" HTTP/1.1\r\nHost: a\r\n\r\n", 414),
    (b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"a" * 20000 + b"\r\n\r\n", 431),
    (b"GET / HTTP/1.1\r\n" + b"".join(b"X: y\r\n" for _ in range(200)) + b"\r\n", 400),
    (CHUNKED + b"\r\n" + b"3\nabc\r\n0\r\n\r\n", 400),
    (CHUNKED + b"\r\n" + b"0x3\r\nabc\r\n0\r\n\r\n", 400),
    (CHUNKED + b"\r\n" + b"ffffffffffffffff\r\nabc", 400),
]

BAD_RESPONSES = [
    b"garbage\r\n\r\n",
    b"HTTP/1.1 20 OK\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nab",
    b"HTTP/1.1 200 OK\r\nX : y\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nX: " + b"a" * 20000 + b"\r\n\r\n",
]


class HttpCodec(Case):
    def proxy(self, origin, front="", back="", settings=""):
        port = free_port()
        self.penstock(CONFIG, PORT=port, ORIGIN=origin.port, FRONT=front, BACK=back, GLOBAL=settings)
        return port

    def test_refused(self):
        origin = self.origin()
        port = self.proxy(origin)
        for text, status in REFUSED:
            with self.subTest(text=text[:120]), Client(port) as c:
                try:
                    c.send(text + SMUGGLED)
                except OSError:
                    pass  # it was refused before all of it was sent
                self.assertEqual(c.response().status, status)
                self.assertTrue(c.closed())
        self.assertEqual([r.line for r in origin.requests if "smuggled" in r.line], [])

    def test_byte_by_byte(self):
        origin = self.origin()
        port = self.proxy(origin)
        with Client(port) as c:
            for b in CHUNKED + b"\r\n" + CHUNK:
                c.send(bytes([b]))
            self.assertEqual(c.response().status, 200)
        self.assertEqual(origin.requests[0].body, b"abc")

    def test_one_spelling(self):
        origin = self.origin()
        port = self.proxy(origin)
        with Client(port) as c:
            c.send(b"POST http://a:80 HTTP/1.1\r\nHost: a:80\r\nContent-Length: 003, 3\r\nX-Foo: 1\r\nConnection: x-foo\r\nTE: trailers, gzip\r\n\r\nabc")
            self.assertEqual(c.response().status, 200)
        self.assertEqual(origin.requests[0].raw.rstrip(b"\r\n"), b"POST http://a/ HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\nte: trailers")

    def test_lines_without_cr(self):
        origin = self.origin()
        port = self.proxy(origin)
        with Client(port) as c:
            c.send(b"GET /typed HTTP/1.0\nHost: a\n\n")
            self.assertEqual(c.response().status, 200)
        self.assertEqual(origin.requests[0].target, "/typed")

    def test_relaxed(self):
        origin = self.origin()
        port = self.proxy(origin, front="option accept-unsafe-violations-in-http-request")
        with Client(port) as c:
            c.send(b"GET /\x80 HTTP/1.1\r\nHost: a\r\nX(: b\r\n\r\n")
            self.assertEqual(c.response().status, 200)
        self.assertIn(b"GET /\x80 ", origin.requests[0].raw)
        self.assertNotIn(b"x(", origin.requests[0].raw)

    def test_bad_responses(self):
        for text in BAD_RESPONSES:
            with self.subTest(text=text[:60]):
                def talk(sock, _server, text=text):
                    Reader(sock).line_block()
                    sock.sendall(text)
                port = self.proxy(self.server(talk))
                with Client(port) as c:
                    self.assertEqual(c.get().status, 502)

    def test_names_and_forwarding(self):
        origin = self.origin()
        port = self.proxy(origin, front="option forwardfor if-none", back="option forwarded host for-expr str(me)\n    option http-restrict-req-hdr-names delete")
        with Client(port) as c:
            self.assertEqual(c.get(headers=[("X_Under", "1")]).status, 200)
            self.assertEqual(c.get(headers=[("X-Forwarded-For", "192.0.2.1")]).status, 200)
        first, second = origin.requests
        self.assertEqual(first.header("x-forwarded-for"), "127.0.0.1")
        self.assertEqual(first.header("forwarded"), 'host="test.example";for=_me')
        self.assertIsNone(first.header("x_under"))
        self.assertEqual(second.header("x-forwarded-for"), "192.0.2.1")

    def test_case_adjust(self):
        origin = self.origin()
        port = self.proxy(origin, settings="h1-case-adjust host Host", back="option h1-case-adjust-bogus-server")
        with Client(port) as c:
            self.assertEqual(c.get(headers=[("X-A", "1")]).status, 200)
        self.assertIn(b"\r\nHost: test.example\r\nx-a: 1", origin.requests[0].raw)
