// SPDX-License-Identifier: BSD-2-Clause
#include "worker/stats/html_page.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "shared/base/build_info.h"
#include "shared/base/text.h"
#include "shared/shm/server_state.h"
#include "worker/stats/csv_json.h"
#include "worker/stats/html_style.h"
#include "worker/stats/info.h"

namespace penstock {

namespace {

/// A column: a heading and up to four figures of worker/stats/fields.h, shown one after another.
struct PageColumn {
  string_view heading, explained;
  string_view fields[4] = {};
  u8 width = 5; // share of the table's
  enum Shape : u8 { Plain, Bytes, Seconds } shape = Plain;
  bool alarming = false; // more than nothing is worth a look
};
constexpr unsigned name_width = 13, status_width = 13;
constexpr PageColumn columns[] = {
    {"Queue", "waiting now / most", {"qcur", "qmax"}, 5},
    {"Sessions", "now / most / limit", {"scur", "smax", "slim"}, 9},
    {"Total", "sessions so far", {"stot"}, 6},
    {"Rate", "per second: now / most", {"rate", "rate_max"}, 7},
    {"In", "bytes from clients", {"bin"}, 6, PageColumn::Bytes},
    {"Out", "bytes to clients", {"bout"}, 6, PageColumn::Bytes},
    {"Denied", "requests / responses", {"dreq", "dresp"}, 5},
    {"Errors", "requests / connections / responses", {"ereq", "econ", "eresp"}, 6, PageColumn::Plain, true},
    {"Retries", "repeated / moved to another server", {"wretr", "wredis"}, 5},
    {"2xx", "responses", {"hrsp_2xx"}, 6},
    {"4xx", "responses", {"hrsp_4xx"}, 5},
    {"5xx", "responses", {"hrsp_5xx"}, 5, PageColumn::Plain, true},
    {"Time", "ms, mean: connect / response", {"ctime", "rtime"}, 6},
    {"Weight", "in effect", {"weight"}, 6},
    {"Checks", "failed / times down", {"chkfail", "chkdown"}, 6, PageColumn::Plain, true},
    {"Down", "time spent down", {"downtime"}, 6, PageColumn::Seconds, true},
};
constexpr size_t column_count = sizeof columns / sizeof *columns;

const StatField *field(string_view name) {
  for (const StatField &f : stat_fields())
    if (f.name == name) return &f;
  return nullptr;
}

/// The columns' fields, looked up once.
struct Resolved {
  const StatField *of[column_count][4] = {};
  Resolved() {
    for (size_t c = 0; c < column_count; c++)
      for (size_t i = 0; i < 4; i++)
        if (!columns[c].fields[i].empty()) of[c][i] = field(columns[c].fields[i]);
  }
};

StatValue value(const StatField *f, StatSubject &s) {
  return f && (f->on >> static_cast<u8>(s.object) & 1) ? f->get(s) : StatValue::none();
}

void add(std::string &out, u64 n) { out += std::to_string(n); }

/// "12 345 678", in groups from five digits on, that don't break over lines.
void add_grouped(std::string &out, u64 n) {
  char digits[24];
  size_t count = static_cast<size_t>(write_u64(digits, n) - digits);
  for (size_t i = 0; i < count; i++) {
    if (count > 4 && i > 0 && (count - i) % 3 == 0) out += "\u202f";
    out += digits[i];
  }
}

void add_bytes(std::string &out, u64 n) {
  static constexpr const char *units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
  double v = static_cast<double>(n);
  size_t unit = 0;
  while (v >= 1000 && unit < 5) v /= 1000, unit++;
  char text[32];
  std::snprintf(text, sizeof text, unit == 0 || v >= 100 ? "%.0f %s" : "%.1f %s", v, units[unit]);
  out += text;
}

void add_duration(std::string &out, u64 s) {
  char text[48];
  if (s < 60) std::snprintf(text, sizeof text, "%llus", static_cast<unsigned long long>(s));
  else if (s < 3600) std::snprintf(text, sizeof text, "%llum %llus", static_cast<unsigned long long>(s / 60), static_cast<unsigned long long>(s % 60));
  else if (s < 86400) std::snprintf(text, sizeof text, "%lluh %llum", static_cast<unsigned long long>(s / 3600), static_cast<unsigned long long>(s / 60 % 60));
  else std::snprintf(text, sizeof text, "%llud %lluh", static_cast<unsigned long long>(s / 86400), static_cast<unsigned long long>(s / 3600 % 24));
  out += text;
}

void add_value(std::string &out, const StatValue &v, PageColumn::Shape shape) {
  if (shape == PageColumn::Bytes) add_bytes(out, v.num);
  else if (shape == PageColumn::Seconds) add_duration(out, v.num);
  else if (v.type == StatValue::Str) add_html(out, v.str);
  else if (v.type == StatValue::U32 || v.type == StatValue::U64) add_grouped(out, v.num);
  else add_number(out, v);
}

/// The colour of a status; the word itself is always there too.
string_view status_class(string_view status) {
  if (status.starts_with("UP") || status == "OPEN") return status.find('/') == string_view::npos ? "ok" : "warn";
  if (status.starts_with("DOWN") || status == "STOP") return "bad";
  if (status == "no check") return "idle";
  return "warn"; // MAINT, DRAIN, NOLB, PAUSED
}

/// Actions of the form: what is posted, and what the reader sees.
struct Action { string_view word, shown; };
constexpr Action actions[] = {
    {"ready", "State: ready"}, {"drain", "State: drain"}, {"maint", "State: maintenance"},
    {"ehlth", "Health checks: on"}, {"dhlth", "Health checks: off"},
    {"hrunn", "Health: up"}, {"hnolb", "Health: no new traffic"}, {"hdown", "Health: down"},
};

constexpr string_view outcome_texts[] = {
    "", "The order was carried out.", "Nothing was changed: no server was chosen, or all were in that state already.",
    "The order was carried out for a part of the servers only.", "The order was not understood.",
    "The order was too long: choose fewer servers.", "The order was refused.",
};

} // namespace

void add_html(std::string &out, string_view text) {
  for (char c : text) switch (c) {
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '&': out += "&amp;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
}

HtmlPage::HtmlPage(PageSubject subject) : s_(std::move(subject)), cursor_(s_.config, s_.service, filter()) {
  cursor_.set_time(s_.now, s_.wall_s);
}

StatFilter HtmlPage::filter() const {
  StatFilter f;
  f.up_only = s_.query.up_only;
  f.no_maint = s_.query.no_maint;
  f.scopes = &s_.owner.stats->scopes;
  f.own = &s_.owner;
  f.name_part = s_.query.scope;
  return f;
}

std::string HtmlPage::link(const PageQuery &q) const { return s_.owner.stats->uri + page_options(q); }

void HtmlPage::head(std::string &out) {
  const StatsSettings &settings = *s_.owner.stats;
  out += "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
         "<meta name=\"robots\" content=\"noindex\">";
  if (settings.refresh_s && !s_.query.no_refresh) {
    out += "<meta http-equiv=\"refresh\" content=\"";
    add(out, settings.refresh_s);
    out += "\">";
  }
  out += "<title>Statistics";
  if (settings.show_node) add_html(out += " – ", settings.node.empty() ? s_.config.global.node : settings.node);
  ((out += "</title><style>") += page_style) += "</style></head><body><header><h1>";
  out += product_name;
  if (!settings.hide_version) ((out += " <small>") += product_version) += "</small>";
  out += "</h1>";
  if (settings.show_node) add_html(out += "<p class=\"node\">", settings.node.empty() ? s_.config.global.node : settings.node), out += "</p>";
  if (settings.show_desc) add_html(out += "<p class=\"desc\">", settings.description.empty() ? s_.config.global.description : settings.description), out += "</p>";
  out += "</header>";
  if (s_.query.outcome != PageOutcome::None) {
    ((out += "<p role=\"status\" class=\"outcome ") += s_.query.outcome == PageOutcome::Done ? "ok" : "warn") += "\">";
    (out += outcome_texts[static_cast<u8>(s_.query.outcome)]) += "</p>";
  }
  summary(out);
  toolbar(out);
  out += "<main>";
}

void HtmlPage::summary(std::string &out) {
  InfoSubject info = read_info(s_.config, s_.service, s_.now, s_.wall_s);
  const ServiceRow &row = s_.service.row();
  auto figure = [&](string_view label, auto &&write) {
    out += "<div><dt>";
    (out += label) += "</dt><dd>";
    write();
    out += "</dd></div>";
  };
  out += "<dl class=\"summary\">";
  figure("Up for", [&] { add_duration(out, static_cast<u64>(std::max<i64>(0, s_.wall_s - row.started_wall_s.load()))); });
  figure("Workers", [&] { add(out, info.workers); });
  u32 servers = 0, usable = 0;
  for (const auto &p : s_.config.proxies)
    for (const auto &server : p->servers)
      if (server->row != no_row) servers++, usable += server_usable(s_.service.server(server->row));
  figure("Servers up", [&] {
    add(out, usable);
    add(out += " <small>of ", servers), out += "</small>";
  });
  figure("Connections", [&] {
    add(out, row.conns.count());
    if (u32 limit = row.maxconn.load()) add_grouped(out += " <small>of ", limit), out += "</small>";
  });
  figure("Connections/s", [&] { add(out, row.connection_rate.read(s_.now)); });
  figure("Sessions/s", [&] { add(out, row.session_rate.read(s_.now)); });
  figure("Requests", [&] { add_grouped(out, info.process.requests.get()); });
  figure("Sent", [&] { add_bytes(out, info.process.bytes_out.get()); });
  out += "</dl>";
}

void HtmlPage::toolbar(std::string &out) {
  auto entry = [&](const PageQuery &q, string_view suffix, string_view text, bool on) {
    out += "<a href=\"";
    add_html(out, link(q) + std::string(suffix));
    ((out += on ? "\" aria-current=\"true\">" : "\">") += text) += "</a>";
  };
  out += "<nav>";
  PageQuery q = s_.query;
  q.up_only = !q.up_only;
  entry(q, "", "Only what is up", s_.query.up_only);
  q = s_.query;
  q.no_maint = !q.no_maint;
  entry(q, "", "Without maintenance", s_.query.no_maint);
  q = s_.query;
  q.no_refresh = !q.no_refresh;
  if (s_.owner.stats->refresh_s) entry(q, "", "Paused", s_.query.no_refresh);
  q = s_.query;
  entry(q, "", "Reload", false);
  entry(q, ";csv", "CSV", false);
  entry(q, ";json", "JSON", false);
  out += "<form method=\"get\" action=\"";
  q.scope.clear();
  add_html(out, link(q));
  out += "\"><input type=\"search\" name=\"scope\" aria-label=\"Proxies whose names contain\" placeholder=\"Filter proxies\" value=\"";
  add_html(out, s_.query.scope);
  out += "\"></form></nav>";
}

void HtmlPage::begin_proxy(std::string &out, const Proxy &p) {
  open_ = &p;
  bool form = s_.admin && p.is_backend && !p.servers.empty();
  out += "<section id=\"";
  add_html(out, p.name);
  out += "\"><h2><a href=\"#";
  add_html(out, p.name);
  add_html(out += "\">", p.name);
  ((out += "</a> <small>") += mode_name(p.mode)) += p.is_backend && !p.servers.empty() ? ", " : "";
  if (p.is_backend && !p.servers.empty()) out += balance_name(p.balance.algorithm);
  out += "</small></h2>";
  if (!p.description.empty() && s_.owner.stats->show_desc) add_html(out += "<p class=\"desc\">", p.description), out += "</p>";
  if (form) {
    out += "<form method=\"post\" action=\"";
    add_html(out, link(s_.query));
    add(out += "\"><input type=\"hidden\" name=\"b\" value=\"#", p.id);
    out += "\">";
  }
  // One set of widths for all tables: their columns stand below each other.
  unsigned whole = name_width + status_width;
  for (const PageColumn &c : columns) whole += c.width;
  auto width = [&](unsigned share) {
    char text[64];
    out.append(text, static_cast<size_t>(std::snprintf(text, sizeof text, "<col style=\"width:%.2f%%\">", 100.0 * share / whole)));
  };
  out += "<div class=\"scroll\"><table><colgroup>";
  width(name_width), width(status_width);
  for (const PageColumn &c : columns) width(c.width);
  out += "</colgroup><thead><tr><th scope=\"col\">Name</th><th scope=\"col\">Status</th>";
  for (const PageColumn &c : columns) (((out += "<th scope=\"col\" title=\"") += c.explained) += "\">") += c.heading, out += "</th>";
  out += "</tr></thead><tbody>";
}

void HtmlPage::end_proxy(std::string &out) {
  if (!open_) return;
  out += "</tbody></table></div>";
  if (s_.admin && open_->is_backend && !open_->servers.empty()) {
    out += "<p class=\"orders\"><label>Chosen servers: <select name=\"action\"><option value=\"\"></option>";
    for (const Action &a : actions) (((out += "<option value=\"") += a.word) += "\">") += a.shown, out += "</option>";
    out += "</select></label> <button>Apply</button></p></form>";
  }
  out += "</section>";
  open_ = nullptr;
}

void HtmlPage::row(std::string &out) {
  static const Resolved resolved;
  static const StatField *name = field("svname"), *status = field("status"), *since = field("lastchg"), *check = field("check_status"),
                         *code = field("check_code"), *took = field("check_duration"), *said = field("last_chk"), *address = field("addr");
  static constexpr string_view kinds[] = {"front", "back", "server", "listener"};
  bool is_server = line_.object == StatObject::Server;
  ((out += "<tr class=\"") += kinds[static_cast<u8>(line_.object)]) += is_server && line_.server->options->backup ? " backup\">" : "\">";
  out += "<th scope=\"row\">";
  bool choosable = is_server && s_.admin;
  if (choosable) add_html(out += "<label><input type=\"checkbox\" name=\"s\" value=\"", line_.server->name), out += "\"> ";
  string_view shown = line_.object == StatObject::Frontend ? "Frontend" : line_.object == StatObject::Backend ? "Backend" : value(name, line_).str;
  if (is_server && s_.owner.stats->show_legends) add_html(out += "<span title=\"", value(address, line_).str), out += "\">";
  add_html(out, shown);
  if (is_server && s_.owner.stats->show_legends) out += "</span>";
  if (choosable) out += "</label>";
  std::string state(value(status, line_).str);
  ((out += "</th><td data-label=\"Status\"><b class=\"") += status_class(state)) += "\">";
  add_html(out, state);
  out += "</b>";
  if (StatValue v = value(since, line_); v.type != StatValue::Empty) add_duration(out += " <small>", v.num), out += "</small>";
  if (StatValue v = value(check, line_); v.type == StatValue::Str) {
    std::string text(v.str);
    add_html(out += " <small title=\"", value(said, line_).str);
    add_html(out += "\">", text);
    if (StatValue c = value(code, line_); c.type != StatValue::Empty && c.num) add(out += '/', c.num);
    if (StatValue d = value(took, line_); d.type != StatValue::Empty) add(out += " ", d.num), out += " ms";
    out += "</small>";
  }
  out += "</td>";
  for (size_t c = 0; c < column_count; c++) {
    std::string text;
    bool any = false, something = false;
    for (const StatField *f : resolved.of[c]) {
      StatValue v = value(f, line_);
      if (v.type == StatValue::Empty) continue;
      if (any) text += " / ";
      add_value(text, v, columns[c].shape);
      any = true, something |= v.num != 0 || v.type == StatValue::Str;
    }
    string_view look = !any ? "none" : !something ? "zero" : columns[c].alarming ? "hot" : "";
    ((out += "<td data-label=\"") += columns[c].heading) += '"';
    if (!look.empty()) ((out += " class=\"") += look) += '"';
    ((out += '>') += text) += "</td>";
  }
  out += "</tr>\n";
}

bool HtmlPage::next(std::string &out) {
  switch (part_) {
    case Part::Head:
      head(out);
      part_ = Part::Lines;
      return true;
    case Part::Lines:
      if (!cursor_.next(line_)) {
        end_proxy(out);
        out += "</main></body></html>\n";
        part_ = Part::End;
        return true;
      }
      if (open_ != line_.proxy) {
        end_proxy(out);
        begin_proxy(out, *line_.proxy);
      }
      row(out);
      return true;
    case Part::End: break;
  }
  return false;
}

} // namespace penstock
