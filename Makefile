# keyroute: the coordinator of each DynamoDB request on a ScyllaDB Alternator
# cluster. `make help` lists what there is.

GO      ?= go
MODULES := . integration
BIN     := $(CURDIR)/.bin

# Versions of the tools that `make check` runs, built from source by go install.
GOLANGCI_LINT := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0

FUZZTIME ?= 1m
ROUNDS   ?= 31
DURATION ?= 1m
SEED     ?= 0
ARGS     ?=

.DEFAULT_GOAL := help

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: demo
demo: ## Show the plugin at work on an embedded cluster (flags through ARGS=)
	@mkdir -p $(BIN) && cd integration && $(GO) build -o $(BIN)/demo ./demo
	@$(BIN)/demo $(ARGS)

.PHONY: cluster
cluster: ## Run an embedded cluster on 127.0.0.1:8000 until interrupted
	@cd integration && $(GO) run ./alternator $(ARGS)

.PHONY: test
test: ## Run all tests with the race detector
	@for m in $(MODULES); do (cd $$m && $(GO) test -race -count=1 -timeout 10m ./...) || exit 1; done

.PHONY: test-cluster
test-cluster: ## Run the tests that a real cluster can take, on KEYROUTE_TEST_SEEDS
	@test -n "$$KEYROUTE_TEST_SEEDS" || { \
		echo "set KEYROUTE_TEST_SEEDS to the URLs of nodes, separated by commas; see integration/live/doc.go" >&2; exit 1; }
	@cd integration && $(GO) test -race -count=1 ./live

.PHONY: check
check: $(BIN)/golangci-lint ## Check format, go.mod, vet and static analysis
	@unformatted=$$(gofmt -l .); test -z "$$unformatted" || { echo "gofmt these files:"; echo "$$unformatted"; exit 1; }
	@for m in $(MODULES); do (cd $$m && \
		$(GO) mod tidy -diff && \
		$(GO) vet ./... && \
		$(BIN)/golangci-lint run ./...) || exit 1; done
	@long=$$(find . -name '*.go' -exec awk 'END { if (NR > 400) print FILENAME ": " NR " lines" }' {} \;); \
		test -z "$$long" || { echo "over 400 lines:"; echo "$$long"; exit 1; }

$(BIN)/golangci-lint: Makefile
	@GOBIN=$(BIN) $(GO) install $(GOLANGCI_LINT)
	@touch $@

.PHONY: explain
explain: ## Explain the vote of a request (flags through ARGS=)
	@mkdir -p $(BIN) && cd integration && $(GO) build -o $(BIN)/explain ./explain
	@$(BIN)/explain $(ARGS)

.PHONY: chaos
chaos: ## Write while nodes die at random, for DURATION (1m), from a SEED
	@cd integration && $(GO) test -race -count=1 -timeout 0 -v -run '^TestChaos$$' . -args -chaos.duration $(DURATION) -chaos.seed $(SEED)

# Rounds are runs of their own, so that what is compared is interleaved.
.PHONY: bench
bench: ## Measure what routing costs and compare it with the targets
	@mkdir -p $(BIN)
	@rm -f $(BIN)/bench.txt && for i in 1 2 3 4 5; do \
		$(GO) test -run '^$$' -bench 'Decision|HashOnly|^BenchmarkRing' -benchtime 0.1s ./resolver && \
		$(GO) test -run '^$$' -bench '^BenchmarkSchemas' -benchtime 0.1s ./discovery || exit 1; done | grep '^Benchmark' | tee -a $(BIN)/bench.txt
	@cd integration && $(GO) test -c -o $(BIN)/call.test . && for i in $$(seq $(ROUNDS)); do \
		$(BIN)/call.test -test.run '^$$' -test.bench '^BenchmarkCall$$' -test.benchtime 0.15s | grep '^Benchmark' | tee -a $(BIN)/bench.txt; done
	@echo; cd integration && $(GO) run ./benchreport < $(BIN)/bench.txt

.PHONY: fuzz
fuzz: ## Run every fuzz target for FUZZTIME (1m)
	@for m in $(MODULES); do (cd $$m && for p in $$($(GO) list ./...); do \
		for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz'); do \
			echo "$$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) $$p || exit 1; \
		done; done) || exit 1; done

.PHONY: clean
clean: ## Remove what the other targets built
	@rm -rf $(BIN)
