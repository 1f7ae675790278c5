package markdown

import "strings"

// Kept represents the exclamation mark of an embed that stays when a note is made harmless. No text has it: see [Clean].
const Kept = "\x01"

var templates = strings.NewReplacer("<%", "< %")

// Exported makes a note of an export harmless, and keeps its properties. line rewrites the links of a line outside of code blocks,
// and property those of a line of the properties; embeds that line marks with [Kept] stay, all others become links.
func Exported(s string, line, property func(string) string) string {
	front, body := exportedParts(s, line)
	if body != "" {
		body += "\n"
	}
	if front == "" {
		return body
	}
	var b strings.Builder
	b.WriteString("---\n")
	for l := range strings.SplitSeq(strings.Trim(front, "\n"), "\n") {
		b.WriteString(templates.Replace(markers.ReplaceAllString(property(l), "% %$1")) + "\n")
	}
	return b.String() + "---\n" + body
}

// ExportedPart is [Exported] for a note that becomes part of another: its properties become a code block, as with [Note].
func ExportedPart(s string, line, _ func(string) string) string {
	front, body := exportedParts(s, line)
	if front = strings.Trim(front, "\n"); front != "" {
		body = Fenced(front, "yaml") + "\n\n" + body
	}
	return strings.TrimRight(body, "\n")
}

// exportedParts returns the properties of a note, and the rest of it made harmless.
func exportedParts(s string, line func(string) string) (front, body string) {
	s = Clean(strings.TrimPrefix(s, "\ufeff"))
	body = s
	if rest, ok := strings.CutPrefix(s, "---\n"); ok {
		if properties, after, ok := strings.Cut("\n"+rest+"\n", "\n---\n"); ok {
			front, body = properties, after
		}
	}
	return front, sanitisedLines(spacedFences(body), func(s string) string {
		hard := strings.HasSuffix(s, "  ") && strings.TrimSpace(s) != ""
		s = strings.ReplaceAll(sanitiseNoteLine(line(strings.TrimRight(s, " \t"))), Kept, "!")
		if hard {
			s += "  "
		}
		return s
	})
}

// spacedFences puts an empty line before each code block that begins at the margin, so that all readers of Markdown agree that it is one.
func spacedFences(s string) string {
	var out []string
	open := ""
	for line := range strings.SplitSeq(s, "\n") {
		found := fenceOpen.FindStringSubmatch(strings.TrimRight(line, " \t"))
		switch {
		case open != "" && closes(line, open):
			open = ""
		case open == "" && found != nil:
			open = found[1]
			if len(out) > 0 && strings.TrimSpace(out[len(out)-1]) != "" {
				out = append(out, "")
			}
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}
