#!/bin/sh
# Whole-command ratios on the same files in one run (medians of three), then the Go benchmarks. Compares against mutool,
# pdftoppm and tesseract of the distribution when they are installed.
set -eu
cd "$(dirname "$0")/.."
PATH="$PWD/bin:$PATH"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
runs=3

median() { # milliseconds of a command, median of $runs
	for _ in $(seq $runs); do
		start=$(date +%s%N)
		"$@" >/dev/null 2>"$work/err" || { cat "$work/err" >&2; exit 1; }
		echo $((($(date +%s%N) - start) / 1000000))
	done | sort -n | sed -n "$(((runs + 1) / 2))p"
}

import() { # one file into a fresh vault
	rm -rf "$work/vault" "$work/state"
	mkdir -p "$work/vault/.obsidian"
	vaultflow --vault "$work/vault" --state-dir "$work/state" import "$1" --mode "$2"
}

row() { # name, milliseconds, milliseconds of the reference
	printf '%-44s %8s ms   %s\n' "$1" "$2" "$(awk "BEGIN{printf \"%.2f\", $3/$2}")"
}

text="testdata/vault/Documents/Logbook 120 pages.pdf"
scan="testdata/vault/Documents/Scan.pdf"
mkdir -p "$work/out"

if command -v mutool >/dev/null && command -v pdftoppm >/dev/null; then
	echo "120 text pages to PNG at 150 dpi; ratio: mutool's time divided by ours, above 1 is faster"
	reference=$(median mutool draw -q -r 150 -o "$work/out/m%d.png" "$text")
	row "mutool draw" "$reference" "$reference"
	row "pdftoppm -png" "$(median pdftoppm -r 150 -png "$text" "$work/out/p")" "$reference"
	row "vaultflow import --mode page_images" "$(median import "$text" page_images)" "$reference"
	row "vaultflow import --mode hybrid" "$(median import "$text" hybrid)" "$reference"
else
	echo "mutool and pdftoppm are not installed: no ratios for rendering"
fi

if command -v tesseract >/dev/null && command -v pdftoppm >/dev/null; then
	echo "2 scanned pages to text; ratio: tesseract's time divided by ours"
	pdftoppm -r 300 -png "$scan" "$work/out/s"
	tess() { for page in "$work"/out/s-*.png; do OMP_THREAD_LIMIT=1 tesseract "$page" - ; done; }
	reference=$(median tess)
	row "tesseract, pages rendered beforehand" "$reference" "$reference"
	row "vaultflow import (bundle, pictures, words)" "$(median import "$scan" hybrid)" "$reference"
fi

echo "Memory over 600 pages"
VAULTFLOW_PAGES=600 VAULTFLOW_WORKER="$PWD/bin/vaultflow-worker" go test -count=1 -timeout 30m -run memoryDoesNotGrow -v ./cmd/vaultflow | grep pages

echo "Go benchmarks"
go test -run '^$' -bench . -benchtime 200ms ./chunking ./vault ./imaging ./prompt ./policy ./engine/journal ./directives ./workflow
