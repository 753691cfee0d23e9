// SPDX-License-Identifier: BSD-2-Clause
// See timer_wheel.h.
#include "worker/event/timer_wheel.h"

#include <algorithm>
#include <bit>

namespace penstock {

TimerWheel::TimerWheel(Tick now) : now_(now) {
  for (auto &level : ring_)
    for (Timer &head : level) head.prev = head.next = &head;
}

void TimerWheel::place(Timer &t, Tick at, Tick earliest) {
  constexpr Tick span = Tick{1} << (slot_bits * levels);
  t.queued = at;
  Tick where = std::clamp(at, earliest, now_ + span - 1);
  Tick delta = where - now_;
  unsigned level = delta < slots ? 0 : (std::bit_width(static_cast<u64>(delta)) - 1) / slot_bits;
  unsigned slot = (where >> (slot_bits * level)) & (slots - 1);
  Timer &head = ring_[level][slot];
  t.prev = head.prev, t.next = &head;
  head.prev->next = &t, head.prev = &t;
  bits_[level] |= u64{1} << slot;
}

void TimerWheel::unlink(Timer &t) {
  t.prev->next = t.next, t.next->prev = t.prev;
  t.prev = t.next = nullptr;
  t.queued = never;
}

void TimerWheel::cascade(unsigned level, unsigned slot) {
  bits_[level] &= ~(u64{1} << slot);
  Timer &head = ring_[level][slot];
  while (head.next != &head) {
    Timer &t = *head.next;
    unlink(t);
    if (t.deadline != never) place(t, t.deadline, now_); // this millisecond's slot fires next
  }
}

void TimerWheel::fire(unsigned slot, Tick now) {
  bits_[0] &= ~(u64{1} << slot);
  Timer due; // the slot's ring moves here first: what fires may insert into the same slot
  Timer &head = ring_[0][slot];
  if (head.next == &head) return;
  due.next = head.next, due.prev = head.prev;
  due.next->prev = due.prev->next = &due;
  head.prev = head.next = &head;
  while (due.next != &due) {
    Timer &t = *due.next;
    unlink(t);
    if (t.deadline == never) continue;
    if (t.deadline > now) insert(t, t.deadline);
    else t.deadline = never, t.on_expire(t);
  }
}

void TimerWheel::advance(Tick now) {
  while (now_ < now) {
    // With nothing at the bottom only the boundaries, where upper levels come down, matter.
    if (bits_[0] == 0) now_ = std::min(now, (now_ | (slots - 1)));
    if (now_ == now) return;
    now_++;
    unsigned slot = now_ & (slots - 1);
    for (unsigned level = 1; level < levels && (now_ & ((Tick{1} << (slot_bits * level)) - 1)) == 0; level++)
      cascade(level, (now_ >> (slot_bits * level)) & (slots - 1));
    if (bits_[0] >> slot & 1) fire(slot, now);
  }
}

Tick TimerWheel::next_of(unsigned level) {
  while (bits_[level] != 0) {
    unsigned here = (now_ >> (slot_bits * level)) & (slots - 1);
    unsigned ahead = std::countr_zero(std::rotr(bits_[level], static_cast<int>((here + 1) & (slots - 1)))) + 1;
    unsigned slot = (here + ahead) & (slots - 1);
    if (ring_[level][slot].next != &ring_[level][slot]) return ((now_ >> (slot_bits * level)) + ahead) << (slot_bits * level);
    bits_[level] &= ~(u64{1} << slot);
  }
  return never;
}

Tick TimerWheel::next() {
  Tick soonest = never;
  for (unsigned level = 0; level < levels; level++) soonest = std::min(soonest, next_of(level));
  return soonest;
}

} // namespace penstock
