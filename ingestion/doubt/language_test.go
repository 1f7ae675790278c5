package doubt_test

import (
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
