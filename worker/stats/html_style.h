// SPDX-License-Identifier: BSD-2-Clause
// The style sheet of the statistics page.
#pragma once

#include "shared/base/basic.h"

namespace penstock {

inline constexpr string_view page_style = R"css(
:root{color-scheme:light dark;--bg:#f3f5f8;--card:#fff;--ink:#1b1f24;--soft:#5b6470;--faint:#9aa3ae;--line:#e3e7ec;--head:#f8f9fb;--ok:#12733d;--warn:#8a5300;--bad:#b3261e;--idle:#4a5560;--accent:#1f5fbf}
@media(prefers-color-scheme:dark){:root{--bg:#101317;--card:#191e24;--ink:#e6e9ed;--soft:#9aa4af;--faint:#6b7580;--line:#2a3139;--head:#1e242b;--ok:#5fcf8f;--warn:#e8b04b;--bad:#ff8a80;--idle:#a8b3be;--accent:#8ab4f8}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:110rem;padding:1rem clamp(.5rem,2vw,2rem) 3rem;background:var(--bg);color:var(--ink);font:15px/1.45 system-ui,sans-serif}
header{display:flex;flex-wrap:wrap;align-items:baseline;gap:.25rem 1rem}
h1{font-size:1.4rem;margin:0}h1 small,h2 small,small{color:var(--soft);font-weight:400}small{font-size:.85em}
header p,.desc{margin:0;color:var(--soft)}
.outcome{padding:.5rem .75rem;border:1px solid currentColor;border-radius:.5rem}
.summary{display:grid;grid-template-columns:repeat(auto-fit,minmax(7.2rem,1fr));gap:.5rem;margin:1rem 0}
.summary div{background:var(--card);border:1px solid var(--line);border-radius:.5rem;padding:.5rem .75rem}
dt{color:var(--soft);font-size:.8rem}dd{margin:0;font-size:1.15rem;font-weight:600;font-variant-numeric:tabular-nums;white-space:nowrap}
nav{display:flex;flex-wrap:wrap;gap:.4rem;align-items:center;margin-bottom:1rem}
nav a,button,select,input[type=search]{font:inherit;color:var(--ink);background:var(--card);border:1px solid var(--line);border-radius:.5rem;padding:.35rem .7rem;text-decoration:none;min-height:2.4rem;display:inline-flex;align-items:center}
nav a:hover,button:hover{border-color:var(--accent)}nav a[aria-current]{border-color:var(--accent);color:var(--accent)}nav form{margin-left:auto}
a{color:var(--accent)}:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
section{background:var(--card);border:1px solid var(--line);border-radius:.6rem;margin:0 0 1rem;padding:.7rem .5rem .6rem;overflow:hidden}
h2{font-size:1.05rem;margin:0 .4rem .4rem}h2 a{color:inherit;text-decoration:none}section .desc{margin:-.3rem .4rem .4rem}
.scroll{overflow-x:auto}
table{border-collapse:collapse;table-layout:fixed;width:100%;min-width:72rem;font-variant-numeric:tabular-nums;font-size:.84rem}
th,td{padding:.32rem .4rem;text-align:right;white-space:nowrap;border-top:1px solid var(--line)}
thead th{border-top:0;color:var(--soft);font-weight:500;background:var(--head)}
th:first-child,td:nth-child(2),th:nth-child(2){text-align:left}
tbody th,td:nth-child(2){white-space:normal;overflow-wrap:anywhere}
tbody tr:hover{background:var(--head)}
tbody th{font-weight:500}tr.front th,tr.back th{font-weight:700}tr.backup th::after{content:" (backup)";color:var(--soft);font-weight:400}
td b{display:inline-block;padding:0 .45rem;border-radius:.7rem;border:1px solid currentColor;font-size:.92em;font-weight:600}
.ok{color:var(--ok)}.warn{color:var(--warn)}.bad{color:var(--bad)}.idle{color:var(--idle)}
.zero{color:var(--faint)}.hot{color:var(--bad);font-weight:600}
.orders{margin:.6rem .4rem 0;display:flex;flex-wrap:wrap;gap:.5rem;align-items:center}
input[type=checkbox]{width:1.1rem;height:1.1rem;vertical-align:-.2rem}
@media(max-width:760px){
.summary{grid-template-columns:repeat(auto-fit,minmax(6rem,1fr))}.summary div{padding:.35rem .6rem}dd{font-size:1rem}
nav form{margin:0;flex:1 1 100%}input[type=search]{width:100%}
table,tbody,tr,th,td{display:block}table{min-width:0}thead,colgroup{display:none}
tr{display:grid;grid-template-columns:repeat(auto-fill,minmax(5.6rem,1fr));gap:.3rem .75rem;padding:.6rem .4rem;border-top:1px solid var(--line)}
tbody tr:first-child{border-top:0}
th,td{border:0;padding:0;text-align:left}tbody th{font-size:1rem}tbody th,td:nth-child(2){grid-column:1/-1;white-space:normal}
td::before{content:attr(data-label);display:block;color:var(--soft);font-size:.75rem;font-weight:400}td:nth-child(2)::before{display:none}td.none,td.zero{display:none}
tbody th label{display:inline-flex;gap:.5rem;align-items:center;min-height:2.4rem}
}
)css";

} // namespace penstock
