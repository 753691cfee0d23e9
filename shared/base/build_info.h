// SPDX-License-Identifier: BSD-2-Clause
// What this build is: its version, the level of the configuration language that it speaks, and the
// features that work in it. `-v`, `-vv`, `-cc`, `.if` and the statistics all answer from here.
#pragma once

#include <span>

#include "shared/base/basic.h"

namespace penstock {

inline constexpr string_view product_name = "penstock";
inline constexpr string_view product_version = PENSTOCK_VERSION;
inline constexpr string_view product_date = "2026/12/01";
/// The level of HAProxy's language; version_atleast() and version_before() compare with it.
inline constexpr string_view language_branch = "3.5";
inline constexpr string_view language_version = "3.5.0";

struct Feature {
  string_view name; // as `feature(NAME)` and the list of -vv spell it
  bool built_in;    // works, not merely compiles
};
/// Sorted by name.
std::span<const Feature> features();
/// False for an unknown name.
bool has_feature(string_view name);

} // namespace penstock
