#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""tests/diff/diff.py [--binary FILE] [-k WORD] [--learn] [-j N]: the differential test.

Small cases, each a frontend of its own, many in one process: a configuration, a request, what must come of it.
The same cases run against any binary that speaks the language (`make check-oracle`): expectations come from the
manual and from there, never from our own output.

expr/*.txt   one expression a line and the text that it yields (see expr/README)
cases_*.py   whole rules: lines of a frontend, a raw request, a scripted answer of a server, the outcome

--learn replaces `?` expectations in expr/*.txt by what the binary says; it refuses to learn from penstock.
"""
import argparse
import asyncio
import concurrent.futures
import importlib.util
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
from penstock_test import PATIENCE, ROOT, free_port  # noqa: E402

OWN = os.environ.get("PENSTOCK", str(ROOT / "build" / "penstock"))
NOTHING = "(none)"


class Case:
    """One frontend, one connection, one outcome. `front`, `back`, `extra`: configuration; @N@ is the case's number."""

    def __init__(self, name, front="", request=b"", back="", extra="", answer=None, mode="http", since=(2, 6), until=None,
                 status=None, headers=None, body=None, origin=None, origin_lacks=None, log=None, raw=None, seconds=5, env=None,
                 closed=None, least=None, most=None, refused=None, top="", where=None, listen=False):
        self.name, self.front, self.back, self.extra, self.mode = name, front, back, extra, mode
        self.request = request if isinstance(request, list) else [request]
        self.answer, self.since, self.until = answer, tuple(since), until and tuple(until)
        self.status, self.headers, self.body, self.raw = status, headers or {}, body, raw
        self.origin, self.origin_lacks, self.log = as_list(origin), as_list(origin_lacks), as_list(log)
        self.seconds, self.closed, self.least, self.most = seconds, closed, least, most
        self.refused, self.top, self.where, self.listen = refused, top, where, listen
        self.got = {}

    def wanted_for(self, version):
        return version >= self.since and not (self.until and version >= self.until)


def as_list(v):
    return [] if v is None else v if isinstance(v, list) else [v]


def get(target="/", *fields, method="GET", body=b"", version="1.1", close=True):
    """A request in bytes."""
    fields = list(fields)
    if not any(f.lower().startswith("host:") for f in fields):
        fields.insert(0, "Host: example.com")
    if close:
        fields.append("Connection: close")
    if body:
        fields.append(f"Content-Length: {len(body)}")
    return f"{method} {target} HTTP/{version}\r\n{''.join(f + chr(13) + chr(10) for f in fields)}\r\n".encode("latin-1") + body


# ------------------------------------------------------------------------------------- expressions in files

def unescape(text):
    return re.sub(r"\\(x[0-9a-fA-F]{2}|.)", lambda m: chr(int(m[1][1:], 16)) if m[1][0] == "x" and len(m[1]) == 3
                  else {"n": "\n", "r": "\r", "t": "\t"}.get(m[1], m[1]), text)


def escape(text):
    out = "".join(c if 32 <= ord(c) < 127 and c != "\\" else "\\\\" if c == "\\" else f"\\x{ord(c):02x}" for c in text)
    return out[:-1] + "\\x20" if out.endswith(" ") else "\\x20" + out[1:] if out.startswith(" ") else out


def expression_cases(path):
    """The lines of one file; see expr/README."""
    request, tcp, listen, block, pre, answer, in_answer = get(), False, False, None, [], None, None
    for number, line in enumerate(path.read_text().split("\n"), 1):
        if line.startswith("> ") or line == ">":
            block = (block or []) + [line[2:]]
            continue
        if block is not None:
            request, block = build_request(block, tcp), None
        if line.startswith("< ") or line == "<":
            in_answer = (in_answer or []) + [line[2:]]
            continue
        if in_answer is not None:
            answer, in_answer = build_request(in_answer, False), None
        if line.startswith("+"):
            pre = pre + [line[1:].strip()] if line[1:].strip() else []
        if line == "!tcp":
            tcp, answer = True, None
        elif line == "!http":
            tcp, answer, request, pre = False, None, get(), []
        elif line == "!request":
            answer = None
        elif line in ("!listen", "!frontend"):
            listen = line == "!listen"
        if not line or line[0] in "#!+":
            continue
        left, _, want = line.rpartition(" => ")
        since, until = (2, 6), None
        while m := re.match(r"@(<?)(\d+)\.(\d+) ", left):
            v = (int(m[2]), int(m[3]))
            since, until = (since, v) if m[1] else (v, until)
            left = left[m.end():]
        case = expression_case(path, number, left.strip(), want, request, tcp, pre, answer, since, until)
        case.listen = listen
        yield case


def build_request(lines, tcp):
    if tcp:
        return unescape("".join(lines)).encode("latin-1")
    at = lines.index("") if "" in lines else len(lines)
    head, body = lines[:at], unescape("\n".join(lines[at + 1:])).encode("latin-1")
    if body and not any(h.lower().startswith(("content-length", "transfer-encoding")) for h in head):
        head = head + [f"Content-Length: {len(body)}"]
    if not any(h.lower().startswith("connection:") for h in head):
        head = head + ["Connection: close"]
    return unescape("\r\n".join(head + ["", ""])).encode("latin-1") + body


def expression_case(path, number, text, want, request, tcp, pre, answer, since, until):
    name = f"{path.stem}:{number} {text}"
    acl = text.startswith(("{", "if "))
    text = text.removeprefix("if ")
    lines = list(pre)
    if tcp:
        rules = "tcp-request content"
        # set-var does not wait: a rule before it does
        lines = ["tcp-request inspect-delay 400ms", f"{rules} set-var(txn.w) int(1) if {{ req.len ge {len(request)} }}"] + lines
        lines.append(f"{rules} set-var(txn.r) {text}" if not acl else f"{rules} set-var(txn.r) str(yes) if {text}")
        lines += [f"{rules} set-var(txn.found) str(found) if {{ var(txn.r) -m found }}", "tcp-request content reject",
                  'log-format "c@N@ <%[var(txn.found)]> %[var(txn.r)]"']
        log = [f"<{'found' if want != NOTHING else '-'}> {unescape(want) if want not in (NOTHING, '') else '-'}$"]
        return mark(Case(name, "\n".join(lines), request, mode="tcp", log=log, since=since, until=until, where=(path, number)), want)
    rules = "http-response" if answer else "http-request"
    lines.append(f"{rules} set-var(txn.r) {text}" if not acl else f"{rules} set-var(txn.r) str(yes) if {text}")
    lines += [f'{rules} return status 200 content-type text/plain lf-string "%[var(txn.r)]" if {{ var(txn.r) -m found }}',
              f"{rules} return status 404"]
    if want == NOTHING:
        return mark(Case(name, "\n".join(lines), request, status=404, answer=answer, since=since, until=until, where=(path, number)), want)
    return mark(Case(name, "\n".join(lines), request, status=200, body=unescape(want), answer=answer, since=since, until=until,
                     where=(path, number)), want)


def mark(case, want):
    case.unknown = want == "?"
    return case


# ----------------------------------------------------------------------------------------------- running

TOP = """
global
    maxconn 400
    log 127.0.0.1:@LOG@ local0
    @TOP@
defaults
    timeout connect 3s
    timeout client 5s
    timeout server 5s
    log global
"""


class Run:
    """All cases of one file in one process of one binary."""

    def __init__(self, binary, cases):
        self.binary, self.cases = binary, cases
        self.own = pathlib.Path(binary).name == "penstock"
        self.logs, self.origins, self.folder = {}, [], None

    def config(self, skip):
        text = [TOP.replace("@LOG@", str(self.log_port)).replace("@TOP@", "\n    ".join(dict.fromkeys(c.top for c in self.cases if c.top)))]
        owner = {}
        for n, c in enumerate(self.cases):
            if n in skip:
                continue
            first = sum(t.count("\n") + 1 for t in text) + 1
            text.append(self.sections(n, c))
            for line in range(first, first + text[-1].count("\n") + 1):
                owner[line] = n
        return "\n".join(text) + "\n", owner

    def sections(self, n, c):
        put = lambda lines: "\n".join("    " + line.strip() for line in lines.replace("@N@", str(n)).strip().split("\n"))  # noqa: E731
        logging = "" if "log-format" in c.front or "option httplog" in c.front else 'log-format "c@N@ %ST"'
        if c.listen:
            return f"listen b{n}\n    mode {c.mode}\n    bind 127.0.0.1:{c.port}\n{put(c.front)}\n{put(logging)}\n{put(c.back)}\n    server s 127.0.0.1:{c.origin_port}" + ("\n" + c.extra.replace("@N@", str(n)) if c.extra else "")
        out = f"frontend f{n}\n    mode {c.mode}\n    bind 127.0.0.1:{c.port}\n{put(c.front)}\n{put(logging)}"
        out += f"\n    default_backend b{n}\nbackend b{n}\n    mode {c.mode}\n{put(c.back)}\n    server s 127.0.0.1:{c.origin_port}"
        return out + ("\n" + c.extra.replace("@N@", str(n)) if c.extra else "")

    def accepted(self):
        """Writes a configuration without the cases that are not understood; gives those with their message."""
        refused = {}
        for _ in range(60):
            text, owner = self.config(refused)
            (self.folder / "diff.cfg").write_text(text)
            p = subprocess.run([self.binary, "-c", "-f", "diff.cfg"], cwd=self.folder, capture_output=True, text=True, errors="replace")
            if p.returncode == 0 or len(refused) == len(self.cases):
                return refused
            found = False
            for m in re.finditer(r"diff\.cfg:(\d+)[\]:][^\n]*", p.stderr):
                if "WARNING" not in m.string[m.string.rfind("\n", 0, m.start()) + 1:m.start()] and int(m[1]) in owner and owner[int(m[1])] not in refused:
                    refused[owner[int(m[1])]], found = m[0], True
            if not found:
                for m in re.finditer(r"(?:frontend|backend|proxy|listen)s? '?[fb](\d+)'?", p.stderr):
                    refused.setdefault(int(m[1]), p.stderr[-400:])
                    found = True
            if not found:
                raise SystemExit(f"{self.binary}: {p.stderr}{p.stdout}")
        raise SystemExit(f"{self.binary}: no end of mistakes: {p.stderr}")

    async def run(self):
        loop = asyncio.get_running_loop()
        transport, _ = await loop.create_datagram_endpoint(lambda: Logs(self.logs), local_addr=("127.0.0.1", 0))
        self.log_port = transport.get_extra_info("sockname")[1]
        for n, c in enumerate(self.cases):
            c.port, c.number = free_port(), n
            c.origin_port = 1
            if c.answer is not None:
                await self.start_origin(c)
        with tempfile.TemporaryDirectory(prefix="penstock-diff-") as folder:
            self.folder = pathlib.Path(folder)
            (self.folder / "a.txt").write_text("one\ntwo\n")
            (self.folder / "page.html").write_text("<p>page</p>\n")
            (self.folder / "format.txt").write_text("m=%[method] %[path]\n")
            refused = self.accepted()
            if len(refused) == len(self.cases):
                return [(c, self.judge(c, refused[c.number])) for c in self.cases]
            with open(self.folder / "err", "wb") as err:
                process = subprocess.Popen([self.binary, "-db", "-f", "diff.cfg"], cwd=folder, stdin=subprocess.DEVNULL, stdout=err, stderr=err,
                                           env=dict(os.environ, DIFF_VALUE="from the environment"))
            try:
                await self.wait_up(process, refused)
                gate = asyncio.Semaphore(24)
                await asyncio.gather(*(self.one(c, gate) for c in self.cases if c.number not in refused))
            finally:
                process.terminate()
                try:
                    process.wait(10)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
            text = (self.folder / "err").read_text(errors="replace")
            for sign in ("ERROR: AddressSanitizer", "runtime error:"):
                if sign in text:
                    raise SystemExit(text[max(0, text.index(sign) - 200):][:6000])
        for s in self.origins:
            s.close()
        transport.close()
        return [(c, self.judge(c, refused.get(c.number))) for c in self.cases]

    async def wait_up(self, process, refused):
        end = time.monotonic() + 20 * PATIENCE
        last = [c for c in self.cases if c.number not in refused][-1:]
        while last and time.monotonic() < end:
            if process.poll() is not None:
                raise SystemExit(f"{self.binary} ended: {(self.folder / 'err').read_text(errors='replace')}")
            try:
                _, w = await asyncio.open_connection("127.0.0.1", last[0].port)
                w.close()
                return
            except OSError:
                await asyncio.sleep(0.02)

    async def start_origin(self, case):
        case.seen = b""

        async def serve(reader, writer):
            try:
                head = await reader.readuntil(b"\r\n\r\n") if case.mode == "http" else await reader.read(4096)
                m = re.search(rb"(?i)content-length: *(\d+)", head)
                body = await reader.readexactly(int(m[1])) if m else b""
                case.seen += head + body
                answer = case.answer if isinstance(case.answer, list) else [case.answer]
                for part in answer:
                    if isinstance(part, (int, float)):
                        await asyncio.sleep(part)
                    else:
                        writer.write(part)
                        await writer.drain()
                writer.close()
            except (OSError, EOFError, asyncio.IncompleteReadError):
                writer.close()
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        case.origin_port = server.sockets[0].getsockname()[1]
        self.origins.append(server)

    async def one(self, c, gate):
        async with gate:
            began = time.monotonic()
            c.got = {"raw": b"", "closed": False}
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", c.port)
                for part in c.request:
                    if isinstance(part, (int, float)):
                        await asyncio.sleep(part)
                    else:
                        writer.write(part)
                        await writer.drain()
                await asyncio.wait_for(self.read(reader, c.got), c.seconds * PATIENCE)
            except (OSError, asyncio.TimeoutError) as e:
                c.got["error"] = repr(e)
            c.got["took"] = time.monotonic() - began
            if c.log and c.mode == "tcp" or c.log:
                for _ in range(200):
                    if c.number in self.logs:
                        break
                    await asyncio.sleep(0.01)
            try:
                writer.close()
            except UnboundLocalError:
                pass

    @staticmethod
    async def read(reader, got):
        while data := await reader.read(65536):
            got["raw"] += data
        got["closed"] = True

    def judge(self, c, refused):
        """What is wrong; empty when all is as it must be."""
        if c.refused is not None:
            return "" if refused else "was accepted, must be refused"
        if refused:
            return f"not understood: {refused}"
        raw, wrong = c.got["raw"], []
        status, headers, body = parse(raw)
        if c.unknown if hasattr(c, "unknown") else False:
            return "expectation not known yet"
        if c.status is not None and status != c.status:
            wrong.append(f"status {status}, must be {c.status}")
        for name, value in c.headers.items():
            got = [v for k, v in headers if k == name.lower()]
            want = [] if value is None else value if isinstance(value, list) else [value]
            if got != want and not (len(got) == len(want) and all(isinstance(w, re.Pattern) and w.search(g) for w, g in zip(want, got))):
                wrong.append(f"field {name} {got}, must be {want}")
        if c.body is not None and body.decode("latin-1") != c.body:
            wrong.append(f"body {escape(body.decode('latin-1'))!r}, must be {escape(c.body)!r}")
        if c.raw is not None and raw != c.raw:
            wrong.append(f"bytes {raw!r}, must be {c.raw!r}")
        if c.closed is not None and c.got["closed"] != c.closed:
            wrong.append(f"connection {'closed' if c.got['closed'] else 'left open'}")
        if c.least is not None and c.got["took"] < c.least:
            wrong.append(f"took {c.got['took']:.3f} s, must be at least {c.least}")
        if c.most is not None and c.got["took"] > c.most * PATIENCE:
            wrong.append(f"took {c.got['took']:.3f} s, must be at most {c.most}")
        seen = getattr(c, "seen", b"").decode("latin-1")
        wrong += [f"the server did not see {w!r} but {seen!r}" for w in c.origin if not re.search(w, seen, re.M)]
        wrong += [f"the server saw {w!r}: {seen!r}" for w in c.origin_lacks if re.search(w, seen, re.M)]
        log = self.logs.get(c.number, "")
        for w in c.log:
            if not (w[:-1] and log.endswith(w[:-1]) if w.endswith("$") else w in log):
                wrong.append(f"the log lacks {w!r}: {log!r}")
        return "; ".join(wrong) + (f" ({c.got['error']})" if wrong and "error" in c.got else "")


class Logs(asyncio.DatagramProtocol):
    def __init__(self, into):
        self.into = into

    def datagram_received(self, data, _):
        text = data.decode("latin-1").rstrip("\n")
        if m := re.search(r": c(\d+) ", text):
            self.into[int(m[1])] = text


def parse(raw):
    """Status, fields (names in lower case) and body of the last response of a stream of them."""
    status, headers, body = None, [], raw
    while m := re.match(rb"HTTP/1\.[01] (\d+)[^\n]*\n", body):
        head, _, rest = body.partition(b"\r\n\r\n")
        status = int(m[1])
        headers += [(k.strip().lower(), v.strip()) for k, _, v in (line.partition(":") for line in head.decode("latin-1").split("\r\n")[1:])]
        body = rest
        if status >= 200:
            break
    if ("transfer-encoding", "chunked") in headers:
        whole = b""
        while m := re.match(rb"([0-9a-fA-F]+)[^\n]*\n", body):
            n = int(m[1], 16)
            whole += body[m.end():m.end() + n]
            body = body[m.end() + n + 2:]
            if not n:
                break
        body = whole
    return status, headers, body


# ------------------------------------------------------------------------------------------------- all of it

def version_of(binary):
    text = subprocess.run([binary, "-v"], capture_output=True, text=True).stdout
    m = re.search(r"HAProxy version (\d+)\.(\d+)", text)
    return (int(m[1]), int(m[2])) if m else (99, 0)


def load(word):
    groups = []
    for f in sorted(HERE.glob("expr/*.txt")):
        groups.append((f.stem, list(expression_cases(f))))
    for f in sorted(HERE.glob("cases_*.py")):
        spec = importlib.util.spec_from_file_location(f.stem, f)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        groups.append((f.stem, module.CASES))
    if word:
        groups = [(g, [c for c in cases if word in g or word in c.name]) for g, cases in groups]
    return [(g, cases) for g, cases in groups if cases]


def learn(results):
    """Writes what the binary said into the files."""
    by_file = {}
    for c, _, logs in results:
        if getattr(c, "unknown", False) and c.got:
            status, _, body = parse(c.got["raw"])
            if c.mode == "tcp":
                m = re.search(r": c\d+ <(.*?)> (.*)", logs.get(c.number, ""), re.S)
                value = "?" if not m else NOTHING if m[1] == "-" else m[2]
                value = escape(value) if value != NOTHING else value
            else:
                value = escape(body.decode("latin-1")) if status == 200 else NOTHING if status == 404 else "?"
            by_file.setdefault(c.where[0], {})[c.where[1]] = value
    for path, values in by_file.items():
        lines = path.read_text().split("\n")
        for number, value in values.items():
            lines[number - 1] = re.sub(r" => \?$", lambda _, v=value: f" => {v}", lines[number - 1])
        path.write_text("\n".join(lines))


def mark_younger(results, since):
    for path in {c.where[0] for c, wrong, _ in results if wrong and c.where}:
        lines = path.read_text().split("\n")
        for c, wrong, _ in results:
            if wrong and c.where and c.where[0] == path:
                lines[c.where[1] - 1] = f"@{since} " + re.sub(r"^@[0-9.]+ ", "", lines[c.where[1] - 1])
        path.write_text("\n".join(lines))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--binary", default=OWN)
    ap.add_argument("-k", metavar="WORD")
    ap.add_argument("-j", type=int, default=2)
    ap.add_argument("--learn", action="store_true")
    ap.add_argument("--since", metavar="VERSION", help="marks the lines of expr/*.txt that fail here as younger: @VERSION")
    args = ap.parse_args()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 16384), hard))
    version, own = version_of(args.binary), pathlib.Path(args.binary).name == "penstock"
    if args.learn and (own or version == (99, 0)):
        raise SystemExit("expectations are not learnt from penstock")
    passed = failed = 0

    def work(group):
        name, cases = group
        cases = [c for c in cases if c.wanted_for(version)]
        run = Run(args.binary, cases)
        return name, run, asyncio.run(run.run()) if cases else []

    groups = [(f"{name} {i // 400 + 1}" if len(cases) > 400 else name, cases[i:i + 400])
              for name, cases in load(args.k) for i in range(0, len(cases), 400)]
    everything = []
    with concurrent.futures.ThreadPoolExecutor(args.j) as pool:
        for name, run, results in pool.map(work, groups):
            bad = [(c, wrong) for c, wrong in results if wrong]
            everything += [(c, wrong, run.logs) for c, wrong in results]
            passed += len(results) - len(bad)
            failed += len(bad)
            for c, wrong in bad:
                if not (args.learn and getattr(c, "unknown", False) and c.got):
                    print(f"--- FAILED diff {c.name}\n    {wrong}")
    if args.learn:
        learn(everything)
    if args.since:
        mark_younger(everything, args.since)
    print(f"diff: {passed} passed, {failed} failed ({args.binary})")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
