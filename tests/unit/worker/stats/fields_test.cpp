// SPDX-License-Identifier: BSD-2-Clause
// The statistics' columns are an interface: their order and names are those that collectors know.
#include "worker/stats/fields.h"

#include <doctest/doctest.h>

#include "worker/stats/collect.h"
#include "worker/stats/csv_json.h"

using namespace penstock;

namespace {

/// A service with one listen section of two servers.
struct Fixture {
  std::string error;
  std::unique_ptr<Service> service = Service::create(error);
  Config config;
  Proxy *proxy = nullptr;
  Fixture() {
    auto p = std::make_unique<Proxy>();
    p->name = "app";
    p->id = 2;
    p->is_frontend = p->is_backend = true;
    p->mode = Mode::Http;
    auto options = std::make_shared<ServerOptions>();
    options->weight = 10;
    options->check = true;
    for (u32 i = 1; i <= 2; i++) {
      auto s = std::make_unique<Server>();
      s->name = "s" + std::to_string(i);
      s->proxy = p.get();
      s->id = i;
      s->index = s->global_index = i - 1;
      s->address = Address::from_ip(*parse_ip("127.0.0.1"), static_cast<u16>(8000 + i));
      s->options = options;
      p->servers.push_back(std::move(s));
    }
    proxy = p.get();
    config.proxies.push_back(std::move(p));
    config.frontends["app"] = config.backends["app"] = proxy;
    REQUIRE(service->assign_rows(config, error));
  }
  std::string dump(DumpForm form, StatFilter filter = {}) {
    std::string out;
    bool first = true;
    StatCursor cursor(config, *service, std::move(filter));
    StatSubject subject;
    dump_stat_head(out, form);
    while (cursor.next(subject)) dump_stat(out, form, false, first, subject);
    dump_stat_tail(out, form);
    return out;
  }
};

} // namespace

TEST_CASE("the columns of show stat") {
  std::string head;
  dump_stat_head(head, DumpForm::Csv);
  CHECK(head ==
        "# pxname,svname,qcur,qmax,scur,smax,slim,stot,bin,bout,dreq,dresp,ereq,econ,eresp,wretr,wredis,status,weight,act,bck,"
        "chkfail,chkdown,lastchg,downtime,qlimit,pid,iid,sid,throttle,lbtot,tracked,type,rate,rate_lim,rate_max,check_status,"
        "check_code,check_duration,hrsp_1xx,hrsp_2xx,hrsp_3xx,hrsp_4xx,hrsp_5xx,hrsp_other,hanafail,req_rate,req_rate_max,req_tot,"
        "cli_abrt,srv_abrt,comp_in,comp_out,comp_byp,comp_rsp,lastsess,last_chk,last_agt,qtime,ctime,rtime,ttime,agent_status,"
        "agent_code,agent_duration,check_desc,agent_desc,check_rise,check_fall,check_health,agent_rise,agent_fall,agent_health,addr,"
        "cookie,mode,algo,conn_rate,conn_rate_max,conn_tot,intercepted,dcon,dses,wrew,connect,reuse,cache_lookups,cache_hits,"
        "srv_icur,src_ilim,qtime_max,ctime_max,rtime_max,ttime_max,eint,idle_conn_cur,safe_conn_cur,used_conn_cur,need_conn_est,"
        "uweight,agg_server_status,agg_server_check_status,agg_check_status,srid,sess_other,h1sess,h2sess,h3sess,req_other,h1req,"
        "h2req,h3req,proto,-,\n");
}

TEST_CASE("text in CSV columns is quoted only where it must be") {
  auto csv = [](string_view text) {
    std::string out;
    add_csv(out, text);
    return out;
  };
  CHECK(csv("plain text") == "plain text");
  CHECK(csv("a,b") == "\"a,b\"");
  CHECK(csv("say \"x\"") == "\"say \"\"x\"\"\"");
  CHECK(csv("") == "");
}

TEST_CASE("text in JSON is escaped") {
  std::string out;
  add_json(out, "a\"b\\c\nd\x01");
  CHECK(out == "a\\\"b\\\\c\\nd\\u0001");
}

TEST_CASE_FIXTURE(Fixture, "a line per object, in order, filtered as asked") {
  std::string all = dump(DumpForm::Csv);
  auto line = [&](string_view begin) { return all.find("\n" + std::string(begin)) != std::string::npos; };
  CHECK(line("app,FRONTEND,,,0,0,"));
  CHECK(line("app,s1,0,0,0,0,,0,0,0,,0,,0,0,0,0,UP,10,1,0,0,0,"));
  CHECK(all.find("app,s1,") < all.find("app,s2,"));
  CHECK(all.find("app,s2,") < all.find("app,BACKEND,"));
  CHECK(line("app,BACKEND,0,0,0,0,"));
  StatFilter one;
  one.iid = 2, one.types = 4, one.sid = 2;
  std::string only = dump(DumpForm::Csv, one);
  CHECK(only.find("app,s2,") != std::string::npos);
  CHECK(only.find("app,s1,") == std::string::npos);
  CHECK(only.find("BACKEND") == std::string::npos);
}

TEST_CASE_FIXTURE(Fixture, "states and sums follow the rows") {
  service->server(proxy->servers[0]->row).admin = admin_forced_maint;
  std::string scratch;
  CHECK(server_status(*proxy->servers[0], service->server(proxy->servers[0]->row), scratch) == "MAINT");
  BackendTotals totals = backend_totals(*proxy, *service);
  CHECK(totals.servers == 2);
  CHECK(totals.up == 1);
  CHECK(totals.active == 1);
  CHECK(totals.weight == 10);
  StatFilter filter;
  filter.no_maint = true;
  CHECK(dump(DumpForm::Csv, filter).find("app,s1,") == std::string::npos);
}

TEST_CASE_FIXTURE(Fixture, "typed and JSON forms name the same figures") {
  std::string typed = dump(DumpForm::Typed);
  CHECK(typed.find("S.2.1.0.pxname.1:KNS:str:app\n") != std::string::npos);
  CHECK(typed.find("S.2.1.17.status.1:SGP:str:UP\n") != std::string::npos);
  CHECK(typed.find("F.2.0.7.stot.1:MCP:u64:0\n") != std::string::npos);
  CHECK(typed.find("S.2.1.55.lastsess.1:MAP:s32:-1\n") != std::string::npos);
  std::string json = dump(DumpForm::Json);
  CHECK(json.starts_with("[[{\"objType\":\"Frontend\",\"proxyId\":2,\"id\":0,\"field\":{\"pos\":0,\"name\":\"pxname\"},\"processNum\":1,"
                         "\"tags\":{\"origin\":\"Key\",\"nature\":\"Name\",\"scope\":\"Service\"},\"value\":{\"type\":\"str\",\"value\":\"app\"}}"));
  CHECK(json.ends_with("]]\n"));
}
