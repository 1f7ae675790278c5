package doubt_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/doubt"
)

// What a model writes replaces the text of a page only with the letters of the page: in another order and in other cells, but no word
// that no reader found, and every number.
func TestCheck_answers(t *testing.T) {
	t.Parallel()
	const kept = "Revenue by region 2024\n\nNorth South 1,204 998 East of the river 87.5 the inter-\nnational harbour office reports the tonnage of every quarter"
	layer := doubt.Seen{Kept: kept, Others: []string{"Annual report 7\n" + kept}}
	const good = "# Revenue by region 2024\n\n| North | 1,204 |\n|---|---|\n| South | 998 |\n| East of the river | 87.5 |\n\nThe international harbour office reports the tonnage of every quarter."
	const unsure = "which numbers of its table belong together cannot be confirmed"
	table := doubt.Seen{Kept: "Budgets of the three districts\n\nName 2019 2020 2021\nAnna Berg 1,200 | 1,300 | 1,400\nBob Carlsen 900 850 950\nCecilia 300 310\nTotal 2,400 2,460 2,350"}
	const inCells = "Budgets of the three districts\n\n| Name | 2019 | 2020 | 2021 |\n|---|---:|---:|---:|\n| Anna Berg | 1,200 | 1,300 | 1,400 |\n| Bob Carlsen | 900 | 850 | 950 |\n" +
		"| Cecilia | 300 | 310 | |\n| Total | 2,400 | 2,460 | 2,350 |"
	dashed := doubt.Seen{Kept: strings.Replace(table.Kept, "300 310", "300 310 –", 1)}
	lines := []string{
		"Dear Mrs Lovelace,", "the delivery of your order 4711 will be delayed until the", "twelfth of April, nevertheless it is not illegal.",
		"You may cancel without cost in this case.", "Yours sincerely,", "Kari Nordmann",
	}
	letter := doubt.Seen{Kept: strings.Join(lines, "\n")}
	slices.Reverse(lines)
	reversed := strings.Join(lines, "\n")
	swapped := strings.Replace(letter.Kept, "nevertheless it is not illegal.", "", 1) + "\nnevertheless it is not illegal."
	with := func(old, changed string) string { return strings.Replace(letter.Kept, old, changed, 1) }
	paper := doubt.Seen{Kept: with("will be", "wil1 be"), Recognised: true, Sure: "Dear Mrs Lovelace the delivery until cancel without cost"}
	scan := doubt.Seen{
		Kept: "Tbe harb0ur offlce rep0rts 1O4 tons in 1987 for the whole quarter", Recognised: true, Sure: "tons in 1987 for the whole quarter",
	}
	const scanned = "The harbour office reports 104 tons in 1987 for the whole quarter."
	for name, c := range map[string]struct {
		seen   doubt.Seen
		answer string
		want   string // "" if it is accepted
		left   string // what the readers do not confirm
	}{
		"in order":             {layer, good, "", unsure},
		"with a running head":  {layer, "Annual report 7\n\n" + good, "", unsure},
		"tags and commands":    {layer, strings.Replace(good, "87.5", `<td colspan="3">$\mathrm{87.5}$</td>`, 1), "", unsure},
		"a number changed":     {layer, strings.Replace(good, "998", "989", 1), "a number that no reader found", ""},
		"a number twice":       {layer, good + " 998", "a number that no reader found", ""},
		"a number lost":        {layer, strings.Replace(good, "998", "", 1), "lacks a number", ""},
		"a sentence invented":  {layer, good + " Profits therefore doubled everywhere.", "found by no reader", ""},
		"a sentence repeated":  {layer, good + " The international harbour office reports the tonnage of every quarter.", "found by no reader", ""},
		"half of it":           {layer, "Revenue by region 2024: 1,204 998 87.5", "lacks", ""},
		"an answer to it":      {layer, "I cannot read this page.", "no reader", ""},
		"a flood":              {scan, strings.Repeat("ship ", 100_000), "it has 100000 words, and the page", ""},
		"nothing":              {layer, "%%", "empty", ""},
		"recognised":           {scan, scanned, "", ""},
		"a sure number":        {scan, strings.Replace(scanned, "1987", "1937", 1), "number", ""},
		"an unsure one":        {scan, strings.Replace(scanned, "104", "2000", 1), "a number that no reader found", ""},
		"other words":          {scan, "My captain lost 104 ships in 1987 near Bergen on a stormy night.", "found by no reader", ""},
		"nothing to compare":   {doubt.Seen{Recognised: true}, scanned, "no reader found any text", ""},
		"a script of no space": {doubt.Seen{Kept: "港湾事務所 2024", Recognised: false}, "# 港湾事務所\n\n2024", "", ""},
		"the letter":           {letter, letter.Kept, "", ""},
		"a word invented":      {letter, with("will be", "will never be"), "1 of its 35 words were found by no reader", ""},
		"part of a word":       {letter, with("illegal", "legal"), "found by no reader", ""},
		"a short word":         {letter, with("will be", "will not be"), "found by no reader", ""},
		"a name changed":       {letter, with("Lovelace", "Loveless"), "found by no reader", ""},
		"two words lost":       {letter, with("without cost", ""), "it lacks 2 of the 34 words", ""},
		"without a space":      {letter, with("until the", "untilthe"), "", ""},
		"with a space":         {letter, with("nevertheless", "never the less"), "", ""},
		"the lines reversed":   {letter, reversed, "no reader has its words in this order", ""},
		"a sentence moved":     {letter, swapped, "", "no other program has its words in this order"},
		"rows":                 {dashed, strings.Replace(inCells, "| 310 | |", "| 310 | – |", 1), "", ""},
		"a dash of its own":    {table, strings.Replace(inCells, "| 310 | |", "| 310 | – |", 1), "", unsure},
		"a row with a gap":     {table, inCells, "", unsure},
		"numbers swapped":      {table, strings.Replace(inCells, "1,200 | 1,300 | 1,400", "1,400 | 1,300 | 1,200", 1), "another order", ""},
		"a table in HTML":      {table, strings.Replace(inCells, "| Total", "<td>\n| Total", 1), "", unsure},
		"a scan":               {paper, letter.Kept, "", ""},
		"a scan, one invented": {paper, with("will be", "will never be"), "", "differs from text recognition in a word of 3"},
		"a scan, a sure word":  {paper, with("cost", "cast"), "", "differs from text recognition"},
		"a scan, reversed":     {paper, reversed, "no reader has its words in this order", ""},
		"other letters of it":  {doubt.Seen{Kept: "港湾事務所 2024", Recognised: false}, "# 東京事務局長\n\n2024", "found by no reader", ""},
	} {
		left, err := c.seen.Check(c.answer)
		if got := doubt.Words(left); c.left == "" && got != "" || !strings.Contains(got, c.left) {
			t.Errorf("%s: left %q, want %q", name, got, c.left)
		}
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// Readers that divide or order words differently are told apart from those that read other letters.
func TestCompare_readers(t *testing.T) {
	t.Parallel()
	var words []string
	for i := range 60 {
		words = append(words, strings.Repeat(string(rune('a'+i%26)), 2+i/26)+"x")
	}
	text := strings.Join(words, " ")
	turned := strings.Join(append(append([]string{}, words[30:]...), words[:30]...), " ")
	mixed := make([]string, 60)
	for i, w := range words {
		mixed[i*7%60] = w
	}
	for name, c := range map[string]struct{ ordered, second, want string }{
		"the same":          {text, strings.ReplaceAll(text, " ", "\r\n"), ""},
		"other letters":     {text, strings.ReplaceAll(text, "x", "q"), "two programs read 65 of its letters differently"},
		"without spaces":    {text, strings.ReplaceAll(text, "x ", "x"), "two programs divide 60 of its 60 words differently"},
		"columns exchanged": {turned, text, "two programs have its words in a different order; 50 % of them agree"},
		"mixed":             {strings.Join(mixed, " "), text, "two programs have its words in a different order"},
		"nothing":           {"", "", ""},
	} {
		got := doubt.Words(doubt.Compare(text, c.ordered, c.second))
		if name == "nothing" {
			got = doubt.Words(doubt.Compare("", "", ""))
		}
		if got != c.want && (c.want == "" || !strings.HasPrefix(got, c.want)) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
