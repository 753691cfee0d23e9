// SPDX-License-Identifier: BSD-2-Clause
// See pump.h.
#include "worker/stream/pump.h"

#include <array>

#include "worker/net/connection.h"
#include "worker/net/splice.h"

namespace penstock {

namespace {

constexpr PumpState illegal = PumpState::Idle;

/// Rows: states; columns: Start, SourceEnded, Delivered, Failed.
constexpr std::array<std::array<PumpState, 4>, 5> moves = {{
    /* Idle     */ {PumpState::Open, illegal, illegal, PumpState::Broken},
    /* Open     */ {illegal, PumpState::Draining, illegal, PumpState::Broken},
    /* Draining */ {illegal, illegal, PumpState::Shut, PumpState::Broken},
    /* Shut     */ {illegal, illegal, illegal, illegal},
    /* Broken   */ {illegal, illegal, illegal, PumpState::Broken},
}};

} // namespace

string_view pump_state_name(PumpState s) {
  constexpr string_view names[] = {"idle", "open", "draining", "shut", "broken"};
  return names[static_cast<size_t>(s)];
}

void Pump::move(PumpEvent e) {
  PumpState to = moves[static_cast<size_t>(state_)][static_cast<size_t>(e)];
  PENSTOCK_ENSURE(to != illegal);
  state_ = to;
}

void Pump::start(Endpoint &from, Endpoint &to) {
  from_ = &from, to_ = &to;
  move(PumpEvent::Start);
}

void Pump::reset() {
  if (pipe_ != nullptr) give_pipe(pipe_);
  *this = Pump{};
}

void Pump::redirect(Endpoint &to) {
  to_ = &to;
  source_failed_ = false;
  state_ = source_ended_ ? PumpState::Draining : PumpState::Open;
}

void Replay::add(string_view s) {
  if (overflowed || size + s.size() > capacity) {
    overflowed = true;
    return;
  }
  s.copy(bytes + size, s.size());
  size += static_cast<u32>(s.size());
}

/// The source has ended: completes the sink's side and waits until everything is out.
bool Pump::deliver() {
  if (to_->send_failed()) {
    source_failed_ = false;
    move(PumpEvent::Failed);
    return true;
  }
  blocked_ = PumpBlock::Sink;
  bool done = to_->finish(drops_trailers_ ? string_view() : from_->trailers()) && to_->flushed();
  if (to_->send_failed()) { // what was gathered is lost
    move(PumpEvent::Failed);
    return true;
  }
  if (!done) return false;
  blocked_ = PumpBlock::None;
  move(PumpEvent::Delivered);
  return true;
}

/// True: splicing is at work, nothing is to be copied now.
bool Pump::splice_some(size_t &moved) {
  if (pipe_ == nullptr) {
    if (!may_splice_ || replay_ != nullptr || from_->unframed_left() < splice_threshold || !to_->flushed()) return false;
    if (from_->raw_fd() < 0 || to_->raw_fd() < 0 || !from_->connection()->may_fill()) return false;
    pipe_ = take_pipe();
    if (pipe_ == nullptr) {
      may_splice_ = false;
      return false;
    }
  }
  Connection &in = *from_->connection(), &out = *to_->connection();
  while (moved < budget) {
    size_t n;
    if (pipe_->filled == 0) {
      u64 left = from_->unframed_left();
      if (left == 0 || !in.may_fill()) break; // all of it came, or nothing now
      Spliced r = splice_in(in.fd(), *pipe_, left, n);
      if (r == Spliced::Moved) from_->spliced_in(n);
      else in.not_readable();
      if (r == Spliced::End) in.saw_eof();
      if (r == Spliced::Failed) in.saw_error(errno);
    }
    if (pipe_->filled == 0) break;
    Spliced r = out.can_write() ? splice_out(*pipe_, out.fd(), from_->unframed_left() > 0, n) : Spliced::Blocked;
    if (r != Spliced::Moved) {
      out.not_writable();
      blocked_ = PumpBlock::Sink;
      if (r == Spliced::Failed) move(PumpEvent::Failed);
      return true;
    }
    to_->spliced_out(n);
    moved += n, bytes_ += n;
  }
  if (pipe_->filled > 0) return true;
  give_pipe(pipe_);
  pipe_ = nullptr;
  return moved >= budget;
}

bool Pump::run() {
  if (!running()) return false;
  size_t moved = 0;
  if (state_ == PumpState::Draining) return deliver();
  blocked_ = PumpBlock::None;
  while (state_ == PumpState::Open) {
    if (to_->send_failed()) {
      source_failed_ = false;
      move(PumpEvent::Failed);
      return true;
    }
    if ((pipe_ != nullptr || may_splice_) && splice_some(moved)) break;
    if (state_ != PumpState::Open) break;
    Incoming in = from_->peek();
    if (in.broken) {
      source_failed_ = true;
      move(PumpEvent::Failed);
      return true;
    }
    size_t sent = 0;
    if (!in.bytes.empty()) {
      sent = to_->send(in.bytes, in.end);
      if (replay_ != nullptr) replay_->add(in.bytes.substr(0, sent));
      from_->consume(sent);
      moved += sent, bytes_ += sent;
      if (sent < in.bytes.size()) {
        if (to_->send_failed()) continue;
        blocked_ = PumpBlock::Sink;
        break;
      }
    }
    if (in.end) {
      if (sent == 0) from_->consume(0);
      source_ended_ = true;
      move(PumpEvent::SourceEnded);
      deliver();
      return true;
    }
    if (moved >= budget) break;
    if (sent == 0) {
      to_->flush();
      blocked_ = to_->flushed() ? PumpBlock::Source : PumpBlock::Sink;
      break;
    }
    if (!from_->may_have_more()) {
      blocked_ = PumpBlock::Source;
      break;
    }
  }
  if (moved >= budget) blocked_ = PumpBlock::Budget;
  return moved > 0;
}

} // namespace penstock
