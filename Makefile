# Makefile -- short names for what Meson builds and tests.  `make help` lists them.
#
#   build/        release, with symbols: the command is build/maki
#   build/asan    AddressSanitizer and UBSan: what the tests run on
#   build/tsan    ThreadSanitizer: what has threads of its own
#   build/clang   the same sources through clang's warnings
#   build/fuzz    the fuzz targets            build/bench   the benchmarks and their peers

JOBS    := $(shell nproc)
SECONDS := 60
T       :=
others  := asan tsan clang fuzz bench
sources  = $(shell find src include tests fuzz bench -name '*.[ch]' 2>/dev/null | sort)

# In meson 1.0, --buildtype=release would win over -Ddebug=true; -Dbuildtype=release does not.
build/build.ninja:       options = -Dbuildtype=release -Ddebug=true -Dpkgconfig.relocatable=true -Dprefix=$(PREFIX)
build/asan/build.ninja:  options = -Dbuildtype=debug -Doptimization=1 \
                                   -Db_sanitize=address,undefined -Db_lundef=false
build/tsan/build.ninja:  options = -Dbuildtype=debug -Doptimization=1 -Db_sanitize=thread -Db_lundef=false
build/clang/build.ninja: options = -Dbuildtype=release -Dwerror=true
build/fuzz/build.ninja:  options = -Dbuildtype=debug -Doptimization=1 -Dfuzz=true \
                                   -Db_sanitize=address,undefined -Db_lundef=false
build/bench/build.ninja: options = -Dbuildtype=release -Ddebug=true -Dbench=true
build/clang/build.ninja build/fuzz/build.ninja: export CC = clang-14

PREFIX  ?= /usr/local

.PHONY: build run install check test test-agents test-all stress bench fuzz fmt fmt-check layers words cost cost-update clean help
.PHONY: $(others:%=build-%)

build: build/build.ninja ## build the library and the command, build/maki
	@scripts/build build -j$(JOBS)

run: ## install what is missing, build, start the daemon and print the address of its page (Ctrl-C stops it)
	@scripts/setup
	@$(MAKE) --no-print-directory build/build.ninja
	@scripts/build build -j$(JOBS) programs
	@exec build/maki serve

install: build/build.ninja ## install programs, library, headers, man pages and completion (PREFIX=/usr/local DESTDIR=)
	@grep -qx 'prefix = $(PREFIX)' build/meson-private/cmd_line.txt || meson configure build -Dprefix=$(PREFIX)
	@scripts/build build -j$(JOBS) programs library
	@meson install -C build --no-rebuild --quiet $(if $(DESTDIR),--destdir $(abspath $(DESTDIR)))
	@[ -n "$(DESTDIR)" ] || ldconfig 2>/dev/null || true

check: ## the fast tests, for every commit (under 3 minutes)
	@scripts/test fast

test: ## everything that users and CI run; ends with "N passed, N failed"
	@scripts/test

test-agents: ## real agents through the proxy (fetches 1.5 GB the first time)
	@scripts/test agents

test-all: ## test, then the agents, the long tests of the daemon (chaos) and fuzz
	@scripts/test
	@scripts/test agents
	@scripts/test chaos
	@$(MAKE) --no-print-directory fuzz

stress: build build-asan ## the tests that start processes 30 times, ten of them under load (hours)
	@scripts/stress

bench: build build-bench ## measure, side by side with the peers
	@bench/run

fuzz: build-fuzz ## fuzz every target for 60 s (T=name for one, SECONDS=n)
	@scripts/fuzz "$(SECONDS)" "$(T)"

fmt: ## rewrite the layout of the C files
	@clang-format-14 -i $(sources)

fmt-check:
	@clang-format-14 --dry-run -Werror --ferror-limit=5 $(sources) \
	    || { echo "fmt: make fmt settles it"; exit 1; }

layers: ## draw which directory of src/ includes which; fail on an arrow back and on two things of one name
	@scripts/layers --self-test
	@scripts/layers

words: ## find words that have a usual term (CONTRIBUTING.md)
	@scripts/words

cost: build ## count the instructions of each operation; fail when one grew by over 5 %
	@scripts/cost

cost-update: build ## record today's instruction counts in tests/cost/figures
	@scripts/cost --update

clean: ## remove what was built (fetched packages and the corpus stay)
	@find build -mindepth 1 -maxdepth 1 ! -name 'npm*' ! -name data ! -name corpus ! -name clients -exec rm -rf {} + 2>/dev/null || true

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' Makefile

$(others:%=build-%): build-%: build/%/build.ninja
	@scripts/build build/$* -j$(JOBS)

build/build.ninja $(others:%=build/%/build.ninja): Makefile
	@for tool in meson $(CC); do command -v $$tool >/dev/null || { echo "$$tool is missing: run scripts/setup --tests"; exit 1; }; done
	@echo "configure $(@D)"
	@mkdir -p $(@D)
	@meson setup $(if $(wildcard $@),--reconfigure) $(@D) $(options) >$(@D)/configure.log 2>&1 \
	    || { cat $(@D)/configure.log; exit 1; }
	@touch $@
