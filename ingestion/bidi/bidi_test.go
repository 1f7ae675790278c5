package bidi_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/ingestion/bidi"
)

func line(visual string, rtl bool) bidi.Line {
	return bidi.Line{Visual: strings.Split(visual, ""), RTL: rtl}
}

// What people write is found again from what they see. Each line is as browsers draw it, from left to right.
func TestLine_Logical(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		visual, logical string
		ltr             bool // the paragraph runs from left to right
	}{
		{visual: "םולש", logical: "שלום"},
		{visual: ".םוי לכב ₪ 1,234.56 אוה ריחמה", logical: "המחיר הוא 1,234.56 ₪ בכל יום."},
		{visual: "12/03/2024 םויב", logical: "ביום 12/03/2024"},
		{visual: "03-1234567 ןופלט", logical: "טלפון 03-1234567"},
		{visual: "החנה 50% םע", logical: "עם 50% הנחה"},
		{visual: "₪50-ב", logical: "ב-₪50"},
		{visual: "שדח Microsoft Office 365 רצומ", logical: "מוצר Microsoft Office 365 חדש"},
		{visual: ".(Office) רצומה", logical: "המוצר (Office)."},
		{visual: "(אב) גד", logical: "דג (בא)"},
		{visual: "[12] הרעה", logical: "הערה [12]"},
		{visual: "2nd רוד", logical: "דור 2nd"},
		{visual: "20 - 10 ןיב", logical: "בין 10 - 20"},
		{visual: "10:30 העשב", logical: "בשעה 10:30"},
		{visual: "ה Excel (xlsx) ץבוק", logical: "קובץ Excel (xlsx) ה"},
		{visual: "12/03/2024 خيراتلا", logical: "التاريخ 12/03/2024"},
		{visual: "1234567-03 فتاه", logical: "هاتف 03-1234567"},
		{visual: "%50 مصخ", logical: "خصم 50%"},
		{visual: "٪٥٠ مصخ", logical: "خصم ٥٠٪"},
		{visual: "١٬٢٣٤٫٥٦ رعسلا", logical: "السعر ١٬٢٣٤٫٥٦"},
		{visual: "1,234.56", logical: "1,234.56"},
		{visual: "03-1234567", logical: "03-1234567"},
		{visual: "-17.90", logical: "-17.90"},
		{visual: "5%- גד", logical: "דג -5%"},
		{visual: "-5°", logical: "-5°", ltr: true},
		{visual: "Jeremy is יבר in Hebrew", logical: "Jeremy is רבי in Hebrew", ltr: true},
		{visual: "the word םלועה םולש (peace).", logical: "the word שלום העולם (peace).", ltr: true},
		{visual: "see גד 12 בא there", logical: "see אב 12 דג there", ltr: true},
		{visual: "written (ןושל) so", logical: "written (לשון) so", ltr: true},
	} {
		got, sure := line(c.visual, !c.ltr).Logical()
		if got != c.logical || !sure {
			t.Errorf("%q: %q, sure: %v; want %q", c.visual, got, sure, c.logical)
		}
	}
}

// What the algorithm never draws is doubtful, and no letter is lost.
func TestLine_Logical_doubts(t *testing.T) {
	t.Parallel()
	for visual, want := range map[string]string{"בא 3 GB גד": "דג 3 GB אב", "12 abc גד": "דג 12 abc", "-5% גד": "דג -5%"} {
		if got, sure := line(visual, true).Logical(); sure || got != want {
			t.Errorf("%q: %q, sure: %v", visual, got, sure)
		}
	}
}

// Some programs say of a bracket what it is in the text, others what it looks like.
func TestLine_Logical_brackets(t *testing.T) {
	t.Parallel()
	if got, _ := (bidi.Line{Visual: strings.Split(")אב( גד", ""), RTL: true, Turned: true}).Logical(); got != "דג (בא)" {
		t.Errorf("%q", got)
	}
	for visual, want := range map[string]bool{")אב( גד": true, "(אב) גד": false, "(abc) אב": false, "(אב": false} {
		if got := bidi.Turned([]bidi.Line{line(visual, true)}); got != want {
			t.Errorf("%q: %v", visual, got)
		}
	}
}

func FuzzLogical(f *testing.F) {
	f.Add("אב 12 (abc) %", true)
	f.Fuzz(func(t *testing.T, s string, rtl bool) {
		if !utf8.ValidString(s) {
			return
		}
		got, _ := bidi.Line{Visual: strings.Split(s, ""), RTL: rtl}.Logical()
		if utf8.RuneCountInString(got) != utf8.RuneCountInString(s) {
			t.Errorf("%q: %q", s, got)
		}
	})
}
