// SPDX-License-Identifier: BSD-2-Clause
#include "worker/rules/random.h"

#include <pthread.h>
#include <sys/random.h>
#include <unistd.h>

#include <cstring>

#include "shared/base/time.h"

namespace penstock {

/// xoshiro256++ (Blackman, Vigna; public domain), seeded anew in every process.
u64 random_u64() {
  static u64 s[4];
  static bool seeded = false;
  static const int at_fork = pthread_atfork(nullptr, nullptr, [] { seeded = false; });
  (void)at_fork;
  if (!seeded) {
    if (getrandom(s, sizeof s, 0) != sizeof s) s[0] = static_cast<u64>(wall_us()), s[1] = static_cast<u64>(getpid()), s[2] = 1, s[3] = 2;
    seeded = true;
  }
  auto rotate = [](u64 x, int k) { return x << k | x >> (64 - k); };
  u64 result = rotate(s[0] + s[3], 23) + s[0], t = s[1] << 17;
  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= t;
  s[3] = rotate(s[3], 45);
  return result;
}

void write_uuid(char *out, int version) {
  u8 bytes[16];
  u64 a = random_u64(), b = random_u64();
  std::memcpy(bytes, &a, 8);
  std::memcpy(bytes + 8, &b, 8);
  if (version == 7) {
    u64 ms = static_cast<u64>(wall_us() / 1000);
    for (int i = 5; i >= 0; i--, ms >>= 8) bytes[i] = static_cast<u8>(ms);
  }
  bytes[6] = static_cast<u8>((bytes[6] & 0x0f) | version << 4);
  bytes[8] = static_cast<u8>((bytes[8] & 0x3f) | 0x80);
  constexpr char digits[] = "0123456789abcdef";
  for (int i = 0; i < 16; i++) {
    if (i == 4 || i == 6 || i == 8 || i == 10) *out++ = '-';
    *out++ = digits[bytes[i] >> 4];
    *out++ = digits[bytes[i] & 15];
  }
}

} // namespace penstock
