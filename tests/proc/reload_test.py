# SPDX-License-Identifier: BSD-2-Clause
"""Reloads: nothing is lost, whatever changes; a bad configuration changes nothing."""
import os
import pathlib
import shutil
import signal
import socket
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from penstock_test import BINARY, Case, Client, free_port, get, main, wait_until  # noqa: E402

CONFIG = """
global
  nbthread @WORKERS@
  stats socket @DIR@/sock level admin
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


def master_cli(path, command, timeout=40):
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(timeout)
        s.connect(path)
        s.sendall(command.encode() + b"\n")
        out = b""
        while True:
            data = s.recv(65536)
            if not data:
                return out.decode()
            out += data


def workers_of(p):
    """Pids of the workers of `show proc`, current and old."""
    current, old, into = [], [], None
    for line in master_cli(str(p.folder / "master"), "show proc").splitlines():
        if line == "# workers":
            into = current
        elif line == "# old workers":
            into = old
        elif line[:1].isdigit() and into is not None:
            into.append(int(line.split()[0]))
    return current, old


class Reload(Case):
    def start(self, config=CONFIG, workers=2, args=("-Ws",), **values):
        values.setdefault("PORT", free_port())
        self.port = values["PORT"]
        origin = self.origin()
        self.config = config
        p = self.penstock(config.replace("@WORKERS@", str(workers)), args=[*args, "-S", "unix@master"], ORIGIN=origin.port, **values)
        return p

    def with_workers(self, n):
        return self.config.replace("@WORKERS@", str(n))

    def test_many_reloads_under_load_lose_nothing(self):
        p = self.start(workers=4)
        keep, fresh = self.load(self.port, clients=4), self.load(self.port, clients=4, keep=False)
        for i in range(50):
            p.reload(self.with_workers([4, 1, 3, 2][i % 4]))
            if i % 10 == 9:
                keep.wait_for(20)
                fresh.wait_for(20)
        keep.stop(), fresh.stop()
        self.assertEqual(keep.failures + fresh.failures, [], p.stderr()[-3000:])
        self.assertGreater(fresh.done, 500)
        # a connection that was idle when its worker left is closed; that is a handful, not one each reload and client
        wait_until("old workers are gone", lambda: not workers_of(p)[1], 20)
        self.assertEqual(len(workers_of(p)[0]), 1)

    def test_slots_that_are_gone_are_adopted(self):
        p = self.start(workers=4)
        p.reload(self.with_workers(1))
        wait_until("old workers are gone", lambda: not workers_of(p)[1], 20)
        load = self.load(self.port, clients=8, keep=False)
        load.wait_for(400)
        load.stop()
        self.assertEqual(load.failures, [])
        self.assertLess(load.slowest, 0.9)  # no SYN was lost

    def test_adopted_sockets_are_closed_when_nothing_can_come_there_any_more(self):
        p = self.start(workers=4, env={"PENSTOCK_ADOPTION_MS": "2000"})

        def listening():
            lines = pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]
            return sum(l.split()[1].endswith(f":{self.port:04X}") and l.split()[3] == "0A" for l in lines)
        self.assertEqual(listening(), 4)
        load = self.load(self.port, clients=4, keep=False)
        p.reload(self.with_workers(2))
        self.assertEqual(listening(), 4)
        wait_until("two are left", lambda: listening() == 2)
        load.wait_for(300)
        p.reload(self.with_workers(3))  # and a group grows again
        self.assertEqual(listening(), 3)
        load.wait_for(300)
        load.stop()
        self.assertEqual(load.failures, [])
        self.assertLess(load.slowest, 0.9)  # no SYN was lost

    def test_workers_that_cannot_start_leave_the_old_ones(self):
        p = self.start()
        before = workers_of(p)[0]
        load = self.load(self.port, clients=2)
        p.write(self.with_workers(2).replace("global\n", "global\n  chroot /nonexistent-for-penstock\n"))
        answer = master_cli(str(p.folder / "master"), "reload")
        self.assertTrue(answer.startswith("Success=0\n"), answer)
        self.assertEqual(workers_of(p)[0], before)
        load.wait_for(50)
        p.write(self.with_workers(1))
        self.assertTrue(master_cli(str(p.folder / "master"), "reload").startswith("Success=1\n"))
        load.wait_for(50)
        load.stop()
        self.assertEqual(load.failures, [])

    def test_addresses_come_and_go(self):
        second = free_port()
        p = self.start(workers=2, SECOND=second)
        load = self.load(self.port, clients=4, keep=False)
        with_second = self.with_workers(2).replace("frontend f\n", f"frontend f\n  bind 127.0.0.1:{second}\n")
        for _ in range(5):
            p.reload(with_second)
            self.assertEqual(get(second).status, 200)
            extra = self.load(second, clients=2, keep=False)
            extra.wait_for(20)
            extra.stop()
            self.assertEqual(extra.failures, [])
            p.reload(self.with_workers(2))

            def refused():
                with socket.socket() as s:
                    s.settimeout(0.2)
                    try:
                        s.connect(("127.0.0.1", second))
                    except ConnectionRefusedError:
                        return True
                    except TimeoutError:
                        return False
                    return False
            wait_until("the removed address refuses", refused, 10)
        load.stop()
        self.assertEqual(load.failures, [])

    def test_bad_configuration_changes_nothing(self):
        p = self.start()
        before = workers_of(p)[0]
        load = self.load(self.port, clients=2)
        p.write(self.with_workers(2) + "\nfrontend broken\n  nonsense here\n")
        answer = master_cli(str(p.folder / "master"), "reload")
        self.assertTrue(answer.startswith("Success=0\n--\n"), answer)
        self.assertIn("nonsense", answer)
        self.assertIn("nonsense", p.stderr())
        self.assertEqual(workers_of(p)[0], before)
        self.assertIn("[failed: 1]", master_cli(str(p.folder / "master"), "show proc"))
        load.wait_for(20)
        # mended: the next one works
        p.write(self.with_workers(2))
        answer = master_cli(str(p.folder / "master"), "reload")
        self.assertTrue(answer.startswith("Success=1\n--\n"), answer)
        self.assertNotEqual(workers_of(p)[0], before)
        load.wait_for(20)
        load.stop()
        self.assertEqual(load.failures, [])

    def test_address_in_use_changes_nothing(self):
        p = self.start()
        before = workers_of(p)[0]
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            p.write(self.with_workers(2).replace("frontend f\n", f"frontend f\n  bind 127.0.0.1:{taken.getsockname()[1]}\n"))
            answer = master_cli(str(p.folder / "master"), "reload")
        self.assertTrue(answer.startswith("Success=0\n"), answer)
        self.assertIn("cannot bind socket", answer)
        self.assertEqual(workers_of(p)[0], before)
        self.assertEqual(get(self.port).status, 200)

    def test_binary_that_cannot_run_changes_nothing(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="penstock-test-"))
        self.addCleanup(shutil.rmtree, folder)
        copy = folder / "penstock"
        shutil.copy(BINARY, copy)
        origin = self.origin()
        self.port = free_port()
        p = self.penstock(CONFIG.replace("@WORKERS@", "1"), args=["-Ws", "-S", "unix@master"], binary=str(copy), ORIGIN=origin.port, PORT=self.port)
        copy.rename(folder / "gone")
        answer = master_cli(str(p.folder / "master"), "reload")
        self.assertTrue(answer.startswith("Success=0\n"), answer)
        self.assertEqual(get(self.port).status, 200)
        # an upgrade: another file in its place is what runs next
        (folder / "gone").rename(copy)
        answer = master_cli(str(p.folder / "master"), "reload")
        self.assertTrue(answer.startswith("Success=1\n"), answer)
        self.assertEqual(get(self.port).status, 200)

    def test_sockets_that_cannot_be_bound_twice_live_on(self):
        inherited = socket.socket()
        inherited.bind(("127.0.0.1", 0))
        inherited.listen(64)
        os.set_inheritable(inherited.fileno(), True)
        self.addCleanup(inherited.close)
        path = f"/tmp/penstock-test-{os.getpid()}.sock"
        name = f"penstock-test-{os.getpid()}"
        binds = f"  bind fd@{inherited.fileno()}\n  bind unix@{path}\n  bind abns@{name}\n"
        origin, self.port = self.origin(), free_port()
        config = CONFIG.replace("@WORKERS@", "2").replace("frontend f\n", "frontend f\n" + binds)
        p = self.penstock(config, args=["-Ws", "-S", "unix@master"], pass_fds=[inherited.fileno()], ORIGIN=origin.port, PORT=self.port)

        def ask(address, family):
            with socket.socket(family) as s:
                s.settimeout(5)
                s.connect(address)
                s.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                return s.recv(4096).split(b"\r\n")[0]
        padded = "\0" + name + "\0" * (107 - len(name))
        for _ in range(3):
            for address, family in ((inherited.getsockname(), socket.AF_INET), (path, socket.AF_UNIX), (padded, socket.AF_UNIX)):
                self.assertIn(b"200", ask(address, family))
            p.reload()
        p.stop()
        self.assertFalse(os.path.exists(path))

    def test_requests_for_a_reload_are_not_lost(self):
        """Signals during a reload are coalesced; the last configuration wins."""
        p = self.start(workers=1)
        for n in (2, 3, 2, 3):
            p.write(self.with_workers(n))
            p.process.send_signal(signal.SIGUSR2)
        wait_until("three workers", lambda: p.process.poll() is not None or len(safely(workers_of, p)[0]) == 3 and not safely(workers_of, p)[1], 20)
        self.assertEqual(get(self.port).status, 200)

    def test_old_workers_do_not_pile_up(self):
        p = self.start(config=CONFIG.replace("global\n", "global\n  mworker-max-reloads 2\n"), workers=1)
        held = []
        for _ in range(6):
            c = Client(self.port)  # a request under way would keep its worker alive
            c.send(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n12345")
            held.append(c)
            time.sleep(0.05)
            p.reload()
        wait_until("at most two old workers", lambda: len(workers_of(p)[1]) <= 2, 10)
        for c in held:
            c.close()

    def test_hard_stop_after(self):
        p = self.start(config=CONFIG.replace("global\n", "global\n  hard-stop-after 500ms\n"), workers=1)
        c = Client(self.port)
        c.send(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n12345")
        time.sleep(0.05)
        p.reload()
        wait_until("the old worker is gone", lambda: not workers_of(p)[1], 5)
        c.close()

    def test_one_process_tree_for_ever(self):
        """The master's pid stays, and so do pid file and generation's bookkeeping."""
        p = self.start(args=("-Ws", "-p", "pid"))
        for _ in range(3):
            p.reload()
        self.assertEqual((p.folder / "pid").read_text().strip(), str(p.pid))
        self.assertRegex(master_cli(str(p.folder / "master"), "show proc"), rf"(?m)^{p.pid} +master +3 \[failed: 0\]")

    def test_descriptors_do_not_pile_up(self):
        p = self.start()
        p.reload()
        wait_until("old workers are gone", lambda: not workers_of(p)[1], 20)
        count = len(os.listdir(f"/proc/{p.pid}/fd"))
        for _ in range(5):
            p.reload()
        wait_until("old workers are gone", lambda: not workers_of(p)[1], 20)
        self.assertLessEqual(len(os.listdir(f"/proc/{p.pid}/fd")), count)


def safely(f, *a):
    """While a master executes anew its socket's clients are cut off: ask again."""
    try:
        return f(*a)
    except OSError:
        return [], []


if __name__ == "__main__":
    main()
