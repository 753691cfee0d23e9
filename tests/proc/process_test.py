# SPDX-License-Identifier: BSD-2-Clause
"""Starting, stopping, dying: exit statuses, pid files, readiness, crashes, the command line."""
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from penstock_test import BINARY, PATIENCE, Case, free_port, get, main, run, wait_until  # noqa: E402

CONFIG = """
global
  nbthread @WORKERS@
defaults
  mode http
  timeout client 10s
  timeout server 10s
  timeout connect 5s
frontend f
  bind 127.0.0.1:@PORT@
  default_backend b
backend b
  server s 127.0.0.1:@ORIGIN@
"""


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def master_cli(p, command):
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(20 * PATIENCE)
        s.connect(str(p.folder / "master"))
        s.sendall(command.encode() + b"\n")
        out = b""
        while data := s.recv(65536):
            out += data
        return out.decode()


class Process(Case):
    def start(self, args=("-db",), workers=2, config=CONFIG, **k):
        self.port, self.backend = free_port(), self.origin()
        return self.penstock(config, args=list(args), port=self.port, WORKERS=workers, PORT=self.port, ORIGIN=self.backend.port, **k)

    # ------------------------------------------------------------------------------------------ stopping
    def test_stop_statuses(self):
        wanted = {
            ("-W", signal.SIGINT): 130, ("-W", signal.SIGTERM): 143, ("-W", signal.SIGUSR1): 0, ("-Ws", signal.SIGTERM): 143,
            ("-db", signal.SIGINT): -signal.SIGINT, ("-db", signal.SIGTERM): -signal.SIGTERM, ("-db", signal.SIGUSR1): 0,
        }
        for (mode, sig), status in wanted.items():
            with self.subTest(mode=mode, signal=sig.name):
                p = self.start([mode])
                children = p.children()
                self.assertGreaterEqual(len(children), 3)  # control and two workers
                self.assertEqual(p.stop(sig), status)
                self.assertEqual([c for c in children if alive(c)], [])

    def test_soft_stop_finishes_what_is_under_way(self):
        self.start()  # only for the origin's port
        p = self.start(["-W"])
        c = self.client(self.port)
        c.get()
        c.send(b"POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n12")
        time.sleep(0.1)
        p.process.send_signal(signal.SIGUSR1)

        def refused():
            with socket.socket() as s:
                s.settimeout(0.1)
                return s.connect_ex(("127.0.0.1", self.port)) not in (0, 11)
        wait_until("new connections are refused", refused, 5)
        c.send(b"345")
        self.assertEqual(c.response().status, 200)
        c.close()
        self.assertEqual(p.process.wait(10), 0)

    def test_standard_streams_are_closed_at_the_end(self):
        p = subprocess.Popen([BINARY, "-W", "-f", self.write_config()], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        wait_until("it serves", lambda: connects(self.port))
        p.send_signal(signal.SIGTERM)
        p.communicate(timeout=10 * PATIENCE)  # ends only when every descendant has closed them
        self.assertEqual(p.returncode, 143)

    def write_config(self, **more):
        self.port = free_port()
        origin = self.origin()
        path = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / "t.cfg"
        values = dict(WORKERS=2, PORT=self.port, ORIGIN=origin.port, **more)
        text = CONFIG
        for k, v in values.items():
            text = text.replace(f"@{k}@", str(v))
        path.write_text(text)
        self.folder = path.parent
        return str(path)

    def test_interrupt_works_where_it_was_ignored(self):
        old = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            p = self.start(["-W"])
        finally:
            signal.signal(signal.SIGINT, old)
        self.assertEqual(p.stop(signal.SIGINT), 130)

    # ------------------------------------------------------------------------------------------ starting
    def test_daemon_returns_when_it_serves(self):
        config = self.write_config()
        pidfile = self.folder / "pid"
        r = subprocess.run([BINARY, "-D", "-f", config, "-p", pidfile], stdin=subprocess.DEVNULL, capture_output=True, timeout=20 * PATIENCE)
        self.assertEqual((r.returncode, r.stderr), (0, b""))
        pid = int(pidfile.read_text())
        try:
            self.assertEqual(get(self.port).status, 200)
            self.assertNotEqual(os.getsid(pid), os.getsid(0))
        finally:
            os.kill(pid, signal.SIGTERM)
        wait_until("it ends", lambda: not alive(pid))

    def test_daemon_tells_why_it_does_not_start(self):
        config = self.write_config()
        with socket.socket() as taken:
            taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            taken.bind(("127.0.0.1", self.port))
            taken.listen()
            for mode in ("-D", "-db", "-W"):
                r = subprocess.run([BINARY, mode, "-f", config], stdin=subprocess.DEVNULL, capture_output=True, timeout=20 * PATIENCE)
                self.assertEqual(r.returncode, 1)
                self.assertRegex(r.stderr.decode(), rf"cannot bind socket \(Address already in use\) for \[127.0.0.1:{self.port}\]")

    def test_successor_takes_over(self):
        """-D -sf: the old service hands its sockets over; no request fails on the way."""
        config = self.write_config()
        pidfile = self.folder / "pid"
        load = None
        pids = []
        try:
            for _ in range(4):
                args = [BINARY, "-D", "-f", config, "-p", pidfile, "-sf", *map(str, pids[-1:])]
                r = subprocess.run(args, stdin=subprocess.DEVNULL, capture_output=True, timeout=20 * PATIENCE)
                self.assertEqual(r.returncode, 0, r.stderr)
                pids.append(int(pidfile.read_text()))
                load = load or self.load(self.port, clients=4, keep=False)
                load.wait_for(30)
            wait_until("only the last one lives", lambda: not any(alive(p) for p in pids[:-1]))
            load.wait_for(30)
            load.stop()
            self.assertEqual(load.failures, [])
        finally:
            if alive(pids[-1]):
                os.kill(pids[-1], signal.SIGTERM)
        wait_until("it ends", lambda: not alive(pids[-1]))

    def test_readiness_is_told(self):
        p = self.start(["-Ws"], wait=False)
        p.notify.settimeout(10 * PATIENCE)
        first = p.notify.recv(4096).decode()
        self.assertRegex(first, rf"READY=1\n(.*\n)*MAINPID={p.pid}\n(.*\n)*STATUS=")
        p.process.send_signal(signal.SIGUSR2)
        self.assertRegex(p.notify.recv(4096).decode(), r"RELOADING=1\nMONOTONIC_USEC=\d+\n")
        self.assertIn("READY=1", p.notify.recv(4096).decode())
        p.process.send_signal(signal.SIGTERM)
        self.assertIn("STOPPING=1", p.notify.recv(4096).decode())
        p.process.wait(10)

    def test_nothing_is_told_without_ws(self):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
            path = f"/tmp/penstock-test-notify-{os.getpid()}"
            s.bind(path)
            self.addCleanup(os.unlink, path)
            s.setblocking(False)
            p = self.start(["-W"], env={"NOTIFY_SOCKET": path})
            p.stop()
            with self.assertRaises(BlockingIOError):
                s.recv(1)

    def test_pid_file_of_the_master(self):
        p = self.start(["-W", "-p", "pid"])
        self.assertEqual((p.folder / "pid").read_text(), f"{p.pid}\n")

    # ------------------------------------------------------------------------------------------ crashes
    def test_killed_worker_is_replaced(self):
        p = self.start(["-W", "-S", "unix@master"], workers=3)

        def workers():
            return [int(line.split()[0]) for line in master_cli(p, "show proc").splitlines() if re.match(r"\d+ +worker", line)]
        before = workers()
        load = self.load(self.port, clients=6, keep=False)
        for _ in range(3):
            victim = workers()[0]
            os.kill(victim, signal.SIGKILL)
            wait_until("another in its place", lambda: victim not in workers() and len(workers()) == 3)
            load.wait_for(50)
        load.stop()
        # what the victim held is lost, nothing else
        self.assertLessEqual(len(load.failures), 18)
        self.assertGreater(load.done, 150)
        self.assertRegex(p.stderr(), rf"worker 0 \({before[0]}\) was killed by SIGKILL")
        load = self.load(self.port, clients=6, keep=False)
        load.wait_for(200)
        load.stop()
        self.assertEqual(load.failures, [])

    def test_fatal_signal_is_told_by_the_master_and_hidden_from_no_sanitizer(self):
        p = self.start(["-W"], workers=1)
        self.assertEqual(get(self.port).status, 200)
        control, worker = p.children()
        os.kill(worker, signal.SIGSEGV)
        wait_until("another in its place", lambda: worker not in p.children() and len(p.children()) == 2)
        wait_until("it serves again", lambda: get(self.port).status == 200)
        if not os.environ.get("ASAN_OPTIONS"):
            self.assertRegex(p.stderr(), rf"worker 0 \({worker}\) was killed by SIGSEGV")
            return
        with self.assertRaisesRegex(AssertionError, "AddressSanitizer"):
            p.look_for_reports()
        shutil.rmtree(p.folder / "reports")  # seen

    def test_killed_control_is_replaced(self):
        p = self.start(["-W", "-S", "unix@master"])

        def control():
            found = re.findall(r"(?m)^(\d+) +control", master_cli(p, "show proc debug"))
            return int(found[0]) if found else None
        victim = control()
        os.kill(victim, signal.SIGKILL)
        wait_until("another control", lambda: control() not in (None, victim))
        self.assertEqual(get(self.port).status, 200)

    def test_killed_master_leaves_nobody_behind(self):
        p = self.start(["-W"])
        c = self.client(self.port)
        self.assertEqual(c.get().status, 200)
        children = p.children()
        p.process.kill()
        p.process.wait()
        c.close()
        wait_until("workers stop softly", lambda: not any(alive(k) for k in children), 10)

    # ------------------------------------------------------------------------------------------ command line
    def test_listings_and_mistakes(self):
        status, out, _ = run("-v")
        self.assertEqual(status, 0)
        self.assertRegex(out, r"(?m)^penstock version \d")
        self.assertRegex(out, r"(?m)^Configuration language: HAProxy 3\.5$")
        status, out, _ = run("-vv")
        self.assertEqual(status, 0)
        self.assertRegex(out, r"(?m)^  TARGET  = linux-glibc$")
        self.assertRegex(out, r"(?m)^Feature list : .*\+PCRE2 ")
        for wrong in (["-zz"], ["-f"], [], ["-c"], ["-n", "many", "-f", "x"]):
            status, out, err = run(*wrong)
            self.assertEqual(status, 1, wrong)
            self.assertIn("Usage", err)

    def test_conditions(self):
        for expression, status in (("1", 0), ("0", 1), ("", 1), ("streq(a,a)", 0), ("foo(", 2), ("version_atleast(3.5)", 0),
                                   ("feature(QUIC)", 1), ("enabled(SPLICE)", 0), ("1 )", 2)):
            self.assertEqual(run("-cc", expression)[0], status, expression)
        self.assertEqual(run("-dS", "-cc", "enabled(SPLICE)")[0], 1)

    def test_check(self):
        good = "defaults\n  mode http\n  timeout client 1s\n  timeout server 1s\n  timeout connect 1s\nbackend b\n  server s 127.0.0.1:1\n"
        status, out, err = run("-c", config=good)
        self.assertEqual((status, out, err), (0, "Configuration file is valid\n", ""))
        self.assertEqual(run("-c", "-q", config=good)[:2], (0, ""))
        status, out, err = run("-c", config=good + "  nonsense\n")
        self.assertEqual((status, out), (1, ""))
        self.assertIn("nonsense", err)
        self.assertEqual(run("-db", config=good)[0], 2)  # valid, and nothing to do
        self.assertEqual(run("-c", "-C", "/nonexistent", config=good)[0], 1)
        # options that change nothing about the outcome
        for option in ("-V", "-D", "-W", "-Ws", "-db", "-d", "-dM", "-dM0x55,no-merge", "-dI", "-dD", "-dr", "-dS", "-dF", "-dG", "-dR",
                       "-dV", "-dZ", "-de", "-dp", "-dk", "-dt", "-4"):
            self.assertEqual(run(option, "-c", config=good)[0], 0, option)
        for option in (["-n", "100"], ["-N", "10"], ["-m", "512"], ["-L", "me"], ["-p", "/tmp/x"], ["-sf", "1", "2"], ["-st"], ["-x", "/none"]):
            self.assertEqual(run(*option, "-c", config=good)[0], 0, option)

    def test_warnings_are_fatal_on_demand(self):
        warned = "defaults\n  mode http\nfrontend f\n  bind 127.0.0.1:1\n"  # no timeouts
        status, _, err = run("-c", config=warned)
        self.assertEqual(status, 0)
        if "WARNING" in err:
            self.assertEqual(run("-c", "-dW", config=warned)[0], 1)

    # ------------------------------------------------------------------------------------------ master socket
    def test_master_socket(self):
        p = self.start(["-W", "-S", "unix@master"])
        self.assertRegex(master_cli(p, "show proc"), rf"(?m)^{p.pid} +master +0 \[failed: 0\] +0d00h00m\d\ds +\d")
        self.assertRegex(master_cli(p, "show version; show proc"), r"(?s)^\d+\.\d.*#<PID>")
        self.assertIn("Loading success", master_cli(p, "show startup-logs"))
        self.assertIn("Unknown command", master_cli(p, "show nonsense"))
        self.assertIn("Can't find the target PID", master_cli(p, "@!1 show info"))
        self.assertIn("Permission denied", master_cli(p, "user; reload"))
        self.assertIn("reload", master_cli(p, "help"))
        self.assertRegex(master_cli(p, "@master show version"), r"^\d")

    def test_master_socket_reaches_the_processes_by_number_and_by_pid(self):
        p = self.start(["-W", "-S", "unix@master"])
        old = re.search(r"(?m)^(\d+) +worker", master_cli(p, "show proc"))[1]
        for name in ("@1", f"@!{old}"):
            self.assertRegex(master_cli(p, f"{name} show info"), r"(?m)^Name: penstock$")
        answer = master_cli(p, "@1; show info; @master; show proc")
        self.assertRegex(answer, r"(?s)Name: penstock.*#<PID>")
        # a reload leaves the old one reachable by its pid as long as it lives
        self.assertIn("Can't find the target", master_cli(p, "@!999999 show info"))
        self.assertIn("Can't find the target", master_cli(p, "@7 show info"))

    def test_hangup_dumps_states_without_a_master(self):
        log = self.syslog()
        text = f"""
global
    log 127.0.0.1:{log.port} local0
defaults
    mode http
    log global
    timeout client 5s
    timeout server 5s
    timeout connect 1s
listen be
    bind 127.0.0.1:{free_port()}
    server a 127.0.0.1:{free_port()}
    server b 127.0.0.1:{free_port()} disabled
listen spare
    bind 127.0.0.1:{free_port()}
    server a 127.0.0.1:{free_port()} backup
frontend fe
    bind 127.0.0.1:@PORT@
"""
        port = free_port()
        p = self.penstock(text, args=("-db",), port=port, PORT=port)
        p.process.send_signal(signal.SIGHUP)
        for line in (r"<133>.*SIGHUP received, dumping servers states for proxy be\.", r"SIGHUP: Server be/a is UP\. Conn: 0 act, 0 pend, 0 tot\.",
                     r"SIGHUP: Server be/b is DOWN\. Conn: 0 act", r"SIGHUP: Proxy be has 1 active servers and 0 backup servers available\. Conn: act\(FE\+BE\): 0\+0, 0 pend \(0 unass\), tot\(FE\+BE\): 0\+0\.",
                     r"SIGHUP: Proxy spare is running on backup servers ! Conn:", r"SIGHUP: Proxy fe has no servers\. Conn:"):
            log.next(line)
        self.assertNotIn("Reloading", p.stderr())

    def test_master_socket_conversation(self):
        p = self.start(["-W", "-S", "unix@master"])
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(10 * PATIENCE)
            s.connect(str(p.folder / "master"))
            s.sendall(b"prompt\n")
            self.assertIn(b"master> ", s.recv(4096))
            s.sendall(b"show version\n")
            self.assertIn(b"master> ", s.recv(4096))
            s.sendall(b"quit\n")
            while s.recv(4096):
                pass

    def test_limits(self):
        """maxconn sets the descriptor limit."""
        p = self.start(["-W"], config=CONFIG.replace("global\n", "global\n  maxconn 3000\n"))
        limits = pathlib.Path(f"/proc/{p.pid}/limits").read_text()
        self.assertGreaterEqual(int(re.search(r"Max open files +(\d+)", limits)[1]), 6000)


def connects(port):
    with socket.socket() as s:
        return s.connect_ex(("127.0.0.1", port)) == 0


if __name__ == "__main__":
    main()
