#!/bin/sh
# All gates of the project: formatting, vet, linters, document links, and race tests, which include the house rules, the
# examples and the settings. Tools run at fixed versions through `go run`.
set -eu
cd "$(dirname "$0")/.."

echo "gofumpt"
unformatted=$(go run mvdan.cc/gofumpt@v0.9.2 -l $(git ls-files '*.go'))
[ -z "$unformatted" ] || { echo "run gofumpt -w on:" >&2; echo "$unformatted" >&2; exit 1; }

echo "go vet"
go vet ./... ./testdata/bench ./testdata/corpus ./testdata/fidelity ./testdata/generate ./testdata/notice ./testdata/photos ./testdata/programtest # the pattern skips testdata
CGO_ENABLED=1 CGO_LDFLAGS="-Wl,--exclude-libs,ALL" go vet -tags worker,nodynamic ./cmd/vaultflow-worker/... ./ingestion/worker/...

echo "go vet for other systems"
for system in darwin windows freebsd; do
	GOOS=$system CGO_ENABLED=0 go vet ./... || { echo "go vet fails for $system" >&2; exit 1; }
done

echo "golangci-lint"
go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.6.2 run ./...

echo "staticcheck of the worker"
# The worker's code is whole only with its tag: without it the half that MuPDF uses looks unused.
CGO_ENABLED=1 go run honnef.co/go/tools/cmd/staticcheck@v0.6.1 -tags worker,nodynamic ./cmd/vaultflow-worker ./ingestion/worker/...

echo "links in the documents"
missing=0
for doc in README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md docs/*.md; do
	for link in $(grep -oE '\]\([^)#: ]+(#[^) ]*)?\)' "$doc" | sed -E 's/^\]\(//; s/#.*//; s/\)$//' | sort -u); do
		[ -e "$(dirname "$doc")/$link" ] || { echo "$doc: no such file: $link" >&2; missing=1; }
	done
done
[ $missing = 0 ] || exit 1

echo "tests with the race detector"
# SQLite is C that was translated to Go: it has no goroutines, the detector would find nothing in it, and makes it twenty times as slow.
VAULTFLOW_WORKER="$PWD/bin/vaultflow-worker" go test -race -gcflags='modernc.org/...=-race=false' -timeout 20m ./... ./testdata/bench ./testdata/corpus ./testdata/fidelity ./testdata/programtest
