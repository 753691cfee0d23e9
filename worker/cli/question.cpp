// SPDX-License-Identifier: BSD-2-Clause
#include "worker/cli/question.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "worker/cli/error_note.h"
#include "worker/stream/stream.h"
#include "worker/worker.h"

namespace penstock {

namespace {

constexpr size_t streams_at_once = 64;

void add_hex(std::string &out, u64 n) {
  char text[24];
  out.append(text, static_cast<size_t>(std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(n))));
}

string_view protocol_of(const Address &a) { return a.family == AF_INET ? "tcpv4" : a.family == AF_INET6 ? "tcpv6" : "unix_stream"; }

void list_streams(std::string &out, QuestionAnswer &answer, u64 after) {
  std::vector<Stream *> found; // those with the lowest numbers after `after`
  for (Stream *s = this_worker()->streams; s != nullptr; s = s->next)
    if (s->id() > after) found.push_back(s);
  size_t n = std::min(found.size(), streams_at_once);
  auto by_number = [](Stream *a, Stream *b) { return a->id() < b->id(); };
  std::partial_sort(found.begin(), found.begin() + static_cast<long>(n), found.end(), by_number);
  for (size_t i = 0; i < n && out.size() + 1024 < max_payload; i++) {
    describe_stream(out, *found[i], false);
    answer.count++;
    answer.last = found[i]->id();
  }
  if (answer.count == found.size()) answer.last = 0;
}

template <class Wanted> void end_streams(QuestionAnswer &answer, Wanted wanted) {
  for (Stream *s = this_worker()->streams, *next; s != nullptr; s = next) {
    next = s->next;
    if (!wanted(*s)) continue;
    s->kill(FaultKind::Killed);
    answer.count++;
  }
}

} // namespace

void describe_stream(std::string &out, Stream &s, bool at_length) {
  const Session &session = s.session();
  add_hex(out, stream_name(this_worker()->slot, s.id()));
  ((out += ": proto=") += protocol_of(session.peer())) += " src=";
  out += session.source().is_inet() ? session.source().text() : "unix:" + std::to_string(session.bind().id);
  (out += " fe=") += s.frontend().name;
  (out += " be=") += s.backend_chosen() ? string_view(s.backend().name) : string_view("<NONE>");
  (out += " srv=") += s.server() ? string_view(s.server()->name) : string_view("<none>");
  i64 age = (this_worker()->loop.now_us() - s.facts.times.accept_us) / 1'000'000;
  (out += " age=") += std::to_string(std::max<i64>(0, age)) + "s";
  ((out += " step=") += step_name(s.step())) += " rq[i=" + std::to_string(s.facts.bytes_uploaded) + "] rp[i=" + std::to_string(s.facts.bytes_read) + "]";
  out += " rc=" + std::to_string(s.facts.retries) + "\n";
  if (!at_length) return;
  if (!s.facts.method.empty()) ((((out += "  request=\"") += s.facts.method) += ' ') += s.facts.uri) += "\"\n";
  out += "  id=" + std::to_string(s.id()) + " session=" + std::to_string(session.id()) + " destination=" + session.destination().text() + "\n";
  if (s.server()) out += "  server_address=" + s.server_peer().text() + " from=" + s.server_local().text() + "\n";
  out += "  trail=";
  for (u32 i = 0; i < s.trail_length(); i++) (out += i ? "," : "") += step_name(s.trail()[i]);
  out += '\n';
}

bool answer_question(const Message &message, Channel &channel) {
  if (message.type() != MessageType::WorkerQuestion) return false;
  QuestionHead question;
  if (message.payload.size() < sizeof question) return true;
  std::memcpy(&question, message.payload.data(), sizeof question);
  QuestionAnswer answer{.serial = question.serial};
  std::string text;
  switch (question.question) {
    case Question::ListStreams: list_streams(text, answer, question.after); break;
    case Question::ShowStream:
      for (Stream *s = this_worker()->streams; s != nullptr; s = s->next)
        if (s->id() == question.after) describe_stream(text, *s, true), answer.count++;
      break;
    case Question::EndStream: end_streams(answer, [&](Stream &s) { return s.id() == question.after; }); break;
    case Question::ListErrors: list_errors(text, answer, question.after, question.row); break;
    case Question::EndOfServer: end_streams(answer, [&](Stream &s) { return s.server() && s.server()->row == question.row; }); break;
  }
  text.resize(std::min(text.size(), max_payload - sizeof answer));
  channel.send(MessageType::WorkerAnswer, std::string(reinterpret_cast<const char *>(&answer), sizeof answer) + text);
  return true;
}

} // namespace penstock
