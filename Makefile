# penstock. On a fresh Debian 12, `make run` and `make check` do everything.
#
#   make            build/penstock (-O2)
#   make run        install what is missing, build, serve conf/penstock.cfg in the foreground
#   make check      install what is missing, build, run every test
#   make quick      unit tests only
#   make check-oracle  the differential cases against HAPROXY (default: those that are installed)
#   make asan       the whole test suite under ASan and UBSan
#   make fuzz       every fuzzer for FUZZ_SECONDS each (clang)
#   make bench      beside Debian's haproxy and nginx, ratios and CPU per request
#   make man        write the generated manual pages anew
#   make install    into $(DESTDIR)$(PREFIX)             make dist   a source archive
BUILD    ?= build
OPT      ?= -O2 -g1
SAN      ?=
STD      ?= c++23
PREFIX   ?= /usr/local
SYSCONF  ?= /etc
DESTDIR  ?=
JOBS     ?= $(shell nproc)
FUZZ_SECONDS ?= 60
VERSION  := 0.1.0

CCACHE   := $(shell command -v ccache 2>/dev/null)
CXX      := g++
CPPFLAGS += -I. -MMD -MP -DPENSTOCK_VERSION='"$(VERSION)"' -DSPDLOG_FMT_EXTERNAL=1
CXXFLAGS += -std=$(STD) $(OPT) $(SAN) -Wall -Wextra -Werror -pthread -fno-plt -fno-omit-frame-pointer
LDFLAGS  += -pthread $(SAN)
LDLIBS   := -lPocoNet -lPocoUtil -lPocoJSON -lPocoFoundation -lssl -lcrypto -lpcre2-8 -lspdlog -lfmt -lz -lcrypt -lmaxminddb

BUILD_PACKAGES := g++ make libpoco-dev libssl-dev libmaxminddb-dev libpcre2-dev libspdlog-dev doctest-dev zlib1g-dev libxxhash-dev libcrypt-dev
CHECK_PACKAGES := $(BUILD_PACKAGES) python3 mmdb-bin
BENCH_PACKAGES := $(CHECK_PACKAGES) haproxy nginx-light libnginx-mod-stream
FUZZ_PACKAGES  := $(BUILD_PACKAGES) clang libclang-rt-14-dev

main_src := master/main.cpp
lib_src  := $(filter-out $(main_src),$(sort $(shell find master worker shared -name '*.cpp')))
unit_src := $(sort $(shell find tests/unit -name '*.cpp'))
mmdb_src := $(sort $(wildcard contrib/mmdb/*.cpp))
mmdb_obj := $(mmdb_src:%.cpp=$(BUILD)/%.o)
lib_obj  := $(lib_src:%.cpp=$(BUILD)/%.o)
main_obj := $(main_src:%.cpp=$(BUILD)/%.o)
unit_obj := $(unit_src:%.cpp=$(BUILD)/%.o)
# the fuzzers' kept inputs are replayed by the unit tests; clang builds the fuzzers themselves (tests/fuzz/run)
fuzz_names := $(patsubst tests/fuzz/%_fuzz.cpp,%,$(sort $(wildcard tests/fuzz/*_fuzz.cpp)))
replay_obj := $(fuzz_names:%=$(BUILD)/replay/%.o)
fuzz_lib_obj := $(filter-out $(BUILD)/master/%,$(lib_obj)) $(filter $(BUILD)/master/config/%,$(lib_obj))
lib      := $(BUILD)/libpenstock.a

.PHONY: all run check check-oracle quick unit asan fuzz fuzzers bench man install dist clean deps-build deps-check deps-bench deps-fuzz
all: $(BUILD)/penstock $(BUILD)/penstock-mmdb

$(lib): $(lib_obj)
	@rm -f $@ && ar rcs $@ $^
$(BUILD)/penstock: $(main_obj) $(lib)
	@echo "  LINK $@"
	@$(CXX) $(LDFLAGS) -o $@ $^ $(LDLIBS)
$(BUILD)/penstock-mmdb: $(mmdb_obj) $(lib)
	@echo "  LINK $@"
	@$(CXX) $(LDFLAGS) -o $@ $^ $(LDLIBS)
$(BUILD)/unit: $(unit_obj) $(replay_obj) $(lib)
	@echo "  LINK $@"
	@$(CXX) $(LDFLAGS) -o $@ $^ $(LDLIBS)
$(BUILD)/mangen: $(BUILD)/man/mangen.o $(lib)
	@echo "  LINK $@"
	@$(CXX) $(LDFLAGS) -o $@ $^ $(LDLIBS)
$(BUILD)/%.o: %.cpp
	@mkdir -p $(@D)
	@echo "  CXX  $<"
	@$(CCACHE) $(CXX) $(CPPFLAGS) $(CXXFLAGS) -c -o $@ $<

$(BUILD)/replay/%.o: tests/fuzz/%_fuzz.cpp
	@mkdir -p $(@D)
	@echo "  CXX  $< (replay)"
	@$(CCACHE) $(CXX) $(CPPFLAGS) $(CXXFLAGS) -DLLVMFuzzerTestOneInput=fuzz_$* -c -o $@ $<
$(BUILD)/libfuzzed.a: $(fuzz_lib_obj)
	@rm -f $@ && ar rcs $@ $^
$(BUILD)/fuzz_%: $(BUILD)/tests/fuzz/%_fuzz.o $(BUILD)/libfuzzed.a
	@echo "  LINK $@"
	@$(CXX) $(LDFLAGS) -fsanitize=fuzzer -o $@ $^ $(LDLIBS)
.SECONDARY: $(fuzz_names:%=$(BUILD)/tests/fuzz/%_fuzz.o)
fuzzers: $(fuzz_names:%=$(BUILD)/fuzz_%)

quick unit: $(BUILD)/unit
	$(BUILD)/unit

# Installing asks nothing and touches nothing when all is there.
define need_packages
@missing=$$(for p in $(1); do dpkg-query -W -f='$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || echo $$p; done); \
if [ -n "$$missing" ]; then \
  echo "installing:" $$missing; \
  sudo=$$([ "$$(id -u)" = 0 ] || echo sudo); \
  $$sudo apt-get update -q >/dev/null && DEBIAN_FRONTEND=noninteractive $$sudo apt-get install -y -q --no-install-recommends $$missing >/dev/null; \
fi
endef
deps-build:
	$(call need_packages,$(BUILD_PACKAGES))
deps-check:
	$(call need_packages,$(CHECK_PACKAGES))
deps-bench:
	$(call need_packages,$(BENCH_PACKAGES))
deps-fuzz:
	$(call need_packages,$(FUZZ_PACKAGES))

run: deps-build
	@$(MAKE) --no-print-directory -j$(JOBS) all
	@echo
	@echo "  penstock balances over three responders:   http://127.0.0.1:8080/"
	@echo "  its statistics page:                       http://127.0.0.1:8404/"
	@echo "  (Ctrl-C ends it; the log follows)"
	@echo
	@$(BUILD)/penstock -db -f conf/penstock.cfg

check: deps-check
	@$(MAKE) --no-print-directory -j$(JOBS) all $(BUILD)/unit $(BUILD)/mangen
	@BUILD=$(BUILD) tests/run

# the expectations of tests/diff are right: other binaries that speak the language agree with them
HAPROXY ?= $(shell command -v haproxy) $(wildcard /opt/ref/haproxy)
check-oracle:
	@for binary in $(HAPROXY); do tests/diff/diff.py --binary $$binary || exit 1; done

# every deadline is stretched, for the instrumented binary is slow
asan: deps-check
	@$(MAKE) --no-print-directory -j$(JOBS) BUILD=build-asan OPT='-O1 -g' SAN='-fsanitize=address,undefined -fno-sanitize-recover=undefined' \
	   all build-asan/unit build-asan/mangen
	@BUILD=build-asan PENSTOCK_TEST_PATIENCE=4 ASAN_OPTIONS=detect_stack_use_after_return=0:detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 tests/run

fuzz: deps-fuzz
	@tests/fuzz/run $(FUZZ_SECONDS)

bench: deps-bench all
	@tests/bench/run

man: $(BUILD)/mangen
	$(BUILD)/mangen man

install: all
	install -D -m 755 $(BUILD)/penstock $(DESTDIR)$(PREFIX)/sbin/penstock
	install -D -m 755 $(BUILD)/penstock-mmdb $(DESTDIR)$(PREFIX)/bin/penstock-mmdb
	@for page in man/*.[1578]; do install -D -m 644 $$page $(DESTDIR)$(PREFIX)/share/man/man$${page##*.}/$${page##*/}; done
	@[ -e $(DESTDIR)$(SYSCONF)/penstock/penstock.cfg ] || install -D -m 644 conf/penstock.cfg $(DESTDIR)$(SYSCONF)/penstock/penstock.cfg
	@for f in conf/errors/*.http; do [ ! -e $$f ] || install -D -m 644 $$f $(DESTDIR)$(SYSCONF)/penstock/errors/$${f##*/}; done
	@for f in conf/examples/*; do [ ! -f $$f ] || install -D -m 644 $$f $(DESTDIR)$(PREFIX)/share/doc/penstock/examples/$${f##*/}; done
	@mkdir -p $(DESTDIR)$(PREFIX)/lib/systemd/system
	sed 's,@PREFIX@,$(PREFIX),g; s,@SYSCONF@,$(SYSCONF),g' contrib/systemd/penstock.service > $(DESTDIR)$(PREFIX)/lib/systemd/system/penstock.service
	install -D -m 644 contrib/logrotate/penstock $(DESTDIR)$(SYSCONF)/logrotate.d/penstock
	install -D -m 644 contrib/bash-completion/penstock $(DESTDIR)$(PREFIX)/share/bash-completion/completions/penstock

dist:
	git archive --format=tar.gz --prefix=penstock-$(VERSION)/ -o penstock-$(VERSION).tar.gz HEAD

clean:
	rm -rf $(BUILD)

-include $(lib_obj:.o=.d) $(main_obj:.o=.d) $(unit_obj:.o=.d) $(mmdb_obj:.o=.d) $(replay_obj:.o=.d) $(wildcard $(BUILD)/tests/fuzz/*.d) $(BUILD)/man/mangen.d
