// SPDX-License-Identifier: BSD-2-Clause
// Converters on numbers (manual, section 7.3.1). Results that do not fit stop at the largest or smallest number.
#include <arpa/inet.h>

#include "worker/rules/rows.h"
#include "worker/stream/vars.h"

namespace penstock {

namespace {

i64 add(i64 a, i64 b) {
  i64 r;
  return __builtin_add_overflow(a, b, &r) ? (b < 0 ? INT64_MIN : INT64_MAX) : r;
}
i64 subtract(i64 a, i64 b) {
  i64 r;
  return __builtin_sub_overflow(a, b, &r) ? (b > 0 ? INT64_MIN : INT64_MAX) : r;
}
i64 multiply(i64 a, i64 b) {
  i64 r;
  return __builtin_mul_overflow(a, b, &r) ? ((a < 0) != (b < 0) ? INT64_MIN : INT64_MAX) : r;
}
i64 divide(i64 a, i64 b) { return b == 0 || (a == INT64_MIN && b == -1) ? INT64_MAX : a / b; }
i64 modulo(i64 a, i64 b) { return b == 0 || b == -1 ? 0 : a % b; }
i64 bit_and(i64 a, i64 b) { return a & b; }
i64 bit_or(i64 a, i64 b) { return a | b; }
i64 bit_xor(i64 a, i64 b) { return a ^ b; }

template <i64 (*op)(i64, i64)> bool binary(EvalContext &ctx, const Args &args, Sample &s) {
  i64 v;
  if (!number_argument(ctx, args[0], v)) return false;
  return give_int(s, op(s.num, v));
}

PENSTOCK_CONVERTER(complement) { return give_int(s, ~s.num); }
PENSTOCK_CONVERTER(negate) { return give_int(s, s.num == INT64_MIN ? INT64_MAX : -s.num); }
PENSTOCK_CONVERTER(to_bool) { return give_bool(s, s.num != 0); }
PENSTOCK_CONVERTER(is_not) { return give_bool(s, s.num == 0); }
PENSTOCK_CONVERTER(is_odd) { return give_bool(s, s.num & 1); }
PENSTOCK_CONVERTER(is_even) { return give_bool(s, !(s.num & 1)); }
PENSTOCK_CONVERTER(network_order) {
  char *p = ctx.scratch.chars(4);
  u32 v = htonl(static_cast<u32>(s.num));
  std::memcpy(p, &v, 4);
  s.set_bin({p, 4});
  return true;
}

constexpr ArgSpecs value = {req(ArgType::IntOrVar, "value")};
constexpr Type I = Type::Int, B = Type::Bool;
constexpr string_view operand = "The value is a number or a variable.";
constexpr ConverterDef rows[] = {
    {.name = "add", .args = value, .in = I, .out = I, .doc = {"Adds a number.", operand, "http-request set-var(txn.n) int(5),add(3)"}, .eval = binary<add>},
    {.name = "and", .args = value, .in = I, .out = I, .doc = {"Keeps the bits that are set in both numbers.", operand, "http-request set-var(txn.n) int(5),and(4)"}, .eval = binary<bit_and>},
    {.name = "bool", .in = I, .out = B, .doc = {"True unless the number is 0.", "", "acl some req.hdr_cnt(x),bool"}, .eval = to_bool},
    {.name = "cpl", .in = I, .out = I, .doc = {"Turns every bit of the number round.", "", "http-request set-var(txn.n) int(5),cpl"}, .eval = complement},
    {.name = "div", .args = value, .in = I, .out = I, .doc = {"Divides by a number.", "Dividing by 0 gives the largest number.", "http-request set-var(txn.n) int(50),div(3)"}, .eval = binary<divide>},
    {.name = "even", .in = I, .out = B, .doc = {"Whether the number is even.", "", "acl half rand(100),even"}, .eval = is_even},
    {.name = "htonl", .in = I, .out = Type::Bin, .doc = {"The number's low 32 bits as four bytes in network order.", "", "http-request set-header X-N %[int(1),htonl,hex]"}, .eval = network_order},
    {.name = "mod", .args = value, .in = I, .out = I, .doc = {"The remainder of a division.", "By 0 it is 0.", "http-request set-var(txn.n) rand(100),mod(3)"}, .eval = binary<modulo>},
    {.name = "mul", .args = value, .in = I, .out = I, .doc = {"Multiplies by a number.", operand, "http-request set-var(txn.n) int(5),mul(1000)"}, .eval = binary<multiply>},
    {.name = "neg", .in = I, .out = I, .doc = {"The number with the other sign.", "", "http-request set-var(txn.n) int(5),neg"}, .eval = negate},
    {.name = "not", .in = I, .out = B, .doc = {"True when the number is 0.", "", "acl none req.hdr_cnt(x),not"}, .eval = is_not},
    {.name = "odd", .in = I, .out = B, .doc = {"Whether the number is odd.", "", "acl half rand(100),odd"}, .eval = is_odd},
    {.name = "or", .args = value, .in = I, .out = I, .doc = {"Keeps the bits that are set in either number.", operand, "http-request set-var(txn.n) int(5),or(2)"}, .eval = binary<bit_or>},
    {.name = "sub", .args = value, .in = I, .out = I, .doc = {"Subtracts a number.", operand, "http-request set-var(txn.n) int(5),sub(3)"}, .eval = binary<subtract>},
    {.name = "xor", .args = value, .in = I, .out = I, .doc = {"Keeps the bits that are set in one number only.", operand, "http-request set-var(txn.n) int(5),xor(1)"}, .eval = binary<bit_xor>},
};
static_assert(sorted_and_documented<ConverterDef>(rows));

} // namespace

std::span<const ConverterDef> conv_number() { return rows; }

} // namespace penstock
