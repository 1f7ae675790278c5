package script

import "testing"

func TestRaised(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ before, text, want string }{
		{"10", "5", "⁵"},
		{"10", "-23", "⁻²³"},
		{"10", "−23", "⁻²³"},
		{"120", "1", "¹"},
		{"word", "1, 2", "¹, ²"},
		{"x", "n", "ⁿ"},
		{"10", "x", "^(x)"},
		{"10", "n+1", "^(n+1)"},
		{"10", "(n+1)", "^(n+1)"},
		{"10", "2x", "^(2x)"},
		{"120", "a", "ª"},
		{"3", "rd", "rd"},
		{"1", "er", "er"},
		{"word", "b", "^(b)"},
		{"120", "b", "^(b)"},
		{"120", "*", "*"},
		{"120", "[1]", "[1]"},
		{"Name", "TM", "™"},
		{"", "1", "¹"},
		{"", " ", " "},
		{"a ", "words", "words"},
		{"5 ", "12345678901", "^(12345678901)"},
	} {
		if got := Raised(test.before, test.text); got != test.want {
			t.Errorf("%q above %q: %q, want %q", test.text, test.before, got, test.want)
		}
	}
}

func TestLowered(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ before, text, want string }{
		{"CO", "2", "₂"},
		{"x", "-1", "₋₁"},
		{"v", "max", "_(max)"},
		{"x", "i+1", "_(i+1)"},
		{"12", "a", "_(a)"},
		{"a ", "words", "words"},
	} {
		if got := Lowered(test.before, test.text); got != test.want {
			t.Errorf("%q below %q: %q, want %q", test.text, test.before, got, test.want)
		}
	}
}

func TestToOrdinary(t *testing.T) {
	t.Parallel()
	if got := ToOrdinary.Replace("10⁻⁵ H₂O xⁿ−yⁱ"); got != "10-5 H2O xn-yi" {
		t.Error(got)
	}
	if !HasLowered("H₂O") || HasLowered("H²O") {
		t.Error("HasLowered")
	}
}
