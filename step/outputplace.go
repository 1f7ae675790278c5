package step

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/change"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/vault"
)

// Outputs finds the places of steps' outputs, and asks the gate about them.
type Outputs struct {
	change.Files
	Links  vault.Links
	Gate   policy.Gate
	Memory Memory

	noteLinks *noteLinks
}

// Env returns what outputs need to name their files.
func (o Outputs) Env(s Context) directives.OutputEnv {
	return directives.OutputEnv{
		Facts: s.Facts, FS: o.FS, Links: o.Links, From: s.Plan.File, ImportDir: o.Gate.ImportDir, MayWrite: s.Plan.Meta.Permissions.MayWrite,
	}
}

// outputPlace is where an output goes, and who named it.
type outputPlace struct {
	directives.Place
	from  []string // origins of the name
	about string   // what the name is made from; see [Outputs.about]
}

// place finds the place of an output, and asks the gate about it. If untrusted content chose the name, a file that this workflow did
// not create is left alone, and the next free name is used.
func (st *staging) place(ctx context.Context, target string, output directives.Output, mode directives.WriteMode) (outputPlace, error) {
	place, note, err := st.a.outputs.place(ctx, st.s, target, output, mode)
	if note != "" {
		st.notes = append(st.notes, note)
	}
	return place, err
}

// check fails if an output of a step cannot be written under the name that it gets, so that no model is paid for it.
func (o Outputs) check(ctx context.Context, s Context) error {
	permissions := s.Plan.Meta.Permissions
	for i, out := range s.Step.Outputs {
		if answered := len(out.Target.AnswerPatterns()) > 0; answered && !permissions.MayAnswerAt(out.Target) {
			return failure.New(failure.Permission, "add it to permissions.write", "%s is not covered by the workflow's permissions.write", out.Target.Path)
		} else if answered {
			s.Facts.Unanswered = true
			s.Plan.Meta.Permissions.Write, s.Plan.Meta.Permissions.NoWrite = nil, false // the place depends on the answer
		} else {
			s.Facts.Unanswered, s.Plan.Meta.Permissions = false, permissions
		}
		if out.Target.Scheme != directives.SchemeFile {
			continue
		}
		if _, _, err := o.place(ctx, s, fmt.Sprintf("output:%d", i), out, directives.WriteMode{Mode: directives.ModeNew}); err != nil {
			return err
		}
	}
	return nil
}

// place chooses the first name that the workflow may take. One that it wrote about another file it leaves alone, and one that it wrote
// about the same file comes first.
func (o Outputs) place(ctx context.Context, s Context, target string, output directives.Output, mode directives.WriteMode) (place outputPlace, note string, err error) {
	named, err := output.Place(o.Env(s))
	if err != nil {
		return outputPlace{}, "", failure.WithCode(err, failure.Output)
	}
	place = outputPlace{Place: named, about: o.about(s, output, named.Name, mode)}
	if named.Named != directives.NamedByAuthor {
		place.from = s.NameFrom
	}
	var first, chosen *candidate
	for n := 1; n <= maxNumber; n++ {
		c, err := o.candidate(ctx, s, target, output, place, n, mode)
		if err != nil {
			return outputPlace{}, "", err
		}
		first = cmp.Or(first, c)
		ours := place.about != "" && c.about == place.about
		if ours && c.ruling.Verdict == policy.VerdictNextFree {
			first = c // it was edited
		}
		if c.ruling.Verdict != policy.VerdictNextFree && (ours || chosen == nil && c.mayTake(place.about, replaces(mode))) {
			chosen = c
		}
		if chosen != nil && (ours && chosen == c || place.about == "" || n > 1 && !c.there) {
			break
		}
	}
	if chosen == nil {
		return outputPlace{}, "", failure.New(failure.Output, "move the old files", "%s and %d more names are taken", named.Name, maxNumber-1)
	}
	if _, err := chosen.ruling.Pass(); err != nil {
		return outputPlace{}, "", change.Refused(err)
	}
	if place.Name = chosen.name; chosen != first {
		note, err = o.whyNumbered(ctx, s, place, *first)
	}
	return place, note, err
}

// candidate is a name that an output may get.
type candidate struct {
	name   string
	number int
	there  bool   // a file has the name
	own    bool   // with what the workflow wrote
	about  string // what the workflow wrote it about; "" if that is not known
	ruling policy.Ruling
}

func (o Outputs) candidate(ctx context.Context, s Context, target string, output directives.Output, place outputPlace, n int, mode directives.WriteMode) (*candidate, error) {
	c := &candidate{name: numberedName(place.Name, n), number: n}
	if place.about != "" {
		about, err := o.Memory.About(ctx, s.Plan.Name, c.name)
		if err != nil {
			return nil, err
		}
		if c.there = policy.Look(o.FS, c.name).Exists; c.there {
			c.about = about
		}
		if n > 1 && c.about != "" && c.about != place.about {
			return c, nil // not to be taken
		}
	}
	request, err := o.Request(ctx, s, engine.StagedFile{
		Name: c.name, Targets: []string{target}, Named: place.Named, NameFrom: place.from, Granted: output.Untrusted,
	})
	if err != nil {
		return nil, err
	}
	c.there, c.own = request.Place.Exists, request.Own
	if mode.Mode == directives.ModeNew {
		request.Action, request.Place.Exists = policy.Create, false // it gets a free number
	}
	c.ruling = o.Gate.Decide(request)
	return c, nil
}

// mayTake reports whether an output about something can have the name, if no other name is its own. The plain name of a file of which
// the workflow does not know what it is about can be taken, as always.
func (c candidate) mayTake(about string, replaces bool) bool {
	switch {
	case about == "" || !c.there:
		return true
	case c.number == 1:
		return c.about == "" || !replaces
	}
	return c.about == "" && c.own
}

// whyNumbered explains why an output does not have its plain name.
func (o Outputs) whyNumbered(ctx context.Context, s Context, place outputPlace, plain candidate) (string, error) {
	if plain.about != "" && plain.about != place.about {
		return fmt.Sprintf("%s is about %s: written to %s instead", plain.name, inWords(plain.about), place.Name), nil
	}
	if plain.ruling.Verdict != policy.VerdictNextFree {
		return fmt.Sprintf("written to %s, which this workflow wrote about %s before", place.Name, inWords(place.about)), nil
	}
	why, err := o.notOurs(ctx, s.Plan.Name, plain.name, place.from)
	return fmt.Sprintf("%s: written to %s instead", why, place.Name), err
}

// notOurs returns why a workflow leaves a file alone whose name foreign content chose.
func (o Outputs) notOurs(ctx context.Context, workflow, name string, from []string) (string, error) {
	wrote, err := o.Memory.EverWrote(ctx, workflow, name)
	if wrote {
		return name + " was edited after this workflow wrote it, and stays as it is", err
	}
	return fmt.Sprintf("%s was not created by this workflow, and content from outside chose its name (%s)", name, strings.Join(from, ", ")), err
}

// sayReplaced warns of a file that was edited since the workflow wrote it, and is replaced now.
func (st *staging) sayReplaced(ctx context.Context, file *stagedContent) error {
	memory, workflow := st.a.outputs.Memory, st.s.Plan.Name
	own, err := memory.OwnWrite(ctx, workflow, file.Name, file.Base)
	if err != nil || own {
		return err
	}
	wrote, err := memory.EverWrote(ctx, workflow, file.Name)
	if wrote {
		st.notes = append(st.notes, fmt.Sprintf("%s was edited after this workflow wrote it, and is replaced: vaultflow undo %s brings it back", file.Name, st.s.Facts.Run))
	}
	return err
}

// Request returns the request to the gate for a file of a step's outputs.
func (o Outputs) Request(ctx context.Context, s Context, file engine.StagedFile) (policy.Request, error) {
	r := s.Asking(writerOf(file.Targets), file.Name, "")
	r.Named, r.NameFrom, r.Granted = policy.Named(file.Named), file.NameFrom, file.Granted
	r.Asked = s.Step.Approve != nil && s.Step.Approve.Outputs
	r.Action, r.Place = policy.Create, policy.Look(o.FS, file.Name)
	if !r.Place.Exists {
		return r, nil
	}
	r.Action = policy.Change
	own, err := o.own(ctx, s.Plan.Name, file.Name)
	r.Own = own
	return r, err
}

// own reports whether a file has the content that the workflow wrote.
func (o Outputs) own(ctx context.Context, workflow, name string) (bool, error) {
	digest, err := o.Digest(name)
	if err != nil || digest == "" {
		return false, nil //nolint:nilerr // an unreadable file is not the workflow's
	}
	return o.Memory.OwnWrite(ctx, workflow, name, digest)
}

// numberedName puts " (2)", " (3)" … before the extension of a name.
func numberedName(name string, n int) string {
	if n < 2 {
		return name
	}
	ext := path.Ext(name)
	return fmt.Sprintf("%s (%d)%s", strings.TrimSuffix(name, ext), n, ext)
}
