// SPDX-License-Identifier: BSD-2-Clause
// Lines of `userlist` sections (manual 12.2).
#include <crypt.h>

#include <algorithm>

#include "master/config/parser.h"
#include "shared/base/text.h"
#include "shared/table/registry.h"

namespace penstock {

namespace {

std::vector<std::string> name_list(string_view text) {
  std::vector<std::string> out;
  for (string_view name : split(text, ','))
    if (!name.empty()) out.emplace_back(name);
  return out;
}

void group(LineContext &ctx) {
  auto name = ctx.words.need("the name of a group");
  if (!name) return;
  auto [it, added] = ctx.userlist->groups.try_emplace(std::string(*name));
  if (!added) return ctx.words.alert_last("the group '" + std::string(*name) + "' exists already in this userlist");
  if (ctx.words.at_end()) return;
  if (!ctx.words.take("users")) return ctx.words.alert("'group' expects 'users' and names after the group's name, got '" + std::string(ctx.words.peek()) + "'");
  if (auto users = ctx.words.need("names of users, separated by commas")) it->second = name_list(*users);
}

/// Whether crypt(3) of this system knows the method that the hash names.
bool is_usable_hash(const std::string &hash) {
  crypt_data data{};
  const char *result = crypt_rn("x", hash.c_str(), &data, sizeof data);
  return result && result[0] != '*';
}

void user(LineContext &ctx) {
  auto name = ctx.words.need("a user's name");
  if (!name) return;
  auto &users = ctx.userlist->users;
  if (std::any_of(users.begin(), users.end(), [&](const User &u) { return u.name == *name; }))
    return ctx.words.alert_last("the user '" + std::string(*name) + "' exists already in this userlist");
  User user;
  user.name = *name;
  while (!ctx.words.at_end()) {
    string_view option = ctx.words.next();
    if (option != "password" && option != "insecure-password" && option != "groups")
      return ctx.words.alert_last("'user' expects 'password', 'insecure-password' or 'groups', got '" + std::string(option) + "'");
    auto value = ctx.words.need("a value after '" + std::string(option) + "'");
    if (!value) return;
    if (option == "groups") {
      user.groups = name_list(*value);
      continue;
    }
    user.password = *value;
    user.insecure = option == "insecure-password";
    if (!user.insecure && !is_usable_hash(user.password))
      return ctx.words.alert_last("the password of '" + user.name + "' is not a hash that crypt(3) knows here", "make one with mkpasswd(1), or use 'insecure-password'");
  }
  users.push_back(std::move(user));
}

constexpr KeywordDef rows[] = {
    {.name = "group", .sections = in_userlist,
     .doc = {.summary = "A group of users.", .text = "Users may also name their groups on their own lines.", .example = "userlist staff\n    group admins users ann\n    user ann insecure-password secret"},
     .parse = group},
    {.name = "user", .sections = in_userlist,
     .doc = {.summary = "A user and the password.", .text = "'password' takes a hash as crypt(3) makes it, 'insecure-password' the password itself.", .example = "userlist staff\n    group admins\n    user ann insecure-password secret groups admins"},
     .parse = user},
};
static_assert(sorted_and_documented<KeywordDef>(rows));

} // namespace

std::span<const KeywordDef> kw_userlist_rows() { return rows; }

} // namespace penstock
