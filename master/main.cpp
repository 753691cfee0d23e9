// SPDX-License-Identifier: BSD-2-Clause
// The door: options, then the master. (Grows in master/options and master/supervise.)
int main() { return 1; }
