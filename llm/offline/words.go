package offline

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// maxRunes is how much of one line is quoted.
const maxRunes = 200

var (
	embed      = regexp.MustCompile(`!\[\[[^\]]*\]\]|!\[[^\]]*\]\([^)]*\)`)
	wikiLink   = regexp.MustCompile(`\[\[(?:[^\]|]*\|)?([^\]|]*)\]\]`)
	webLink    = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	emphasis   = regexp.MustCompile("\\*\\*|__|~~|==|`")
	blockID    = regexp.MustCompile(`\s\^[\w-]+$`)
	endOfFirst = regexp.MustCompile(`[.!?…](?:["”')\]]*)\s`)
	listMark   = regexp.MustCompile(`^(?:[-*+>]|\d+[.)])\s+`)
	unwordly   = regexp.MustCompile(`[^\p{L}\p{N}]+`)
	onlyDigits = regexp.MustCompile(`^\d+$`)
)

// plain takes Markdown's marks from a line and shortens it.
func plain(line string) string {
	line = embed.ReplaceAllString(line, "")
	line = wikiLink.ReplaceAllString(line, "$1")
	line = webLink.ReplaceAllString(line, "$1")
	line = emphasis.ReplaceAllString(line, "")
	line = blockID.ReplaceAllString(line, "")
	line = listMark.ReplaceAllString(line, "")
	line = strings.Join(strings.Fields(line), " ")
	if runes := []rune(line); len(runes) > maxRunes {
		line = strings.TrimSpace(string(runes[:maxRunes])) + "…"
	}
	return line
}

// isProse tells a line of words from tables, labels, rules, markup and references.
func isProse(line string) bool {
	if strings.HasPrefix(line, "|") || strings.HasPrefix(line, "<") || strings.HasPrefix(line, "[") || strings.HasPrefix(line, "%%") || strings.HasPrefix(line, "!") {
		return false
	}
	letters := 0
	for _, r := range plain(line) {
		if unicode.IsLetter(r) {
			letters++
		}
	}
	return letters >= 8 && strings.Contains(plain(line), " ")
}

func firstSentence(line string) string {
	if at := endOfFirst.FindStringIndex(line); at != nil {
		return strings.TrimSpace(line[:at[1]])
	}
	return line
}

// tags makes a picture's tags from the words of its name, its folder and its alternative text.
func tags(p picture) []string {
	name := strings.TrimSuffix(p.image.Name, path.Ext(p.image.Name))
	var all []string
	for _, word := range strings.Fields(unwordly.ReplaceAllString(path.Base(name)+" "+p.image.Alt+" "+path.Base(path.Dir(name)), " ")) {
		word = strings.ToLower(word)
		if len([]rune(word)) < 3 || onlyDigits.MatchString(word) || slices.Contains(all, "#"+word) || slices.Contains(dullWords, word) {
			continue
		}
		all = append(all, "#"+word)
	}
	return all
}

// dullWords say nothing about a picture.
var dullWords = []string{"img", "dsc", "pasted", "image", "page", "pages", "png", "jpg", "jpeg", "the", "and", "with", "from", "attachments", "assets", "imported"}
