# SPDX-License-Identifier: BSD-2-Clause
"""Look-ups in MaxMind databases (maxmind-load, maxmind-lookup, mmdb) and the tool penstock-mmdb."""
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import tempfile
import threading
import unittest

from penstock_test import Case, Client, free_port, get, main, run, wait_until

TOOL = pathlib.Path(os.environ.get("BUILD", "build"))
TOOL = (TOOL if TOOL.is_absolute() else pathlib.Path(__file__).resolve().parents[2] / TOOL) / "penstock-mmdb"
SHARED = pathlib.Path("/work/shared/data/geoip")  # MaxMind's own test databases; a clone has none
NETWORKS = """
# nested networks, both families, values with blanks
1.0.0.0/8 Telstra Internet
1.2.0.0/16 Inner Net
1.2.3.4/32 One Host
2001:db8::/32 Six "quoted"
2001:db8:1::/48 Six Inner
"""
RECORDS = [
    {"network": "10.0.0.0/8", "s": "text", "n": 7, "big": 5000000000, "neg": -3, "f": 1.5, "yes": True, "no": False,
     "list": ["a", {"k": "deep"}, "c"], "map": {"x": {"y": "z"}}},
    {"network": "fd00::/8", "s": "six"},
]


def tool(*args, **kw):
    return subprocess.run([TOOL, *map(str, args)], capture_output=True, text=True, timeout=60, **kw)


def build(target, text, *args):
    p = tool("build", "-o", target, *args, input=text)
    assert p.returncode == 0, p.stderr


CONFIG = """
global
    nbthread @WORKERS@
    stats socket @DIR@/sock mode 600 level admin
    maxmind-load T @DB@ @FLAGS@
defaults
    mode http
    timeout connect 5s
    timeout client 10s
    timeout server 10s
frontend f
    bind 127.0.0.1:@PORT@
@RULES@
    http-request return status 200
"""


class GeoCase(Case):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="penstock-geo-"))
        self.addCleanup(shutil.rmtree, self.dir)
        self.db = self.dir / "t.mmdb"

    def serve(self, rules, flags="", workers=1, **kw):
        self.port = free_port()
        self.p = self.penstock(CONFIG, DB=str(self.db), FLAGS=flags, PORT=self.port, WORKERS=workers,
                               RULES="".join(f"    {r}\n" for r in rules), **kw)

    def ask(self, ip, header="x-r"):
        return get(self.port, headers=[("X-IP", ip)]).header(header)


class LookUps(GeoCase):
    def test_the_longest_prefix_answers_in_both_families_and_garbage_in_none(self):
        build(self.db, NETWORKS, "--field", "isp")
        self.serve(["http-request set-var(txn.ip) req.hdr(x-ip)",
                    "http-after-response set-header X-R %[var(txn.ip),mmdb(T,isp,default=none)]",
                    "http-after-response set-header X-Found yes if { var(txn.ip),mmdb(T,isp) -m found }",
                    "http-after-response set-header X-Net %[var(txn.ip),mmdb(T,@network)]",
                    "http-after-response set-header X-First %[var(txn.ip),mmdb(T,@first)]",
                    'http-after-response set-header X-Long %[var(txn.ip),maxmind-lookup("T","isp")]'])
        want = {"1.9.9.9": "Telstra Internet", "1.2.9.9": "Inner Net", "1.2.3.4": "One Host", "1.2.3.5": "Inner Net",
                "::ffff:1.2.3.4": "One Host", "2001:db8::1": 'Six "quoted"', "2001:db8:1::9": "Six Inner",
                "9.9.9.9": "none", "2002::1": "none", "garbage": "", "1.2.3": "", "": "", "1.2.3.4.5": ""}
        for _ in range(2):  # the second time from what the worker remembers
            for ip, operator in want.items():
                r = get(self.port, headers=[("X-IP", ip)])
                self.assertEqual(r.header("x-r"), operator, ip)
                self.assertEqual(r.header("x-long"), "" if operator == "none" else operator, ip)
                self.assertEqual(r.header("x-found"), None if operator in ("none", "") else "yes", ip)
        r = get(self.port, headers=[("X-IP", "1.2.9.9")])
        self.assertEqual(r.header("x-first"), "1.2.8.0")
        self.assertRegex(r.header("x-net"), r"^1\.2\.8\.0/2\d$")
        self.assertEqual(get(self.port, headers=[("X-IP", "2001:db8:1::9")]).header("x-net"), "2001:db8:1::/48")

    def test_every_type_of_data_comes_out(self):
        build(self.db, "\n".join(map(json.dumps, RECORDS)), "--json")
        paths = {"s": "text", "n": "7", "big": "5000000000", "neg": "-3", "f": "1.5", "yes": "1", "no": "0", "list,0": "a",
                 "list,1,k": "deep", "list,-1": "c", "list,3": None, "map,x,y": "z", "map": '{"x":{"y":"z"}}',
                 "list": '["a",{"k":"deep"},"c"]', "missing": None, "s,deeper": None}
        self.serve(["http-request set-var(txn.ip) req.hdr(x-ip)"] +
                   [f"http-after-response set-header X-{i} %[var(txn.ip),mmdb(T,{p})] if {{ var(txn.ip),mmdb(T,{p}) -m found }}"
                    for i, p in enumerate(paths)] +
                   ["http-after-response set-header X-Sum %[var(txn.ip),mmdb(T,n),add(1)]",
                    "http-after-response set-header X-Yes 1 if { var(txn.ip),mmdb(T,yes) -m bool }"])
        r = get(self.port, headers=[("X-IP", "10.1.1.1")])
        for i, (path, want) in enumerate(paths.items()):
            got = r.header(f"x-{i}")
            self.assertEqual({"true": "1", "false": "0"}.get(got, got), want, path)
        self.assertEqual((r.header("x-sum"), r.header("x-yes")), ("8", "1"))
        self.assertEqual(get(self.port, headers=[("X-IP", "fd00::1")]).header("x-0"), "six")

    def test_connections_are_judged_and_counted_by_network_before_any_request(self):
        build(self.db, "127.0.0.0/8 64496\n", "--field", "asn")
        self.serve(["stick-table type string len 20 size 100 store conn_cnt,http_req_cnt",
                    "tcp-request connection track-sc0 src,mmdb(T,asn)",
                    "http-after-response set-header X-R %[sc0_conn_cnt]",
                    "http-after-response set-header X-Key %[src,mmdb(T,@network)]"])
        self.assertEqual([get(self.port).header("x-r") for _ in range(2)], ["1", "2"])
        self.assertEqual(get(self.port).header("x-key"), "127.0.0.0/8")
        self.assertIn("key=64496", self.p.cli("show table f"))

    def test_a_cache_of_any_size_gives_the_same_answers(self):
        lines = "".join(f"{a}.{b}.0.0/16 n{a}x{b}\n" for a in (5, 6) for b in range(40)) + "5.1.2.128/25 half\n"
        build(self.db, lines, "--field", "v")
        for size in (0, 1, 7):
            with self.subTest(size=size):
                self.serve(["http-request set-var(txn.ip) req.hdr(x-ip)", "http-after-response set-header X-R %[var(txn.ip),mmdb(T,v,default=-)]"],
                           flags=f"\n    maxmind-cache-size {size}")
                rnd = random.Random(size)
                with Client(self.port) as c:
                    for _ in range(300):
                        a, b = rnd.choice((5, 6, 7)), rnd.randrange(42)
                        low = rnd.randrange(256)
                        want = "half" if (a, b, low >> 7) == (5, 1, 1) else f"n{a}x{b}" if a < 7 and b < 40 else "-"
                        self.assertEqual(c.get(headers=[("X-IP", f"{a}.{b}.2.{low}")]).header("x-r"), want, (a, b, low))


class Replacing(GeoCase):
    RULES = ["http-request set-var(txn.ip) req.hdr(x-ip)", "http-after-response set-header X-R %[var(txn.ip),mmdb(T,v,default=none)]"]

    def replace(self, text):
        build(self.db, text, "--field", "v")  # the tool writes aside and renames

    def test_a_replaced_file_is_taken_up_by_itself_and_no_answer_is_stale(self):
        self.replace("1.0.0.0/8 one\n")
        self.serve(self.RULES, flags="auto-reload", workers=2)
        self.assertEqual(self.ask("1.1.1.1"), "one")
        self.replace("1.0.0.0/8 two\n")
        wait_until("the new version", lambda: "version: 2\n" in self.p.cli("show maxmind T"))
        self.assertEqual({self.ask("1.1.1.1") for _ in range(20)}, {"two"})

    def test_the_runtime_socket_replaces_at_once_and_a_broken_file_changes_nothing(self):
        self.replace("1.0.0.0/8 one\n")
        self.serve(self.RULES)
        self.assertEqual(self.ask("1.1.1.1"), "one")
        good = self.db.read_bytes()
        for broken in (b"", b"nonsense", good[: len(good) // 2], good[:40], good[-200:]):
            self.db.write_bytes(broken)
            self.assertIn("the former version stays", self.p.cli("update maxmind T"))
            self.assertEqual(self.ask("1.1.1.1"), "one")
        self.db.unlink()
        self.assertIn("cannot be opened", self.p.cli("update maxmind T"))
        self.assertIn("No database", self.p.cli("update maxmind X"))
        for i in range(5):
            self.replace(f"1.0.0.0/8 v{i}\n")
            self.assertIn("Done", self.p.cli("update maxmind T"))
            self.assertEqual(self.ask("1.1.1.1"), f"v{i}")

    def test_truncating_the_file_in_use_harms_nobody(self):
        self.replace("".join(f"{a}.0.0.0/8 v{a}\n" for a in range(1, 200)))
        self.serve(self.RULES, workers=2, args=("-Ws", "-S", "unix@master"))
        os.truncate(self.db, 0)
        self.assertEqual([self.ask(f"{a}.1.1.1") for a in (1, 50, 199)], ["v1", "v50", "v199"])
        # a worker that is born later has the database too
        born = self.workers()
        os.kill(born[0], signal.SIGKILL)
        wait_until("another worker", lambda: len(self.workers()) == 2 and born[0] not in self.workers())
        self.assertEqual({self.ask("50.1.1.1") for _ in range(20)}, {"v50"})

    def workers(self):
        return [int(l.split()[0]) for l in self.p.cli("show proc", path=str(self.p.folder / "master")).splitlines() if " worker " in l]

    def test_under_load_every_answer_is_of_one_whole_version(self):
        versions = ["a" * 40, "b" * 40]
        self.replace(f"1.0.0.0/8 {versions[0]}\n")
        self.serve(self.RULES, workers=2)
        seen, stop = set(), threading.Event()

        def client(n):
            with Client(self.port) as c:
                i = 0
                while not stop.is_set():
                    i += 1
                    seen.add(c.get(headers=[("X-IP", f"1.{n}.{i % 250}.1")]).header("x-r"))
        threads = [threading.Thread(target=client, args=(n,)) for n in range(3)]
        for t in threads:
            t.start()
        for i in range(1, 12):
            self.replace(f"1.0.0.0/8 {versions[i % 2]}\n")
            wait_until("a free area", lambda: "Done" in self.p.cli("update maxmind T"))
        stop.set()
        for t in threads:
            t.join()
        self.assertEqual(seen, set(versions))

    def test_an_optional_file_may_come_later(self):
        self.serve(self.RULES, flags="optional auto-reload")
        self.assertEqual(self.ask("1.1.1.1"), "none")
        self.replace("1.0.0.0/8 late\n")
        wait_until("the file", lambda: self.ask("1.1.1.1") == "late")

    def test_show_maxmind_tells_type_build_date_and_counts(self):
        build(self.db, "1.0.0.0/8 one\n", "--field", "v", "--type", "My-Type", "--epoch", 1700000000)
        self.serve(self.RULES)
        for ip in ("1.1.1.1", "1.1.1.2", "9.9.9.9"):
            self.ask(ip)
        text = self.p.cli("show maxmind")
        for part in ("type: My-Type\n", "built: 2023-11-14T22:13:20Z\n", "nodes: 8\n", "lookups: 3\n", "hits: 2\n", "cached: 1\n"):
            self.assertIn(part, text)


class BadInput(GeoCase):
    def refused(self, path):
        code, _, text = run("-c", "-f", self.write(path))
        return code, text

    def write(self, path):
        f = self.dir / "c.cfg"
        f.write_text(f"global\n    maxmind-load X {path}\n")
        return str(f)

    def test_a_missing_or_broken_file_is_refused_with_its_line(self):
        code, text = self.refused("/nonexistent.mmdb")
        self.assertEqual(code, 1)
        self.assertRegex(text, r"c\.cfg:2.*cannot be opened")
        self.db.write_bytes(b"x" * 1000)
        code, text = self.refused(self.db)
        self.assertEqual(code, 1)
        self.assertIn("no MaxMind database", text)

    def test_unknown_names_and_paths_are_refused(self):
        f = self.dir / "d.cfg"
        f.write_text("frontend f\n mode http\n http-request set-header X %[src,mmdb(NOPE,isp)]\n")
        code, _, text = run("-c", "-f", str(f))
        self.assertEqual(code, 1)
        self.assertIn("NOPE", text)

    @unittest.skipUnless(SHARED.exists(), "MaxMind's databases are not here")
    def test_all_broken_databases_of_maxmind_are_refused_with_a_reason(self):
        for f in sorted((SHARED / "bad").iterdir()):
            code, text = self.refused(f)
            self.assertEqual(code, 1, f.name)
            self.assertRegex(text, r"c\.cfg:2.*" + f.name + "' [a-z]", f.name)

    @unittest.skipUnless(SHARED.exists(), "MaxMind's databases are not here")
    def test_broken_databases_that_replace_a_good_one_change_nothing(self):
        shutil.copy(SHARED / "GeoIP2-ISP-Test.mmdb", self.db)
        self.serve(["http-request set-var(txn.ip) req.hdr(x-ip)", "http-after-response set-header X-R %[var(txn.ip),mmdb(T,isp)]"])
        for f in sorted((SHARED / "bad").iterdir()):
            self.db.write_bytes(f.read_bytes())
            self.assertIn("the former version stays", self.p.cli("update maxmind T"), f.name)
            self.assertEqual(self.ask("1.128.0.1"), "Telstra Internet", f.name)

    def test_mutated_databases_never_crash_the_checker_and_what_it_lets_pass_can_be_read(self):
        build(self.db, "\n".join(map(json.dumps, RECORDS)), "--json")
        good, rnd = self.db.read_bytes(), random.Random(7)
        passed = 0
        for _ in range(150):
            data = bytearray(good)
            for _ in range(rnd.choice((1, 1, 2, 8))):
                data[rnd.choice((rnd.randrange(len(data)), rnd.randrange(len(data) - 400, len(data))))] = rnd.randrange(256)
            self.db.write_bytes(data)
            p = tool("lookup", self.db, "10.0.0.1", "fd00::1", "::1", "255.255.255.255")
            self.assertIn(p.returncode, (0, 1, 2), p)
            passed += p.returncode != 1
        self.assertGreater(passed, 5)


class Tool(GeoCase):
    def test_what_build_makes_is_what_mmdblookup_reads(self):
        if not shutil.which("mmdblookup"):
            self.skipTest("mmdb-bin is not installed")
        for size in ("24", "28", "32"):
            build(self.db, NETWORKS, "--field", "isp", "--record-size", size)
            for ip, want in {"1.9.9.9": "Telstra Internet", "1.2.3.4": "One Host", "2001:db8:1::9": "Six Inner"}.items():
                p = subprocess.run(["mmdblookup", "--file", self.db, "--ip", ip, "isp"], capture_output=True, text=True)
                self.assertIn(f'"{want}"', p.stdout, p.stderr)
        build(self.db, "\n".join(map(json.dumps, RECORDS)), "--json")
        p = subprocess.run(["mmdblookup", "--file", self.db, "--ip", "10.1.1.1"], capture_output=True, text=True)
        for part in ('"text"', "7 <uint32>", "5000000000 <uint64>", "-3 <int32>", "1.500000 <double>", "true <boolean>", '"deep"'):
            self.assertIn(part, p.stdout)

    def test_lookup_gives_what_went_in(self):
        for size in (24, 28, 32):
            build(self.db, NETWORKS, "--field", "isp", "--record-size", size)
            p = tool("lookup", "--path", "isp", self.db, "1.9.9.9", "::ffff:1.2.3.4", "2001:db8:1::9", "8.8.8.8")
            self.assertEqual(p.stdout, "1.9.9.9 Telstra Internet\n::ffff:1.2.3.4 One Host\n2001:db8:1::9 Six Inner\n8.8.8.8 -\n")
            self.assertEqual(p.returncode, 2)

    def test_a_map_of_a_database_says_the_same_as_the_database(self):
        build(self.db, NETWORKS, "--field", "isp")
        p = tool("map", "--path", "isp", "-o", self.dir / "isp.map", self.db)
        self.assertEqual(p.returncode, 0, p.stderr)
        again = self.dir / "again.mmdb"
        build(again, (self.dir / "isp.map").read_text(), "--field", "isp")
        for ip in ("1.9.9.9", "1.2.3.4", "1.2.3.5", "1.2.255.255", "2001:db8::1", "2001:db8:1::1", "9.9.9.9"):
            self.assertEqual(tool("lookup", "--path", "isp", again, ip).stdout, tool("lookup", "--path", "isp", self.db, ip).stdout)
        self.serve([f"http-request set-var(txn.m) req.hdr(x-ip),map_ip({self.dir}/isp.map,none)",
                    "http-request set-var(txn.d) req.hdr(x-ip),mmdb(T,isp,default=none)",
                    "http-after-response set-header X-R same if { var(txn.m),strcmp(txn.d) eq 0 }"])
        for ip in ("1.9.9.9", "1.2.3.4", "1.2.3.5", "2001:db8:1::1", "9.9.9.9"):
            self.assertEqual(self.ask(ip), "same", ip)

    def test_csv_with_ranges_becomes_networks(self):
        build(self.db, "1.0.0.0,1.0.0.255,64500,One\n1.0.1.0,1.0.3.6,64501,\"Two, Ltd\"\n0.0.0.0,0.255.255.255,1,low\n", "--csv",
              "--columns", "start,end,asn,org")
        p = tool("lookup", "--path", "org", self.db, "1.0.0.255", "1.0.1.0", "1.0.3.6", "1.0.3.7", "0.0.0.0", "0.255.255.255")
        self.assertEqual(p.stdout, "1.0.0.255 One\n1.0.1.0 Two, Ltd\n1.0.3.6 Two, Ltd\n1.0.3.7 -\n0.0.0.0 low\n0.255.255.255 low\n")
        self.assertEqual(tool("lookup", "--path", "asn", self.db, "1.0.2.2").stdout, "1.0.2.2 64501\n")

    def test_info_and_verify(self):
        build(self.db, NETWORKS, "--type", "Example")
        self.assertEqual(json.loads(tool("info", self.db).stdout)["database_type"], "Example")
        self.assertEqual(tool("verify", self.db).returncode, 0)
        self.db.write_bytes(self.db.read_bytes()[:100])
        self.assertEqual(tool("verify", self.db).returncode, 1)
        self.assertEqual(tool("build", input="nonsense x\n").returncode, 1)


if __name__ == "__main__":
    main()
