# SPDX-License-Identifier: BSD-2-Clause
"""Balancing through the real binary: exact over workers, hashing and cookies as the reference does, one queue for the host."""
import collections
import os
import pathlib
import socket
import subprocess
import tempfile
import threading
import time

from penstock_test import Case, Client, free_port, get, main, reference, wait_until

BASE = """
global
    stats socket @DIR@/sock mode 600 level admin
    nbthread @N@
defaults
    mode http
    timeout connect 5s
    timeout client 30s
    timeout server 30s
    timeout queue 20s
"""


class FarmCase(Case):
    def farm(self, settings, weights, extra=lambda n: "", answer=None):
        """A listen section over origins s1, s2, … (weight each) that answer with their names; its port and text."""
        port = free_port()
        text = f"listen app\n    bind 127.0.0.1:{port}\n    {settings}\n"
        for i, weight in enumerate(weights):
            name = f"s{i + 1}"
            origin = self.origin(name, answer=answer and (lambda request, name=name: answer(request, name)))
            text += f"    server {name} 127.0.0.1:{origin.port} weight {weight} {extra(name)}\n"
        return port, text


class Reference:
    """The reference binary on the same text."""

    def __init__(self, text, port):
        self.folder = tempfile.TemporaryDirectory(prefix="penstock-test-")
        path = pathlib.Path(self.folder.name) / "ref.cfg"
        path.write_text(text.replace("@N@", "1").replace("@DIR@", self.folder.name))
        self.process = subprocess.Popen([reference(), "-db", "-f", str(path)], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        def answers():
            with socket.socket() as s:
                return s.connect_ex(("127.0.0.1", port)) == 0
        wait_until("the reference answers", answers)

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.folder.cleanup()


class Exact(FarmCase):
    def test_round_robin_over_two_workers(self):
        port, text = self.farm("balance roundrobin", [1, 1, 1, 1])
        self.penstock(BASE + text, N=2)
        served, lock = collections.Counter(), threading.Lock()

        def ask():
            mine = collections.Counter()
            for _ in range(20):
                with Client(port) as c:
                    for _ in range(25):
                        mine[c.get("/").body] += 1
            with lock:
                served.update(mine)
        threads = [threading.Thread(target=ask) for _ in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(served, {f"s{i}".encode(): 1000 for i in range(1, 5)})

    def test_statistics_agree(self):
        port, text = self.farm("balance static-rr", [1, 2, 5])
        p = self.penstock(BASE + text, N=2)
        for _ in range(8):
            with Client(port) as c:
                for _ in range(10):
                    c.get("/")
        stat = p.stat()
        self.assertEqual([int(stat["app", f"s{i}"]["stot"]) for i in (1, 2, 3)], [10, 20, 50])
        self.assertEqual(int(stat["app", "BACKEND"]["stot"]), 80)


class Hashing(FarmCase):
    KEYS = [f"/p{i}/q{i % 3}?id={i * i}" for i in range(30)] + ["/", "/index.html", "/a/b/c/d?x=1", "/img/x.png?id=5"]

    def same_as_reference(self, settings, ask):
        if not reference():
            self.skipTest("no haproxy to compare with")
        port, text = self.farm(settings, [3, 4, 7])
        text = BASE + text
        other = Reference(text, port)
        try:
            want = ask(port)
        finally:
            other.stop()
        self.penstock(text, N=2)
        self.assertEqual(ask(port), want)

    def by_path(self, port):
        with Client(port) as c:
            return [c.get(k).body for k in self.KEYS]

    @staticmethod
    def by_source(port):
        out = []
        for i in range(40):
            with socket.socket() as s:
                s.bind((f"127.0.{i % 4}.{i + 1}", 0))
                s.connect(("127.0.0.1", port))
                s.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                data = b""
                while more := s.recv(65536):
                    data += more
                out.append(data[-2:])
        return out

    def test_uri(self):
        self.same_as_reference("balance uri", self.by_path)

    def test_uri_whole_depth(self):
        self.same_as_reference("balance uri whole depth 2", self.by_path)

    def test_uri_consistent(self):
        self.same_as_reference("balance uri\n    hash-type consistent", self.by_path)

    def test_uri_djb2_avalanche(self):
        self.same_as_reference("balance uri\n    hash-type map-based djb2 avalanche", self.by_path)

    def test_uri_consistent_djb2(self):
        self.same_as_reference("balance uri\n    hash-type consistent djb2", self.by_path)

    def test_hash_expression(self):
        self.same_as_reference("balance hash path\n    hash-type consistent crc32", self.by_path)

    def test_source(self):
        self.same_as_reference("balance source", self.by_source)

    def test_source_consistent(self):
        self.same_as_reference("balance source\n    hash-type consistent", self.by_source)

    def test_header(self):
        def by_host(port):
            with Client(port) as c:
                return [c.get("/", host=f"h{i}.d{i * 7}.example").body for i in range(40)]
        self.same_as_reference("balance hdr(host) use_domain_only", by_host)


class Cookies(FarmCase):
    EXCHANGES = [[], ["Cookie: SRV=S2"], ["Cookie: SRV=BAD"], ["Cookie: a=1; SRV=S2; b=2"], ["Cookie: SRV=S2~orig; x=y"]]

    def same_as_reference(self, cookie):
        if not reference():
            self.skipTest("no haproxy to compare with")
        def answer(request, name):
            return 200, [("X-Cookie", str(request.header("cookie")))], name.encode()
        port, text = self.farm(f"balance roundrobin\n    {cookie}", [1, 1], lambda n: "" if "dynamic" in cookie else f"cookie {n.upper()}", answer)
        text = BASE + text

        def exchanges():
            out = []
            for headers in self.EXCHANGES:
                r = get(port, "/", headers=[tuple(h.split(": ", 1)) for h in headers])
                out.append((r.body, r.header("set-cookie"), r.header("cache-control"), r.header("x-cookie")))
            return out
        other = Reference(text, port)
        try:
            want = exchanges()
        finally:
            other.stop()
        self.penstock(text, N=1)
        self.assertEqual(exchanges(), want)

    def test_insert(self):
        self.same_as_reference("cookie SRV insert")

    def test_insert_indirect_nocache(self):
        self.same_as_reference("cookie SRV insert indirect nocache httponly secure domain .x.org attr SameSite=Lax")

    def test_prefix(self):
        self.same_as_reference("cookie SRV prefix")

    def test_rewrite(self):
        self.same_as_reference("cookie SRV rewrite")

    def test_dynamic(self):
        self.same_as_reference("cookie SRV insert dynamic\n    dynamic-cookie-key secret")


class Queue(Case):
    def test_maxconn_holds_for_the_host_and_order_is_kept(self):
        """One slot, twelve clients over four workers: never two at once, served in the order of arrival."""
        gate = threading.Semaphore(0)
        seen, busy, worst = [], [0], [0]
        lock = threading.Lock()

        def serve(sock, _):
            while True:
                data = b""
                while b"\r\n\r\n" not in data:
                    more = sock.recv(65536)
                    if not more:
                        return
                    data += more
                with lock:
                    busy[0] += 1
                    worst[0] = max(worst[0], busy[0])
                    seen.append(data.split(b" ")[1])
                gate.acquire()
                with lock:
                    busy[0] -= 1
                sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        origin = self.server(serve)
        port = free_port()
        p = self.penstock(BASE + f"listen app\n    bind 127.0.0.1:{port}\n    server s1 127.0.0.1:{origin.port} maxconn 1\n", N=4)
        clients = []
        for i in range(12):
            c = self.client(port)
            c.send(f"GET /{i} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            clients.append(c)
            # in line before the next one comes
            wait_until(f"request {i} waits", lambda: len(seen) == 1 and int(p.stat()["app", "BACKEND"]["qcur"]) == i)
        for i, c in enumerate(clients):
            gate.release()
            self.assertEqual(c.response().status, 200)
        self.assertEqual(worst[0], 1)
        self.assertEqual(seen, [f"/{i}".encode() for i in range(12)])
        wait_until("nothing is left at the server", lambda: p.stat()["app", "s1"]["scur"] == "0")

    def test_a_killed_worker_gives_its_slots_back(self):
        hold = threading.Event()

        def serve(sock, _):
            if sock.recv(65536):
                hold.wait(20)
                sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
                sock.recv(1)
        origin = self.server(serve)
        port = free_port()
        p = self.penstock(BASE + f"listen app\n    bind 127.0.0.1:{port}\n    server s1 127.0.0.1:{origin.port} maxconn 4\n", N=1)
        for _ in range(4):
            self.client(port).send(b"GET /held HTTP/1.1\r\nHost: x\r\n\r\n")
        wait_until("all slots are taken", lambda: origin.connections == 4)
        workers = [pid for pid in p.children() if self.socket_inodes(port) & self.inodes_of(pid)]
        for pid in workers:
            os.kill(pid, 9)
        hold.set()
        wait_until("another worker serves", lambda: self.served(port), 15)

    @staticmethod
    def socket_inodes(port):
        """Established connections of the port, by inode: a worker is who has accepted them."""
        return {line.split()[9] for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]
                if line.split()[1].endswith(f":{port:04X}") and line.split()[3] == "01"}

    @staticmethod
    def inodes_of(pid):
        out = set()
        for fd in pathlib.Path(f"/proc/{pid}/fd").iterdir():
            try:
                target = os.readlink(fd)
            except OSError:
                continue
            if target.startswith("socket:["):
                out.add(target[8:-1])
        return out

    @staticmethod
    def served(port):
        try:
            return get(port, "/after").status == 200
        except (OSError, EOFError, ValueError, IndexError):
            return False


if __name__ == "__main__":
    main()
