# vaultflow: build, try, test. `make help` lists the targets.

GO       ?= go
BIN      := bin
VERSION  := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
# Where the source of this build is published. Whoever serves a modified version to others sets it (AGPL, section 13).
SOURCE   ?=
# The worker links MuPDF (static) and Tesseract (dynamic). Both carry a libjpeg; without hiding MuPDF's, every
# JPEG that Tesseract's image library decodes fails silently. Go refuses this flag in source, so it is set here.
comma    := ,
WORKER_LDFLAGS := $(if $(filter Linux,$(shell uname -s)),-Wl$(comma)--exclude-libs$(comma)ALL)
WORKER   := CGO_ENABLED=1 CGO_LDFLAGS="$(WORKER_LDFLAGS)"
GOFILES  := $(shell git ls-files '*.go' 2>/dev/null)

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: deps
deps: ## install what building needs (Tesseract, Leptonica, language data, pkg-config)
	@sh scripts/deps.sh build

.PHONY: build
build: deps ## build bin/vaultflow (no cgo) and bin/vaultflow-worker (MuPDF, Tesseract)
	@echo "building $(BIN)/vaultflow (CGO_ENABLED=0)"
	@CGO_ENABLED=0 $(GO) build -ldflags "-X main.version=$(VERSION) -X main.source=$(SOURCE)" -o $(BIN)/vaultflow ./cmd/vaultflow
	@echo "building $(BIN)/vaultflow-worker (cgo: MuPDF, Tesseract; about a minute the first time)"
	@$(WORKER) $(GO) build -tags worker,nodynamic -ldflags "-X main.version=$(VERSION)" -o $(BIN)/vaultflow-worker ./cmd/vaultflow-worker

.PHONY: demo
demo: build ## import a PDF, a scan and a photo into a copy of the test vault and run the example workflows, offline
	@sh scripts/demo.sh

.PHONY: test
# Without cgo, as vaultflow is built: what was compiled for it is not compiled again. `go vet` runs once, after the tests.
test: build ## run every test, the real worker and browser included (`make check` runs them with the race detector)
	@sh scripts/deps.sh test
	@CGO_ENABLED=0 VAULTFLOW_WORKER="$(CURDIR)/$(BIN)/vaultflow-worker" $(GO) test -vet=off -timeout 20m ./... ./testdata/bench ./testdata/corpus ./testdata/fidelity ./testdata/programtest
	@CGO_ENABLED=0 $(GO) vet ./...

.PHONY: test-long
test-long: build ## the tests that take minutes, in full: every commit point of 30 pages, every rotation, 500 files at once, 600 pages
	@sh scripts/deps.sh test
	@VAULTFLOW_LONG=1 VAULTFLOW_WORKER="$(CURDIR)/$(BIN)/vaultflow-worker" $(GO) test -count=1 -timeout 60m ./cmd/... ./ingestion/... ./stories/...

.PHONY: test-short
test-short: ## the quick tests, without the worker or a browser
	@$(GO) test -short ./...

.PHONY: test-worker
test-worker: build ## only the tests that need MuPDF and Tesseract
	@VAULTFLOW_WORKER="$(CURDIR)/$(BIN)/vaultflow-worker" $(GO) test -count=1 ./cmd/vaultflow-worker/... ./ingestion/... ./cmd/vaultflow/... ./stories/...

.PHONY: check
check: build ## formatting, vet, golangci-lint, race tests, import rules, examples, docs links
	@sh scripts/check.sh

.PHONY: sbom
sbom: ## write NOTICE and sbom.cdx.json: modules, embedded libraries, licences
	@$(GO) run ./testdata/notice

.PHONY: audit
audit: ## modules as in go.sum, licences that may be used, NOTICE and SBOM current, known vulnerabilities
	@sh scripts/audit.sh

.PHONY: fuzz
fuzz: ## run every fuzz target for 30 s
	@sh scripts/fuzz.sh 30s

.PHONY: bench
bench: build ## measure beside mutool and tesseract: [DIR=… PDFs, JPEG pictures and notes to measure instead] [FLAGS="-runs 3 -only slides"]
	@VAULTFLOW_NOTES="$(DIR)" sh scripts/bench.sh $(if $(DIR),-dir "$(DIR)") $(FLAGS)

.PHONY: profile
profile: build ## profile imports, a preview of 500 pictures, starting, prompts and the journal: [OUT=folder]
	@sh scripts/profile.sh "$(or $(OUT),profiles)"

.PHONY: corpus
corpus: build ## run every file of a folder through the binaries and check what became of it: DIR=… [FLAGS="-slow 3 -ocr 10 -kill …"]
	@$(GO) run ./testdata/corpus -dir "$(DIR)" -bin $(BIN) $(FLAGS)

.PHONY: fidelity
fidelity: build ## compare text, tables and order with public documents of known content, fetched if DIR is not given: [DIR=…] [FLAGS="-half both -set icdar …"]
	@sh scripts/fidelity.sh $(BIN) "$(DIR)" $(FLAGS)

.PHONY: vault
vault: ## make testdata/vault's pictures and PDFs again
	@$(GO) run ./testdata/generate

.PHONY: clean
clean: ## remove what was built and the demo vault
	@rm -rf $(BIN) demo
