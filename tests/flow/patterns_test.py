# SPDX-License-Identifier: BSD-2-Clause
"""Maps and ACL files that change while traffic goes on: by rules, by the runtime socket, by a reload."""
import os
import pathlib
import re
import shutil
import signal
import tempfile

from penstock_test import Case, free_port, get, main, run, wait_until

CONFIG = """
global
    stats socket @DIR@/sock mode 600 level admin
    nbthread 3
defaults
    mode http
    timeout connect 2s
    timeout client 20s
    timeout server 20s
frontend www
    bind 127.0.0.1:@PORT@
    http-request set-map(virt@learnt) %[req.hdr(key)] %[req.hdr(value)] if { path /learn }
    http-request del-map(virt@learnt) %[req.hdr(key)] if { path /forget }
    http-request add-acl(@DIR@/block.lst) %[req.hdr(key)] if { path /block }
    http-request del-acl(@DIR@/block.lst) %[req.hdr(key)] if { path /unblock }
    http-response set-map(virt@answers) %[capture.req.uri] %[status] if { capture.req.uri /old }
    http-request deny if { req.hdr(key) -f @DIR@/block.lst } { path /guarded }
    http-request set-header Before %[capture.req.uri,map(virt@answers,none)]
    http-request return status 200 hdr worker %[pid] content-type text/plain lf-string "%[req.hdr(key),map(virt@learnt,none)] %[req.hdr(key),map_beg(@DIR@/t.map,none)] %[req.hdr(key),map_str_int(virt@numbers,-1)]" unless { path /old }
    default_backend app
backend app
    server s1 127.0.0.1:@S1@
"""
MAP = "# places\n/a first\n  /a/b  second  value \n\n/a/b/c third\r\n/n"


class Patterns(Case):
    def setUp(self):
        self.port, self.backend = free_port(), self.origin("one")

    def start(self, config=CONFIG):
        folder = self.folder()
        (folder / "t.map").write_bytes(MAP.encode())
        (folder / "block.lst").write_text("bad\n")
        self.p = self.penstock(config, folder=folder, port=self.port, PORT=self.port, S1=self.backend.port)
        self.dir = folder
        return self.p

    def folder(self):
        path = pathlib.Path(tempfile.mkdtemp(prefix="penstock-patterns-"))
        self.addCleanup(shutil.rmtree, path, True)
        return path

    def ask(self, path="/", key=None, value=None):
        headers = [("key", key)] if key is not None else []
        return get(self.port, path, headers + ([("value", value)] if value is not None else []))

    def everywhere(self, key, n=24):
        """What all workers say: connections go to any of them."""
        answers = [self.ask("/", key) for _ in range(n)]
        return {a.body.decode() for a in answers}

    def rows(self, name):
        return [line.split(" ", 1)[1] for line in self.p.cli(f"show map {name}").splitlines() if line.startswith("0x")]

    def test_a_rule_changes_a_map_for_all_workers_at_once(self):
        self.start()
        for i in range(40):
            self.ask("/learn", "k", f"v{i}")
            self.assertEqual(self.ask("/", "k").body.decode().split()[0], f"v{i}")
        self.assertEqual(self.everywhere("k"), {"v39 none -1"})
        self.assertEqual(self.rows("virt@learnt"), ["k v39"])
        self.ask("/forget", "k")
        self.assertEqual(self.everywhere("k"), {"none none -1"})
        self.ask("/old")
        self.assertEqual(self.rows("virt@answers"), ["/old 200"])

    def test_a_list_of_blocked_keys_changes_without_a_reload(self):
        self.start()
        self.assertEqual(self.ask("/guarded", "bad").status, 403)
        self.assertEqual(self.ask("/guarded", "new").status, 200)
        self.ask("/block", "new")
        self.ask("/block", "new")  # is there already
        self.assertEqual({self.ask("/guarded", "new").status for _ in range(12)}, {403})
        name = f"{self.dir}/block.lst"
        self.assertEqual(self.p.cli(f"show acl {name}").count("new"), 1)
        self.ask("/unblock", "new")
        self.assertEqual({self.ask("/guarded", "new").status for _ in range(12)}, {200})
        self.assertEqual(self.p.cli(f"add acl {name} other").strip(), "")
        self.assertEqual({self.ask("/guarded", "other").status for _ in range(12)}, {403})
        self.assertIn("match=yes", self.p.cli(f"get acl {name} other"))
        self.assertEqual(self.p.cli(f"clear acl {name}").strip(), "")
        self.assertEqual({self.ask("/guarded", k).status for k in ("other", "bad") for _ in range(6)}, {200})

    def test_the_runtime_socket_changes_maps_for_all_workers(self):
        p = self.start()
        name = f"{self.dir}/t.map"
        self.assertEqual(self.rows(name), ["/a first", "/a/b second  value", "/a/b/c third", "/n "])
        self.assertEqual(self.everywhere("/a/b/x"), {"none second  value -1"})
        self.assertEqual(p.cli(f"set map {name} /a/b other").strip(), "")
        self.assertEqual(self.everywhere("/a/b/x"), {"none other -1"})
        self.assertIn("entry not found", p.cli(f"set map {name} /zz other"))
        self.assertEqual(p.cli(f"add map {name} /a/b/x/ deep").strip(), "")
        self.assertEqual(self.everywhere("/a/b/x/y"), {"none deep -1"})
        reference = next(line.split()[0] for line in p.cli(f"show map {name}").splitlines() if "/a/b/x/" in line)
        self.assertEqual(p.cli(f"set map {name} #{reference} changed").strip(), "")
        self.assertEqual(self.everywhere("/a/b/x/y"), {"none changed -1"})
        self.assertEqual(p.cli(f"del map {name} #{reference}").strip(), "")
        self.assertIn("Key not found", p.cli(f"del map {name} #{reference}"))
        self.assertIn("Key not found", p.cli(f"del map {name} #0xffffffff"))
        self.assertEqual(self.everywhere("/a/b/x/y"), {"none other -1"})
        self.assertRegex(p.cli(f"get map {name} /a/b/zz"), r'type=beg, case=sensitive, found=yes, idx=\w+, key="/a/b", value="other", type="str"')
        self.assertIn("'x' is no number", p.cli("add map virt@numbers k x"))
        self.assertEqual(p.cli("add map virt@numbers k 12").strip(), "")
        self.assertEqual(self.everywhere("k"), {"none none 12"})
        self.assertIn("is no number", p.cli("set map virt@numbers k x"))
        self.assertIn("Unknown map identifier", p.cli("show map nowhere"))
        self.assertIn("Unknown map identifier", p.cli("show map #999"))
        number = re.search(rf"^(\d+) \({re.escape(name)}\)", p.cli("show map"), re.M)[1]
        self.assertEqual(len([l for l in p.cli(f"show map #{number}").splitlines() if l]), 4)

    def test_payloads_and_versions(self):
        p = self.start()
        self.assertEqual(p.cli("add map virt@learnt <<\nk1 v1\n  k2 v2 with spaces\n#k3 v3\n").strip(), "")
        self.assertEqual(self.rows("virt@learnt"), ["k1 v1", "k2 v2 with spaces", "#k3 v3"])
        self.assertEqual(p.cli("add map virt@learnt <<%E%\nk4 v4\n\nk5 v5\n%E%").strip(), "")
        self.assertIn("Missing value for key 'k6'", p.cli("add map virt@learnt <<\nk6\n"))
        self.assertEqual(p.cli("prepare map virt@learnt").strip(), "New version created: 1")
        self.assertEqual(p.cli("add map @1 virt@learnt <<\nk1 fresh\nk9 v9\n").strip(), "")
        self.assertIn("future", p.cli("add map @2 virt@learnt k v"))
        self.assertEqual(self.everywhere("k1"), {"v1 none -1"})
        self.assertEqual(p.cli("show map @1 virt@learnt").count("0x"), 2)
        self.assertRegex(p.cli("show map"), r"\(virt@learnt\) .* curr_ver=0 next_ver=1 entry_cnt=7")
        self.assertIn("out of range", p.cli("commit map @7 virt@learnt"))
        self.assertIn("Missing version", p.cli("commit map virt@learnt"))
        self.assertEqual(p.cli("commit map @1 virt@learnt").strip(), "")
        self.assertEqual(self.everywhere("k1"), {"fresh none -1"})
        self.assertEqual(self.everywhere("k2"), {"none none -1"})
        self.assertRegex(p.cli("show map"), r"\(virt@learnt\) .* curr_ver=1 next_ver=1 entry_cnt=2")
        self.assertEqual(p.cli("prepare map virt@learnt").strip(), "New version created: 2")
        p.cli("add map @2 virt@learnt x y")
        self.assertEqual(p.cli("clear map @2 virt@learnt").strip(), "")
        self.assertEqual(p.cli("show map @2 virt@learnt").strip(), "")
        self.assertEqual(p.cli("clear map virt@learnt").strip(), "")
        self.assertEqual(self.everywhere("k1"), {"none none -1"})

    def test_a_worker_born_later_sees_what_was_changed_before(self):
        p = self.start()
        self.ask("/learn", "k", "kept")
        p.cli(f"add map {self.dir}/t.map /late here")
        before = {self.ask("/", "k").header("worker") for _ in range(60)}
        for pid in before:
            os.kill(int(pid), signal.SIGKILL)
        wait_until("other workers answer", lambda: len({self.ask("/", "k").header("worker") for _ in range(60)} - before) == 3 if self.alive() else False, 20)
        self.assertEqual(self.everywhere("k"), {"kept none -1"})
        self.assertEqual(self.everywhere("/late"), {"none here -1"})

    def alive(self):
        try:
            return self.ask("/", "k").status == 200
        except OSError:
            return False

    def test_a_reload_reads_the_files_again_and_forgets_the_rest(self):
        p = self.start()
        name = f"{self.dir}/t.map"
        self.ask("/learn", "k", "v")
        p.cli(f"add map {name} /run time")
        (self.dir / "t.map").write_text("/a new\n")
        self.assertEqual(self.everywhere("/a"), {"none first -1"})
        p.reload()
        wait_until("the new file is in use", lambda: self.everywhere("/a") == {"none new -1"})
        self.assertEqual(self.everywhere("/run"), {"none none -1"})
        self.assertEqual(self.everywhere("k"), {"none none -1"})

    def test_large_lists_stream_and_are_deleted_while_traffic_goes_on(self):
        folder = self.folder()
        (folder / "t.map").write_text("".join(f"/k{i}/ value{i}\n" for i in range(60000)))
        (folder / "block.lst").write_text("bad\n")
        self.p = self.penstock(CONFIG, folder=folder, port=self.port, PORT=self.port, S1=self.backend.port)
        self.dir = folder
        self.assertEqual(self.everywhere("/k59999/x"), {"none value59999 -1"})
        load = self.load(self.port, clients=2)
        load.wait_for(20)
        shown = self.rows(f"{folder}/t.map")
        self.assertEqual(len(shown), 60000)
        self.assertEqual(shown[31415], "/k31415/ value31415")
        self.assertEqual(self.p.cli(f"prepare map {folder}/t.map").strip(), "New version created: 1")
        self.p.cli(f"add map @1 {folder}/t.map /k5/ only")
        self.assertEqual(self.p.cli(f"commit map @1 {folder}/t.map", timeout=60), "\n")
        self.assertEqual(self.rows(f"{folder}/t.map"), ["/k5/ only"])
        self.assertEqual(self.everywhere("/k59999/x"), {"none none -1"})
        self.assertRegex(self.p.cli("show map"), r"/t\.map\) .* entry_cnt=1\b")
        load.stop()

    def test_words_of_an_acl_line_have_a_number(self):
        config = CONFIG.replace("    default_backend app", "    http-request deny status 410 if { path_beg -u 77 /gone } !{ path -- }\n    default_backend app").replace("unless { path /old }", "unless { path_beg /old /gone }")
        p = self.start(config)
        self.assertEqual(self.ask("/gone/x").status, 410)
        self.assertIn("77 () acl 'path_beg'", p.cli("show acl"))
        self.assertEqual(p.cli("del acl #77 /gone").strip(), "")
        self.assertEqual({self.ask("/gone/x").status for _ in range(12)}, {200})
        self.assertEqual(p.cli("add acl #77 /go").strip(), "")
        self.assertEqual({self.ask("/gone/x").status for _ in range(12)}, {410})


class Mistakes(Case):
    def check(self, lines, files=()):
        with tempfile.TemporaryDirectory() as d:
            for name, content in files:
                (pathlib.Path(d) / name).write_text(content)
            text = "defaults\n    mode http\n    timeout client 1s\nfrontend f\n    bind 127.0.0.1:1\n" + "".join(f"    {line}\n" for line in lines).replace("@D@", d)
            path = pathlib.Path(d) / "t.cfg"
            path.write_text(text)
            code, out, err = run("-c", "-f", str(path))
            return code, (out + err).replace(d, "@D@")

    def test_malformed_rows_are_told_with_file_and_line(self):
        code, said = self.check(["http-request deny if { src -f @D@/x }"], [("x", "# c\n10.0.0.0/8\n10.1.2\nhost\n")])
        self.assertEqual(code, 1)
        self.assertIn("@D@/x:4: 'host' is no IPv4 or IPv6 address", said)
        code, said = self.check(["http-request set-var(txn.a) path,map_str_int(@D@/x)"], [("x", "a 1\nb two\n")])
        self.assertIn("@D@/x:2: the value 'two' is no number", said)
        code, said = self.check(["http-request set-var(txn.a) path,map_reg(@D@/x)"], [("x", "a 1\n(b two\n")])
        self.assertIn("@D@/x:2: the regular expression '(b' is malformed", said)
        code, said = self.check(["http-request set-var(txn.a) path,map_int(@D@/x)"], [("x", "1:2 a\n2:1 b\n")])
        self.assertIn("@D@/x:2: '2:1' is neither a number nor a range", said)

    def test_names_and_uses_that_do_not_fit(self):
        code, said = self.check(["http-request deny if { path -f @D@/none }"])
        self.assertIn("cannot read the pattern file '@D@/none'", said)
        code, said = self.check(["http-request deny if { path -f opt@@D@/none }"])
        self.assertEqual(code, 0, said)
        code, said = self.check(["http-request deny if { path -f @D@/x }", "http-request set-var(txn.a) path,map(@D@/x)"], [("x", "a b\n")])
        self.assertIn("already used as a list without values", said)
        code, said = self.check(["http-request deny if { path -M -f @D@/x }", "http-request set-var(txn.a) path,map(@D@/x)"], [("x", "a b\n")])
        self.assertEqual(code, 0, said)
        code, said = self.check(["http-request deny if { path -f @D@/x -m beg a }"], [("x", "a b\n")])
        self.assertIn("-m must stand before -f", said)
        code, said = self.check(["http-request set-map(virt@x) %[src]"])
        self.assertIn("a value", said)
        code, said = self.check(["http-request set-map(virt@x) %[src] 1"])
        self.assertEqual(code, 0)
        self.assertIn("nothing looks up in 'virt@x'", said)


if __name__ == "__main__":
    main()
