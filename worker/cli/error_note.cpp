// SPDX-License-Identifier: BSD-2-Clause
#include "worker/cli/error_note.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <memory>
#include <vector>

#include "worker/http/error_capture.h"
#include "worker/stream/stream.h"
#include "worker/worker.h"

namespace penstock {

namespace {

constexpr size_t most_notes = 64; // proxies times directions; the oldest makes room

/// Of this worker; `proxy` is the one whose peer sent the message.
struct Note {
  u32 proxy;
  bool response;
  std::unique_ptr<ErrorCapture> capture;
};
std::vector<Note> notes;
u32 events = 0;

Note &place_for(u32 proxy, bool response) {
  for (Note &n : notes)
    if (n.proxy == proxy && n.response == response) return n;
  if (notes.size() < most_notes) return notes.emplace_back(Note{proxy, response, std::make_unique<ErrorCapture>()});
  Note &oldest = *std::min_element(notes.begin(), notes.end(), [](const Note &a, const Note &b) { return a.capture->event < b.capture->event; });
  oldest.proxy = proxy, oldest.response = response;
  return oldest;
}

void add_date(std::string &out, i64 wall_us) {
  time_t second = static_cast<time_t>(wall_us / 1'000'000);
  tm t{};
  localtime_r(&second, &t);
  char text[64], zone[40];
  std::strftime(text, sizeof text, "%d/%b/%Y:%H:%M:%S", &t);
  std::snprintf(zone, sizeof zone, ".%06d", static_cast<int>(wall_us % 1'000'000));
  (out += text) += zone;
}

std::string labelled(const Proxy *p) { return p ? p->name + " (#" + std::to_string(p->id) + ")" : "<NONE> (#-1)"; }

void describe(std::string &out, const Note &n) {
  const auto &proxies = this_worker()->config->proxies;
  const ErrorCapture &c = *n.capture;
  auto proxy = [&](u32 index) { return index < proxies.size() ? proxies[index].get() : nullptr; };
  add_date(out += "\n[", c.wall_us);
  out += std::string("] ") + (n.response ? "backend " : "frontend ") + labelled(proxy(n.proxy)) + ": invalid " + (n.response ? "response" : "request") + "\n";
  out += std::string("  ") + (n.response ? "frontend " : "backend ") + labelled(proxy(n.response ? c.frontend : c.backend));
  out += ", server #" + (c.server == ~u32{0} ? std::string("-1") : std::to_string(c.server)) + ", event #" + std::to_string(c.event) + ", src " +
         c.source.text() + ":" + std::to_string(c.port) + "\n";
  out += "  " + std::to_string(c.total) + " bytes, error at position " + std::to_string(c.position) + ": " + c.why + "\n\n";
  std::string bytes;
  print_captured_bytes(c, bytes);
  out.append(bytes, 0, std::min<size_t>(bytes.size(), 20000));
}

} // namespace

void note_unreadable(Stream &s, bool response, const HeadResult &result, string_view bytes) {
  Note &n = place_for(response ? s.backend().index : s.frontend().index, response);
  ErrorOrigin origin;
  origin.event = ++events;
  origin.wall_us = this_worker()->loop.wall_now_us();
  origin.source = s.session().source();
  origin.frontend = s.frontend().index;
  if (s.backend_chosen()) origin.backend = s.backend().index;
  if (s.server()) origin.server = s.server()->id;
  capture_error(*n.capture, response, origin, result, bytes);
}

void list_errors(std::string &out, QuestionAnswer &answer, u64 after, u32 proxy) {
  for (size_t i = after; i < notes.size(); i++) {
    if (proxy != ~u32{0} && notes[i].proxy != proxy) continue;
    if (!out.empty()) { // one at a time: each may be long
      answer.last = i;
      return;
    }
    describe(out, notes[i]);
    answer.count++;
  }
}

} // namespace penstock
