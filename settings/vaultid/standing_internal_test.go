package vaultid

import "testing"

// TestStanding_twins: the roots of two disks that were formatted in one moment have the same numbers but for the device. Without an id, the second
// is another vault and not a copy; without the first, it may be the same one under another path.
func TestStanding_twins(t *testing.T) {
	t.Parallel()
	r := Record{Path: "/a", Folder: "0.39:1@1.5", IDs: []string{"one"}}
	first := Vault{Path: "/a", Folder: "0.39:1@1.5", ID: "one"}
	there := func(v Vault) func(string) (Vault, bool, error) {
		return func(string) (Vault, bool, error) { return v, false, nil }
	}
	for name, tt := range map[string]struct {
		v     Vault
		other Vault
		want  Standing
	}{
		"no id":                  {Vault{Path: "/b", Folder: "0.41:1@1.5"}, first, Foreign},
		"another id":             {Vault{Path: "/b", Folder: "0.41:1@1.5", ID: "two"}, first, Foreign},
		"a copy":                 {Vault{Path: "/b", Folder: "0.41:7@2.5", ID: "one"}, first, Copied},
		"a disk that was cloned": {Vault{Path: "/b", Folder: "0.41:1@1.5", ID: "one"}, first, Copied},
		"in its place another":   {Vault{Path: "/b", Folder: "0.41:1@1.5"}, Vault{Path: "/a", Folder: "0.39:9@3.5"}, Moved},
	} {
		if got := r.standing(tt.v, there(tt.other)); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}
