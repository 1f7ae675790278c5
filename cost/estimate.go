package cost

// Estimate is what a request holds, without its content.
type Estimate struct {
	Texts     int `json:"texts"`
	Images    int `json:"images"`
	Documents int `json:"documents"`
	Tokens    int `json:"tokens"` // estimated, of the whole input
}
