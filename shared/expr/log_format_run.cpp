// SPDX-License-Identifier: BSD-2-Clause
// Runs log formats. Text is written once, straight to where it goes; what is too long is cut.
#include "shared/base/text.h"
#include "shared/expr/run.h"

namespace penstock {

namespace {

/// Where text goes, never past the end.
class Out {
 public:
  Out(char *at, size_t capacity) : begin_(at), at_(at), end_(at + capacity) {}
  void put(char c) {
    if (at_ < end_) *at_++ = c;
  }
  void put(string_view s) {
    size_t n = std::min(s.size(), left());
    if (n) std::memcpy(at_, s.data(), n);
    at_ += n;
  }
  size_t left() const { return static_cast<size_t>(end_ - at_); }
  size_t size() const { return static_cast<size_t>(at_ - begin_); }
  char *here() { return at_; }
  void advance(size_t n) { at_ += n; }
  bool ends_with(char c) const { return at_ > begin_ && at_[-1] == c; }

 private:
  char *begin_, *at_, *end_;
};

constexpr char hex_upper[] = "0123456789ABCDEF";
constexpr char hex_lower[] = "0123456789abcdef";

/// RFC 5424 structured data: '"', '\' and ']' get a backslash.
void put_escaped(Out &out, string_view s) {
  for (char c : s) {
    if (c == '"' || c == '\\' || c == ']') out.put('\\');
    out.put(c);
  }
}

void put_json_string(Out &out, string_view s) {
  out.put('"');
  for (char c : s) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') out.put('\\'), out.put(c);
    else if (byte >= 0x20) out.put(c);
    else if (c == '\n') out.put("\\n");
    else if (c == '\r') out.put("\\r");
    else if (c == '\t') out.put("\\t");
    else {
      out.put("\\u00");
      out.put(hex_lower[byte >> 4]);
      out.put(hex_lower[byte & 15]);
    }
  }
  out.put('"');
}

/// A decimal number or an IPv4 address as hexadecimal digits; other text stays as it is.
void put_hex(Out &out, string_view s, unsigned width) {
  u64 v;
  if (auto n = parse_u64(s)) v = *n;
  else if (auto ip = parse_ip(s); ip && ip->is_v4()) v = ip->v4_host_order(), width = 8;
  else return out.put(s);
  char digits[16];
  unsigned n = 0;
  do digits[n++] = hex_upper[v & 15], v >>= 4;
  while (v || n < width);
  while (n) out.put(digits[--n]);
}

/// A value as it stands in a line: quotes, escapes, '-' for what is missing.
void put_value(Out &out, string_view s, u8 flags, bool may_quote) {
  bool quote = may_quote && flags & log_quoted;
  if (s.empty()) {
    if (quote) out.put("\"\"");
    else if (flags & log_mandatory_dash) out.put('-');
    return;
  }
  if (quote) out.put('"');
  if (flags & log_escape_sd) put_escaped(out, s);
  else out.put(s);
  if (quote) out.put('"');
}

constexpr size_t scratch_text = 8192; // of one variable

void put_tag(EvalContext &ctx, const LogNode &node, Out &out) {
  const LogTagDef &tag = *node.tag;
  bool may_quote = !tag.bare && tag.type != Type::Int && tag.type != Type::Bool;
  bool plain = !(node.flags & (log_quoted | log_escape_sd)) && !(node.flags & log_hex && tag.hex_width) && !tag.list;
  if (plain && out.left() > 0) { // the usual case: straight to its place
    size_t n = tag.write(ctx, out.here(), out.left());
    out.advance(n);
    if (n == 0 && node.flags & log_mandatory_dash && tag.type != Type::Any) out.put('-');
    return;
  }
  char *text = ctx.scratch.chars(scratch_text);
  string_view s(text, tag.write(ctx, text, scratch_text));
  if (tag.list) {
    for (bool first = true; !s.empty(); first = false) {
      size_t end = std::min(s.find('\0'), s.size());
      string_view item = s.substr(0, end);
      s.remove_prefix(std::min(end + 1, s.size()));
      if (!first) out.put(' ');
      if (node.flags & log_quoted) put_value(out, item == "-" ? string_view() : item, node.flags, true);
      else out.put(item);
    }
    return;
  }
  if (s.empty() && tag.type == Type::Any) return; // captures: nothing at all when none are configured
  if (node.flags & log_hex && tag.hex_width && !s.empty()) return put_hex(out, s, tag.hex_width);
  put_value(out, s, node.flags, may_quote);
}

void put_expression(EvalContext &ctx, const LogNode &node, Out &out) {
  Sample s;
  bool found = evaluate(ctx, *node.expr, s);
  if (found && s.type != Type::Str && !cast(s, s.type == Type::Bin && node.flags & log_bin ? Type::Bin : Type::Str, ctx.scratch)) found = false;
  put_value(out, found ? s.str : string_view(), node.flags, true);
}

// ---------------------------------------------------------------------------------- encoded formats

/// The value of an item for JSON and CBOR: text and the type that it shall have there.
struct Item {
  bool present = true;
  Type type = Type::Str; // Str, Int, Bool
  string_view text;
  i64 num = 0;
  bool list = false;
};

Item item_of(EvalContext &ctx, const LogNode &node) {
  Item item;
  if (node.kind == LogNode::Tag) {
    char *text = ctx.scratch.chars(scratch_text);
    item.text = {text, node.tag->write(ctx, text, scratch_text)};
    item.list = node.tag->list;
    item.type = node.tag->type == Type::Int ? Type::Int : Type::Str;
    item.present = !item.text.empty();
    if (item.type == Type::Int) {
      auto v = parse_i64(item.text);
      if (v) item.num = *v;
      else item.type = Type::Str;
    }
  } else {
    Sample s;
    bool found = evaluate(ctx, *node.expr, s);
    Type wanted = node.cast == Type::Any ? (s.type == Type::Int || s.type == Type::Bool ? s.type : Type::Str) : node.cast;
    if (found && cast(s, wanted, ctx.scratch)) item = {true, wanted, s.str, s.num, false};
    return item;
  }
  if (node.cast == Type::Str) item.type = Type::Str;
  else if (node.cast == Type::Int || node.cast == Type::Bool) {
    Sample s;
    s.set_str(item.text);
    if (cast(s, node.cast, ctx.scratch)) item.type = node.cast, item.num = s.num;
  }
  return item;
}

void put_int(Out &out, i64 v) {
  char digits[21];
  char *end = write_u64(digits, v < 0 ? -static_cast<u64>(v) : static_cast<u64>(v));
  if (v < 0) out.put('-');
  out.put(string_view(digits, static_cast<size_t>(end - digits)));
}

template <class F> void each_list_item(string_view s, F put) {
  while (!s.empty()) {
    size_t end = std::min(s.find('\0'), s.size());
    put(s.substr(0, end));
    s.remove_prefix(std::min(end + 1, s.size()));
  }
}

void put_json(EvalContext &ctx, const LogFormat &format, Out &out) {
  out.put('{');
  bool first = true;
  for (const LogNode &node : format.nodes) {
    if (node.kind == LogNode::Literal || node.item_name.empty()) continue;
    if (!first) out.put(", ");
    first = false;
    put_json_string(out, node.item_name);
    out.put(": ");
    Item item = item_of(ctx, node);
    if (!item.present) out.put("null");
    else if (item.list) {
      out.put('[');
      bool head = true;
      each_list_item(item.text, [&](string_view s) {
        if (!head) out.put(", ");
        head = false;
        put_json_string(out, s);
      });
      out.put(']');
    } else if (item.type == Type::Int) put_int(out, item.num);
    else if (item.type == Type::Bool) out.put(item.num ? "true" : "false");
    else put_json_string(out, item.text);
  }
  out.put('}');
}

/// CBOR (RFC 8949), as hexadecimal digits unless +bin.
class CborOut {
 public:
  CborOut(Out &out, bool binary) : out_(out), binary_(binary) {}
  void byte(u8 b) {
    if (binary_) return out_.put(static_cast<char>(b));
    out_.put(hex_upper[b >> 4]);
    out_.put(hex_upper[b & 15]);
  }
  void head(u8 major, u64 v) {
    unsigned bytes = v < 24 ? 0 : v < 256 ? 1 : v < 65536 ? 2 : v <= UINT32_MAX ? 4 : 8;
    byte(static_cast<u8>(major << 5 | (bytes == 0 ? v : bytes == 1 ? 24 : bytes == 2 ? 25 : bytes == 4 ? 26 : 27)));
    while (bytes--) byte(static_cast<u8>(v >> (bytes * 8)));
  }
  void text(string_view s) {
    head(3, s.size());
    for (char c : s) byte(static_cast<u8>(c));
  }
  void number(i64 v) { v >= 0 ? head(0, static_cast<u64>(v)) : head(1, ~static_cast<u64>(v)); }

 private:
  Out &out_;
  bool binary_;
};

void put_cbor(EvalContext &ctx, const LogFormat &format, Out &out) {
  CborOut cbor(out, format.flags & log_bin);
  cbor.byte(0xBF); // a map of any length
  for (const LogNode &node : format.nodes) {
    if (node.kind == LogNode::Literal || node.item_name.empty()) continue;
    cbor.text(node.item_name);
    Item item = item_of(ctx, node);
    if (!item.present) cbor.byte(0xF6);
    else if (item.list) {
      cbor.byte(0x9F);
      each_list_item(item.text, [&](string_view s) { cbor.text(s); });
      cbor.byte(0xFF);
    } else if (item.type == Type::Int) cbor.number(item.num);
    else if (item.type == Type::Bool) cbor.byte(item.num ? 0xF5 : 0xF4);
    else cbor.text(item.text);
  }
  cbor.byte(0xFF);
}

} // namespace

size_t format(EvalContext &ctx, const LogFormat &format, char *out_text, size_t capacity) {
  Out out(out_text, capacity);
  if (format.flags & log_json) {
    put_json(ctx, format, out);
    return out.size();
  }
  if (format.flags & log_cbor) {
    put_cbor(ctx, format, out);
    return out.size();
  }
  for (const LogNode &node : format.nodes) {
    switch (node.kind) {
      case LogNode::Literal: {
        string_view text = node.text;
        if (node.flags & log_mandatory_dash && (out.size() == 0 || out.ends_with(' ')) && text.starts_with(' ')) text.remove_prefix(1);
        out.put(text);
        break;
      }
      case LogNode::Tag: put_tag(ctx, node, out); break;
      case LogNode::Expression: put_expression(ctx, node, out); break;
    }
  }
  return out.size();
}

string_view format(EvalContext &ctx, const LogFormat &f, size_t limit) {
  if (f.nodes.size() == 1 && f.nodes[0].kind == LogNode::Literal && !(f.flags & (log_json | log_cbor)))
    return string_view(f.nodes[0].text).substr(0, limit);
  if (f.nodes.size() == 1 && f.nodes[0].kind == LogNode::Expression && !f.nodes[0].flags) { // "%[path]": no copy
    Sample s;
    if (!evaluate(ctx, *f.nodes[0].expr, s) || !cast(s, Type::Str, ctx.scratch)) return {};
    return s.str.substr(0, limit);
  }
  // The result's length is known only afterwards: try a small piece, then the limit.
  for (size_t room = std::min<size_t>(limit, 1024);; room = limit) {
    char *out = ctx.scratch.chars(room);
    size_t n = format(ctx, f, out, room);
    if (n < room || room == limit) return {out, n};
  }
}

} // namespace penstock
