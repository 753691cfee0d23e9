# SPDX-License-Identifier: BSD-2-Clause
"""Stick tables over deaths and reloads: conn_cur returns to truth, entries stay, generations count together."""
import os
import re
import signal

from penstock_test import Case, free_port, get, main, wait_until

CONFIG = """
global
    nbthread 3
    stats socket @DIR@/sock level admin
defaults
    mode http
    timeout connect 2s
    timeout client 20s
    timeout server 20s
frontend f
    bind 127.0.0.1:@PORT@
    stick-table type ip size @SIZE@ expire @EXPIRE@ store @STORE@
    tcp-request connection track-sc0 src
    default_backend app
backend app
    server s1 127.0.0.1:@S1@
"""


class TableProcess(Case):
    def start(self, store="conn_cur,conn_cnt,http_req_cnt,gpc0", size="1k", expire="10m"):
        self.origin_ = self.origin()
        self.port = free_port()
        return self.penstock(self.config(store, size, expire), PORT=self.port, S1=self.origin_.port)

    @staticmethod
    def config(store, size="1k", expire="10m"):
        return CONFIG.replace("@STORE@", store).replace("@SIZE@", size).replace("@EXPIRE@", expire)

    def row(self, p, key="127.0.0.1"):
        for line in p.cli("show table f").splitlines():
            if f"key={key} " in line:
                return {re.sub(r"\(.*", "", k): int(v) for k, v in (w.split("=") for w in line.split(": ", 1)[1].split() if not w.startswith("key="))}
        return None

    def workers(self, p):
        """Those that have begun; a slot that is claimed for one has no pid yet."""
        return [int(pid) for pid in re.findall(r"pid=([1-9]\d*)", p.cli("show activity"))]

    def test_killed_workers_leave_no_connection_and_no_lock_behind(self):
        p = self.start()
        load = self.load(self.port, clients=12, keep=False)
        held = [self.client(self.port) for _ in range(9)]
        for c in held:
            c.get()
        for _ in range(6):
            victim = self.workers(p)[0]
            load.wait_for(30)
            os.kill(victim, signal.SIGKILL)
            wait_until("another worker stands in", lambda: victim not in (w := self.workers(p)) and len(w) == 3)
        load.stop()
        wait_until("conn_cur is what is open", lambda: (r := self.row(p)) and r["conn_cur"] == r["use"] and r["conn_cur"] <= 9)
        for c in held:
            c.close()
        wait_until("conn_cur is 0", lambda: (r := self.row(p)) and r["conn_cur"] == 0 and r["use"] == 0)
        self.assertEqual(get(self.port).status, 200)
        wait_until("nobody holds the entry", lambda: p.cli("clear table f key 127.0.0.1") == "\n")
        self.assertIn("used:0", p.cli("show table"))

    def test_a_reload_keeps_entries_whatever_else_changes(self):
        p = self.start()
        for _ in range(5):
            get(self.port)
        p.cli("set table f key 10.0.0.1 data.gpc0 7 data.http_req_cnt 3")
        p.reload(self.config("gpc(3),http_req_cnt,http_err_cnt,conn_rate(10s),conn_cur", size="5", expire="2m"))
        self.assertIn("size:5, used:2", p.cli("show table f"))
        row = self.row(p, "10.0.0.1")
        self.assertEqual((row["gpc0"], row["gpc1"], row["http_req_cnt"], row["http_err_cnt"]), (7, 0, 3, 0))
        self.assertLess(row["exp"], 120_001)
        get(self.port)
        self.assertEqual(self.row(p)["http_req_cnt"], 6)
        p.reload(self.config("http_req_cnt,gpc0,conn_cnt", size="3m"))
        self.assertEqual((self.row(p, "10.0.0.1")["gpc0"], self.row(p)["http_req_cnt"]), (7, 6))
        self.assertEqual(self.row(p)["conn_cnt"], 5)  # of the first generation; the second did not store it

    def test_old_and_new_generation_count_into_the_same_entry(self):
        p = self.start()
        old = self.client(self.port)
        self.assertEqual(old.get().status, 200)
        old.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n")  # under way: it outlives the reload
        wait_until("it is counted", lambda: self.row(p)["http_req_cnt"] == 2)
        p.reload(self.config("conn_cur,http_req_cnt,http_req_rate(1m),sess_cnt"))
        new = self.client(self.port)
        self.assertEqual(new.get().status, 200)
        row = self.row(p)
        self.assertEqual((row["conn_cur"], row["http_req_cnt"], row["http_req_rate"]), (2, 3, 1))
        old.send("ok")
        self.assertEqual(old.response().status, 200)
        old.close()
        wait_until("the old one has left", lambda: self.row(p)["conn_cur"] == 1)
        new.close()
        wait_until("the new one has left", lambda: self.row(p)["conn_cur"] == 0)

    def test_counts_go_on_exactly_over_reloads_under_load(self):
        p = self.start()
        load = self.load(self.port, clients=6, keep=False)
        stores = ["conn_cur,http_req_cnt,conn_rate(3s)", "http_req_cnt,gpc0,conn_cur", "conn_cur,conn_cnt,http_req_cnt,gpt(4)"]
        for store in stores:
            load.wait_for(50)
            p.reload(self.config(store))
        load.wait_for(50)
        load.stop()
        self.assertEqual(load.failures, [])
        # a request that its client had to send again was counted twice
        wait_until("all are counted", lambda: load.done <= self.row(p)["http_req_cnt"] <= load.done + load.stale)
        wait_until("all have left", lambda: (r := self.row(p))["conn_cur"] == 0 and r["use"] == 0)


if __name__ == "__main__":
    main()
