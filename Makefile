# Forage. `make help` lists what there is to do.
#
# Rooms build into one archive each and may use only what lies below them:
#   server -> retrieval -> {engine, index, data} -> kernels
# (their sub-folders too: .ci/layers.txt). A source is picked up by lying in its room, at any depth; a test by
# being named tests/ROOM/.../NAME_test.c.
# SIMD files carry their ISA in the name (NAME_avx2.c, ...); nothing else gets an -m flag,
# so the binary runs on any x86-64 and chooses at start (kernels/cpu.h).

CC      ?= gcc
CROSS   ?=
# For another architecture: CROSS=aarch64-linux-gnu- (docs/install.md).
ifneq ($(CROSS),)
CC      := $(CROSS)gcc
AR      := $(CROSS)ar
LD      := $(CROSS)ld
PKG_CONFIG := PKG_CONFIG_LIBDIR=/usr/lib/$(patsubst %-,%,$(CROSS))/pkgconfig:/usr/share/pkgconfig pkg-config
endif
PKG_CONFIG ?= pkg-config
OBJCOPY ?= $(CROSS)objcopy
PREFIX  ?= /usr/local
SAN     ?=
LOCKS   ?=
# Variable tracking costs the sanitizer builds more than the whole compilation and serves debuggers only.
OPT     ?= $(if $(SAN),-O1 -g1 -fno-var-tracking-assignments,-O2 -g)
BUILD   ?= build$(if $(SAN),/san-$(subst $(comma),-,$(SAN)),$(if $(LOCKS),/locks))
comma   := ,
VERSION := 0.1.0

PKGS := sqlite3 libmicrohttpd libcjson libcurl libcrypto libxml-2.0 md4c libutf8proc zlib libzip libseccomp yaml-0.1 libarchive
PKG_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(PKGS) 2>/dev/null)
PKG_LIBS   := $(shell $(PKG_CONFIG) --libs $(PKGS) 2>/dev/null) -lgnutls -lstemmer -lexttextcat-2.0 -lm -lpthread

WARN := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith \
        -Wvla -Wformat=2 -Wundef -Wwrite-strings
# gcc's flow-based warnings are wrong more often once the checks stand in the code (gcc's manual says so);
# the ordinary build keeps them as errors.
SAN_FLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=undefined \
  -Wno-maybe-uninitialized -Wno-format-truncation)
# Hardening: addresses are random (PIE) and what the loader resolved is read-only (full RELRO); lengths given to
# the C library are checked against the object (FORTIFY_SOURCE, where the compiler optimises and no sanitizer
# does it); no frame steps over the stack's guard page; indirect calls land on functions alone (CET).
can_compile = $(shell echo | $(CC) -Werror $(1) -x c -c - -o /dev/null 2>/dev/null && echo $(1))
HARD_FLAGS := -fPIC -fvisibility=hidden -fstack-protector-strong \
  $(call can_compile,-fstack-clash-protection) $(call can_compile,-fcf-protection=full) \
  $(if $(SAN)$(findstring -fsanitize,$(CFLAGS))$(filter -O0,$(OPT) $(CFLAGS)),,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
HARD_LINK := -pie -Wl,-z,relro,-z,now,-z,noexecstack
# -fdebug-prefix-map: the program's bytes do not depend on the folder that it was built in (.ci/reproducible.sh).
# -fsigned-char: char has a sign on x86-64 and none elsewhere.
# -ffp-contract=off: a float result must not depend on which file the compiler chose to fuse in.
CFLAGS_ALL = -std=gnu11 $(OPT) $(WARN) -fsigned-char -ffp-contract=off -fno-math-errno -pthread \
             $(HARD_FLAGS) -D_GNU_SOURCE -DFORAGE_VERSION='"$(VERSION)"' \
             -fdebug-prefix-map=$(CURDIR)=. -I. -I$(BUILD)/gen $(PKG_CFLAGS) $(SAN_FLAGS) $(CFLAGS)
LDFLAGS_ALL = -pthread $(HARD_LINK) $(SAN_FLAGS) $(LDFLAGS) $(LOCK_LINK)

# With SAN or LOCKS=1 every program asserts that its mutexes have an order (tests/lock_order.c).
LOCK_CALLS := pthread_mutex_init pthread_mutex_destroy pthread_mutex_lock pthread_mutex_trylock pthread_mutex_unlock \
  pthread_cond_wait pthread_cond_timedwait
LOCK_CHECK := $(patsubst %,-Wl$(comma)--wrap=%,$(LOCK_CALLS)) $(BUILD)/tests/lock_order.o
LOCK_LINK  := $(if $(SAN)$(LOCKS),$(LOCK_CHECK))

ISA_avx2   := -mavx2 -mfma -mf16c -mbmi -mbmi2 -mpopcnt
ISA_avxvnni := $(ISA_avx2) -mavxvnni
ISA_avx512 := $(ISA_avx2) -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vnni -mavx512vbmi -mavx512bf16
ISA_amx    := $(ISA_avx512) -mamx-tile -mamx-int8 -mamx-bf16

# Where the program is built for another architecture, the files of these are left out, and what tests them
# (kernels/levels_absent.c).
OTHER_ISA := $(if $(filter x86_64,$(firstword $(subst -, ,$(shell $(CC) -dumpmachine)))),,\
  %_avx2.c %_avxvnni.c %_avx512.c %_amx.c %amx_test.c %/avxvnni_test.c %/amx_check_test.c %/amx_model_test.c)

ROOMS := kernels data index engine retrieval server
# What a room's tests link: the room itself and everything below it, which proves the layering.
BELOW_kernels   := kernels
BELOW_data      := data kernels
BELOW_index     := index kernels
BELOW_engine    := engine kernels
BELOW_retrieval := retrieval engine index data kernels
BELOW_server    := server retrieval engine index data kernels

# Two levels are all there are: ROOM/FILE and ROOM/FOLDER/FILE.
in_room  = $(filter-out $(OTHER_ISA),$(wildcard $(1)/*$(2) $(1)/*/*$(2)))
room_src = $(filter-out server/main.c server/sdk/extract_main.c server/package/%.c,$(call in_room,$(1),.c))
room_obj = $(patsubst %.c,$(BUILD)/%.o,$(call room_src,$(1)))

.PHONY: all
all: $(BUILD)/forage sdk

define ROOM_template
$(BUILD)/lib$(1).a: $$(call room_obj,$(1))
	@rm -f $$@
	@$$(AR) rcs $$@ $$^
$$(BUILD)/tests/$(1)/%_test: $$(BUILD)/tests/$(1)/%_test.o $$(foreach r,$$(BELOW_$(1)),$$(BUILD)/lib$$(r).a)
	@echo "  LD   $$@"
	@$$(CC) $$(LDFLAGS_ALL) $$(TEST_WRAP) -o $$@ $$< $$(foreach r,$$(BELOW_$(1)),$$(BUILD)/lib$$(r).a) $$(PKG_LIBS) -lcmocka
endef
$(foreach r,$(ROOMS),$(eval $(call ROOM_template,$(r))))

isa_of = $(or $(ISA_$(lastword $(subst _, ,$(notdir $(basename $(1)))))),)

$(BUILD)/%.o: %.c Makefile
	@mkdir -p $(@D)
	@echo "  CC   $<"
	@$(CC) $(CFLAGS_ALL) $(call isa_of,$<) -MMD -MP -c -o $@ $<

$(BUILD)/forage: $(BUILD)/server/main.o $(foreach r,$(BELOW_server),$(BUILD)/lib$(r).a)
	@echo "  LD   $@"
	@$(CC) $(LDFLAGS_ALL) -o $@ $< $(foreach r,$(BELOW_server),$(BUILD)/lib$(r).a) $(PKG_LIBS)

# libforage (docs/sdk.md). Of the rooms' archives it takes what its functions (server/sdk/forage.h) need; of names
# it gives out those in forage.map alone, the static one too: that is one object whose other names are local.
SONAME := libforage.so.0
SDK_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(filter-out %/extract_main.c,$(wildcard server/sdk/*.c)))
SDK_LIBS := $(foreach r,$(BELOW_server),$(BUILD)/lib$(r).a)
SDK_NAMES := $(shell sed -n 's/^ *\(forage_[a-z_]*\);$$/\1/p' server/sdk/forage.map)
.PHONY: sdk
sdk: $(BUILD)/libforage.so $(BUILD)/libforage.a $(BUILD)/forage-extract
$(BUILD)/$(SONAME): $(SDK_OBJ) $(SDK_LIBS) server/sdk/forage.map
	@echo "  LD   $@"
	@$(CC) -shared -Wl,-soname,$(SONAME) -Wl,--version-script=server/sdk/forage.map $(filter-out -pie,$(LDFLAGS_ALL)) \
	  -Wl,--as-needed$(if $(SAN),,$(comma)--no-undefined) -o $@ $(SDK_OBJ) $(SDK_LIBS) $(PKG_LIBS)
$(BUILD)/libforage.so: $(BUILD)/$(SONAME)
	@ln -sf $(SONAME) $@
$(BUILD)/libforage.a: $(SDK_OBJ) $(SDK_LIBS) server/sdk/forage.map
	@echo "  AR   $@"
	@$(LD) -r -z noexecstack -o $(BUILD)/libforage.o $(SDK_OBJ) $(SDK_LIBS)
	@$(OBJCOPY) $(addprefix --keep-global-symbol=,$(SDK_NAMES)) $(BUILD)/libforage.o
	@rm -f $@
	@$(AR) rcs $@ $(BUILD)/libforage.o
	@rm $(BUILD)/libforage.o
$(BUILD)/forage-extract: $(BUILD)/server/sdk/extract_main.o $(BUILD)/libdata.a $(BUILD)/libkernels.a
	@echo "  LD   $@"
	@$(CC) $(LDFLAGS_ALL) -Wl,--as-needed -o $@ $^ $(PKG_LIBS)

# The program without a library (docs/install.md): for any Linux of this architecture. Debian has archives of most
# libraries; static_libs.sh makes the others.
STATIC := $(BUILD)/static
STATIC_PKG = $(shell pkg-config --static --libs libmicrohttpd libxml-2.0 libarchive sqlite3 2>/dev/null)
STATIC_LIBS = -L$(STATIC)/lib $(filter-out -lp11-kit -latomic,$(STATIC_PKG)) $(PKG_LIBS) -lssl -lcrypto -lbz2 -llzma -lattr -lstdc++
.PHONY: static
static: $(STATIC)/forage
$(STATIC)/lib/sources: server/package/static_libs.sh
	@.ci/deps.sh static
	@server/package/static_libs.sh $(@D)
$(STATIC)/forage: $(BUILD)/server/main.o $(BUILD)/server/package/static_iconv.o $(BUILD)/server/package/static_absent.o \
  $(foreach r,$(BELOW_server),$(BUILD)/lib$(r).a) $(STATIC)/lib/sources
	@echo "  LD   $@"
	@$(CC) $(filter-out -pie,$(LDFLAGS_ALL)) -static-pie -s -Wl,--gc-sections -Wl,-Map,$@.map -o $@ $(filter %.o,$^) \
	  -Wl,--start-group $(filter %.a,$^) $(STATIC_LIBS) -Wl,--end-group 2>$@.said || { cat $@.said; exit 1; }

# The built-in models come in by .incbin, which no dependency file shows.
$(BUILD)/engine/embed/embed_builtin.o: data/models/forage-embed-256.gguf data/models/forage-encoder.gguf
$(BUILD)/engine/embed/reader_builtin.o: data/models/forage-reader.gguf data/models/forage-reader-cross.gguf \
  data/models/forage-reader-spans.gguf data/models/forage-reader-cross-e5.gguf

# Files that travel inside the binary (SQL, HTML, the API description) become C arrays.
$(BUILD)/gen/%.inc: %
	@mkdir -p $(@D)
	@xxd -i < $< > $@
$(BUILD)/data/sqlite/sqlite_schema.o: $(BUILD)/gen/data/sqlite/schema.sql.inc
$(BUILD)/server/routes/routes_page.o: $(patsubst %,$(BUILD)/gen/%.inc,server/routes/openapi.json $(wildcard server/web/*))

# With TEST_LONG=1 the tests that damage, compare and kill at random do all of their rounds.
ifdef TEST_LONG
export TEST_LONG
endif
TEST_SRC := $(foreach r,$(ROOMS),$(call in_room,tests/$(r),_test.c))
# Every tests/fuzz/fuzz_NAME.c is a fuzz target (make fuzz) and, over its stored corpus, a test.
FUZZ_SRC := $(wildcard tests/fuzz/fuzz_*.c)
FUZZ_TEST := $(patsubst %.c,$(BUILD)/%_test,$(FUZZ_SRC))
FUZZ_LIBS = $(foreach r,$(BELOW_server),$(BUILD)/lib$(r).a)
TEST_BIN := $(patsubst %.c,$(BUILD)/%,$(TEST_SRC)) $(FUZZ_TEST)

$(BUILD)/tests/fuzz/fuzz_%_test: $(BUILD)/tests/fuzz/fuzz_%.o $(BUILD)/tests/fuzz/replay.o $(FUZZ_LIBS)
	@echo "  LD   $@"
	@$(CC) $(LDFLAGS_ALL) -o $@ $(filter %.o,$^) $(FUZZ_LIBS) $(PKG_LIBS)

.PHONY: tests
tests: $(TEST_BIN)
ifneq ($(LOCK_LINK),)
$(TEST_BIN) $(BUILD)/forage $(BUILD)/forage-extract $(BUILD)/$(SONAME): | $(BUILD)/tests/lock_order.o
$(patsubst %.c,$(BUILD)/%,$(wildcard tests/trials/*.c tests/bench/*.c)): | $(BUILD)/tests/lock_order.o
endif
$(BUILD)/tests/kernels/lock_order_test: | $(BUILD)/tests/lock_order.o
$(BUILD)/tests/kernels/lock_order_test: TEST_WRAP := $(if $(LOCK_LINK),,$(LOCK_CHECK))
# Tests that let allocations fail. Without the check of locks, which allocates too.
FAULT_TESTS := $(BUILD)/tests/index/search/search_index_fault_test $(BUILD)/tests/retrieval/collections/refine_fault_test
$(FAULT_TESTS): TEST_WRAP := $(patsubst %,-Wl$(comma)--wrap=%,malloc calloc realloc strdup)
$(BUILD)/tests/index/search/search_index_fault_test: TEST_WRAP += -Wl,--wrap=open,--wrap=fsync
$(FAULT_TESTS): LOCK_LINK :=
$(BUILD)/tests/retrieval/local/local_prompt_test: TEST_WRAP := -Wl,--wrap=time
$(BUILD)/tests/retrieval/collections/writer_test: TEST_WRAP := -Wl,--wrap=search_index_publish
$(BUILD)/tests/server/routes/source_runner_test: TEST_WRAP := -Wl,--wrap=folder_sync_run
$(BUILD)/tests/engine/kv/kv_store_test: TEST_WRAP := -Wl,--wrap=pread,--wrap=pwritev
$(BUILD)/tests/engine/kv/kv_check_test $(BUILD)/tests/data/sqlite/sqlite_damage_test: TEST_WRAP := -Wl,--wrap=fo_map_open
define TEST_template
.PHONY: test-$(1) tests-$(1)
tests-$(1): $(patsubst %.c,$(BUILD)/%,$(call in_room,tests/$(1),_test.c))
test-$(1): tests-$(1)
	@tests/run.sh $$(BUILD) $(1)
endef
$(foreach r,$(ROOMS),$(eval $(call TEST_template,$(r))))
.PHONY: test-fuzz
test-fuzz: $(FUZZ_TEST)
	@tests/run.sh $(BUILD) fuzz

# make fuzz [FUZZ=NAME] [FUZZ_SECONDS=60]: clang's libFuzzer with the address and undefined-behaviour
# sanitizers. New inputs stay in build/fuzz/corpus, findings in build/fuzz/found: a finding that was
# mended moves to tests/fuzz/corpus/NAME, where every test run replays it.
FUZZ ?= $(patsubst tests/fuzz/fuzz_%.c,%,$(FUZZ_SRC))
FUZZ_SECONDS ?= 60
.PHONY: fuzz
fuzz:
	@$(MAKE) --no-print-directory -j$$(nproc) CC=clang BUILD=build/fuzz WARN= OPT='-O1 -g' \
	  CFLAGS='-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined -DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION' \
	  $(patsubst %,build/fuzz/tests/fuzz/fuzz_%,$(FUZZ))
	@mkdir -p build/fuzz/found $(patsubst %,build/fuzz/corpus/%,$(FUZZ))
	@for t in $(FUZZ); do \
	  echo "  FUZZ $$t"; \
	  ASAN_OPTIONS=intercept_memmem=0 build/fuzz/tests/fuzz/fuzz_$$t -max_total_time=$(FUZZ_SECONDS) -timeout=20 -rss_limit_mb=2048 \
	    -print_final_stats=1 -artifact_prefix=build/fuzz/found/$$t- \
	    $$(ls tests/fuzz/$$t.dict 2>/dev/null | sed 's/^/-dict=/') \
	    build/fuzz/corpus/$$t tests/fuzz/corpus/$$t || exit 1; \
	done
# No target reaches the matrix kernels, and clang needs minutes for them with the checks in: here
# without (make SAN=address,undefined test checks them).
build/fuzz/kernels/matmul_%.o: override CFLAGS :=
build/fuzz/tests/fuzz/fuzz_%: build/fuzz/tests/fuzz/fuzz_%.o $(FUZZ_LIBS)
	@echo "  LD   $@"
	@clang -fsanitize=fuzzer,address,undefined -pthread -o $@ $< $(FUZZ_LIBS) $(PKG_LIBS)

# Lines that the tests run, a row for each room (gcovr); COVERAGE_ROOMS: the tests of these, added to what others ran before. Built apart, in
# build/coverage, with counters that threads may lose a step of: whether a line ran is all that is asked, and counters that
# are counted up atomically take a multiple of the time.
.PHONY: coverage
coverage:
	@.ci/deps.sh coverage
	@$(MAKE) --no-print-directory -j$$(nproc) BUILD=build/coverage OPT='-Og -g' CFLAGS='--coverage -fprofile-update=single' \
	  LDFLAGS=--coverage WARN= $(if $(COVERAGE_ROOMS),all $(foreach r,$(COVERAGE_ROOMS),tests-$(r)),all tests)
	@tests/coverage.sh build/coverage $(COVERAGE_ROOMS)

# gcc 12 for aarch64 falls over reductions in two of them (vect_transform_reduction).
ifneq ($(OTHER_ISA),)
$(BUILD)/tests/engine/%.o: override OPT += -fno-tree-loop-vectorize
endif

# Intrinsics with constants need an optimiser.
build/coverage/kernels/%.o: override OPT := -O1 -g

# Trials: long runs that hurt the service on purpose (docs/reliability.md); tests run short ones.
TRIALS := $(patsubst tests/trials/%.c,$(BUILD)/tests/trials/%,$(wildcard tests/trials/*.c))
tests: $(TRIALS)
$(BUILD)/tests/trials/%: $(BUILD)/tests/trials/%.o $(FUZZ_LIBS)
	@echo "  LD   $@"
	@$(CC) $(LDFLAGS_ALL) $(TRIAL_WRAP) -o $@ $< $(FUZZ_LIBS) $(PKG_LIBS)
# The calls that tests/trials/interpose.h stands before.
FAULTY := malloc calloc realloc aligned_alloc posix_memalign strdup strndup asprintf __asprintf_chk open fopen fcntl read \
  write pwrite fsync fdatasync ftruncate rename unlink mkdir mmap pthread_create
$(BUILD)/tests/trials/fault_sweep $(BUILD)/tests/trials/power_trial: TRIAL_WRAP := $(patsubst %,-Wl$(comma)--wrap=%,$(FAULTY))
$(BUILD)/tests/trials/stress_trial: | $(BUILD)/tests/lock_order.o
$(BUILD)/tests/trials/stress_trial: TRIAL_WRAP := $(if $(LOCK_LINK),,$(LOCK_CHECK))
STRESS_SECONDS ?= 180
.PHONY: stress
stress: $(BUILD)/tests/trials/stress_trial
	@$(BUILD)/tests/trials/stress_trial $(STRESS_SECONDS)
KILLS ?= 1000
.PHONY: crash-trial
crash-trial: all $(BUILD)/tests/trials/crash_trial
	@$(BUILD)/tests/trials/crash_trial $(BUILD)/forage $(KILLS)
.PHONY: fault-sweep power-trial
power-trial: $(BUILD)/tests/trials/power_trial
	@$(BUILD)/tests/trials/power_trial
fault-sweep: $(BUILD)/tests/trials/fault_sweep
	@$(BUILD)/tests/trials/fault_sweep

# Benchmarks that stand on the service: tests/bench/NAME.c -> build/tests/bench/NAME.
$(BUILD)/tests/bench/%: $(BUILD)/tests/bench/%.o $(FUZZ_LIBS)
	@echo "  LD   $@"
	@$(CC) $(LDFLAGS_ALL) -o $@ $< $(FUZZ_LIBS) $(PKG_LIBS)

# ---- what people type -----------------------------------------------------------------------

.PHONY: help
help:
	@echo 'make            build $(BUILD)/forage'
	@echo 'make demo       install what is missing, build, serve real documents, ask three questions'
	@echo 'make models     download a language model and an encoder (177 MB) that demo and run then use;'
	@echo '                WITH=e5: an encoder of a hundred languages too (91 MB)'
	@echo 'make run        serve the demo home on http://127.0.0.1:8080 in the foreground'
	@echo 'make test       all tests (SAN=address,undefined or SAN=thread for the sanitizers, which also assert that'
	@echo '                locks have an order; LOCKS=1: that alone)'
	@echo '                TEST_LONG=1: with all rounds of those that damage and compare'
	@echo 'make test-ROOM  the tests of one room: $(ROOMS)'
	@echo 'make check      format, layers, links of the docs, warnings as errors, cppcheck'
	@echo 'make fuzz       fuzz each target for FUZZ_SECONDS (60)'
	@echo 'make crash-trial KILLS=1000  kill -9 in everything that writes: is anything lost?'
	@echo 'make fault-sweep, power-trial  calls that fail, one by one; the power goes, at any write'
	@echo 'make stress     everything at once for STRESS_SECONDS (180; SAN=thread), with the order of locks'
	@echo 'make coverage   lines that the tests run, by room (gcovr)'
	@echo 'make bench      the benchmarks, one JSON object each'
	@echo 'make bench-compare  Forage beside other programs, which the environment names (tests/bench/compare.sh)'
	@echo 'make quality    1,700 questions over manual pages, documents and files: right, wrong, refused'
	@echo 'make deps       install the Debian packages a build needs'
	@echo 'make install    DESTDIR= PREFIX=/usr/local'
	@echo 'make deb        a package of Debian: build/forage_VERSION_ARCH.deb'
	@echo 'make static     a program without libraries, for any Linux: $(BUILD)/static/forage'
	@echo 'make sbom       what the program is made of, as CycloneDX: $(BUILD)/forage.cdx.json'
	@echo 'make wheel      the Python package (docs/sdk.md): build/forage-VERSION-*.whl'
	@echo 'make clean      remove build/'

.PHONY: deps
deps:
	@.ci/deps.sh run

# Packages first, then a make that sees them.
.PHONY: demo run
demo run: deps
	@$(MAKE) --no-print-directory -j$$(nproc) all
	@server/$@.sh $(BUILD)/forage

# The two public models of data/models/fetch.sh, into models/ (177 MB to download); WITH=e5: multilingual-e5-small too.
.PHONY: models
models: deps
	@$(MAKE) --no-print-directory -j$$(nproc) all
	@data/models/fetch.sh $(BUILD)/forage models $(WITH)

.PHONY: test
test:
	@.ci/deps.sh test
	@$(MAKE) --no-print-directory -j$$(nproc) all tests
	@tests/run.sh $(BUILD)

.PHONY: bench
bench: all
	@tests/bench/run.sh $(BUILD)/forage

# Beside other programs, named in the environment: the head of tests/bench/compare.sh.
.PHONY: bench-compare
bench-compare: all $(BUILD)/tests/bench/products
	@tests/bench/compare.sh $(BUILD)/forage

# The questions of tests/quality over this machine's manual pages and small documents: how many answers are right.
.PHONY: quality
quality: all
	@tests/quality/run.sh $(BUILD)/forage

.PHONY: check check-format check-layers check-docs check-cpp
check: check-format check-layers check-docs all tests check-cpp
	@echo 'check: format, layers, docs, warnings and cppcheck are clean'
C_FILES = $(foreach r,$(ROOMS),$(call in_room,$(r),.[ch]) $(call in_room,tests/$(r),.[ch])) $(wildcard tests/*.h tests/fuzz/*.c tests/bench/*.[ch] tests/trials/*.[ch])
check-format:
	@clang-format --dry-run -Werror $(C_FILES)
check-layers:
	@.ci/check-layers.sh
check-docs:
	@.ci/check-docs.sh
# The bytes of the page take it ten minutes, and there is nothing to find in them: that file is read without.
CPPCHECK = cppcheck --quiet --std=c11 --error-exitcode=1 --inline-suppr -j$$(nproc) --enable=warning,portability \
           --suppressions-list=.ci/cppcheck.txt -D__x86_64__ -DFORAGE_VERSION='""' -I.
OF_PAGE = server/routes/routes_page.c
check-cpp:
	@$(CPPCHECK) -I$(BUILD)/gen $(filter-out $(OF_PAGE),$(foreach r,$(ROOMS),$(call in_room,$(r),.c)))
	@$(CPPCHECK) $(OF_PAGE)

.PHONY: install install-files install-sdk deb
install: all install-files install-sdk
SHARE = $(DESTDIR)$(PREFIX)/share
LIBDIR ?= $(PREFIX)/lib
# Where zsh looks: Debian's has vendor-completions in $fpath under /usr alone.
ZSH_DIR = $(SHARE)/zsh/$(if $(filter /usr,$(PREFIX)),vendor-completions,site-functions)
# What a program that is linked with libforage.a needs beside it.
SDK_LINK = $(filter-out -lmicrohttpd -lcurl -lgnutls,$(PKG_LIBS))
install-files:
	install -Dm755 $(BUILD)/forage '$(DESTDIR)$(PREFIX)/bin/forage'
	@mkdir -p '$(DESTDIR)$(PREFIX)/lib/systemd/system' '$(SHARE)/bash-completion/completions' \
	  '$(ZSH_DIR)' '$(SHARE)/fish/vendor_completions.d'
	sed 's|/usr/local|$(PREFIX)|' server/forage.service >'$(DESTDIR)$(PREFIX)/lib/systemd/system/forage.service'
	install -Dm644 server/forage.socket '$(DESTDIR)$(PREFIX)/lib/systemd/system/forage.socket'
	$(BUILD)/forage completion bash >'$(SHARE)/bash-completion/completions/forage'
	$(BUILD)/forage completion zsh >'$(ZSH_DIR)/_forage'
	$(BUILD)/forage completion fish >'$(SHARE)/fish/vendor_completions.d/forage.fish'
	install -Dm644 docs/forage.1 '$(SHARE)/man/man1/forage.1'
	install -Dm644 README.md '$(SHARE)/doc/forage/README.md'
	install -Dm644 LICENSE '$(SHARE)/doc/forage/LICENSE'
	install -Dm644 data/models/README.md '$(SHARE)/doc/forage/models.md'
	install -Dm644 data/models/reader/README.md '$(SHARE)/doc/forage/reader-model.md'

install-sdk:
	install -Dm644 $(BUILD)/$(SONAME) '$(DESTDIR)$(LIBDIR)/$(SONAME)'
	ln -sf $(SONAME) '$(DESTDIR)$(LIBDIR)/libforage.so'
	install -Dm755 $(BUILD)/forage-extract '$(DESTDIR)$(LIBDIR)/forage/forage-extract'
	install -Dm644 $(BUILD)/libforage.a '$(DESTDIR)$(LIBDIR)/libforage.a'
	install -Dm644 server/sdk/forage.h '$(DESTDIR)$(PREFIX)/include/forage.h'
	@mkdir -p '$(DESTDIR)$(LIBDIR)/pkgconfig'
	sed 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@VERSION@|$(VERSION)|; s|@LIBS@|$(SDK_LINK)|' \
	  server/sdk/forage.pc.in >'$(DESTDIR)$(LIBDIR)/pkgconfig/forage.pc'

# The Python package (server/clients/python), into build/: with libforage in it, and without.
.PHONY: wheel
wheel: sdk
	@server/clients/python/wheel.py $(BUILD) $(BUILD)

# A package of Debian, into build/.
deb: all
	@server/package/deb.sh $(BUILD)/forage $(BUILD)

# What the program is made of (CycloneDX), and the static one where that is built.
.PHONY: sbom
sbom: $(BUILD)/forage
	@server/package/sbom.py $(BUILD)/forage $(BUILD)/forage.cdx.json
	@[ ! -x $(STATIC)/forage ] || server/package/sbom.py $(STATIC)/forage $(STATIC)/forage.cdx.json $(STATIC)/forage.map $(STATIC)/lib

.PHONY: clean
clean:
	rm -rf build

.SECONDARY:
-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
