package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/daemon"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/settings"
)

// modelLine is a model as `models` prints it.
type modelLine struct {
	Type          string              `json:"type"`
	Alias         string              `json:"alias"`
	Default       bool                `json:"default"`
	Provider      string              `json:"provider"`
	Model         string              `json:"model"`
	Ready         bool                `json:"ready"`
	Problem       string              `json:"problem,omitempty"`
	Capabilities  policy.Capabilities `json:"capabilities"`
	ContextWindow int                 `json:"context_window,omitempty"` // tokens
	Price         *cost.Price         `json:"price,omitempty"`          // US dollars for a million tokens
	PriceSource   string              `json:"price_source,omitempty"`
	PriceChecked  string              `json:"price_checked,omitempty"` // the month or day of that source
	Retires       string              `json:"retires,omitempty"`       // the day from which the service no longer answers
	Successor     string              `json:"successor,omitempty"`     // that the service recommends
	RetireSource  string              `json:"retire_source,omitempty"` // who says so
	Probed        string              `json:"probed,omitempty"`        // the day on which the service was asked
	ProbeFailed   string              `json:"probe_failed,omitempty"`  // why it could not be asked now; what is shown is older

	retirement string // in words
}

func newModels(g *globals) *cobra.Command {
	var probe bool
	cmd := &cobra.Command{
		Use: "models", Short: "List model aliases and their capabilities, with the source of each", Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return listModels(cmd.Context(), g, probe) },
	}
	cmd.Flags().BoolVar(&probe, "probe", false, "ask Ollama and OpenRouter what their models can do, and keep the answers")
	return cmd
}

// listModels lists the aliases. A service that was to be asked and did not answer makes the exit code that of providers; the list
// is printed all the same.
func listModels(ctx context.Context, g *globals, probe bool) error {
	a, err := g.open(ctx)
	if err != nil {
		return err
	}
	defer a.Close()
	asked, failed := 0, 0
	for _, alias := range a.Settings.MeantNames() {
		problem := ""
		if probe {
			was, err := a.Models.Probe(ctx, alias)
			if err != nil {
				problem = err.Error()
			}
			if was && (err == nil || a.Models.IsWanted(alias)) {
				asked++
				if err != nil {
					failed++
				}
			}
		}
		if err := printModel(g, lineOfModel(ctx, a, alias, problem)); err != nil {
			return err
		}
	}
	if asked > failed {
		if err := a.Models.Keep(); err != nil {
			return err
		}
	}
	if failed > 0 {
		return exit(exitProvider, fmt.Errorf("%d of %d models could not be probed: what is shown of them is from the tables or from before", failed, asked))
	}
	return nil
}

func lineOfModel(ctx context.Context, a *daemon.Workspace, alias, failed string) modelLine {
	said, p, _ := a.Settings.Meant(alias)
	line := modelLine{
		Type: "model", Alias: alias, Default: alias == a.Settings.Models.Default, Provider: said.Provider, Model: said.Model, ProbeFailed: failed,
	}
	model, err := a.Models.Model(ctx, alias)
	line.Ready, line.Capabilities, line.ContextWindow = err == nil, model.Capabilities, model.ContextWindow
	price := a.Models.Price(alias)
	line.Price, line.PriceSource, line.PriceChecked = price.Amounts, price.Source, price.Checked
	if r := a.Models.Retirement(alias); r != nil {
		line.Retires, line.Successor, line.RetireSource, line.retirement = r.Day, r.Successor, r.Source+", "+r.Checked, r.Text(time.Now())
	}
	if line.ContextWindow == 0 {
		line.ContextWindow = policy.Limits(model.Kind, model.ID).ContextWindow
	}
	if known := a.Models.Known(alias); known != nil {
		line.Probed = known.Checked
	}
	if err != nil {
		line.Problem = err.Error()
		if len(a.Settings.ModelWaits(alias)) == 0 && p.APIKeyEnv != "" && p.Key == "" {
			line.Problem += " (" + p.APIKeyEnv + " is not set)"
		}
	}
	return line
}

// printModel prints a model for people: what it is, and what it can do.
func printModel(g *globals, l modelLine) error {
	return g.print(l, func(w io.Writer) {
		mark, state := " ", "ready"
		if l.Default {
			mark = "*"
		}
		if !l.Ready {
			state = l.Problem
		}
		fmt.Fprintf(w, "%s %-12s %s/%s  %s\n", mark, l.Alias, l.Provider, l.Model, state)
		if l.ProbeFailed != "" {
			fmt.Fprintf(w, "               not probed: %s\n", l.ProbeFailed)
		}
		var can []string
		for _, c := range l.Capabilities.List() {
			can = append(can, fmt.Sprintf("%s (%s)", c, l.Capabilities[c].From))
		}
		fmt.Fprintf(w, "               %s\n", strings.Join(can, ", "))
		if facts := l.facts(); facts != "" {
			fmt.Fprintf(w, "               %s\n", facts)
		}
		if l.retirement != "" {
			fmt.Fprintf(w, "               %s\n", l.retirement)
		}
	})
}

// facts are the window, the price and its source, and when the service was asked.
func (l modelLine) facts() string {
	var facts []string
	if l.Probed != "" && l.ContextWindow > 0 {
		facts = append(facts, fmt.Sprintf("window %d tokens", l.ContextWindow))
	}
	if l.Price != nil && l.Provider != settings.Offline {
		from := strings.TrimSuffix(l.PriceSource+", "+l.PriceChecked, ", ")
		facts = append(facts, fmt.Sprintf("$%g in, $%g out for a million tokens (%s)", l.Price.Input, l.Price.Output, from))
	}
	if l.Probed != "" {
		facts = append(facts, "asked on "+l.Probed)
	}
	return strings.Join(facts, ", ")
}
