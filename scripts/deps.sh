#!/bin/sh
# Installs missing packages for `build` (compiler, pkg-config, Tesseract, Leptonica, language data, a font with Chinese,
# Japanese and Korean letters for documents without embedded fonts) or `test` (a headless Chromium for the dashboard's test). Prints what it installs.
set -eu
want=${1:-build}

have_header() { # a C header the compiler can find
	printf '#include <%s>\n' "$1" | ${CC:-cc} -E -x c - >/dev/null 2>&1 ||
		{ command -v brew >/dev/null 2>&1 && [ -e "$(brew --prefix)/include/$1" ]; }
}

have_language() { # Tesseract's data for one language
	command -v tesseract >/dev/null 2>&1 && tesseract --list-langs 2>/dev/null | grep -qx "$1"
}

have_wide_font() { # a font that PDFium uses for Chinese, Japanese and Korean text
	find -L /usr/share/fonts /usr/local/share/fonts \( -name 'DroidSansFallback*' -o -name 'Noto*CJK*' -o -name 'SourceHan*' \) 2>/dev/null | grep -q .
}

missing=""
need() { missing="$missing $1"; }
wide="" # the font is optional: a build without root works without it

case $want in
build)
	command -v go >/dev/null 2>&1 || { echo "vaultflow needs Go 1.26 or later: https://go.dev/dl/" >&2; exit 1; }
	if [ "$(uname -s)" = Darwin ]; then
		command -v pkg-config >/dev/null 2>&1 || need pkg-config
		have_header tesseract/capi.h || need tesseract
		have_header leptonica/allheaders.h || need leptonica
	else
		command -v g++ >/dev/null 2>&1 || need g++
		command -v pkg-config >/dev/null 2>&1 || need pkg-config
		have_header tesseract/capi.h || need libtesseract-dev
		have_header leptonica/allheaders.h || need libleptonica-dev
		have_language eng || need "tesseract-ocr tesseract-ocr-eng"
		have_language osd || need tesseract-ocr-osd
		have_wide_font || wide=fonts-droid-fallback
	fi
	;;
test)
	[ "$(uname -s)" = Darwin ] || command -v chromium >/dev/null 2>&1 || command -v google-chrome >/dev/null 2>&1 || need chromium
	;;
*) echo "usage: deps.sh build|test" >&2; exit 2 ;;
esac

if [ -z "$missing" ] && [ -n "$wide" ] && [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null 2>&1; then
	echo "continuing without $wide: Chinese, Japanese and Korean text is missing in pictures of documents without its fonts" >&2
	exit 0
fi
missing="$missing${wide:+ $wide}"
[ -n "$missing" ] || exit 0
echo "installing:$missing"
if command -v brew >/dev/null 2>&1; then
	# shellcheck disable=SC2086
	brew install $missing
elif command -v apt-get >/dev/null 2>&1; then
	sudo=""
	if [ "$(id -u)" != 0 ]; then
		command -v sudo >/dev/null 2>&1 || { echo "run as root: apt-get install$missing" >&2; exit 1; }
		sudo="sudo"
	fi
	log=$(mktemp)
	# shellcheck disable=SC2086
	if ! { $sudo apt-get update && $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing; } >"$log" 2>&1; then
		tail -n 20 "$log" >&2
		rm -f "$log"
		[ "$want" = test ] && { echo "continuing without: the dashboard's browser test will be skipped" >&2; exit 0; }
		exit 1
	fi
	rm -f "$log"
else
	echo "install with your package manager:$missing" >&2
	exit 1
fi
