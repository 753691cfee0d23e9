# SPDX-License-Identifier: BSD-2-Clause
"""Holds the includes to the arrows of the design, and libraries to their places. Prints what does not.

`shared` knows nobody; the master sees of the worker its entry points and its tables; codecs know no sockets.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# folder -> folders that it may include
ARROWS = {
    "shared": {"shared"},
    "worker": {"worker", "shared"},
    "master": {"master", "shared", "worker"},
}
# what the master may see of the worker
WORKER_DOORS = re.compile(r"worker/(worker|control|tables|panic)\.h|worker/rules/.*\.h|worker/net/proxy_proto\.h|"
                          r"worker/log/(sinks|events)\.h|worker/cli/.*\.h|worker/event/loop\.h|worker/check/.*\.h")
# library header -> where it may be included
LIBRARIES = {
    r"openssl/": r"shared/tls/|worker/net/|shared/base/|master/config/conditions",  # the last asks for its version
    r"spdlog/": r"shared/base/|master/",
    r"pcre2": r"shared/base/",
    r"maxminddb": r"worker/rules/",
    r"nghttp2/": r"worker/http/",
    r"sys/epoll|linux/io_uring": r"worker/event/",
    r"doctest/": r"tests/",
}
# codecs: bytes to events, no sockets
PURE = re.compile(r"worker/http/|worker/net/proxy_proto|shared/http/")


def main():
    wrong = []
    files = subprocess.run(["git", "ls-files", "*.h", "*.cpp"], cwd=ROOT, capture_output=True, text=True).stdout.split()
    for name in files:
        text = (ROOT / name).read_text(errors="replace")
        if not text.startswith("// SPDX-License-Identifier: BSD-2-Clause"):
            wrong.append(f"{name}:1: no SPDX line")
        top = name.split("/")[0]
        for number, line in enumerate(text.splitlines(), 1):
            m = re.match(r'\s*#\s*include\s+["<]([^">]+)[">]', line)
            if not m:
                continue
            what = m[1]
            to = what.split("/")[0]
            if to in ARROWS and top in ARROWS and to not in ARROWS[top]:
                wrong.append(f"{name}:{number}: {top} must not include {what}")
            if top == "master" and to == "worker" and not WORKER_DOORS.fullmatch(what):
                wrong.append(f"{name}:{number}: the master sees only the doors and tables of the worker, not {what}")
            for library, place in LIBRARIES.items():
                if re.match(library, what) and not re.match(place, name) and top != "tests":
                    wrong.append(f"{name}:{number}: {what} belongs in {place}")
            if PURE.match(name) and re.match(r"sys/socket\.h|sys/epoll\.h|worker/event/|unistd\.h", what):
                wrong.append(f"{name}:{number}: a codec knows no sockets: {what}")
    for line in wrong:
        print(line)
    sys.exit(1 if wrong else 0)


main()
