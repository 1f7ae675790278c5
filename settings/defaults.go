package settings

import (
	"slices"
	"time"
)

// Offline is the alias of the built-in model, which needs no key and no network.
const Offline = "offline"

// Defaults returns the settings of an empty configuration. Its Models.Default is Offline.
func Defaults() *Settings {
	s := unfinished()
	complete(s)
	return s
}

// unfinished returns the defaults without those of provider kinds, which are filled in after all layers.
func unfinished() *Settings {
	return &Settings{
		Models: Models{Default: Offline, Aliases: map[string]Alias{
			"sonnet": {Provider: "anthropic", Model: "claude-sonnet-5-5"},
			"gpt":    {Provider: "openai", Model: "gpt-4.1"},
			"local":  {Provider: "ollama", Model: "qwen2.5vl:7b"},
			Offline:  {Provider: "offline", Model: "offline"},
		}},
		Providers: map[string]Provider{"openai": {Kind: "openai_chat"}},
		Vault: Vault{
			WorkflowsDir: "Workflows", ImportDir: "Import", ImportedDir: "Imported", Watch: "auto",
			QuietPeriod: Duration(2 * time.Second), HoldPeriod: Duration(20 * time.Second), StallPeriod: Duration(time.Minute), RescanInterval: Duration(time.Minute),
		},
		LLM:    LLM{OverflowFallback: true},
		Engine: defaultEngine(),
		Policy: Policy{
			Budget: defaultBudget(), Links: "warn", Untrusted: []string{"Clippings/**"},
			RemoteImages: RemoteImages{MaxMB: 10, Timeout: Duration(20 * time.Second), MaxRedirects: 3, MaxPerStep: 10},
		},
		WebFetch:  WebFetch{MaxSize: 16 << 20, Timeout: Duration(30 * time.Second), MaxRedirects: 5},
		WebSearch: WebSearch{Provider: "none", MaxResults: 8, Timeout: Duration(30 * time.Second)},
		Watch:     Watch{Debounce: Duration(2 * time.Second)},
		Web:       Web{Listen: "127.0.0.1:8321"},
		Logging:   Logging{Level: "info", Format: "auto"},
		Ingestion: defaultIngestion(),
		origins:   map[string]Origin{},
		withheld:  nothingWithheld(),
	}
}

func defaultEngine() Engine {
	const day = 24 * time.Hour
	return Engine{
		MaxParallelRuns: 4, RunTimeout: Duration(6 * time.Hour), MaxSelectedFiles: 500, AutoBufferTokens: 10000,
		Retention: Retention{Runs: Duration(90 * day), RunsPerWorkflow: 500, Contents: Duration(30 * day)},
	}
}

func defaultBudget() Budget {
	return Budget{
		MaxImages: 20, MaxImageMB: 5, MaxTotalMB: 100, MaxImagePixels: 2000, MinImageSide: 24, MaxDecodePixels: 100_000_000,
		MaxPages: 20, MaxToolImages: 10, MaxStepImages: 40, WhenExceeded: "ladder",
		MinPageDPI: 72, MaxFallbackTokens: 20_000,
	}
}

func defaultIngestion() Ingestion {
	return Ingestion{
		Router: "on", KeepOriginal: "bundle", PageTimeout: Duration(20 * time.Second), OpenTimeout: Duration(time.Minute),
		Memory: 3 << 29, MaxFileSize: 512 << 20, Vision: "off",
		Remote: RemoteImport{MaxSize: 64 << 20, Timeout: Duration(2 * time.Minute)},
		PDF: PDF{
			Mode: "hybrid", DPI: 150, MaxSide: 2000, MaxPixels: 40_000_000, ImageFormat: "auto", Renderer: "auto",
			Strategies: []string{"pdf_text", "pdf_ocr"}, InlinePages: 40, WarnPages: 100, MaxPages: 5000,
		},
		Image:  ImageIngestion{Strategies: []string{"image_ocr", "image_copy"}},
		Office: Office{LibreOffice: "auto", Timeout: Duration(2 * time.Minute), MaxPages: 500},
		OCR: OCR{
			Languages: []string{"auto"}, DPI: 300, MinConfidence: 60, Words: true, Engines: []string{"tesseract"},
			Mistral: MistralOCR{Model: "mistral-ocr-latest", Timeout: Duration(2 * time.Minute)},
		},
		Audio: Audio{Model: "whisper-1", MaxRequest: 25 << 20, Timeout: Duration(30 * time.Minute)},
	}
}

// complete adds the providers that aliases name by kind, and fills in the defaults of each kind.
func complete(s *Settings) {
	for _, a := range s.Models.Aliases {
		if _, there := s.Providers[a.Provider]; !there {
			if _, isKind := kinds[a.Provider]; isKind {
				s.Providers[a.Provider] = Provider{}
			}
		}
	}
	const mistral = "mistral" // whose key text recognition needs
	if _, there := s.Providers[mistral]; !there && slices.Contains(s.Ingestion.OCR.Engines, mistral) {
		s.Providers[mistral] = Provider{}
	}
	speech := s.Ingestion.Audio.Provider
	if _, there := s.Providers[speech]; !there && kinds[speech].transcribes {
		s.Providers[speech] = Provider{}
	}
	s.WebSearch = s.WebSearch.complete()
	for name, p := range s.Providers {
		s.Providers[name] = p.complete(name)
	}
}

// complete fills in the vendor's address and key variable. They belong together: a vendor's key is not sent to another
// address unless api_key_env says so.
func (p Provider) complete(name string) Provider {
	if p.Kind == "" {
		if _, isKind := kinds[name]; isKind {
			p.Kind = name
		}
	}
	k := kinds[p.Kind]
	if p.BaseURL == "" {
		p.BaseURL = k.baseURL
	}
	if p.APIKeyEnv == "" && p.BaseURL == k.baseURL {
		p.APIKeyEnv = k.keyEnv
	}
	return p
}
