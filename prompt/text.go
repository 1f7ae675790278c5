package prompt

import (
	"strings"

	"github.com/vaultflow/vaultflow/content"
)

// Text prints the exact prompt for a person: the system prompt, then the message, each behind a line that names it. An
// image is a line such as `[image 3: assets/x.png, 640x480, 25 KB, png]`, where its number is that of the label before it.
func Text(p *Prompt) string {
	var b strings.Builder
	if p.System != "" {
		b.WriteString("--- system ---\n" + strings.TrimSuffix(p.System, "\n") + "\n\n")
	}
	b.WriteString("--- user ---\n")
	last := ""
	for _, block := range p.Blocks {
		switch block := block.(type) {
		case content.Text:
			last = block.Value
			b.WriteString(block.Value)
		case content.Image:
			block.Fallback = ""
			b.WriteString("[" + labelHead(last) + strings.TrimPrefix(block.Text(), "[image: ") + "\n")
		default:
			b.WriteString(block.Text() + "\n")
		}
	}
	if s := b.String(); !strings.HasSuffix(s, "\n") {
		b.WriteByte('\n')
	}
	return b.String()
}

// labelHead is the beginning of the label that a block ends with: `image 3: `.
func labelHead(text string) string {
	i := strings.LastIndex(text, "[image ")
	if i < 0 {
		return "image: "
	}
	head, _, ok := strings.Cut(text[i+1:], ":")
	if !ok {
		return "image: "
	}
	return head + ": "
}
