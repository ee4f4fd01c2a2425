GO      ?= go
LINT    := .bin/golangci-lint-2.12.0
VULN    := .bin/govulncheck-1.3.0
RELEASE := .bin/goreleaser-2.15.1
SBOM    := .bin/cyclonedx-gomod
SECONDS ?= 30
HOURS   ?= 1
SEED    ?= 0
MATCH   ?= engines

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: run
run: ## serve on http://127.0.0.1:8080/ with nothing but Go: guests, play money, ./hongbao-data
	@echo "compiling; the first time takes a minute or two"
	@$(GO) run ./cmd/hongbao

.PHONY: cluster
cluster: ## Redis, Postgres and three instances on http://127.0.0.1:8080/ and the next ports, for play, until Ctrl-C
	$(GO) build -o .bin/ ./cmd/hongbao ./cmd/hongbao-cluster
	@.bin/hongbao-cluster .bin/hongbao

.PHONY: test
test: ## the tests, five minutes on two cores, less if few changed; FRESH=1 runs all, ENGINES=off leaves out those that need Redis, Postgres or a browser
	@engines=$$(.ci/engines) && ENGINES=$$engines GO="$(GO)" FRESH=$(FRESH) .ci/test

.PHONY: nightly
nightly: engines ## everything else, in parts of at most 15 minutes; what has passed at this commit is not run again; PART="race page" runs these
	@GO="$(GO)" CITUS="$(CITUS)" .ci/nightly $(PART)

.PHONY: engines
engines: # Redis, Postgres, PgBouncer and a browser for tests: root gets them installed
	@test "$$(.ci/engines)" = on

.PHONY: mutants
mutants: engines ## small faults in the code, one at a time: which does no test notice? SINCE=main: of changed packages; PART=redpacket: of one folder
	nice $(GO) run ./cmd/hongbao-mutants --only "$(PART)" --since "$(SINCE)"

# Only imports and names of packages change: "hongbao/…" also begins what is hashed, and that must stay.
.PHONY: module
module: ## give the module another path, for a repository that other modules import from: MODULE=github.com/you/hongbao; then commit
	@test -n "$(MODULE)" || { echo "which path? make module MODULE=github.com/you/hongbao"; exit 2; }
	old=$$($(GO) list -m) && packages='(chat|cmd|hub|migrations|redpacket|store|web)' && \
	  find . -name '*.go' -not -path './.bin/*' | xargs grep -lE "\"$$old/$$packages[/.\"]" | \
	  xargs sed -i.before -E "s#\"$$old/$$packages([/.\"])#\"$(MODULE)/\1\2#g"
	find . -name '*.go.before' -delete
	$(GO) mod edit -module $(MODULE)

.PHONY: release
release: $(RELEASE) $(SBOM) ## the files of a release in .bin/dist, nothing is published: programs for six systems, SBOM, checksums, which are then checked
	$(RELEASE) check
	PATH=$(CURDIR)/.bin:$$PATH $(RELEASE) release --snapshot --clean --parallelism 2
	cd .bin/dist && sha256sum --quiet -c checksums.txt && ls *.tar.gz *.zip *.sbom.json
	.bin/dist/hongbao_linux_amd64_v1/hongbao version

# The test is built first and then run by itself: so Ctrl-C reaches it, and it stops all that it has started.
.PHONY: chaos
chaos: engines ## random faults under load for HOURS (1), checked after each; SEED of a fault begins with that fault; ON=citus keeps the data in a Citus cluster; LAYOUT=one, cluster or sentinel sets up Redis; logs in .bin/chaos
	@mkdir -p .bin/chaos
	$(GO) test -c -o .bin/chaos/chaos.test ./cmd/hongbao/e2e/chaos
	@cd cmd/hongbao/e2e/chaos && $(CURDIR)/.bin/chaos/chaos.test -test.v -test.timeout 0 -test.run '^TestChaos$$' \
	  -chaos.hours $(HOURS) -chaos.seed $(SEED) -chaos.only '$(ONLY)' -chaos.layout '$(LAYOUT)' $(if $(filter citus,$(ON)),-chaos.citus) -chaos.out $(CURDIR)/.bin/chaos

bench_engines := $(GO) run ./cmd/hongbao-bench engines
bench_load := $(GO) build -o .bin/ ./cmd/hongbao ./cmd/hongbao-bench && \
  .bin/hongbao-bench load --hongbao .bin/hongbao --json bench-results/load.json --html bench-results/load.html $(LOAD)
bench_compare := $(GO) run ./cmd/hongbao-bench compare --json bench-results/compare.json --html bench-results/compare.html
bench_flaws := $(GO) run ./cmd/hongbao-bench compare --flaws --json bench-results/flaws.json --html bench-results/flaws.html
bench_micro := $(GO) test -run '^$$' -bench . -benchmem ./...

.PHONY: bench
bench: engines ## speed beside peers in the same run; MATCH=load: users over sockets; compare, flaws: the published schemes; micro: each package
	@mkdir -p bench-results
	$(or $(bench_$(MATCH)),$(error no match $(MATCH): MATCH is engines, load, compare, flaws or micro))

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
