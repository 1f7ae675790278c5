package main

import (
	"slices"
	"testing"
)

// set is a drawing of signs at these places, a size of 10 pixels each.
func set(mathml string, signs ...drawnSign) drawing {
	return drawing{MathML: mathml, Signs: signs, OK: true}
}

func TestDrawing_alike(t *testing.T) {
	fraction := set("f", drawnSign{"a", 0, 0}, drawnSign{"b", 0, 30}, drawnSign{"c", 20, 15})
	for _, c := range []struct {
		name   string
		got    drawing
		passes bool
		whole  bool
	}{
		{"the same", fraction, true, true},
		{"the same MathML in a larger one", set("xfy"), true, false},
		{"the same places by other LaTeX", set("g", drawnSign{"a", 100, 5}, drawnSign{"b", 102, 40}, drawnSign{"c", 130, 25}), true, true},
		{"a part", set("g", drawnSign{"c", 0, 0}), true, false},
		{"signs in other places", set("g", drawnSign{"b", 0, 0}, drawnSign{"a", 0, 30}, drawnSign{"c", 20, 15}), false, true},
		{"another sign", set("g", drawnSign{"x", 0, 0}), false, false},
		{"what cannot be drawn", drawing{}, false, false},
	} {
		if passes, whole := c.got.alike(fraction), c.got.whole(fraction); passes != c.passes || whole != c.whole {
			t.Errorf("%s: %t, %t", c.name, passes, whole)
		}
	}
}

func TestEquationsOf(t *testing.T) {
	got := equationsOf("so $a$, $$b\n+c$$ and \\(d\\) or \\[ e \\]")
	if want := []string{"d", "e", "b\n+c", "a"}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}
