package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/vaultflow/vaultflow/daemon"
	"github.com/vaultflow/vaultflow/daemon/consent"
	"github.com/vaultflow/vaultflow/daemon/control"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/policy/trust"
)

// trustFlags are the flags of `trust`.
type trustFlags struct {
	own, shared, revoke, all, dry bool
	workflows, settings           []string
}

func newTrust(g *globals) *cobra.Command {
	var f trustFlags
	cmd := &cobra.Command{
		Use: "trust [NOTE...]", Short: "Show what the vault asks for, and allow it; with NOTE: mark its content as your own",
		Long: "Show how far this vault is trusted and what its files ask for, and let you decide. Without a terminal, decide with --own,\n" +
			"--shared, --workflow or --setting.\n\n" +
			"In your own vault, workflows run as written. In a shared one, which others can edit, each workflow waits until you allow\n" +
			"what it reaches. In both, settings that start programs, connect, listen, or name keys and places outside the vault wait\n" +
			"until you allow their exact value.\n\n" +
			"With notes, end their foreign origin: their content counts as yours from then on.",
		RunE: func(cmd *cobra.Command, notes []string) error {
			if err := f.check(notes); err != nil {
				return err
			}
			if len(notes) > 0 {
				return clearOrigins(cmd.Context(), g, notes, f.dry)
			}
			return decideTrust(cmd.Context(), g, cmd.InOrStdin(), f)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.own, "own", false, "this vault is your own; allow exactly what its settings ask for now")
	flags.BoolVar(&f.shared, "shared", false, "others edit this vault too: each workflow must be allowed")
	flags.BoolVar(&f.all, "all", false, "with --shared: allow everything that the vault asks for now")
	flags.BoolVar(&f.revoke, "revoke", false, "revoke all trust in this vault")
	flags.StringArrayVar(&f.workflows, "workflow", nil, "allow what this workflow reaches now (repeatable)")
	flags.StringArrayVar(&f.settings, "setting", nil, "allow the value that this setting has now (repeatable)")
	flags.BoolVar(&f.dry, "dry-run", false, "only show what the vault asks for; with notes, show the origin of each line")
	return cmd
}

func (f trustFlags) check(notes []string) error {
	doing := 0
	for _, is := range []bool{f.own, f.shared, f.revoke, len(f.workflows)+len(f.settings) > 0, f.dry || len(notes) > 0} {
		if is {
			doing++
		}
	}
	if doing > 1 {
		return usagef("use only one of --own, --shared, --revoke, --workflow or --setting, and --dry-run or names of notes")
	}
	if f.all && !f.shared {
		return usagef("--all goes with --shared; --own allows everything that is asked for")
	}
	return nil
}

// decideTrust shows what is asked for, and stores the answer.
func decideTrust(ctx context.Context, g *globals, in io.Reader, f trustFlags) error {
	a, o, err := openOffer(ctx, g)
	if err != nil {
		return err
	}
	defer func() { a.Close() }()
	if err := g.print(o.Trust, func(w io.Writer) { fmt.Fprint(w, offerText(o)) }); err != nil {
		return err
	}
	var answer engine.TrustAnswer
	workflowsToo := false // of a vault that becomes shared
	switch {
	case f.revoke:
		answer = engine.TrustAnswer{Level: string(trust.Untrusted)}
	case f.own:
		answer = engine.TrustAnswer{Level: string(trust.Own), Settings: o.WaitingSettings()}
	case f.shared:
		answer, workflowsToo = engine.TrustAnswer{Level: string(trust.Shared)}, f.all
		if f.all {
			answer.Settings = o.WaitingSettings()
		}
	case len(f.workflows)+len(f.settings) > 0:
		if answer, err = o.Chosen(f.settings, f.workflows); err != nil {
			return err
		}
	case f.dry || g.json:
		return nil
	case o.Level != string(trust.Untrusted) && o.Waiting() == 0:
		return nil
	case !isTerminal(in):
		return exit(exitRefused, errors.New("nothing is asked without a terminal; say `vaultflow trust --own`, --shared, --workflow NAME or --setting KEY"))
	default:
		return askTrust(ctx, g, bufio.NewReader(untilDone{ctx, in}), a, o)
	}
	if err := acceptAnswer(ctx, g, a, o, answer); err != nil || !workflowsToo {
		return err
	}
	a.Close()
	if a, o, err = openOffer(ctx, g); err != nil { // with the settings that were granted now
		return err
	}
	return acceptAnswer(ctx, g, a, o, engine.TrustAnswer{Workflows: o.WaitingWorkflows()})
}

// openOffer opens the vault and looks at what it asks for.
func openOffer(ctx context.Context, g *globals) (*daemon.Workspace, consent.Offer, error) {
	a, err := g.openDespiteFaults(ctx)
	if err != nil {
		return nil, consent.Offer{}, err
	}
	o, err := a.Offers.Look()
	if err != nil {
		a.Close()
		return nil, consent.Offer{}, err
	}
	if a.Trust.Announce("trust") {
		o.Note = consent.Adopted
	}
	return a, o, nil
}

// acceptAnswer stores an answer, prints what was granted, and waits until a running serve uses it.
func acceptAnswer(ctx context.Context, g *globals, a *daemon.Workspace, o consent.Offer, answer engine.TrustAnswer) error {
	if err := a.Trust.Accept(o, answer); err != nil {
		return exit(failureExit(err), err)
	}
	for _, s := range o.Settings {
		for _, digest := range answer.Settings {
			if s.Digest == digest {
				fmt.Fprintf(g.err, "allowed: %s: %s\n", trust.Plain(s.Key), trust.Plain(s.Says))
			}
		}
	}
	for _, w := range o.Workflows {
		for _, name := range answer.Workflows {
			if name == w.Name+" "+w.Digest {
				fmt.Fprintf(g.err, "allowed: workflow %s\n", trust.Plain(w.Name))
			}
		}
	}
	s, err := a.Trust.Stored()
	if err != nil {
		return err
	}
	fmt.Fprintf(g.err, "this vault is %s\n", s.Level.Words())
	return renewServe(ctx, a, consent.Fingerprint(s))
}

// renewWithin bounds how long `trust` waits for a running serve.
const renewWithin = 15 * time.Second

// renewServe asks a running serve to load the settings again, and waits until it has.
func renewServe(ctx context.Context, a *daemon.Workspace, want string) error {
	if _, err := control.Ask(ctx, a.StateDir, control.Order{Trust: true}); err != nil {
		return nil //nolint:nilerr // none is running
	}
	ctx, cancel := context.WithTimeout(ctx, renewWithin)
	defer cancel()
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		if r, err := control.Ask(ctx, a.StateDir, control.Order{Trust: true}); err == nil && r.Trust == want {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.New("the running serve does not answer; restart it, so that it works with what you have allowed")
		case <-ticker.C:
		}
	}
}

// askTrust asks a person at a terminal.
func askTrust(ctx context.Context, g *globals, in *bufio.Reader, a *daemon.Workspace, o consent.Offer) error {
	answer := engine.TrustAnswer{Settings: o.WaitingSettings()}
	if o.Level == string(trust.Untrusted) {
		fmt.Fprintln(g.err, "\n  o  it is my own: its workflows run as written, and the settings above take effect")
		fmt.Fprintln(g.err, "  s  others write it too: the settings above take effect, and I am asked about each workflow")
		fmt.Fprintln(g.err, "  n  do not trust it")
		answered, err := word(in, g.err, "Whose vault is this? [o/s/N] ")
		if err != nil {
			return err
		}
		switch answered {
		case "o", "own":
			answer.Level = string(trust.Own)
		case "s", "shared":
			answer.Level = string(trust.Shared)
		default:
			return exit(exitRefused, errors.New("nothing was allowed"))
		}
	} else if len(answer.Settings) > 0 {
		if sure, err := agrees(in, g.err, "Allow the settings that wait? [y/N] "); err != nil {
			return err
		} else if !sure {
			answer.Settings = nil
		}
	}
	if answer.Level != "" || len(answer.Settings) > 0 {
		if err := acceptAnswer(ctx, g, a, o, answer); err != nil {
			return err
		}
	}
	if answer.Level == string(trust.Own) || o.Level == string(trust.Own) {
		return nil
	}
	again, o, err := openOffer(ctx, g)
	if err != nil {
		return err
	}
	defer again.Close()
	var granted []string
	for _, w := range o.Workflows {
		if w.Granted {
			continue
		}
		for _, line := range w.New {
			fmt.Fprintf(g.err, "      + %s\n", line)
		}
		sure, err := agrees(in, g.err, fmt.Sprintf("Allow the workflow %s? [y/N] ", trust.Plain(w.Name)))
		if err != nil {
			return err
		}
		if sure {
			granted = append(granted, w.Name+" "+w.Digest)
		}
	}
	if len(granted) == 0 {
		return nil
	}
	return acceptAnswer(ctx, g, again, o, engine.TrustAnswer{Workflows: granted})
}

// untilDone is a reader that returns when ctx ends, also while r blocks: it is a terminal, or a pipe that stays open.
type untilDone struct {
	ctx context.Context
	r   io.Reader
}

// Read implements io.Reader. What arrives after ctx has ended is lost.
func (i untilDone) Read(p []byte) (int, error) {
	data := make([]byte, len(p))
	var n int
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		n, err = i.r.Read(data)
	}()
	select {
	case <-i.ctx.Done():
		return 0, i.ctx.Err()
	case <-done:
		return copy(p, data[:n]), err
	}
}

// word asks a question and reads the answer's line. The end of the input is an empty answer; an error means that the user stopped the command.
func word(in *bufio.Reader, out io.Writer, question string) (string, error) {
	fmt.Fprint(out, question)
	line, err := in.ReadString('\n')
	if errors.Is(err, context.Canceled) {
		fmt.Fprintln(out)
		return "", err
	}
	return strings.ToLower(strings.TrimSpace(line)), nil
}

func agrees(in *bufio.Reader, out io.Writer, question string) (bool, error) {
	answer, err := word(in, out, question)
	return answer == "y" || answer == "yes", err
}

// allowByHand asks a person at a terminal about a workflow that waits in a shared vault, before it is run.
func allowByHand(ctx context.Context, g *globals, in io.Reader, a *daemon.Workspace, name string) error {
	now := a.Trust.Now()
	if now.Level != trust.Shared || !isTerminal(in) {
		return nil // the run reports what is missing
	}
	plan, err := a.Workflows.Named(name)
	if err != nil || now.Allows(plan.Name, a.Trust.Reach(plan)) {
		return nil //nolint:nilerr // as above
	}
	o, err := a.Offers.Look()
	if err != nil {
		return err
	}
	answer, err := o.Chosen(nil, []string{plan.Name})
	if err != nil {
		return err
	}
	for _, w := range o.Workflows {
		if w.Name == plan.Name {
			for _, line := range w.New {
				fmt.Fprintf(g.err, "  + %s\n", line)
			}
		}
	}
	sure, err := agrees(bufio.NewReader(untilDone{ctx, in}), g.err, fmt.Sprintf("This vault is shared. Allow the workflow %s? [y/N] ", trust.Plain(plan.Name)))
	if err != nil || !sure {
		return err
	}
	return acceptAnswer(ctx, g, a, o, answer)
}

// offerText prints an offer for people.
func offerText(o consent.Offer) string {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	say("vault  %s", trust.Plain(o.Vault))
	say("trust  %s", o.Means)
	if o.Note != "" {
		say("       %s", o.Note)
	}
	if len(o.Settings) > 0 {
		say("\nsettings of this vault that reach out:")
	}
	for _, s := range o.Settings {
		say("  %s %s: %s", mark(s.Granted), trust.Plain(s.Key), trust.Plain(s.Says))
		switch {
		case s.Was != "" && !s.Granted:
			say("      before: %s", trust.Plain(s.Was))
			say("      now:    %s", trust.Plain(s.Value))
		case s.Value != "":
			say("      value: %s", trust.Plain(s.Value))
		}
	}
	if len(o.Workflows) > 0 {
		say("\nworkflows:")
	}
	for _, w := range o.Workflows {
		state := ""
		if !w.Enabled {
			state = " (by hand)"
		}
		say("  %s %s%s", mark(w.Granted), trust.Plain(w.Name), state)
		if w.Granted {
			continue
		}
		for _, line := range w.New {
			say("      + %s", line)
		}
		for _, line := range w.Gone {
			say("      - %s", line)
		}
		if len(w.New) == 0 {
			say("      reaches nothing but its own notes")
		}
	}
	return b.String()
}

func mark(granted bool) string {
	if granted {
		return "allowed"
	}
	return "waits  "
}
