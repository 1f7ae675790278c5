#!/bin/sh
# Runs every fuzz target of the project, one after another, for the given time each (default 30s).
set -eu
cd "$(dirname "$0")/.."
for_each=${1:-30s}
grep -rlE '^func Fuzz' --include='*_test.go' . | sort | while read -r file; do
	for target in $(sed -nE 's/^func (Fuzz[A-Za-z0-9_]+)\(.*/\1/p' "$file"); do
		echo "fuzzing $(dirname "$file") $target for $for_each"
		go test -run '^$' -fuzz "^$target\$" -fuzztime "$for_each" -fuzzminimizetime 20x "$(dirname "$file")"
	done
done
