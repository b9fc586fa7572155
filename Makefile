# `make` and `make test` need only Go and make. A C compiler adds the race detector.
# `make check` also downloads the source of two tools through the module proxy and builds
# them into bin/tools, once per version of the tool and of Go. The tools are not in
# go.mod, so that their requirements do not change the versions of our modules.

GOFUMPT_VERSION       := v0.12.0
GOLANGCI_LINT_VERSION := v2.15.0
GOVULNCHECK_VERSION   := v1.8.0
OASDIFF_VERSION       := v1.33.0
BENCHSTAT_VERSION     := v0.0.0-20250813145418-2f7363a06fe1
NFPM_VERSION          := v2.45.1
CYCLONEDX_VERSION     := v1.10.0

GO    ?= go
ARGS  ?=
TOOLS  = bin/tools/$(shell $(GO) env GOVERSION)

GOFUMPT       = $(TOOLS)/gofumpt-$(GOFUMPT_VERSION)
GOLANGCI_LINT = $(TOOLS)/golangci-lint-$(GOLANGCI_LINT_VERSION)
GOVULNCHECK   = $(TOOLS)/govulncheck-$(GOVULNCHECK_VERSION)
OASDIFF       = $(TOOLS)/oasdiff-$(OASDIFF_VERSION)
BENCHSTAT     = $(TOOLS)/benchstat-$(BENCHSTAT_VERSION)
NFPM          = $(TOOLS)/nfpm-$(NFPM_VERSION)
CYCLONEDX     = $(TOOLS)/cyclonedx-gomod-$(CYCLONEDX_VERSION)

# The commit in the version of the program. A source archive has no git, and its version no
# commit.
COMMIT = $(shell git describe --always --abbrev=12 --dirty=.dirty --exclude='*' 2>/dev/null)

TEST_TIMEOUT ?= 10m
LONG_TIMEOUT ?= 30m
FUZZTIME     ?= 30s

.DEFAULT_GOAL := build
.PHONY: build test test-long api contract contract-lint contract-validation contract-breaking contract-live contract-release contract-collection collection collection-sandbox check check-format check-vet check-lint check-layout check-docs fmt bench bench-compare bench-prebid capacity demo demo-cluster fuzz dashboard dashboard-check dashboard-test docs docs-check docs-test clean distclean vuln powerloss powerloss-mutants powerloss-cluster powerloss-cluster-mutants torture torture-cluster torture-mutants histories histories-mutants sim sim-mutants scale-sim sdk sdk-check sdk-go sdk-node sdk-python sdk-php conformance release package-tool

build:
	CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=false -ldflags '-X pingpost/internal/version.commit=$(COMMIT)' -o bin/pingpost ./cmd/pingpost

# The race detector needs cgo and a C compiler with the headers of the C library. The
# check compiles a program, because a compiler without headers is on the path too.
HAS_CC = [ "$$($(GO) env CGO_ENABLED)" = 1 ] && \
	printf '\043include <stdlib.h>\nint main(void){return 0;}\n' | $$($(GO) env CC) -x c -o /dev/null - >/dev/null 2>&1

# `make test` runs all tests with -short, in at most six minutes on two cores. Tests that
# take longer by nature call testing.Short and then skip themselves or try fewer inputs.
# It tests three packages at a time, because tests that wait leave the processors idle. Four took
# longer: they compete for two processors.
# `make test-long` runs everything except the layout rules, which `make check` runs; each change has
# to pass all three, and CI runs `make check` and `make test-long`.
test:
	@$(call run-tests,-short -p 3 -timeout $(TEST_TIMEOUT),Alloc)

test-long:
	@$(call run-tests,-skip '^TestLayout' -p 3 -timeout $(LONG_TIMEOUT),Alloc|PowerCut)

# The detector does not watch SQLite, which is translated from C and takes five times as long with
# it. It still watches our calls of SQLite and package database/sql. Nor does it watch the password
# hash in x/crypto: each hash fills 19 MiB, and the detector four times that for its own records.
RACE = -race -gcflags=modernc.org/...=-race=false -gcflags=golang.org/x/crypto/...=-race=false

# $(call run-tests,FLAGS,NAMES): the race detector allocates memory, so that tests which count
# allocations have "Alloc" in their names, skip themselves under it, and run in a pass
# without it. In make test-long, that pass also runs tests with "PowerCut" in their names: they
# cut the power at each log entry, which takes ten times as long with the detector, and with it
# at every ninth. The pass over everything is the last, so that its result is the last line.
# Without vet, because make check runs all of it.
define run-tests
	if $(HAS_CC); then race='$(RACE)'; else \
		echo 'no working C compiler: testing without the race detector'; race=; export CGO_ENABLED=0; fi; \
	code=0; set -x; \
	$(GO) test -vet=off $(1) -run '$(2)' $$($(call packages-with-tests,$(2))) || code=1; \
	$(GO) test -vet=off $(1) $$race ./... || code=1; \
	{ set +x; } 2>/dev/null; exit $$code
endef

# $(call packages-with-tests,NAMES) lists the folders with tests of these names. The other
# packages need no second build.
packages-with-tests = $(GO) list -f '{{$$dir := .Dir}}{{range .TestGoFiles}}{{$$dir}}/{{.}}{{"\n"}}{{end}}{{range .XTestGoFiles}}{{$$dir}}/{{.}}{{"\n"}}{{end}}' ./... | \
	xargs grep -lE '^func Test[A-Za-z0-9_]*($(1))' | xargs -n1 dirname | sort -u

# The parts are independent. `make -k check` runs the rest after a failure.
check: check-format check-vet check-lint check-layout check-docs

check-format: $(GOFUMPT)
	@unformatted=$$($(GOFUMPT) -l .) || exit 1; \
	if [ -n "$$unformatted" ]; then printf 'not formatted (run make fmt):\n%s\n' "$$unformatted"; exit 1; fi
	@! git grep -nE '^(<{7}|>{7}) ' || { echo 'resolve these merge conflicts' >&2; exit 1; }

check-vet:
	$(GO) vet ./...

check-lint: $(GOLANGCI_LINT)
	$(GOLANGCI_LINT) run ./...

# -count=1, because the go command does not know that git's history is an input.
check-layout:
	$(GO) test -count=1 -run '^TestLayout' ./internal/layout

# Only where make docs has installed its modules, because make check needs no npm.
check-docs:
	@if [ -e $(DOCS_MODULES) ]; then $(MAKE) --no-print-directory docs-check; else echo 'check-docs: not checked: run make docs once to install its modules'; fi

# Reports calls of code with known vulnerabilities, and fails if there are any. Without
# access to the tool or the database it prints one line and succeeds, because a machine
# without the internet cannot check.
vuln:
	@$(GO) mod verify
	@output=$$(mktemp); trap 'rm -f $$output' EXIT; code=0; \
	if ! [ -x $(GOVULNCHECK) ] && ! $(MAKE) --no-print-directory $(GOVULNCHECK) >$$output 2>&1; then \
		echo "vuln: not checked: cannot build govulncheck $(GOVULNCHECK_VERSION): $$(grep -m1 -v '^[+#]\|downloading' $$output)"; exit 0; \
	fi; \
	$(GOVULNCHECK) $(ARGS) ./... >$$output 2>&1 || code=$$?; \
	if [ $$code -ne 0 ] && grep -q '^govulncheck: fetching vulnerabilities' $$output; then \
		echo "vuln: not checked: cannot reach the vulnerability database: $$(grep -m1 '^govulncheck:' $$output)"; exit 0; \
	fi; \
	cat $$output; exit $$code

fmt: $(GOFUMPT)
	$(GOFUMPT) -w .

# Generates code and documents from api/errors.yaml. A test fails if they are stale.
api:
	$(GO) generate ./api

# These targets need Node.js and npm, and install their packages into api/node_modules.
NODE_MODULES = api/node_modules/.made

$(NODE_MODULES): api/package-lock.json
	npm ci --prefix api --ignore-scripts --no-audit --no-fund
	@touch $@

contract-lint: $(NODE_MODULES)
	cd api && REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true ./node_modules/.bin/redocly lint openapi.yaml admin.yaml

# The tests that compare requests and responses with the OpenAPI documents.
contract-validation:
	$(GO) test -timeout $(TEST_TIMEOUT) ./api/... ./server/... ./exchange ./examples/...

contract-breaking: $(OASDIFF)
	sh api/breaking.sh $(CURDIR)/$(OASDIFF)

# collection generates the API client collection. contract-collection checks that it is
# not stale and runs it against a sandbox. collection-sandbox starts a sandbox for manual
# use, until Ctrl-C.
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

# Runs schemathesis against sandboxes. ARGS="--examples 2000" runs longer, ARGS="--seed 7"
# selects other inputs. Needs Python 3.10 or newer with venv; installs its packages into
# api/live/.venv*.
contract-live: build
	PINGPOST_PROGRAM=$(CURDIR)/bin/pingpost api/live/check $(ARGS)

# Runs all checks of the OpenAPI documents and the SDKs against the exchange, and prints a
# table of results. It skips and reports checks whose programs are missing. LANES=2 runs
# two groups of checks in parallel.
contract: build
	api/verify $(or $(LANES),1)

# For a release: contract-breaking compares later documents with these.
contract-release:
	mkdir -p api/released && cp api/openapi.yaml api/admin.yaml api/released/

# The operators' dashboard: dashboard builds it, dashboard-check checks types, rules and
# the committed build. Both need Node.js.
DASHBOARD_MODULES = server/dashboard/node_modules/.made

$(DASHBOARD_MODULES): server/dashboard/package-lock.json
	npm ci --prefix server/dashboard --ignore-scripts --no-audit --no-fund
	@touch $@

dashboard: $(DASHBOARD_MODULES)
	npm run --silent build --prefix server/dashboard

dashboard-check: $(DASHBOARD_MODULES)
	npm run --silent check --prefix server/dashboard

# Opens every page in Debian's chromium, with an exchange from this tree. SCREENSHOTS=1
# replaces the screenshots in docs/screenshots.
dashboard-test: build $(DASHBOARD_MODULES)
	PINGPOST_PROGRAM=$(CURDIR)/bin/pingpost npm run --silent browse --prefix server/dashboard

# The documentation site: docs builds it, docs-check checks the committed build and the
# spelling, docs-test opens pages in Debian's chromium. All need Node.js.
DOCS_MODULES = docs/site/node_modules/.made

$(DOCS_MODULES): docs/site/package-lock.json
	npm ci --prefix docs/site --ignore-scripts --no-audit --no-fund
	@touch $@

docs: $(DOCS_MODULES)
	rm -rf server/docsite/dist
	npm run --silent build --prefix docs/site

docs-check: $(DOCS_MODULES)
	npm run --silent check --prefix docs/site

docs-test: build $(DOCS_MODULES)
	PINGPOST_PROGRAM=$(CURDIR)/bin/pingpost npm run --silent browse --prefix docs/site

bench:
	$(GO) run ./loadtest/bench $(ARGS)

# Compares the working tree with BASE; ARGS=--macro compares the served exchanges too.
bench-compare: $(BENCHSTAT)
	@test -n '$(BASE)' || { echo 'bench-compare needs a revision: make bench-compare BASE=main' >&2; exit 1; }
	BENCHSTAT=$(CURDIR)/$(BENCHSTAT) loadtest/compare.sh --base '$(BASE)' $(ARGS)

# Compares auctions with prebid-server, from a checkout of github.com/prebid/prebid-server (measured: v4.8.0).
bench-prebid:
	@test -n '$(PREBID)' || { echo 'bench-prebid needs a checkout of github.com/prebid/prebid-server: make bench-prebid PREBID=../prebid-server' >&2; exit 1; }
	$(GO) run ./loadtest/bench --only prebid --prebid '$(PREBID)' $(ARGS)

# Computes the capacity of one node from the last full bench, and writes it into docs/benchmarks.md.
capacity:
	loadtest/capacity.sh $(ARGS)

demo: build
	./bin/pingpost demo $(ARGS)

# A cluster of three nodes on this machine; ARGS=--once kills its leader and ends.
demo-cluster: build
	@PINGPOST=$(CURDIR)/bin/pingpost examples/cluster/run.sh $(ARGS)

# Injects faults into running exchanges for ten minutes. ARGS="--minutes 30" and
# ARGS=--short change the duration; SEED=n repeats the choices of a run. All faults need
# root and strace; it reports the faults that it skips.
torture:
	$(GO) test -count=1 -timeout 0 -v -run '^TestTorture$$' ./fuzz/torture -args --minutes 10 $(if $(SEED),--seed $(SEED)) $(ARGS)

# The same for the three nodes of a cluster. Partitions need root and network namespaces.
torture-cluster:
	$(GO) test -count=1 -timeout 0 -v -run '^TestTortureCluster$$' ./fuzz/torture -args --minutes 10 $(if $(SEED),--seed $(SEED)) $(ARGS)

# Runs the torture against mutants, and fails if it does not detect one of them.
torture-mutants:
	TORTURE_MUTANTS=1 $(GO) test -count=1 -timeout 60m -run TestTortureDetectsMutants -v ./fuzz/torture

# Runs concurrent clients against a cluster in 200 histories, each with a fault, and checks that each
# history is linearizable. ARGS="--histories 20 --only hand-over" changes the number and the fault.
histories:
	$(GO) test -count=1 -timeout 0 -v -run '^TestHistories$$' ./fuzz/history -args --histories 200 $(if $(SEED),--seed $(SEED)) $(ARGS)

# Runs the histories against mutants, and fails if they do not detect one of them.
histories-mutants:
	HISTORIES_MUTANTS=1 $(GO) test -count=1 -timeout 1h -run TestHistoriesDetectMutants -v ./fuzz/history

# Runs each fuzz target for FUZZTIME, one after the other, also after a failure.
fuzz:
	$(GO) run ./fuzz/targets --time $(FUZZTIME) $(ARGS)

# Simulates power losses of a recorded exchange. Needs Linux and strace.
powerloss:
	$(GO) run ./fuzz/powerloss $(ARGS)

powerloss-mutants:
	$(GO) run ./fuzz/powerloss --mutants --lives 3 --points 600 $(ARGS)

# The same for the three nodes of a cluster, each with its log and Raft's log.
powerloss-cluster:
	$(GO) run ./fuzz/powerloss --cluster $(ARGS)

powerloss-cluster-mutants:
	$(GO) run ./fuzz/powerloss --cluster --mutants --lives 2 --points 600 $(ARGS)

# Plays random histories against the engine and a model of it. SECONDS is the duration,
# DAYS the length of each history; SEED plays one history.
sim:
	SIM_SECONDS=$(or $(SECONDS),120) SIM_DAYS=$(or $(DAYS),40) SIM_SEED=$(SEED) SIM_FIRST=$$(date +%s) SIM_SHRINK=300 SIM_CROWDS=100 \
		$(GO) test -count=1 -v -timeout 24h -run '^(TestSimulation|TestConcurrentRequests)$$' ./fuzz/sim

sim-mutants:
	SIM_MUTANTS=all $(GO) test -count=1 -v -timeout 2h -run '^TestMutants$$' ./fuzz/sim

# Simulates partitions that share caps by grants (docs/design/scale.md): a million leads with each
# policy. ARGS="--policy halving --seed 7" selects a policy and other choices.
scale-sim:
	$(GO) run ./fuzz/scale $(ARGS)

# Generates the models of the SDKs from api/openapi.yaml; SDK=go selects one. Needs Java.
SDK ?= all
sdk:
	sdk/generate $(SDK)

sdk-check:
	sdk/generate --check $(SDK)

# The Go SDK is another module, which go commands in the root ignore.
sdk-go: $(GOFUMPT)
	@unformatted=$$($(GOFUMPT) -l sdk/go) || exit 1; \
	if [ -n "$$unformatted" ]; then printf 'not formatted:\n%s\n' "$$unformatted"; exit 1; fi
	$(GO) -C sdk/go mod tidy -diff
	$(GO) -C sdk/go vet ./...
	@if $(HAS_CC); then race=-race; else race=; export CGO_ENABLED=0; fi; set -x; $(GO) -C sdk/go test $$race -timeout $(TEST_TIMEOUT) ./...

# Checks types, tests and lint of the Node SDK, with an exchange from this tree.
sdk-node: build
	cd sdk/node && npm ci --no-audit --no-fund && PINGPOST_PROGRAM=$(CURDIR)/bin/pingpost npm run check

# Checks types, lint and tests of the Python SDK; PYTHON=python3.9 selects the interpreter.
sdk-python: build
	PINGPOST_PROGRAM=$(CURDIR)/bin/pingpost sdk/python/check

# Checks manifest, syntax, style and tests of the PHP SDK, with Debian's PHP packages.
sdk-php: build
	PINGPOST_PROGRAM=$(CURDIR)/bin/pingpost sdk/php/check

# Tests the SDKs (SDK=go: one) against an exchange; ARGS="--only retries" selects cases.
conformance:
	$(GO) run ./sdk/conformance --sdk $(SDK) $(ARGS)

# Builds the files of a release twice, and fails if the two builds differ: programs, deb, rpm,
# container image, SBOMs and checksums for all architectures, in bin/release.
release: $(NFPM) $(CYCLONEDX)
	rm -rf bin/release bin/release.again
	for folder in bin/release bin/release.again; do \
		GO=$(GO) NFPM=$(CURDIR)/$(NFPM) CYCLONEDX=$(CURDIR)/$(CYCLONEDX) deploy/release.sh $$folder || exit 1; done
	cmp bin/release/SHA256SUMS bin/release.again/SHA256SUMS
	rm -rf bin/release.again
	@ls -l bin/release

# The test of the Debian package finds the tool by the path that this prints.
package-tool: $(NFPM)
	@echo $(CURDIR)/$(NFPM)

# Keeps the tools: they take a minute to build and do not depend on this tree.
clean:
	rm -rf bin/pingpost bin/fuzz bin/release bin/release.again tmp
	find . -path ./.git -prune -o -type f \( -name '*.test' -o -name '*.prof' \) -exec rm -f {} +

distclean: clean
	rm -rf bin

# $(call tool,package,version,name) builds a tool in a temporary folder and then moves it,
# so that an interrupted build and two parallel builds leave no incomplete tool.
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

$(BENCHSTAT):
	$(call tool,golang.org/x/perf/cmd/benchstat,$(BENCHSTAT_VERSION),benchstat)

$(NFPM):
	$(call tool,github.com/goreleaser/nfpm/v2/cmd/nfpm,$(NFPM_VERSION),nfpm)

$(CYCLONEDX):
	$(call tool,github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod,$(CYCLONEDX_VERSION),cyclonedx-gomod)

$(GOVULNCHECK):
	$(call tool,golang.org/x/vuln/cmd/govulncheck,$(GOVULNCHECK_VERSION),govulncheck)
