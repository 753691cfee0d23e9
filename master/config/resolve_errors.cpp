// SPDX-License-Identifier: BSD-2-Clause
// Puts the pages of http-errors sections where `errorfiles NAME` refers to them.
#include "master/config/resolve_errors.h"

#include <algorithm>

#include "shared/table/words.h"

namespace penstock {

namespace {

const HttpErrors *find_section(const Config &config, const std::string &name) {
  auto at = std::find_if(config.http_errors.begin(), config.http_errors.end(), [&](const auto &e) { return e->name == name; });
  return at == config.http_errors.end() ? nullptr : at->get();
}

void alert_missing(const Config &config, const HttpReply &reply, Diagnostics &diags) {
  NearMiss near(reply.errorfiles);
  for (const auto &e : config.http_errors) near.consider(e->name);
  diags.alert(reply.place, "there is no http-errors section '" + reply.errorfiles + "'", near.hint());
}

/// The page that `reply` stands for; null when nothing is left but the built-in one.
ReplyPtr follow(const Config &config, ReplyPtr reply) {
  while (reply && reply->kind == HttpReply::Errorfiles) {
    const HttpErrors *section = find_section(config, reply->errorfiles);
    auto at = section ? section->replies.find(reply->status) : std::map<u16, ReplyPtr>::const_iterator{};
    if (section && at != section->replies.end()) return at->second;
    reply = reply->otherwise;
  }
  return reply;
}

} // namespace

void resolve_error_files(Config &config, Diagnostics &diags) {
  for (const auto &proxy : config.proxies) {
    Place told;
    for (auto at = proxy->error_replies.begin(); at != proxy->error_replies.end();) {
      const HttpReply &reply = *at->second;
      bool missing = reply.kind == HttpReply::Errorfiles && !find_section(config, reply.errorfiles);
      if (missing && (told.line != reply.place.line || told.file != reply.place.file)) alert_missing(config, reply, diags), told = reply.place;
      at->second = follow(config, at->second);
      at = at->second ? std::next(at) : proxy->error_replies.erase(at);
    }
  }
}

} // namespace penstock
