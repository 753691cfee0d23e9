// SPDX-License-Identifier: BSD-2-Clause
// Conditions of .if and -cc (interface.md).
#include "master/config/conditions.h"

#include <doctest/doctest.h>

#include <cstdlib>

using namespace penstock;

namespace {

int status(string_view expression) {
  std::string error;
  return check_condition_for_command_line(expression, error);
}

} // namespace

TEST_CASE("integers, emptiness and operators") {
  CHECK(status("") == 1);
  CHECK(status("   ") == 1);
  CHECK(status("1") == 0);
  CHECK(status("0") == 1);
  CHECK(status("000") == 1);
  CHECK(status("-1") == 0);
  CHECK(status("-0") == 1);
  CHECK(status("!0") == 0);
  CHECK(status("!!1") == 0);
  CHECK(status("1 && 0 || 1") == 0);
  CHECK(status("1 && (0 || 0)") == 1);
  CHECK(status("0||1&&0") == 1);
  CHECK(status("! ( 0 || 0 ) && 1") == 0);
}

TEST_CASE("malformed expressions are told even where the value is known") {
  for (string_view bad : {"1 2", "1)", "(1", "()", "1 ||", "&& 1", "foo", "foo(1)", "1 || foo(1)", "0 && garbage", "defined", "defined(X", "streq(a)",
                          "streq(a,b,c)", "1 & 1", "!", "version_atleast(x)", "\"1", "awslc_api_atleast(1)", "1 | 1", "0 trailing"}) {
    CAPTURE(bad);
    CHECK(status(bad) == 2);
  }
  CHECK(status(std::string(5000, '(')) == 2);
  CHECK(status(std::string(100000, '!') + "1") == 2);
}

TEST_CASE("predicates on text and environment") {
  setenv("PENSTOCK_T", "abc", 1);
  unsetenv("PENSTOCK_NONE");
  CHECK(status("defined(PENSTOCK_T)") == 0);
  CHECK(status("defined(PENSTOCK_NONE)") == 1);
  CHECK(status("streq(a,a)") == 0);
  CHECK(status("streq(a, a)") == 1); // the blank belongs to the argument
  CHECK(status("strneq(a,b)") == 0);
  CHECK(status("strstr(abcdef,cd)") == 0);
  CHECK(status("strstr(cd,abcdef)") == 1);
  CHECK(status("streq(\"$PENSTOCK_T\",abc)") == 0);
  CHECK(status("streq($PENSTOCK_T,abc)") == 1);
  CHECK(status("streq('a b',\"a b\")") == 0);
  CHECK(status("streq(\\\"a,b\\\",x)") == 1); // quotes of the second level protect the comma
  CHECK(status("streq(,)") == 0);
  CHECK(status("streq(a\\,b,a\\,b)") == 2); // a backslash does not protect a comma
  CHECK(status("1 # no comment here") == 2);
  CHECK(status("0x10") == 0);
}

TEST_CASE("versions") {
  CHECK(status("version_atleast(2.8)") == 0);
  CHECK(status("version_atleast(2.8-dev11)") == 0);
  CHECK(status("version_atleast(v3.5-dev3)") == 0);
  CHECK(status("version_atleast(3.5)") == 0);
  CHECK(status("version_atleast(3.5.0)") == 0);
  CHECK(status("version_atleast(3.5.1)") == 1);
  CHECK(status("version_atleast(3.6-dev0)") == 1);
  CHECK(status("version_before(3.5)") == 1);
  CHECK(status("version_before(3.5.1)") == 0);
  CHECK(status("version_before(4)") == 0);
  CHECK(status("openssl_version_atleast(1.1.1)") == 0);
  CHECK(status("openssl_version_atleast(3.0.0)") == 0);
  CHECK(status("openssl_version_before(1.0.2k)") == 1);
  CHECK(status("openssl_version_before(99.0)") == 0);
  CHECK(status("ssllib_name_startswith(OpenSSL)") == 0);
  CHECK(status("ssllib_name_startswith(wolfSSL)") == 1);
}

TEST_CASE("features and switches") {
  CHECK(status("feature(EPOLL)") == 0);
  CHECK(status("feature(NO_SUCH_THING)") == 1);
  CHECK(status("feature(QUIC)") == 1);
  CHECK(status("enabled(EPOLL)") == 0);
  CHECK(status("enabled(KQUEUE)") == 1);
  CHECK(status("enabled(nothing)") == 1);
}
