#!/bin/sh
# Checks the dependencies: modules match go.sum, licences are compatible, NOTICE and the SBOM are current, and no known
# vulnerability is reachable. Tools run at fixed versions through `go run`.
set -eu
cd "$(dirname "$0")/.."
failed=0

echo "go mod verify"
go mod verify || failed=1

echo "licences, NOTICE, SBOM"
go run ./testdata/notice -check || failed=1

GOVULNCHECK=golang.org/x/vuln/cmd/govulncheck@v1.9.0
database=${GOVULNDB:-https://vuln.go.dev}
echo "govulncheck ($database)"
said=$(mktemp)
trap 'rm -f "$said"' EXIT
# vulnerable PATTERN FLAGS… checks one binary.
vulnerable() {
	pattern=$1
	shift
	code=0
	go run "$GOVULNCHECK" -db "$database" "$@" "$pattern" >"$said" 2>&1 || code=$?
	# `go run` exits with 1 whatever the program's exit code is, so search its output.
	if grep -q '^Your code is affected by' "$said"; then
		cat "$said"
		failed=1
	elif [ $code -eq 0 ]; then
		echo "  $pattern: no known vulnerability"
	elif grep -qiE 'dial tcp|no such host|i/o timeout|connection refused|TLS handshake|proxyconnect|fetching vulnerabilit|getting index|unexpected status|40[34] |50[0-9] ' "$said"; then
		echo "  $pattern: NOT CHECKED, the database or the tool cannot be reached from here:"
		sed 's/^/    /' "$said" | tail -n 3
	else
		cat "$said"
		failed=1
	fi
}
vulnerable ./cmd/vaultflow
CGO_ENABLED=1 CGO_LDFLAGS="-Wl,--exclude-libs,ALL" vulnerable ./cmd/vaultflow-worker -tags worker,nodynamic
[ $failed = 0 ] || { echo "audit: see the problems above" >&2; exit 1; }
echo "audit: done"
