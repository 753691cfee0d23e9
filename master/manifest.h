// SPDX-License-Identifier: BSD-2-Clause
// What a master hands to the image that it executes: descriptors and who is who, as lines of text in a
// memfd, so that two builds understand each other. An unknown line is skipped; a missing one has its default.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "shared/base/time.h"

namespace penstock {

struct ManifestChild {
  bool control = false;
  bool draining = false;
  pid_t pid = -1;
  u32 generation = 0, slot = 0, index = 0, born_at_reload = 0;
  i64 started_s = 0;
  Tick end_by = never;
  Millis hard_stop_after = eternity;
  int channel = -1;
  std::string version = {};
  bool operator==(const ManifestChild &) const = default;
};
struct ManifestGroup {
  u32 id = 0;
  bool shared = false, inherited = false, foreign = false, stream = true, selected = false;
  std::vector<int> fds = {};
  std::string key = {};
  bool operator==(const ManifestGroup &) const = default;
};

struct Manifest {
  u32 generation = 0, workers = 0, reloads = 0, failed_reloads = 0;
  i64 started_s = 0;
  bool hard = false;
  std::vector<int> askers, service, board, tables, rings;
  int master_socket = -1;
  std::string master_socket_key;
  std::string messages; // what the check said
  std::vector<ManifestChild> children;
  std::vector<ManifestGroup> groups;
  bool operator==(const Manifest &) const = default;

  std::string to_text() const;
  static std::optional<Manifest> from_text(string_view text);
  /// Every descriptor that it names.
  std::vector<int> descriptors() const;
};

/// The name of the environment variable that holds the memfd's number.
inline constexpr const char *manifest_variable = "PENSTOCK_MANIFEST";
/// Set for a check before a reload: addresses are tried, too.
inline constexpr const char *trial_variable = "PENSTOCK_TRIAL";

/// A memfd with the text, inheritable; -1 on failure.
int write_manifest(const Manifest &manifest);
/// Takes the manifest that the environment names, if any: closes the memfd, marks all descriptors
/// close-on-exec again and removes the variable.
std::optional<Manifest> take_manifest();

} // namespace penstock
