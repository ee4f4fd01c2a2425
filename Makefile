GO      ?= go
LINT    := .bin/golangci-lint-2.12.0
VULN    := .bin/govulncheck-1.3.0
SECONDS ?= 30

# Tests that take long random histories, or processes of their own: they run without the race detector.
LONG := Simulat|Crash|Idle|Demonstration|Scaled|DualRun|ReconnectStorm|Restarts|SDKs|Browser|TestFlaws|TestCompare|TestEngines|TestGrowth|TestLoad

.PHONY: help
help: ## list what there is to make
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: run
run: ## serve on http://127.0.0.1:8080/ with nothing but Go: guests, play money, ./hongbao-data
	$(GO) run ./cmd/hongbao

.PHONY: cluster
cluster: ## Redis, Postgres and three instances on http://127.0.0.1:8080/ and the next ports, for play, until Ctrl-C
	$(GO) build -o .bin/ ./cmd/hongbao ./cmd/hongbao-cluster
	@.bin/hongbao-cluster .bin/hongbao

.PHONY: test
test: vet test-race test-long ## everything that must hold, about 20 minutes on two cores once compiled

.PHONY: vet
vet:
	$(GO) vet ./...
	$(GO) vet -tags crashpoints ./...

.PHONY: engines
engines: ## Redis, Postgres, PgBouncer and a browser, which tests start for themselves: root gets them installed, others are told how
	@missing=$$(PATH="$$PATH:/usr/sbin:/usr/local/sbin$$(printf ':%s' /usr/lib/postgresql/*/bin)"; \
	  for name in redis-server initdb pgbouncer; do command -v $$name >/dev/null || printf ' %s' $$name; done; \
	  for name in chromium-headless-shell headless-shell chromium google-chrome; do command -v $$name >/dev/null && exit; done; \
	  printf ' chromium-headless-shell'); \
	test -n "$$missing" || exit 0; \
	install='apt-get install -y --no-install-recommends redis-server postgresql pgbouncer'; \
	case $$missing in *chromium*) install="$$install chromium-headless-shell" ;; esac; \
	if [ "$$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then \
	  echo "the tests need$$missing: $$install" >&2; exit 1; \
	fi; \
	echo "installing$$missing"; \
	never=/usr/sbin/policy-rc.d; \
	if [ ! -e $$never ]; then \
	  trap "rm -f $$never" EXIT; printf '#!/bin/sh\nexit 101\n' > $$never; chmod +x $$never; \
	fi; \
	export DEBIAN_FRONTEND=noninteractive; \
	apt-get -qq update && $$install -qq >/dev/null

.PHONY: test-race
test-race: engines ## all but the long tests, under the race detector
	$(GO) test -race -skip '$(LONG)' ./...

# Memory and times of the whole program are looked at first, alone; then those who compute fill the time of those who wait.
.PHONY: test-long
test-long: engines ## simulator, model, dual run, crash points, instances, demonstration, idle sockets, storm, restarts, SDKs of others, the page, the bench, without the race detector
	$(GO) test -count=1 -timeout 20m -run '$(LONG)|Model' ./cmd/hongbao
	$(GO) test -count=1 -p 2 -timeout 20m -run '$(LONG)|Model' ./redpacket ./cmd/hongbao-bench ./store/redisstore ./web ./web/client

.PHONY: sim
sim: ## the protocol simulator alone, with its figures
	$(GO) test -count=1 -v -run Simulat ./redpacket

.PHONY: idle
idle: ## memory of 10,000 idle sockets
	$(GO) test -count=1 -v -run Idle ./cmd/hongbao

.PHONY: pictures
pictures: engines ## the main screens of the page, as pictures somewhere below .bin/pictures
	@rm -rf .bin/pictures && mkdir -p .bin/pictures
	$(GO) test -count=1 -run BrowserPictures -artifacts -outputdir .bin/pictures ./cmd/hongbao

.PHONY: bench
bench: engines ## our engines beside their peers in the same run, ten minutes
	$(GO) run ./cmd/hongbao-bench engines

.PHONY: load
load: engines ## users over real sockets, checked while they load: bench-results/load.html, two minutes once compiled
	$(GO) build -o .bin/ ./cmd/hongbao ./cmd/hongbao-bench
	.bin/hongbao-bench load --hongbao .bin/hongbao --json bench-results/load.json --html bench-results/load.html $(LOAD)

.PHONY: compare
compare: engines ## every published scheme beside ours: table, and bench-results/compare.html; five minutes at most
	@mkdir -p bench-results
	$(GO) run ./cmd/hongbao-bench compare --json bench-results/compare.json --html bench-results/compare.html

.PHONY: flaws
flaws: engines ## each flaw of the published schemes reproduced, and the same on ours: table, and bench-results/flaws.html; two minutes
	@mkdir -p bench-results
	$(GO) run ./cmd/hongbao-bench compare --flaws --json bench-results/flaws.json --html bench-results/flaws.html

.PHONY: microbench
microbench: engines ## the benchmarks of all packages
	$(GO) test -run '^$$' -bench . -benchmem ./...

.PHONY: fuzz
fuzz: ## each fuzz test for SECONDS (30)
	@for package in $$($(GO) list ./...); do \
	  for name in $$($(GO) test -list '^Fuzz' $$package | grep ^Fuzz); do \
	    echo "$$package $$name"; \
	    $(GO) test -run '^$$' -fuzz "^$$name$$" -fuzztime $(SECONDS)s -fuzzminimizetime 50x $$package || exit 1; \
	  done; \
	done

# The linters' cache is this clone's own: a shared one knows files by another clone's paths.
.PHONY: lint
lint: $(LINT) ## formatting and golangci-lint
	@unformatted=$$(gofmt -l .); test -z "$$unformatted" || { echo "not formatted, run gofmt -w:"; echo "$$unformatted"; exit 1; }
	GOLANGCI_LINT_CACHE=$(CURDIR)/.bin/lint $(LINT) run ./...

.PHONY: vuln
vuln: $(VULN) ## known vulnerabilities; needs the network
	$(VULN) ./...

$(LINT):
	GOBIN=$(CURDIR)/.bin $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.12.0
	mv .bin/golangci-lint $@

$(VULN):
	GOBIN=$(CURDIR)/.bin $(GO) install golang.org/x/vuln/cmd/govulncheck@v1.3.0
	mv .bin/govulncheck $@

.PHONY: clean
clean: ## remove what was built and installed here; data stays
	rm -rf .bin hongbao
