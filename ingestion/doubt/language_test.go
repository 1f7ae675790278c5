package doubt_test

import (
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/doubt"
)

// Frequent words tell languages apart, also when a reader lost their accents, and gibberish has none of them.
func TestLanguage_frequentWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, language string
		low, high      float64
	}{
		{"We terminate the contract number 55812 on 31 December. Please return the keys and the card to the office.", "eng", 0.3, 1},
		{"Xf ufsnjobuf uif dpousbdu ovncfs 55812 po 31 Efdfncfs. Qmfbtf sfuvso uif lfzt boe uif dbse up uif pggjdf.", "", 0, 0.1},
		{"Hej Asa, baten mAste vara tomd fore pask. Vanligen betala 350 kronor till kasséren pa onsdag.", "swe", 0.2, 1},
		{"Kjaere Ase, baten pa brygga ma tammes for paske. Hilsen Oyvind, som ogsa soker en ny arer.", "nor", 0.2, 1},
		{"Båden på broen skal tømmes før påske, og alle medlemmer bliver bedt om at betale efter mødet.", "dan", 0.2, 1},
		{"12.5 R4 40/20 —", "", 0, 0},
	} {
		language, share, _ := doubt.Language(c.text)
		if share < c.low || share > c.high || c.low > 0 && language != c.language {
			t.Errorf("%q: %q, %.2f", c.text, language, share)
		}
	}
}

// Accounts, names and contents have hardly any frequent words either, but their letters follow one another as in words. Recognition is
// asked only where they do not, because it takes seconds a page.
func TestGibberish(t *testing.T) {
	t.Parallel()
	replaced := strings.NewReplacer("e", "k", "a", "x", "n", "w", "r", "q", "i", "v", "o", "h", "t", "m", "s", "z", "l", "f", "d", "p")
	shifted := func(text string) string {
		return strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' {
				return 'a' + (r-'a'+3)%26
			}
			return r
		}, text)
	}
	for name, text := range map[string]string{
		"names":     "kari nordmann, ole bakke, anna kowalska, giuseppe verdi, inger hagerup, selma lagerlund, knut pedersen, olav duun, hans berg, ada holm, ellen marsh, nils strand",
		"shares":    "163,949 grupo aeroportuario (mexico) 1,454,855 berger paints india 606,442 airport services biotechnology commodity chemicals consumer finance diversified banks brewers advertising advanced logistics air freight common stocks portfolio",
		"statement": "zakelijke rekening naam omschrijving bedrag debet credit verwerkingsdatum overboeking rente tegenrekening datum personeelsdiensten rekeningnummer allianz postbus holding westland totaal saldo rabobank",
	} {
		if doubt.Gibberish(text) {
			t.Errorf("%s: recognition is asked", name)
		}
		if !doubt.Gibberish(replaced.Replace(text)) || !doubt.Gibberish(shifted(text)) {
			t.Errorf("%s: other letters in place of theirs are not noticed", name)
		}
	}
}

// The codes of a font are no text; names, numbers, prose and the labels of a diagram are.
func TestCoded(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"¡¢£¤¥¦§ ¨©ª« ¬®¯°±² ³´µ¶ ·¸¹º": true, "ABC DEFFGHHBB FBH EIK JKL LMNDA OPOQ HEN NBRGBS HAB": true,
		"t==V j6vbvbm{te=j=|)^lZ@rXZX y{j=myng`RZXk1~rsj6|j~r@rXZ|~Z@m{j=[{t":  true,
		"The rest of it is prose, of which most words are known to everybody.": false, "0 20 40 60 80 100 Time (s) Load (kN)": false, "": false,
	} {
		if got := doubt.Coded(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
