package access

import "testing"

func TestSourceOf(t *testing.T) {
	t.Parallel()
	const project = "https://github.com/vaultflow/vaultflow"
	for version, want := range map[string]string{
		"dev": project, "": project, "v1.2.0": project + "/tree/v1.2.0", "v1.2.0-dirty": project + "/tree/v1.2.0",
		"v1.2.0-14-g0a1b2c3": project + "/tree/0a1b2c3", "0a1b2c3d": project + "/tree/0a1b2c3d", "0a1b2c3d-dirty": project + "/tree/0a1b2c3d",
	} {
		if got := SourceOf(version, ""); got != want {
			t.Errorf("%q: %s, want %s", version, got, want)
		}
	}
	if got := SourceOf("dev", "https://example.org/x"); got != "https://example.org/x" {
		t.Error(got)
	}
}
