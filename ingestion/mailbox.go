package ingestion

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/archive"
	"github.com/vaultflow/vaultflow/ingestion/charset"
	"github.com/vaultflow/vaultflow/ingestion/fault"
	"github.com/vaultflow/vaultflow/ingestion/mail"
	"github.com/vaultflow/vaultflow/ingestion/markdown"
)

// mbox is the media type of a mailbox in one file.
const mbox = "application/mbox"

// Bounds of what a mailbox becomes.
const (
	partMessages    = 100 // of a part of the note
	mailboxText     = 64 << 20
	rawMessage      = 64 << 10 // bytes that are shown of a message that cannot be read
	mailboxPictures = 500
	mailboxFiles    = archive.MaxMembers
)

// mailbox reads a file with many messages, thread by thread. Messages are read one at a time, and pictures again when they are kept, so
// that it takes no more memory than its text.
type mailbox struct {
	w      *work
	file   io.ReaderAt
	list   []mail.Envelope
	order  [][]int // threads
	c      composed
	text   int64
	names  []string // of attached files
	taken  map[string]bool
	unread []string // messages that cannot be read
	left   int      // files and pictures that stay in the mailbox
}

func openMailbox(w *work) (*mailbox, func() error, error) {
	file, size, err := w.im.open(w.job.at())
	if err != nil {
		return nil, nil, fault.Storage("open "+w.job.at(), err)
	}
	list, err := mail.Mailbox(file, size)
	m := &mailbox{w: w, file: file, list: list, order: mail.Threads(list), taken: map[string]bool{}}
	if err != nil {
		file.Close()
		return nil, nil, fault.Permanent(failure.Corrupt, "export the mailbox again from the mail program, in parts if it is large", "the mailbox cannot be read: %v", err)
	}
	return m, file.Close, nil
}

// extract makes a part of each hundred messages, whole threads where they are not longer.
func (m *mailbox) extract(ctx context.Context) error {
	var b strings.Builder
	first, count, done := time.Time{}, 0, 0
	flush := func() {
		if count == 0 {
			return
		}
		label := ""
		if len(m.list) > partMessages {
			label = fmt.Sprintf("Messages %d to %d", done-count+1, done)
			if !first.IsZero() {
				label += first.Format(", from January 2006")
			}
		}
		m.c.parts = append(m.c.parts, composedPart{label, b.String()})
		b.Reset()
		count, first = 0, time.Time{}
	}
	for _, thread := range m.order {
		if count > 0 && count+len(thread) > partMessages {
			flush()
		}
		fmt.Fprintf(&b, "# %s\n\n", markdown.Plain(orElse(markdown.OneLine(m.list[thread[0]].Subject, 200), "Without a subject")))
		for _, i := range thread {
			if err := ctx.Err(); err != nil {
				return err
			}
			b.WriteString(m.message(i) + "\n\n")
			if first.IsZero() {
				first = m.list[i].Date
			}
			if count, done = count+1, done+1; count >= partMessages {
				flush()
			}
		}
	}
	flush()
	m.c.warnings = append(m.c.warnings, bounded(m.unread, "%d more messages are cut off, or shown as they are in the file")...)
	if m.left > 0 {
		m.c.warnings = append(m.c.warnings, counted(m.left, "attachment")+" stayed in the mailbox: it has more than are imported at once; export it in parts")
	}
	m.c.children = m.w.places.childrenOf(m.names)
	return composing{m.w}.compose(ctx, m.c)
}

// message returns a message as Markdown, and lists its pictures and files.
func (m *mailbox) message(i int) string {
	base := len(m.c.pictures)
	text, one, parts, err := m.render(i, base)
	if err != nil {
		m.unread = append(m.unread, fmt.Sprintf("message %d of the mailbox is shown as it is in the file: %v", i+1, err))
		return "## " + markdown.Plain(orElse(m.list[i].Subject, "A message that cannot be read")) + "\n\n" + m.raw(i)
	}
	if why := mail.CutOff(parts); why != "" {
		m.c.damaged = true
		m.unread = append(m.unread, fmt.Sprintf("message %d of the mailbox: %s", i+1, why))
	}
	for k := base; k < len(one.pictures); k++ {
		if k >= mailboxPictures {
			m.left++
			continue
		}
		m.c.pictures = append(m.c.pictures, func() ([]byte, error) {
			_, again, _, err := m.render(i, base)
			if err != nil || k >= len(again.pictures) {
				return nil, errors.Join(err, errNoPicture)
			}
			return again.pictures[k]()
		})
	}
	for _, p := range mail.Files(parts) {
		name, why := m.w.places.memberName(archive.Member{Name: p.Name}, m.taken)
		if why != "" || len(m.names) >= mailboxFiles {
			m.left++
			continue
		}
		m.taken[strings.ToLower(name)] = true
		m.names = append(m.names, name)
	}
	if m.text += int64(len(text)); m.text > mailboxText {
		head, _, _ := strings.Cut(text, "\n\n")
		return head + "\n\nThe text of this message is only in the original, because the mailbox has too much."
	}
	return text
}

// raw returns the beginning of a message as it is in the file.
func (m *mailbox) raw(i int) string {
	e := m.list[i]
	e.Length = min(e.Length, rawMessage)
	data, err := mail.At(m.file, e)
	if err != nil {
		return "The original has it."
	}
	m.text += int64(len(data))
	return markdown.Fenced(charset.Decode(data).Text, "text")
}

// render reads a message. Its pictures are numbered from base.
func (m *mailbox) render(i, base int) (text string, one composed, parts []mail.Part, err error) {
	data, err := mail.At(m.file, m.list[i])
	if err != nil {
		return "", one, nil, err
	}
	message, parts, err := mail.Read(data)
	if err != nil {
		return "", one, nil, err
	}
	one.pictures = make([]func() ([]byte, error), base)
	body, err := one.mailBody(parts)
	if err != nil {
		body = "The body cannot be read as it was sent: " + markdown.Plain(err.Error()) + "\n\n" + body
	}
	heading := mail.Words(message.Header.Get("From"))
	if t := m.list[i].Date; !t.IsZero() {
		heading += t.Format(", 2 January 2006, 15:04")
	}
	attached := strings.Replace(one.attachments(parts), "## Attachments", "Attachments:", 1)
	return "## " + markdown.Plain(strings.NewReplacer("<", "(", ">", ")").Replace(heading)) + "\n\n" + mail.Head(message) + "\n\n" + markdown.Demote(body, 2) + attached, one, parts, nil
}

// attached visits the files attached to the messages, in the order of the note.
func (m *mailbox) attached(visit func(archive.Member, io.Reader) error) error {
	for _, thread := range m.order {
		for _, i := range thread {
			_, _, parts, err := m.render(i, 0)
			if err != nil {
				continue // the note names it
			}
			for _, p := range mail.Files(parts) {
				if err := visit(archive.Member{Name: p.Name, Size: int64(len(p.Data))}, bytes.NewReader(p.Data)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
