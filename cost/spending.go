// Package cost is the one place that counts what calls of models consume and cost: usage, amounts, prices, caps.
package cost

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/vaultflow/vaultflow/failure"
)

// Amount is what calls of models cost, or may cost: US dollars, and tokens of input and output together.
type Amount struct {
	USD    float64 `json:"usd,omitempty"`
	Tokens int64   `json:"tokens,omitempty"`
}

// Scope is what a cap bounds.
type Scope string

// The scopes of caps. What the runs cost that a run started counts in its step, its run and its workflow's day too.
const (
	ScopeStep  Scope = "step"  // all calls of a step of a run, also those of attempts that failed
	ScopeRun   Scope = "run"   // likewise of a run
	ScopeDay   Scope = "day"   // of a workflow, since midnight in its zone
	ScopeMonth Scope = "month" // of the vault, imports included, since the month began in the vault's zone
)

// Caps bound what calls may cost together. A zero of an amount bounds nothing.
type Caps struct {
	Step      Amount `json:"step,omitzero"`
	Run       Amount `json:"run,omitzero"`
	Day       Amount `json:"day,omitzero"`
	Month     Amount `json:"month,omitzero"`
	DayZone   string `json:"day_zone,omitempty"`   // IANA name; "Local" is the machine's
	MonthZone string `json:"month_zone,omitempty"` // likewise
}

// Began is when the day or the month began that a moment belongs to, in a zone.
func Began(s Scope, now time.Time, zone string) (time.Time, error) {
	location, err := time.LoadLocation(zone)
	if err != nil {
		return time.Time{}, fmt.Errorf("the zone of a budget: %w", err)
	}
	now = now.In(location)
	day := now.Day()
	if s == ScopeMonth {
		day = 1
	}
	return time.Date(now.Year(), now.Month(), day, 0, 0, 0, 0, location), nil
}

// States are the caps that bound anything, the narrowest first, with nothing spent.
func (c Caps) States(now time.Time) ([]CapState, error) {
	var states []CapState
	for _, of := range []struct {
		scope Scope
		limit Amount
		zone  string
	}{{ScopeStep, c.Step, ""}, {ScopeRun, c.Run, ""}, {ScopeDay, c.Day, c.DayZone}, {ScopeMonth, c.Month, c.MonthZone}} {
		state := CapState{Scope: of.scope}
		if of.limit != (Amount{}) && (of.scope == ScopeDay || of.scope == ScopeMonth) {
			var err error
			if state.Since, err = Began(of.scope, now, of.zone); err != nil {
				return nil, err
			}
		}
		if state.Unit, state.Limit = UnitUSD, of.limit.USD; state.Limit > 0 {
			states = append(states, state)
		}
		if state.Unit, state.Limit = UnitTokens, float64(of.limit.Tokens); state.Limit > 0 {
			states = append(states, state)
		}
	}
	return states, nil
}

// Reservation asks for the money of one request to a model, before it is sent.
type Reservation struct {
	Run      string
	Workflow string // empty: an import, which has caps of the month alone
	Step     int    // index; -1: none
	Model    string // alias
	Estimate Amount // the most that the request should cost
	NoPrice  bool   // no price is known, of no model: Estimate.USD says nothing
	Caps     Caps
}

// Reserved is a reservation that was granted. It counts against all its caps until it is settled.
type Reserved struct {
	ID     int64
	Capped bool // some cap bounds it: the request must not cost more than was estimated
}

// Settlement is the true cost of a request. It replaces the reservation.
type Settlement struct {
	ID       int64  `json:"id"`
	Cost     Amount `json:"cost"`
	Presumed bool   `json:"presumed,omitempty"` // nobody said; Cost is the estimate, since the money may be gone
}

// CapState is a cap with what counts against it now. Its type in machine output is "cap".
type CapState struct {
	Scope    Scope     `json:"scope"`
	Unit     string    `json:"unit"`            // UnitUSD or UnitTokens
	Of       string    `json:"of,omitempty"`    // the run or the workflow that it bounds; empty: the vault
	Since    time.Time `json:"since,omitzero"`  // of day and month
	Limit    float64   `json:"limit"`           // in the unit, like the others
	Spent    float64   `json:"spent"`           // settled
	Reserved float64   `json:"reserved"`        // by unfinished requests
	Above    bool      `json:"above,omitempty"` // the cap of a run that waits for the one that is asked about
}

// Count takes what was spent into the state.
func (c *CapState) Count(s Spending) {
	if c.Unit == UnitTokens {
		c.Spent, c.Reserved = float64(s.Cost.Tokens-s.Open.Tokens), float64(s.Open.Tokens)
		return
	}
	c.Spent, c.Reserved = float64(nanos(s.Cost.USD)-nanos(s.Open.USD))/nano, s.Open.USD
}

// Refuses returns the refusal of a request that might exceed the cap, or nil if it fits.
func (c CapState) Refuses(r Reservation) *OverBudget {
	over := &OverBudget{Cap: c, Estimate: r.Estimate.USD, NoPrice: r.NoPrice && c.Unit == UnitUSD, Model: r.Model}
	sum := nanos(c.Spent) + nanos(c.Reserved) + nanos(over.Estimate)
	passed := sum > nanos(c.Limit)
	if c.Unit == UnitTokens {
		over.Estimate = float64(r.Estimate.Tokens)
		passed = c.Spent+c.Reserved+over.Estimate > c.Limit
	}
	if over.NoPrice || passed && over.Estimate > 0 {
		return over
	}
	return nil
}

// nano is how finely dollars are added up: sums of billionths are exact.
const nano = 1e9

func nanos(usd float64) int64 { return int64(math.Round(usd * nano)) }

// Left is what may be spent yet, never below zero.
func (c CapState) Left() float64 { return max(c.Limit-c.Spent-c.Reserved, 0) }

// The units of caps.
const (
	UnitUSD    = "usd"
	UnitTokens = "tokens"
)

// Key is the cap's name in @budget, in the budget of a workflow, and in the settings: max_cost_usd_per_day. Only the caps
// of runs have a longer one in the settings, see [CapState.SettingsKey].
func (c CapState) Key() string {
	switch c.Scope {
	case ScopeStep, ScopeRun:
		return c.base()
	}
	return c.base() + "_per_" + string(c.Scope)
}

// SettingsKey is the path of the cap in the settings.
func (c CapState) SettingsKey() string {
	if c.Scope == ScopeRun {
		return "policy.budget." + c.base() + "_per_run"
	}
	return "policy.budget." + c.Key()
}

func (c CapState) base() string {
	if c.Unit == UnitTokens {
		return "max_total_tokens"
	}
	return "max_cost_usd"
}

// Text is an amount in the cap's unit, for people.
func (c CapState) Text(v float64) string {
	if c.Unit == UnitTokens {
		return strconv.FormatFloat(v, 'f', -1, 64) + " tokens"
	}
	return "$" + strconv.FormatFloat(v, 'g', 4, 64)
}

// MarshalJSON adds `"type":"cap"`, its name and what is left.
func (c CapState) MarshalJSON() ([]byte, error) {
	type plain CapState
	return json.Marshal(struct {
		Type string `json:"type"`
		Key  string `json:"key"`
		plain
		Left float64 `json:"left"`
	}{"cap", c.Key(), plain(c), c.Left()})
}

// OutOfFunds reports whether a failure means that the budget of a day or a month is spent. The workflow is not to blame,
// and the next day or month has another budget.
func OutOfFunds(f *failure.Error) bool {
	return f != nil && f.Code == failure.Budget && (f.Class == string(ScopeDay) || f.Class == string(ScopeMonth))
}

// OverBudget refuses a request that might pass a cap. Nothing was sent.
type OverBudget struct {
	Cap      CapState
	Estimate float64 // of the request, in the cap's unit
	NoPrice  bool    // dollars are bound, and no price is known
	Model    string  // alias
}

// Error names the cap, what was spent and what the request may cost.
func (e *OverBudget) Error() string {
	if e.NoPrice {
		return fmt.Sprintf("%s is set, and no price is known for the model %s", e.Cap.Key(), e.Model)
	}
	held := ""
	if e.Cap.Reserved > 0 {
		held = " and " + e.Cap.Text(e.Cap.Reserved) + " reserved"
	}
	return fmt.Sprintf("the call may cost up to %s; with %s spent%s before, %s would pass its %s of %s",
		e.Cap.Text(e.Estimate), e.Cap.Text(e.Cap.Spent), held, e.whose(), e.Cap.Key(), e.Cap.Text(e.Cap.Limit))
}

func (e *OverBudget) whose() string {
	switch {
	case e.Cap.Scope == ScopeMonth:
		return "the vault's month"
	case e.Cap.Scope == ScopeDay:
		return fmt.Sprintf("the day of the workflow %s", e.Cap.Of)
	case e.Cap.Above:
		return fmt.Sprintf("the %s that waits for it (run %s)", e.Cap.Scope, e.Cap.Of)
	}
	return "the " + string(e.Cap.Scope)
}

var _ failure.Reporter = (*OverBudget)(nil)

// Failure implements [failure.Reporter].
func (e *OverBudget) Failure() failure.Error {
	return failure.Error{Code: failure.Budget, Class: string(e.Cap.Scope), Hint: e.hint()}
}

func (e *OverBudget) hint() string {
	if e.NoPrice {
		return "set the price of the alias in the settings, price: {input: 3, output: 15}; zeros for a model that costs nothing"
	}
	settings, less := e.Cap.SettingsKey()+" in the settings", "send less, or limit the answer with max_output_tokens"
	switch e.Cap.Scope {
	case ScopeMonth:
		return "raise " + settings + ", or wait for the next month"
	case ScopeDay:
		return "raise " + e.Cap.Key() + " in the workflow's budget, or " + settings + ", or wait for the next day"
	case ScopeRun:
		return "raise " + e.Cap.Key() + " in the workflow's budget and start a new run, or raise " + settings + " and retry the run; or " + less
	}
	return "raise " + e.Cap.Key() + " in @budget and start a new run, or raise " + settings + " and retry the run; or " + less
}

// Known is what was really spent as far as anybody said: without the estimates for requests at work and for those nobody answered.
func (s Spending) Known() Amount {
	return Amount{USD: max(0, s.Cost.USD-s.Open.USD-s.Presumed.USD), Tokens: s.Cost.Tokens - s.Open.Tokens - s.Presumed.Tokens}
}

// Spending is what requests to models have cost.
type Spending struct {
	Calls    int    `json:"calls"`    // requests that were sent, or were about to be
	Cost     Amount `json:"cost"`     // of all, open ones at their estimates
	Open     Amount `json:"open"`     // of it, by unfinished requests
	Presumed Amount `json:"presumed"` // of it, at estimates since nobody said what they cost: a killed process, a broken connection
}
