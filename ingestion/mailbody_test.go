package ingestion

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/mail"
)

// shownOf returns what a note has of a message, with the names of its files.
func shownOf(t *testing.T, message string) (text string, files []mail.Part) {
	t.Helper()
	_, parts, err := mail.Read([]byte(message))
	if err != nil {
		t.Fatalf("%v\n%s", err, message)
	}
	c := composed{}
	body, err := c.mailBody(parts)
	if err != nil {
		t.Fatalf("%v\n%s", err, message)
	}
	return body + c.attachments(parts), mail.Files(parts)
}

func TestMailBody(t *testing.T) {
	t.Parallel()
	const picture = "--B\nContent-Type: image/png; name=p.png\nContent-Disposition: inline; filename=p.png\nContent-Transfer-Encoding: base64\n\n" + onePixel + "\n"
	const event = "BEGIN:VCALENDAR\nMETHOD:REQUEST\nBEGIN:VTIMEZONE\nDTSTART:19700101T000000\nEND:VTIMEZONE\nBEGIN:VEVENT\nSUMMARY:Budget talk\nDTSTART;TZID=\"Europe/Oslo\":20250710T090000\nDTEND:20250710T100000Z\n" +
		"LOCATION:Room 12\\, north\nORGANIZER;CN=Boss:mailto:boss@example.org\nDESCRIPTION:Bring the\n  figures.\nBEGIN:VALARM\nDESCRIPTION:Reminder\nEND:VALARM\nEND:VEVENT\nEND:VCALENDAR\n"
	const shownEvent = "**Budget talk**\n\n- Begins: 2025-07-10 09:00 (Europe/Oslo)\n- Ends: 2025-07-10 10:00 UTC\n- Place: Room 12, north\n- Organiser: Boss (boss@example.org)\n\nBring the figures."
	for name, test := range map[string]struct{ head, body, want, files string }{
		"text, picture, text":            {"mixed", "--B\n\nFirst.\n" + picture + "--B\n\nSecond.\n--B--", "First.\n\n￼0|p.png￼\n\nSecond.", ""},
		"text and a page":                {"mixed", "--B\n\nFirst.\n--B\nContent-Type: text/html\n\n<p>Second.</p>\n--B--", "First.\n\nSecond.", ""},
		"the footer of a list":           {"mixed", "--B\n\nFirst.\n--B\nContent-Disposition: inline\n\nFooter.\n--B--", "First.\n\nFooter.", ""},
		"a footer behind the end":        {"mixed", "--B\n\nFirst.\n--B--\nFooter.\n", "First.\n\nFooter.", ""},
		"no header, no blank line":       {"mixed", "--B\nFirst words.\n--B--", "First words.", ""},
		"parts within a rich one":        {"alternative", "--B\n\nFirst.\nSecond.\n--B\nContent-Type: multipart/mixed; boundary=C\n\n--C\nContent-Type: text/html\n\n<b>First</b>.\n--C\nContent-Type: text/html\n\nSecond.\n--C--\n--B--", "**First**.\n\nSecond.", ""},
		"the richest one":                {"alternative", "--B\n\nSee the red tree over there.\n--B\nContent-Type: text/html\n\n<p>See the <b>red</b> tree over there.\n--B--", "See the **red** tree over there.", ""},
		"the richest one says nothing":   {"alternative", "--B\n\nSee the tree.\n--B\nContent-Type: text/html\n\n<p>&nbsp;</p>\n--B--", "See the tree.", ""},
		"another message":                {"alternative", "--B\n\nThe train leaves at nine.\nFour more words here.\n--B\nContent-Type: text/html\n\n<p>Four more words here.\n--B--", "The train leaves at nine.\\\nFour more words here.\n\nFour more words here.", ""},
		"another number":                 {"alternative", "--B\n\nYour code for today is 4711\n--B\nContent-Type: text/html\n\n<p>Your code for today is\n--B--", "Your code for today is 4711\n\nYour code for today is", ""},
		"links and pictures in its text": {"alternative", "--B\n\nBuy [image: logo of us] now <https://example.org/a/b>\n--B\nContent-Type: text/html\n\n<a href=\"https://example.org/a/b\">Buy now</a>\n--B--", "[Buy now](https://example.org/a/b)", ""},
		"an invitation alone":            {"alternative", "--B\n\n\n--B\nContent-Type: text/calendar; method=REQUEST\n\n" + event + "--B--", shownEvent, "invitation.ics"},
		"an invitation, also attached":   {"mixed", "--B\nContent-Type: text/calendar\n\n" + event + "--B\nContent-Type: application/ics\nContent-Disposition: attachment; filename=invite.ics\n\n" + event + "--B--", shownEvent, "invite.ics"},
		"a digest":                       {"digest", "--B\n\nSubject: One\n\nFirst.\n--B\n\nSubject: Two\n\nSecond.\n--B--", "", "One.eml Two.eml"},
		"a bounce":                       {"report", "--B\n\nNot sent.\n--B\nContent-Type: message/delivery-status\n\nStatus: 5.1.1\nDiagnostic-Code: smtp; 550 user unknown\n--B\nContent-Type: message/rfc822\n\nSubject: Mine\n\nWords.\n--B--", "Not sent.\n\nStatus: 5.1.1\\\nDiagnostic-Code: smtp; 550 user unknown", "Mine.eml"},
		"headers of what came back":      {"report", "--B\nContent-Type: text/rfc822-headers\n\nSubject: Mine\n--B--", "Subject: Mine", ""},
		"attached text":                  {"mixed", "--B\n\nFirst.\n--B\nContent-Disposition: attachment; filename=my notes.txt\n\nSecond.\n--B--", "First.", "my notes.txt"},
		"a file without a name":          {"mixed", "--B\n\nFirst.\n--B\nContent-Type: application/pdf\n\n%PDF\n--B--", "First.", "attachment 2.pdf"},
		"a name with blanks":             {"mixed", "--B\nContent-Type: application/pdf; name=my plan.pdf\n\n%PDF\n--B--", "", "my plan.pdf"},
		"no boundary at all":             {"mixed", "Words of the letter.", "Words of the letter.", ""},
		"a folded header":                {"mixed", "--B\r\nContent-Type: text/plain;\r\n\tcharset=utf-8\r\nContent-Disposition: attachment;\r\n filename=\"a\r\n b.txt\"\r\n\r\nx\r\n--B--", "", "a b.txt"},
		"broken quoted-printable":        {"mixed", "--B\nContent-Transfer-Encoding: quoted-printable\n\na=b caf=C3=A9 =\nand more.\n--B--", "a=b café and more.", ""},
		"a picture that no page shows":   {"related", "--B\nContent-Type: text/html\n\n<p>See <img src=\"cid:a%40b\">.\n--B\nContent-Type: image/png\nContent-ID: <a@b>\n\nx\n--B\nContent-Type: image/png\nContent-ID: <c>\n\nx\n--B--", "See ￼0|￼.\n\n￼1|￼", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, files := shownOf(t, "Subject: x\nContent-Type: multipart/"+test.head+"; boundary=B\n\n"+test.body+"\n")
			body, _, _ := strings.Cut(text, "\n\n## Attachments")
			var names []string
			for _, f := range files {
				names = append(names, f.Name)
			}
			if got := strings.Join(names, " "); strings.TrimSpace(body) != test.want || got != test.files {
				t.Errorf("%q with %q, want %q with %q", body, got, test.want, test.files)
			}
		})
	}
}

// generated is a message in the making. Each leaf has a word of its own, or a name.
type generated struct {
	*rand.Rand
	words, pictures int
}

func (g *generated) word() string {
	g.words++
	return fmt.Sprintf("word%dx", g.words)
}

// part returns a part with its header.
func (g *generated) part(depth int) string {
	if kinds := []string{"mixed", "related", "alternative", "report", "digest", "signed", "encrypted", "unheard-of"}; depth > 0 && g.IntN(3) > 0 {
		kind, bound, end := kinds[g.IntN(len(kinds))], fmt.Sprintf("b%dx%d", depth, g.words), "--\n"
		if g.IntN(4) == 0 {
			end = "" // the outer one ends it
		}
		var b strings.Builder
		fmt.Fprintf(&b, "Content-Type: multipart/%s; boundary=%s\n\nThis is in parts.\n", kind, bound)
		for range 1 + g.IntN(4) {
			fmt.Fprintf(&b, "--%s\n%s\n", bound, g.part(depth-1))
		}
		if end != "" {
			fmt.Fprintf(&b, "--%s%s", bound, end)
		}
		return b.String()
	}
	if g.IntN(9) == 0 {
		g.pictures++
		return "Content-Type: image/png" + [...]string{"", "\nContent-Disposition: attachment", "\nContent-ID: <p>", "; name=p.png"}[g.IntN(4)] + "\n\nx"
	}
	w := g.word()
	leaves := []string{
		"\nThe plain " + w + " is here.", "Content-Type: text/plain\nContent-Disposition: inline\n\n" + w, "Content-Type: text/html\n\n<p>The <b>rich</b> " + w + "</p>", "Content-Type: text/html\n\n<div>The plain word1x is here. Also " + w + "</div>",
		"Content-Type: text/plain; name=n.txt\n\n" + w, "Content-Type: text/plain\nContent-Disposition: attachment; filename=" + w + ".txt\n\n" + w, "Content-Type: text/calendar\n\nBEGIN:VEVENT\nSUMMARY:" + w + "\nEND:VEVENT",
		"Content-Type: message/rfc822\n\nSubject: " + w + "\n\n" + w, "Content-Type: message/delivery-status\n\nStatus: " + w, "Content-Type: text/rfc822-headers\n\nSubject: " + w, "Content-Type: application/pdf\n\n%PDF " + w,
		"Content-Type: text/csv\n\n" + w + ",1", "Content-Type: application/pgp-signature\n\n" + w, "Content-Type: text/x-amp-html\n\n<p>" + w, "Content-Type: application/octet-stream; name=" + w + " and more.bin\n\n" + w,
	}
	return leaves[g.IntN(len(leaves))]
}

// Whatever is in a message, in whatever parts: its words are in the note or in a file that the note names, and its pictures are shown.
func TestMailBody_losesNothing(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		g := &generated{Rand: rand.New(rand.NewPCG(seed, 1))}
		message := "From: a@example.org\n" + g.part(4) + "\n"
		text, files := shownOf(t, message)
		if got := strings.Count(text, "￼") / 2; got != g.pictures {
			t.Fatalf("seed %d: %d of %d pictures\n%s\n---\n%s", seed, got, g.pictures, message, text)
		}
		for i := 1; i <= g.words; i++ {
			w := fmt.Sprintf("word%dx", i)
			kept := strings.Contains(text, w)
			for _, f := range files {
				kept = kept || bytes.Contains(f.Data, []byte(w)) && strings.Contains(text, f.Name)
			}
			if !kept {
				t.Fatalf("seed %d: %s is lost\n%s\n---\n%s", seed, w, message, text)
			}
		}
	}
}
