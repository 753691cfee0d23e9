// SPDX-License-Identifier: BSD-2-Clause
// Every input that is kept for the fuzzers goes through them once, without clang: what a fuzzer has found stays found.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "worker/runtime.h"

extern "C" {
int fuzz_config(const std::uint8_t *, std::size_t);
int fuzz_converter(const std::uint8_t *, std::size_t);
int fuzz_expr(const std::uint8_t *, std::size_t);
int fuzz_h1_body(const std::uint8_t *, std::size_t);
int fuzz_h1_head(const std::uint8_t *, std::size_t);
int fuzz_pattern(const std::uint8_t *, std::size_t);
int fuzz_proxy_proto(const std::uint8_t *, std::size_t);
}

namespace {

struct Fuzzer {
  const char *name;
  int (*run)(const std::uint8_t *, std::size_t);
};
constexpr Fuzzer fuzzers[] = {{"config", fuzz_config},   {"converter", fuzz_converter}, {"expr", fuzz_expr},   {"h1_body", fuzz_h1_body},
                              {"h1_head", fuzz_h1_head}, {"pattern", fuzz_pattern},     {"proxy_proto", fuzz_proxy_proto}};

} // namespace

TEST_CASE("the fuzzers' kept inputs break no promise") {
  // to be run from the top of the source tree, as `make quick` and tests/run do
  auto *runtime_before = penstock::runtime;
  auto *worker_before = penstock::this_worker();
  for (const Fuzzer &f : fuzzers) {
    unsigned count = 0;
    for (const auto &entry : std::filesystem::directory_iterator(std::string("tests/fuzz/seeds/") + f.name)) {
      std::ifstream in(entry.path(), std::ios::binary);
      std::string bytes{std::istreambuf_iterator<char>(in), {}};
      INFO(entry.path().string());
      CHECK(f.run(reinterpret_cast<const std::uint8_t *>(bytes.data()), bytes.size()) == 0);
      count++;
    }
    INFO(f.name);
    CHECK(count > 0);
  }
  penstock::runtime = runtime_before;
  penstock::set_this_worker(worker_before);
}
