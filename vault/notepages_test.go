package vault_test

import (
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/vault"
)

const pagesNote = "Mine ^p7\n" + vault.GeneratedBegin + "\n# Book\n\nfacts\n\n## Page 1\n\n![[../pages/page_0001.png]]\n[[../B.pdf#page=1|B]] ^p1\n\nOne.\n\n### Deep\n\n" +
	"## Page 2\n\n[[../B.pdf#page=2|B]] · printed as ii ^p2\n\nTwo.\n\n" + vault.GeneratedEnd + "\nMore ^p9\n"

func TestPageParts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ note, want string }{
		"as generated":   {pagesNote, "0:# Book facts|1:## Page 1 ![[../pages/page_0001.png]] [[../B.pdf#page=1|B]] ^p1 One. ### Deep|2:## Page 2 [[../B.pdf#page=2|B]] · printed as ii ^p2 Two."},
		"Windows lines":  {strings.ReplaceAll(pagesNote, "\n", "\r\n"), "0:# Book facts|1:## Page 1 ![[../pages/page_0001.png]] [[../B.pdf#page=1|B]] ^p1 One. ### Deep|2:## Page 2 [[../B.pdf#page=2|B]] · printed as ii ^p2 Two."},
		"below heading":  {strings.Replace(pagesNote, "## Page 2\n", "## Page 2\nMINE\n", 1), "0:# Book facts|1:## Page 1 ![[../pages/page_0001.png]] [[../B.pdf#page=1|B]] ^p1 One. ### Deep|2:## Page 2 MINE [[../B.pdf#page=2|B]] · printed as ii ^p2 Two."},
		"own heading":    {strings.Replace(pagesNote, "One.\n", "One.\n\n## MINE\n", 1), "0:# Book facts|1:## Page 1 ![[../pages/page_0001.png]] [[../B.pdf#page=1|B]] ^p1 One. ## MINE ### Deep|2:## Page 2 [[../B.pdf#page=2|B]] · printed as ii ^p2 Two."},
		"an id twice":    {strings.Replace(pagesNote, "Two.", "again ^p1\n\nTwo.", 1), "0:# Book facts|1:## Page 1 ![[../pages/page_0001.png]] [[../B.pdf#page=1|B]] ^p1 One. ### Deep|2:## Page 2 [[../B.pdf#page=2|B]] · printed as ii ^p2 again ^p1 Two."},
		"own layout":     {vault.GeneratedBegin + "\ntop\n\n![[a.png]]\nx ^p1\nOne.\n\n![[b.png]]\nx ^p2\nTwo.\n" + vault.GeneratedEnd, "0:top|1:![[a.png]] x ^p1 One.|2:![[b.png]] x ^p2 Two."},
		"heading and id": {vault.GeneratedBegin + "\n# T\n\n## First ^p1\n\nOne.\n\n## Second ^p2\n\nTwo.\n" + vault.GeneratedEnd, "0:# T|1:## First ^p1 One.|2:## Second ^p2 Two."},
		"no marks":       {"One line.\n", "0:One line."},
	} {
		var got []string
		for _, p := range vault.PageParts(c.note) {
			got = append(got, string(rune('0'+p.Page))+":"+strings.Join(strings.Fields(c.note[p.From:p.To]), " "))
			if p.Page > 0 && !strings.Contains(c.note[p.From:p.Body], "^p"+string(rune('0'+p.Page))) {
				t.Errorf("%s: page %d begins with %q", name, p.Page, c.note[p.From:p.Body])
			}
		}
		if strings.Join(got, "|") != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, strings.Join(got, "|"), c.want)
		}
	}
}

// An edit changes the digest of its page alone, and line ends change none.
func TestPageDigests(t *testing.T) {
	t.Parallel()
	was, windows, edited := vault.PageDigests(pagesNote), vault.PageDigests(strings.ReplaceAll(pagesNote, "\n", "\r\n")), vault.PageDigests(strings.Replace(pagesNote, "Two.", "Two, I think.", 1))
	for n := range 3 {
		if was[n] == "" || windows[n] != was[n] || (edited[n] == was[n]) != (n != 2) {
			t.Errorf("page %d: %s, with Windows lines %s, after an edit of page 2 %s", n, was[n], windows[n], edited[n])
		}
	}
}
