package prompt

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/policy"
)

// maxWords bounds what is quoted from a note in our own lines, in characters: alternative texts, targets, reasons.
const maxWords = 200

// oneLine joins lines and drops control characters.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r) || r == '\u2028' || r == '\u2029':
			return ' '
		case unicode.IsControl(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return strings.TrimSpace(s)
}

// quoted is a text of the note in our own line: one line, cut, and without the brackets that end such a line.
func quoted(s string) string {
	s = strings.NewReplacer("[", "(", "]", ")", `"`, "'").Replace(oneLine(s))
	if utf8.RuneCountInString(s) > maxWords {
		s = string([]rune(s)[:maxWords]) + "…"
	}
	return s
}

func list(names []string) string { return strings.Join(names, ", ") }

// facts of an image: path, pixels, alternative text.
func (l Line) facts() string {
	parts := []string{quoted(l.label())}
	if l.Width > 0 && l.Height > 0 {
		parts = append(parts, fmt.Sprintf("%dx%d", l.Width, l.Height))
	}
	if l.Alt != "" {
		parts = append(parts, `alt "`+quoted(l.Alt)+`"`)
	}
	return list(parts)
}

// label is the best name: the vault's, else the target as written.
func (l Line) label() string {
	if l.Name != "" {
		return l.Name
	}
	return l.Target
}

// marker is what stands in the prompt for an image: the label before it, or what is said instead of it.
func marker(l Line, img image, d policy.Decision) string {
	head := "[image " + strconv.Itoa(img.number) + ": "
	switch d.Fate {
	case policy.Sent, policy.Resized:
		return head + l.facts() + "]"
	case policy.Deduplicated:
		return head + "same picture as image " + strconv.Itoa(d.Same) + "]"
	case policy.Missing:
		near := ""
		if len(img.near) > 0 {
			near = "; similar names: " + quoted(list(img.near))
		}
		return head + `missing, "` + quoted(l.Target) + `" was not found` + near + "]"
	case policy.Deferred:
		return head + l.facts() + ", deferred as " + l.ID + ": " + d.Reason + "]"
	case policy.Converted:
		switch {
		case img.long:
			return head + l.facts() + "; this model cannot see images, and the prompt has no room for the text in it]"
		case img.fallback == "":
			return head + l.facts() + "; this model cannot see images]"
		}
		return head + l.facts() + "; this model cannot see images, the text in it is:]\n" + img.fallback +
			"\n[end of the text of image " + strconv.Itoa(img.number) + "]"
	case policy.Reference:
		if img.remote {
			return head + "remote, " + quoted(l.Target) + ", not fetched]"
		}
	}
	return head + l.facts() + ", not shown: " + quoted(d.Reason) + "]"
}

// refLine is one line of IMAGE_REFS.
func refLine(l Line, img image, d policy.Decision) string {
	known := func(s string) string {
		if s == "" {
			return "-"
		}
		return strings.ReplaceAll(s, "|", "/")
	}
	pixels, bytes := "", ""
	if l.Width > 0 && l.Height > 0 {
		pixels = fmt.Sprintf("%dx%d", l.Width, l.Height)
	}
	if l.Size > 0 {
		bytes = content.FormatSize(l.Size)
	}
	status := string(d.Fate)
	switch {
	case d.Fate == policy.Deferred:
		status = "deferred as " + l.ID
	case img.remote && d.Fate == policy.Reference:
		status = "remote"
	}
	return strings.Join([]string{
		"image " + strconv.Itoa(img.number), known(quoted(l.label())), known(l.MediaType), known(pixels), known(bytes),
		known(l.SHA256[:min(12, len(l.SHA256))]), status,
	}, " | ")
}
