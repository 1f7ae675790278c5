package directives

// Tools is `@tools`: what a model may use in the step. Several lines of a step add up; for one tool the last says how.
type Tools struct {
	At   Position  `json:"at"`
	All  bool      `json:"all,omitempty"`
	None bool      `json:"none,omitempty"`
	Uses []ToolUse `json:"uses,omitempty"` // in the order written
}

// ToolUse is one tool, with where its results go.
type ToolUse struct {
	Name  string   `json:"name"`
	At    Position `json:"at"`
	Route *Route   `json:"route,omitempty"` // nil: to the model
}
