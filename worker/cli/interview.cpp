// SPDX-License-Identifier: BSD-2-Clause
#include "worker/cli/interview.h"

#include <cstring>
#include <unordered_map>

namespace penstock {

namespace {

std::unordered_map<u32, Interview *> open; // by serial of the question that waits
u32 last_serial = 0; // begins with the generation: answers reach every control
constexpr Millis patience = 2000;

} // namespace

std::vector<u32> all_worker_slots(const Service &service) {
  std::vector<u32> slots;
  for (u32 s = 0; s < max_slots; s++)
    if (service.slot_in_use(s)) slots.push_back(s);
  return slots;
}

Interview::Interview(CliCall &call, QuestionHead question, std::vector<u32> slots, void (*say_end)(std::string &, u64))
    : control_(call.control), session_(call.session.number()), question_(question), slots_(std::move(slots)), say_end_(say_end) {
  clock_.interview = this;
  clock_.on_expire = [](Timer &t) { static_cast<Clock &>(t).interview->pass_over(); };
}

Interview::~Interview() {
  open.erase(question_.serial);
  control_.loop.cancel(clock_);
}

void Interview::ask() {
  open.erase(question_.serial);
  if (last_serial == 0) last_serial = control_.start.generation << 20;
  question_.serial = ++last_serial;
  question_.slot = slots_[at_];
  open[question_.serial] = this;
  waiting_ = true;
  control_.loop.set_timer(clock_, control_.loop.now() + patience);
  if (!control_.link->channel().send(MessageType::WorkerQuestion, {reinterpret_cast<const char *>(&question_), sizeof question_})) pass_over();
}

void Interview::pass_over() {
  waiting_ = false;
  control_.loop.cancel(clock_);
  question_.after = question_.question == Question::ListStreams || question_.question == Question::ListErrors ? 0 : question_.after;
  at_++;
  if (CliSession *s = CliSession::find(session_)) s->wake();
}

CliAnswer::More Interview::next(std::string &out) {
  out += text_;
  text_.clear();
  if (waiting_) return More::Later;
  if (at_ == slots_.size()) {
    if (say_end_) say_end_(out, count_);
    return More::Done;
  }
  ask();
  return More::Later;
}

void Interview::take(const Message &message) {
  QuestionAnswer answer;
  if (message.payload.size() < sizeof answer) return;
  std::memcpy(&answer, message.payload.data(), sizeof answer);
  auto it = open.find(answer.serial);
  if (it == open.end() || !it->second->waiting_) return;
  Interview &interview = *it->second;
  interview.text_ += message.payload.substr(sizeof answer);
  interview.count_ += answer.count;
  if (answer.last == 0) return interview.pass_over();
  interview.question_.after = answer.last;
  interview.waiting_ = false;
  if (CliSession *s = CliSession::find(interview.session_)) s->wake();
}

void Interview::worker_died(u32 slot) {
  std::vector<Interview *> waiting;
  for (auto &[serial, interview] : open)
    if (interview->waiting_ && interview->question_.slot == slot) waiting.push_back(interview);
  for (Interview *i : waiting) i->pass_over();
}

} // namespace penstock
