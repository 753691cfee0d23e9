# SPDX-License-Identifier: BSD-2-Clause
"""Mode tcp from end to end: both directions, half-close, back-pressure, time limits, PROXY headers, UNIX sockets."""
import os
import pathlib
import socket
import time

from penstock_test import PATIENCE, Case, free_port, main, wait_until

BASE = """
global
    log 127.0.0.1:@LOG@ local0
    nbthread 1
defaults
    mode tcp
    log global
    option tcplog
    retries 0
    timeout connect 2s
    timeout client 5s
    timeout server 5s
"""


def connect(port):
    s = socket.create_connection(("127.0.0.1", port), timeout=10 * PATIENCE)
    return s


def read_all(s):
    parts = []  # adding to one text copies all of it each time: of many megabytes so slowly that the proxy gives us up
    while more := s.recv(1 << 20):
        parts.append(more)
    return b"".join(parts)


class TcpCase(Case):
    def proxy(self, lines, server=None, options="", bind=""):
        self.log = self.syslog()
        self.port = free_port()
        address = server if isinstance(server, str) else f"127.0.0.1:{server.port if server else free_port()}"
        self.p = self.penstock(BASE + f"""
listen p
    bind 127.0.0.1:{self.port} {bind}
{lines}
    server s1 {address} {options}
""", LOG=self.log.port)
        return self.port

    def state(self):
        line = self.log.next(r" p/")
        return line.split(" p/")[1].split()[3]

    def cpu(self):
        """Seconds that all its processes have used."""
        total = 0
        for pid in [self.p.pid, *self.p.children()]:
            fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
            total += int(fields[11]) + int(fields[12])
        return total / os.sysconf("SC_CLK_TCK")


class Relay(TcpCase):
    def test_half_close_in_both_orders(self):
        def shout(sock, _):
            sock.sendall(read_all(sock).upper())
        s = connect(self.proxy("", self.server(shout)))
        s.sendall(b"hello")
        s.shutdown(socket.SHUT_WR)
        self.assertEqual(read_all(s), b"HELLO")
        self.assertEqual(self.state(), "--")

        heard = []

        def close_first(sock, _):
            sock.sendall(b"bye")
            sock.shutdown(socket.SHUT_WR)
            heard.append(read_all(sock))
        s = connect(self.proxy("", self.server(close_first)))
        self.assertEqual(read_all(s), b"bye")
        s.sendall(b"still here")
        s.close()
        wait_until("the server hears the rest", lambda: heard == [b"still here"])

    def test_many_megabytes_both_ways(self):
        blob = os.urandom(1 << 20) * 20

        def echo(sock, _):
            while data := sock.recv(65536):
                sock.sendall(data)
        s = connect(self.proxy("", self.server(echo)))
        import threading
        t = threading.Thread(target=lambda: (s.sendall(blob), s.shutdown(socket.SHUT_WR)))
        t.start()
        self.assertTrue(read_all(s) == blob)
        t.join()

    def test_a_blocked_reader_costs_no_cpu(self):
        def flood(sock, _):
            try:
                while True:
                    sock.sendall(b"x" * 65536)
            except OSError:
                pass
        s = connect(self.proxy("", self.server(flood)))
        s.recv(1)
        time.sleep(0.5)
        before = self.cpu()
        time.sleep(1)
        self.assertLess(self.cpu() - before, 0.1)
        s.close()

    def test_the_server_refuses(self):
        s = connect(self.proxy(""))
        self.assertEqual(s.recv(1), b"")
        self.assertEqual(self.state(), "SC")

    def test_idle_clients_are_closed(self):
        s = connect(self.proxy("    timeout client 300", self.server(lambda k, _: k.recv(1))))
        self.assertEqual(s.recv(1), b"")
        self.assertEqual(self.state(), "cD")

    def test_idle_servers_are_closed(self):
        s = connect(self.proxy("    timeout server 300", self.server(lambda k, _: k.recv(1))))
        self.assertEqual(s.recv(1), b"")
        self.assertEqual(self.state(), "sD")

    def test_unix_server(self):
        path = "/tmp/penstock-test-%d.sock" % os.getpid()
        self.addCleanup(lambda: os.path.exists(path) and os.unlink(path))
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(path)
        listener.listen()
        self.addCleanup(listener.close)
        s = connect(self.proxy("", f"unix@{path}"))
        s.sendall(b"x")
        peer, _ = listener.accept()
        self.assertEqual(peer.recv(1), b"x")
        peer.close()


class Proxy(TcpCase):
    def test_send_proxy(self):
        got = []

        def handler(sock, _):
            got.append(sock.recv(1000))
        s = connect(self.proxy("", self.server(handler), "send-proxy"))
        s.sendall(b"data")
        self.assertEqual(s.recv(1), b"")
        mine = s.getsockname()
        self.assertEqual(got[0].split(b"\r\n")[0], b"PROXY TCP4 127.0.0.1 127.0.0.1 %d %d" % (mine[1], self.port))

    def test_accept_proxy_gives_the_address_to_send_proxy_v2(self):
        got = []

        def handler(sock, _):
            got.append(sock.recv(1000))
        s = connect(self.proxy("", self.server(handler), "send-proxy-v2", "accept-proxy"))
        s.sendall(b"PROXY TCP4 192.0.2.7 192.0.2.8 1234 80\r\nrest")
        self.assertEqual(s.recv(1), b"")
        self.assertEqual(got[0][:28], b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c" + bytes([192, 0, 2, 7, 192, 0, 2, 8]) + b"\x04\xd2\0\x50")

    def test_a_bad_header_is_refused(self):
        s = connect(self.proxy("", self.server(lambda k, _: None), bind="accept-proxy"))
        s.sendall(b"GET / HTTP/1.1\r\n\r\n")
        try:
            self.assertEqual(s.recv(1), b"")
        except ConnectionResetError:
            pass


if __name__ == "__main__":
    main()
