# SPDX-License-Identifier: BSD-2-Clause
"""Limits and losses: maxconn over all workers, no descriptors left, slow clients by the hundred, workers killed under load."""
import os
import resource
import signal
import threading

from penstock_test import Case, Client, free_port, get, main, wait_until

CONFIG = """
global
    nbthread 2
    stats socket @DIR@/sock mode 600 level admin
@GLOBAL@
defaults
    mode http
    timeout connect 5s
    timeout client 20s
    timeout server 20s
@DEFAULTS@
frontend www
    bind 127.0.0.1:@PORT@
    default_backend app
backend app
    server s1 127.0.0.1:@ORIGIN@ @OPTIONS@
"""


class Hostile(Case):
    def start(self, glob="", defaults="", options="", answer=None):
        self.backend = self.origin("s1", answer)
        self.port = free_port()
        text = CONFIG.replace("@GLOBAL@", glob).replace("@DEFAULTS@", defaults).replace("@OPTIONS@", options)
        return self.penstock(text, PORT=self.port, ORIGIN=self.backend.port)

    def scur(self, p):
        return int(p.stat()[("www", "FRONTEND")]["scur"])

    def test_maxconn_of_a_frontend_holds_over_workers_and_the_rest_is_served_later(self):
        p = self.start(defaults="    maxconn 10")
        holders = [Client(self.port) for _ in range(30)]
        for c in holders:
            c.send("GET / HTTP/1.1\r\nHost: x\r\n")  # unfinished: keeps its place
        wait_until("ten are in", lambda: self.scur(p) == 10)
        self.assertLessEqual(self.scur(p), 10)
        answered = []

        def finish(c):
            c.send("Connection: close\r\n\r\n")
            answered.append(c.response().status)
        threads = [threading.Thread(target=finish, args=(c,)) for c in holders]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(answered, [200] * 30)
        wait_until("all have left", lambda: self.scur(p) == 0)

    def test_without_descriptors_it_waits_and_serves_again(self):
        p = self.start(glob="    maxconn 2000\n    no strict-limits")
        workers = [pid for pid in p.children() if os.path.exists(f"/proc/{pid}/fd")]
        before = {pid: resource.prlimit(pid, resource.RLIMIT_NOFILE) for pid in workers}
        for pid in workers:
            used = len(os.listdir(f"/proc/{pid}/fd"))
            highest = max(map(int, os.listdir(f"/proc/{pid}/fd")))
            resource.prlimit(pid, resource.RLIMIT_NOFILE, (max(used, highest) + 8, before[pid][1]))
        clients = [Client(self.port) for _ in range(60)]
        for c in clients:
            c.send("GET / HTTP/1.1\r\nHost: x\r\n")
        for c in clients:
            c.close()
        for pid in workers:
            resource.prlimit(pid, resource.RLIMIT_NOFILE, before[pid])
        wait_until("it serves again", lambda: get(self.port).status == 200)
        self.assertEqual(p.children(), workers)  # nobody died of it

    def test_slow_clients_do_not_hinder_others(self):
        self.start(defaults="    timeout http-request 2s")
        slow = [Client(self.port) for _ in range(200)]
        for c in slow:
            c.send("GET / HT")
        for _ in range(20):
            self.assertEqual(get(self.port).status, 200)
        self.assertEqual(slow[0].response().status, 408)
        for c in slow:
            c.close()

    def test_counts_return_to_truth_after_workers_were_killed_under_load(self):
        p = self.start(options="maxconn 4")
        load = self.load(self.port, clients=12)
        load.wait_for(200)
        control = p.children()[0]  # forked first
        for _ in range(3):
            victim = next(pid for pid in p.children() if pid != control)
            os.kill(victim, signal.SIGKILL)
            wait_until("another is in its place", lambda: victim not in p.children() and len(p.children()) == 3)
            load.wait_for(200)
        load.stop()
        wait_until("no session and no slot stays taken", lambda: self.scur(p) == 0 and p.stat()[("app", "s1")]["scur"] == "0"
                   and p.stat()[("app", "s1")]["qcur"] == "0")
        self.assertEqual(get(self.port).status, 200)


if __name__ == "__main__":
    main()
