// SPDX-License-Identifier: BSD-2-Clause
#include "expr_support.h"

using namespace penstock;

TEST_CASE("arguments are cut at commas, with quotes and backslashes as on a line") {
  ExprFixture f;
  CHECK(f.value("str(abc)") == "abc");
  CHECK(f.value("str()") == "");
  CHECK(f.value("str('a,b)')") == "a,b)");
  CHECK(f.value("str(\"a b\")") == "a b");
  CHECK(f.value("str(a\\nb)") == "a\nb");
  CHECK(f.value("str(a\\qb)") == "a\\qb");
  CHECK(f.value("bool(0)") == "0");
  CHECK(f.value("bin(414243)") == "ABC");
  CHECK(f.value("ipv4(1.2.3.4)") == "1.2.3.4");
}

TEST_CASE("mistakes in expressions name the word and the cure") {
  ExprFixture f;
  CHECK(f.value("strr(abc)") == "<error> unknown sample fetch method 'strr' (did you mean 'str'?)");
  CHECK(f.value("str(a,b)") == "<error> fetch method 'str' takes at most 1 argument");
  CHECK(f.value("str") == "<error> fetch method 'str' lacks its argument 'text'");
  CHECK(f.value("int(a)") == "<error> argument 'number' of 'int': expects a number, got 'a'");
  CHECK(f.value("always_true(1)") == "<error> fetch method 'always_true' takes no argument");
  CHECK(f.value("str(a") == "<error> ')' is missing after the arguments");
  CHECK(f.value("str(a)b").starts_with("<error> expected ','"));
  CHECK(f.value("date(1,x)") == "<error> fetch method 'date': expects the unit s, ms or us, got 'x'");
  CHECK(f.value("var(foo.x)").starts_with("<error> argument 'variable' of 'var': 'foo.x' is no variable"));
}

TEST_CASE("conditions: and, or, negation, anonymous and predefined ACLs") {
  ExprFixture f;
  f.acl("yes", "always_true");
  f.acl("no", "always_false");
  CHECK(f.condition("") == "yes");
  CHECK(f.condition("if yes") == "yes");
  CHECK(f.condition("unless yes") == "no");
  CHECK(f.condition("if yes no") == "no");
  CHECK(f.condition("if yes !no") == "yes");
  CHECK(f.condition("if no or yes") == "yes");
  CHECK(f.condition("if no || ! no yes") == "yes");
  CHECK(f.condition("if { int(5) gt 3 }") == "yes");
  CHECK(f.condition("if !{ int(5) gt 3 }") == "no");
  CHECK(f.condition("if TRUE !FALSE") == "yes");
  CHECK(f.condition("if { str(abc) -m beg ab }") == "yes");
  CHECK(f.condition("if { str(abc) -m beg -i AB }") == "yes");
  CHECK(f.condition("if { str(abc) -m beg AB }") == "no");
  CHECK(f.condition("if { str(abc) -m found }") == "yes");
  CHECK(f.condition("if { env(PENSTOCK_NOT_SET) -m found }") == "no");
  CHECK(f.condition("if { int(5) 1 2 3:6 }") == "yes");
  CHECK(f.condition("if { int(-5) lt 0 }") == "yes");
  CHECK(f.condition("if { int(5) lt 6 gt 9 }") == "yes");
  CHECK(f.condition("if { str(12) -m int 12 }") == "yes");
  CHECK(f.condition("if { str(abc) -m len 3 }") == "yes");
  CHECK(f.condition("if { ipv4(10.1.2.3) 10.0.0.0/8 }") == "yes");
  CHECK(f.condition("if { ipv4(10.1.2.3) 10/8 }").starts_with("<error>"));
  CHECK(f.condition("if { ipv6(::ffff:10.1.2.3) 10.0.0.0/8 }") == "yes");
  CHECK(f.condition("if { ipv4(127.0.0.1) 127.1/8 }") == "yes");
  CHECK(f.condition("if { str(a/b/c) -m dir b }") == "yes");
  CHECK(f.condition("if { str(a/bb/c) -m dir b }") == "no");
  CHECK(f.condition("if { str(www.example.com:80) -m dom example.com }") == "yes");
  CHECK(f.condition("if { str(www.example.com) -m dom xample }") == "no");
  CHECK(f.condition("if { str(abc) -m reg ^a.c$ }") == "yes");
  CHECK(f.condition("if { bin(00ff) -m bin 00FF }") == "yes");
  CHECK(f.condition("if { bool(1) -m int 1 }") == "yes");
  CHECK(f.condition("if { acl(yes,!no) }") == "yes");
  CHECK(f.condition("if { acl(yes,no) }") == "no");
}

TEST_CASE("mistakes in conditions") {
  ExprFixture f;
  f.acl("local", "always_true");
  CHECK(f.condition("if loca") == "<error> there is no ACL 'loca' above this line in this section (did you mean 'local'?)");
  CHECK(f.condition("local").starts_with("<error> expected 'if' or 'unless'"));
  CHECK(f.condition("if { always_true").starts_with("<error> the condition opened by '{' is not closed"));
  CHECK(f.condition("if { var(txn.x) a }").starts_with("<error> 'var(txn.x)' gives type any"));
  CHECK(f.condition("if { str(a) -m bex a }").starts_with("<error> unknown match method 'bex'"));
  CHECK(f.condition("if { int(1) a }").starts_with("<error> 'a' is neither a number"));
  CHECK(f.condition("if { ipv4(1.2.3.4) 1.2.3.400 }").starts_with("<error> '1.2.3.400' is no IPv4"));
  CHECK(f.condition("if { str(a) -m reg ( }").starts_with("<error> the regular expression '(' is malformed"));
}

TEST_CASE("log formats: literals, flags, quotes, encodings") {
  ExprFixture f;
  CHECK(f.formatted("a  b") == "a  b");
  CHECK(f.formatted("a  b", log_mandatory_dash) == "a b");
  CHECK(f.formatted("100%%") == "100%");
  CHECK(f.formatted("<%[str(x)]>") == "<x>");
  CHECK(f.formatted("<%[str()]>") == "<>");
  CHECK(f.formatted("<%[str()]>", log_mandatory_dash) == "<->");
  CHECK(f.formatted("%{+Q}[str(x)] %{+Q}[str()] %[str(y)]") == "\"x\" \"\" y");
  CHECK(f.formatted("%{+Q}o%[str(x)] %{-Q}[str(y)]") == "\"x\" y");
  CHECK(f.formatted("%{+E}[str('a]b\"')]") == "a\\]b\\\"");
  CHECK(f.formatted("%{+json}o %(a)[str(x)] ignored %(b)[int(5)] %(c:str)[int(5)] %(d:bool)[int(1)] %(e)[env(NOT_SET_AT_ALL)]") ==
        R"({"a": "x", "b": 5, "c": "5", "d": true, "e": ""})");
  CHECK(f.formatted("%{+cbor}o %(a)[str(127.0.0.1)]") == "BF6161693132372E302E302E31FF");
  CHECK(f.formatted("%[str(x)").starts_with("<error> ']' is missing"));
  CHECK(f.formatted("x%").starts_with("<error> the format ends"));
  CHECK(f.formatted("%nope").starts_with("<error> the log format has no variable '%nope'"));
  CHECK(f.formatted("%{+Q").starts_with("<error> '}' is missing"));
}
