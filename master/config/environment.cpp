// SPDX-License-Identifier: BSD-2-Clause
#include "master/config/environment.h"

#include <unistd.h>

#include <cstdlib>

#include "shared/base/build_info.h"
#include "shared/model/config.h"

namespace penstock {

namespace {

struct Variable {
  const char *name;
  const char *value;
};
// The formats of the manual's section 8.2, for "${HAPROXY_HTTP_LOG_FMT} more".
constexpr Variable log_formats[] = {
    {"HAPROXY_HTTP_LOG_FMT", "%ci:%cp [%tr] %ft %b/%s %TR/%Tw/%Tc/%Tr/%Ta %ST %B %CC %CS %tsc %ac/%fc/%bc/%sc/%rc %sq/%bq %hr %hs %{+Q}r"},
    {"HAPROXY_HTTPS_LOG_FMT", "%ci:%cp [%tr] %ft %b/%s %TR/%Tw/%Tc/%Tr/%Ta %ST %B %CC %CS %tsc %ac/%fc/%bc/%sc/%rc %sq/%bq %hr %hs %{+Q}r "
                              "%[fc_err]/%[ssl_fc_err,hex]/%[ssl_c_err]/%[ssl_c_ca_err]/%[ssl_fc_is_resumed] %[ssl_fc_sni]/%sslv/%sslc"},
    {"HAPROXY_TCP_LOG_FMT", "%ci:%cp [%t] %ft %b/%s %Tw/%Tc/%Tt %B %ts %ac/%fc/%bc/%sc/%rc %sq/%bq"},
    {"HAPROXY_HTTP_CLF_LOG_FMT", "%{+Q}o %{-Q}ci - - [%trg] %r %ST %B \"\" \"\" %cp %ms %ft %b %s %TR %Tw %Tc %Tr %Ta %tsc %ac %fc %bc %sc %rc %sq %bq %CC %CS %hrl %hsl"},
    {"HAPROXY_TCP_CLF_LOG_FMT", "%{+Q}o %{-Q}ci - - [%T] \"TCP \" 000 %B \"\" \"\" %cp %ms %ft %b %s %Th %Tw %Tc %Tt %U %ts-- %ac %fc %bc %sc %rc %sq %bq \"\" \"\" "},
};

std::string host_name() {
  char name[256];
  if (gethostname(name, sizeof name) != 0) return "localhost";
  name[sizeof name - 1] = 0;
  return name;
}

void set(const char *name, const std::string &value) { setenv(name, value.c_str(), 1); }

} // namespace

void set_predefined_variables(const std::vector<std::string> &files, Config &config) {
  std::string list;
  for (const std::string &file : files) list += (list.empty() ? "" : ";") + file;
  set("HAPROXY_CFGFILES", list);
  set("HAPROXY_BRANCH", std::string(language_branch));
  setenv("HAPROXY_STARTUP_VERSION", std::string(language_version).c_str(), 0); // an upgrade by reload keeps the first one
  if (config.global.localpeer.empty()) config.global.localpeer = host_name();
  set("HAPROXY_LOCALPEER", config.global.localpeer);
  if (config.global.master_worker) set("HAPROXY_MWORKER", "1");
  for (const Variable &v : log_formats) setenv(v.name, v.value, 1);
}

void set_variables_known_after_reading(const Config &config) {
  for (const Variable &v : log_formats) unsetenv(v.name); // only meant for the configuration (manual 2.3: not exported)
  if (config.global.master_worker) set("HAPROXY_MWORKER", "1");
  std::string sockets;
  for (const auto &bind : config.global.stats_sockets) sockets += (sockets.empty() ? "" : ";") + bind->address.text();
  if (!sockets.empty()) set("HAPROXY_CLI", sockets);
}

} // namespace penstock
