package directives

import "time"

// Untils of a [Cache].
const (
	CacheDaily   = "daily"
	CacheWeekly  = "weekly"
	CacheForever = "forever"
)

// Cache is `@cache`: an answer is used again while it is fresh, when prompt, model and settings are the same.
type Cache struct {
	At    Position      `json:"at"`
	For   time.Duration `json:"for,omitempty"`
	Until string        `json:"until,omitempty"` // daily: to the end of the day; weekly: of the week, in the workflow's zone; forever
}

// Retry is `@retry`: how often a call of the provider that failed is repeated. It replaces the settings' number.
type Retry struct {
	At      Position      `json:"at"`
	Count   int           `json:"count"`             // 0: never
	Backoff time.Duration `json:"backoff,omitempty"` // before the first repetition, doubled each time; 0: the default
}

// Timeout is `@timeout`: how long the step may take.
type Timeout struct {
	At  Position      `json:"at"`
	For time.Duration `json:"for"`
}

// Budget is `@budget`: limits of the step by key, and the reaction to an excess. Keys are those of the frontmatter's budget.
type Budget struct {
	At           Position           `json:"at"`
	Limits       map[string]float64 `json:"limits,omitempty"`
	WhenExceeded string             `json:"when_exceeded,omitempty"`
}

// Approve is `@approve`: what a person must agree to before it happens.
type Approve struct {
	At      Position      `json:"at"`
	Outputs bool          `json:"outputs,omitempty"`
	Tools   bool          `json:"tools,omitempty"`
	Timeout time.Duration `json:"timeout,omitempty"` // 0: no end
}
