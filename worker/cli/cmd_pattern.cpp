// SPDX-License-Identifier: BSD-2-Clause
// Commands about maps and ACLs: looking at lists of patterns and changing them (management guide 9.3). A
// list is named by its file or "#" and number, a row by its key or "#" and the address that `show` gives. What
// a million rows take is done in pieces, between which the control process does its other work.
#include <cstdio>
#include <cstdlib>

#include "shared/base/text.h"
#include "shared/expr/pattern.h"
#include "worker/cli/cli_server.h"
#include "worker/cli/cli_session.h"

namespace penstock {

namespace {

constexpr u32 rows_at_once = 256;    // of a dump, under the lock
constexpr u32 deletions_at_once = 32; // likewise
constexpr int deletion_rounds = 64;    // between two turns of the loop

string_view kind_name(bool map) { return map ? "map" : "ACL"; }
string_view kind_word(bool map) { return map ? "map" : "acl"; }

PatternFiles *files(CliCall &call) {
  const auto &f = call.control.config->pattern_files;
  return f && f->usable() ? f.get() : nullptr;
}

/// What a command is about: `[@<ver>] <list>`, and where its further words begin.
struct Subject {
  PatternReference *ref = nullptr;
  std::optional<u32> version;
  size_t next = 0;
};

bool read_version(CliCall &call, size_t n, Subject &subject) {
  string_view word = call.arg(n);
  if (!word.starts_with('@')) return true;
  auto v = parse_u64(word.substr(1));
  if (!v || *v > UINT32_MAX) {
    call.fail("Invalid version '" + std::string(word) + "': expects '@' and a number.");
    return false;
  }
  subject.version = static_cast<u32>(*v);
  subject.next = n + 1;
  return true;
}

/// On a mistake says so and gives nothing.
std::optional<Subject> read_subject(CliCall &call, bool map, bool versioned) {
  Subject s;
  if (versioned && !read_version(call, 0, s)) return std::nullopt;
  string_view id = call.arg(s.next++);
  if (id.empty()) return call.fail("Missing " + std::string(kind_name(map)) + " identifier."), std::nullopt;
  if (PatternFiles *f = files(call)) s.ref = f->find(id, map);
  if (!s.ref) return call.fail("Unknown " + std::string(kind_name(map)) + " identifier. Please use #<id> or <file>."), std::nullopt;
  return s;
}

/// ACLs over maps take their rows as maps do.
bool is_plain_acl(CliCall &call, const PatternReference &ref, string_view verb) {
  if (!ref.has_values) return true;
  call.fail("This ACL is shared with a map containing samples. You must use the command '" + std::string(verb) + " map'.");
  return false;
}

std::optional<u32> row_address(string_view text) {
  std::string copy(text.substr(1));
  char *end = nullptr;
  u64 address = std::strtoull(copy.c_str(), &end, 16);
  if (copy.empty() || *end || address == 0 || address > UINT32_MAX) return std::nullopt;
  return static_cast<u32>(address);
}

void tell(CliCall &call, PatternChange done, const std::string &error, string_view not_found) {
  if (done == PatternChange::NotFound) call.fail(not_found);
  else if (done != PatternChange::Done) call.fail(error + ".");
}

// ------------------------------------------------------------------------------------------ show

void add_place(std::string &out, const Place &place) {
  ((out += " at file '") += place.file ? place.file : "") += "' line " + std::to_string(place.line);
}

void describe(std::string &out, const PatternReference &ref) {
  ((out += std::to_string(ref.id) + " (") += ref.name) += ") ";
  if (ref.name.empty()) {
    (((out += "acl '") += ref.criterion) += "' file '") += ref.place.file ? ref.place.file : "";
    out += "' line " + std::to_string(ref.place.line);
  } else {
    ((out += "pattern loaded from file '") += ref.shown) += "'";
    for (size_t i = 0; i < ref.uses.size(); i++) {
      (out += i ? ", by " : " used by ") += ref.uses[i].map ? "map" : "acl";
      add_place(out, ref.uses[i].place);
    }
  }
  out += ". curr_ver=" + std::to_string(ref.list->current()) + " next_ver=" + std::to_string(ref.list->newest()) +
         " entry_cnt=" + std::to_string(ref.list->count()) + "\n";
}

class ReferenceTable : public CliAnswer {
 public:
  ReferenceTable(PatternFiles *files, bool map) : files_(files), map_(map) {}
  More next(std::string &out) override {
    if (at_ == 0) out += "# id (file) description\n";
    for (size_t n = 0; files_ && at_ < files_->by_number().size(); n++) {
      if (n == 64) return More::Yes;
      const PatternReference &ref = *files_->by_number()[at_++];
      if (ref.used_by(map_)) describe(out, ref);
    }
    return More::Done;
  }

 private:
  PatternFiles *files_;
  bool map_;
  size_t at_ = 0;
};

class RowDump : public CliAnswer {
 public:
  RowDump(PatternReference &ref, u32 version) : ref_(ref), cursor_(*ref.list), version_(version) {}
  bool valid() const { return cursor_.valid(); }
  More next(std::string &out) override {
    bool more = cursor_.next(version_, rows_at_once, [&](u32 address, const PatternRow &row) {
      char text[24];
      out.append(text, static_cast<size_t>(std::snprintf(text, sizeof text, "0x%08x ", address)));
      out += row.text();
      if (ref_.has_values) (out += ' ') += ref_.list->value(row);
      out += '\n';
    });
    return more ? More::Yes : More::Done;
  }

 private:
  PatternReference &ref_;
  PatternCursor cursor_;
  u32 version_;
};

void show(CliCall &call, bool map) {
  if (call.args() == 0) {
    call.answer = std::make_unique<ReferenceTable>(files(call), map);
    return;
  }
  auto s = read_subject(call, map, true);
  if (!s) return;
  auto dump = std::make_unique<RowDump>(*s->ref, s->version.value_or(s->ref->list->current()));
  if (!dump->valid()) return call.fail("Too many lists are being read at this time; try again later.");
  call.answer = std::move(dump);
}

// ------------------------------------------------------------------------------------------ get

void add_quoted(std::string &out, string_view name, string_view text) { (((out += name) += "=\"") += text) += '"'; }

void get(CliCall &call, bool map) {
  if (call.arg(1).empty()) return call.fail("Missing " + std::string(kind_name(map)) + " identifier and/or key.");
  auto s = read_subject(call, map, false);
  if (!s) return;
  Arena scratch;
  for (const auto &set : s->ref->sets) {
    Sample sample;
    sample.set_str(call.arg(s->next));
    const PatternRow *row = cast(sample, match_input(set->method()), scratch) ? set->find(sample) : nullptr;
    ((call.out += "type=") += match_method_name(set->method())) += set->ignore_case() ? ", case=insensitive" : ", case=sensitive";
    call.out += map ? ", found=" : ", match=";
    call.out += row ? "yes" : "no";
    if (row) {
      call.out += set->indexed() ? ", idx=tree, " : ", idx=list, ";
      add_quoted(call.out, map ? "key" : "pattern", row->text());
      if (map) {
        add_quoted(call.out += ", ", "value", set->value(*row));
        u8 values = s->ref->list->head().values;
        add_quoted(call.out += ", ", "type", values & PatternList::numbers ? "sint" : values & PatternList::addresses ? "ip" : "str");
      }
    }
    call.out += '\n';
  }
}

// ------------------------------------------------------------------------------------------ add, set, del

bool may_add(CliCall &call, const Subject &s, bool map, u32 &version) {
  const PatternList &list = *s.ref->list;
  version = s.version.value_or(list.current());
  u32 ahead = version - list.current(), room = list.newest() - list.current();
  if (ahead <= room) return true;
  if (ahead < UINT32_MAX / 2) call.fail("Version number in the future, please use 'prepare " + std::string(kind_word(map)) + "' before.");
  else call.fail("Version number out of range.");
  return false;
}

/// The lines of a payload: a key each, for maps with its value behind it.
void add_payload(CliCall &call, const Subject &s, u32 version, bool map) {
  std::string error;
  for (string_view rest = call.payload; !rest.empty();) {
    size_t end = rest.find('\n');
    string_view line = rest.substr(0, end);
    rest = end == string_view::npos ? string_view() : rest.substr(end + 1);
    while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
    if (line.empty()) continue;
    string_view key = line, value;
    if (map) {
      size_t gap = line.find_first_of(" \t"), begin = line.find_first_not_of(" \t", gap);
      key = line.substr(0, gap);
      if (gap == string_view::npos || begin == string_view::npos) return call.fail("Missing value for key '" + std::string(key) + "'.");
      value = line.substr(begin);
    }
    PatternChange done = s.ref->list->add(key, value, version, error);
    if (done != PatternChange::Done) return tell(call, done, error, {});
  }
}

void add(CliCall &call, bool map) {
  if (call.args() == 0) return call.fail(map ? "'add map' expects three parameters (map identifier, key and value) or one parameter (map identifier) and a payload" : "'add acl' expects two parameters: ACL identifier and pattern.");
  auto s = read_subject(call, map, true);
  if (!s || (!map && !is_plain_acl(call, *s->ref, "add"))) return;
  u32 version = 0;
  if (!may_add(call, *s, map, version)) return;
  if (!call.payload.empty() && call.arg(s->next).empty()) return add_payload(call, *s, version, map && s->ref->has_values);
  if (call.arg(s->next).empty() || (map && call.arg(s->next + 1).empty()))
    return call.fail(map ? "'add map' expects three parameters (map identifier, key and value) or one parameter (map identifier) and a payload" : "'add acl' expects two parameters: ACL identifier and pattern.");
  std::string error;
  PatternChange done = s->ref->list->add(call.arg(s->next), map ? call.arg(s->next + 1) : string_view(), version, error);
  tell(call, done, error, {});
}

void set_map(CliCall &call) {
  if (call.arg(2).empty()) return call.fail("'set map' expects three parameters: map identifier, key and value.");
  auto s = read_subject(call, true, false);
  if (!s) return;
  std::string error;
  string_view key = call.arg(1), value = call.arg(2);
  if (!key.starts_with('#')) return tell(call, s->ref->list->set(key, value, error), error, "entry not found.");
  auto address = row_address(key);
  tell(call, address ? s->ref->list->set_row(*address, value, error) : PatternChange::NotFound, error, "entry not found.");
}

void del(CliCall &call, bool map) {
  if (call.arg(1).empty()) return call.fail("This command expects two parameters: " + std::string(kind_name(map)) + " identifier and key.");
  auto s = read_subject(call, map, false);
  if (!s) return;
  string_view key = call.arg(1);
  std::optional<u32> address;
  if (key.starts_with('#')) address = row_address(key);
  PatternChange done = address ? s->ref->list->remove_row(*address) : PatternChange::NotFound;
  if (done == PatternChange::NotFound) done = s->ref->list->remove(key); // keys may begin with a sharp
  tell(call, done, {}, "Key not found.");
}

// ------------------------------------------------------------------------------------------ versions

void prepare(CliCall &call, bool map) {
  auto s = read_subject(call, map, false);
  if (!s || (!map && !is_plain_acl(call, *s->ref, "prepare"))) return;
  call.out += "New version created: " + std::to_string(s->ref->list->prepare()) + "\n";
}

/// The answer comes when all is gone; other clients and the health checks go on meanwhile.
class Purge : public CliAnswer {
 public:
  Purge(CliCall &call, PatternList &list, std::optional<u32> version) : session_(call.session.number()), purge_(list, version) {
    clock_.purge = this;
    clock_.on_expire = [](Timer &t) {
      if (CliSession *s = CliSession::find(static_cast<Clock &>(t).purge->session_)) s->wake();
    };
    loop_ = &call.control.loop;
  }
  ~Purge() override { loop_->cancel(clock_); }
  bool valid() const { return purge_.valid(); }
  More next(std::string &) override {
    for (int i = 0; i < deletion_rounds; i++)
      if (purge_.step(deletions_at_once)) return More::Done;
    loop_->set_timer(clock_, after(loop_->now(), 1));
    return More::Later;
  }

 private:
  struct Clock : Timer { Purge *purge; } clock_;
  u64 session_;
  Loop *loop_;
  PatternPurge purge_;
};

void start_purge(CliCall &call, PatternList &list, std::optional<u32> version) {
  auto purge = std::make_unique<Purge>(call, list, version);
  if (!purge->valid()) return call.fail("Too many lists are being read at this time; try again later.");
  call.answer = std::move(purge);
}

void clear(CliCall &call, bool map) {
  auto s = read_subject(call, map, true);
  if (s) start_purge(call, *s->ref->list, s->version.value_or(s->ref->list->current()));
}

void commit(CliCall &call, bool map) {
  if (!call.arg(0).starts_with('@')) return call.fail("Missing version number.");
  auto s = read_subject(call, map, true);
  if (!s || (!map && !is_plain_acl(call, *s->ref, "commit"))) return;
  if (!s->ref->list->commit(*s->version)) return call.fail("Version number out of range.");
  start_purge(call, *s->ref->list, std::nullopt);
}

template <void (*command)(CliCall &, bool), bool map> void as(CliCall &call) { command(call, map); }

constexpr CliCommand rows[] = {
    {.words = "add acl", .usage = "[@<ver>] <acl> <pattern>", .level = CliLevel::Operator,
     .doc = {.summary = "Add a pattern to an ACL.", .text = "Whether it is there already is not looked at. With '<<' behind the ACL, each line of the payload is a pattern.", .example = "add acl #3 /admin"}, .run = as<add, false>},
    {.words = "add map", .usage = "[@<ver>] <map> <key> <val>", .level = CliLevel::Operator,
     .doc = {.summary = "Add a row to a map.", .text = "Whether the key is there already is not looked at. With '<<' behind the map, each line of the payload is a key and its value. With a version that 'prepare map' gave, the rows match after 'commit map'.", .example = "add map /etc/penstock/hosts.map www.example.com app"}, .run = as<add, true>},
    {.words = "clear acl", .usage = "[@<ver>] <acl>", .level = CliLevel::Operator,
     .doc = {.summary = "Delete all patterns of an ACL, or those of one version.", .text = {}, .example = "clear acl #3"}, .run = as<clear, false>},
    {.words = "clear map", .usage = "[@<ver>] <map>", .level = CliLevel::Operator,
     .doc = {.summary = "Delete all rows of a map, or those of one version.", .text = {}, .example = "clear map #0"}, .run = as<clear, true>},
    {.words = "commit acl", .usage = "@<ver> <acl>", .level = CliLevel::Operator,
     .doc = {.summary = "Let a prepared version of an ACL take the place of the current one.", .text = "Every worker changes over at once. Older versions are deleted.", .example = "commit acl @1 #3"}, .run = as<commit, false>},
    {.words = "commit map", .usage = "@<ver> <map>", .level = CliLevel::Operator,
     .doc = {.summary = "Let a prepared version of a map take the place of the current one.", .text = "Every worker changes over at once. Older versions are deleted.", .example = "commit map @1 #0"}, .run = as<commit, true>},
    {.words = "del acl", .usage = "<acl> [<key>|#<ref>]", .level = CliLevel::Operator,
     .doc = {.summary = "Delete a pattern of an ACL, by itself or by the reference that 'show acl' gives.", .text = {}, .example = "del acl #3 /admin"}, .run = as<del, false>},
    {.words = "del map", .usage = "<map> [<key>|#<ref>]", .level = CliLevel::Operator,
     .doc = {.summary = "Delete the rows of a key of a map, or one by the reference that 'show map' gives.", .text = {}, .example = "del map #0 www.example.com"}, .run = as<del, true>},
    {.words = "get acl", .usage = "<acl> <value>",
     .doc = {.summary = "What a value would match in an ACL, for each way in which it is used.", .text = {}, .example = "get acl #3 /admin/users"}, .run = as<get, false>},
    {.words = "get map", .usage = "<map> <value>",
     .doc = {.summary = "What a value would find in a map, for each way in which it is used.", .text = {}, .example = "get map #0 www.example.com"}, .run = as<get, true>},
    {.words = "prepare acl", .usage = "<acl>", .level = CliLevel::Operator,
     .doc = {.summary = "Make a new version of an ACL, to be filled and then put in place at once.", .text = {}, .example = "prepare acl #3"}, .run = as<prepare, false>},
    {.words = "prepare map", .usage = "<map>", .level = CliLevel::Operator,
     .doc = {.summary = "Make a new version of a map, to be filled and then put in place at once.", .text = {}, .example = "prepare map #0"}, .run = as<prepare, true>},
    {.words = "set map", .usage = "<map> [<key>|#<ref>] <value>", .level = CliLevel::Operator,
     .doc = {.summary = "Change the value of a key of a map, or of one row.", .text = {}, .example = "set map #0 www.example.com app2"}, .run = set_map},
    {.words = "show acl", .usage = "[@<ver>] [<acl>]",
     .doc = {.summary = "The ACLs, or the patterns of one.", .text = {}, .example = "show acl"}, .run = as<show, false>},
    {.words = "show map", .usage = "[@<ver>] [<map>]",
     .doc = {.summary = "The maps, or the rows of one.", .text = "The first word of a row is its reference for 'set map' and 'del map'.", .example = "show map"}, .run = as<show, true>},
};

// ------------------------------------------------------------------------------------------ upkeep

constexpr Millis upkeep_every = 1000;
struct Upkeep : Timer {
  Control *control = nullptr;
} upkeep;

void start(Control &control) {
  const auto &f = control.config->pattern_files;
  if (!f || !f->usable()) return;
  PatternStore &store = f->store();
  store.forget_cursors();
  control.loop.mark_turns(store.heap().claim_reader(max_slots).turn);
  upkeep.control = &control;
  upkeep.on_expire = [](Timer &t) {
    Control &c = *static_cast<Upkeep &>(t).control;
    c.config->pattern_files->store().upkeep();
    c.loop.set_timer(t, after(c.loop.now(), upkeep_every));
  };
  control.loop.set_timer(upkeep, after(control.loop.now(), upkeep_every));
}

} // namespace

std::span<const CliCommand> pattern_commands() { return rows; }

ControlHook pattern_hook() { return {.name = "patterns", .start = start}; }

} // namespace penstock
