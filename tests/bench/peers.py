# SPDX-License-Identifier: BSD-2-Clause
"""The table of peers: how each proxy is started and which configuration language it speaks.

A peer is a dict:
  lang   haproxy | nginx | relay | none   (workloads.py writes a configuration per language)
  bin    the program
  procs  haproxy language only: the line of `global` that sets the number of threads or processes
  argv   the command line; {bin} {cfg} {dir} are replaced. It must stay in the foreground
  check  the command that only checks a configuration (also what the cfgload workload times)
  copies how many instances are started on the same port (SO_REUSEPORT)
  reload the signal that reloads the first process, and `reload_argv` if started another way for it
Programs come from the environment, so that no path of one machine is written here.
"""
import os
import pathlib
import signal

env = os.environ.get
OURS = str(pathlib.Path(__file__).resolve().parents[2] / "build" / "penstock")

_HAP = dict(lang="haproxy", procs="nbthread {n}",
            argv=["{bin}", "-db", "-f", "{cfg}"],
            check=["{bin}", "-c", "-f", "{cfg}"],
            reload_argv=["{bin}", "-W", "-db", "-f", "{cfg}"], reload=signal.SIGUSR2)

PEERS = {
    # the distribution's package: every ratio is against this one
    "haproxy": dict(_HAP, bin=env("HAPROXY", "haproxy")),
    # a newer one, where HAPROXY_REF names it
    "haproxy-ref": dict(_HAP, bin=env("HAPROXY_REF", "")),
    # ours: the same text
    "penstock": dict(_HAP, bin=env("PENSTOCK", OURS)),
    "nginx": dict(lang="nginx", bin=env("NGINX", "nginx"),
                  argv=["{bin}", "-p", "{dir}", "-c", "{cfg}"],
                  check=["{bin}", "-t", "-p", "{dir}", "-c", "{cfg}"], reload=signal.SIGHUP),
    # tools/relay.cc: a byte relay that parses nothing, the floor for CPU per request
    "floor": dict(lang="relay", bin="{build}/relay", argv=["{bin}", "127.0.0.1", "{port}", "127.0.0.1", "{origin}"]),
    # no proxy: the generator talks to the origin, the physical limit of core 1
    "direct": dict(lang="none", bin="", argv=[]),
}
REFERENCE = "haproxy"
DEFAULT = "floor,haproxy,penstock,nginx"
