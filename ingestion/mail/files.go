package mail

import (
	"bytes"
	"fmt"
	"net/mail"
	"net/url"
	"path"
	"slices"
	"strings"
)

// Picture returns a function that finds the part for a reference, by Content-ID or by address. A picture that it finds is covered.
func Picture(parts []Part) func(src string) func() ([]byte, error) {
	return func(src string) func() ([]byte, error) {
		id, byID := strings.CutPrefix(src, "cid:")
		if plain, err := url.PathUnescape(id); err == nil {
			id = plain
		}
		for i, p := range parts {
			if byID && p.ID == id || !byID && src != "" && p.Location == src {
				parts[i].Covered = p.Covered || Shown[p.MediaType]
				return func() ([]byte, error) { return p.Data, nil }
			}
		}
		return nil
	}
}

// Shown are the media types of pictures that are shown in the message's own note.
var Shown = map[string]bool{"image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true, "image/bmp": true}

var pages = map[string]bool{"text/html": true, "application/xhtml+xml": true, "text/x-amp-html": true, "text/watch-html": true}

// IsPage reports whether a part is HTML.
func (p Part) IsPage() bool { return pages[p.MediaType] }

// IsCalendar reports whether a part is an invitation or another entry of a calendar.
func (p Part) IsCalendar() bool {
	return p.MediaType == "text/calendar" || p.MediaType == "text/x-vcalendar"
}

// InBody reports whether a part is shown where it is in the message.
func (p Part) InBody() bool {
	return !p.Attachment && !p.Covered && (p.readable() || Shown[p.MediaType])
}

// readable reports whether a note can have the text of a part: a body, an invitation, or what a mail server reports.
func (p Part) readable() bool {
	switch p.MediaType {
	case "text/plain", "text/enriched", "text/richtext", "text/rfc822-headers":
		return true
	}
	return p.IsPage() || p.IsCalendar() || strings.HasPrefix(p.MediaType, "message/") && !p.isMessage()
}

func (p Part) isMessage() bool {
	return p.MediaType == "message/rfc822" || p.MediaType == "message/global" || p.MediaType == "message/news"
}

// IsFile reports whether a part is kept as a file: what the sender attached or named, invitations, and what a note cannot show.
func (p Part) IsFile() bool {
	switch {
	case p.MediaType == "", p.Covered, p.Name == "" && len(p.Data) == 0:
		return false
	case p.Attachment, p.IsCalendar():
		return true
	}
	return !Shown[p.MediaType] && (p.Name != "" || !p.readable())
}

// extensions are those of files without a name.
var extensions = map[string]string{
	"text/plain": ".txt", "text/html": ".html", "text/calendar": ".ics", "text/x-vcalendar": ".vcs", "text/vcard": ".vcf", "text/x-vcard": ".vcf", "text/csv": ".csv", "text/rtf": ".rtf", "application/rtf": ".rtf",
	"text/xml": ".xml", "application/xml": ".xml", "application/json": ".json", "application/pdf": ".pdf", "application/zip": ".zip", "application/pgp-signature": ".asc", "application/pkcs7-signature": ".p7s",
	"application/pkcs7-mime": ".p7m", "image/png": ".png", "image/jpeg": ".jpg",
}

// FileName returns the name of an attachment. An attached message without one gets its subject.
func (p Part) FileName(n int) string {
	switch {
	case p.Name != "":
		return p.Name
	case p.isMessage():
		subject := ""
		if m, err := mail.ReadMessage(bytes.NewReader(p.Data)); err == nil {
			subject = Words(m.Header.Get("Subject"))
		}
		if subject == "" {
			subject = fmt.Sprintf("message %d", n)
		}
		return strings.ReplaceAll(subject, "/", "-") + ".eml"
	case p.IsCalendar():
		return "invitation" + extensions[p.MediaType]
	}
	return fmt.Sprintf("attachment %d", n) + extensions[p.MediaType]
}

// Attachments returns the parts that are kept as files, with their names. An invitation that is also attached is there once.
func Attachments(parts []Part) (list []Part) {
	for i, p := range parts {
		again := func(q Part) bool { return q.Attachment && bytes.Equal(p.Data, q.Data) }
		if !p.IsFile() || p.IsCalendar() && !p.Attachment && slices.ContainsFunc(parts, again) {
			continue
		}
		p.Name = path.Base(strings.ReplaceAll(p.FileName(i+1), `\`, "/")) // a folder means nothing here
		list = append(list, p)
	}
	return list
}

// Files returns the attachments that are imported by themselves.
func Files(parts []Part) []Part {
	return slices.DeleteFunc(Attachments(parts), func(p Part) bool { return Shown[p.MediaType] })
}
