package directives

import "testing"

func TestWriteMode_unites(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		union []string
		name  string
		want  bool
	}{
		{nil, "tags", true},
		{nil, "Aliases", true},
		{nil, "tag", true},
		{nil, "people", false},
		{[]string{"People"}, "people", true},
		{[]string{"people"}, "tags", true},
		{[]string{UnionNone}, "tags", false},
		{[]string{UnionNone}, "none", false},
	} {
		if got := (WriteMode{Mode: ModeFrontmatter, Union: tt.union}).Unites(tt.name); got != tt.want {
			t.Errorf("union=%v: Unites(%q) = %t", tt.union, tt.name, got)
		}
	}
}
