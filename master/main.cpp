// SPDX-License-Identifier: BSD-2-Clause
// The door: what the command line asks for is master/door's business.
#include "master/door.h"

int main(int argc, char **argv) { return penstock::run_penstock(argc, argv); }
