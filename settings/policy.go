package settings

import "strings"

// Policy configures what may be sent to a model.
type Policy struct {
	Budget              Budget       `yaml:"budget" doc:"Limits of one prompt. The provider's own limits apply too; the smaller one wins."`
	Untrusted           []string     `yaml:"untrusted" doc:"Globs of files that somebody else wrote, such as web clippings: a step whose model reads one is restricted (docs/web.md, Trust). A vault's file can only add to the list in your own settings."`
	UntrustedProperties []string     `yaml:"untrusted_properties" doc:"Note properties, such as source or url, that mark a note as somebody else's text in the same way. A vault's file can only add to them."`
	Links               string       `yaml:"links" oneof:"warn strict" doc:"If an image link fits several files: use the nearest one and warn, or fail."`
	RemoteImages        RemoteImages `yaml:"remote_images" doc:"Pictures that a note links to with http(s)."`
}

// Budget holds the bounds of one prompt, with the names of the workflow language.
type Budget struct {
	MaxImages       int     `yaml:"max_images" min:"0" max:"10000" doc:"Attached pictures. Each counts once."`
	MaxImageMB      float64 `yaml:"max_image_mb" min:"0.01" max:"1000" doc:"Megabytes of one picture, after scaling."`
	MaxTotalMB      float64 `yaml:"max_total_mb" min:"0.01" max:"10000" doc:"Megabytes of all pictures."`
	MaxImagePixels  int     `yaml:"max_image_pixels" min:"64" max:"20000" doc:"Longest side; larger pictures are scaled down."`
	MinImageSide    int     `yaml:"min_image_side" min:"0" max:"10000" doc:"Longest side; smaller pictures (icons) are named, not sent."`
	MaxDecodePixels int64   `yaml:"max_decode_pixels" min:"10000" max:"1000000000" doc:"Width times height; larger pictures are refused before decoding."`
	MaxPages        int     `yaml:"max_pages" min:"0" max:"10000" doc:"Pages of documents."`
	MaxPromptTokens int     `yaml:"max_prompt_tokens" min:"0" max:"100000000" doc:"Estimated tokens of text and pictures. 0: four fifths of the model's window."`
	MaxToolImages   int     `yaml:"max_tool_images" min:"0" max:"10000" doc:"Pictures in one tool result."`
	MaxStepImages   int     `yaml:"max_step_images" min:"0" max:"10000" doc:"Pictures in all calls of a step."`
	MaxCostUSD      float64 `yaml:"max_cost_usd" min:"0" max:"100000" doc:"What the calls of a step may cost, including the runs it starts. 0: no limit. Each call reserves its estimated cost first; a model of unknown price counts as the most expensive known one."`
	MaxTotalTokens  int64   `yaml:"max_total_tokens" min:"0" max:"1000000000000" doc:"Input and output tokens of all calls of a step. 0: no limit."`

	MaxCostUSDPerRun       float64 `yaml:"max_cost_usd_per_run" min:"0" max:"100000" doc:"Cost of a run whose workflow sets no limit. 0: no limit."`
	MaxTotalTokensPerRun   int64   `yaml:"max_total_tokens_per_run" min:"0" max:"1000000000000" doc:"The same in tokens. 0: no limit."`
	MaxCostUSDPerDay       float64 `yaml:"max_cost_usd_per_day" min:"0" max:"100000" doc:"Cost of a workflow's runs per day in its time zone, unless it sets its own limit. 0: no limit."`
	MaxTotalTokensPerDay   int64   `yaml:"max_total_tokens_per_day" min:"0" max:"1000000000000" doc:"The same in tokens. 0: no limit."`
	MaxCostUSDPerMonth     float64 `yaml:"max_cost_usd_per_month" min:"0" max:"1000000" doc:"Cost of the whole vault per month in engine.timezone, including imports. No workflow can raise it. 0: no limit."`
	MaxTotalTokensPerMonth int64   `yaml:"max_total_tokens_per_month" min:"0" max:"1000000000000000" doc:"The same in tokens. 0: no limit."`

	WhenExceeded string `yaml:"when_exceeded" oneof:"ladder defer fail drop_oldest drop_newest refs_only" doc:"What becomes of pictures that do not fit. ladder: they are shown smaller, as their text, as one line, or in a range."`

	MinPageDPI        int `yaml:"min_page_dpi" min:"0" max:"600" doc:"Of a page that ladder makes smaller to fit; a picture counts as a page of A4. 0: no bound."`
	MaxFallbackTokens int `yaml:"max_fallback_tokens" min:"0" max:"100000000" doc:"Tokens of the texts that replace pictures in a prompt, with ladder."`
}

// RemoteImages configures pictures on other machines.
type RemoteImages struct {
	Enabled      bool     `yaml:"enabled" doc:"Fetch them when a step runs; otherwise they remain references. A preview never fetches."`
	Allow        []string `yaml:"allow" doc:"Hosts, such as *.example.org. Empty: all that deny does not list. Private addresses are never contacted."`
	Deny         []string `yaml:"deny" doc:"Hosts that are never contacted."`
	MaxMB        float64  `yaml:"max_mb" min:"0.01" max:"512" doc:"Megabytes of one picture as downloaded."`
	Timeout      Duration `yaml:"timeout" min:"1s" max:"10m" doc:"Time for one picture, including redirects."`
	MaxRedirects int      `yaml:"max_redirects" min:"0" max:"20" doc:"Most redirects to follow. Each is checked like the first address."`
	MaxPerStep   int      `yaml:"max_per_step" min:"0" max:"1000" doc:"Most pictures that one step fetches; the others are omissions."`
}

// BudgetOverlay returns the keys of policy.budget that are set, to be merged over the defaults of package policy.
func (s *Settings) BudgetOverlay() (limits map[string]float64, whenExceeded string) {
	const prefix = "policy.budget."
	b := s.Policy.Budget
	all := map[string]float64{
		"max_images": float64(b.MaxImages), "max_image_mb": b.MaxImageMB, "max_total_mb": b.MaxTotalMB,
		"max_image_pixels": float64(b.MaxImagePixels), "min_image_side": float64(b.MinImageSide),
		"max_decode_pixels": float64(b.MaxDecodePixels), "max_pages": float64(b.MaxPages),
		"max_prompt_tokens": float64(b.MaxPromptTokens), "max_tool_images": float64(b.MaxToolImages),
		"max_step_images": float64(b.MaxStepImages), "max_cost_usd": b.MaxCostUSD, "max_total_tokens": float64(b.MaxTotalTokens),
		"min_page_dpi": float64(b.MinPageDPI), "max_fallback_tokens": float64(b.MaxFallbackTokens),
		"max_cost_usd_per_run": b.MaxCostUSDPerRun, "max_total_tokens_per_run": float64(b.MaxTotalTokensPerRun),
		"max_cost_usd_per_day": b.MaxCostUSDPerDay, "max_total_tokens_per_day": float64(b.MaxTotalTokensPerDay),
		"max_cost_usd_per_month": b.MaxCostUSDPerMonth, "max_total_tokens_per_month": float64(b.MaxTotalTokensPerMonth),
	}
	limits = map[string]float64{}
	for path := range s.origins {
		key, ours := strings.CutPrefix(path, prefix)
		if v, known := all[key]; ours && known {
			limits[key] = v
		}
	}
	if _, set := s.origins[prefix+"when_exceeded"]; set {
		whenExceeded = b.WhenExceeded
	}
	return limits, whenExceeded
}
