package ingestion

import (
	"bytes"
	"context"
	"io"
	netmail "net/mail"
	"strings"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/archive"
	"github.com/vaultflow/vaultflow/ingestion/fault"
	"github.com/vaultflow/vaultflow/ingestion/mail"
	"github.com/vaultflow/vaultflow/ingestion/markdown"
	"github.com/vaultflow/vaultflow/ingestion/webpage"
)

// mailFile reads an e-mail: sender, recipients and date, the body, and attached pictures in their places. Other attachments go to the
// import folder and are imported by themselves, with bundles inside the message's own.
type mailFile struct{}

func (mailFile) name() string { return "email" }

func (mailFile) extract(ctx context.Context, w *work) error {
	if done, err := w.store.composedBefore(); err != nil || done {
		return err
	}
	if w.job.Route.MediaType == mbox {
		box, done, err := openMailbox(w)
		if err != nil {
			return err
		}
		defer func() { _ = done() }() // it was only read
		return box.extract(ctx)
	}
	m, parts, err := readMessage(w)
	if err != nil {
		return err
	}
	if m == nil {
		return keeper{}.extract(ctx, w)
	}
	c := composed{title: mail.Words(m.Header.Get("Subject")), author: mail.Words(m.Header.Get("From"))}
	if t, err := m.Header.Date(); err == nil {
		c.created = t.Format("2006-01-02T15:04:05Z07:00")
	}
	text := mail.Head(m)
	body, err := c.mailBody(parts)
	if err != nil {
		c.warnings = append(c.warnings, "the body cannot be read: "+err.Error())
	}
	c.cutOff(mail.CutOff(parts))
	c.attach(w, parts)
	c.parts = []composedPart{{"", text + "\n\n" + body + c.attachments(parts)}}
	return composing{w}.compose(ctx, c)
}

// cutOff takes over a warning that something is missing in the file, if there is one.
func (c *composed) cutOff(warning string) {
	if warning != "" {
		c.damaged = true
		c.warnings = append(c.warnings, warning)
	}
}

// readMessage reads the job's message, as Internet mail or as Outlook saves it. It is nil if the file is too large.
func readMessage(w *work) (*netmail.Message, []mail.Part, error) {
	data, err := w.whole(mail.MaxSize)
	if err != nil || data == nil {
		return nil, nil, err
	}
	if w.job.Route.MediaType == "application/vnd.ms-outlook" {
		data, err = mail.FromOutlook(data)
	}
	if err == nil {
		var m *netmail.Message
		var parts []mail.Part
		if m, parts, err = mail.Read(data); err == nil {
			return m, parts, nil
		}
	}
	return nil, nil, fault.Permanent(failure.Corrupt, "save the message again from the mail program", "the message cannot be read: %v", err)
}

// mailBody returns the body. Plain text is preferred, because the sender wrote it for this. A body with pictures is taken from
// HTML, because only there do they have a place.
func (c *composed) mailBody(parts []mail.Part) (string, error) {
	var plain, page *mail.Part
	for i, p := range parts {
		switch {
		case p.Attachment:
		case p.MediaType == "text/plain" && plain == nil:
			plain = &parts[i]
		case p.MediaType == "text/html" && page == nil:
			page = &parts[i]
		}
	}
	if page != nil && (plain == nil || bytes.Contains(page.Data, []byte("cid:"))) {
		doc, err := webpage.Parse([]byte(page.Text()), "text/html; charset=utf-8")
		if err != nil {
			return "", err
		}
		return webpage.Convert(doc, c.hooks(mail.Picture(parts)))
	}
	if plain == nil {
		return "", nil
	}
	return mail.Lines(plain.Text()), nil
}

// attached visits the attachments of the job's message.
func (u unpacking) attached(visit func(archive.Member, io.Reader) error) error {
	if u.w.job.Route.MediaType == mbox {
		box, done, err := openMailbox(u.w)
		if err != nil {
			return err
		}
		defer func() { _ = done() }() // it was only read
		return box.attached(visit)
	}
	_, parts, err := readMessage(u.w)
	if err != nil {
		return err
	}
	for _, p := range mail.Files(parts) {
		if err := visit(archive.Member{Name: p.Name, Size: int64(len(p.Data))}, bytes.NewReader(p.Data)); err != nil {
			return err
		}
	}
	return nil
}

// attach selects the attachments that are imported by themselves. If a message is nested deeper than archives may be, its
// attachments stay in it, so that messages in archives in messages come to an end.
func (c *composed) attach(w *work, parts []mail.Part) {
	taken, names := map[string]bool{}, []string{}
	for _, p := range mail.Files(parts) {
		name, why := w.places.memberName(archive.Member{Name: p.Name}, taken)
		if why == "" && strings.Count(w.job.Source, "/") > archive.MaxFolders {
			why = "messages and archives are nested too deep"
		}
		if why != "" {
			c.warnings = append(c.warnings, markdown.OneLine(p.Name, 100)+" was left in the message: "+strings.ReplaceAll(why, "the archive", "the message"))
			continue
		}
		taken[strings.ToLower(name)] = true
		names = append(names, name)
	}
	c.children = w.places.childrenOf(names)
}

// attachments lists the message's other parts; attached pictures are shown.
func (c *composed) attachments(parts []mail.Part) string {
	var b strings.Builder
	for i, p := range parts {
		if !p.IsFile() && p.MediaType != "message/rfc822" {
			continue
		}
		name := p.FileName(i + 1)
		b.WriteString("\n- " + markdown.Inline(name) + ", " + markdown.Inline(p.MediaType) + ", " + markdown.Size(int64(len(p.Data))))
		if p.Cut {
			b.WriteString(", may be incomplete")
		}
		if mail.Shown[p.MediaType] {
			c.pictures = append(c.pictures, func() ([]byte, error) { return p.Data, nil })
			b.WriteString("\n\n" + pictureMark(len(c.pictures)-1, name) + "\n")
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "\n\n## Attachments\n" + b.String()
}
