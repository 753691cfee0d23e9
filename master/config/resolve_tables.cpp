// SPDX-License-Identifier: BSD-2-Clause
// What the users of stick tables ask of them: `stick` rules store the server, `write-to` names a table of the
// same keys.
#include <algorithm>

#include "master/config/resolve.h"
#include "shared/model/config.h"
#include "shared/table/words.h"

namespace penstock {

namespace {

void also_store(TableDef &table, DataType type) {
  if (table.stores(type)) return;
  auto at = std::find_if(table.stored.begin(), table.stored.end(), [&](const StoredType &s) { return s.type > type; });
  table.stored.insert(at, {type});
}

void check_write_to(const Config &config, const TableDef &table, Diagnostics &diags) {
  const TableDef *to = config.table(table.write_to);
  std::string who = "stick table '" + table.name + "': 'write-to " + table.write_to + "' ";
  NearMiss near(table.write_to);
  for (const auto &t : config.tables) near.consider(t->name);
  if (!to) diags.alert(table.place, who + "names no table", near.hint());
  else if (to == &table) diags.alert(table.place, who + "is the table itself");
  else if (to->key != table.key || to->key_length != table.key_length) diags.alert(table.place, who + "has keys of another type or length");
}

} // namespace

void resolve_tables(Config &config, Diagnostics &diags) {
  for (const auto &proxy : config.proxies)
    for (const StickRule &rule : proxy->stick_rules) {
      auto *found = static_cast<const TableDef *>(rule.table->target);
      TableDef *table = found ? config.table(found->name) : nullptr;
      if (!table) continue; // told already
      also_store(*table, DataType::ServerId);
      also_store(*table, DataType::ServerKey);
    }
  for (const auto &table : config.tables)
    if (!table->write_to.empty()) check_write_to(config, *table, diags);
}

} // namespace penstock
