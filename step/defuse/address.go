package defuse

import (
	"html"
	"net/url"
	"regexp"
	"strings"
	"unicode"
)

// Verdicts on an address.
type place int

const (
	inside  place = iota // a place in the vault or the note itself
	outside              // http or https, and a host
	unsafe               // anything else: another scheme, no host, an address in disguise
)

var schemeOf = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.\-]*:`)

// place returns where an address in a link leads, and to which host.
func (r Rules) place(address string) (place, string) {
	address = strings.ReplaceAll(address, "&amp;", "&")
	if plain := plainAddress(address); plain != address {
		if p, _ := r.place(plain); p == inside && isClean(address) {
			return inside, ""
		}
		return unsafe, ""
	}
	if address == "" || address[0] == '#' || address[0] == '?' {
		return inside, ""
	}
	if !schemeOf.MatchString(address) {
		if strings.HasPrefix(address, "//") || strings.Contains(address, `\`) || strings.Contains(strings.SplitN(address, "/", 2)[0], ":") {
			return unsafe, ""
		}
		return inside, ""
	}
	u, err := url.Parse(address)
	if err != nil || u.User != nil || !strings.Contains(address, "://") || strings.Contains(address, `\`) {
		return unsafe, ""
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if s := strings.ToLower(u.Scheme); s != "http" && s != "https" || host == "" || strings.Trim(host, hostChars) != "" {
		return unsafe, ""
	}
	return outside, host
}

const hostChars = "abcdefghijklmnopqrstuvwxyz0123456789-.:"

// entity is an HTML character reference, as Markdown reads them in addresses too.
var entity = regexp.MustCompile(`&(?:#[0-9]+|#[xX][0-9a-fA-F]+|[A-Za-z][A-Za-z0-9]*);`)

// plainAddress undoes what could hide where an address inside the vault leads: entities, percent signs, backslashes before
// punctuation, and characters that nobody sees. An address with a scheme and a host keeps its percent signs.
func plainAddress(address string) string {
	plain := entity.ReplaceAllStringFunc(address, html.UnescapeString)
	plain = strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f || unicode.Is(unicode.Cf, c) || unicode.Is(unicode.Cc, c) || isBlank(c) {
			return -1
		}
		return c
	}, plain)
	if strings.Contains(plain, "://") && schemeOf.MatchString(plain) {
		return plain
	}
	for range 3 {
		next, err := url.PathUnescape(plain)
		if err != nil || next == plain {
			break
		}
		plain = next
	}
	return plain
}

// isClean reports whether an address holds no entity and no invisible character; percent signs are as usual in a link to a
// note.
func isClean(address string) bool {
	return !entity.MatchString(address) && !strings.ContainsFunc(address, func(c rune) bool {
		return c < ' ' || c == 0x7f || unicode.Is(unicode.Cf, c) || isBlank(c) && c != ' '
	})
}

// isBlank knows blanks that no address holds, beyond those of ASCII.
func isBlank(c rune) bool {
	return c > 0x7f && unicode.IsSpace(c) || c == '\u115f' || c == '\u1160' || c == '\u3164' || c == '\uffa0' || c == '\u2800' || c == '\u034f' ||
		c >= '\ufe00' && c <= '\ufe0f' || c >= 0xe0100 && c <= 0xe01ef
}

// mayLoad reports whether something may be loaded from an address without a click: a picture, a frame.
func (r Rules) mayLoad(address string) bool {
	p, host := r.place(address)
	return p == inside || p == outside && r.Host != nil && r.Host(host)
}

// mayLink reports whether a link may have an address.
func (r Rules) mayLink(address string) bool {
	if r.mayLoad(address) {
		return true
	}
	p, _ := r.place(address)
	return (p == outside || p == unsafe && isMail(address)) && r.Shown != nil && r.Shown(address)
}

var mail = regexp.MustCompile(`^(?i:mailto):[A-Za-z0-9._+\-]+@[A-Za-z0-9.\-]+$`)

func isMail(address string) bool { return mail.MatchString(address) }

// where returns the host of an address, or a description, for people.
func (r Rules) where(address string) string {
	switch p, host := r.place(address); {
	case p == outside:
		return host
	case schemeOf.MatchString(plainAddress(address)):
		plain := plainAddress(address)
		return "an address with " + strings.ToLower(plain[:strings.IndexByte(plain, ':')+1])
	}
	return "an address in disguise"
}

// Shown returns a test whether these texts, which a step was shown, contain an address word for word.
func Shown(texts ...string) func(address string) bool {
	known := map[string]bool{}
	return func(address string) bool {
		found, asked := known[address]
		if asked {
			return found
		}
		if len(known) >= maxAsked {
			return false
		}
		for _, text := range texts {
			found = found || stands(text, address)
		}
		known[address] = found
		return found
	}
}

// maxAsked limits how many addresses are searched for in what a step was shown: each takes a pass over all of it.
const maxAsked = 2000

// stands reports whether a text contains a whole address: not just as part of a longer word or address.
func stands(text, address string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], address)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(address)
		if (start == 0 || !isSchemeByte(text[start-1])) && endsHere(text[end:]) {
			return true
		}
		from = end
	}
}

func isSchemeByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '+' || c == '.' || c == '-'
}

// endsHere reports whether an address ends before this text: a blank, a bracket or a quote follows, or punctuation and then
// one of these.
func endsHere(rest string) bool {
	rest = strings.TrimLeft(rest, ".,;:!?*_~")
	if rest == "" {
		return true
	}
	return strings.ContainsRune(" \t\r\n)]}>\"'|`<\\", rune(rest[0])) || strings.HasPrefix(rest, "”") || strings.HasPrefix(rest, "’")
}
