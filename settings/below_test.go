package settings_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/settings"
)

// What waits and says where prompts and pages go is not replaced by the user's own settings: it waits, and what needs it too.
func TestWaiting_theLayerBelowTakesNoPlace(t *testing.T) {
	t.Parallel()
	const own = `models: {default: cloud, aliases: {cloud: {provider: mine, model: a}, lab: {provider: mine, model: b}}}
providers: {mine: {kind: vllm, base_url: 'http://10.0.0.9/v1'}}
ingestion: {ocr: {engines: [mistral, model], model: cloud}}
`
	const lab = "providers: {lab: {kind: vllm, base_url: 'http://10.0.0.1/v1'}}\n"
	type waits struct{ Default, Cloud, Lab, Sonnet, Offline, Model, Mistral []string }
	for name, c := range map[string]struct {
		vault   string
		environ []string
		want    waits
		engines []string
	}{
		"nothing waits":            {vault: "models: {default: cloud}\n"},
		"default":                  {vault: "models: {default: x, aliases: {x: {provider: lab, model: y}}}\n" + lab, want: waits{Default: []string{"providers.lab"}}},
		"default of the flag":      {vault: "models: {default: x, aliases: {x: {provider: lab, model: y}}}\n" + lab, environ: []string{"VAULTFLOW_MODELS_DEFAULT=cloud"}},
		"default that is shadowed": {vault: "models: {default: lab, aliases: {lab: {provider: lab, model: y}}}\n" + lab, want: waits{Default: []string{"providers.lab"}, Lab: []string{"providers.lab"}}},
		"alias":                    {vault: "models: {aliases: {cloud: {provider: lab, model: y}}}\n" + lab, want: waits{Default: []string{"providers.lab"}, Cloud: []string{"providers.lab"}, Model: []string{"providers.lab"}}},
		"provider":                 {vault: "providers: {mine: {kind: vllm, base_url: 'http://10.0.0.2/v1'}}\n", want: waits{Default: []string{"providers.mine"}, Cloud: []string{"providers.mine"}, Lab: []string{"providers.mine"}, Model: []string{"providers.mine"}}},
		"built-in provider":        {vault: "models: {default: sonnet}\nproviders: {anthropic: {base_url: 'http://10.0.0.2/v1'}}\n", want: waits{Default: []string{"providers.anthropic"}, Sonnet: []string{"providers.anthropic"}}},
		"offline":                  {vault: "models: {default: offline, aliases: {offline: {provider: lab, model: y}}}\nproviders: {offline: {kind: vllm, base_url: 'http://10.0.0.2/v1'}, lab: {kind: vllm, base_url: 'http://10.0.0.2/v1'}}\n"},
		"model that reads":         {vault: "ingestion: {ocr: {model: lab}}\n", want: waits{Model: []string{"ingestion.ocr.model"}}},
		"engine":                   {vault: "providers: {mistral: {base_url: 'http://10.0.0.2/v1'}}\n", want: waits{Mistral: []string{"providers.mistral"}}},
		"address of an engine":     {vault: "ingestion: {ocr: {mistral: {endpoint: 'http://10.0.0.2/v1'}}}\n", want: waits{Mistral: []string{"ingestion.ocr.mistral"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			vault, config := t.TempDir(), filepath.Join(t.TempDir(), "own.yaml")
			write(t, config, own, 0o600)
			write(t, filepath.Join(vault, "settings.yaml"), c.vault, 0o600)
			s := load(t, settings.Input{Vault: vault, User: config, Environ: c.environ, Grants: func(settings.Waiting) bool { return false }})
			got := waits{
				s.ModelWaits(""), s.ModelWaits("cloud"), s.ModelWaits("lab"), s.ModelWaits("sonnet"), s.ModelWaits(settings.Offline),
				s.RecognitionWaits("model"), s.RecognitionWaits("mistral"),
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("what waits (-want +got):\n%s", diff)
			}
			for _, alias := range []string{"", "cloud", "lab", "sonnet", settings.Offline} {
				if a, p, ok := s.Alias(alias); ok == (len(s.ModelWaits(alias)) > 0) || !ok && (a.Provider != "" || p.Kind != "") {
					t.Errorf("%q can be asked: %v, %+v", alias, ok, a)
				}
			}
			if _, p, _ := s.Alias(settings.Offline); p.Kind != settings.Offline {
				t.Errorf("offline is %+v", p)
			}
		})
	}
}

// Engines of the vault that wait leave the recognition to this machine, and not to the engines below.
func TestWaiting_enginesBelowReadNothing(t *testing.T) {
	t.Parallel()
	s := two(t, "ingestion: {ocr: {engines: [mistral]}}", "ingestion: {ocr: {engines: [model]}}", settings.Input{Grants: func(settings.Waiting) bool { return false }})
	if diff := cmp.Diff([]string{"tesseract"}, s.Ingestion.OCR.Engines); diff != "" || len(s.Waiting) != 1 {
		t.Errorf("%s %+v", diff, s.Waiting)
	}
}

// Only models that the vault names, and no default: the one that waits is it, and a model below does not stand in.
func TestWaiting_theOnlyModelIsTheDefault(t *testing.T) {
	t.Parallel()
	s := two(t, "models: {aliases: {cloud: {provider: anthropic, model: a}}}", "models: {aliases: {lab: {provider: lab, model: y}}}\nproviders: {lab: {kind: vllm, base_url: 'http://10.0.0.1/v1'}}",
		settings.Input{Grants: func(settings.Waiting) bool { return false }})
	if s.Models.Default != "lab" || len(s.ModelWaits("")) != 1 {
		t.Errorf("the default is %s, which waits for %v", s.Models.Default, s.ModelWaits(""))
	}
}

// Nobody knows what a file that waits says.
func TestWaiting_aLinkHoldsEveryService(t *testing.T) {
	t.Parallel()
	vault, outside := t.TempDir(), t.TempDir()
	write(t, filepath.Join(outside, "a.yaml"), "models: {default: sonnet}\n", 0o600)
	if err := os.Symlink(filepath.Join(outside, "a.yaml"), filepath.Join(vault, "settings.yaml")); err != nil {
		t.Skipf("no symbolic links: %v", err)
	}
	s := load(t, settings.Input{Vault: vault, Grants: func(settings.Waiting) bool { return false }})
	_, _, ok := s.Alias("sonnet")
	if diff := cmp.Diff([]string{"file:settings.yaml"}, s.ModelWaits("sonnet")); diff != "" || ok || len(s.ModelWaits(settings.Offline)) > 0 || len(s.RecognitionWaits("mistral")) != 1 {
		t.Errorf("%s, can be asked: %v", diff, ok)
	}
}
