// SPDX-License-Identifier: BSD-2-Clause
// The style sheet of the statistics page.
#pragma once

#include "shared/base/basic.h"

namespace penstock {

inline constexpr string_view page_style = R"css(
:root{color-scheme:light dark;--bg:#f6f7f9;--card:#fff;--ink:#1b1f24;--soft:#5b6470;--line:#dfe3e8;--ok:#12733d;--warn:#8a5300;--bad:#b3261e;--idle:#4a5560;--accent:#1f5fbf}
@media(prefers-color-scheme:dark){:root{--bg:#14171b;--card:#1c2127;--ink:#e6e9ed;--soft:#9aa4af;--line:#2e353d;--ok:#5fcf8f;--warn:#e8b04b;--bad:#ff8a80;--idle:#a8b3be;--accent:#8ab4f8}}
*{box-sizing:border-box}
body{margin:0;padding:1rem clamp(.5rem,2vw,2rem) 3rem;background:var(--bg);color:var(--ink);font:15px/1.45 system-ui,sans-serif}
header{display:flex;flex-wrap:wrap;align-items:baseline;gap:.25rem 1rem}
h1{font-size:1.4rem;margin:0}h1 small,h2 small,small{color:var(--soft);font-weight:400}small{font-size:.85em}
header p,.desc{margin:0;color:var(--soft)}
.outcome{padding:.5rem .75rem;border:1px solid currentColor;border-radius:.5rem}
.summary{display:grid;grid-template-columns:repeat(auto-fit,minmax(7.5rem,1fr));gap:.5rem;margin:1rem 0}
.summary div{background:var(--card);border:1px solid var(--line);border-radius:.5rem;padding:.5rem .75rem}
dt{color:var(--soft);font-size:.8rem}dd{margin:0;font-size:1.15rem;font-variant-numeric:tabular-nums}
nav{display:flex;flex-wrap:wrap;gap:.4rem;align-items:center;margin-bottom:1rem}
nav a,button,select,input[type=search]{font:inherit;color:var(--ink);background:var(--card);border:1px solid var(--line);border-radius:.5rem;padding:.35rem .7rem;text-decoration:none;min-height:2.4rem;display:inline-flex;align-items:center}
nav a[aria-current]{border-color:var(--accent);color:var(--accent)}nav form{margin-left:auto}
a{color:var(--accent)}:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
section{background:var(--card);border:1px solid var(--line);border-radius:.6rem;margin:0 0 1rem;padding:.6rem .75rem}
h2{font-size:1.05rem;margin:0 0 .4rem}h2 a{color:inherit;text-decoration:none}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums;font-size:.88rem}
th,td{padding:.3rem .55rem;text-align:right;white-space:nowrap;border-top:1px solid var(--line)}
thead th{border-top:0;color:var(--soft);font-weight:500}
th:first-child,td:nth-child(2),th:nth-child(2){text-align:left}
tbody th{font-weight:500}tr.front th,tr.back th{font-weight:700}tr.backup th::after{content:" (backup)";color:var(--soft);font-weight:400}
.ok{color:var(--ok)}.warn{color:var(--warn)}.bad{color:var(--bad)}.idle{color:var(--idle)}
.orders{margin:.6rem 0 0;display:flex;flex-wrap:wrap;gap:.5rem;align-items:center}
input[type=checkbox]{width:1.1rem;height:1.1rem;vertical-align:-.2rem}
@media(max-width:760px){
nav form{margin:0;flex:1 1 100%}input[type=search]{width:100%}
table,tbody,tr,th,td{display:block}thead{display:none}
tr{display:grid;grid-template-columns:repeat(auto-fill,minmax(8.2rem,1fr));gap:.15rem .75rem;padding:.6rem 0;border-top:1px solid var(--line)}
tbody tr:first-child{border-top:0}
th,td{border:0;padding:0;text-align:left}tbody th,td:nth-child(2){grid-column:1/-1;white-space:normal}
td::before{content:attr(data-label);display:block;color:var(--soft);font-size:.75rem}td:nth-child(2)::before{display:none}td.none{display:none}
tbody th label{display:inline-flex;gap:.5rem;align-items:center;min-height:2.4rem}
}
)css";

} // namespace penstock
