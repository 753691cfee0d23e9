# SPDX-License-Identifier: BSD-2-Clause
"""The Prometheus exporter: a page that a scraper can read, with the names that dashboards know."""
import re

from penstock_test import Case, free_port, get, main, reference, wait_until

CONFIG = """
global
    stats socket @DIR@/sock mode 600 level admin
    log 127.0.0.1:@LOG@ local0
    nbthread 1
defaults
    mode http
    log global
    timeout client 5s
    timeout server 5s
    timeout connect 1s
frontend fe
    bind 127.0.0.1:@PORT@ name web
    option httplog
    option socket-stats
    http-request use-service prometheus-exporter if { path /metrics }
    default_backend be
backend be
    option httpchk
    server s1 127.0.0.1:@S1@ check weight 5 maxconn 10
    server s2 127.0.0.1:@S1@ check disabled
    server s3 127.0.0.1:@S1@
backend tcp
    mode tcp
    server t1 127.0.0.1:@S1@
backend empty
"""
SAMPLE = re.compile(r'^(haproxy_\w+)(\{(?:\w+="(?:[^"\\]|\\.)*",?)+\})? (NaN|-?\d+(?:\.\d+)?)$')
# of what compresses and resolves; no part of this product yet
NOT_OURS = {"haproxy_process_current_zlib_memory", "haproxy_process_max_zlib_memory"}


class Exporter(Case):
    def start(self, binary=None):
        self.log, self.port = self.syslog(), free_port()
        o = self.origin()
        p = self.penstock(CONFIG, args=("-db",), binary=binary, port=self.port, LOG=self.log.port, PORT=self.port, S1=o.port)

        def checked():
            try:
                return p.stat()[("be", "s1")]["check_status"] == "L7OK"
            except OSError:
                return False
        wait_until("the server is checked", checked)
        for _ in range(3):
            self.assertEqual(get(self.port).status, 200)
        return p

    def page(self, query=""):
        """{metric: type}, {sample with labels: value}; every line has to be well-formed and in its place."""
        r = get(self.port, "/metrics" + query)
        self.assertEqual((r.status, r.header("content-type")), (200, "text/plain; version=0.0.4"))
        types, samples, current = {}, {}, None
        for line in r.body.decode().splitlines():
            if line.startswith("# HELP "):
                self.assertNotIn(line.split()[2], types, "a metric comes once")
            elif line.startswith("# TYPE "):
                _, _, current, kind = line.split()
                types[current] = kind
            else:
                m = SAMPLE.match(line)
                self.assertTrue(m, line)
                self.assertEqual(m[1], current)
                self.assertNotIn(m[1] + (m[2] or ""), samples)
                samples[m[1] + (m[2] or "")] = m[3]
        return types, samples

    def test_figures_and_states(self):
        self.start()
        types, samples = self.page()
        self.assertEqual(types["haproxy_backend_http_responses_total"], "counter")
        for name, value in {
                'haproxy_server_http_responses_total{proxy="be",server="s1",code="2xx"}': "3",
                'haproxy_server_status{proxy="be",server="s2",state="MAINT"}': "1", 'haproxy_server_status{proxy="be",server="s2",state="UP"}': "0",
                'haproxy_server_check_status{proxy="be",server="s1",state="L7OK"}': "1", 'haproxy_server_limit_sessions{proxy="be",server="s1"}': "10",
                'haproxy_server_limit_sessions{proxy="be",server="s3"}': "NaN", 'haproxy_backend_agg_server_status{proxy="be",state="UP"}': "2",
                'haproxy_backend_active_servers{proxy="be"}': "2", 'haproxy_frontend_status{proxy="fe",state="UP"}': "1",
                'haproxy_listener_sessions_total{proxy="fe",listener="web"}': "5", "haproxy_process_nbthread": "1"}.items():
            self.assertEqual(samples[name], value, name)
        self.assertNotIn('haproxy_backend_http_requests_total{proxy="tcp"}', samples)
        self.assertRegex(self.log.next("/metrics"), r" fe fe/<PROMEX> 0/0/0/0/\d+ 200 \d+ - - LR-- ")

    def test_what_is_asked_for(self):
        self.start()
        types, samples = self.page("?scope=server&scope=global")
        self.assertEqual({n.split("_")[1] for n in types}, {"server", "process"})
        self.assertTrue(any('"s2"' in s for s in samples))
        types, samples = self.page("?scope=server&no-maint")
        self.assertFalse(any('"s2"' in s for s in samples))
        types, _ = self.page("?scope=backend&scope=&scope=frontend")
        self.assertEqual({n.split("_")[1] for n in types}, {"frontend"})
        types, _ = self.page("?metrics=haproxy_process_nbproc,haproxy_server_status")
        self.assertEqual(set(types), {"haproxy_process_nbproc", "haproxy_server_status"})
        types, _ = self.page("?metrics=-haproxy_process_nbproc")
        self.assertIn("haproxy_process_nbthread", types)
        self.assertNotIn("haproxy_process_nbproc", types)
        self.assertEqual(get(self.port, "/metrics?scope=nonsense").status, 400)
        self.assertEqual(get(self.port, "/metrics", method="DELETE").status, 405)
        self.assertEqual(get(self.port, "/metrics", method="HEAD").status, 200)

    def test_names_and_types_are_those_of_the_reference(self):
        if not reference():
            self.skipTest("needs the reference")
        self.start()
        ours = self.page()
        self.start(reference())
        theirs = self.page()
        self.assertEqual({n: t for n, t in theirs[0].items() if n not in NOT_OURS and ours[0].get(n) != t}, {})
        self.assertEqual({s for s in theirs[1] if s.split("{")[0] not in NOT_OURS and "build_info" not in s} - set(ours[1]), set())


if __name__ == "__main__":
    main()
