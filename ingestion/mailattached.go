package ingestion

import (
	"bytes"
	"fmt"
	"io"
	"net/mail"
	"path"
	"strings"
)

// shownHere are the pictures that are shown in the message's own note.
var shownHere = map[string]bool{"image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true, "image/bmp": true}

// isFile says whether a part is something that a person attached.
func (p mailPart) isFile() bool {
	return p.name != "" && (p.attachment || p.id == "") || p.attachment
}

// fileName is the name of an attachment: an attached message without one is called as its subject.
func (p mailPart) fileName(n int) string {
	if p.name != "" {
		return p.name
	}
	if p.mediaType == "message/rfc822" {
		subject := ""
		if m, err := mail.ReadMessage(bytes.NewReader(p.data)); err == nil {
			subject = decodeWords(m.Header.Get("Subject"))
		}
		if subject == "" {
			subject = fmt.Sprintf("message %d", n)
		}
		return strings.ReplaceAll(subject, "/", "-") + ".eml"
	}
	return fmt.Sprintf("attachment %d", n)
}

// files are the attachments that are imported by themselves.
func files(parts []mailPart) (list []mailPart) {
	for i, p := range parts {
		if !shownHere[p.mediaType] && (p.isFile() || p.mediaType == "message/rfc822") {
			p.name = path.Base(strings.ReplaceAll(p.fileName(i+1), `\`, "/")) // a folder means nothing here
			list = append(list, p)
		}
	}
	return list
}

// attached visits the attachments of the job's message.
func (w *work) attached(visit func(member, io.Reader) error) error {
	data, err := w.whole(maxMail)
	if err != nil {
		return err
	}
	_, parts, err := readMail(data)
	if err != nil {
		return permanent(CodeCorrupt, "save the message again from the mail program", "the message cannot be read: %v", err)
	}
	for _, p := range files(parts) {
		if err := visit(member{name: p.name, size: int64(len(p.data))}, bytes.NewReader(p.data)); err != nil {
			return err
		}
	}
	return nil
}

// attach chooses the attachments that are imported by themselves. Those of a message that lies deeper than archives may be
// nested stay in it, so that messages in archives in messages come to an end.
func (c *composed) attach(w *work, parts []mailPart) {
	taken, names := map[string]bool{}, []string{}
	for _, p := range files(parts) {
		name, why := w.memberName(member{name: p.name}, taken)
		if why == "" && strings.Count(w.job.Source, "/") > maxFolders {
			why = "messages and archives are nested too deep"
		}
		if why != "" {
			c.warnings = append(c.warnings, oneLine(p.name, 100)+" was left in the message: "+strings.ReplaceAll(why, "the archive", "the message"))
			continue
		}
		taken[strings.ToLower(name)] = true
		names = append(names, name)
	}
	c.children = w.childrenOf(names)
}

// attachments lists what else the message holds; attached pictures are shown.
func (c *composed) attachments(parts []mailPart) string {
	var b strings.Builder
	for i, p := range parts {
		if !p.isFile() && p.mediaType != "message/rfc822" {
			continue
		}
		name := p.fileName(i + 1)
		b.WriteString("\n- " + inline(name) + ", " + inline(p.mediaType) + ", " + size(int64(len(p.data))))
		if shownHere[p.mediaType] {
			c.pictures = append(c.pictures, func() ([]byte, error) { return p.data, nil })
			b.WriteString("\n\n" + pictureMark(len(c.pictures)-1, name) + "\n")
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "\n\n## Attachments\n" + b.String()
}
