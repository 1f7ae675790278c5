#!/bin/sh
# Measures text, tables and order against public documents with known content (docs/fidelity.md):
#
#   sh scripts/fidelity.sh BIN DIR [flags of testdata/fidelity]
#
# DIR holds the sets. If it is empty, they are fetched from GitHub at fixed commits into the user's cache, once. They are no part of
# the project and keep their own licences.
set -eu
cd "$(dirname "$0")/.."
bin=$1 dir=$2
shift 2

# fetch REPOSITORY COMMIT PATTERN... makes $raw hold these files of a repository, and nothing else of it.
fetch() {
	repository=$1 commit=$2
	shift 2
	raw=$cache/raw/$(basename "$repository")
	[ "$(git -C "$raw" rev-parse -q --verify HEAD 2>/dev/null || true)" != "$commit" ] || return 0
	echo "fetching $repository" >&2
	rm -rf "$raw"
	git init -q "$raw"
	git -C "$raw" remote add origin "https://github.com/$repository"
	git -C "$raw" sparse-checkout set --no-cone "$@"
	git -C "$raw" fetch -q --depth 1 --filter=blob:none origin "$commit"
	git -C "$raw" checkout -q "$commit"
}

# collect NAME FOLDER copies the PDFs below a folder of $raw into the set of order.
collect() {
	find "$raw/$2" -name '*.pdf' -not -path '*/icdar2013-dataset/*' -type f | while IFS= read -r file; do
		cp "$file" "$new/order/$1-$(basename "$file")"
	done
}

sets() {
	fetch camelot-dev/camelot 2b80d0bc692d1b22203c3385e77da8201675aa50 /tests/files
	find "$raw/tests/files/tabula/icdar2013-dataset" \( -name '*.pdf' -o -name '*-str.xml' \) -exec cp {} "$new/icdar2013" \;
	collect camelot tests/files
	fetch allenai/olmocr f7cfe4c22098b154c76b6ec950d1c0a464eecf8d /olmocr/bench/sample_data /tests/gnarly_pdfs
	cp -R "$raw/olmocr/bench/sample_data/pdfs" "$raw"/olmocr/bench/sample_data/*.jsonl "$new/olmocr"
	collect olmocr tests/gnarly_pdfs
	command -v git-lfs >/dev/null || echo "install git-lfs for the PDFs of opendataloader-bench; without it only the stored texts of others are measured" >&2
	fetch opendataloader-project/opendataloader-bench b4b95051f81ae94c9fa20b8749f1f1371226bd71 /pdfs /ground-truth /prediction
	cp -R "$raw/pdfs" "$new/opendataloader"
	cp -R "$raw/ground-truth/markdown" "$new/opendataloader/ground-truth"
	for engine in "$raw"/prediction/*/; do
		cp -R "$engine/markdown" "$new/opendataloader/prediction/$(basename "$engine")"
		cp "$engine/evaluation.json" "$new/opendataloader/prediction/$(basename "$engine")"
	done
	fetch mozilla/pdf.js 0f26334f9d6f96119f6e5164fb65832fbbde7344 '/test/pdfs/*.pdf'
	collect pdf.js test/pdfs
	fetch pymupdf/PyMuPDF 53c9aaf539b4fbb6a53010d90de3a2df96e82b5e '/tests/**/*.pdf'
	collect PyMuPDF tests
	fetch jsvine/pdfplumber 147f2c4c07dc1191fc1d05bb589b4f6af3aaf74a '/tests/**/*.pdf' '/examples/**/*.pdf'
	collect pdfplumber .
	fetch py-pdf/sample-files 6921079eb3e1ed0944db5ec75016910d59da7fdb '*.pdf'
	collect sample .
	fetch docling-project/docling e1cb2b234c48ff29746b0f2f843d07f8e23905a0 '/tests/**/*.pdf'
	collect docling tests
	fetch apache/tika 2b70202aaec3db48fd5ff4d996d974444a750a11 '/tika-parsers/**/test-documents/*.pdf'
	collect tika tika-parsers
	fetch openpreserve/format-corpus 9f263890680a8818cc622569b4a16298d08f0ead '*.pdf'
	collect formats .
	fetch apache/pdfbox 89a917394c762257017c27e0cf5189605776aa57 '*.pdf'
	collect pdfbox .
}

cache=${XDG_CACHE_HOME:-$HOME/.cache}/vaultflow-fidelity
katex=$cache/node_modules/katex/dist
[ -e "$katex/katex.min.js" ] || npm install --silent --no-audit --no-fund --prefix "$cache" katex@0.16.21 ||
	echo "install npm to compare formulas by their drawings; without it only the same LaTeX passes" >&2
if [ -z "$dir" ]; then
	dir=$cache/sets
	if [ ! -e "$dir" ]; then
		new=$cache/new
		rm -rf "$new"
		mkdir -p "$new/icdar2013" "$new/olmocr" "$new/opendataloader/prediction" "$new/order"
		sets
		mv "$new" "$dir"
	fi
fi
exec go run ./testdata/fidelity -dir "$dir" -bin "$bin" -katex "$katex" "$@"
