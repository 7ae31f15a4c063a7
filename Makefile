# clear: a profile warehouse in one SQLite file. `make help` lists the targets.

VERSION := 0.1.0
CC      ?= gcc
PREFIX  ?= /usr/local
DESTDIR ?=
BUILD   ?= build
JOBS    ?= $(shell nproc)
SUDO    := $(shell [ "$$(id -u)" = 0 ] || echo sudo)

CFLAGS   ?= -O2 -g
WARNINGS := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wwrite-strings
ALL_CFLAGS = -std=c11 -D_GNU_SOURCE -DCLEAR_VERSION='"$(VERSION)"' $(WARNINGS) -I. -I$(BUILD)/gen $(CFLAGS) $(SANITIZE)
LIBS     := -lsqlite3 -lz -lprotobuf-c -lyaml -ldw -lelf -liberty -lpthread -lm

# The runtime is not the program: no builtins to recurse through, nothing visible but the hooks, frame pointers so that a
# hook finds its caller, and no stack protector or sanitizer that would call into the program's libraries.
SHIM_CFLAGS = -std=c11 -D_GNU_SOURCE $(WARNINGS) -I. -O2 -g -fPIC -fvisibility=hidden -fno-builtin -fno-omit-frame-pointer \
	-fno-stack-protector -fno-plt -ftls-model=initial-exec -fno-semantic-interposition
SHIM_LDFLAGS = -shared -Wl,--no-undefined -Wl,-z,now -Wl,-z,nodelete -Wl,-soname,libclear_rt.so

# Debian 12 packages. BUILD is what compiling needs, TEST what `make test` adds, BENCH what the peers of `make bench` are.
BUILD_PACKAGES := gcc make libc6-dev pkg-config libsqlite3-dev zlib1g-dev libprotobuf-c-dev protobuf-c-compiler libyaml-dev \
	libdw-dev libelf-dev libiberty-dev
TEST_PACKAGES  := libcmocka-dev golang-go graphviz sqlite3 python3 git perl g++ xz-utils tar openssl gdb file procps strace
BENCH_PACKAGES := heaptrack linux-perf google-perftools libjemalloc2

FLOORS  := base schema ingest query export cli
SOURCES := $(wildcard $(FLOORS:%=%/*.c))
OBJECTS := $(SOURCES:%.c=$(BUILD)/%.o) $(BUILD)/gen/embed.o $(BUILD)/gen/profile.pb-c.o
LIBRARY_OBJECTS := $(filter-out $(BUILD)/cli/%,$(OBJECTS))
SHIM_SOURCES := $(wildcard ingest/shim/*.c)
SHIM_OBJECTS := $(SHIM_SOURCES:%.c=$(BUILD)/%.o)
EMBEDDED := schema/tables.sql schema/rules.yaml $(sort $(wildcard schema/views/*.sql schema/doctor/*.sql))
UNIT_TESTS := $(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard tests/unit_*.c))
FIXTURE_SOURCES := $(wildcard fixtures/*.c fixtures/*.cc)
FIXTURES := $(foreach f,$(FIXTURE_SOURCES),$(BUILD)/fixtures/$(basename $(notdir $(f))))

.PHONY: all
all: clear libclear_rt.so ## build ./clear and ./libclear_rt.so (default)

clear: $(OBJECTS)
	$(CC) $(ALL_CFLAGS) -o $@ $(OBJECTS) $(LDFLAGS) $(LIBS)

libclear_rt.so: $(SHIM_OBJECTS)
	$(CC) $(SHIM_CFLAGS) $(SHIM_LDFLAGS) -o $@ $(SHIM_OBJECTS)

$(BUILD)/ingest/shim/%.o: ingest/shim/%.c Makefile
	@mkdir -p $(@D)
	$(CC) $(SHIM_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/%.o: %.c Makefile | $(BUILD)/gen/profile.pb-c.h
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# Generated: the texts in schema/ as C strings, and the messages of profile.proto.
$(BUILD)/gen/embed.c: schema/embed.awk $(EMBEDDED)
	@mkdir -p $(@D)
	awk -f schema/embed.awk $(EMBEDDED) > $@.tmp && mv $@.tmp $@
$(BUILD)/gen/embed.o: $(BUILD)/gen/embed.c
	$(CC) $(ALL_CFLAGS) -Wno-overlength-strings -c -o $@ $<
$(BUILD)/gen/profile.pb-c.c $(BUILD)/gen/profile.pb-c.h &: ingest/profile.proto
	@mkdir -p $(@D)
	protoc-c --proto_path=ingest --c_out=$(BUILD)/gen profile.proto
$(BUILD)/gen/profile.pb-c.o: $(BUILD)/gen/profile.pb-c.c
	$(CC) -std=c11 -I$(BUILD)/gen $(CFLAGS) $(SANITIZE) -c -o $@ $<

-include $(OBJECTS:.o=.d) $(SHIM_OBJECTS:.o=.d)
