# SPDX-License-Identifier: BSD-2-Clause
"""Counters of `show stat` after known traffic. Expected values are written here; where the reference is
installed it has to count the same."""
import concurrent.futures
import socket
import time
import types

from penstock_test import Case, Client, free_port, get, main, reference, wait_until

CONFIG = """
global
    stats socket @DIR@/sock mode 600 level admin
    nbthread 1
defaults
    mode http
    timeout connect 1s
    timeout client 1s
    timeout server 1s
    retries 0
frontend www
    bind 127.0.0.1:@PORT@
    http-request deny if { path /denied }
    http-request return status 204 if { path /returned }
    http-request redirect location /x if { path /redirected }
    http-request tarpit if { path /tarpit }
    http-request reject if { path /rejected }
    http-response deny if { res.hdr(x-deny) front }
    timeout tarpit 50ms
    use_backend dead if { path /dead }
    use_backend retry if { path /retry }
    use_backend redisp if { path /redispatch }
    use_backend queue if { path /queue }
    use_backend empty if { path /none }
    default_backend app
frontend noconn
    bind 127.0.0.1:@NOCONN@
    tcp-request connection reject
frontend nosess
    bind 127.0.0.1:@NOSESS@
    tcp-request session reject
frontend tcp
    mode tcp
    bind 127.0.0.1:@TCP@
    default_backend tcpapp
backend app
    http-request deny if { path /denied-behind }
    http-response deny if { res.hdr(x-deny) back }
    server s1 127.0.0.1:@S1@
backend dead
    server d1 127.0.0.1:@DEAD@
backend retry
    retries 1
    timeout connect 100ms
    server d1 127.0.0.1:@DEAD@
backend redisp
    retries 1
    option redispatch
    timeout connect 100ms
    balance first
    server d1 127.0.0.1:@DEAD@
    server s1 127.0.0.1:@S1@
backend empty
backend queue
    timeout queue 100ms
    timeout server 3s
    server q1 127.0.0.1:@S1@ maxconn 1
backend tcpapp
    mode tcp
    server t1 127.0.0.1:@T1@
"""
FIELDS = ("stot dreq dresp ereq econ eresp wretr wredis hrsp_1xx hrsp_2xx hrsp_3xx hrsp_4xx hrsp_5xx hrsp_other req_tot cli_abrt srv_abrt "
          "lbtot conn_tot intercepted dcon dses").split()


def answer(request):
    path = request.target
    if path == "/500":
        return 500, [], b"x"
    if path == "/404":
        return 404, [], b"x"
    if path == "/302":
        return 302, [("Location", "/")], b""
    if path == "/garbage":
        return b"nonsense\r\n\r\n"
    if path == "/cut":
        return b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\nConnection: close\r\n\r\nshort"
    if path == "/silent":
        return None
    if path == "/slow":
        time.sleep(1.3)
        return None
    if path.startswith("/deny-response"):
        return 200, [("x-deny", "front" if path.endswith("front") else "back")], b"x"
    if path == "/later":
        time.sleep(0.3)
    return 200, [], b"x"


class Counters(Case):
    def count(self, traffic, binary=None):
        """What the counters say after `traffic(ports)`, zeros left out."""
        origin = self.origin(answer=answer)
        echo = self.server(lambda sock, _: sock.sendall(sock.recv(100)))
        ports = types.SimpleNamespace(**{name: free_port() for name in ("port", "noconn", "nosess", "tcp")})
        p = self.penstock(CONFIG, args=("-db",), binary=binary, wait=False, PORT=ports.port, NOCONN=ports.noconn, NOSESS=ports.nosess, TCP=ports.tcp,
                          S1=origin.port, DEAD=free_port(), T1=echo.port)

        def answers():
            try:
                return p.stat()
            except OSError:
                return None
        wait_until("it serves", answers)
        traffic(ports)
        wait_until("all is over", lambda: all(r["scur"] == "0" for r in p.stat().values()))
        rows = p.stat()
        p.stop()
        return {"/".join(k): {f: int(r[f]) for f in FIELDS if r.get(f) not in ("", "0", None)} for k, r in rows.items()}

    def same(self, traffic, **expected):
        """`expected`: rows by name with '_' for '/', each "field=number …"; rows that are not named have to be all 0."""
        with concurrent.futures.ThreadPoolExecutor() as pool:
            runs = list(pool.map(lambda binary: self.count(traffic, binary), [None] + ([reference()] if reference() else [])))
        ours, *theirs = [{k: v for k, v in run.items() if v} for run in runs]
        for other in theirs:
            self.assertEqual(ours, other)
        wanted = {k.replace("__", "/"): {f.split("=")[0]: int(f.split("=")[1]) for f in v.split()} for k, v in expected.items()}
        self.assertEqual(ours, wanted)

    def ask(self, *paths, **kw):
        def traffic(ports):
            for path in paths:
                get(ports.port, path, **kw)
        return traffic


def keep_alive(case):
    with Client(case.port) as c:
        for path in ("/", "/404", "/"):
            c.get(path)


def cut_off(data, port="port", wait=0.1, reset=True):
    """A client that says something and goes away."""
    def traffic(case):
        with Client(getattr(case, port)) as c:
            c.send(data)
            time.sleep(wait)
            if reset:
                c.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    return traffic


def raw(data, port="port"):
    def traffic(case):
        try:
            with Client(getattr(case, port)) as c:
                c.send(data)
                c.reader.to_end()
        except OSError:
            pass
    return traffic


GET = "GET {} HTTP/1.1\r\nHost: x\r\n\r\n"
SCENARIOS = {
    "statuses": ["/", "/404", "/500", "/302"],
    "denied": ["/denied"], "denied_behind": ["/denied-behind"], "denied_response": ["/deny-response"], "denied_response_front": ["/deny-response-front"],
    "returned": ["/returned"], "redirected": ["/redirected"], "tarpit": ["/tarpit"], "rejected": raw(GET.format("/rejected")),
    "dead": ["/dead"], "retry": ["/retry"], "redispatch": ["/redispatch"], "none": ["/none"],
    "garbage": ["/garbage"], "cut": raw(GET.format("/cut")), "silent": ["/silent"], "slow": ["/slow"],
    "bad_request": raw("GARBAGE\r\n\r\n"), "empty": raw(""), "half": cut_off("GET / HT"), "timeout": raw("GET / HT"),
    "client_gone": cut_off(GET.format("/later")), "client_gone_in_body": cut_off("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc"),
    "client_leaves_body": cut_off("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc", reset=False),
    "half_leaves": cut_off("GET / HT", reset=False), "gone_silently": cut_off(""), "left_silently": cut_off("", reset=False),
    "queue": ["/queue"], "reused": keep_alive,
    "noconn": raw(GET.format("/"), "noconn"), "nosess": raw(GET.format("/"), "nosess"), "tcp": raw("hello", "tcp"),
    "tcp_gone": cut_off("", "tcp"),
}
EXPECTED = {
    "statuses": dict(www__FRONTEND="stot=4 hrsp_2xx=1 hrsp_3xx=1 hrsp_4xx=1 hrsp_5xx=1 req_tot=4 conn_tot=4", app__s1="stot=4 hrsp_2xx=1 hrsp_3xx=1 hrsp_4xx=1 hrsp_5xx=1 req_tot=4 lbtot=4", app__BACKEND="stot=4 hrsp_2xx=1 hrsp_3xx=1 hrsp_4xx=1 hrsp_5xx=1 req_tot=4 lbtot=4"),
    "denied": dict(www__FRONTEND="stot=1 dreq=1 hrsp_4xx=1 req_tot=1 conn_tot=1"),
    "denied_behind": dict(www__FRONTEND="stot=1 dreq=1 hrsp_4xx=1 req_tot=1 conn_tot=1", app__BACKEND="stot=1 dreq=1 hrsp_4xx=1 req_tot=1"),
    "denied_response": dict(www__FRONTEND="stot=1 dresp=1 hrsp_5xx=1 req_tot=1 conn_tot=1", app__s1="stot=1 dresp=1 hrsp_2xx=1 req_tot=1 lbtot=1", app__BACKEND="stot=1 dresp=1 hrsp_5xx=1 req_tot=1 lbtot=1"),
    "denied_response_front": dict(www__FRONTEND="stot=1 dresp=1 hrsp_5xx=1 req_tot=1 conn_tot=1", app__s1="stot=1 dresp=1 hrsp_2xx=1 req_tot=1 lbtot=1", app__BACKEND="stot=1 dresp=1 hrsp_5xx=1 req_tot=1 lbtot=1"),
    "returned": dict(www__FRONTEND="stot=1 hrsp_2xx=1 req_tot=1 conn_tot=1 intercepted=1"),
    "redirected": dict(www__FRONTEND="stot=1 hrsp_3xx=1 req_tot=1 conn_tot=1 intercepted=1"),
    "tarpit": dict(www__FRONTEND="stot=1 dreq=1 hrsp_5xx=1 req_tot=1 conn_tot=1"),
    "rejected": dict(www__FRONTEND="stot=1 dreq=1 hrsp_other=1 req_tot=1 conn_tot=1"),
    "dead": dict(www__FRONTEND="stot=1 hrsp_5xx=1 req_tot=1 conn_tot=1", dead__d1="stot=1 econ=1 lbtot=1", dead__BACKEND="stot=1 econ=1 hrsp_5xx=1 req_tot=1 lbtot=1"),
    "retry": dict(www__FRONTEND="stot=1 hrsp_5xx=1 req_tot=1 conn_tot=1", retry__d1="stot=2 econ=1 wretr=1 lbtot=1", retry__BACKEND="stot=1 econ=1 wretr=1 hrsp_5xx=1 req_tot=1 lbtot=1"),
    "redispatch": dict(www__FRONTEND="stot=1 hrsp_2xx=1 req_tot=1 conn_tot=1", redisp__d1="stot=1 wredis=1 lbtot=1", redisp__s1="stot=1 hrsp_2xx=1 req_tot=1 lbtot=1", redisp__BACKEND="stot=1 wredis=1 hrsp_2xx=1 req_tot=1 lbtot=2"),
    "none": dict(www__FRONTEND="stot=1 hrsp_5xx=1 req_tot=1 conn_tot=1", empty__BACKEND="stot=1 econ=1 hrsp_5xx=1 req_tot=1"),
    "garbage": dict(www__FRONTEND="stot=1 hrsp_5xx=1 req_tot=1 conn_tot=1", app__s1="stot=1 eresp=1 lbtot=1", app__BACKEND="stot=1 eresp=1 hrsp_5xx=1 req_tot=1 lbtot=1"),
    "cut": dict(www__FRONTEND="stot=1 hrsp_2xx=1 req_tot=1 conn_tot=1", app__s1="stot=1 eresp=1 hrsp_2xx=1 req_tot=1 srv_abrt=1 lbtot=1", app__BACKEND="stot=1 eresp=1 hrsp_2xx=1 req_tot=1 srv_abrt=1 lbtot=1"),
    "silent": dict(www__FRONTEND="stot=1 hrsp_5xx=1 req_tot=1 conn_tot=1", app__s1="stot=1 eresp=1 lbtot=1", app__BACKEND="stot=1 eresp=1 hrsp_5xx=1 req_tot=1 lbtot=1"),
    "slow": dict(www__FRONTEND="stot=1 hrsp_5xx=1 req_tot=1 conn_tot=1", app__s1="stot=1 eresp=1 lbtot=1", app__BACKEND="stot=1 eresp=1 hrsp_5xx=1 req_tot=1 lbtot=1"),
    "bad_request": dict(www__FRONTEND="stot=1 ereq=1 hrsp_4xx=1 req_tot=1 conn_tot=1"),
    "empty": dict(www__FRONTEND="stot=1 ereq=1 hrsp_4xx=1 req_tot=1 conn_tot=1"),
    "half": dict(www__FRONTEND="stot=1 ereq=1 hrsp_4xx=1 req_tot=1 conn_tot=1"),
    "timeout": dict(www__FRONTEND="stot=1 ereq=1 hrsp_4xx=1 req_tot=1 conn_tot=1"),
    "client_gone": dict(www__FRONTEND="stot=1 hrsp_2xx=1 req_tot=1 conn_tot=1", app__s1="stot=1 hrsp_2xx=1 req_tot=1 cli_abrt=1 lbtot=1", app__BACKEND="stot=1 hrsp_2xx=1 req_tot=1 cli_abrt=1 lbtot=1"),
    "client_gone_in_body": dict(www__FRONTEND="stot=1 hrsp_other=1 req_tot=1 conn_tot=1", app__s1="stot=1 cli_abrt=1 lbtot=1", app__BACKEND="stot=1 hrsp_other=1 req_tot=1 cli_abrt=1 lbtot=1"),
    "client_leaves_body": dict(www__FRONTEND="stot=1 hrsp_other=1 req_tot=1 conn_tot=1", app__s1="stot=1 cli_abrt=1 lbtot=1", app__BACKEND="stot=1 hrsp_other=1 req_tot=1 cli_abrt=1 lbtot=1"),
    "half_leaves": dict(www__FRONTEND="stot=1 ereq=1 hrsp_4xx=1 req_tot=1 conn_tot=1"),
    "gone_silently": dict(www__FRONTEND="stot=1 ereq=1 hrsp_4xx=1 req_tot=1 conn_tot=1"),
    "left_silently": dict(www__FRONTEND="stot=1 ereq=1 hrsp_4xx=1 req_tot=1 conn_tot=1"),
    "queue": dict(www__FRONTEND="stot=1 hrsp_2xx=1 req_tot=1 conn_tot=1", queue__q1="stot=1 hrsp_2xx=1 req_tot=1 lbtot=1", queue__BACKEND="stot=1 hrsp_2xx=1 req_tot=1 lbtot=1"),
    "reused": dict(www__FRONTEND="stot=1 hrsp_2xx=2 hrsp_4xx=1 req_tot=3 conn_tot=1", app__s1="stot=3 hrsp_2xx=2 hrsp_4xx=1 req_tot=3 lbtot=3", app__BACKEND="stot=3 hrsp_2xx=2 hrsp_4xx=1 req_tot=3 lbtot=3"),
    "noconn": dict(noconn__FRONTEND="conn_tot=1 dcon=1"),
    "nosess": dict(nosess__FRONTEND="conn_tot=1 dses=1"),
    "tcp": dict(tcp__FRONTEND="stot=1 conn_tot=1", tcpapp__t1="stot=1 lbtot=1", tcpapp__BACKEND="stot=1 lbtot=1"),
    "tcp_gone": dict(tcp__FRONTEND="stot=1 conn_tot=1", tcpapp__t1="stot=1 cli_abrt=1 lbtot=1", tcpapp__BACKEND="stot=1 cli_abrt=1 lbtot=1"),
}


def make_test(name):
    def test(self):
        scenario = SCENARIOS[name]
        self.same(self.ask(*scenario) if isinstance(scenario, list) else scenario, **EXPECTED[name])
    return test


for scenario_name in SCENARIOS:
    setattr(Counters, f"test_{scenario_name}", make_test(scenario_name))

if __name__ == "__main__":
    main()
