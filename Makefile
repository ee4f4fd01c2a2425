GO      ?= go
LINT    := .bin/golangci-lint-2.12.0
VULN    := .bin/govulncheck-1.3.0
RELEASE := .bin/goreleaser-2.15.1
SBOM    := .bin/cyclonedx-gomod
SECONDS ?= 30
HOURS   ?= 1
SEED    ?= 0

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: run
run: ## serve on http://127.0.0.1:8080/ with nothing but Go: guests, play money, ./hongbao-data
	$(GO) run ./cmd/hongbao

.PHONY: cluster
cluster: ## Redis, Postgres and three instances on http://127.0.0.1:8080/ and the next ports, for play, until Ctrl-C
	$(GO) build -o .bin/ ./cmd/hongbao ./cmd/hongbao-cluster
	@.bin/hongbao-cluster .bin/hongbao

.PHONY: test
test: ## the tests, 15 minutes on two cores, and two more if nothing is compiled yet; ENGINES=off leaves out those that need Redis, Postgres or a browser
	@engines=$$(.ci/engines) && ENGINES=$$engines GO="$(GO)" .ci/test

.PHONY: page
page: ## each view of the page in a browser, with axe-core; seven to nine minutes more
	@engines=$$(.ci/engines) && ENGINES=$$engines GO="$(GO)" .ci/test page

.PHONY: long
long: ## each kind of fault, long random histories, the benchmark's programs, crowds and memory; nine minutes more
	@engines=$$(.ci/engines) && ENGINES=$$engines GO="$(GO)" .ci/test long

.PHONY: e2e
e2e: engines ## the end-to-end tests alone, with the output of each
	$(GO) test -count=1 -p 1 -timeout 20m -v ./cmd/hongbao/e2e/...

.PHONY: engines
engines: ## Redis, Postgres, PgBouncer and a browser for tests: root gets them installed
	@test "$$(.ci/engines)" = on

# Longer checks than those of make test. web/docs/evidence.md has their results.

.PHONY: sim
sim: ## the protocol simulator with 200,000 schedules, and its figures
	$(GO) test -count=1 -timeout 60m -v -run Simulat ./redpacket

.PHONY: mutants
mutants: engines ## small faults in the code, one at a time: which does no test notice? MUTANTS="--only hub" tries some
	nice $(GO) run ./cmd/hongbao-mutants $(MUTANTS)

.PHONY: soak
soak: engines ## crash points, faults, restarts and crowds ten times over, at other moments each time; an hour
	$(GO) test -count=10 -p 1 -timeout 120m -run 'CrashPoints|Faults|Restarts|Crowd' ./cmd/hongbao/e2e/crash ./cmd/hongbao/e2e/scaled ./cmd/hongbao/e2e/load

.PHONY: upgrade
upgrade: engines ## rolling upgrade from an older commit to a version with another schema, under load, and back; some minutes
	$(GO) test -count=1 -timeout 30m -v -run TestRollingUpgrade ./cmd/hongbao/e2e/proxies -upgrade

.PHONY: citus-test
citus-test: engines ## the tests on Citus, a coordinator and two workers: needs the extension in this machine's Postgres, or CITUS, the folder of its configured source, from which it is installed; 20 minutes
	$(if $(CITUS),$(MAKE) -C $(CITUS) install-extension)
	$(GO) test -count=1 -timeout 40m ./store/pgstore -citus -parallel 5 \
	  -run '^Test(Store|Ledger|Events|Fundings|Security|LedgerWithDataKey|Twins|Citus.*|Buckets.*|EachTable.*|Concurrent.*|(Settle|Send|End|Adjust|Append|Join|Leave|CreateRoom)WhoseCommitWasLost)$$'
	$(GO) test -count=1 -timeout 20m ./cmd/hongbao/e2e/crash -citus -run '^TestCitusFaults$$'
	$(GO) test -count=1 -timeout 10m ./cmd/hongbao/e2e/embedded -citus -run '^TestDemonstration$$'

.PHONY: npm
npm: ## the JavaScript SDK as an npm package in .bin/npm, installed, compiled and run; a client from OpenAPI; the linters of both documents
	@rm -rf .bin/npm && mkdir -p .bin/npm
	$(GO) test -count=1 -timeout 20m -v -artifacts -outputdir .bin/npm ./cmd/hongbao/e2e/npm

# Only imports and names of packages change: "hongbao/…" also begins what is hashed, and that must stay.
.PHONY: module
module: ## give the module another path, for a repository that other modules import from: MODULE=github.com/you/hongbao; then commit
	@test -n "$(MODULE)" || { echo "which path? make module MODULE=github.com/you/hongbao"; exit 2; }
	old=$$($(GO) list -m) && packages='(chat|cmd|hub|migrations|redpacket|store|web)' && \
	  find . -name '*.go' -not -path './.bin/*' | xargs grep -lE "\"$$old/$$packages[/.\"]" | \
	  xargs sed -i.before -E "s#\"$$old/$$packages([/.\"])#\"$(MODULE)/\1\2#g"
	find . -name '*.go.before' -delete
	$(GO) mod edit -module $(MODULE)

.PHONY: outside
outside: ## the Go SDK as other modules use it: the example bot, and a copy of the repository with another module path
	$(GO) test -count=1 -timeout 30m -v -run 'TestBotOutside|TestModulePath' ./cmd/hongbao/e2e/sdk -module

.PHONY: debian
debian: ## an empty Debian with nothing but the program: installed, backed up, restored and upgraded by web/docs/one-machine.md; root, who gets debootstrap installed
	@command -v debootstrap >/dev/null || { command -v apt-get >/dev/null && test "$$(id -u)" = 0 && apt-get install -y --no-install-recommends debootstrap; } || \
	  { echo "debootstrap is missing: install Debian's package debootstrap, and run as root"; exit 2; }
	$(GO) test -count=1 -timeout 30m -v -run TestEmptyDebian ./cmd/hongbao/e2e/debian

.PHONY: image
image: ## the last stage of the Dockerfile, built by buildah and served from; root, who gets buildah installed
	@command -v buildah >/dev/null || { command -v apt-get >/dev/null && test "$$(id -u)" = 0 && apt-get install -y --no-install-recommends buildah; } || \
	  { echo "buildah is missing: install Debian's package buildah, and run as root"; exit 2; }
	$(GO) test -count=1 -timeout 30m -v -run TestImage ./cmd/hongbao/e2e/debian

.PHONY: observe
observe: engines ## metrics, alerts and dashboard under promtool, of the package prometheus, which root gets installed (96 MB); the unit under systemd-analyze
	@command -v promtool >/dev/null || { command -v apt-get >/dev/null && test "$$(id -u)" = 0 && apt-get install -y --no-install-recommends prometheus; } || \
	  { echo "promtool is missing: install Debian's package prometheus"; exit 2; }
	$(GO) test -count=1 -v -run 'Alerts|Queries|TestMetricsOf|TestSystemdUnit' ./web/docs ./cmd/hongbao


.PHONY: release
release: $(RELEASE) $(SBOM) ## the files of a release in .bin/dist, nothing is published: programs for six systems, SBOM, checksums, which are then checked
	$(RELEASE) check
	PATH=$(CURDIR)/.bin:$$PATH $(RELEASE) release --snapshot --clean --parallelism 2
	cd .bin/dist && sha256sum --quiet -c checksums.txt && ls *.tar.gz *.zip *.sbom.json
	.bin/dist/hongbao_linux_amd64_v1/hongbao version

# The test is built first and then run by itself: so Ctrl-C reaches it, and it stops all that it has started.
.PHONY: chaos
chaos: engines ## random faults under load for HOURS (1), checked after each; SEED of a fault begins with that fault; ON=citus keeps the data in a Citus cluster; logs in .bin/chaos
	@mkdir -p .bin/chaos
	$(GO) test -c -o .bin/chaos/chaos.test ./cmd/hongbao/e2e/chaos
	@cd cmd/hongbao/e2e/chaos && $(CURDIR)/.bin/chaos/chaos.test -test.v -test.timeout 0 -test.run '^TestChaos$$' \
	  -chaos.hours $(HOURS) -chaos.seed $(SEED) -chaos.only '$(ONLY)' $(if $(filter citus,$(ON)),-chaos.citus) -chaos.out $(CURDIR)/.bin/chaos

.PHONY: host
host: engines ## two back ends of hosts, in Go and Node, that must receive every event of ten minutes while two of three instances are killed
	$(GO) test -count=1 -timeout 40m -v ./cmd/hongbao/e2e/host -host.seconds 600 -host.users 10000 -host.rooms 500

.PHONY: storm
storm: ## 5,000 clients that reconnect at once, and how long they take
	$(GO) test -count=1 -v -run ReconnectStorm ./cmd/hongbao/e2e/load

.PHONY: idle
idle: ## memory of 10,000 idle sockets
	$(GO) test -count=1 -v -run Idle ./cmd/hongbao/e2e/load

.PHONY: pictures
pictures: engines ## the main views of the page, as pictures below .bin/pictures
	@rm -rf .bin/pictures && mkdir -p .bin/pictures
	$(GO) test -count=1 -run BrowserPictures -artifacts -outputdir .bin/pictures ./cmd/hongbao/e2e/browser

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
lint: $(LINT) ## formatting, golangci-lint, and go vet of what only a build tag compiles
	@unformatted=$$(gofmt -l .); test -z "$$unformatted" || { echo "not formatted, run gofmt -w:"; echo "$$unformatted"; exit 1; }
	GOLANGCI_LINT_CACHE=$(CURDIR)/.bin/lint $(LINT) run ./...
	$(GO) vet -tags crashpoints ./redpacket/... ./store/... ./cmd/hongbao

.PHONY: vuln
vuln: $(VULN) ## known vulnerabilities; needs the network
	$(VULN) ./...

$(LINT):
	GOBIN=$(CURDIR)/.bin $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.12.0
	mv .bin/golangci-lint $@

$(VULN):
	GOBIN=$(CURDIR)/.bin $(GO) install golang.org/x/vuln/cmd/govulncheck@v1.3.0
	mv .bin/govulncheck $@

$(RELEASE):
	GOBIN=$(CURDIR)/.bin $(GO) install github.com/goreleaser/goreleaser/v2@v2.15.1
	mv .bin/goreleaser $@

$(SBOM):
	GOBIN=$(CURDIR)/.bin $(GO) install github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0

.PHONY: clean
clean: ## remove what was built and installed here; data stays
	rm -rf .bin hongbao
