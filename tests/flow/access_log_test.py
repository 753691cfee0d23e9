# SPDX-License-Identifier: BSD-2-Clause
"""Log lines beside the reference's for the same traffic: what differs between two runs (times, ports, pids)
is masked, everything else has to be the same byte for byte. Without the reference, the patterns alone hold."""
import re
import pathlib

from penstock_test import Case, free_port, get, main, reference, wait_until, Client

CONFIG = """
global
    log 127.0.0.1:@LOG@ @TARGET@
    nbthread 1
defaults
    mode @MODE@
    log global
    timeout connect 1s
    timeout client 2s
    timeout server 2s
    retries 0
frontend www
    bind 127.0.0.1:@PORT@ name web
@FRONT@
    default_backend app
backend app
    server s1 127.0.0.1:@S1@
backend dead
    server d1 127.0.0.1:@DEAD@
"""


def masked(line):
    line = re.sub(r"^(<\d+>)\w{3} [ \d]\d [\d:]{8} (localhost )?\w+\[\d+\]", r"\1DATE \2TAG[PID]", line)
    line = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:PORT", line)
    line = re.sub(r"\d\d/\w{3}/\d{4}:[\d:.]+( \+\d{4})?", "WHEN", line)
    line = re.sub(r"(?<= )(\+?-?\d+(/\+?-?\d+){2,4})(?= )", lambda m: "/".join("-1" if t == "-1" else "+N" if t[0] == "+" else "N" for t in m[0].split("/")), line, count=1)
    # the reference counts a head by its parts, we count what went over the wire
    line = re.sub(r"(?<= )(200|302|400|403|503) (\+?)\d+ ", r"\1 \2BYTES ", line)
    line = re.sub(r'(?<="" "" )\d+ \d+ ("\w+" "\w+" "\w+") (\d+ ){5}', r"PORT MS \1 TIMES ", line)  # httplog clf
    return line


class LogCase(Case):
    mode = "http"

    def lines(self, front, traffic, count, binary=None, target="local0"):
        """What one binary logs of `traffic(port)`."""
        log, origin, port = self.syslog(), self.origin("one"), free_port()
        values = dict(LOG=log.port, TARGET=target, MODE=self.mode, PORT=port, FRONT=front, S1=origin.port, DEAD=free_port())
        p = self.penstock(CONFIG, args=("-db",), port=None, wait=False, binary=binary, **values)
        def listens():
            # asked without a connection of ours, which would be logged
            hexa = f"{port:04X}"
            return any(l.split()[1].endswith(":" + hexa) and l.split()[3] == "0A" for l in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:])
        wait_until(f"the port is listened to: {p.stderr()}", listens)
        traffic(port)
        got = []
        while len(got) < count:
            line = log.next()
            if " is DOWN" not in line and "started." not in line:
                got.append(line)
        p.stop()
        return [masked(g) for g in got]

    def same(self, front, traffic, count, expected=None, **kw):
        ours = self.lines("\n".join("    " + l for l in front), traffic, count, **kw)
        if reference():
            self.assertEqual(ours, self.lines("\n".join("    " + l for l in front), traffic, count, binary=reference(), **kw))
        if expected:
            for line, pattern in zip(ours, expected):
                self.assertRegex(line, pattern)


def one(path="/", **kw):
    return lambda port: get(port, path, **kw)


def raw(data):
    def send(port):
        with Client(port) as c:
            c.send(data)
            c.reader.to_end()
    return send


class Http(LogCase):
    def test_httplog(self):
        self.same(["option httplog"], one("/a?b=c"), 1, [r'^<134>DATE TAG\[PID\]: 127\.0\.0\.1:PORT \[WHEN\] www app/s1 N/N/N/N/N 200 BYTES - - ---- 1/1/0/0/0 0/0 "GET /a\?b=c HTTP/1\.1"\n?$'])

    def test_clf(self):
        self.same(["option httplog clf"], one("/a"), 1)

    def test_denied_returned_redirected(self):
        self.same(["option httplog", "http-request deny if { path /d }"], one("/d"), 1, [r"www www/<NOSRV> .* 403 BYTES - - PR--"])
        self.same(["option httplog", "http-request redirect location /x if { path /r }"], one("/r"), 1)

    def test_dead_server(self):
        self.same(["option httplog", "use_backend dead if { path /x }"], one("/x"), 1, [r"dead/d1 .* 503 BYTES - - SC--"])

    def test_bad_request(self):
        self.same(["option httplog"], raw("GET / HTTP/1.1\r\nBad Name: x\r\n\r\n"), 1, [r"<BADREQ>"])

    def test_captures(self):
        self.same(["option httplog", "capture request header Host len 20", "capture response header X-Origin len 3"], one(), 1, [r"\{test\.example\} \{one\}"])

    def test_log_format(self):
        self.same(['log-format "%ci %HM %HU %HP %HQ %HV %ST %B %ts %f %b %s %{+Q}r %sc %rc %{+E}o %hr"'], one("/p?q=1"), 1)

    def test_separate_errors_and_normal(self):
        self.same(["option httplog", "option log-separate-errors", "use_backend dead if { path /x }"], one("/x"), 1, ["^<131>"])
        self.same(["option httplog", "option dontlog-normal", "use_backend dead if { path /x }"], lambda p: (get(p, "/"), get(p, "/x")), 1, ['"GET /x '])

    def test_logasap(self):
        self.same(["option httplog", "option logasap"], one(), 1)

    def test_no_format(self):
        self.same([], one(), 1, [r"Connect from 127\.0\.0\.1:PORT to 127\.0\.0\.1:PORT \(www/HTTP\)"])

    def test_bad_proxy_header(self):
        self.same(["option httplog", "bind 127.0.0.1:@X@ accept-proxy".replace("@X@", str(free_port()))], one(), 1)

    def test_headers(self):
        for target in ("format rfc3164 local1", "format short local0", "format priority local0", "format raw local0"):
            self.same(["option httplog"], one(), 1, target=target)


    def test_statistics_are_answered_by_a_service(self):
        self.same(["option httplog", "stats uri /s"], one("/s;csv"), 1, [r"www www/<STATS> N/N/N/N/N 200 "])
        self.same(["option httplog", "http-request use-service prometheus-exporter if { path /m }"], one("/m"), 1, [r"www www/<PROMEX> N/N/N/N/N 200 "])

    def test_dontlognull(self):
        def traffic(port):
            for data in (b"", b"GET / HT"):
                with Client(port) as c:
                    c.send(data)
                    c.sock.shutdown(1)
                    c.closed()
            with Client(port) as c:
                c.closed()  # by timeout client, unasked
            get(port)
        self.same(["option httplog", "option dontlognull", "timeout client 200ms"], traffic, 2, [r' 400 BYTES - - CR-- .* "<BADREQ>"$', r'"GET / HTTP/1.1"$'])

    def test_dontlog_normal(self):
        def traffic(port):
            get(port)
            get(port, "/dead")
        self.same(["option httplog", "option dontlog-normal", "use_backend dead if { path /dead }"], traffic, 1, [r"www dead/d1 .* 503 .* SC-- "])

    def test_error_log_format(self):
        front = ["option httplog", 'error-log-format "%ci failed: %[fc_err] %[fc_err_name] %[fc_err_str]"', "bind 127.0.0.1:@X@ accept-proxy"]
        for said, text in ((b"GET / HTTP/1.0\r\n\r\n", "15 PRX_NOT_HDR Received something which does not look like a PROXY protocol header"),
                           (b"PROXY TCP4 x\r\n", "16 PRX_BAD_HDR Received an invalid PROXY protocol header"),
                           (b"PROXY TCP4 127", "14 PRX_TRUNCATED Truncated PROXY protocol header received"),
                           (b"", "11 PRX_EMPTY Connection closed while waiting for PROXY protocol header")):
            def lines():
                port = free_port()

                def traffic(_):
                    wait_until("the second port is listened to", lambda: f":{port:04X} 00000000:0000 0A" in pathlib.Path("/proc/net/tcp").read_text())
                    with Client(port) as c:
                        c.send(said)
                        c.sock.shutdown(1)
                        c.closed()
                return self.lines("\n".join("    " + l.replace("@X@", str(port)) for l in front), traffic, 1)
            ours = lines()
            self.assertTrue(ours[0].rstrip().endswith("127.0.0.1 failed: " + text), ours)


class Tcp(LogCase):
    mode = "tcp"

    def test_dontlognull_leaves_out_clients_that_say_nothing(self):
        def traffic(port):
            with Client(port):
                pass
            get(port)
        self.same(["option tcplog", "option dontlognull"], traffic, 1, [r"www app/s1 N/N/N [1-9]"])

    def test_tcplog(self):
        self.same(["option tcplog"], one(), 1, [r"www app/s1 N/N/N \d+ -- 1/1/0/0/0 0/0"])

    def test_dead_server(self):
        self.same(["option tcplog", "default_backend dead"], raw("x"), 1)

    def test_no_format(self):
        self.same([], one(), 1)


if __name__ == "__main__":
    main()
