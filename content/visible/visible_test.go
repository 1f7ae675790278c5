package visible

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestText_showsWhatCannotBeSeen(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"a\u202eb\u202c":                  "a<U+202E>b<U+202C>",
		"\u2066x\u2069":                   "<U+2066>x<U+2069>",
		"pay\u200bload":                   "pay<U+200B>load",
		"a\u200b\u200b\u200b":             "a<U+200B ×3>",
		"a\u200d\u200cb":                  "a<U+200D><U+200C>b",
		"\U000E0041\U000E0042":            "<U+E0041><U+E0042>",
		"x\ufe0f":                         "x<U+FE0F>",
		"✔\ufe0f\ufe0f":                   "✔\ufe0f<U+FE0F>",
		"字\U000E0101":                     "字<U+E0101>",
		"\x1b[2J":                         "<U+001B>[2J",
		"\u009b31m":                       "<U+009B>31m",
		"\x9b31m":                         "<0x9B>31m",
		"\x00\x07\x7f":                    "<U+0000><U+0007><U+007F>",
		"one\rtwo":                        "one<U+000D>two",
		"one\r":                           "one<U+000D>",
		"one\u2028two\u2029":              "one<U+2028>two<U+2029>",
		"\ufeffhead":                      "<U+FEFF>head",
		"5\u00a0kg":                       "5<U+00A0>kg",
		"\u3164\uffa0\u115f":              "<U+3164><U+FFA0><U+115F>",
		"\u2800":                          "<U+2800>",
		"soft\u00adhyphen":                "soft<U+00AD>hyphen",
		"\ue000":                          "<U+E000>",
		"\u0338x":                         "<U+0338>x",
		"a\n\u0338x":                      "a\n<U+0338>x",
		"a\u034fb":                        "a<U+034F>b",
		strings.Repeat("\xff", 3):         "<0xFF ×3>",
		"e" + strings.Repeat("\u0301", 6): "e" + strings.Repeat("\u0301", 4) + "<U+0301 ×2>",
	} {
		if got := Text(in); got != want {
			t.Errorf("Text(%+q) = %q, want %q", in, got, want)
		}
		if Warning(in) == "" || len(Hidden(in)) == 0 {
			t.Errorf("%+q: no warning", in)
		}
	}
}

func TestText_leavesOrdinaryText(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"", "plain\ttext\n", "one\r\ntwo\r\n", "Grüße, e\u0301té, Ελληνικά, русский, עברית, العربية", "日本語\u3000の文章", "한국어",
		"می\u200cخواهم", "क\u094d\u200dष", "👩\u200d💻 ❤\ufe0f\u200d🔥 ✔\ufe0e 1\ufe0f\u20e3", "🇳🇴 👍🏽", "tiếng Việt", "\u0601١٢", "<U+202E>", "€ § ° — …",
	} {
		if got := Text(s); got != s {
			t.Errorf("Text(%+q) = %+q, want it unchanged", s, got)
		}
		if got := Warning(s); got != "" {
			t.Errorf("Warning(%+q) = %q", s, got)
		}
	}
}

func TestNameAndLine(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"Plans/today.md": "Plans/today.md", "a\nb": "a<U+000A>b", " a.md  ": "<U+0020>a.md<U+0020 ×2>", "gpj\u202e.md": "gpj<U+202E>.md", "": "", "  ": "<U+0020 ×2>",
		"a\r\nb\tc": "a<U+000D><U+000A>b<U+0009>c",
	} {
		if got := Name(in); got != want {
			t.Errorf("Name(%+q) = %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]string{"x": "x", "x  ": "x<U+0020 ×2>", "x \t": "x<U+0020><U+0009>", "  x y": "  x y", "": ""} {
		if got := Line(in); got != want {
			t.Errorf("Line(%+q) = %q, want %q", in, got, want)
		}
	}
}

func TestLookalike(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Plаns/today.md", "Plans/сору.md", "Plans/ｔoday.md", "a\u2215b.md", "a\u2024md", "𝐬ettings.yaml", "Ηealth.md"} {
		if Lookalike(name) == "" {
			t.Errorf("no warning for %+q", name)
		}
	}
	for _, name := range []string{"Plans/today.md", "Планы/завтра.md", "Σχέδια.md", "日本語 notes.md", "café.md", "Заметки о Go.md", "½ cup.md"} {
		if got := Lookalike(name); got != "" {
			t.Errorf("%q: %s", name, got)
		}
	}
}

// FuzzText holds what everybody builds on: nothing that commands or hides is left, what is left is text, and a second pass
// changes nothing.
func FuzzText(f *testing.F) {
	for _, s := range []string{"a\u202eb", "\xff\x9b", "👩\u200d💻", "می\u200cخواهم", "x\u0301\u0301\u0301\u0301\u0301\u0301", "\r\n\r", "\U000E0041", "क\u094d\u200dष", "\ufe0f1\ufe0f"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		text := Text(s)
		if !utf8.ValidString(text) || Text(text) != text || Hidden(text) != nil {
			t.Fatalf("Text(%+q) = %+q is not settled", s, text)
		}
		if got := Name(s); strings.ContainsAny(got, "\n\r\t") || Name(got) != got {
			t.Fatalf("Name(%+q) = %+q", s, got)
		}
		checkSeen(t, s, text)
	})
}

// TestText_everyCharacter puts every code point between two letters.
func TestText_everyCharacter(t *testing.T) {
	t.Parallel()
	for r := range rune(unicode.MaxRune + 1) {
		if !utf8.ValidRune(r) {
			continue
		}
		s := "a" + string(r) + "b"
		text := Text(s)
		checkSeen(t, s, text)
		if shown := text != s; !shown && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) &&
			r != '\n' && r != '\t' && !unicode.Is(unicode.Prepended_Concatenation_Mark, r) {
			t.Errorf("U+%04X is not shown", r)
		}
	}
}

// checkSeen fails when a text that was made visible holds what is never seen.
func checkSeen(t *testing.T, s, text string) {
	t.Helper()
	for i, r := range text {
		isEnd := r == '\r' && strings.HasPrefix(text[i:], "\r\n")
		if unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Bidi_Control) && r != '\n' && r != '\t' && !isEnd {
			t.Fatalf("Text(%+q) = %+q holds U+%04X", s, text, r)
		}
		if r >= 0xE0000 && r <= 0xE0FFF || r == '\u200b' || r == '\u2060' || r == '\ufeff' {
			t.Fatalf("Text(%+q) = %+q holds U+%04X", s, text, r)
		}
	}
}
