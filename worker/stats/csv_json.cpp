// SPDX-License-Identifier: BSD-2-Clause
#include "worker/stats/csv_json.h"

#include "shared/base/text.h"

namespace penstock {

namespace {

void add(std::string &out, u64 n) {
  char digits[20];
  out.append(digits, write_u64(digits, n));
}

string_view origin_word(char c) {
  switch (c) {
    case 'M': return "Metric";
    case 'S': return "Status";
    case 'K': return "Key";
    case 'C': return "Config";
    case 'P': return "Product";
  }
  return "Unknown";
}
string_view nature_word(char c) {
  switch (c) {
    case 'G': return "Gauge";
    case 'L': return "Limit";
    case 'm': return "Min";
    case 'M': return "Max";
    case 'R': return "Rate";
    case 'C': return "Counter";
    case 'D': return "Duration";
    case 'A': return "Age";
    case 'T': return "Time";
    case 'N': return "Name";
    case 'O': return "Output";
    case 'a': return "Avg";
  }
  return "Unknown";
}
string_view scope_word(char c) {
  switch (c) {
    case 'C': return "Cluster";
    case 'P': return "Process";
    case 'S': return "Service";
    case 's': return "System";
  }
  return "Unknown";
}

constexpr string_view object_words[] = {"Frontend", "Backend", "Server", "Listener"};

u32 number_of(const StatSubject &s) {
  if (s.object == StatObject::Server) return s.server->id;
  if (s.object == StatObject::Listener) return s.bind->id ? s.bind->id : s.bind_number;
  return 0;
}

StatValue value_of(const StatField &f, StatSubject &s) {
  return f.on >> static_cast<u8>(s.object) & 1 ? f.get(s) : StatValue::none();
}

void dump_csv(std::string &out, StatSubject &subject) {
  for (const StatField &f : stat_fields()) {
    StatValue v = value_of(f, subject);
    if (v.type == StatValue::Str) add_csv(out, v.str);
    else add_number(out, v);
    out += ',';
  }
  out += "-,\n"; // the column that ends those with a fixed place
}

void dump_typed(std::string &out, bool with_descriptions, StatSubject &subject) {
  u32 position = 0;
  for (const StatField &f : stat_fields()) {
    StatValue v = value_of(f, subject);
    u32 at = position++;
    if (v.type == StatValue::Empty) continue;
    out += "FBSL"[static_cast<u8>(subject.object)];
    out += '.';
    add(out, subject.proxy->id);
    out += '.';
    add(out, number_of(subject));
    out += '.';
    add(out, at);
    out += '.';
    out += f.name;
    out += ".1";
    add_typed_figure(out, f.tags, v);
    if (with_descriptions) (out += ":\"") += f.summary, out += '"';
    out += '\n';
  }
}

void dump_json(std::string &out, bool &first, StatSubject &subject) {
  if (!first) out += ',';
  first = false;
  out += '[';
  u32 position = 0;
  bool first_figure = true;
  for (const StatField &f : stat_fields()) {
    StatValue v = value_of(f, subject);
    u32 at = position++;
    if (v.type == StatValue::Empty) continue;
    if (!first_figure) out += ',';
    first_figure = false;
    ((out += "{\"objType\":\"") += object_words[static_cast<u8>(subject.object)]) += "\",\"proxyId\":";
    add(out, subject.proxy->id);
    out += ",\"id\":";
    add(out, number_of(subject));
    out += ',';
    add_json_figure(out, at, f.name, f.tags, v);
    out += '}';
  }
  out += ']';
}

} // namespace

void add_csv(std::string &out, string_view text) {
  if (text.find_first_of(",\"\r\n") == string_view::npos) {
    out += text;
    return;
  }
  out += '"';
  for (char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

void add_json(std::string &out, string_view text) {
  static constexpr char hex[] = "0123456789abcdef";
  for (char c : text) {
    if (c == '"' || c == '\\') (out += '\\') += c;
    else if (c == '\n') out += "\\n";
    else if (c == '\r') out += "\\r";
    else if (c == '\t') out += "\\t";
    else if (static_cast<u8>(c) < 0x20) ((out += "\\u00") += hex[c >> 4]) += hex[c & 15];
    else out += c;
  }
}

void add_number(std::string &out, const StatValue &v) {
  if (v.type == StatValue::Empty || v.type == StatValue::Str) return;
  bool negative = (v.type == StatValue::S32 || v.type == StatValue::S64) && static_cast<i64>(v.num) < 0;
  if (negative) out += '-';
  add(out, negative ? -v.num : v.num);
}

void add_typed_figure(std::string &out, const char *tags, const StatValue &value) {
  ((((out += ':') += tags) += ':') += type_word(value.type)) += ':';
  if (value.type == StatValue::Str) out += value.str;
  else add_number(out, value);
}

void add_json_figure(std::string &out, u32 position, string_view name, const char *tags, const StatValue &value) {
  out += "\"field\":{\"pos\":";
  add(out, position);
  ((out += ",\"name\":\"") += name) += "\"},\"processNum\":1,\"tags\":{\"origin\":\"";
  ((((out += origin_word(tags[0])) += "\",\"nature\":\"") += nature_word(tags[1])) += "\",\"scope\":\"") += scope_word(tags[2]);
  ((out += "\"},\"value\":{\"type\":\"") += type_word(value.type)) += "\",\"value\":";
  if (value.type == StatValue::Str) {
    out += '"';
    add_json(out, value.str);
    out += '"';
  } else {
    add_number(out, value);
  }
  out += '}';
}

void dump_stat_head(std::string &out, DumpForm form) {
  if (form == DumpForm::Json) out += '[';
  if (form != DumpForm::Csv) return;
  out += "# ";
  for (const StatField &f : stat_fields()) (out += f.name) += ',';
  out += "-,\n";
}

void dump_stat(std::string &out, DumpForm form, bool with_descriptions, bool &first, StatSubject &subject) {
  switch (form) {
    case DumpForm::Csv: return dump_csv(out, subject);
    case DumpForm::Typed: return dump_typed(out, with_descriptions, subject);
    case DumpForm::Json: return dump_json(out, first, subject);
  }
}

void dump_stat_tail(std::string &out, DumpForm form) {
  if (form == DumpForm::Json) out += "]\n";
}

string_view stats_schema() {
  // One line, made of the words above; validators want it whole.
  return R"({"$schema":"http://json-schema.org/draft-04/schema#","oneOf":[)"
         R"({"title":"Info","type":"array","items":{"title":"InfoItem","type":"object","properties":{"field":{"$ref":"#/definitions/field"},"processNum":{"$ref":"#/definitions/processNum"},"tags":{"$ref":"#/definitions/tags"},"value":{"$ref":"#/definitions/typedValue"}},"required":["field","processNum","tags","value"]}},)"
         R"({"title":"Stat","type":"array","items":{"title":"InfoItem","type":"object","properties":{"objType":{"enum":["Frontend","Backend","Listener","Server","Unknown"]},"proxyId":{"type":"integer","minimum":0},"id":{"type":"integer","minimum":0},"field":{"$ref":"#/definitions/field"},"processNum":{"$ref":"#/definitions/processNum"},"tags":{"$ref":"#/definitions/tags"},"value":{"$ref":"#/definitions/typedValue"}},"required":["objType","proxyId","id","field","processNum","tags","value"]}},)"
         R"({"title":"Error","type":"object","properties":{"errorStr":{"type":"string"}},"required":["errorStr"]}],)"
         R"("definitions":{"field":{"type":"object","properties":{"pos":{"type":"integer","minimum":0},"name":{"type":"string"}},"required":["pos","name"]},)"
         R"("processNum":{"type":"integer","minimum":1},)"
         R"("tags":{"type":"object","properties":{"origin":{"type":"string","enum":["Metric","Status","Key","Config","Product","Unknown"]},"nature":{"type":"string","enum":["Gauge","Limit","Min","Max","Rate","Counter","Duration","Age","Time","Name","Output","Avg","Unknown"]},"scope":{"type":"string","enum":["Cluster","Process","Service","System","Unknown"]}},"required":["origin","nature","scope"]},)"
         R"("typedValue":{"type":"object","oneOf":[)"
         R"({"properties":{"type":{"enum":["s32"]},"value":{"type":"integer","minimum":-2147483648,"maximum":2147483647}},"required":["type","value"]},)"
         R"({"properties":{"type":{"enum":["s64"]},"value":{"type":"integer"}},"required":["type","value"]},)"
         R"({"properties":{"type":{"enum":["u32"]},"value":{"type":"integer","minimum":0,"maximum":4294967295}},"required":["type","value"]},)"
         R"({"properties":{"type":{"enum":["u64"]},"value":{"type":"integer","minimum":0}},"required":["type","value"]},)"
         R"({"properties":{"type":{"enum":["str"]},"value":{"type":"string"}},"required":["type","value"]}]}}})"
         "\n";
}

} // namespace penstock
