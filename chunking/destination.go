package chunking

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark/util"
	"golang.org/x/text/unicode/norm"
)

// unescape takes the backslashes before punctuation away and resolves entities, which goldmark leaves to its renderer.
func unescape(s string) string {
	if !strings.ContainsAny(s, `\&`) {
		return s
	}
	return string(util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations([]byte(s)))))
}

// decode reads an unescaped destination: URLs stay as they are; a path is cut at its first `#`, percent-decoded and
// brought to NFC, in this order. A path with a bad `%` sequence is taken literally.
func decode(destination string) (target, fragment string, remote bool) {
	switch scheme := Scheme(destination); {
	case scheme == "http" || scheme == "https":
		return destination, "", true
	case strings.HasPrefix(destination, "//"):
		return "https:" + destination, "", true
	case scheme != "":
		return destination, "", false
	}
	target, fragment, _ = strings.Cut(destination, "#")
	if plain, err := url.PathUnescape(target); err == nil && utf8.ValidString(plain) {
		target = plain
	}
	return norm.NFC.String(target), fragment, false
}

// Scheme is the scheme of a target that is no path, in lower case: http, https, data, file, obsidian, mailto, app, ….
// It is empty for a path. One letter is a drive or a folder, never a scheme.
func Scheme(target string) string {
	i := strings.IndexByte(target, ':')
	if i < 2 || i > 20 {
		return ""
	}
	scheme := strings.ToLower(target[:i])
	if scheme[0] < 'a' || scheme[0] > 'z' || strings.Trim(scheme, "abcdefghijklmnopqrstuvwxyz0123456789+-.") != "" {
		return ""
	}
	return scheme
}
