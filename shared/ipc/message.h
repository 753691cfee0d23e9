// SPDX-License-Identifier: BSD-2-Clause
// What the master and its children say to each other. Every message is one datagram on a
// SOCK_SEQPACKET pair: this header, then a payload that the type defines, then possibly descriptors.
// Nothing on the traffic path waits for a message.
//
//   child             master
//     Ready    ->                 set up; touches no socket yet
//              <-  Commit         poll your listening sockets
//     Polling  ->                 they are polled
//              <-  StopAccepting  poll no more (payload: u32 listeners; empty: all), close these
//              <-  Drain          finish what you have, then end
//              <-  Quit           end now
//     Stopping ->                 told to stop from elsewhere (a signal): give me no more
#pragma once

#include "shared/base/basic.h"

namespace penstock {

enum class MessageType : u16 {
  None,
  Ready,
  Commit,
  Polling,
  StopAccepting,
  Drain,
  Quit,
  Stopping,
  CliConnection, // to control: one descriptor, a conversation for the runtime socket; payload: u32 level
  ChildDied,     // to control: payload: u32 slot
  WorkerQuestion, // from control by way of the master to the worker whose slot is the payload's first u32 (worker/cli/question.h)
  WorkerAnswer,   // from a worker by way of the master to all controls: the asker knows it by its serial
  TakeoverGroup, // between masters: a `group` line of a manifest, with the group's descriptors
  TakeoverEnd,
  DumpStates,      // to control: SIGHUP came to a process without a master
  LeaveAdopted,    // to workers: the sockets of removed slots have had their time; close them
  ListenersCopied, // from control: somebody fetched them over the runtime socket
  count_
};

inline constexpr u16 message_version = 1;

struct MessageHeader {
  u32 length = 0; // of the payload
  MessageType type = MessageType::None;
  u16 version = message_version;
  u32 generation = 0;
  u32 sequence = 0;
};
static_assert(sizeof(MessageHeader) == 16);

inline constexpr size_t max_payload = 32768;
inline constexpr size_t max_message_fds = 253; // the kernel's SCM_MAX_FD

} // namespace penstock
