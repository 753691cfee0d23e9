# penstock: `make run` and `make check` do everything on a fresh Debian 12.
#
#   make          build/penstock (-O2)
#   make run      install what is missing, build, serve conf/penstock.cfg in the foreground
#   make check    install what is missing, build, run every test
#   make quick    unit tests only
#   make asan     the test suite under ASan and UBSan
#   make fuzz     the fuzzers (FUZZ_SECONDS each)     make bench    against haproxy and nginx
#   make man      regenerate the generated man pages   make install  DESTDIR= PREFIX=
BUILD   ?= build
OPT     ?= -O2 -g1
SAN     ?=
CXX     := $(shell command -v ccache >/dev/null 2>&1 && echo ccache) g++
CPPFLAGS += -I. -MMD -MP -DSPDLOG_FMT_EXTERNAL=1
CXXFLAGS += -std=c++23 $(OPT) $(SAN) -Wall -Wextra -Werror -pthread -fno-plt
LDLIBS  := -lPocoNet -lPocoUtil -lPocoJSON -lPocoXML -lPocoFoundation -lssl -lcrypto -lpcre2-8 -lmaxminddb -lspdlog -lfmt -lz -lcrypt -lcap
LDFLAGS += -pthread $(SAN)

main_src := master/main.cpp
lib_src  := $(filter-out $(main_src),$(shell find master worker shared -name '*.cpp'))
unit_src := $(shell find tests/unit -name '*.cpp')
lib_obj  := $(lib_src:%.cpp=$(BUILD)/%.o)
main_obj := $(main_src:%.cpp=$(BUILD)/%.o)
unit_obj := $(unit_src:%.cpp=$(BUILD)/%.o)

.PHONY: all quick unit run check deps clean
all: $(BUILD)/penstock

$(BUILD)/libpenstock.a: $(lib_obj)
	@rm -f $@
	@ar rcs $@ $^
$(BUILD)/penstock: $(main_obj) $(BUILD)/libpenstock.a
	@echo "  LINK $@"
	@g++ $(LDFLAGS) -o $@ $^ $(LDLIBS)
$(BUILD)/unit: $(unit_obj) $(BUILD)/libpenstock.a
	@echo "  LINK $@"
	@g++ $(LDFLAGS) -o $@ $^ $(LDLIBS)
$(BUILD)/%.o: %.cpp
	@mkdir -p $(@D)
	@echo "  CXX  $<"
	@$(CXX) $(CPPFLAGS) $(CXXFLAGS) -c -o $@ $<

quick unit: $(BUILD)/unit
	$(BUILD)/unit
clean:
	rm -rf $(BUILD)

-include $(lib_obj:.o=.d) $(main_obj:.o=.d) $(unit_obj:.o=.d)
