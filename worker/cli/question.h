// SPDX-License-Identifier: BSD-2-Clause
// What the runtime socket asks of a worker: about its streams, or to end some. Streams are private to
// their worker, so this is the one thing that is not read from shared memory. A question and its answer
// are one message each (shared/ipc/message.h), passed on by the master; a long answer is a
// series of them, each asked for when the one before has been sent to the client.
#pragma once

#include "shared/ipc/channel.h"

namespace penstock {

class Stream;

enum class Question : u32 {
  ListStreams,  // those after number `after`; lines of text
  ShowStream,   // number `after`
  EndStream,    // number `after`
  EndOfServer,  // all streams on the server whose row is `row`
  ListErrors,   // unreadable messages of the proxy whose index is `row`, or of all
};

struct QuestionHead {
  u32 slot = 0;     // who is asked; the master's address
  u32 serial = 0;   // the asker's
  Question question = Question::ListStreams;
  u32 row = 0;
  u64 after = 0;
};
struct QuestionAnswer { // text follows
  u32 serial = 0;
  u32 count = 0;    // of streams listed or ended
  u64 last = 0;     // number of the last stream listed; 0: there are no more
};

/// The name by which a client knows a stream: worker slot and number.
constexpr u64 stream_name(u32 slot, u64 number) { return u64{slot + 1} << 48 | (number & 0xffffffffffff); }
constexpr u32 slot_of_name(u64 name) { return static_cast<u32>(name >> 48) - 1; }
constexpr u64 number_of_name(u64 name) { return name & 0xffffffffffff; }

/// Worker: answers `message` if it is a question. False: it is something else.
bool answer_question(const Message &message, Channel &channel);
/// One line of `show sess`.
void describe_stream(std::string &out, Stream &stream, bool at_length);

} // namespace penstock
