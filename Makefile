# Hone's build. `make help` lists what there is; a new .c file in any src/<module>/, tests/unit/,
# tests/fuzz/ or bench/ needs no registration.

MODE ?= release
TEST_MODE ?= asan
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60
SOAK_SECONDS ?= 600
FUZZ_CC ?= clang
ifeq ($(origin CC),default)
CC := gcc
endif

.DELETE_ON_ERROR:
.SUFFIXES:
.PHONY: all test test-programs lint soak fuzz bench install clean help
all:

# Flags. The judge compares numbers: no contraction, no fast-math, in no mode.

MODE_CFLAGS_release := -O2 -g
MODE_CFLAGS_debug := -O0 -g -DHONE_FAULTS
MODE_CFLAGS_asan := -O1 -g -fno-omit-frame-pointer -DHONE_FAULTS \
	-fsanitize=address,undefined -fno-sanitize-recover=all
MODE_CFLAGS_tsan := -O1 -g -fno-omit-frame-pointer -DHONE_FAULTS -fsanitize=thread
MODE_CFLAGS_fuzz := -O1 -g -fno-omit-frame-pointer -DHONE_FAULTS \
	-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
ifeq ($(MODE_CFLAGS_$(MODE)),)
$(error MODE=$(MODE): write MODE=release, debug, asan or tsan)
endif
ifeq ($(MODE),fuzz)
CC := $(FUZZ_CC)
endif

WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla \
	-Wpointer-arith -Wwrite-strings -Wformat=2 -Werror
ALL_CFLAGS = -std=gnu17 -D_GNU_SOURCE -Isrc $(WARNINGS) -ffp-contract=off -fPIC \
	$(MODE_CFLAGS_$(MODE)) $(CPPFLAGS) $(CFLAGS)
ALL_LDFLAGS = $(MODE_CFLAGS_$(MODE)) $(LDFLAGS)
LIBS := -lcrypto -lcurl -ljansson -lsqlite3 -lz -lm -ldl -lpthread

# Files.

OUT := build/$(MODE)
LIBRARY := $(sort $(wildcard lib/*.op))
EXAMPLES := $(sort $(wildcard examples/*.op))
RECIPES := $(sort $(filter-out %~,$(wildcard recipes/*)))
BRIDGE := $(sort $(wildcard bridge/worker/*.py bridge/suite_models/*.py bridge/export/*.py))
APP_SOURCES := $(sort $(wildcard src/app/*.c))
LIB_SOURCES := $(sort $(filter-out $(APP_SOURCES),$(wildcard src/*/*.c)))
UNIT_SOURCES := $(sort $(wildcard tests/unit/*.c))
FUZZ_SOURCES := $(sort $(wildcard tests/fuzz/fuzz_*.c))
BENCH_SOURCES := $(sort $(wildcard bench/*.c))

objects = $(patsubst %.c,$(OUT)/%.o,$(1))
APP_OBJECTS := $(call objects,$(APP_SOURCES))
LIB_OBJECTS := $(call objects,$(LIB_SOURCES)) $(OUT)/gen/library.o $(OUT)/gen/emitted.o \
	$(OUT)/gen/hone_h.o $(OUT)/gen/prices.o $(OUT)/gen/recipes.o $(OUT)/gen/bridge.o \
	$(OUT)/gen/page.o
UNIT_PROGRAMS := $(UNIT_SOURCES:%.c=$(OUT)/%)
HELPER_PROGRAMS := $(patsubst %.c,$(OUT)/%,$(sort $(wildcard tests/llm/*.c)))
REPLAY_PROGRAMS := $(FUZZ_SOURCES:%.c=$(OUT)/%)
BENCH_PROGRAMS := $(BENCH_SOURCES:%.c=$(OUT)/%)
HONE := $(if $(APP_SOURCES),$(OUT)/hone)
BOX := $(OUT)/hone-box

# $(call remember,FILE,TEXT): FILE holds TEXT and is touched only when that changes. What depends on
# it is made anew when a flag changes or a source disappears, which no time stamp would tell.
remember = $(if $(filter-out $(subst $() ,_,$(strip $(file <$(1)))),$(subst $() ,_,$(strip $(2)))),\
	$(shell mkdir -p $(dir $(1)))$(file >$(1),$(strip $(2))))
$(call remember,build/gen/library.list,library: $(LIBRARY) $(EXAMPLES))
$(call remember,build/gen/recipes.list,recipes: $(RECIPES))
$(call remember,build/gen/bridge.list,bridge: $(BRIDGE))
$(call remember,$(OUT)/flags,$(CC) $(ALL_CFLAGS) $(LDFLAGS))
$(call remember,$(OUT)/objects.list,objects: $(LIB_OBJECTS) $(APP_OBJECTS))

# V=1 shows the commands.
quiet = $(if $(V),,@printf '  %-5s %s\n' $(1) $(2);)

# Building.

all: $(HONE) $(BOX) $(OUT)/libhone.a $(OUT)/libhone.so.0

$(OUT)/%.o: %.c $(OUT)/flags
	@mkdir -p $(@D)
	$(call quiet,CC,$<) $(CC) $(ALL_CFLAGS) -MMD -MP -c $< -o $@

# Loops over every element: sanitized at -O1 they take twice the time, which the tests wait for.
build/asan/src/task/%.o: CFLAGS += -O2

$(OUT)/gen/%.o: build/gen/%.c $(OUT)/flags
	@mkdir -p $(@D)
	$(call quiet,CC,$<) $(CC) $(ALL_CFLAGS) -MMD -MP -c $< -o $@

# The operator library and the examples as C strings, one a line.
build/gen/library.c: $(LIBRARY) $(EXAMPLES) build/gen/library.list
	$(call quiet,GEN,$@) put() { \
	    printf 'const struct library_file %s[] = {\n' "$$1"; \
	    shift; \
	    for file; do \
	        printf '{"%s",\n' "$$file"; \
	        sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/.*/"&\\n"/' "$$file"; \
	        printf '""},\n'; \
	    done; \
	    printf '{NULL, NULL}};\n'; }; { \
	    printf '#include "lang/library_int.h"\n\n#include <stddef.h>\n\n'; \
	    put library_files $(LIBRARY); \
	    put example_files $(EXAMPLES); } >$@

# The recipes, in the same way.
build/gen/recipes.c: $(RECIPES) build/gen/recipes.list
	$(call quiet,GEN,$@) { \
	    printf '#include "recipe/recipe_int.h"\n\n#include <stddef.h>\n\n'; \
	    printf 'const struct recipe_file recipe__files[] = {\n'; \
	    for file in $(RECIPES); do \
	        printf '{"%s",\n' "$$file"; \
	        sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/.*/"&\\n"/' "$$file"; \
	        printf '""},\n'; \
	    done; \
	    printf '{NULL, NULL}};\n'; } >$@

# What runs in PyTorch's process, in the same way; paths are below bridge/.
build/gen/bridge.c: $(BRIDGE) build/gen/bridge.list
	$(call quiet,GEN,$@) { \
	    printf '#include "bridge/bridge_int.h"\n\n#include <stddef.h>\n\n'; \
	    printf 'const struct bridge_file bridge__files[] = {\n'; \
	    for file in $(BRIDGE); do \
	        printf '{"%s",\n' "$${file#bridge/}"; \
	        sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/.*/"&\\n"/' "$$file"; \
	        printf '""},\n'; \
	    done; \
	    printf '{NULL, NULL}};\n'; } >$@

# C text that the emitter puts before what it emits, as strings.
build/gen/emitted.c: $(wildcard src/lang/emitted/*.h)
	$(call quiet,GEN,$@) mkdir -p $(@D) && { \
	    printf '#include "lang/emitted_int.h"\n'; \
	    for file in $(sort $^); do \
	        printf 'const char emitted_%s[] =\n' "$$(basename "$$file" .h)"; \
	        sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/.*/"&\\n"/' "$$file"; \
	        printf ';\n'; \
	    done; } >$@

# The header that kernels may include, as a string.
build/gen/hone_h.c: src/target/header/hone.h
	$(call quiet,GEN,$@) mkdir -p $(@D) && { \
	    printf '#include "target/target_int.h"\nconst char target__hone_h[] =\n'; \
	    sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/.*/"&\\n"/' $<; \
	    printf ';\n'; } >$@

# The prices of models, as a string.
build/gen/prices.c: src/llm/data/prices
	$(call quiet,GEN,$@) mkdir -p $(@D) && { \
	    printf '#include "llm/llm_int.h"\nconst char llm__price_table[] =\n'; \
	    sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/.*/"&\\n"/' $<; \
	    printf ';\n'; } >$@

# The pieces of a report's page, as strings.
build/gen/page.c: $(wildcard src/report/page/*)
	$(call quiet,GEN,$@) mkdir -p $(@D) && { \
	    printf '#include "report/page_int.h"\n'; \
	    for file in $(sort $^); do \
	        printf 'const char report__%s[] =\n' "$$(basename "$$file" | tr . _)"; \
	        sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/.*/"&\\n"/' "$$file"; \
	        printf ';\n'; \
	    done; } >$@

# All modules, for the program and the tests.
$(OUT)/parts.a: $(LIB_OBJECTS) $(OUT)/objects.list
	$(call quiet,AR,$@) rm -f $@ && $(AR) rcs $@ $(LIB_OBJECTS)

# The library for others: one object in which only hone_... can be seen, so that no name of ours meets
# one of theirs.
$(OUT)/libhone.a: $(OUT)/parts.a
	$(call quiet,AR,$@) rm -f $@ && ld -r --whole-archive $< -o $(OUT)/libhone.o && \
	    objcopy -w -G 'hone_*' $(OUT)/libhone.o && $(AR) rcs $@ $(OUT)/libhone.o

$(OUT)/libhone.so.0: $(LIB_OBJECTS) $(OUT)/objects.list src/libhone/libhone.map
	$(call quiet,LD,$@) $(CC) -shared -Wl,-soname,libhone.so.0 \
	    -Wl,--version-script=src/libhone/libhone.map $(ALL_LDFLAGS) \
	    $(LIB_OBJECTS) $(LIBS) -o $@

$(OUT)/hone: $(APP_OBJECTS) $(OUT)/parts.a | $(BOX)
	$(call quiet,LD,$@) $(CC) $(ALL_LDFLAGS) $(APP_OBJECTS) $(OUT)/parts.a $(LIBS) -o $@

# hone-box runs under a system call filter that no sanitizer would survive: one build for all modes.

BOX_SOURCES := $(sort $(wildcard src/box/server/*.c)) src/box/filter.c src/box/wire.c
BOX_OBJECTS := $(patsubst %.c,$(OUT)/hone-box.d/%.o,$(BOX_SOURCES))
BOX_CFLAGS := -std=gnu17 -D_GNU_SOURCE -Isrc $(WARNINGS) -O2 -g -fPIE -fopenmp
$(call remember,$(OUT)/hone-box.flags,gcc $(BOX_CFLAGS) $(BOX_SOURCES))

$(OUT)/hone-box.d/%.o: %.c $(OUT)/hone-box.flags
	@mkdir -p $(@D)
	$(call quiet,CC,$<) gcc $(BOX_CFLAGS) -MMD -MP -c $< -o $@

$(BOX): $(BOX_OBJECTS)
	$(call quiet,LD,$@) gcc -pie -fopenmp -Wl,-z,relro,-z,now $(BOX_OBJECTS) -lm -o $@

# Tests: what is tested is built in TEST_MODE, and in release to see its warnings too.

$(UNIT_PROGRAMS): $(OUT)/%: $(OUT)/%.o $(OUT)/parts.a
	$(call quiet,LD,$@) $(CC) $(ALL_LDFLAGS) $< $(OUT)/parts.a -lcmocka $(LIBS) -o $@

# What tests start beside the program: servers that play faults.
$(HELPER_PROGRAMS): $(OUT)/%: $(OUT)/%.o
	$(call quiet,LD,$@) $(CC) $(ALL_LDFLAGS) $< $(LIBS) -o $@

ifneq ($(MODE),fuzz)
$(REPLAY_PROGRAMS): $(OUT)/%: $(OUT)/%.o $(OUT)/tests/fuzz/replay.o $(OUT)/parts.a
	$(call quiet,LD,$@) $(CC) $(ALL_LDFLAGS) $< $(OUT)/tests/fuzz/replay.o $(OUT)/parts.a \
	    $(LIBS) -o $@
endif

ifeq ($(MODE),$(TEST_MODE))
test-programs: all $(UNIT_PROGRAMS) $(REPLAY_PROGRAMS) $(HELPER_PROGRAMS)
else
test-programs: all
	+@$(MAKE) --no-print-directory MODE=$(TEST_MODE) test-programs
endif

test: test-programs
	@tests/run-tests build/$(TEST_MODE)

soak: test-programs
	@for script in tests/soak/*.sh; do \
	    echo "$$script: $(SOAK_SECONDS) s"; \
	    SOAK_SECONDS=$(SOAK_SECONDS) OUT=build/$(TEST_MODE) sh "$$script" || exit 1; \
	done

# Fuzzing, in a mode of its own because libFuzzer is clang's.

ifeq ($(MODE),fuzz)
$(REPLAY_PROGRAMS): $(OUT)/%: $(OUT)/%.o $(OUT)/parts.a
	$(call quiet,LD,$@) $(CC) -fsanitize=fuzzer $(ALL_LDFLAGS) $< $(OUT)/parts.a $(LIBS) -o $@

# New inputs go to build/fuzz/found/NAME/, crashes to build/fuzz/found/NAME-crash-*; what is worth
# keeping is moved to the corpus.
fuzz: $(REPLAY_PROGRAMS)
	@for program in $(REPLAY_PROGRAMS); do \
	    name=$${program##*/fuzz_}; found=$(OUT)/found/$$name; \
	    mkdir -p "$$found"; \
	    echo "fuzz_$$name: $(FUZZ_SECONDS) s"; \
	    ASAN_OPTIONS=allocator_may_return_null=1 \
	    "$$program" -max_total_time=$(FUZZ_SECONDS) -timeout=10 -print_final_stats=1 \
	        -verbosity=0 -artifact_prefix="$$found-" "$$found" \
	        $$(ls -d tests/fuzz/corpus/"$$name" 2>/dev/null) || exit 1; \
	done
else
fuzz:
	+@$(MAKE) --no-print-directory MODE=fuzz fuzz
endif

# Benchmarks: each script prints ratios measured side by side; none fails because of a clock.

# The comparison with libraries is more than one file.
$(OUT)/bench/kernels: $(call objects,$(sort $(wildcard bench/compare/*.c)))

$(BENCH_PROGRAMS): $(OUT)/%: $(OUT)/%.o $(OUT)/parts.a
	$(call quiet,LD,$@) $(CC) $(ALL_LDFLAGS) $(filter %.o,$^) $(OUT)/parts.a $(LIBS) -o $@

bench: $(HONE) $(BENCH_PROGRAMS) $(HELPER_PROGRAMS)
	@for script in $(wildcard bench/*.sh); do \
	    echo "$$script"; HONE=$(CURDIR)/$(OUT)/hone OUT=$(OUT) sh "$$script" || exit 1; \
	done

# Checks of the text. The layers always; the others where they are installed.

FORMATTED := $(wildcard src/*/*.[ch] src/*/*/*.[ch] tests/*/*.[ch] bench/*.[ch] bench/*/*.[ch])

lint:
	@tools/lint-layers
	@if command -v clang-format >/dev/null; then clang-format --dry-run -Werror $(FORMATTED); \
	    else echo 'lint: clang-format is missing, the form was not checked'; fi
	@if command -v cppcheck >/dev/null; then \
	    cppcheck --quiet --error-exitcode=1 --std=c11 --enable=warning,portability \
	        --inline-suppr --suppress=missingIncludeSystem --suppress=normalCheckLevelMaxBranches \
	        -D_GNU_SOURCE -Isrc src; \
	    else echo 'lint: cppcheck is missing'; fi
	@echo 'lint: done'

# Installing.

BIN := $(DESTDIR)$(PREFIX)/bin
LIBDIR := $(DESTDIR)$(PREFIX)/lib
INCLUDE := $(DESTDIR)$(PREFIX)/include
MAN := $(DESTDIR)$(PREFIX)/share/man/man1
LIBEXEC := $(DESTDIR)$(PREFIX)/libexec/hone
COMPLETIONS := $(DESTDIR)$(PREFIX)/share/bash-completion/completions
SHARE := $(DESTDIR)$(PREFIX)/share/hone
SUITES := $(sort $(wildcard suites/*/LIST suites/*/*/LIST))

install: all
	install -d '$(BIN)' '$(LIBDIR)' '$(INCLUDE)' '$(MAN)' '$(COMPLETIONS)' '$(LIBEXEC)'
	$(OUT)/hone help --man >$(OUT)/hone.1
	$(OUT)/hone help --completion >$(OUT)/completion
	install -m 755 $(OUT)/hone '$(BIN)/hone'
	install -m 755 $(BOX) '$(LIBEXEC)/hone-box'
	install -m 644 $(OUT)/libhone.a '$(LIBDIR)/libhone.a'
	install -m 644 $(OUT)/libhone.so.0 '$(LIBDIR)/libhone.so.0'
	ln -sf libhone.so.0 '$(LIBDIR)/libhone.so'
	install -m 644 src/libhone/libhone.h '$(INCLUDE)/libhone.h'
	install -m 644 src/target/header/hone.h '$(INCLUDE)/hone.h'
	install -m 644 $(OUT)/hone.1 '$(MAN)/hone.1'
	install -m 644 $(OUT)/completion '$(COMPLETIONS)/hone'
	for list in $(SUITES); do \
	    folder=$${list%/LIST} && install -d '$(SHARE)'/"$$folder" && \
	    install -m 644 "$$folder"/* '$(SHARE)'/"$$folder" || exit 1; \
	done

clean:
	rm -rf build

help:
	@echo 'make [all]      build/$(MODE)/hone, libhone.a, libhone.so.0; MODE=release|debug|asan|tsan'
	@echo 'make test       the whole test suite, under the sanitizers (TEST_MODE=$(TEST_MODE))'
	@echo 'make lint       layers, and form and cppcheck where those tools are installed'
	@echo 'make fuzz       libFuzzer on every parser, FUZZ_SECONDS=$(FUZZ_SECONDS) each (needs clang)'
	@echo 'make soak       tests/soak/*.sh, SOAK_SECONDS=$(SOAK_SECONDS) each'
	@echo 'make bench      bench/*.sh'
	@echo 'make install    to PREFIX=$(PREFIX), below DESTDIR'
	@echo 'make clean      removes build/'
	@echo 'V=1 shows the commands.'

-include $(patsubst %.o,%.d,$(APP_OBJECTS) $(LIB_OBJECTS))
-include $(patsubst %,%.d,$(UNIT_PROGRAMS) $(REPLAY_PROGRAMS) $(BENCH_PROGRAMS) $(HELPER_PROGRAMS))
-include $(BOX_OBJECTS:.o=.d)
-include $(patsubst %.c,$(OUT)/%.d,$(wildcard bench/compare/*.c))
-include $(OUT)/tests/fuzz/replay.d
