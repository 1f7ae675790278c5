package vault

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/vaultflow/vaultflow/policy"
)

// Limits of names, in bytes.
const (
	MaxPartBytes     = 255  // one part of a name; ext4, APFS and NTFS allow no more
	MaxNameBytes     = 1024 // a whole name
	DefaultNameBytes = 120  // what SafeName makes when it gets no limit
	minNameBytes     = 16
)

// forbidden are the characters that Obsidian or Windows refuse in a name.
const forbidden = `*"\<>:|?`

// tooLong is the fault of a part that no file system can hold.
var tooLong = fmt.Sprintf("a part is longer than %d bytes", MaxPartBytes)

// linkBreaking are characters that Obsidian accepts in a name, but that no link can express.
const linkBreaking = `#^[]`

// ValidName reports why no file with this name may be created, or nil. The name must be a slash path inside the vault
// with no part that begins with a dot, and every part must be possible in Obsidian and on Linux, macOS and Windows. A
// file that already exists may break these rules; it can still be read and written.
func ValidName(name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	if len(name) > MaxNameBytes {
		return &NameError{Name: name, Reason: fmt.Sprintf("longer than %d bytes", MaxNameBytes)}
	}
	for part := range strings.SplitSeq(name, "/") {
		if reason := PartFault(part); reason != "" {
			return &NameError{Name: name, Reason: reason}
		}
	}
	return nil
}

// CheckName refuses names that no file of a vault can have, whether it is read or written.
func CheckName(name string) error {
	if strings.ContainsRune(name, 0) || !utf8.ValidString(name) {
		return &NameError{Name: name, Reason: "not text"}
	}
	if err := CheckInside(name); err != nil {
		return err
	}
	if name == "." {
		return &NameError{Name: name, Reason: "this is the vault itself"}
	}
	if hidden(name) {
		return &NameError{Name: name, Reason: "vaultflow never touches what begins with a dot", hidden: true}
	}
	for part := range strings.SplitSeq(name, "/") {
		if len(part) > MaxPartBytes {
			return &NameError{Name: name, Reason: tooLong}
		}
	}
	return nil
}

// CheckInside refuses names that are not slash paths inside the vault.
func CheckInside(name string) error {
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

// hidden reports whether any part of a name begins with a dot.
func hidden(name string) bool {
	return strings.HasPrefix(name, ".") || strings.Contains(name, "/.")
}

// PartFault reports in words why a part of a new name is not portable, or "".
func PartFault(part string) string {
	switch {
	case len(part) > MaxPartBytes:
		return tooLong
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

// reserved reports whether Windows reads a name as a device, with or without an extension.
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

// SafeName makes one part of a name from any text: in NFC, at most maxBytes long (DefaultNameBytes when not positive,
// never under 16) with its extension kept, without characters that Obsidian, a link or a file system forbids, neither
// reserved nor hidden. Applying it twice changes nothing, and ValidName accepts the result.
func SafeName(name string, maxBytes int) string {
	if maxBytes <= 0 {
		maxBytes = DefaultNameBytes
	}
	maxBytes = min(max(maxBytes, minNameBytes), MaxPartBytes)
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

// joiner reports whether an invisible character is part of the text: Persian needs one, emoji sequences the others.
func joiner(r rune) bool {
	return r == '\u200c' || r == '\u200d' || (r >= 0xE0020 && r <= 0xE007F)
}

// tidy collapses runs of spaces and trims spaces and dots at both ends.
func tidy(name string) string {
	name = strings.Join(strings.Fields(name), " ")
	for strings.Contains(name, "%%") { // removed characters may have brought two together
		name = strings.ReplaceAll(name, "%%", "%")
	}
	return norm.NFC.String(strings.Trim(name, " ."))
}

// shorten cuts a name between characters and keeps a short extension.
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

// boundary reports whether a text can be cut before byte i without separating a letter from its marks.
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

// PlainSpaces replaces no-break spaces with plain ones. macOS puts the narrow one into the names of screenshots.
func PlainSpaces(name string) string { return plainSpaces.Replace(name) }

var plainSpaces = strings.NewReplacer("\u00a0", " ", "\u202f", " ")

// Fold returns the form in which names are compared. See [policy.FoldName].
func Fold(name string) string { return policy.FoldName(name) }

// Numbered returns the nth name to try for a new file: "q3.pdf", "q3 (2).pdf", … The stem is cut where the part would be
// longer than MaxPartBytes.
func Numbered(name string, n int) string {
	if n < 2 {
		return name
	}
	dir, base := path.Split(name)
	ext := path.Ext(base)
	if len(ext) > 16 || strings.Contains(ext, " ") {
		ext = ""
	}
	suffix := " (" + strconv.Itoa(n) + ")"
	stem := shorten(base[:len(base)-len(ext)], MaxPartBytes-len(suffix)-len(ext))
	return dir + stem + suffix + ext
}

// Within reports whether a name is the folder dir or lies below it.
func Within(name, dir string) bool {
	return name == dir || dir == "." || strings.HasPrefix(name, dir+"/")
}

// Digest returns the SHA-256 of data in lower-case hex, as Read and File report it.
func Digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
