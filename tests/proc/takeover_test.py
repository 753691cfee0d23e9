# SPDX-License-Identifier: BSD-2-Clause
"""Listening sockets that change hands over a runtime socket (`expose-fd listeners`, `-x`), also from and to the
reference."""
import array
import pathlib
import socket
import struct
import unittest

from penstock_test import PATIENCE, Case, Load, free_port, get, main, reference, wait_until

CONFIG = """
global
    stats socket @DIR@/@SOCK@ mode 600 level admin @EXPOSE@
    @THREADS@
defaults
    mode http
    timeout connect 2s
    timeout client 5s
    timeout server 5s
frontend www
    bind 127.0.0.1:@PORT@
    http-request return status 200 hdr by @NAME@
"""


def inodes(port):
    """Of the sockets that listen at 127.0.0.1:port."""
    found = set()
    for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]:
        field = line.split()
        if field[1].endswith(f":{port:04X}") and field[3] == "0A":
            found.add(field[9])
    return found


def fetch(path):
    """What a successor gets: sockets and their records."""
    with socket.socket(socket.AF_UNIX) as c:
        c.settimeout(10 * PATIENCE)
        c.connect(path)
        c.sendall(b"_getsocks\n")
        data, fds = b"", []
        while len(data) < 4 or len(fds) < struct.unpack("i", data[:4])[0]:
            got, extra, _, _ = c.recvmsg(65536, socket.CMSG_SPACE(4 * 253))
            if not got:
                break
            data += got
            for _, _, raw in extra:
                fds += array.array("i", raw[:len(raw) // 4 * 4])
                c.sendall(b"\0\0\0\0")
        return data, [socket.socket(fileno=fd) for fd in fds]


class Takeover(Case):
    def old(self, name="old", binary=None, expose="expose-fd listeners", extra="", threads="nbthread 1", **kw):
        self.port = getattr(self, "port", None) or free_port()
        return self.penstock(CONFIG + extra, binary=binary, PORT=self.port, NAME=name, EXPOSE=expose, SOCK="sock", THREADS=threads, **kw)

    def test_sockets_are_handed_out_in_batches(self):
        extra = "".join(f"frontend f{i}\n    bind 127.0.0.1:{free_port()}{' interface lo' if i % 2 else ''}\n    http-request return status 200\n" for i in range(300))
        p = self.old(extra=extra)
        data, sockets = fetch(str(p.folder / "sock"))
        try:
            self.assertEqual(struct.unpack("i", data[:4])[0], 302)
            self.assertEqual(data.count(b"\x00\x02lo\0\0\0\0"), 150)
            ports = [s.getsockname()[1] for s in sockets if s.family == socket.AF_INET]
            self.assertEqual(len(set(ports)), 301)
            self.assertIn(self.port, ports)
            self.assertTrue(all(s.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN) for s in sockets))
        finally:
            for s in sockets:
                s.close()
        self.assertEqual(get(self.port).status, 200)

    def test_only_a_socket_that_exposes_them_hands_them_out(self):
        p = self.old(expose="")
        self.assertIn("does not hand out", p.cli("_getsocks"))
        self.assertNotIn("_getsocks", p.cli("help"))

    @unittest.skipUnless(reference(), "needs the reference")
    def test_from_the_reference(self):
        old = self.old("old", binary=reference(), args=("-db",))
        wait_until("the old one serves", lambda: inodes(self.port))
        before = inodes(self.port)
        load = self.load(self.port, clients=4)
        load.wait_for(50)
        new = self.penstock(CONFIG, args=("-Ws", "-x", str(old.folder / "sock"), "-sf", str(old.pid)), PORT=self.port, NAME="new", EXPOSE="", SOCK="new",
                            THREADS="nbthread 1")
        self.assertTrue(before <= inodes(self.port), new.stderr())
        old.process.wait(15 * PATIENCE)
        self.assertEqual(inodes(self.port), before)
        load.wait_for(50)
        self.assertEqual(load.stop().failures, [])
        self.assertEqual(get(self.port).header("by"), "new")

    @unittest.skipUnless(reference(), "needs the reference")
    def test_to_the_reference(self):
        old = self.old("old", threads="nbthread 3")
        before = inodes(self.port)
        load = self.load(self.port, clients=4)
        load.wait_for(50)
        new = self.penstock(CONFIG, binary=reference(), args=("-db", "-x", str(old.folder / "sock"), "-sf", str(old.pid)), wait=False, PORT=self.port, NAME="new",
                            EXPOSE="", SOCK="new", THREADS="")
        old.process.wait(15 * PATIENCE)
        left = inodes(self.port)
        self.assertTrue(left and left <= before, new.stderr())
        load.wait_for(200)
        self.assertEqual(load.stop().failures, [])
        self.assertEqual(get(self.port).header("by"), "new")


if __name__ == "__main__":
    main()
