package directives

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/failure/diag"
)

// Values of [Cache].Until.
const (
	CacheDaily   = "daily"
	CacheWeekly  = "weekly"
	CacheForever = "forever"
)

// Cache is `@cache`: an answer is reused while it is fresh and prompt, model and settings are the same.
type Cache struct {
	At    diag.Position `json:"at"`
	For   time.Duration `json:"for,omitempty"`
	Until string        `json:"until,omitempty"` // daily: until the end of the day; weekly: of the week, in the workflow's zone; forever
}

// Retry is `@retry`: how often a failed call to the provider is repeated. It overrides the settings.
type Retry struct {
	At      diag.Position `json:"at"`
	Count   int           `json:"count"`             // 0: never
	Backoff time.Duration `json:"backoff,omitempty"` // before the first retry, doubled each time; 0: the default
}

// Timeout is `@timeout`: how long the step may take.
type Timeout struct {
	At  diag.Position `json:"at"`
	For time.Duration `json:"for"`
}

// Budget is `@budget`: limits of the step by key, and the reaction when one is exceeded. It has the keys of the frontmatter's budget.
type Budget struct {
	At           diag.Position      `json:"at"`
	Limits       map[string]float64 `json:"limits,omitempty"`
	WhenExceeded string             `json:"when_exceeded,omitempty"`
}

// Approve is `@approve`: what needs approval before it happens.
type Approve struct {
	At      diag.Position `json:"at"`
	Outputs bool          `json:"outputs,omitempty"`
	Tools   bool          `json:"tools,omitempty"`
	Prompt  bool          `json:"prompt,omitempty"`
	Timeout time.Duration `json:"timeout,omitempty"` // 0: unlimited
	Retries int           `json:"retries,omitempty"` // how often the model is asked again with the reason why its files were rejected
}

// AsksPrompt reports whether a prompt waits for approval when it differs from the one that was approved last.
func (a *Approve) AsksPrompt() bool { return a != nil && a.Prompt }

// maxApproveRetries bounds retries= of @approve.
const maxApproveRetries = 10

// maxRetries bounds the count of @retry.
const maxRetries = 20

// plainValue returns a directive's value without surrounding quotes.
func plainValue(d Directive) source {
	s := source{text: d.Text, at: d.TextAt}
	if inner, quoted := unquote(s); quoted {
		return inner
	}
	return s
}

func readCache(d Directive, r *report) *Cache {
	s, words := plainValue(d), []string{CacheDaily, CacheWeekly, CacheForever}
	if word := strings.ToLower(s.text); slices.Contains(words, word) {
		return &Cache{At: d.At, Until: word}
	}
	length, err := ParseDuration(s.text)
	if err != nil {
		r.add(s.at, CodeDirectiveValue, diag.DidYouMean(s.text, words, "write @cache 7d"), "@cache takes a duration such as 12h or 7d, or %s, not %q", diag.OneOf(words), clip(s.text))
		r.mendWord(s.at, s.text, words)
	}
	return &Cache{At: d.At, For: length}
}

func readRetry(d Directive, r *report) *Retry {
	s := plainValue(d)
	n, err := strconv.Atoi(s.text)
	if err != nil || n < 0 || n > maxRetries {
		r.add(s.at, CodeDirectiveValue, "write @retry 3", "@retry takes a whole number from 0 to %d, not %q", maxRetries, clip(s.text))
	}
	retry := &Retry{At: d.At, Count: n}
	for _, p := range d.Params { // backoff
		retry.Backoff = p.duration(r)
	}
	return retry
}

func readTimeout(d Directive, r *report) *Timeout {
	s := plainValue(d)
	length, err := ParseDuration(s.text)
	if err != nil {
		r.add(s.at, CodeDirectiveValue, "write @timeout 10m", "@timeout takes a duration such as 90s or 2h, not %q", clip(s.text))
	}
	return &Timeout{At: d.At, For: length}
}

func readApprove(d Directive, r *report) *Approve {
	a := &Approve{At: d.At}
	s := plainValue(d)
	words := []string{"outputs", "tools", "prompt"}
	for _, span := range fields(s.text) {
		word, at := s.text[span[0]:span[1]], s.pos(span[0])
		switch strings.ToLower(word) {
		case "outputs":
			a.Outputs = true
		case "tools":
			a.Tools = true
		case "prompt":
			a.Prompt = true
		default:
			r.add(at, CodeDirectiveValue, diag.DidYouMean(word, words, "write @approve outputs, or @approve prompt, outputs, tools"), "@approve takes %s, not %q", diag.OneOf(words), clip(word))
			r.mendWord(at, word, words)
		}
	}
	for _, p := range d.Params {
		switch p.Key {
		case "timeout":
			a.Timeout = p.duration(r)
		case "retries":
			a.Retries = p.upTo(r, maxApproveRetries)
		}
	}
	return a
}

// WhenExceeded lists the reactions to an exceeded budget; the first is the default.
func WhenExceeded() []string {
	return []string{"ladder", "defer", "fail", "drop_oldest", "drop_newest", "refs_only"}
}

// fractional lists the limits that may have a fraction.
var fractional = []string{"max_image_mb", "max_total_mb", "max_cost_usd", "max_cost_usd_per_day"}

// BudgetKeys lists the keys of a step's budget, in the order of the language's page.
func BudgetKeys() []string {
	return []string{
		"max_images", "max_image_mb", "max_total_mb", "max_image_pixels", "min_image_side", "max_decode_pixels", "max_pages",
		"max_prompt_tokens", "max_tool_images", "max_step_images", "max_cost_usd", "max_total_tokens", "when_exceeded",
		"min_page_dpi", "max_fallback_tokens",
	}
}

// WorkflowBudgetKeys lists the keys of a workflow's budget.
func WorkflowBudgetKeys() []string {
	return append(BudgetKeys(), "max_cost_usd_per_day", "max_total_tokens_per_day")
}

// BudgetElsewhere returns where to set a cap that bounds more than the budget it was found in, or "" for other words.
func BudgetElsewhere(key string) string {
	unit, per, _ := strings.Cut(key, "_per_")
	if unit != "max_cost_usd" && unit != "max_total_tokens" {
		return ""
	}
	switch per {
	case "run":
		return unit + " in the frontmatter's budget limits a run; policy.budget." + key + " in the settings is the default"
	case "day":
		return "it limits the workflow: set it in the frontmatter's budget, or in policy.budget in the settings"
	case "month":
		return "it limits the vault: set it in policy.budget in the settings"
	}
	return ""
}

// ParseLimit parses the value of a budget key, which must not be negative. `_` may group its digits.
func ParseLimit(key, text string) (float64, error) {
	v, err := strconv.ParseFloat(strings.ReplaceAll(strings.TrimSpace(text), "_", ""), 64)
	switch whole := !slices.Contains(fractional, key); {
	case err != nil || math.IsNaN(v) || v < 0 || v > 1e15:
		return 0, fmt.Errorf("%s takes a number of 0 or more, not %q", key, clip(text))
	case whole && v != math.Trunc(v):
		return 0, fmt.Errorf("%s takes a whole number, not %q", key, clip(text))
	}
	return v, nil
}

func readBudget(d Directive, r *report) *Budget {
	b := &Budget{At: d.At}
	switch {
	case d.Text != "":
		r.add(d.TextAt, CodeDirectiveValue, "write "+adviceBudget[len("write "):], "@budget takes limits in parentheses")
		if !strings.ContainsAny(d.Text, "()") && len(d.Params) == 0 {
			r.mend(diag.Replace(d.TextAt, utf8.RuneCountInString(d.Text), "("+d.Text+")"))
		}
	case len(d.Params) == 0:
		r.add(d.TextAt, CodeNoValue, adviceBudget, "@budget names no limit")
	}
	for _, p := range d.Params {
		if p.Key == "when_exceeded" {
			b.WhenExceeded = p.word(r, WhenExceeded()...)
			continue
		}
		v, err := ParseLimit(p.Key, p.Value)
		if err != nil {
			r.add(p.ValueAt, CodeParamValue, "write "+p.Key+"=5", "%v", err)
			continue
		}
		if b.Limits == nil {
			b.Limits = map[string]float64{}
		}
		b.Limits[p.Key] = v
	}
	return b
}
