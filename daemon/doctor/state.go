package doctor

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/daemon"
	"github.com/vaultflow/vaultflow/daemon/control"
	"github.com/vaultflow/vaultflow/daemon/statedir"
	"github.com/vaultflow/vaultflow/daemon/words"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/settings/state"
	"github.com/vaultflow/vaultflow/settings/vaultid"
)

const (
	// roomWanted is how much room there should be for the state, in bytes: below it runs may fail in the middle.
	roomWanted = 512 << 20
	// roomNeeded is below which they will.
	roomNeeded = 32 << 20
	// checkFor bounds how long doctor looks at a large database.
	checkFor = 2 * time.Minute
)

// examineState looks at the state directory: who works on it, how large it is, whether the database is whole, and whether
// there is room for more.
func examineState(ctx context.Context, a *daemon.Workspace) []Finding {
	var all []Finding
	err := a.Reading(ctx, func(j *journal.Journal) error {
		all = append(all, examineDatabase(ctx, j))
		return nil
	})
	if err != nil && !errors.Is(err, daemon.ErrNothingRun) {
		return []Finding{{Subject: "state", State: "problem", Message: err.Error(), Fix: failure.Advice(err)}}
	}
	message := a.StateDir
	if r, err := control.Ask(ctx, a.StateDir, control.Order{Info: true}); err == nil {
		message += ", in use by a running vaultflow"
		if text := a.Differences(r); text != "" {
			all = append(all, Finding{Subject: "settings", State: "warning", Message: text})
		}
		if r.URL != "" {
			message += ", dashboard at " + r.URL
		}
	}
	all = append([]Finding{{Subject: "state", State: "ok", Message: message}, examineVault(a.State)}, all...)
	if open, err := state.Protect(a.StateDir); err != nil {
		all = append(all, Finding{Subject: "state", State: "warning", Message: err.Error()})
	} else if len(open) > 0 {
		all = append(all, Finding{
			Subject: "state", State: "warning", Message: "other users of this machine may read " + strings.Join(open, ", "),
			Fix: "make the files your own, or choose a state directory on a file system with modes, with --state-dir",
		})
	}
	return append(append(all, examineFormer(a.StateDir)...), examineRoom(a)...)
}

// examineFormer names what restores have set aside, which nobody removes but the user.
func examineFormer(dir string) []Finding {
	former, err := journal.Former(dir)
	if err != nil || len(former) == 0 {
		return nil
	}
	return []Finding{{Subject: "state", State: "ok", Message: fmt.Sprintf("%s with what `vaultflow restore` has replaced: %s; remove those that you do not need",
		words.Counted(len(former), "folder"), filepath.Join(dir, "before-*"))}}
}

// Refused is what is found about a state directory that is not this vault's.
func Refused(err *vaultid.RefusedError) Finding {
	return Finding{Subject: "state", State: "problem", Message: err.Error(), Fix: failure.Advice(err)}
}

// examineVault reports the vault's id, and where its state directory expects it.
func examineVault(st vaultid.State) Finding {
	f := Finding{Subject: "vault", State: "ok"}
	switch {
	case st.Usable() != nil:
		f.State, f.Message, f.Fix = "problem", st.Usable().Error(), failure.Advice(st.Usable())
	case st.Unknown():
		f.State, f.Message = "warning", fmt.Sprintf("id %s, made %s; %s", st.Vault.ID, day(st.Vault.Made), statedir.Lost(st))
	case st.Record.ID() == "" && st.Vault.ID == "":
		f.Message = "no id yet; the first run or import makes one, once the vault is trusted"
	case st.Record.ID() == "":
		f.Message = fmt.Sprintf("id %s, which the first run or import records", st.Vault.ID)
	default:
		f.Message = fmt.Sprintf("id %s; recorded place %s (folder %s) since %s", st.Record.ID(), st.Record.Path, st.Record.Folder, day(st.Record.Since))
		if lost := statedir.Lost(st); lost != "" {
			f.Message += "; " + lost
		}
	}
	return f
}

func day(t time.Time) string { return t.Local().Format(time.DateOnly) }

// examineDatabase reads the whole database. It may be at work meanwhile.
func examineDatabase(ctx context.Context, j *journal.Journal) Finding {
	f := Finding{Subject: "database", State: "ok"}
	h, err := j.Health(ctx)
	if err != nil {
		return Finding{Subject: "database", State: "problem", Message: err.Error(), Fix: failure.Advice(err)}
	}
	f.Message = fmt.Sprintf("%s with %s, %s unused; %s in %s", content.FormatSize(h.Database), words.Counted(h.Runs, "run"), content.FormatSize(h.Unused),
		content.FormatSize(h.Blobs), words.Counted(h.Files, "blob"))
	limited, cancel := context.WithTimeout(ctx, checkFor)
	defer cancel()
	switch err := j.Check(limited); {
	case err != nil && limited.Err() != nil:
		f.State, f.Message = "warning", f.Message+fmt.Sprintf("; not checked to its end within %s", checkFor)
	case err != nil:
		return Finding{Subject: "database", State: "problem", Message: err.Error(), Fix: failure.Advice(err)}
	default:
		f.Message += "; intact"
	}
	return f
}

// examineRoom looks for room on the disks of state and vault.
func examineRoom(a *daemon.Workspace) []Finding {
	var all []Finding
	for _, d := range []struct{ what, dir string }{{"the state", a.StateDir}, {"the vault", a.Dir}} {
		free, known := freeSpace(d.dir)
		switch {
		case !known:
		case free < roomNeeded:
			all = append(all, Finding{Subject: "room", State: "problem", Message: fmt.Sprintf("%s left for %s", content.FormatSize(free), d.what), Fix: "make room on the disk of " + d.dir})
		case free < roomWanted:
			all = append(all, Finding{Subject: "room", State: "warning", Message: fmt.Sprintf("%s left for %s", content.FormatSize(free), d.what), Fix: "make room on the disk of " + d.dir})
		default:
			all = append(all, Finding{Subject: "room", State: "ok", Message: fmt.Sprintf("%s left for %s", content.FormatSize(free), d.what)})
		}
	}
	return all
}
