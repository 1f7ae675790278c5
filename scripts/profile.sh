#!/bin/sh
# Where the time goes: whole commands with perf, the worker's C libraries included, then Go benchmarks with pprof. It leaves the profiles in
# a folder, to be read with perf report and go tool pprof: sh scripts/profile.sh FOLDER
set -eu
cd "$(dirname "$0")/.."
out=${1:?name a folder for the profiles}
mkdir -p "$out"
out=$(cd "$out" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT INT TERM
vault=$scratch/vault
mkdir -p "$vault/.obsidian" "$vault/Pictures"
photo=testdata/vault/Attachments/Photos/IMG_0412.jpg
for n in $(seq 500); do
	cp "$photo" "$vault/Pictures/$n.jpg"
	printf '%s' "$n" >>"$vault/Pictures/$n.jpg" # pictures with other digests
	printf '![[Pictures/%s.jpg]]\n' "$n" >>"$vault/Pictures.md"
done

# profile NAME COMMAND... runs vaultflow and prints what took the most processor time, by program.
profile() {
	name=$1
	shift
	printf '\n== %s\n' "$name"
	perf record -q -F 499 -g -o "$out/$name.perf" -- bin/vaultflow --vault "$vault" --state-dir "$scratch/state" "$@" >"$out/$name.log" 2>&1 || { tail -5 "$out/$name.log"; exit 1; }
	perf report -i "$out/$name.perf" --stdio --no-children -g none --percent-limit 1 --sort comm,symbol 2>/dev/null | awk '/%/ && n++ < 20 { print $1, $2, $3, $4 }'
}

if command -v perf >/dev/null; then
	pdfs=$(go list -m -f '{{.Dir}}' github.com/pdfcpu/pdfcpu)/pkg/testdata
	export VAULTFLOW_INGESTION_PDF_STRATEGIES=pdf_text
	bin/vaultflow --vault "$vault" --state-dir "$scratch/state" import "$pdfs/Walden.pdf" >/dev/null # compiles PDFium, once for each build
	profile import-text import --mode hybrid "$pdfs/WaldenFull.pdf"
	profile import-book import --mode hybrid "$pdfs/gobook.0.pdf"
	profile import-slides import --mode page_images "$pdfs/pike-stanford.pdf"
	profile preview-500 preview -i 'Pictures.md (images=auto)'
	profile start list
else
	echo "perf is not installed: whole commands are not profiled"
fi

# benchmark PACKAGE PATTERN does the same for Go benchmarks.
benchmark() {
	name=$(basename "$1")
	printf '\n== %s %s\n' "$1" "$2"
	go test "./$1" -run '^$' -bench "$2" -benchtime 1s -cpuprofile "$out/$name.pprof" -o "$out/$name.test" | grep ns/op
	go tool pprof -top -nodecount 12 "$out/$name.test" "$out/$name.pprof" 2>/dev/null | tail -n +5
}
benchmark prompt . # notes
benchmark media Probe # 500 pictures of a receipt
benchmark imaging 12Mpx # photographs of a prompt
benchmark ingestion/worker/pagepng 'Encode/[a-z]*$'
benchmark ingestion/worker/pagepng/deflate own
benchmark engine/journal 'Note|open|sweep|runs_today'
