// SPDX-License-Identifier: BSD-2-Clause
// Global keywords about MaxMind databases. They are loaded and checked here, so that `-c` refuses a broken one.
#include "master/config/slots.h"
#include "shared/mmdb/store.h"
#include "shared/table/registry.h"

namespace penstock {

namespace {

/// NAME FILE [optional] [auto-reload] …
void maxmind_load(LineContext &ctx) {
  do {
    auto name = ctx.words.need("a name and the file of a MaxMind database");
    if (!name) return;
    auto path = ctx.words.need("the file of the database '" + std::string(*name) + "'");
    if (!path) return;
    bool optional = false, auto_reload = false;
    for (bool more = true; more;) {
      if (ctx.words.take("optional")) optional = true;
      else if (ctx.words.take("auto-reload")) auto_reload = true;
      else more = false;
    }
    if (find_mmdb(*name)) return ctx.words.alert_last("a database is called '" + std::string(*name) + "' already");
    std::string error;
    auto store = MmdbStore::load(std::string(*name), std::string(*path), optional, error);
    if (!store) return ctx.words.alert_last("'" + std::string(*path) + "' " + error);
    store->auto_reload = auto_reload;
    add_mmdb(std::move(store));
  } while (!ctx.words.at_end());
}

void cache_size(LineContext &ctx) {
  if (auto n = ctx.words.need_int("a number of entries, 0 for none", 0, 1 << 20)) mmdb_cache_size = static_cast<u32>(*n);
}

constexpr KeywordDef rows[] = {
    {.name = "maxmind-cache-size", .sections = in_global,
     .doc = {.summary = "Results of look-ups in MaxMind databases that each worker remembers; 4096 by default, 0 none.",
             .text = "A result is kept for the network that it holds for, so neighbours share it. It is forgotten when its database changes. An entry takes 80 bytes.",
             .example = "global\n    maxmind-cache-size 10000"},
     .parse = cache_size},
    {.name = "maxmind-load", .sections = in_global,
     .doc = {.summary = "Loads MaxMind databases: names and files in turn, for the converters maxmind-lookup and mmdb.",
             .text = "Each file is copied into memory that all workers share and is checked whole; a broken one is refused. After a file, 'optional' lets it be "
                     "missing (its look-ups then find nothing) and 'auto-reload' looks every second whether it was replaced. A new version is checked before "
                     "it is used, and the old one stays if it is broken; 'update maxmind' on the runtime socket does the same at once. "
                     "The line stands before those that use the name.",
             .example = "global\n    maxmind-load CITY /nonexistent/GeoIP2-City.mmdb optional auto-reload ISP /nonexistent/GeoIP2-ISP.mmdb optional\n"
                        "frontend fe\n    mode http\n    http-request set-header X-Country %[src,maxmind-lookup(\"CITY\",\"country\",\"iso_code\")]\n    http-request set-header X-ISP %[src,mmdb(ISP,isp,default=none)]"},
     .parse = maxmind_load},
};
static_assert(sorted_and_documented<KeywordDef>(rows));

} // namespace

std::span<const KeywordDef> kw_maxmind_rows() { return rows; }

} // namespace penstock
