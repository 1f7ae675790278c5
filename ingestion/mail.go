package ingestion

import (
	"bytes"
	"context"
	"net/mail"
	"strings"

	"github.com/vaultflow/vaultflow/ingestion/webpage"
)

// mailFile reads an e-mail: who wrote to whom and when, the body, and attached pictures in their places. Other attachments
// are put into the import folder and imported by themselves; their bundles come to lie in the message's own.
type mailFile struct{}

var _ = register(mailFile{})

func (mailFile) name() string  { return "email" }
func (mailFile) kinds() []Kind { return []Kind{KindEmail} }

func (mailFile) write(n *note) error {
	err := n.composed()
	if err == nil && len(n.m.Children) > 0 {
		n.children("The attachments are imported each by itself:")
	}
	return err
}

func (mailFile) extract(ctx context.Context, w *work) error {
	if done, err := w.composedBefore(); err != nil || done {
		return err
	}
	if w.job.Route.MediaType != "message/rfc822" {
		return keeper{}.extract(ctx, w)
	}
	data, err := w.whole(maxMail)
	if err != nil {
		return err
	}
	if data == nil {
		return keeper{}.extract(ctx, w)
	}
	m, parts, err := readMail(data)
	if err != nil {
		return permanent(CodeCorrupt, "save the message again from the mail program", "the message cannot be read: %v", err)
	}
	c := composed{title: decodeWords(m.Header.Get("Subject")), author: decodeWords(m.Header.Get("From"))}
	if t, err := m.Header.Date(); err == nil {
		c.created = t.Format("2006-01-02T15:04:05Z07:00")
	}
	text := mailHead(m)
	body, err := c.mailBody(parts)
	if err != nil {
		c.warnings = append(c.warnings, "the body cannot be read: "+err.Error())
	}
	c.attach(w, parts)
	c.parts = []composedPart{{"", text + "\n\n" + body + c.attachments(parts)}}
	return w.compose(ctx, c)
}

func mailHead(m *mail.Message) string {
	var b strings.Builder
	for _, key := range []string{"From", "To", "Cc", "Date"} {
		if v := decodeWords(m.Header.Get(key)); v != "" {
			b.WriteString("- " + key + ": " + inline(strings.NewReplacer("<", "(", ">", ")").Replace(v)) + "\n")
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// mailBody is the body: plain text when there is some, which the sender wrote for it, else HTML. Pictures of an HTML body
// stand in their places only when it is the HTML that is shown, so a body with pictures is taken from HTML.
func (c *composed) mailBody(parts []mailPart) (string, error) {
	var plain, page *mailPart
	for i, p := range parts {
		switch {
		case p.attachment:
		case p.mediaType == "text/plain" && plain == nil:
			plain = &parts[i]
		case p.mediaType == "text/html" && page == nil:
			page = &parts[i]
		}
	}
	if page != nil && (plain == nil || bytes.Contains(page.data, []byte("cid:"))) {
		doc, err := webpage.Parse([]byte(page.text()), "text/html; charset=utf-8")
		if err != nil {
			return "", err
		}
		return webpage.Convert(doc, c.hooks(pictureIn(parts)))
	}
	if plain == nil {
		return "", nil
	}
	return mailText(plain.text()), nil
}

// mailText keeps a plain body's lines, and quoted ones as quotes.
func mailText(s string) string {
	var lines []string
	for line := range strings.SplitSeq(strings.ReplaceAll(s, "\r\n", "\n"), "\n") {
		line = strings.TrimRight(line, " \t")
		if line != "" && !strings.HasPrefix(line, ">") {
			line = plainLine(line) + "\\"
		}
		lines = append(lines, line)
	}
	text := strings.Join(lines, "\n")
	text = strings.ReplaceAll(text, "\\\n\n", "\n\n")
	return strings.TrimSuffix(strings.TrimRight(text, "\n"), "\\")
}

// plainLine takes the meaning for Markdown off the beginning of a line, and off emphasis.
func plainLine(s string) string {
	s = strings.NewReplacer("*", `\*`, "_", `\_`, "`", "\\`", "[", `\[`).Replace(strings.TrimLeft(s, " \t"))
	if ocrMarkup.MatchString(s) || strings.HasPrefix(s, "- ") || strings.HasPrefix(s, "+ ") || fenceOpen.MatchString(s) {
		return `\` + s
	}
	return s
}
