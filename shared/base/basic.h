// SPDX-License-Identifier: BSD-2-Clause
// The few names that every file uses: integer types, assertions, pinned classes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace penstock {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i32 = std::int32_t;
using i64 = std::int64_t;
using std::size_t;
using std::string_view;

/// Prints what failed and where on standard error, then aborts the process.
[[noreturn, gnu::cold]] void ensure_failed(const char *what, const char *file, int line);

/// An assertion that stays on in production. Never for what an outsider can cause.
#define PENSTOCK_ENSURE(cond) \
  (static_cast<bool>(cond) ? void() : ::penstock::ensure_failed(#cond, __FILE__, __LINE__))

/// Base of classes whose address others hold: neither copied nor moved.
struct Pinned {
  Pinned() = default;
  Pinned(const Pinned &) = delete;
  Pinned &operator=(const Pinned &) = delete;
};

} // namespace penstock
