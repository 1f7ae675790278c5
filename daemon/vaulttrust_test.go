package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/ingestion/config"
	"github.com/vaultflow/vaultflow/policy/trust"
)

// A file in an import folder may be dropped there by somebody: it sends no page to a service before a person has said yes.
func TestTrust_importFoldersSendNothingUnasked(t *testing.T) {
	t.Parallel()
	vault, state := t.TempDir(), filepath.Join(t.TempDir(), "state")
	ownVault(t, vault, state)
	folder := filepath.Join(vault, "Import", "scans")
	if err := os.MkdirAll(folder, 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, config.FolderFile), []byte("ocr_engines: [mistral, model, tesseract]\nvision: all\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	engines := func() []string {
		t.Helper()
		s, err := openTest(t, Options{Dir: vault, StateDir: state}).rules.For("Import/scans/a.pdf")
		if err != nil {
			t.Fatal(err)
		}
		return s.OCR.Engines
	}
	accept := func(answer engine.TrustAnswer) {
		t.Helper()
		a := openTest(t, Options{Dir: vault, StateDir: state})
		o, err := a.Offers.Look()
		if err == nil {
			err = a.Trust.Accept(o, answer)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := engines(); len(got) > 0 { // Tesseract alone
		t.Errorf("pages go to %v", got)
	}
	offer, err := openTest(t, Options{Dir: vault, StateDir: state}).Offers.Look()
	if err != nil {
		t.Fatal(err)
	}
	if i := slices.IndexFunc(offer.Settings, func(s engine.TrustSetting) bool { return s.Key == "import_folders.ocr_engines.model" && !s.Granted }); i < 0 {
		t.Errorf("the offer is %+v", offer.Settings)
	}
	mistral, err := offer.Chosen([]string{"import_folders.ocr_engines.mistral"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	accept(mistral)
	vision := func() string {
		t.Helper()
		s, err := openTest(t, Options{Dir: vault, StateDir: state, Overrides: map[string]string{"ingestion.max_cost_usd_per_import": "2"}}).rules.For("Import/scans/a.pdf")
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(s.OCR.Vision, s.OCR.VisionUSD)
	}
	if got := vision(); got != "0" {
		t.Errorf("vision is %s before a yes", got)
	}
	all, err := offer.Chosen([]string{"import_folders.ocr_engines.mistral", "import_folders.vision"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	accept(all)
	if got := vision(); got != "all2" {
		t.Errorf("vision is %s after a yes", got)
	}
	if s, err := openTest(t, Options{Dir: vault, StateDir: state}).rules.For("Import/scans/a.pdf"); err != nil || s.OCR.Vision != "" {
		t.Errorf("vision %q without a limit of cost, %v", s.OCR.Vision, err)
	}
	if got := strings.Join(engines(), " "); got != "mistral tesseract" {
		t.Errorf("pages go to %q, want mistral and tesseract", got)
	}
	accept(engine.TrustAnswer{Level: string(trust.Untrusted)})
	if got := engines(); len(got) > 0 {
		t.Errorf("after a no pages go to %v", got)
	}
	if got := vision(); got != "0" {
		t.Errorf("vision is %s after a no", got)
	}
}
