package ingestion

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	netmail "net/mail"
	"slices"
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
		c.warnings = append(c.warnings, "the body cannot be read as it was sent: "+err.Error())
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

// mailBody returns what a message shows, in its order: texts, of alternatives the richest, invitations, and pictures that no text shows.
func (c *composed) mailBody(parts []mail.Part) (string, error) {
	blocks, faults := make([]string, len(parts)), []error(nil)
	for i, p := range parts { // pages before pictures, because they show some of these
		if !p.InBody() || mail.Shown[p.MediaType] {
			continue
		}
		switch {
		case p.IsPage():
			text, err := c.mailPage(p, parts, i)
			if err != nil {
				faults, text = append(faults, err), mail.Lines(p.Plain())
			}
			blocks[i] = text
		case p.IsCalendar():
			blocks[i] = mail.Invitation(p.Text())
		default:
			blocks[i] = mail.Lines(p.Text())
		}
	}
	for i, p := range parts {
		if p.InBody() && mail.Shown[p.MediaType] {
			blocks[i] = c.mailPicture(p, p.Name)
		}
	}
	blocks = slices.DeleteFunc(blocks, func(b string) bool { return strings.TrimSpace(b) == "" })
	return strings.Join(blocks, "\n\n"), errors.Join(faults...)
}

// mailPage returns a part that is HTML as Markdown. Footnotes of several ones stay apart.
func (c *composed) mailPage(p mail.Part, parts []mail.Part, n int) (string, error) {
	doc, err := webpage.Parse([]byte(p.Text()), "text/html; charset=utf-8")
	if err != nil {
		return "", err
	}
	hooks := c.hooks(mail.Picture(parts))
	if slices.ContainsFunc(parts[:n], func(p mail.Part) bool { return p.InBody() && p.IsPage() }) {
		hooks.Notes = fmt.Sprintf("%d-", n)
	}
	return webpage.Convert(doc, hooks)
}

// mailPicture keeps a picture of a message and returns its place in the text.
func (c *composed) mailPicture(p mail.Part, alt string) string {
	c.pictures = append(c.pictures, func() ([]byte, error) { return p.Data, nil })
	return pictureMark(len(c.pictures)-1, alt)
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

// attachments lists what is attached; pictures are shown.
func (c *composed) attachments(parts []mail.Part) string {
	var b strings.Builder
	for _, p := range mail.Attachments(parts) {
		b.WriteString("\n- " + markdown.Inline(p.Name) + ", " + markdown.Inline(p.MediaType) + ", " + markdown.Size(int64(len(p.Data))))
		if p.Cut {
			b.WriteString(", may be incomplete")
		}
		if mail.Shown[p.MediaType] {
			b.WriteString("\n\n" + c.mailPicture(p, p.Name) + "\n")
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "\n\n## Attachments\n" + b.String()
}
