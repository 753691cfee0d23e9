// SPDX-License-Identifier: BSD-2-Clause
#include "worker/panic.h"

#include <signal.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "worker/stream/steps.h"

namespace penstock {
namespace {

BoardCell private_cell;
alignas(16) char alternate_stack[32768];
constexpr int fatal_signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS, SIGTRAP};
struct sigaction before[SIGSYS + 1]; // whom a signal went to before us: the default, or a sanitizer

u64 instruction_of([[maybe_unused]] void *context) {
#if defined(__x86_64__)
  return static_cast<u64>(static_cast<ucontext_t *>(context)->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return static_cast<ucontext_t *>(context)->uc_mcontext.pc;
#else
  return 0;
#endif
}

/// Stores only: nothing here may allocate, lock or format. The action from before us then ends the process.
void on_fatal(int signal, siginfo_t *info, void *context) {
  panic_cell->fault_address.store(reinterpret_cast<u64>(info->si_addr), std::memory_order_relaxed);
  panic_cell->instruction.store(instruction_of(context), std::memory_order_relaxed);
  panic_cell->signal.store(signal, std::memory_order_release);
  sigaction(signal, &before[signal], nullptr);
  // A fault happens once more on return, with all that belongs to it; what was sent, and a trap, does not.
  bool fault = signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE;
  if (info->si_code <= 0 || !fault) raise(signal);
}

} // namespace

BoardCell *panic_cell = &private_cell;

void panic_install(BoardCell *cell) {
  cell->step = idle_step;
  cell->stream = 0;
  cell->signal = 0;
  cell->fault_address = 0;
  cell->instruction = 0;
  cell->trail_length = 0;
  panic_cell = cell;

  stack_t stack{};
  stack.ss_sp = alternate_stack;
  stack.ss_size = sizeof alternate_stack;
  sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_sigaction = on_fatal;
  action.sa_flags = static_cast<int>(SA_SIGINFO | SA_ONSTACK);
  sigemptyset(&action.sa_mask);
  for (int fatal : fatal_signals) {
    struct sigaction old {};
    sigaction(fatal, &action, &old);
    if (old.sa_sigaction != on_fatal) before[fatal] = old;
  }
}

std::string panic_step_name(u32 step) {
  return step < static_cast<u32>(Step::count_) ? std::string(step_name(static_cast<Step>(step))) : "none";
}

} // namespace penstock
