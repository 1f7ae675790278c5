package disk

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

const (
	maxSegment = 255 // bytes of one part of a name; ext4, APFS and NTFS allow no more
	maxName    = 1024
	// DefaultNameBytes is the longest name that SafeName makes when it is given no limit.
	DefaultNameBytes = 120
	minNameBytes     = 16
)

// forbidden are the characters that Obsidian or Windows refuse in a name.
const forbidden = `*"\<>:|?`

// linkBreaking are characters that Obsidian accepts in a name, but that no link can express.
const linkBreaking = `#^[]`

// ValidName says why a file of this name must not be created, nil when it may. The name must be a slash path inside
// the vault, without dot entries, and every part must be possible in Obsidian and on Linux, macOS and Windows. Names
// that exist already may break these rules; they can still be read, and written.
func ValidName(name string) error {
	if err := checkShape(name); err != nil {
		return err
	}
	if len(name) > maxName {
		return &NameError{Name: name, Reason: fmt.Sprintf("longer than %d bytes", maxName)}
	}
	for part := range strings.SplitSeq(name, "/") {
		if reason := partFault(part); reason != "" {
			return &NameError{Name: name, Reason: reason}
		}
	}
	return nil
}

// checkShape refuses what no file of a vault can be called: it is the rule for reading and for writing.
func checkShape(name string) error {
	if strings.ContainsRune(name, 0) || !utf8.ValidString(name) {
		return &NameError{Name: name, Reason: "not text"}
	}
	if err := inside(name); err != nil {
		return err
	}
	if name == "." {
		return &NameError{Name: name, Reason: "this is the vault itself"}
	}
	if hidden(name) {
		return &NameError{Name: name, Reason: "vaultflow never touches what begins with a dot", hidden: true}
	}
	return nil
}

// inside refuses names that are not slash paths within the vault.
func inside(name string) error {
	switch {
	case fs.ValidPath(name):
		return nil
	case strings.HasPrefix(name, "/"):
		return &OutsideError{Name: name, Reason: fmt.Sprintf("%q is an absolute path, not a name in the vault", name)}
	case name == "..", strings.HasPrefix(name, "../"), strings.Contains(name, "/../"), strings.HasSuffix(name, "/.."):
		return &OutsideError{Name: name, Reason: fmt.Sprintf("%q climbs with .. and could leave the vault", name)}
	}
	return &NameError{Name: name, Reason: "not a slash path from the vault's root"}
}

// hidden says whether any part of a name begins with a dot.
func hidden(name string) bool {
	return strings.HasPrefix(name, ".") || strings.Contains(name, "/.")
}

func partFault(part string) string {
	switch {
	case len(part) > maxSegment:
		return fmt.Sprintf("a part is longer than %d bytes", maxSegment)
	case strings.ContainsAny(part, forbidden):
		return "has one of the characters " + forbidden
	case strings.ContainsFunc(part, unicode.IsControl):
		return "has a control character"
	case strings.HasSuffix(part, "."), strings.HasSuffix(part, " "), strings.HasPrefix(part, " "):
		return "a part begins or ends with a space, or ends with a dot"
	case reserved(part):
		return "Windows reserves this name"
	}
	return ""
}

// reserved says whether Windows takes a name for a device, with or without an extension.
func reserved(part string) bool {
	stem, _, _ := strings.Cut(strings.ToUpper(part), ".")
	stem = strings.TrimRight(stem, " ")
	switch stem {
	case "CON", "PRN", "AUX", "NUL", "CLOCK$", "CONIN$", "CONOUT$":
		return true
	}
	device, ok := strings.CutPrefix(stem, "COM")
	if !ok {
		device, ok = strings.CutPrefix(stem, "LPT")
	}
	return ok && utf8.RuneCountInString(device) == 1 && strings.Contains("0123456789¹²³", device)
}

// SafeName makes one part of a name out of any text: in NFC, at most maxBytes long (DefaultNameBytes when it is not
// positive, never under 16) with its extension kept, without characters that Obsidian, a link or a file system
// forbids, not reserved, not hidden. Applying it twice changes nothing, and ValidName accepts the result.
func SafeName(name string, maxBytes int) string {
	if maxBytes <= 0 {
		maxBytes = DefaultNameBytes
	}
	maxBytes = min(max(maxBytes, minNameBytes), maxSegment)
	name = norm.NFC.String(strings.ToValidUTF8(name, "_"))
	name = tidy(replaceRunes(name))
	name = tidy(shorten(name, maxBytes))
	if reserved(name) {
		stem, rest, found := strings.Cut(name, ".")
		name = strings.TrimRight(stem, " ") + "_"
		if found {
			name += "." + rest
		}
		name = tidy(shorten(name, maxBytes))
	}
	if name == "" {
		return "untitled"
	}
	return name
}

func replaceRunes(name string) string {
	name = strings.ReplaceAll(name, "%%", "%")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '[' || r == ']':
			return -1
		case strings.ContainsRune(forbidden, r), r == '/':
			return '-'
		case strings.ContainsRune(linkBreaking, r), unicode.IsSpace(r), unicode.IsControl(r):
			return ' '
		case unicode.Is(unicode.Cf, r) && !joiner(r):
			return -1
		}
		return r
	}, name)
}

// joiner says whether an invisible character is part of writing: Persian needs one, emoji sequences the others.
func joiner(r rune) bool {
	return r == '\u200c' || r == '\u200d' || (r >= 0xE0020 && r <= 0xE007F)
}

// tidy shrinks runs of spaces, and takes spaces and dots off the ends and spaces from before the extension.
func tidy(name string) string {
	name = strings.Join(strings.Fields(name), " ")
	for strings.Contains(name, "%%") { // removed characters may have brought two together
		name = strings.ReplaceAll(name, "%%", "%")
	}
	return norm.NFC.String(strings.Trim(name, " ."))
}

// shorten cuts a name between characters, and keeps a short extension.
func shorten(name string, maxBytes int) string {
	if len(name) <= maxBytes {
		return name
	}
	ext := path.Ext(name)
	if len(ext) > maxBytes/2 || len(ext) > 16 || strings.Contains(ext, " ") {
		ext = ""
	}
	stem := name[:len(name)-len(ext)]
	cut := maxBytes - len(ext)
	for cut > 0 && !boundary(stem, cut) {
		cut--
	}
	return strings.TrimRight(stem[:cut], " .\u200c\u200d") + ext
}

// boundary says whether a text may be cut before byte i without tearing a letter from its marks.
func boundary(s string, i int) bool {
	if i >= len(s) {
		return true
	}
	if !utf8.RuneStart(s[i]) {
		return false
	}
	r, _ := utf8.DecodeRuneInString(s[i:])
	return !unicode.Is(unicode.M, r) && !joiner(r) && (r < 0x1F3FB || r > 0x1F3FF)
}

// plainSpaces makes no-break spaces plain. The narrow one stands in the names of macOS's screenshots.
var plainSpaces = strings.NewReplacer("\u00a0", " ", "\u202f", " ")

// fold is the form in which names are compared: NFC, lower case, no-break spaces as spaces.
func fold(name string) string {
	return strings.ToLower(plainSpaces.Replace(norm.NFC.String(name)))
}
