package ingestion

import (
	"fmt"
	"path"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/filetype"
)

// letter is a message of a mailbox.
func letter(day int, subject, header, body string) string {
	return fmt.Sprintf("From ada@example.org Fri Nov %2d 10:00:00 2026\nFrom: Ada <ada@example.org>\nSubject: %s\nDate: Sun, %d Nov 2026 10:00:00 +0000\n%s\n%s\n\n", day, subject, day, header, body)
}

func TestImport_mailboxAsThreads(t *testing.T) {
	t.Parallel()
	b := newBench(t, extract.Document{})
	data := letter(1, "Honey", "Message-ID: <1@x>\n", "Shall we order?\n>From now on, yes.") +
		letter(2, "Tea", "Message-ID: <2@x>\n", "Another matter.") +
		letter(4, "AW: Honey", "Message-ID: <4@x>\nIn-Reply-To: <3@x>\n", "The last answer.") +
		letter(3, "Re: Honey", "Message-ID: <3@x>\nReferences: <1@x>\n", "The first answer.") +
		letter(5, "Re: Tea", "Content-Type: multipart/mixed; boundary=M\n", "--M\nContent-Type: text/html\n\n<p>See <img src=\"cid:p\"></p>\n--M\nContent-Type: image/png\nContent-ID: <p>\nContent-Transfer-Encoding: base64\n\n"+onePixel+
			"\n--M\nContent-Type: application/pdf\nContent-Disposition: attachment; filename=\"plan.pdf\"\n\n%PDF-1.4\n--M\nContent-Type: application/pdf\nContent-Disposition: attachment; filename=\"plan.pdf\"\n\n%PDF-1.5\n--M--\n") +
		"From x Fri Nov 06 10:00:00 2026\nno header at all\n"
	made, _ := b.mustRun(b.drop("imp-1", "Import/box.mbox", []byte(data)))
	note := b.read(made.Note)
	rest := note
	for _, want := range []string{"Honey", "Shall we order", "From now on", "The first answer", "The last answer", "Tea", "Another matter", "See ![", "no header at all"} {
		_, after, found := strings.Cut(rest, want)
		if !found {
			t.Fatalf("%q is missing, or not in its place:\n%s", want, note)
		}
		rest = after
	}
	m, _ := b.im.manifest(made.Bundle)
	if m.Source.Kind != filetype.KindEmail || len(m.Pages) != 1 || len(m.Assets) != 1 || len(m.Children) != 2 || len(m.Import.Warnings) != 1 {
		t.Errorf("kind %s, %d parts, %d pictures, attached %v, warned %q", m.Source.Kind, len(m.Pages), len(m.Assets), m.Children, m.Import.Warnings)
	}
	if b.read("Import/box/plan.pdf") != "%PDF-1.4" || b.read("Import/box/plan (2).pdf") != "%PDF-1.5" {
		t.Error("the attached files are not what was sent")
	}
}

func TestImport_mailboxOfThousands(t *testing.T) {
	t.Parallel()
	const messages = 10_000
	var box strings.Builder
	for i := range messages {
		box.WriteString(letter(i%28+1, fmt.Sprintf("Subject %d", i/3), fmt.Sprintf("Message-ID: <%d@x>\nReferences: <%d@x>\n", i, i-i%3), fmt.Sprintf("words of letter %d.", i)))
	}
	b := newBench(t, extract.Document{})
	made, _ := b.mustRun(b.drop("imp-1", "Import/all.mbox", []byte(box.String())))
	m, _ := b.im.manifest(made.Bundle)
	seen := 0
	for _, p := range m.Pages {
		text := b.read(path.Join(made.Bundle, p.Text.Path))
		seen += strings.Count(text, "words of letter ")
		if n := strings.Count(text, "words of letter "); n > partMessages {
			t.Errorf("part %d has %d messages", p.N, n)
		}
	}
	if seen != messages || len(m.Chapters) == 0 || len(m.Import.Warnings) != 0 {
		t.Errorf("%d of %d messages in %d parts, %d chapters, warned %q", seen, messages, len(m.Pages), len(m.Chapters), m.Import.Warnings)
	}
}

func TestImport_brokenMailbox(t *testing.T) {
	t.Parallel()
	b := newBench(t, extract.Document{})
	if _, _, err := b.run(b.drop("imp-1", "Import/box.mbox", []byte("just words\n"))); err == nil {
		t.Error("a mailbox without a message was imported")
	}
}
