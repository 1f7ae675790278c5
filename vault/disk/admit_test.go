package disk

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/vault"
)

// permit is the gate's permission for a run's or an import's change.
func permit(t *testing.T, v *Vault, who policy.Writer, action policy.Action, name, to string) policy.Pass {
	t.Helper()
	all := policy.Permitted{Allowed: true}
	r := policy.Request{Writer: who, Action: action, Place: policy.Look(v.FS(), name), Permitted: all, ToPermitted: all}
	if to != "" {
		r.To = policy.Look(v.FS(), to)
	}
	pass, err := policy.Gate{}.Decide(r).Pass()
	if err != nil {
		t.Fatal(err)
	}
	return pass
}

// Nothing changes without a permission, nor with one for another action.
func TestVault_changesNeedAPass(t *testing.T) {
	t.Parallel()
	v, dir := tempVault(t, "a.md", "Import/x.md")
	ctx, reader := t.Context(), func() *strings.Reader { return strings.NewReader("x") }
	b, err := v.Stage(permit(t, v, policy.ByImport, policy.Fill, "Imported", ""), "job")
	must(t, err)
	for name, pass := range map[string]policy.Pass{"none": {}, "another": permit(t, v, policy.ByImport, policy.Publish, "Imported/other", "")} {
		_, stageErr := v.Stage(pass, "id")
		_, _, dropErr := v.Drop(ctx, pass, reader(), "d.md")
		errs := []error{
			v.Write(ctx, pass, []byte("x"), ""), v.Move(ctx, pass), v.Remove(ctx, pass, vault.Digest([]byte("a.md"))), v.RemoveEmptyFolders(pass, "Import"),
			stageErr, dropErr,
		}
		if name == "none" {
			errs = append(errs, b.Publish(pass))
		}
		for i, err := range errs {
			if err == nil {
				t.Errorf("%s permission, change %d: done", name, i)
			}
		}
	}
	if err := v.Write(ctx, permit(t, v, policy.ByOutput, policy.Create, "New.md", ""), []byte("x"), vault.Digest([]byte("a.md"))); err == nil {
		t.Error("a permission to create replaced a file")
	}
	if _, _, err := v.Drop(ctx, permit(t, v, policy.ByImport, policy.Fill, "Imported", ""), reader(), "d.md"); err == nil {
		t.Error("dropped into another folder than that of the permission")
	}
	must(t, v.Write(ctx, permit(t, v, policy.ByOutput, policy.Create, "New.md", ""), []byte("x"), ""))
	must(t, v.Move(ctx, permit(t, v, policy.ByOutput, policy.Move, "New.md", "Done/New.md")))
	must(t, v.Remove(ctx, permit(t, v, policy.ByOutput, policy.Delete, "Done/New.md", ""), vault.Digest([]byte("x"))))
	if _, err := os.Stat(filepath.Join(dir, "a.md")); err != nil {
		t.Error(err)
	}
}

// A link that somebody puts into the way after the gate has looked is not followed.
func TestVault_linkAfterThePass(t *testing.T) {
	t.Parallel()
	v, dir := tempVault(t, "a.md", "Notes/b.md")
	must(t, os.MkdirAll(filepath.Join(dir, ".obsidian"), 0o755))
	create := permit(t, v, policy.ByOutput, policy.Create, "Config/app.json", "")
	move := permit(t, v, policy.ByOutput, policy.Move, "a.md", "Config/a.md")
	remove := permit(t, v, policy.ByOutput, policy.Delete, "Notes/b.md", "")
	must(t, os.Symlink(".obsidian", filepath.Join(dir, "Config")))
	must(t, os.Rename(filepath.Join(dir, "Notes"), filepath.Join(dir, ".kept")))
	must(t, os.Symlink(".kept", filepath.Join(dir, "Notes")))
	for i, err := range []error{
		v.Write(t.Context(), create, []byte("x"), ""), v.Move(t.Context(), move), v.Remove(t.Context(), remove, vault.Digest([]byte("Notes/b.md"))),
	} {
		if err == nil || !strings.Contains(err.Error(), "is a link") {
			t.Errorf("change %d through a link: %v", i, err)
		}
	}
	if left, _ := os.ReadDir(filepath.Join(dir, ".obsidian")); len(left) > 0 {
		t.Errorf(".obsidian holds %v", left)
	}
}

// Links that lie in wait where an import or an upload will write are not followed.
func TestVault_linksInTheWayOfImports(t *testing.T) {
	t.Parallel()
	v, dir := tempVault(t, "Import/", "Imported/", ".obsidian/app.json")
	must(t, os.Symlink("../.obsidian", filepath.Join(dir, "Import/box")))
	must(t, os.Symlink("../.obsidian", filepath.Join(dir, "Imported/.vaultflow-waiting")))
	fill := permit(t, v, policy.ByImport, policy.Fill, "Imported", "")
	if _, err := v.Stage(fill, "waiting"); err == nil {
		t.Error("a bundle was staged in a folder behind a link")
	}
	b, err := v.stage("Imported", "job")
	must(t, err)
	must(t, os.Symlink("../../.obsidian", filepath.Join(dir, "Imported/.vaultflow-job/pages")))
	if err := b.WriteFile("pages/app.json", []byte("x")); err == nil {
		t.Error("a file of a bundle was written through a link")
	}
	if name, _, err := v.Drop(t.Context(), permit(t, v, policy.ByDrop, policy.Fill, "Import", ""), strings.NewReader("x"), "box/new.md"); err == nil {
		t.Errorf("dropped through a link, as %s", name)
	}
	entries, err := os.ReadDir(filepath.Join(dir, ".obsidian"))
	must(t, err)
	if text, err := os.ReadFile(filepath.Join(dir, ".obsidian/app.json")); len(entries) != 1 || err != nil || string(text) != ".obsidian/app.json" {
		t.Errorf("%v, %q, %v", entries, text, err)
	}
}
