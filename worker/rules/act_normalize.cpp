// SPDX-License-Identifier: BSD-2-Clause
// normalize-uri: one spelling for targets that mean the same (RFC 3986, section 6.2; manual, section 4.4).
// Each normalizer writes the part that it looks at anew and leaves the rest of the target alone.
#include <algorithm>

#include "shared/base/text.h"
#include "shared/http/uri.h"
#include "worker/rules/http_view.h"
#include "worker/rules/rows.h"

namespace penstock {

namespace {

/// Writes the new form of `in` to `out`, which has room for three times as much; npos: it is malformed.
using Normalize = size_t (*)(string_view in, char *out, bool option);
constexpr size_t malformed = string_view::npos;
enum class Part : u8 { Path, Query, PathAndQuery, FromPath /* with the fragment */ };

size_t encode_fragment(string_view in, char *out, bool) {
  char *at = out;
  for (char c : in) {
    if (c == '#') *at++ = '%', *at++ = '2', *at++ = '3';
    else *at++ = c;
  }
  return static_cast<size_t>(at - out);
}
size_t strip_fragment(string_view in, char *out, bool) { return in.substr(0, in.find('#')).copy(out, in.size()); }

size_t merge_slashes(string_view in, char *out, bool) {
  char *at = out;
  for (size_t i = 0; i < in.size(); i++)
    if (in[i] != '/' || i == 0 || in[i - 1] != '/') *at++ = in[i];
  return static_cast<size_t>(at - out);
}

size_t strip_dots(string_view in, char *out, bool) {
  char *at = out;
  for (size_t i = 0; i < in.size(); i++) {
    bool segment = in[i] == '.' && i > 0 && in[i - 1] == '/' && (i + 1 == in.size() || in[i + 1] == '/');
    if (segment) i++; // the slash behind it too
    else *at++ = in[i];
  }
  return static_cast<size_t>(at - out);
}

/// "/a/../" is "/". What climbs above the top stays, or goes with the option full.
size_t strip_parents(string_view in, char *out, bool full) {
  size_t n = 0;
  for (size_t i = 0; i < in.size();) {
    size_t end = std::min(in.find('/', i + 1), in.size()); // a segment with the slash before it
    string_view segment = in.substr(i, end - i);
    i = end;
    if (segment != "/..") {
      n += segment.copy(out + n, segment.size());
      continue;
    }
    string_view before(out, n);
    size_t slash = before.rfind('/');
    bool at_top = slash == string_view::npos || before.substr(slash) == "/..";
    if (at_top && !full) n += segment.copy(out + n, segment.size());
    else if (!at_top) n = slash;
    if (end == in.size()) out[n++] = '/'; // "/a/.." names the folder
  }
  if (n == 0 && !in.empty()) out[n++] = '/';
  return n;
}

constexpr bool is_unreserved(char c) { return is_alpha(c) || is_digit(c) || c == '-' || c == '.' || c == '_' || c == '~'; }

/// Calls `put` with each character, or with the two digits of each escape. False: a stray percent sign, with `strict`.
template <class Put> bool each_escape(string_view in, bool strict, Put put) {
  for (size_t i = 0; i < in.size(); i++) {
    bool escape = in[i] == '%' && i + 2 < in.size() && hex_digit(in[i + 1]) >= 0 && hex_digit(in[i + 2]) >= 0;
    if (in[i] == '%' && !escape && strict) return false;
    put(in[i], escape ? in.substr(i + 1, 2) : string_view());
    if (escape) i += 2;
  }
  return true;
}
size_t decode_unreserved(string_view in, char *out, bool strict) {
  char *at = out;
  bool good = each_escape(in, strict, [&](char c, string_view digits) {
    char decoded = digits.empty() ? c : static_cast<char>(hex_digit(digits[0]) * 16 + hex_digit(digits[1]));
    if (digits.empty() || is_unreserved(decoded)) *at++ = decoded;
    else *at++ = '%', *at++ = digits[0], *at++ = digits[1];
  });
  return good ? static_cast<size_t>(at - out) : malformed;
}
size_t upper_escapes(string_view in, char *out, bool strict) {
  char *at = out;
  bool good = each_escape(in, strict, [&](char c, string_view digits) {
    *at++ = c;
    for (char digit : digits) *at++ = ascii_upper(digit);
  });
  return good ? static_cast<size_t>(at - out) : malformed;
}

/// Parameters in the order of their names; those of one name keep theirs. Many parameters stay as they are.
size_t sort_query(string_view in, char *out, bool) {
  constexpr size_t most = 128;
  string_view parameters[most];
  size_t count = 0;
  for (string_view rest = in;;) {
    if (count == most) return in.copy(out, in.size());
    size_t end = rest.find('&');
    parameters[count++] = rest.substr(0, end);
    if (end == string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  auto name = [](string_view p) { return p.substr(0, p.find('=')); };
  for (size_t i = 1; i < count; i++) // few, and std::stable_sort would allocate
    for (size_t k = i; k > 0 && name(parameters[k]) < name(parameters[k - 1]); k--) std::swap(parameters[k], parameters[k - 1]);
  size_t n = 0;
  for (size_t i = 0; i < count; i++) {
    if (i) out[n++] = '&';
    n += parameters[i].copy(out + n, parameters[i].size());
  }
  return n;
}

struct Normalizer {
  string_view name, option;
  Part part;
  Normalize run;
};
constexpr Normalizer normalizers[] = {
    {"fragment-encode", "", Part::FromPath, encode_fragment},
    {"fragment-strip", "", Part::FromPath, strip_fragment},
    {"path-merge-slashes", "", Part::Path, merge_slashes},
    {"path-strip-dot", "", Part::Path, strip_dots},
    {"path-strip-dotdot", "full", Part::Path, strip_parents},
    {"percent-decode-unreserved", "strict", Part::PathAndQuery, decode_unreserved},
    {"percent-to-uppercase", "strict", Part::PathAndQuery, upper_escapes},
    {"query-sort-by-name", "", Part::Query, sort_query},
};

struct NormalizeAction : ActionData {
  const Normalizer *normalizer = nullptr;
  bool option = false;
};

bool parse_normalize(Compiler &compiler, std::unique_ptr<ActionData> &out) {
  Words &words = compiler.words();
  auto word = words.need("a normalizer");
  if (!word) return false;
  auto data = std::make_unique<NormalizeAction>();
  NearMiss near(*word);
  for (const Normalizer &n : normalizers) {
    if (n.name == *word) data->normalizer = &n;
    near.consider(n.name);
  }
  if (!data->normalizer) {
    words.alert_last("unknown normalizer '" + std::string(*word) + "'; there are fragment-encode, fragment-strip, path-merge-slashes, path-strip-dot, path-strip-dotdot, "
                     "percent-decode-unreserved, percent-to-uppercase and query-sort-by-name", near.hint());
    return false;
  }
  data->option = !data->normalizer->option.empty() && words.take(data->normalizer->option);
  out = std::move(data);
  return true;
}

string_view part_of(string_view target, Part part) {
  string_view path = path_of(target);
  if (path.empty()) return {};
  if (part == Part::Path) return path;
  if (part == Part::Query) return query_of(target);
  string_view from = target.substr(static_cast<size_t>(path.data() - target.data()));
  return part == Part::FromPath ? from : from.substr(0, from.find('#'));
}

Verdict run_normalize(EvalContext &ctx, const ActionData *d) {
  const auto &a = *static_cast<const NormalizeAction *>(d);
  HttpMessage *m = request_of(ctx);
  if (!m) return Verdict::Next;
  string_view target = m->target(), old = part_of(target, a.normalizer->part);
  if (old.empty()) return Verdict::Next;
  size_t begin = static_cast<size_t>(old.data() - target.data()), behind = target.size() - begin - old.size();
  char *text = ctx.scratch.chars(begin + old.size() * 3 + behind + 2);
  size_t n = a.normalizer->run(old, text + begin, a.option);
  if (n == malformed) {
    ctx.stream->answer.status = 400;
    return Verdict::Deny;
  }
  if (string_view(text + begin, n) == old) return Verdict::Next;
  target.copy(text, begin);
  target.substr(begin + old.size()).copy(text + begin + n, behind);
  m->set_target({text, begin + n + behind});
  return Verdict::Next;
}

constexpr ActionDef rows[] = {
    {.name = "normalize-uri", .sets = at_http_request,
     .doc = {"Gives one spelling to targets that mean the same.",
             "fragment-encode writes '#' as %23, fragment-strip cuts it off with what follows. path-merge-slashes makes one slash of several, path-strip-dot takes \"/./\" "
             "away and path-strip-dotdot \"/a/../\"; what climbs above the top goes too with the option full. percent-decode-unreserved decodes letters, digits, '-', '.', "
             "'_' and '~', percent-to-uppercase writes the digits of escapes in capitals; with the option strict a stray percent sign is answered 400. query-sort-by-name "
             "orders the parameters of a query.\n\nSeveral rules may follow each other; mind their order: dots may be hidden in escapes.",
             "http-request normalize-uri percent-decode-unreserved strict\nhttp-request normalize-uri path-merge-slashes\nhttp-request normalize-uri path-strip-dotdot full"},
     .parse = parse_normalize, .run = run_normalize},
};
static_assert(sorted_and_documented<ActionDef>(rows));

} // namespace

std::span<const ActionDef> act_normalize() { return rows; }

} // namespace penstock
