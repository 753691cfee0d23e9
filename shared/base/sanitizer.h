// SPDX-License-Identifier: BSD-2-Clause
// Whether the address sanitizer watches. Memory that we portion out ourselves (arenas, pools) is then taken
// and returned piece by piece, so that a step past a piece's end and a use after its life are seen.
#pragma once

namespace penstock {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool address_sanitizer = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
inline constexpr bool address_sanitizer = true;
#else
inline constexpr bool address_sanitizer = false;
#endif
#else
inline constexpr bool address_sanitizer = false;
#endif

} // namespace penstock
