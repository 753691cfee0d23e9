# SPDX-License-Identifier: BSD-2-Clause
"""The table of workloads. Each gives a configuration per language and what the generator does.

In the texts: @PROCS@ the peer's line for the number of processes, @BIND@ and @ORIGIN@ addresses,
@DIR@ the run's folder (certificates, maps, script). A language that is missing is skipped.
"""

HAP_TOP = """
global
    @PROCS@
    maxconn @MAXCONN@
    no strict-limits
@GLOBAL@
defaults
    mode http
    timeout connect 5s
    timeout client 300s
    timeout server 300s
    timeout http-keep-alive 300s
"""


def hap(front="", back="", bind="", mode="http", opts="", glob="", maxconn=4000, extra=""):
    top = HAP_TOP.replace("@GLOBAL@", glob).replace("@MAXCONN@", str(maxconn))
    return top + f"""
{extra}
frontend f
    mode {mode}
    bind @BIND@ {bind}
{opts}
{front}
    default_backend b
backend b
    mode {mode}
{opts}
{back}
    server s1 @ORIGIN@
"""


NGX_TOP = """
daemon off;
user root;
worker_processes @N@;
worker_rlimit_nofile 20000;
pid @DIR@/nginx-@PORT@.pid;
error_log @DIR@/nginx-@PORT@.err crit;
"""


def ngx(server="", listen="", upstream_keep=True, loc=None, http=""):
    conn = '""' if upstream_keep else "close"
    loc = loc if loc is not None else f"""proxy_http_version 1.1; proxy_set_header Connection {conn};
            proxy_pass http://o;"""
    keep = "keepalive 256; keepalive_requests 1000000000;" if upstream_keep else ""
    return NGX_TOP + f"""
events {{ worker_connections 19000; }}
http {{
    access_log off; tcp_nodelay on; server_tokens off;
    keepalive_requests 1000000000; keepalive_timeout 300s;
    client_body_temp_path @DIR@/t1; proxy_temp_path @DIR@/t2; fastcgi_temp_path @DIR@/t3;
    uwsgi_temp_path @DIR@/t4; scgi_temp_path @DIR@/t5;
    proxy_buffer_size 16k; proxy_buffers 8 16k; proxy_max_temp_file_size 0;
    {http}
    upstream o {{ server @ORIGIN@; {keep} }}
    server {{
        listen @BIND@ @REUSEPORT@ backlog=4096 {listen};
        {server}
        location / {{ {loc} }}
    }}
}}
"""


def ngx_stream(body):
    return ("load_module modules/ngx_stream_module.so;" + NGX_TOP +
            "events { worker_connections 19000; }\nstream { server { listen @BIND@ @REUSEPORT@ backlog=4096; " +
            body + " } }\n")


RELAY = {"relay": "", "none": ""}  # what needs no configuration

W = {}


def add(name, what, load, procs=(1,), unit="req", **langs):
    # generator and origin spin (see README), except where one of them alone would need the whole core
    spin = not name.startswith(("bw-", "deny-", "reload-"))
    W[name] = dict(what=what, load=load, procs=procs, unit=unit, spin=spin, langs=langs)


add("http-keepalive", "HTTP keep-alive on both sides, 64-byte object", ["-m", "keep"], procs=(1, 2),
    haproxy=hap(), nginx=ngx(), **RELAY)
add("http-serverclose", "keep-alive to the client, a connection per request to the server", ["-m", "keep"],
    haproxy=hap(opts="    option http-server-close"), nginx=ngx(upstream_keep=False))
add("http-close", "a connection per request on both sides", ["-m", "close"], procs=(1, 2),
    haproxy=hap(opts="    option httpclose"), nginx=ngx(upstream_keep=False), **RELAY)
add("tcp-conn", "mode tcp, a connection per request", ["-m", "close"], procs=(1, 2),
    haproxy=hap(mode="tcp"), nginx=ngx_stream("proxy_pass @ORIGIN@;"), **RELAY)
add("deny-conn", "connections rejected at accept by a source ACL", ["-m", "drop"], unit="conn",
    haproxy=hap(front="    tcp-request connection reject if { src 127.0.0.0/8 }"),
    nginx=ngx_stream("deny 127.0.0.0/8; proxy_pass @ORIGIN@;"))
add("deny-http", "requests denied by an ACL (403), keep-alive", ["-m", "keep", "-s", "403", "-p", "/secret/1"],
    haproxy=hap(front="    acl secret path_beg /secret\n    http-request deny if secret"),
    nginx=ngx(loc="return 403;"))

for size, conns in (("256k", "50"), ("10m", "10")):
    n = {"256k": "/262144", "10m": "/10485760"}[size]
    add(f"bw-{size}", f"objects of {size}, clear", ["-m", "keep", "-p", n, "-c", conns], unit="MB",
        haproxy=hap(), nginx=ngx(), **RELAY)
    add(f"bw-{size}-splice", f"objects of {size}, clear, option splice-response",
        ["-m", "keep", "-p", n, "-c", conns], unit="MB", haproxy=hap(back="    option splice-response"))

# the rest is not "load for S seconds": run has a function for each
_mem = dict(haproxy=hap(opts="    option http-server-close", maxconn=18800), nginx=ngx(upstream_keep=False))
add("mem-http", "memory per idle keep-alive connection", ["special", "memory"], **_mem)
_rl = dict(haproxy=hap(glob="    stats socket @DIR@/hap-@PORT@.sock level admin expose-fd listeners"), nginx=ngx())
add("reload-keep", "reloads under keep-alive load", ["special", "reload", "-m", "keep", "-c", "50"], **_rl)
add("reload-close", "reloads under a connection per request", ["special", "reload", "-m", "close", "-c", "50"], **_rl)


def _many(n_back, n_srv):
    h = HAP_TOP.replace("@GLOBAL@", "").replace("@MAXCONN@", "4000") + (
        "frontend f\n    bind @BIND@\n    use_backend %[req.hdr(host),lower,map(@DIR@/many.map,b0)]\n")
    n = NGX_TOP + "events { worker_connections 4000; }\nhttp { access_log off;\n"
    for b in range(n_back):
        h += f"backend b{b}\n" + "".join(
            f"    server s{s} 127.0.{b % 250}.{s + 1}:{10000 + b % 50000}\n" for s in range(n_srv))
        n += f"upstream b{b} {{ " + "".join(
            f"server 127.0.{b % 250}.{s + 1}:{10000 + b % 50000}; " for s in range(n_srv)) + "}\n"
    n += ("map_hash_bucket_size 128; map_hash_max_size 65536; map $host $be { default b0; include @DIR@/many.ngx; }\n"
          "server { listen @BIND@; location / { proxy_pass http://$be; } } }\n")
    return dict(haproxy=h, nginx=n)


add("cfgload", "check of a configuration of 10k backends, 50k servers", ["special", "cfgload"], **_many(10000, 5))
