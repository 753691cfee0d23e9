# SPDX-License-Identifier: BSD-2-Clause
"""What the process tests stand on: a penstock to start, origins to put behind it, clients and loads.

Everything listens on 127.0.0.1 at ports that were free, ends with the test, and is waited for by an
event (a readiness datagram, an accepted connection, a line that was logged), never by a sleep.
A test file holds unittest.TestCase classes; derive from `Case`, which ends what its tests started.
"""
import contextlib
import os
import pathlib
import queue
import random
import re
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = os.environ.get("PENSTOCK", str(ROOT / "build" / "penstock"))
# sanitizers and valgrind slow everything down: one knob stretches every deadline
PATIENCE = float(os.environ.get("PENSTOCK_TEST_PATIENCE", "1"))


def reference():
    """The `haproxy` package's binary to compare with, or None."""
    return os.environ.get("HAPROXY") or shutil.which("haproxy") or next(
        (p for p in ["/usr/sbin/haproxy"] if os.access(p, os.X_OK)), None)


_ports_given = set()


def free_port(kind=socket.SOCK_STREAM):
    """A port of 127.0.0.1 that nobody uses now and that this process has not given before.

    Below the ephemeral range, so that no outgoing connection of a neighbour test takes it meanwhile.
    """
    rng = random.SystemRandom()
    while True:
        port = rng.randrange(12000, 32000)
        if port in _ports_given:
            continue
        with socket.socket(socket.AF_INET, kind) as s:
            try:
                s.bind(("127.0.0.1", port))
            except OSError:
                continue
        _ports_given.add(port)
        return port


def wait_until(what, condition, seconds=10):
    """Polls for what no event tells (another process's state); fails with `what` when it never comes."""
    end = time.monotonic() + seconds * PATIENCE
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"waited {seconds} s in vain: {what}")
        time.sleep(0.01)


# ------------------------------------------------------------------------------------------------ servers

class Server:
    """A TCP server with a thread per connection; `handler(sock, server)` does the talking."""

    def __init__(self, handler, address=None, backlog=512):
        self.handler = handler
        self.connections = 0
        self.open = set()
        self.lock = threading.Lock()
        if isinstance(address, str):
            self.sock = socket.socket(socket.AF_UNIX)
            self.sock.bind(address)
            self.port = 0
        else:
            self.sock = socket.socket()
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self.sock.bind(("127.0.0.1", address or 0))
            self.port = self.sock.getsockname()[1]
        self.sock.listen(backlog)
        self.closed = False
        self.thread = threading.Thread(target=self._accept, daemon=True)
        self.thread.start()

    def _accept(self):
        while True:
            try:
                conn, _ = self.sock.accept()
            except OSError:
                return
            if self.closed:
                conn.close()
                return
            with self.lock:
                self.connections += 1
                self.open.add(conn)
            threading.Thread(target=self._serve, args=(conn,), daemon=True).start()

    def _serve(self, conn):
        try:
            if conn.family == socket.AF_INET:
                conn.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.handler(conn, self)
        except (OSError, ValueError, EOFError):
            pass
        finally:
            with self.lock:
                self.open.discard(conn)
            with contextlib.suppress(OSError):
                conn.close()

    def close(self):
        if self.closed:
            return
        self.closed = True
        with contextlib.suppress(OSError):
            self.sock.shutdown(socket.SHUT_RDWR)  # wakes the accepting thread
        self.sock.close()
        self.thread.join(5)
        with self.lock:
            left = list(self.open)
        for conn in left:
            with contextlib.suppress(OSError):
                conn.shutdown(socket.SHUT_RDWR)


class Request:
    """A request as an origin saw it."""

    def __init__(self, line, headers, body, raw, connection):
        self.line, self.headers, self.body, self.raw, self.connection = line, headers, body, raw, connection
        self.method, self.target, self.version = (line.split(" ", 2) + ["", ""])[:3]

    def header(self, name):
        """The values of a field, joined; None when it is absent."""
        found = [v for k, v in self.headers if k.lower() == name.lower()]
        return ", ".join(found) if found else None


class Reader:
    """Reads HTTP/1 messages from a socket."""

    def __init__(self, sock):
        self.sock, self.buf = sock, b""

    def fill(self):
        data = self.sock.recv(65536)
        if not data:
            raise EOFError("connection closed")
        self.buf += data

    def line_block(self):
        while b"\r\n\r\n" not in self.buf:
            self.fill()
        head, self.buf = self.buf.split(b"\r\n\r\n", 1)
        return head

    def exactly(self, n):
        while len(self.buf) < n:
            self.fill()
        data, self.buf = self.buf[:n], self.buf[n:]
        return data

    def line(self):
        while b"\r\n" not in self.buf:
            self.fill()
        line, self.buf = self.buf.split(b"\r\n", 1)
        return line

    def chunked(self):
        body = b""
        while True:
            size = int(self.line().split(b";")[0], 16)
            if size == 0:
                while self.line():
                    pass
                return body
            body += self.exactly(size)
            self.exactly(2)

    def to_end(self):
        with contextlib.suppress(EOFError, ConnectionError):
            while True:
                self.fill()
        data, self.buf = self.buf, b""
        return data


def parse_head(head):
    lines = head.decode("latin-1").split("\r\n")
    headers = []
    for line in lines[1:]:
        name, _, value = line.partition(":")
        headers.append((name, value.strip()))
    return lines[0], headers


def get_header(headers, name):
    return next((v for k, v in headers if k.lower() == name.lower()), None)


class Origin(Server):
    """An HTTP/1.1 origin. `answer(request)` gives bytes (a whole response), or (status, headers, body).

    Without one it says 200 with its name in the body and in the field `X-Origin`. All requests are
    kept in `requests`; `count` is their number.
    """

    def __init__(self, name="origin", answer=None, address=None):
        self.name, self.answer = name, answer
        self.requests = []
        self.arrived = queue.Queue()
        super().__init__(Origin._talk, address)

    @property
    def count(self):
        return len(self.requests)

    @staticmethod
    def _talk(sock, self):
        reader = Reader(sock)
        number = self.connections
        while True:
            head = reader.line_block()
            line, headers = parse_head(head)
            if get_header(headers, "expect"):
                sock.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
            if (get_header(headers, "transfer-encoding") or "").lower() == "chunked":
                body = reader.chunked()
            else:
                body = reader.exactly(int(get_header(headers, "content-length") or 0))
            request = Request(line, headers, body, head, number)
            self.requests.append(request)
            self.arrived.put(request)
            out = self.answer(request) if self.answer else (200, [("X-Origin", self.name)], self.name.encode())
            if out is None:
                return
            close = (get_header(headers, "connection") or "").lower() == "close"
            if isinstance(out, tuple):
                out = response(*out, head_only=request.method == "HEAD", close=close)
            sock.sendall(out)
            if close or b"\r\nconnection: close" in out.split(b"\r\n\r\n", 1)[0].lower():
                return


def response(status=200, headers=(), body=b"", head_only=False, close=False):
    """A whole response with Content-Length."""
    text = f"HTTP/1.1 {status} X\r\n" + "".join(f"{k}: {v}\r\n" for k, v in headers)
    text += f"Content-Length: {len(body)}\r\n" + ("Connection: close\r\n" if close else "") + "\r\n"
    return text.encode("latin-1") + (b"" if head_only else body)


class Syslog:
    """Receives syslog datagrams; `next()` waits for a line, `lines` holds all that were given."""

    def __init__(self, path=None):
        if path:
            self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            self.sock.bind(path)
            self.port = 0
        else:
            self.sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self.sock.bind(("127.0.0.1", 0))
            self.port = self.sock.getsockname()[1]
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        self.lines = []

    def next(self, pattern=None, seconds=10):
        """The next line (that matches `pattern`)."""
        end = time.monotonic() + seconds * PATIENCE
        while True:
            self.sock.settimeout(max(0.001, end - time.monotonic()))
            try:
                line = self.sock.recv(65536).decode("latin-1")
            except TimeoutError:
                raise AssertionError(f"no log line matching {pattern!r}; had: {self.lines[-10:]}") from None
            self.lines.append(line)
            if pattern is None or re.search(pattern, line):
                return line

    def drain(self):
        """All that has arrived so far."""
        self.sock.setblocking(False)
        got = []
        with contextlib.suppress(BlockingIOError):
            while True:
                got.append(self.sock.recv(65536).decode("latin-1"))
        self.lines += got
        return got

    def close(self):
        self.sock.close()


# ------------------------------------------------------------------------------------------------ clients

class Response:
    def __init__(self, status, headers, body, head):
        self.status, self.headers, self.body, self.head = status, headers, body, head

    def header(self, name):
        found = [v for k, v in self.headers if k.lower() == name.lower()]
        return ", ".join(found) if found else None


class Client:
    """One client connection that speaks HTTP/1 as written."""

    def __init__(self, port, timeout=10, host="127.0.0.1"):
        if isinstance(port, str):
            self.sock = socket.socket(socket.AF_UNIX)
            self.sock.settimeout(timeout * PATIENCE)
            self.sock.connect(port)
        else:
            self.sock = socket.create_connection((host, port), timeout * PATIENCE)
            self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.reader = Reader(self.sock)

    def send(self, data):
        self.sock.sendall(data.encode("latin-1") if isinstance(data, str) else data)

    def response(self, method="GET", interim=False):
        """Reads one response (1xx ones are skipped unless `interim`)."""
        while True:
            head = self.reader.line_block()
            line, headers = parse_head(head)
            status = int(line.split(" ")[1])
            if status >= 200 or interim or status == 101:
                break
        if method == "HEAD" or status in (204, 304) or status < 200:
            body = b""
        elif (get_header(headers, "transfer-encoding") or "").lower() == "chunked":
            body = self.reader.chunked()
        elif get_header(headers, "content-length") is not None:
            body = self.reader.exactly(int(get_header(headers, "content-length")))
        else:
            body = self.reader.to_end()
        return Response(status, headers, body, head)

    def get(self, path="/", headers=(), method="GET", body=b"", host="test.example"):
        text = f"{method} {path} HTTP/1.1\r\nHost: {host}\r\n" + "".join(f"{k}: {v}\r\n" for k, v in headers)
        if body:
            text += f"Content-Length: {len(body)}\r\n"
        self.send(text.encode("latin-1") + b"\r\n" + body)
        return self.response(method)

    def closed(self, seconds=10):
        """Waits for the peer's end; True when it came without further data."""
        self.sock.settimeout(seconds * PATIENCE)
        try:
            return self.sock.recv(1) == b""
        except ConnectionResetError:
            return True
        except TimeoutError:
            return False

    def close(self):
        self.sock.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def get(port, path="/", headers=(), **kw):
    """One request on a connection of its own."""
    with Client(port) as c:
        return c.get(path, list(headers) + [("Connection", "close")], **kw)


class Load:
    """Clients in threads that ask without a pause until stopped; what failed is kept as text.

    `keep`: one connection for as long as it lasts; a connection closed while idle is opened anew, as
    every client does, and counted in `stale` (an answer that began and broke off is a failure).
    """

    def __init__(self, port, clients=8, keep=True, path="/", expect=200):
        self.port, self.keep, self.path, self.expect = port, keep, path, expect
        self.done, self.stale, self.failures, self.slowest = 0, 0, [], 0.0
        self.lock, self.stopping = threading.Lock(), False
        self.threads = [threading.Thread(target=self._run, daemon=True) for _ in range(clients)]
        for t in self.threads:
            t.start()

    def _run(self):
        client, fresh = None, True
        while not self.stopping:
            began = time.monotonic()
            try:
                if client is None:
                    client, fresh = Client(self.port), True
                r = client.get(self.path, [] if self.keep else [("Connection", "close")])
                if r.status != self.expect:
                    raise ValueError(f"status {r.status}")
            except Exception as e:  # noqa: BLE001: whatever went wrong is the finding
                idle_close = not fresh and client is not None and not client.reader.buf and \
                    isinstance(e, (EOFError, ConnectionResetError, BrokenPipeError))
                with self.lock:
                    if idle_close:
                        self.stale += 1
                    else:
                        self.failures.append(repr(e))
                if client:
                    client.close()
                client = None
                continue
            took = time.monotonic() - began
            with self.lock:
                self.done += 1
                self.slowest = max(self.slowest, took)
            fresh = False
            if not self.keep or (r.header("connection") or "").lower() == "close":
                client.close()
                client = None
        if client:
            client.close()

    def wait_for(self, more, seconds=30):
        """Until so many further requests are answered."""
        want = self.done + more
        wait_until(f"{more} more requests (failures: {self.failures[:3]})", lambda: self.done >= want, seconds)

    def stop(self):
        self.stopping = True
        for t in self.threads:
            t.join(15 * PATIENCE)
        return self


# ------------------------------------------------------------------------------------------------ penstock

def reports_into(folder):
    """Sanitizers write into files there: the standard error of a daemon leads nowhere, and what is no user's may write too."""
    if not os.environ.get("ASAN_OPTIONS"):
        return {}
    reports = pathlib.Path(folder) / "reports"
    reports.mkdir(exist_ok=True)
    reports.chmod(0o1777)
    pathlib.Path(folder).chmod(0o755)
    return {name: f"{os.environ.get(name, '')}:log_path={reports}/report" for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS")}


def look_for_reports(folder, stderr):
    """Raises what sanitizers told, in files or (where those could not be written) on standard error."""
    texts = [stderr, *(f.read_text(errors="replace") for f in sorted(pathlib.Path(folder).glob("reports/*")))]
    for text in texts:
        for mark in ("ERROR: AddressSanitizer", "runtime error:", "ERROR: LeakSanitizer", "Sanitizer: CHECK failed"):
            if mark in text:
                raise AssertionError(text[max(0, text.index(mark) - 200):][:6000])


class Penstock:
    """A running penstock. `config` is its text; @NAME@ words are replaced from the further arguments.

    Started with -Ws by default: readiness and the end of a reload are told by datagrams. With
    `args=["-db"]` readiness is the first accepted connection on `port`.
    """

    def __init__(self, config, args=("-Ws",), binary=None, env=None, folder=None, port=None, wait=True, pass_fds=(), **values):
        self.folder = pathlib.Path(folder or tempfile.mkdtemp(prefix="penstock-test-"))
        self.own_folder = folder is None
        self.file = self.folder / "test.cfg"
        self.values = values
        self.write(config)
        self.args = list(args)
        self.notify = None
        environment = dict(os.environ, **(env or {}), **reports_into(self.folder))
        if "-Ws" in self.args:
            path = str(self.folder / "notify")
            self.notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            self.notify.bind(path)
            environment["NOTIFY_SOCKET"] = path
        self.stderr_path = self.folder / "stderr"
        with open(self.stderr_path, "wb") as err, open(self.folder / "stdout", "wb") as out:
            self.process = subprocess.Popen([binary or BINARY, *self.args, "-f", str(self.file)], stdin=subprocess.DEVNULL,
                                            stdout=out, stderr=err, env=environment, cwd=self.folder, pass_fds=pass_fds)
        self.pid = self.process.pid
        if wait:
            try:
                if self.notify:
                    self.wait_ready()
                elif port:
                    self.wait_port(port)
            except BaseException:
                self.stop()
                raise

    def write(self, config):
        """Replaces the configuration file (for a reload)."""
        for name, value in self.values.items():
            config = config.replace(f"@{name}@", str(value))
        config = config.replace("@DIR@", str(self.folder))
        self.file.write_text(config)

    def wait_ready(self, seconds=20):
        end = time.monotonic() + seconds * PATIENCE
        while True:
            ready, _, _ = select.select([self.notify], [], [], 0.05)
            if ready and b"READY=1" in self.notify.recv(4096):
                return
            if self.process.poll() is not None:
                raise AssertionError(f"penstock ended with {self.process.returncode}: {self.stderr()}")
            if time.monotonic() > end:
                raise AssertionError(f"no READY=1 within {seconds} s: {self.stderr()}")

    def wait_port(self, port, seconds=10):
        def answers():
            if self.process.poll() is not None:
                raise AssertionError(f"penstock ended with {self.process.returncode}: {self.stderr()}")
            with socket.socket() as s:
                return s.connect_ex(("127.0.0.1", port)) == 0
        wait_until(f"port {port} answers: {self.stderr()}", answers, seconds)

    def stderr(self):
        return self.stderr_path.read_text(errors="replace")

    def stdout(self):
        return (self.folder / "stdout").read_text(errors="replace")

    def children(self):
        """Process ids of all descendants."""
        found, todo = [], [self.pid]
        while todo:
            pid = todo.pop()
            try:
                kids = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
            except OSError:
                continue
            found += map(int, kids)
            todo += map(int, kids)
        return found

    def reload(self, config=None, seconds=30):
        """SIGUSR2, then the second READY=1."""
        if config is not None:
            self.write(config)
        self.process.send_signal(signal.SIGUSR2)
        self.wait_ready(seconds)

    def cli(self, command, path=None, timeout=10):
        """One command on the runtime socket (`stats socket @DIR@/sock …` unless told otherwise)."""
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(timeout * PATIENCE)
            s.connect(path or str(self.folder / "sock"))
            s.sendall(command.encode() + b"\n")
            s.shutdown(socket.SHUT_WR)
            return Reader(s).to_end().decode("latin-1")

    def stat(self):
        """`show stat` as {(proxy, service): {field: value}}."""
        lines = self.cli("show stat").strip().splitlines()
        names = lines[0].lstrip("# ").rstrip(",").split(",")
        rows = [dict(zip(names, line.split(","))) for line in lines[1:] if line]
        return {(r["pxname"], r["svname"]): r for r in rows}

    def info(self):
        return dict(line.split(": ", 1) for line in self.cli("show info").splitlines() if ": " in line)

    def stop(self, sig=signal.SIGTERM, seconds=15):
        """Ends it; returns the exit status. One that does not end on the signal fails the test."""
        if self.process.poll() is None:
            self.process.send_signal(sig)
            try:
                self.process.wait(seconds * PATIENCE)
            except subprocess.TimeoutExpired:
                for pid in self.children():
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
                self.process.kill()
                self.process.wait()
                raise AssertionError(f"penstock did not end on signal {sig}: {self.stderr()}") from None
        if self.notify:
            self.notify.close()
            self.notify = None
        self.look_for_reports()
        return self.process.returncode

    def look_for_reports(self):
        """What sanitizers found in any of its processes fails the test, whatever else went well."""
        look_for_reports(self.folder, self.stderr())

    def clean(self):
        if self.own_folder:
            shutil.rmtree(self.folder, ignore_errors=True)


def run(*args, config=None, env=None, timeout=30, binary=None):
    """Runs the binary to its end; gives (status, stdout, stderr). `config` becomes the -f file."""
    with tempfile.TemporaryDirectory(prefix="penstock-test-") as folder:
        argv = [binary or BINARY, *args]
        if config is not None:
            path = pathlib.Path(folder) / "test.cfg"
            path.write_text(config)
            argv += ["-f", str(path)]
        p = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout * PATIENCE,
                           env=dict(os.environ, **(env or {}), **reports_into(folder)), cwd=folder)
        look_for_reports(folder, p.stderr.decode("latin-1"))
        return p.returncode, p.stdout.decode("latin-1"), p.stderr.decode("latin-1")


class Case(unittest.TestCase):
    """Ends servers, clients and penstocks in the reverse order of their making."""

    def use(self, thing):
        """Registers something with close() or stop()."""
        self.addCleanup(getattr(thing, "close", None) or thing.stop)
        return thing

    def origin(self, *a, **k):
        return self.use(Origin(*a, **k))

    def server(self, handler, **k):
        return self.use(Server(handler, **k))

    def syslog(self, *a, **k):
        return self.use(Syslog(*a, **k))

    def load(self, *a, **k):
        return self.use(Load(*a, **k))

    def client(self, *a, **k):
        return self.use(Client(*a, **k))

    def penstock(self, config, **k):
        p = Penstock(config, **k)
        self.addCleanup(p.clean)
        self.addCleanup(p.stop)
        return p


def main():
    unittest.main(verbosity=2)
