package step

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/change"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/failure/diag"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
	"github.com/vaultflow/vaultflow/policy/origin"
	"github.com/vaultflow/vaultflow/step/parts"
	"github.com/vaultflow/vaultflow/vault"
)

// Inputs finds and reads the @inputs of steps.
type Inputs struct {
	change.Files
	Links    vault.Links
	Pending  directives.Pending
	Last     Last
	Vars     Vars
	Blobs    change.Blobs
	MaxFiles int                                      // largest selection of one input
	Born     func(name string) (t time.Time, ok bool) // creation times, for order=ctime; nil: not known
}

// Resolve is the activity: it finds the files and variables of a step's inputs. It only reads.
func (s *Steps) Resolve(ctx context.Context, in engine.ResolveIn) (engine.ResolveOut, error) {
	sc, err := s.plans.Context(ctx, in.StepRef)
	if err != nil {
		return engine.ResolveOut{}, err
	}
	out, err := s.Inputs.Resolve(ctx, sc, in.Vars)
	if err == nil {
		err = s.Inputs.keep(ctx, &out)
	}
	return out, err
}

// Resolve finds the files and variables of all inputs of a step.
func (r Inputs) Resolve(ctx context.Context, s Context, vars []engine.Var) (engine.ResolveOut, error) {
	var out engine.ResolveOut
	if err := s.checkSubject(); err != nil {
		return out, err
	}
	if err := r.samePages(s); err != nil {
		return out, err
	}
	for _, input := range s.Step.Inputs {
		if err := ctx.Err(); err != nil {
			return out, fmt.Errorf("resolve inputs: %w", err)
		}
		found, warnings, err := r.Find(ctx, s, input, vars)
		if err != nil {
			return out, err
		}
		out.Warnings = append(out.Warnings, warningLines(warnings)...)
		noTrigger := input.Target.Scheme == directives.SchemeTrigger && len(found.Files) == 0
		what := input.Target.String()
		switch {
		case r.silent(s, input, found):
			out.Missing = append(out.Missing, what+" ("+found.Files[0].Name+" is a recording without text)")
		case noTrigger, input.Required && !hasContent(found):
			if len(found.Files) > 0 {
				what += " (no changes)"
			}
			out.Missing = append(out.Missing, what)
		}
		out.Inputs = append(out.Inputs, found)
	}
	return out, nil
}

// samePages refuses a part whose document got other pages since the run listed its parts: the numbers mean other pages now.
func (r Inputs) samePages(s Context) error {
	part := s.part()
	if part == nil || !part.Paged() {
		return nil
	}
	dir := path.Dir(s.items[0].Name)
	m, err := readManifest(r.FS, dir)
	if err != nil {
		return nil //nolint:nilerr // a PDF file without an import, or a document that is gone: reading it reports that
	}
	for _, was := range part.Pages {
		i := slices.IndexFunc(m.Pages, func(p manifest.Page) bool { return p.N == was.N })
		if i < 0 || (divider{inputs: r}).page(dir, m.Pages[i]).ID != was.ID {
			return failure.New(failure.Conflict, "run the workflow again: parts that are done stay done",
				"%s got other pages while the run was going: page %d is not the one that belongs to %s", s.items[0].Name, was.N, part.Name)
		}
	}
	return nil
}

// Find finds the files of an input, or its variable.
func (r Inputs) Find(ctx context.Context, s Context, input directives.Input, vars []engine.Var) (engine.ResolvedInput, []diag.Diagnostic, error) {
	found := engine.ResolvedInput{Directive: input.Index}
	if input.Target.Scheme == directives.SchemeVariable {
		found.Variable = input.Target.Path
		v, err := r.Vars.Get(ctx, s.Plan.Name, input.Target.Path, input.Scope, vars)
		found.Digest, found.Origins = v.Digest, v.Origins
		return found, nil, err
	}
	var warnings []diag.Diagnostic
	for _, facts := range s.perItem(input) {
		env := r.env(s)
		env.Facts = facts
		resolution, err := input.Resolve(ctx, env)
		if err != nil {
			return found, nil, failure.WithCode(err, failure.Input)
		}
		one := s
		one.Facts = facts
		own, err := r.ownNote(ctx, one, input.Target, resolution)
		if err != nil {
			return found, nil, err
		}
		if own != "" {
			input := input
			input.Target.Path, input.Target.Literal = own, true
			if resolution, err = input.Resolve(ctx, env); err != nil {
				return found, nil, failure.WithCode(err, failure.Input)
			}
		}
		warnings = append(warnings, resolution.Warnings...)
		for _, file := range resolution.Files {
			if slices.ContainsFunc(found.Files, func(f engine.ResolvedFile) bool { return f.Name == file.Name }) {
				continue // two items that find the same file
			}
			resolved, err := r.seen(ctx, s, input, file)
			if err != nil {
				return found, nil, err
			}
			found.Files = append(found.Files, resolved)
		}
	}
	return found, warnings, nil
}

// perItem returns the facts to resolve an input with: one set for each item of the batch if its path mentions the item.
func (s Context) perItem(input directives.Input) []directives.Facts {
	if len(s.items) < 2 || input.Target.Literal || !directives.MentionsItem(input.Target.Path) {
		return []directives.Facts{s.Facts}
	}
	var list []directives.Facts
	for _, it := range s.items {
		facts := s.Facts
		facts.Item, facts.ItemName, facts.Items = it.text, it.name(), nil
		list = append(list, facts)
	}
	return list
}

// seen returns a file with its present digest. A file that the workflow may not read fails the step.
func (r Inputs) seen(ctx context.Context, s Context, input directives.Input, file directives.Found) (engine.ResolvedFile, error) {
	resolved := engine.ResolvedFile{Name: file.Name, SHA256: file.SHA256, Pending: input.Selection.Pending}
	real, err := origin.Real(r.FS, file.Name)
	if err != nil {
		return resolved, failure.New(failure.Permission, "remove the link from the vault", "%s: %v", input.At, err)
	}
	if may := s.Plan.Meta.Permissions.MayRead; may(file.Name) && !may(real) {
		return resolved, failure.New(failure.Permission, "add it to permissions.read in the frontmatter",
			"%s: %s is a link to %s, which may not be read by this workflow", input.At, file.Name, real)
	} else if !may(file.Name) {
		return resolved, failure.New(failure.Permission, "add it to permissions.read in the frontmatter",
			"%s: %s may not be read by this workflow", input.At, file.Name)
	}
	if resolved.SHA256 == "" {
		if resolved.SHA256, err = r.Hash(file.Name); err != nil {
			return resolved, failure.New(failure.Input, "", "read %s: %v", file.Name, err)
		}
	}
	if resolved.Changes = input.Changes; input.Changes && !s.Plan.Fresh {
		resolved.Since, err = r.Last.LastSeen(ctx, input.Key(s.Plan.Name, s.Step.Name), file.Name)
	}
	return resolved, err
}

func (r Inputs) env(s Context) directives.ResolveEnv {
	env := directives.ResolveEnv{
		FS: r.FS, Facts: s.Facts, Links: r.Links, Pending: r.Pending, From: s.Plan.File, MaxFiles: r.MaxFiles, Born: r.Born,
	}
	if s.Plan.Fresh {
		env.Pending = nil
	}
	return env
}

// textOf returns the content of an input, of a part of a document only that part.
func (r Inputs) textOf(ctx context.Context, s Context, input directives.Input, in engine.ResolvedInput) (string, error) {
	if part := s.part(); part != nil && input.ReadsItem() && len(in.Files) == 1 {
		return r.partText(in.Files[0].Name, part.Part)
	}
	return r.text(ctx, in)
}

// partText returns the text of a part of a document.
func (r Inputs) partText(name string, part parts.Part) (string, error) {
	if !part.Paged() {
		text, err := r.fileText(name)
		lines := strings.SplitAfter(text, "\n")
		return strings.TrimRight(strings.Join(lines[min(part.Lines[0]-1, len(lines)):min(part.Lines[1], len(lines))], ""), "\n"), err
	}
	m, err := readManifest(r.FS, path.Dir(name))
	if err != nil {
		return "", failure.New(failure.Input, "import the document to use its text without a model", "the pages of %s have no text in the vault", name)
	}
	var texts []string
	for _, n := range part.Numbers() {
		for _, p := range m.Pages {
			if p.N != n || p.Text == nil || !fs.ValidPath(p.Text.Path) || p.Text.Path == "" {
				continue
			}
			text, err := r.fileText(path.Join(path.Dir(name), p.Text.Path))
			if err != nil {
				return "", err
			}
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n\n"), nil
}

// text returns the content of an input's files, separated by blank lines.
func (r Inputs) text(ctx context.Context, in engine.ResolvedInput) (string, error) {
	if in.Variable != "" {
		if in.Digest == "" {
			return "", nil
		}
		data, err := r.Blobs.Get(ctx, in.Digest)
		return string(data), err
	}
	var parts []string
	for _, file := range in.Files {
		text, err := r.shownText(ctx, file)
		if err != nil {
			return "", err
		}
		if text != "" || !file.Changes {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, "\n\n"), nil
}

// fileText returns the text of a file without trailing newlines.
func (r Inputs) fileText(name string) (string, error) {
	data, _, err := r.Vault.Read(name, r.MaxText)
	if err != nil {
		return "", failure.New(failure.Input, "", "read %s: %v", name, err)
	}
	if bytes.IndexByte(data, 0) >= 0 {
		return "", failure.New(failure.Input, "only text can be routed", "%s is not text", name)
	}
	return strings.TrimRight(string(data), "\n"), nil
}
