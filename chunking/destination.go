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

// decode reads an unescaped destination: URLs stay as they are; a path is cut at its first `#`, both parts are
// percent-decoded and brought to NFC, in this order. What has a bad `%` sequence is taken literally.
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
	return percentDecoded(target), percentDecoded(fragment), false
}

func percentDecoded(s string) string {
	if plain, err := url.PathUnescape(s); err == nil && utf8.ValidString(plain) {
		s = plain
	}
	return norm.NFC.String(s)
}

// pageHosts are sites whose pages Obsidian embeds as pages when they are written as images.
var pageHosts = map[string]bool{
	"youtube.com": true, "m.youtube.com": true, "youtu.be": true, "youtube-nocookie.com": true,
	"twitter.com": true, "mobile.twitter.com": true, "x.com": true,
}

// isPage reports whether a URL is a video or a post, which is a page and not a picture.
func isPage(remote string) bool {
	u, err := url.Parse(remote)
	return err == nil && pageHosts[strings.TrimPrefix(strings.ToLower(u.Hostname()), "www.")] && !IsImageName(u.Path)
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
