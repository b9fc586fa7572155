# A build and `make test` need Go and make, nothing else. A C compiler adds the
# race detector. `make check` also fetches its two tools, as source, through the
# module proxy, and builds them into bin/tools: once for each version of them
# and of Go, and outside go.mod, so that what they require never moves a version
# of ours.

GOFUMPT_VERSION       := v0.12.0
GOLANGCI_LINT_VERSION := v2.15.0
GOVULNCHECK_VERSION   := v1.8.0
OASDIFF_VERSION       := v1.33.0

GO    ?= go
ARGS  ?=
TOOLS  = bin/tools/$(shell $(GO) env GOVERSION)

GOFUMPT       = $(TOOLS)/gofumpt-$(GOFUMPT_VERSION)
GOLANGCI_LINT = $(TOOLS)/golangci-lint-$(GOLANGCI_LINT_VERSION)
GOVULNCHECK   = $(TOOLS)/govulncheck-$(GOVULNCHECK_VERSION)
OASDIFF       = $(TOOLS)/oasdiff-$(OASDIFF_VERSION)

# A source archive has no git: its build calls itself unversioned.
VERSION = $(shell git describe --tags --always --dirty 2>/dev/null || echo unversioned)

TEST_TIMEOUT ?= 10m
FUZZTIME     ?= 30s

.DEFAULT_GOAL := build
.PHONY: build test api contract contract-lint contract-page contract-validation contract-breaking contract-live contract-release contract-collection collection collection-sandbox check check-format check-vet check-lint check-layout fmt bench bench-compare capacity demo fuzz dashboard dashboard-check dashboard-test clean distclean vuln vuln-finds powerloss powerloss-mutants torture torture-mutants sim sim-mutants sdk sdk-check sdk-go sdk-node sdk-python sdk-php conformance

build:
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-X main.version=$(VERSION)' -o bin/pingpost ./cmd/pingpost

# The detector needs cgo, and a compiler that can really build: one without the
# C library's headers is found on the path and still fails.
HAS_CC = [ "$$($(GO) env CGO_ENABLED)" = 1 ] && \
	printf '\043include <stdlib.h>\nint main(void){return 0;}\n' | $$($(GO) env CC) -x c -o /dev/null - >/dev/null 2>&1

# The detector allocates on its own account. Tests that count allocations skip
# themselves under it and get a second pass, which is the last to print.
test:
	@if $(HAS_CC); then race=-race; else \
		echo 'no C compiler that works: testing without the race detector'; race=; export CGO_ENABLED=0; fi; \
	set -ex; \
	$(GO) test $$race -timeout $(TEST_TIMEOUT) ./...; \
	$(GO) test -timeout $(TEST_TIMEOUT) -run Alloc ./...

# Each part stands alone; `make -k check` goes through all of them.
check: check-format check-vet check-lint check-layout

check-format: $(GOFUMPT)
	@unformatted=$$($(GOFUMPT) -l .) || exit 1; \
	if [ -n "$$unformatted" ]; then printf 'not formatted (make fmt mends it):\n%s\n' "$$unformatted"; exit 1; fi

check-vet:
	$(GO) vet ./...

check-lint: $(GOLANGCI_LINT)
	$(GOLANGCI_LINT) run ./...

check-layout:
	$(GO) test -run '^TestLayout' .

# What is known to be vulnerable and is called. Fails on findings; where the tool or
# the database cannot be had, it says so in a line, and that is no failure: a machine
# without the open network has nothing to ask.
vuln:
	@$(GO) mod verify
	@said=$$(mktemp); trap 'rm -f $$said' EXIT; code=0; \
	if ! [ -x $(GOVULNCHECK) ] && ! $(MAKE) --no-print-directory $(GOVULNCHECK) >$$said 2>&1; then \
		echo "vuln: nothing was checked, since govulncheck $(GOVULNCHECK_VERSION) cannot be brought here: $$(grep -m1 -v '^[+#]\|downloading' $$said)"; exit 0; \
	fi; \
	$(GOVULNCHECK) $(ARGS) ./... >$$said 2>&1 || code=$$?; \
	if [ $$code -ne 0 ] && grep -q '^govulncheck: fetching vulnerabilities' $$said; then \
		echo "vuln: nothing was checked, since the database cannot be reached: $$(grep -m1 '^govulncheck:' $$said)"; exit 0; \
	fi; \
	cat $$said; exit $$code

# That vuln fails on what is called, and on nothing else: with databases of one made-up
# advisory each, and so without the open network. It takes minutes and can only change
# with the target above or the tool's version, so it is no part of CI.
vuln-finds:
	VULN_FINDS=1 $(GO) test -count=1 -timeout 30m -v ./fuzz/vuln

fmt: $(GOFUMPT)
	$(GOFUMPT) -w .

# What is made from api/errors.yaml. A test fails where that was forgotten.
api:
	$(GO) generate ./api

# These need Node.js and npm, and bring the rest into api/node_modules.
NODE_MODULES = api/node_modules/.made

$(NODE_MODULES): api/package-lock.json
	npm ci --prefix api --ignore-scripts --no-audit --no-fund
	@touch $@

contract-lint: $(NODE_MODULES)
	cd api && REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true ./node_modules/.bin/redocly lint openapi.yaml admin.yaml

# The page's script is that of the package, to the byte.
contract-page: $(NODE_MODULES)
	cmp api/node_modules/redoc/bundles/redoc.standalone.js server/page/dist/redoc.standalone.js

# The tests that hold what goes over the wire against the document.
contract-validation:
	$(GO) test -timeout $(TEST_TIMEOUT) ./api/... ./server ./cmd/pingpost/exchange ./examples/...

contract-breaking: $(OASDIFF)
	sh api/breaking.sh $(CURDIR)/$(OASDIFF)

# The API client collection: made, held to be what would be made, and run against a sandbox.
# The last is such a sandbox to try it by hand, until Ctrl-C.
COLLECTION_MODULES = api/collection/node_modules/.made

$(COLLECTION_MODULES): api/collection/package-lock.json
	npm ci --prefix api/collection --ignore-scripts --no-audit --no-fund
	@touch $@

collection: $(COLLECTION_MODULES)
	node api/collection/make.js

contract-collection: build $(COLLECTION_MODULES)
	npm run --silent check --prefix api/collection
	node api/collection/try.js bin/pingpost

collection-sandbox: build $(COLLECTION_MODULES)
	node api/collection/serve.js bin/pingpost tmp/sandbox.postman_environment.json

# schemathesis on live sandboxes; ARGS="--examples 2000" for longer, ARGS="--seed 7" for another.
# Needs Python 3.10 or newer with venv; the rest is brought into api/live/.venv*.
contract-live: build
	PINGPOST_PROGRAM=$(CURDIR)/bin/pingpost api/live/check $(ARGS)

# All that holds the document and the SDKs to the exchange, and a table of what ran. What a
# program is missing for is skipped, and said. LANES=2 has as many of them run side by side.
contract: build
	api/verify $(or $(LANES),1)

# For whoever makes a release: from now on these documents are what may not be broken.
contract-release:
	mkdir -p api/released && cp api/openapi.yaml api/admin.yaml api/released/

# The operators' page: built, and what it is built from held to its rules. Needs Node.js.
DASHBOARD_MODULES = server/dashboard/node_modules/.made

$(DASHBOARD_MODULES): server/dashboard/package-lock.json
	npm ci --prefix server/dashboard --ignore-scripts --no-audit --no-fund
	@touch $@

dashboard: $(DASHBOARD_MODULES)
	npm run --silent build --prefix server/dashboard

dashboard-check: $(DASHBOARD_MODULES)
	npm run --silent check --prefix server/dashboard

# Through every page, in Debian's chromium, against an exchange that is built here.
# SCREENSHOTS=1 takes those in docs/screenshots anew.
dashboard-test: build $(DASHBOARD_MODULES)
	PINGPOST_PROGRAM=$(CURDIR)/bin/pingpost npm run --silent browse --prefix server/dashboard

bench:
	$(GO) run ./loadtest/bench $(ARGS)

# What got slower since BASE; ARGS=--macro compares the served exchange as well.
bench-compare:
	@test -n '$(BASE)' || { echo 'say with what to compare: make bench-compare BASE=main' >&2; exit 1; }
	$(GO) run ./loadtest/compare --base '$(BASE)' $(ARGS)

# What one node carries, into the README, from the last full bench.
capacity:
	$(GO) run ./loadtest/capacity $(ARGS)

demo: build
	./bin/pingpost demo $(ARGS)

# Ten minutes of faults by default: ARGS="--minutes 30", ARGS=--short; SEED=n repeats a
# run's choices. As root with strace it can do all that it knows; it says what it skips.
torture:
	$(GO) run ./fuzz/torture $(if $(SEED),--seed $(SEED)) $(ARGS)

# The torture against programs that are broken on purpose: it has to find each out.
torture-mutants:
	TORTURE_MUTANTS=1 $(GO) test -count=1 -timeout 30m -run TestTortureFindsMutants -v ./fuzz/torture

# One target at a time, FUZZTIME each; a failure does not keep the rest from running.
fuzz:
	$(GO) run ./fuzz/targets --time $(FUZZTIME) $(ARGS)

# Needs strace, and Linux.
powerloss:
	$(GO) run ./fuzz/powerloss $(ARGS)

powerloss-mutants:
	$(GO) run ./fuzz/powerloss --mutants --lives 3 --points 600 $(ARGS)

# SECONDS, DAYS (of each history) and SEED (that one alone) are options.
sim:
	SIM_SECONDS=$(or $(SECONDS),120) SIM_DAYS=$(or $(DAYS),40) SIM_SEED=$(SEED) SIM_FIRST=$$(date +%s) SIM_SHRINK=300 SIM_CROWDS=100 \
		$(GO) test -count=1 -v -timeout 24h -run '^(TestSimulation|TestCrowd)$$' ./fuzz/sim

sim-mutants:
	SIM_MUTANTS=all $(GO) test -count=1 -v -timeout 2h -run '^TestMutants$$' ./fuzz/sim

# What is generated of the SDKs, from api/openapi.yaml; SDK=go for one alone. Needs Java.
SDK ?= all
sdk:
	sdk/generate $(SDK)

sdk-check:
	sdk/generate --check $(SDK)

# The Go SDK is a module of its own, which go commands at the root do not see.
sdk-go: $(GOFUMPT)
	@unformatted=$$($(GOFUMPT) -l sdk/go) || exit 1; \
	if [ -n "$$unformatted" ]; then printf 'not formatted:\n%s\n' "$$unformatted"; exit 1; fi
	$(GO) -C sdk/go mod tidy -diff
	$(GO) -C sdk/go vet ./...
	@if $(HAS_CC); then race=-race; else race=; export CGO_ENABLED=0; fi; set -x; $(GO) -C sdk/go test $$race -timeout $(TEST_TIMEOUT) ./...

# The Node SDK's types, tests and lint. Its tests speak to the exchange that is built here.
sdk-node: build
	cd sdk/node && npm ci --no-audit --no-fund && PINGPOST_PROGRAM=$(CURDIR)/bin/pingpost npm run check

# The Python SDK's types, lint and tests; PYTHON=python3.9 for another interpreter.
sdk-python: build
	PINGPOST_PROGRAM=$(CURDIR)/bin/pingpost sdk/python/check

# The PHP SDK's manifest, syntax, style and tests, with Debian's PHP packages.
sdk-php: build
	PINGPOST_PROGRAM=$(CURDIR)/bin/pingpost sdk/php/check

# The SDKs (SDK=go for one alone) against a real exchange; ARGS="--only retries" for some cases.
conformance:
	$(GO) run ./sdk/conformance --sdk $(SDK) $(ARGS)

# The tools stay: they take a minute to build and depend on nothing here.
clean:
	rm -rf bin/pingpost bin/fuzz tmp
	find . -path ./.git -prune -o -type f \( -name '*.test' -o -name '*.prof' \) -exec rm -f {} +

distclean: clean
	rm -rf bin

# $(call tool,package,version,name): built in a folder of its own and moved to
# its place, so that neither a build cut short nor two at once leave half a tool.
define tool
	@mkdir -p $(TOOLS) && building=$$(mktemp -d $(CURDIR)/$(TOOLS)/building.XXXXXX) && set -x && \
	CGO_ENABLED=0 GOFLAGS= GOBIN=$$building $(GO) install -trimpath -ldflags '-s -w' $(1)@$(2) && \
	mv $$building/$(3) $@ && rmdir $$building || { rm -rf $$building; exit 1; }
endef

$(GOFUMPT):
	$(call tool,mvdan.cc/gofumpt,$(GOFUMPT_VERSION),gofumpt)

$(GOLANGCI_LINT):
	$(call tool,github.com/golangci/golangci-lint/v2/cmd/golangci-lint,$(GOLANGCI_LINT_VERSION),golangci-lint)

$(OASDIFF):
	$(call tool,github.com/oasdiff/oasdiff,$(OASDIFF_VERSION),oasdiff)

$(GOVULNCHECK):
	$(call tool,golang.org/x/vuln/cmd/govulncheck,$(GOVULNCHECK_VERSION),govulncheck)
