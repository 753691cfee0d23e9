# SPDX-License-Identifier: BSD-2-Clause
"""`option forwarded` (RFC 7239): each of its words, and the manual's examples. Where a reference of that age is
installed (HAPROXY_NEW, or /opt/ref/haproxy) it has to send the same."""
import os
import re

from penstock_test import Case, Client, free_port, main

NEW_REFERENCE = os.environ.get("HAPROXY_NEW", "/opt/ref/haproxy")
# what follows "option forwarded", request fields, what the server gets
CASES = {
    "": ([], "proto=http;for=127.0.0.1"),
    "proto for": ([], "proto=http;for=127.0.0.1"),
    "host by by_port for": ([], 'host="www.example.org";by="127.0.0.1:PROXY";for=127.0.0.1'),
    "proto host by by_port for for_port": ([], 'proto=http;host="www.example.org";by="127.0.0.1:PROXY";for="127.0.0.1:CLIENT"'),
    "proto for-expr str(testme)": ([], "proto=http;for=_testme"),
    "proto for-expr src for_port-expr int(10),add(5)": ([], 'proto=http;for="127.0.0.1:15"'),
    "for-expr req.hdr(x)": ([("x", "2001:db8::1")], None),
    "for-expr req.hdr(nothing)": ([], "for=unknown"),
    "by-expr str(proxy1) by_port-expr str(_x)": ([], None),
    "for-expr ipv6(2001:db8::7) for_port": ([], None),
    "by-expr ipv6(::1)": ([], None),
    "host-expr req.hdr(x)": ([("x", "a.example:8080")], None),
    "host-expr req.hdr(x) proto": ([("x", 'a"b')], None),
    "for_port": ([], ""),
    "host": ([("Forwarded", "for=192.0.2.1")], 'for=192.0.2.1,host="www.example.org"'),
    "host for-expr src,xxh32,hex for_port": ([], None),
    "host-expr str(host.com) by-expr str(_haproxy) for for_port-expr int(10)": ([], 'host="host.com";by=_haproxy;for="127.0.0.1:10"'),
}
CONFIG = """
global
    stats socket @DIR@/sock mode 600 level admin
defaults
    mode http
    timeout connect 2s
    timeout client 5s
    timeout server 5s
frontend f
    bind 127.0.0.1:@PORT@
"""


class Forwarded(Case):
    def sent(self, binary=None):
        """What the server sees for each case, with ports masked."""
        o, port = self.origin(), free_port()
        text = CONFIG + "".join(f"    use_backend b{i} if {{ path /{i} }}\n" for i in range(len(CASES)))
        for i, words in enumerate(CASES):
            text += f"backend b{i}\n    option forwarded {words}\n    server s 127.0.0.1:{o.port}\n"
        p = self.penstock(text, args=("-db",), binary=binary, port=port, PORT=port)
        got = {}
        for i, (words, (fields, _)) in enumerate(CASES.items()):
            with Client(port) as c:
                self.assertEqual(c.get(f"/{i}", fields, host="www.example.org").status, 200, words)
                own = c.sock.getsockname()[1]
            # one field or several: lists either way (RFC 9110, 5.3); an empty one says nothing
            seen = ",".join(v for k, v in o.requests[-1].headers if k.lower() == "forwarded")
            got[words] = re.sub(rf":{port}\b", ":PROXY", re.sub(rf":{own}\b", ":CLIENT", seen))
        p.stop()
        return got

    def test_every_word(self):
        ours = self.sent()
        for words, (_, expected) in CASES.items():
            if expected is not None:
                self.assertEqual(ours[words], expected, words)
        if os.access(NEW_REFERENCE, os.X_OK):
            theirs = self.sent(NEW_REFERENCE)
            self.assertEqual(ours, theirs)


if __name__ == "__main__":
    main()
