#!/bin/sh
# Whole commands beside other programs on the same files, then memory, then the Go benchmarks: sh scripts/bench.sh [flags of testdata/bench]
set -eu
cd "$(dirname "$0")/.."
go run ./testdata/bench -bin bin "$@"

echo "Memory over 600 pages"
VAULTFLOW_PAGES=600 VAULTFLOW_WORKER="$PWD/bin/vaultflow-worker" go test -count=1 -timeout 30m -run memoryDoesNotGrow -v ./cmd/vaultflow | grep pages

echo "Go benchmarks"
go test -run '^$' -bench . -benchtime 200ms ./chunking ./vault ./imaging ./prompt ./media ./policy ./engine/journal ./directives ./workflow ./ingestion/worker/pagepng/...
