// SPDX-License-Identifier: BSD-2-Clause
// Every converter once, with values that the reference gave or that the manual states.
#include "../../shared/expr/expr_support.h"


using namespace penstock;

TEST_CASE("casts between types, as the reference makes them") {
  ExprFixture f;
  CHECK(f.value("int(5),hex") == "0000000000000005");
  CHECK(f.value("int(-1),hex") == "FFFFFFFFFFFFFFFF");
  CHECK(f.value("bool(true),hex") == "0000000000000001");
  CHECK(f.value("ipv4(1.2.3.4),hex") == "01020304");
  CHECK(f.value("str(5x),add(1)") == "6");
  CHECK(f.value("str(-5),add(1)") == "-4");
  CHECK(f.value("str(x),add(1)") == "1");
  CHECK(f.value("str(),add(1)") == "<none>");
  CHECK(f.value("bool(1),add(1)") == "2");
  CHECK(f.value("bin(4100),lower") == "a");
  CHECK(f.value("ipv6(::1),lower") == "::1");
  CHECK(f.value("ipv4(1.2.3.4),add(1)") == "16909061");
  CHECK(f.value("int(16909060),ipmask(16)") == "1.2.0.0");
  CHECK(f.value("str(99999999999999999999),add(0)") == "9223372036854775807");
  CHECK(f.value("str(a),bool,iif(y,n)") == "n");
  CHECK(f.value("bin(3132),add(1)").starts_with("<error>"));
}

TEST_CASE("numbers") {
  ExprFixture f;
  CHECK(f.value("int(5),sub(7)") == "-2");
  CHECK(f.value("int(5),mul(3)") == "15");
  CHECK(f.value("int(50),div(3)") == "16");
  CHECK(f.value("int(5),div(0)") == "9223372036854775807");
  CHECK(f.value("int(50),mod(3)") == "2");
  CHECK(f.value("int(5),mod(0)") == "0");
  CHECK(f.value("int(5),neg") == "-5");
  CHECK(f.value("int(9223372036854775807),add(1)") == "9223372036854775807");
  CHECK(f.value("int(9223372036854775807),mul(-2)") == "-9223372036854775808");
  CHECK(f.value("int(1),and(3),or(4),xor(1),cpl,neg,not") == "0");
  CHECK(f.value("int(3),odd") == "1");
  CHECK(f.value("int(3),even") == "0");
  CHECK(f.value("int(1),htonl,hex") == "00000001");
}

TEST_CASE("text") {
  ExprFixture f;
  CHECK(f.value("str(aBc),upper") == "ABC");
  CHECK(f.value("str(aBc),lower") == "abc");
  CHECK(f.value("str(abc),length") == "3");
  CHECK(f.value("str(f1_f2_f3__f5),field(4,_)") == "");
  CHECK(f.value("str(f1_f2_f3__f5),field(5,_)") == "f5");
  CHECK(f.value("str(f1_f2_f3__f5),field(2,_,0)") == "f2_f3__f5");
  CHECK(f.value("str(f1_f2_f3__f5),field(2,_,2)") == "f2_f3");
  CHECK(f.value("str(f1_f2_f3__f5),field(-2,_,3)") == "f2_f3_");
  CHECK(f.value("str(f1_f2_f3__f5),word(4,_)") == "f5");
  CHECK(f.value("str(f1_f2_f3__f5),word(5,_)") == "<none>");
  CHECK(f.value("str(f1_f2_f3__f5),word(3,_,2)") == "f3__f5");
  CHECK(f.value("str(f1_f2_f3__f5),word(-2,_,3)") == "f1_f2_f3");
  CHECK(f.value("str(f1_f2_f3__f5),word(-3,_,0)") == "f1_f2");
  CHECK(f.value("str(f1_f2_f3),field(2,_,9223372036854775807)") == "f2_f3");
  CHECK(f.value("str(f1_f2_f3),word(-2,_,9223372036854775807)") == "f1_f2");
  CHECK(f.value("str(f1_f2_f3),word(9223372036854775807,_,9223372036854775807)") == "<none>");
  CHECK(f.value("str(f1_f2_f3),word(-9223372036854775808,_)") == "<none>");
  CHECK(f.value("str(abcdef),bytes(2,3)") == "cde");
  CHECK(f.value("str(abcdef),bytes(4)") == "ef");
  CHECK(f.value("str(//a//),ltrim(/)") == "a//");
  CHECK(f.value("str(//a//),rtrim(/)") == "//a");
  CHECK(f.value("str(a=b&c=d&a=r),param(a)") == "b");
  CHECK(f.value("str(a&b=c),param(a)") == "");
  CHECK(f.value("str(a=1;b=2),param(b,;)") == "2");
  CHECK(f.value("str([::1]:80),host_only") == "[::1]");
  CHECK(f.value("str([::1]:80),port_only") == "80");
  CHECK(f.value("str(example.org),port_only") == "0");
  CHECK(f.value("str(abc),concat(x,,y)") == "abcxy");
  CHECK(f.value("str(/////a///b),regsub(/+,/,g)") == "/a/b");
  CHECK(f.value("str(foo12),regsub('(foo|bar)([0-9]+)?','\\2\\1',i)") == "12foo");
  CHECK(f.value("str(a),regsub('(',x)").starts_with("<error>"));
  CHECK(f.value("str('de;q=0.5,en'),language(de;en)") == "en");
  CHECK(f.value("str(fr),language(de;en,en)") == "en");
  CHECK(f.value("bool(1),iif(yes,no)") == "yes");
}

TEST_CASE("encodings") {
  ExprFixture f;
  CHECK(f.value("str(abc),hex") == "616263");
  CHECK(f.value("str(ff),hex2i") == "255");
  CHECK(f.value("str(12),be2hex(,2)") == "3132");
  CHECK(f.value("bin(01020304050607),be2hex(_,2)") == "0102_0304_0506_07");
  CHECK(f.value("bin(01020304050607),be2hex(,3,1)") == "010203040506");
  CHECK(f.value("bin(01020304050607),be2dec(:,2)") == "258:772:1286:7");
  CHECK(f.value("bin(01020304050607),le2dec(-,2,1)") == "513-1027-1541");
  CHECK(f.value("bin(05),base2") == "00000101");
  CHECK(f.value("str(light work),base64") == "bGlnaHQgd29yaw==");
  CHECK(f.value("str(bGlnaHQgd29yaw==),b64dec") == "light work");
  CHECK(f.value("str(a),ub64enc,ub64dec") == "a");
  CHECK(f.value("str(!),b64dec") == "<none>");
  CHECK(f.value("str(a%20b+c?d+e),url_dec") == "a b c?d e");
  CHECK(f.value("str(a+b),url_dec(1)") == "a b");
  CHECK(f.value("str(a b/c),url_enc") == "a%20b%2Fc");
  CHECK(f.value("str('a\"b'),json") == "a\\\"b");
}

TEST_CASE("hashes and digests") {
  ExprFixture f;
  CHECK(f.value("str(abc),sha1,hex") == "A9993E364706816ABA3E25717850C26C9CD0D89D");
  CHECK(f.value("str(abc),sha2,hex") == "BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD");
  CHECK(f.value("str(abc),digest(md5),hex") == "900150983CD24FB0D6963F7D28E17F72");
  CHECK(f.value("str(what do ya want for nothing?),hmac(sha256,SmVmZQ==),hex") == "5BDCC146BF60754E6A042426089575C75A003F089D2739839DEC58B964EC3843");
  CHECK(f.value("str(123456789),crc32") == "3421780262");
  CHECK(f.value("str(123456789),crc32c") == "3808858755");
  CHECK(f.value("str(abc),sha2(200)").starts_with("<error>"));
  CHECK(f.value("str(abc),has_ctl") == "0");
  CHECK(f.value("bin(4101),has_ctl") == "1");
}

TEST_CASE("dates and addresses") {
  ExprFixture f;
  CHECK(f.value("int(0),http_date") == "Thu, 01 Jan 1970 00:00:00 GMT");
  CHECK(f.value("int(1500),http_date(500,ms)") == "Thu, 01 Jan 1970 00:00:02.000 GMT");
  CHECK(f.value("int(86399),utime(%H:%M:%S)") == "23:59:59");
  CHECK(f.value("int(1234),ms_utime(%S.%3N)") == "01.234");
  CHECK(f.value("int(1234567),us_utime(%S.%6N)") == "01.234567");
  CHECK(f.value("int(-1),ms_utime(%S.%3N)") == "59.999");
  CHECK(f.value("int(-9223372036854775808),us_utime(%S.%6N)") == "05.224192");
  CHECK(f.value("ipv6(::ffff:1.2.3.4),ipmask(24)") == "1.2.3.0");
  CHECK(f.value("ipv6(2001:db8:1:2::3),ipmask(24,48)") == "2001:db8:1::");
  CHECK(f.value("str('for=127.0.0.1;proto=http'),rfc7239_is_valid") == "1");
  CHECK(f.value("str(proto=custom),rfc7239_is_valid") == "0");
  CHECK(f.value("str(127.0.0.1:9999),rfc7239_n2nn") == "127.0.0.1");
  CHECK(f.value("str(127.0.0.1:9999),rfc7239_n2np") == "9999");
  CHECK(f.value("ipv6(::1),rfc7239_nn") == "[::1]");
  CHECK(f.value("str(test),rfc7239_np") == "_test");
}
