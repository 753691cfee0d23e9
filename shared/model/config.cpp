// SPDX-License-Identifier: BSD-2-Clause
#include "shared/model/config.h"

namespace penstock {

Config::Config() {
  global.http_fail_codes.set(501, 501, false); // a client can cause these two
  global.http_fail_codes.set(505, 505, false);
}
Config::~Config() = default;

TableDef *Config::table(string_view name) const {
  for (const auto &t : tables)
    if (t->name == name) return t.get();
  return nullptr;
}

Userlist *Config::userlist(string_view name) const {
  for (const auto &list : userlists)
    if (list->name == name) return list.get();
  return nullptr;
}

u32 Config::variable_slot(const std::string &scoped_name) {
  return variables.try_emplace(scoped_name, static_cast<u32>(variables.size())).first->second;
}

} // namespace penstock
