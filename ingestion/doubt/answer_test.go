package doubt_test

import (
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
	scan := doubt.Seen{
		Kept: "Tbe harb0ur offlce rep0rts 1O4 tons in 1987 for the whole quarter", Recognised: true, Sure: "tons in 1987 for the whole quarter",
	}
	const scanned = "The harbour office reports 104 tons in 1987 for the whole quarter."
	for name, c := range map[string]struct {
		seen   doubt.Seen
		answer string
		want   string // "" if it is accepted
	}{
		"in order":             {layer, good, ""},
		"with a running head":  {layer, "Annual report 7\n\n" + good, ""},
		"tags and commands":    {layer, strings.Replace(good, "87.5", `<td colspan="3">$\mathrm{87.5}$</td>`, 1), ""},
		"a number changed":     {layer, strings.Replace(good, "998", "989", 1), "a number that no reader found"},
		"a number twice":       {layer, good + " 998", "a number that no reader found"},
		"a number lost":        {layer, strings.Replace(good, "998", "", 1), "lacks a number"},
		"a sentence invented":  {layer, good + " Profits therefore doubled everywhere.", "found by no reader"},
		"a sentence repeated":  {layer, good + " The international harbour office reports the tonnage of every quarter.", "found by no reader"},
		"half of it":           {layer, "Revenue by region 2024: 1,204 998 87.5", "lacks"},
		"an answer to it":      {layer, "I cannot read this page.", "no reader"},
		"a flood":              {scan, strings.Repeat("ship ", 100_000), "it has 100000 words, and the page"},
		"nothing":              {layer, "%%", "empty"},
		"recognised":           {scan, scanned, ""},
		"a sure number":        {scan, strings.Replace(scanned, "1987", "1937", 1), "number"},
		"an unsure one":        {scan, strings.Replace(scanned, "104", "2000", 1), "a number that no reader found"},
		"other words":          {scan, "My captain lost 104 ships in 1987 near Bergen on a stormy night.", "found by no reader"},
		"nothing to compare":   {doubt.Seen{Recognised: true}, scanned, "no reader found any text"},
		"a script of no space": {doubt.Seen{Kept: "港湾事務所 2024", Recognised: false}, "# 港湾事務所\n\n2024", ""},
		"other letters of it":  {doubt.Seen{Kept: "港湾事務所 2024", Recognised: false}, "# 東京事務局長\n\n2024", "found by no reader"},
	} {
		err := c.seen.Check(c.answer)
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
