// SPDX-License-Identifier: BSD-2-Clause
// The statistics page as HTML, made piece by piece while it is sent. One page for desktops and phones: a
// table per proxy, whose rows become cards where there is no room; light or dark as the reader's system is.
// No script, nothing from elsewhere.
#pragma once

#include "worker/stats/collect.h"
#include "worker/stats/page_query.h"

namespace penstock {

struct PageSubject {
  const Config &config;
  const Service &service;
  const Proxy &owner;   // whose page it is
  PageQuery query;
  bool admin = false;   // shows the forms
  Tick now = 0;
  i64 wall_s = 0;
};

class HtmlPage {
 public:
  explicit HtmlPage(PageSubject subject);
  /// Appends the next piece; false after the last one.
  bool next(std::string &out);

 private:
  void head(std::string &out);
  void summary(std::string &out);
  void toolbar(std::string &out);
  void begin_proxy(std::string &out, const Proxy &p);
  void end_proxy(std::string &out);
  void row(std::string &out);
  std::string link(const PageQuery &q) const;

  PageSubject s_;
  StatFilter filter() const;
  StatCursor cursor_;
  StatSubject line_;
  const Proxy *open_ = nullptr; // whose table is not ended yet
  enum class Part : u8 { Head, Lines, End } part_ = Part::Head;
};

/// `text` with what HTML would take for markup replaced.
void add_html(std::string &out, string_view text);

} // namespace penstock
