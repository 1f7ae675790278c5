#!/bin/sh
# The main job, offline, on a copy of testdata/vault: a PDF, a scan and a photo dropped into Import/ under a running
# `serve`; the bundles; previews and runs of the example workflows with the offline model. Leaves the vault in demo/.
set -eu
cd "$(dirname "$0")/.."
here=$PWD
demo=$here/demo
vault=$demo/vault
export VAULTFLOW_VAULT="$vault" VAULTFLOW_STATE_DIR="$demo/state"
PATH="$here/bin:$PATH"
say() { printf '\n== %s\n' "$*"; }

say "a fresh copy of the test vault in demo/vault"
rm -rf "$demo"
mkdir -p "$demo"
cp -R testdata/vault "$vault"
vaultflow init "$vault"
cp examples/workflows/*.md "$vault/Workflows/"
vaultflow check

say "serve: watcher, scheduler, import and dashboard"
vaultflow serve --listen 127.0.0.1:0 >"$demo/serve.log" 2>&1 &
daemon=$!
trap 'kill $daemon 2>/dev/null || true; wait $daemon 2>/dev/null || true' EXIT INT TERM
tries=0
until url=$(vaultflow serve --url 2>/dev/null); do
	tries=$((tries + 1))
	[ $tries -lt 100 ] && kill -0 $daemon 2>/dev/null || { cat "$demo/serve.log"; exit 1; }
	sleep 0.2
done
echo "running (dashboard at ${url%%/login*})"

touch "$demo/before"
say "dropping a born-digital PDF, a scanned PDF and a photo into Import/"
cp testdata/vault/Documents/Workbook.pdf "$vault/Import/Workbook.pdf"
cp testdata/vault/Documents/Scan.pdf "$vault/Import/Meeting scan.pdf"
cp testdata/drop/photo.jpg "$vault/Import/Notice.jpg"
vaultflow import --status --wait 3 --timeout 240s
for bundle in Workbook "Meeting scan" Notice; do
	for file in "$bundle.md" manifest.json pages text; do
		[ -e "$vault/Imported/$bundle/$file" ] || { echo "the bundle $bundle is incomplete: $file is missing" >&2; exit 1; }
	done
done

say "preview: the receipt and the exact prompt, nothing is sent"
vaultflow preview "Book to study plan" Imported/Workbook/Workbook.md --step "Read" | head -n 60

say "running the example workflows with the offline model"
run() { vaultflow run "$@" || { code=$?; [ $code -eq 4 ] || exit $code; }; }
run "Book to study plan" Imported/Workbook/Workbook.md
run "Photo archive"
run "Weekly review"
run "Meeting scan to notes" "Imported/Meeting scan/Meeting scan.md"

say "the new files"
(cd "$vault" && find . -newer "$demo/before" -type f ! -path './.*' | sed 's|^\./||' | sort)
echo
vaultflow runs

say "next steps"
echo "dashboard:  VAULTFLOW_STATE_DIR=$demo/state bin/vaultflow serve --vault $vault   prints a link"
[ -z "${ANTHROPIC_API_KEY:-}" ] || echo "a key for Anthropic is set: bin/vaultflow run \"Weekly review\" --vault $vault --model sonnet"
[ -z "${OPENAI_API_KEY:-}" ] || echo "a key for OpenAI is set: bin/vaultflow run \"Weekly review\" --vault $vault --model gpt"
if vaultflow doctor 2>/dev/null | grep -q '^ok  *ollama'; then
	echo "Ollama answers here: bin/vaultflow run \"Weekly review\" --vault $vault --model local (set its model in settings.yaml)"
fi
[ -n "${ANTHROPIC_API_KEY:-}${OPENAI_API_KEY:-}" ] || echo "with ANTHROPIC_API_KEY, OPENAI_API_KEY or a local Ollama, add --model sonnet, gpt or local to the same commands"
