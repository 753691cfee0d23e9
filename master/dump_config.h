// SPDX-License-Identifier: BSD-2-Clause
// -dC: the configuration as words after quoting and expansion, one line each; with a key, everything
// that is not a word of the language or a number is replaced by a keyed hash, so that a file can be
// shown to others: equal names stay equal.
#pragma once

#include <string>
#include <vector>

namespace penstock {

std::string dump_configuration(const std::vector<std::string> &files, const std::string &key);

} // namespace penstock
