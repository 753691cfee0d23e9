// SPDX-License-Identifier: BSD-2-Clause
// What a `stick-table` line (or a `table` line of a peers section) says: plain data, const once the
// processes are forked (manual, section 11.1). The memory behind it is a StickTable (shared/shm).
#pragma once

#include <string>
#include <vector>

#include "shared/base/diagnostics.h"
#include "shared/base/time.h"

namespace penstock {

class StickTable; // shared/shm/stick_table.h
struct Proxy;

enum class KeyType : u8 { Ipv4, Ipv6, Integer, String, Binary };

/// What an entry may store, in the order in which `show table` lists it.
enum class DataType : u8 {
  ServerId, Gpt0, Gpc0, Gpc0Rate, ConnCnt, ConnRate, ConnCur, SessCnt, SessRate, HttpReqCnt, HttpReqRate,
  HttpErrCnt, HttpErrRate, BytesInCnt, BytesInRate, BytesOutCnt, BytesOutRate, Gpc1, Gpc1Rate, ServerKey,
  Gpt, Gpc, GpcRate, HttpFailCnt, HttpFailRate, GlitchCnt, GlitchRate, count_
};
inline constexpr size_t data_types = static_cast<size_t>(DataType::count_);

enum class DataKind : u8 { Number /* 32 bits */, Total /* 64 bits */, Rate };
struct DataTypeInfo {
  string_view name;
  DataKind kind;
  bool array = false; // takes a number of elements
};
/// By DataType.
inline constexpr DataTypeInfo data_type_info[data_types] = {
    {"server_id", DataKind::Number}, {"gpt0", DataKind::Number}, {"gpc0", DataKind::Number}, {"gpc0_rate", DataKind::Rate},
    {"conn_cnt", DataKind::Number}, {"conn_rate", DataKind::Rate}, {"conn_cur", DataKind::Number},
    {"sess_cnt", DataKind::Number}, {"sess_rate", DataKind::Rate}, {"http_req_cnt", DataKind::Number}, {"http_req_rate", DataKind::Rate},
    {"http_err_cnt", DataKind::Number}, {"http_err_rate", DataKind::Rate}, {"bytes_in_cnt", DataKind::Total}, {"bytes_in_rate", DataKind::Rate},
    {"bytes_out_cnt", DataKind::Total}, {"bytes_out_rate", DataKind::Rate}, {"gpc1", DataKind::Number}, {"gpc1_rate", DataKind::Rate},
    {"server_key", DataKind::Number}, {"gpt", DataKind::Number, true}, {"gpc", DataKind::Number, true}, {"gpc_rate", DataKind::Rate, true},
    {"http_fail_cnt", DataKind::Number}, {"http_fail_rate", DataKind::Rate}, {"glitch_cnt", DataKind::Number}, {"glitch_rate", DataKind::Rate},
};
constexpr const DataTypeInfo &info_of(DataType t) { return data_type_info[static_cast<size_t>(t)]; }

/// One item of `store`.
struct StoredType {
  DataType type;
  u32 count = 1;     // elements of an array
  u32 period_ms = 0; // of a rate
};

struct TableDef {
  std::string name; // of the proxy, or PEERS/NAME
  Place place;
  const Proxy *proxy = nullptr; // null: of a peers section
  KeyType key = KeyType::Ipv4;
  std::string type_word;        // as `show table` gives it
  u32 key_length = 4;
  u32 size = 0;
  Millis expire = eternity;
  bool nopurge = false, recv_only = false, key_is_address = false; // srvkey addr
  u32 brates_factor = 1;
  std::string write_to;
  std::vector<StoredType> stored; // in the order of DataType
  StickTable *live = nullptr;     // given by the master

  const StoredType *stores(DataType t) const {
    for (const StoredType &s : stored)
      if (s.type == t) return &s;
    return nullptr;
  }
};

} // namespace penstock
