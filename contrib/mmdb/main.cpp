// SPDX-License-Identifier: BSD-2-Clause
// penstock-mmdb: a tool for MaxMind databases. Makes them from lists of networks, makes map files of them, looks
// addresses up, tells what is in them and checks them with the same checker as the service. See penstock-mmdb(1).
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iostream>
#include <iterator>

#include "contrib/mmdb/input.h"
#include "contrib/mmdb/writer.h"
#include "shared/base/text.h"
#include "shared/mmdb/check.h"

namespace penstock {

namespace {

constexpr const char *usage =
    "usage: penstock-mmdb build [--csv|--json] [--field NAME | --columns A,B,…] [--type T] [--description T]\n"
    "                           [--ip-version 4|6] [--record-size 24|28|32] [--epoch SECONDS] [-o FILE] [INPUT]\n"
    "       penstock-mmdb map --path KEY[.KEY…] [-o FILE] DATABASE\n"
    "       penstock-mmdb lookup [--path KEY[.KEY…]] DATABASE ADDRESS…\n"
    "       penstock-mmdb info DATABASE…\n"
    "       penstock-mmdb verify DATABASE…\n";

struct Options {
  std::vector<std::string> words;
  BuildInput input;
  std::vector<std::string> path;
  std::string type = "penstock", description = "made by penstock-mmdb", output;
  u64 epoch = 0;
  u32 ip_version = 0, record_size = 0;
};

int complain(const std::string &text) {
  std::cerr << "penstock-mmdb: " << text << '\n';
  return 1;
}

bool parse_options(int argc, char **argv, Options &o) {
  for (int i = 2; i < argc; i++) {
    std::string word = argv[i];
    if (word == "--csv") { o.input.form = BuildInput::Csv; continue; }
    if (word == "--json") { o.input.form = BuildInput::JsonLines; continue; }
    if (word.size() < 2 || word[0] != '-') { o.words.push_back(word); continue; }
    if (i + 1 >= argc) return false;
    std::string value = argv[++i];
    auto n = parse_u64(value);
    if (word == "--field") o.input.field = value;
    else if (word == "--columns") for (string_view c : split(value, ',')) o.input.columns.emplace_back(c);
    else if (word == "--path") for (string_view c : split(value, '.')) o.path.emplace_back(c);
    else if (word == "--type") o.type = value;
    else if (word == "--description") o.description = value;
    else if (word == "-o") o.output = value;
    else if (word == "--epoch" && n) o.epoch = *n;
    else if (word == "--ip-version" && n && (*n == 4 || *n == 6)) o.ip_version = static_cast<u32>(*n);
    else if (word == "--record-size" && n && (*n == 24 || *n == 28 || *n == 32)) o.record_size = static_cast<u32>(*n);
    else return false;
  }
  return true;
}

/// A database that was checked whole. False: told why not.
bool open_database(const std::string &path, std::string &bytes, MmdbView &view) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return complain("cannot open '" + path + "'"), false;
  bytes.assign(std::istreambuf_iterator<char>(in), {});
  std::string error = check_mmdb(bytes);
  if (!error.empty()) return complain("'" + path + "' " + error), false;
  return view.open(bytes, error);
}

bool write_output(const std::string &path, const std::string &bytes) {
  if (path.empty()) return std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size() && std::fflush(stdout) == 0;
  // Beside the target first, so that a service that watches it never sees half.
  std::string aside = path + ".new";
  std::ofstream out(aside, std::ios::binary);
  out << bytes;
  out.close();
  return out.good() && std::rename(aside.c_str(), path.c_str()) == 0;
}

int build(Options &o) {
  MmdbWriter writer;
  writer.type = o.type, writer.description = o.description;
  writer.ip_version = o.ip_version, writer.record_size = o.record_size;
  writer.build_epoch = o.epoch ? o.epoch : static_cast<u64>(std::time(nullptr));
  std::string error;
  std::ifstream file;
  bool standard = o.words.empty() || o.words[0] == "-";
  if (!standard) file.open(o.words[0]);
  if (!standard && !file) return complain("cannot open '" + o.words[0] + "'");
  if (!read_networks(standard ? std::cin : file, o.input, writer, error)) return complain(error);
  std::string bytes = writer.file(error);
  if (bytes.empty()) return complain(error);
  return write_output(o.output, bytes) ? 0 : complain("cannot write '" + o.output + "'");
}

/// Text of a value as a map file and a person want it: no quotes around strings.
bool plain(const MmdbView &view, u32 offset, std::string &out) {
  MmdbValue v;
  if (!mmdb_read_through(view.data(), offset, v)) return false;
  if (v.type == MmdbType::String) return out = view.data().substr(v.at, v.size), true;
  return mmdb_json(view.data(), offset, out, SIZE_MAX / 2);
}

/// Every network of the database in the order of addresses; IPv4 once, though other prefixes may lead there too.
class MapPrinter {
 public:
  MapPrinter(const MmdbView &view, const std::vector<std::string> &path) : view_(view), path_(path) { four_ = view.ipv4_start(four_bits_); }
  std::string text() {
    Ip ip;
    ip.family = 6;
    walk(0, 0, ip);
    return std::move(out_);
  }

 private:
  void walk(u32 record, u32 depth, Ip &ip) {
    u32 nodes = view_.meta().node_count;
    bool zeros = std::all_of(ip.bytes.begin(), ip.bytes.end() - 4, [](u8 b) { return b == 0; });
    if (record < nodes) {
      if (record == four_ && depth > 0 && !(depth == 96 && zeros)) return;
      for (u32 side : {0u, 1u}) {
        u8 mask = static_cast<u8>(0x80 >> depth % 8);
        if (side) ip.bytes[depth / 8] |= mask;
        walk(view_.record(record, side), depth + 1, ip);
        ip.bytes[depth / 8] &= static_cast<u8>(~mask);
      }
      return;
    }
    if (record == nodes) return;
    auto place = view_.follow(record - nodes - 16, path_.data(), path_.size());
    std::string value;
    if (!place || !plain(view_, *place, value)) return;
    for (char &c : value) if (c == '\n' || c == '\r') c = ' ';
    out_ += network(ip, depth, zeros) + " " + value + "\n";
  }
  std::string network(const Ip &ip, u32 depth, bool zeros) const {
    Ip four;
    four.family = 4;
    bool six = view_.meta().ip_version == 6;
    if (six && (depth < 96 || !zeros)) return ip.text() + "/" + std::to_string(depth);
    std::copy_n(ip.bytes.begin() + (six ? 12 : 0), 4, four.bytes.begin());
    return four.text() + "/" + std::to_string(depth - (six ? 96 : 0));
  }
  const MmdbView &view_;
  const std::vector<std::string> &path_;
  u32 four_ = 0, four_bits_ = 0;
  std::string out_;
};

int make_map(const Options &o) {
  std::string bytes;
  MmdbView view;
  if (o.words.size() != 1) return complain("map expects one database");
  if (!open_database(o.words[0], bytes, view)) return 1;
  return write_output(o.output, MapPrinter(view, o.path).text()) ? 0 : complain("cannot write '" + o.output + "'");
}

int look_up(const Options &o) {
  std::string bytes;
  MmdbView view;
  if (o.words.size() < 2) return complain("lookup expects a database and addresses");
  if (!open_database(o.words[0], bytes, view)) return 1;
  int status = 0;
  for (size_t i = 1; i < o.words.size(); i++) {
    auto ip = parse_ip(o.words[i]);
    if (!ip) return complain("'" + o.words[i] + "' is no address");
    if (auto four = ip->is_v6() ? ip->to_v4() : std::nullopt; four && ip->bytes[10] == 0xff && ip->bytes[0] == 0) ip = four;
    auto found = view.find(*ip);
    auto place = found.offset ? view.follow(*found.offset, o.path.data(), o.path.size()) : std::nullopt;
    std::string text;
    if (!place || !plain(view, *place, text)) {
      status = 2;
      text = "-";
    }
    std::cout << o.words[i] << ' ' << text << '\n';
  }
  return status;
}

int tell(const Options &o) {
  for (const std::string &path : o.words) {
    std::string bytes, json;
    MmdbView view;
    if (!open_database(path, bytes, view)) return 1;
    if (!mmdb_json(view.metadata(), 0, json, SIZE_MAX / 2)) return complain("'" + path + "' has broken metadata");
    std::cout << json << '\n';
  }
  return o.words.empty() ? complain("info expects databases") : 0;
}

int verify(const Options &o) {
  int status = o.words.empty() ? complain("verify expects databases") : 0;
  for (const std::string &path : o.words) {
    std::string bytes;
    MmdbView view;
    if (open_database(path, bytes, view)) std::cout << path << ": good, " << view.meta().node_count << " nodes\n";
    else status = 1;
  }
  return status;
}

int run(int argc, char **argv) {
  string_view command = argc > 1 ? argv[1] : "";
  if (command == "--help" || command == "-h") return std::cout << usage, 0;
  Options o;
  if (argc > 1 && parse_options(argc, argv, o)) {
    if (command == "build") return build(o);
    if (command == "map") return make_map(o);
    if (command == "lookup") return look_up(o);
    if (command == "info") return tell(o);
    if (command == "verify") return verify(o);
  }
  std::cerr << usage;
  return 1;
}

} // namespace

} // namespace penstock

int main(int argc, char **argv) { return penstock::run(argc, argv); }
