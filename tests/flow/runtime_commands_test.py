# SPDX-License-Identifier: BSD-2-Clause
"""Commands of the runtime socket, each shown by its effect or by what it tells."""
import json
import re
import socket
import time

from penstock_test import Case, free_port, get, main, wait_until

CONFIG = """
global
    stats socket @DIR@/sock mode 600 level admin
    stats socket @DIR@/marked mode 600 level admin severity-output number
    stats socket @DIR@/worded mode 600 level operator severity-output string
    nbthread 2
    maxconn 200
defaults
    mode http
    timeout connect 2s
    timeout client 20s
    timeout server 20s
frontend www
    bind 127.0.0.1:@PORT@
    default_backend app
frontend other
    bind 127.0.0.1:@OTHER@
    default_backend app
backend app
    server s1 127.0.0.1:@S1@ maxconn 20
    server s2 127.0.0.1:@S1@
backend tcp
    mode tcp
    server t 127.0.0.1:@S1@
frontend ftcp
    mode tcp
    bind 127.0.0.1:@TCP@
    default_backend tcp
"""


class Commands(Case):
    def setUp(self):
        self.origin_ = self.origin()
        self.port, self.other, self.tcp = free_port(), free_port(), free_port()
        self.p = self.penstock(CONFIG, PORT=self.port, OTHER=self.other, TCP=self.tcp, S1=self.origin_.port)

    def quiet(self, command):
        """A command that has nothing to say."""
        self.assertEqual(self.p.cli(command).strip(), "", command)

    def held(self, port, n):
        """Keep-alive connections that have been served once."""
        clients = [self.client(port) for _ in range(n)]
        for c in clients:
            self.assertEqual(c.get().status, 200)
        return clients

    # ------------------------------------------------------------------------------------------------ limits

    def test_set_maxconn_global_bounds_all_workers_at_once(self):
        self.held(self.port, 3)
        self.quiet("set maxconn global 4")
        self.held(self.other, 1)
        late = self.client(self.port)
        late.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        late.sock.settimeout(0.3)
        with self.assertRaises(TimeoutError):
            late.sock.recv(1)
        self.assertEqual(self.p.info()["Maxconn"], "4")
        self.quiet("set maxconn global 100")
        late.sock.settimeout(10)
        self.assertEqual(late.response().status, 200)
        self.assertIn("out of range", self.p.cli("set maxconn global 1000"))
        self.quiet("set maxconn global 0")  # back to what the configuration says
        self.assertEqual(self.p.info()["Maxconn"], "200")

    def test_set_maxconn_frontend(self):
        self.quiet("set maxconn frontend www 2")
        self.held(self.port, 2)
        late = self.client(self.port)
        late.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        late.sock.settimeout(0.3)
        with self.assertRaises(TimeoutError):
            late.sock.recv(1)
        self.held(self.other, 1)
        self.quiet("set maxconn frontend www 3")
        late.sock.settimeout(10)
        self.assertEqual(late.response().status, 200)

    def test_set_rate_limit_slows_new_connections(self):
        self.assertEqual(self.p.info()["ConnRateLimit"], "0")
        for what, field in (("connections", "ConnRateLimit"), ("sessions", "SessRateLimit"), ("ssl-sessions", "SslRateLimit")):
            self.quiet(f"set rate-limit {what} global 7")
            self.assertEqual(self.p.info()[field], "7")
            self.quiet(f"set rate-limit {what} global 0")
        self.assertIn("only supports", self.p.cli("set rate-limit nonsense global 1"))
        self.quiet("set rate-limit connections global 10")
        began = time.monotonic()
        for _ in range(25):
            get(self.port)
        self.assertGreater(time.monotonic() - began, 1.0)

    # ------------------------------------------------------------------------------------------------ ends

    def refused(self):
        with socket.socket() as s:
            return s.connect_ex(("127.0.0.1", self.other)) != 0

    def test_shutdown_frontend_is_for_good(self):
        self.quiet("shutdown frontend other")
        wait_until("nobody listens", self.refused)
        self.assertEqual(get(self.port).status, 200)
        self.assertIn("shut down", self.p.cli("enable frontend other"))
        self.assertEqual(self.p.stat()[("other", "FRONTEND")]["status"], "STOP")
        self.assertIn("No such frontend", self.p.cli("shutdown frontend nobody"))

    def test_shutdown_sessions_server_ends_its_streams_only(self):
        def hold(sock, _):
            sock.recv(100)
            while sock.recv(100):
                pass
        silent = self.server(hold)
        self.p.cli(f"set server tcp/t addr 127.0.0.1 port {silent.port}")
        streams = [self.client(self.tcp) for _ in range(3)]
        for c in streams:
            c.send("x")
        wait_until("all reached the server", lambda: silent.connections == 3)
        kept = self.held(self.port, 1)
        self.quiet("shutdown sessions server tcp/t")
        for c in streams:
            self.assertTrue(c.closed(5))
        self.assertEqual(kept[0].get().status, 200)
        self.assertIn("No such server", self.p.cli("shutdown sessions server tcp/nobody"))

    # ------------------------------------------------------------------------------------------------ counters

    def test_clear_counters(self):
        for c in self.held(self.port, 3):
            c.close()
        wait_until("they are gone", lambda: self.p.stat()[("www", "FRONTEND")]["scur"] == "0")
        row = self.p.stat()[("www", "FRONTEND")]
        self.assertEqual((row["smax"], row["stot"]), ("3", "3"))
        self.quiet("clear counters")
        row = self.p.stat()[("www", "FRONTEND")]
        self.assertEqual((row["smax"], row["stot"]), ("0", "3"))
        self.assertIn("Permission denied", self.p.cli("clear counters all", path=str(self.p.folder / "worded")))
        self.quiet("clear counters all")
        rows = self.p.stat()
        for key in (("www", "FRONTEND"), ("app", "s1"), ("app", "BACKEND")):
            for field in ("stot", "bin", "bout", "hrsp_2xx", "ttime"):
                self.assertIn(rows[key][field], ("0", ""), (key, field))
        get(self.port)
        self.assertEqual(self.p.stat()[("www", "FRONTEND")]["stot"], "1")

    def test_mean_times_forget_what_was_long_ago(self):
        slow = [True]

        def answer(_):
            if slow[0]:
                time.sleep(0.2)
            return 200, [], b""
        self.origin_.answer = answer
        get(self.port)
        row = wait_until("it is counted", lambda: (r := self.p.stat()[("app", "BACKEND")])["rtime"] != "0" and r)
        self.assertGreaterEqual(int(row["rtime"]), 190)
        slow[0] = False
        c = self.held(self.port, 1)[0]
        for _ in range(1500):
            c.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        for _ in range(1500):
            c.response()
        row = self.p.stat()[("app", "BACKEND")]
        self.assertLess(int(row["rtime"]), 20)
        self.assertGreaterEqual(int(row["rtime_max"]), 190)

    # ------------------------------------------------------------------------------------------------ what is told

    def test_show_servers_conn(self):
        self.held(self.port, 1)
        lines = self.p.cli("show servers conn app").splitlines()
        self.assertRegex(lines[0], r"^# bkname/svname bkid/svid addr port - purge_delay used_cur used_max need_est unsafe_nb safe_nb idle_lim idle_cur idle_per_thr\[2\]$")
        self.assertRegex(lines[1], rf"^app/s1 \d+/1 127\.0\.0\.1 {self.origin_.port} - 5000 ")
        self.assertEqual(sum(int(l.split()[12]) for l in lines[1:3]), 1)
        self.assertIn("Can't find backend", self.p.cli("show servers conn nobody"))

    def test_show_activity_counts_each_worker(self):
        for _ in range(6):
            get(self.port)
        text = self.p.cli("show activity")
        total, each = re.search(r"(?m)^requests: (\d+) \[ (\d+ \d+) \]$", text).groups()
        self.assertEqual((int(total), sum(map(int, each.split()))), (6, 6))

    def test_show_cli_sockets_startup_logs_and_backends(self):
        self.assertEqual(self.p.cli("show cli sockets").splitlines()[:4],
                         ["# socket lvl processes", f"unix@{self.p.folder}/sock admin all", f"unix@{self.p.folder}/marked admin all", f"unix@{self.p.folder}/worded operator all"])
        self.assertEqual(self.p.cli("show backend").split("\n")[:3], ["# name", "app", "tcp"])
        self.p.reload(self.p.file.read_text().replace("bind 127.0.0.1:", "bind 127.0.0.1:", 1) + "frontend nobind\n    timeout client 1s\n")
        self.assertIn("frontend 'nobind' has no 'bind' line", self.p.cli("show startup-logs"))

    def test_typed_and_json_forms(self):
        get(self.port)
        typed = self.p.cli("show info typed").splitlines()
        self.assertEqual(typed[0], "0.Name.1:POS:str:penstock")
        self.assertTrue(all(re.match(r"^\d+\.[\w -]+\.\d+:[A-Z][A-Za-z][A-Z]:(u32|s32|u64|s64|str):", l) for l in typed if l), typed)
        info = {f["field"]["name"]: f["value"]["value"] for f in json.loads(self.p.cli("show info json"))}
        self.assertEqual((info["Name"], info["Nbthread"]), ("penstock", 2))
        typed = self.p.cli("show stat typed").splitlines()
        self.assertRegex(typed[0], r"^F\.\d+\.0\.0\.pxname\.1:KNS:str:www$")
        stat = json.loads(self.p.cli("show stat json"))
        found = {f["value"]["value"] for row in stat for f in row if f["field"]["name"] == "svname"}
        self.assertEqual(found, {"FRONTEND", "BACKEND", "s1", "s2", "t"})
        json.loads(self.p.cli("show schema json"))

    # ------------------------------------------------------------------------------------------------ the conversation

    def test_severities_are_marked_as_the_socket_says(self):
        wrong = "set weight app/nobody 1"
        self.assertEqual(self.p.cli(wrong).strip(), "No such server.")
        self.assertEqual(self.p.cli(wrong, path=str(self.p.folder / "marked")).strip(), "[3]: No such server.")
        self.assertEqual(self.p.cli("shutdown sessions server app/s1", path=str(self.p.folder / "worded")).strip(), "[err]: Permission denied")
        self.assertEqual(self.p.cli("set severity-output none; " + wrong, path=str(self.p.folder / "marked")).strip(), "No such server.")

    def test_modes_and_timeout_hold_for_the_conversation(self):
        told = [l for l in self.p.cli("expert-mode; expert-mode on; expert-mode; experimental-mode").splitlines() if l]
        self.assertEqual(told, ["expert-mode is OFF", "expert-mode is ON", "experimental-mode is OFF"])
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(5)
            s.connect(str(self.p.folder / "sock"))
            s.sendall(b"prompt i; set timeout cli 1s\n")
            began = time.monotonic()
            while s.recv(100):
                pass
            self.assertLess(time.monotonic() - began, 4)
        self.assertIn("Invalid timeout", self.p.cli("set timeout cli never"))


if __name__ == "__main__":
    main()
