# keyroute: the coordinator of each DynamoDB request on a ScyllaDB Alternator
# cluster. `make help` lists what there is.

GO      ?= go
MODULES := . integration
BIN     := $(CURDIR)/.bin

# Versions of the tools that `make check` runs, built from source by go install.
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2

FUZZTIME ?= 1m
ARGS     ?=

.DEFAULT_GOAL := help

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: demo
demo: ## Show the plugin at work on an embedded cluster (flags through ARGS=)
	@cd integration && $(GO) run ./demo $(ARGS)

.PHONY: test
test: ## Run all tests with the race detector
	@for m in $(MODULES); do (cd $$m && $(GO) test -race -timeout 10m ./...) || exit 1; done

.PHONY: check
check: $(BIN)/staticcheck ## Check format, go.mod, vet and static analysis
	@unformatted=$$(gofmt -l .); test -z "$$unformatted" || { echo "gofmt these files:"; echo "$$unformatted"; exit 1; }
	@for m in $(MODULES); do (cd $$m && \
		$(GO) mod tidy -diff && \
		$(GO) vet ./... && \
		$(BIN)/staticcheck ./...) || exit 1; done
	@long=$$(find . -name '*.go' -exec awk 'END { if (NR > 400) print FILENAME ": " NR " lines" }' {} \;); \
		test -z "$$long" || { echo "over 400 lines:"; echo "$$long"; exit 1; }

$(BIN)/staticcheck: Makefile
	@GOBIN=$(BIN) $(GO) install $(STATICCHECK)
	@touch $@

.PHONY: fuzz
fuzz: ## Run every fuzz target for FUZZTIME (1m)
	@for m in $(MODULES); do (cd $$m && for p in $$($(GO) list ./...); do \
		for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz'); do \
			echo "$$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) $$p || exit 1; \
		done; done) || exit 1; done

.PHONY: clean
clean: ## Remove what the other targets built
	@rm -rf $(BIN)
