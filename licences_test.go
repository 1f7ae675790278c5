package vaultflow

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// NOTICE and the SBOM name every module that the binaries are linked from, each under a licence that may be used.
func TestNotice_isCurrent(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "go", "run", "./testdata/notice", "-check").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

func TestSBOM_namesWhatIsEmbedded(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("sbom.cdx.json")
	if err != nil {
		t.Fatal(err)
	}
	var bom struct {
		BOMFormat, SpecVersion string
		Components             []struct {
			Name, Version, PURL string
			Ref                 string `json:"bom-ref"`
			Hashes              []struct{ Alg, Content string }
			Licenses            []struct{ Expression string }
		}
	}
	if err := json.Unmarshal(data, &bom); err != nil || bom.BOMFormat != "CycloneDX" || bom.SpecVersion != "1.5" {
		t.Fatalf("%v: %s %s", err, bom.BOMFormat, bom.SpecVersion)
	}
	refs := map[string]bool{}
	missing := map[string]bool{"MuPDF": true, "PDFium": true, "libheif": true, "libde265": true, "libavif": true, "dav1d": true, "SQLite (translated to Go)": true, "modernc.org/sqlite": true}
	for _, c := range bom.Components {
		if refs[c.Ref] || len(c.Licenses) != 1 || c.Licenses[0].Expression == "" {
			t.Errorf("%s: twice, or without a licence", c.Ref)
		}
		refs[c.Ref] = true
		delete(missing, c.Name)
		if c.PURL == "" && !strings.HasPrefix(c.Name, "SQLite") && (len(c.Hashes) != 1 || len(c.Hashes[0].Content) != 64) {
			t.Errorf("%s has no digest", c.Ref)
		}
	}
	if len(missing) > 0 {
		t.Errorf("not in the SBOM: %v", missing)
	}
	for _, name := range []string{"GNU AFFERO GENERAL PUBLIC LICENSE", "GNU LESSER GENERAL PUBLIC LICENSE", "Independent JPEG Group", "FreeType Project", "SIL OPEN FONT LICENSE"} {
		if !strings.Contains(Notice, name) {
			t.Errorf("NOTICE lacks %q", name)
		}
	}
}
