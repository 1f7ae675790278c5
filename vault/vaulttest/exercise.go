package vaulttest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/vault"
)

// Vault is everything that Exercise checks.
type Vault interface {
	vault.Vault
	vault.Lister
}

// Open makes a vault that holds these texts, for one test. Its import folder is ImportDir.
type Open func(t *testing.T, texts map[string]string) Vault

// Exercise is the contract of vault.Vault: every implementation passes it.
func Exercise(t *testing.T, open Open) {
	for _, c := range []struct {
		name string
		run  func(e exercise)
	}{
		{"reads with a limit, in any spelling", reads},
		{"reads nothing outside", readsInside},
		{"lists visible files outside the import folder", lists},
		{"looks at size and content together", looks},
		{"writes what is new", writesNew},
		{"writes over what was read", writesOver},
		{"writes over nothing else", conflicts},
		{"keeps to good names", refusesNames},
		{"lets one of many writers win", races},
		{"moves files and never overwrites", moves},
		{"moves folders and never overwrites", movesFolders},
		{"removes the bytes that are meant", removes},
		{"drops files under free names", drops},
		{"copies the bytes that are meant", copies},
		{"moves a file over its copy", supplants},
		{"leaves no empty folders of the import folder", tidies},
		{"publishes a bundle whole", publishes},
		{"goes on with a bundle", resumesBundle},
		{"publishes over nothing", publishesOnce},
		{"discards a bundle", discards},
		{"changes nothing without its pass", needsPass},
		{"changes nothing when cancelled", cancelled},
		{"lets a writer do what the gate allows", gated},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(exercise{T: t, open: open})
		})
	}
}

// exercise is one test with its vault.
type exercise struct {
	*testing.T
	open Open
}

func (e exercise) vault(names ...string) Vault {
	e.Helper()
	texts := map[string]string{}
	for _, name := range names {
		texts[name] = "text of " + name
	}
	return e.open(e.T, texts)
}

// Pass returns the gate's permission for a change by a writer that may change everything it is there for.
func Pass(t *testing.T, v vault.Vault, who policy.Writer, action policy.Action, name, to string) policy.Pass {
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

func (e exercise) write(v vault.Vault, name, text, base string) error {
	e.Helper()
	action := policy.Change
	if base == "" {
		action = policy.Create
	}
	return v.Write(e.Context(), Pass(e.T, v, policy.ByOutput, action, name, ""), []byte(text), base)
}

func (e exercise) move(v vault.Vault, from, to string) error {
	e.Helper()
	return v.Move(e.Context(), Pass(e.T, v, policy.ByOutput, policy.Move, from, to))
}

func (e exercise) stage(v vault.Vault, dir, id string) vault.Bundle {
	e.Helper()
	b, err := v.Stage(Pass(e.T, v, policy.ByImport, policy.Fill, dir, ""), id)
	e.must(err)
	return b
}

func (e exercise) publish(v vault.Vault, b vault.Bundle, target string) error {
	e.Helper()
	return b.Publish(Pass(e.T, v, policy.ByImport, policy.Publish, target, ""))
}

func (e exercise) must(err error) {
	e.Helper()
	if err != nil {
		e.Fatal(err)
	}
}

func (e exercise) is(err, want error) {
	e.Helper()
	if !errors.Is(err, want) {
		e.Errorf("got the error %v, want %v", err, want)
	}
}

// holds compares all files of the vault, hidden ones too.
func (e exercise) holds(v vault.Vault, want map[string]string) {
	e.Helper()
	got := map[string]string{}
	err := fs.WalkDir(v.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(v.FS(), name)
		got[name] = string(data)
		return err
	})
	e.must(err)
	if diff := cmp.Diff(want, got); diff != "" {
		e.Errorf("the vault (-want +got):\n%s", diff)
	}
}

func (e exercise) gone(v vault.Vault, name string) {
	e.Helper()
	if _, err := fs.Stat(v.FS(), name); !errors.Is(err, fs.ErrNotExist) {
		e.Errorf("%s is still there (%v)", name, err)
	}
}

func reads(e exercise) {
	v := e.vault("Notes/Day.md")
	want := "text of Notes/Day.md"
	for _, name := range []string{"Notes/Day.md", "notes/DAY.md"} {
		for _, limit := range []int64{0, int64(len(want))} {
			data, sum, err := v.Read(name, limit)
			if err != nil || string(data) != want || sum != vault.Digest([]byte(want)) {
				e.Errorf("%s, at most %d bytes: %q, %s, %v", name, limit, data, sum, err)
			}
		}
	}
	_, _, err := v.Read("Notes/Day.md", int64(len(want))-1)
	e.is(err, vault.ErrTooLarge)
	if large, ok := errors.AsType[*vault.TooLargeError](err); !ok || large.Size != int64(len(want)) {
		e.Errorf("got %#v", err)
	}
	_, _, err = v.Read("Notes/None.md", 0)
	e.is(err, fs.ErrNotExist)
	if _, _, err := v.Read("Notes", 0); err == nil {
		e.Error("a folder was read")
	}
}

func readsInside(e exercise) {
	v := e.vault("a.md")
	for _, name := range []string{"../a.md", "/a.md", "x/../../a.md"} {
		_, _, err := v.Read(name, 0)
		e.is(err, vault.ErrOutside)
		_, err = v.FS().Open(name)
		e.is(err, vault.ErrOutside)
	}
}

func lists(e exercise) {
	v := e.vault("b.md", "Notes/a.md", "Notes/c.txt", "Notes/.hidden.md", ".obsidian/x.md", ImportDir+"/new.md")
	e.must(e.write(v, "Notes/late.md", "text of Notes/late.md", ""))
	files, unread, err := v.List(func(name string) bool { return strings.HasSuffix(name, ".md") })
	if err != nil || len(unread) > 0 {
		e.Fatalf("unread %q, %v", unread, err)
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Name)
		if f.SHA256 != "" || f.Size != int64(len("text of "+f.Name)) {
			e.Errorf("listed as %+v, want its size and no digest", f)
		}
	}
	slices.Sort(names)
	if diff := cmp.Diff([]string{"Notes/a.md", "Notes/late.md", "b.md"}, names); diff != "" {
		e.Errorf("listed (-want +got):\n%s", diff)
	}
}

func looks(e exercise) {
	v := e.vault("Notes/a.md")
	text := "text of Notes/a.md"
	f, err := v.Look("Notes/a.md")
	if err != nil || f.Name != "Notes/a.md" || f.Size != int64(len(text)) || f.SHA256 != vault.Digest([]byte(text)) {
		e.Errorf("got %+v, %v", f, err)
	}
	for _, name := range []string{"Notes", "none.md"} {
		_, err := v.Look(name)
		e.is(err, fs.ErrNotExist)
	}
}

func writesNew(e exercise) {
	v := e.vault()
	e.must(e.write(v, "Deep/folder/new.md", "one", ""))
	e.must(e.write(v, "Deep/folder/new.md", "one", "")) // again: it is there already
	e.must(e.write(v, "Deep/folder/new.md", "one", vault.Digest([]byte("older"))))
	e.holds(v, map[string]string{"Deep/folder/new.md": "one"})
}

func writesOver(e exercise) {
	v := e.vault("Day.md")
	_, base, err := v.Read("Day.md", 0)
	e.must(err)
	e.must(e.write(v, "day.MD", "two", base)) // another spelling of the same file
	e.holds(v, map[string]string{"Day.md": "two"})
}

func conflicts(e exercise) {
	v := e.vault("Day.md")
	have := vault.Digest([]byte("text of Day.md"))
	for _, c := range []struct{ name, base, spelled, have string }{
		{"Day.md", "", "Day.md", have},
		{"day.md", "", "Day.md", have},
		{"Day.md", "0123", "Day.md", have},
		{"Gone.md", "0123", "Gone.md", ""},
	} {
		err := e.write(v, c.name, "mine", c.base)
		e.is(err, vault.ErrConflict)
		want := &vault.ConflictError{Name: c.spelled, Want: c.base, Have: c.have}
		if got, ok := errors.AsType[*vault.ConflictError](err); !ok || *got != *want {
			e.Errorf("%s on %q: got %#v, want %#v", c.name, c.base, got, want)
		}
	}
	e.holds(v, map[string]string{"Day.md": "text of Day.md"})
}

func refusesNames(e exercise) {
	v := e.vault("a.md", "What?.md")
	for _, name := range []string{"new?.md", "fold*er/new.md", "CON.md", "end./x.md", strings.Repeat("x", 256)} {
		e.is(e.write(v, name, "x", ""), vault.ErrName)
	}
	e.is(e.move(v, "a.md", "b?.md"), vault.ErrName)
	e.must(e.write(v, "What?.md", "changed", vault.Digest([]byte("text of What?.md")))) // it has that name already
	if err := e.write(v, "a.md/x.md", "x", ""); err == nil {
		e.Error("a file became a folder")
	}
	e.holds(v, map[string]string{"a.md": "text of a.md", "What?.md": "changed"})
}

func races(e exercise) {
	v := e.vault("a.md")
	_, base, err := v.Read("a.md", 0)
	e.must(err)
	const writers = 8
	errs := make([]error, writers)
	var wg sync.WaitGroup
	for i := range writers {
		pass := Pass(e.T, v, policy.ByOutput, policy.Change, "a.md", "")
		wg.Go(func() { errs[i] = v.Write(e.Context(), pass, fmt.Appendf(nil, "by %d", i), base) })
	}
	wg.Wait()
	won := -1
	for i, err := range errs {
		switch {
		case err == nil && won >= 0:
			e.Errorf("%d and %d both wrote over the same text", won, i)
		case err == nil:
			won = i
		default:
			e.is(err, vault.ErrConflict)
		}
	}
	e.holds(v, map[string]string{"a.md": fmt.Sprintf("by %d", won)})
}

func moves(e exercise) {
	v := e.vault("a.md", "b.md", "Copy.md")
	_, sum, err := v.Read("a.md", 0)
	e.must(err)
	for range 2 { // a move that is repeated succeeds
		e.must(e.move(v, "a.md", "New/a.md"))
	}
	e.is(e.move(v, "b.md", "New/a.md"), fs.ErrExist)
	e.is(e.move(v, "b.md", "new/A.md"), fs.ErrExist)
	e.is(e.move(v, "none.md", "other.md"), fs.ErrNotExist)
	e.must(e.write(v, "Copy.md", "text of b.md", vault.Digest([]byte("text of Copy.md"))))
	e.must(e.move(v, "b.md", "Copy.md")) // the same bytes
	e.holds(v, map[string]string{"New/a.md": "text of a.md", "Copy.md": "text of b.md"})
	if _, after, err := v.Read("New/a.md", 0); err != nil || after != sum {
		e.Errorf("moved: %s, %v", after, err)
	}
}

func movesFolders(e exercise) {
	v := e.vault("Imported/q3/index.md", "Imported/q3/pages/1.md", "Imported/q4/index.md")
	shift := func(from, to string) error {
		return v.Move(e.Context(), Pass(e.T, v, policy.ByImport, policy.Move, from, to))
	}
	e.is(shift("Imported/q4", "Imported/Q3"), fs.ErrExist)
	e.is(shift("Imported/q3", "Imported/q3/inner"), fs.ErrInvalid)
	for range 2 {
		e.must(shift("Imported/q3", "Imported/old/q3 (version 1)"))
	}
	e.holds(v, map[string]string{
		"Imported/old/q3 (version 1)/index.md": "text of Imported/q3/index.md", "Imported/old/q3 (version 1)/pages/1.md": "text of Imported/q3/pages/1.md",
		"Imported/q4/index.md": "text of Imported/q4/index.md",
	})
}

func removes(e exercise) {
	v := e.vault("a.md")
	remove := func(sum string) error {
		return v.Remove(e.Context(), Pass(e.T, v, policy.ByOutput, policy.Delete, "a.md", ""), sum)
	}
	other := vault.Digest([]byte("other"))
	err := remove(other)
	e.is(err, vault.ErrConflict)
	e.holds(v, map[string]string{"a.md": "text of a.md"})
	for range 2 {
		e.must(remove(vault.Digest([]byte("text of a.md"))))
	}
	e.holds(v, map[string]string{})
}

func drops(e exercise) {
	v := e.vault(ImportDir+"/taken.txt", ImportDir+"/Other.txt")
	for _, c := range []struct{ name, text, want string }{
		{"new.txt", "one", "new.txt"},
		{"NEW.txt", "one", "new.txt"}, // the same bytes
		{"new.txt", "two", "new (2).txt"},
		{"taken.txt", "three", "taken (2).txt"},
		{"other.txt", "four", "other (2).txt"},
		{`sub\..\sub/why: what?.txt`, "five", "sub/why- what-.txt"},
		{"../../up.txt", "six", "up.txt"},
	} {
		name, sum, err := v.Drop(e.Context(), Pass(e.T, v, policy.ByDrop, policy.Fill, ImportDir, ""), strings.NewReader(c.text), c.name)
		if err != nil || !strings.EqualFold(name, ImportDir+"/"+c.want) || sum != vault.Digest([]byte(c.text)) {
			e.Errorf("%s: dropped as %q with %s, %v, want %s", c.name, name, sum, err, c.want)
		}
	}
	if _, _, err := v.Drop(e.Context(), Pass(e.T, v, policy.ByImport, policy.Fill, "Imported", ""), strings.NewReader("x"), "x.txt"); err == nil {
		e.Error("dropped with a pass for another folder")
	}
}

func copies(e exercise) {
	v := e.vault("a.csv", "taken.csv")
	text := vault.Digest([]byte("text"))
	pass := func(to string) policy.Pass { return Pass(e.T, v, policy.ByOutput, policy.Create, to, "") }
	for range 2 {
		e.must(v.Copy(e.Context(), pass("New/a.csv"), "a.csv", text, 4))
	}
	e.is(v.Copy(e.Context(), pass("b.csv"), "a.csv", text, 5), vault.ErrConflict)
	e.is(v.Copy(e.Context(), pass("taken.csv"), "a.csv", text, 4), fs.ErrExist)
	e.is(v.Copy(e.Context(), pass("b.csv"), "none.csv", text, 4), fs.ErrNotExist)
	e.holds(v, map[string]string{"a.csv": "text of a.csv", "New/a.csv": "text", "taken.csv": "text of taken.csv"})
}

func supplants(e exercise) {
	v := e.vault("a.csv", "other.csv")
	_, sum, err := v.Read("a.csv", 0)
	e.must(err)
	e.must(e.write(v, "Copy.csv", "text of a.csv", ""))
	over := func(to, sum string) error {
		return v.Supplant(e.Context(), Pass(e.T, v, policy.ByOutput, policy.Move, "a.csv", to), sum)
	}
	for to, sum := range map[string]string{"other.csv": sum, "none.csv": sum, "Copy.csv": vault.Digest([]byte("text of other.csv"))} {
		e.is(over(to, sum), vault.ErrConflict)
	}
	e.must(over("Copy.csv", sum))
	e.holds(v, map[string]string{"Copy.csv": "text of a.csv", "other.csv": "text of other.csv"})
}

func tidies(e exercise) {
	v := e.vault(ImportDir+"/box/in/deep/a.txt", ImportDir+"/box/b.txt")
	tidy := func() {
		e.Helper()
		e.must(v.RemoveEmptyFolders(Pass(e.T, v, policy.ByImport, policy.Tidy, ImportDir+"/box", ""), ImportDir+"/box/in/deep"))
	}
	remove := func(name string) {
		e.Helper()
		e.must(v.Remove(e.Context(), Pass(e.T, v, policy.ByImport, policy.Delete, name, ""), vault.Digest([]byte("text of "+name))))
	}
	tidy()
	e.holds(v, map[string]string{ImportDir + "/box/in/deep/a.txt": "text of " + ImportDir + "/box/in/deep/a.txt", ImportDir + "/box/b.txt": "text of " + ImportDir + "/box/b.txt"})
	remove(ImportDir + "/box/in/deep/a.txt")
	tidy()
	e.gone(v, ImportDir+"/box/in")
	e.holds(v, map[string]string{ImportDir + "/box/b.txt": "text of " + ImportDir + "/box/b.txt"})
	remove(ImportDir + "/box/b.txt")
	if info, err := fs.Stat(v.FS(), ImportDir+"/box"); err != nil || !info.IsDir() {
		e.Errorf("the folder went with its last file: %v", err)
	}
	tidy()
	e.gone(v, ImportDir+"/box")
	e.must(v.RemoveEmptyFolders(Pass(e.T, v, policy.ByDrop, policy.Tidy, ImportDir, ""), ImportDir))
	if _, err := fs.Stat(v.FS(), ImportDir); err != nil {
		e.Errorf("the import folder went: %v", err)
	}
}

func publishes(e exercise) {
	v := e.vault("a.md")
	b := e.stage(v, "Imported", "job-1")
	for range 2 {
		e.must(b.WriteFile("pages/1.md", []byte("page")))
	}
	e.must(b.WriteFile("index.md", []byte("draft")))
	e.must(b.WriteFile("index.md", []byte("note")))
	e.must(b.WriteFiles(map[string][]byte{"pages/1.md": []byte("page"), "text/1.md": []byte("text"), "text/2.md": nil}))
	if err := b.WriteFiles(map[string][]byte{"fine.md": nil, "text/../../out.md": nil}); err == nil {
		e.Errorf("a file was written outside of a bundle")
	}
	for _, name := range []string{"../out.md", "/x", ".x", "a?b"} {
		if err := b.WriteFile(name, nil); err == nil {
			e.Errorf("%q was written into a bundle", name)
		}
	}
	if text, err := fs.ReadFile(b.FS(), "index.md"); err != nil || string(text) != "note" {
		e.Errorf("in the bundle: %q, %v", text, err)
	}
	e.gone(v, "Imported/sub/q3")
	e.must(e.publish(v, b, "Imported/sub/q3"))
	e.holds(v, map[string]string{"a.md": "text of a.md", "Imported/sub/q3/index.md": "note", "Imported/sub/q3/pages/1.md": "page", "Imported/sub/q3/text/1.md": "text", "Imported/sub/q3/text/2.md": ""})
	e.is(b.WriteFile("late.md", nil), fs.ErrNotExist)
	e.is(b.WriteFiles(map[string][]byte{"late.md": nil}), fs.ErrNotExist)
}

func resumesBundle(e exercise) {
	v := e.vault()
	first := e.stage(v, "Imported", "job-1")
	e.must(first.WriteFile("kept.md", []byte("from before")))
	for range 2 {
		e.must(first.Close())
	}
	e.must(e.stage(v, "Imported", "job-2").WriteFile("other.md", nil))
	again := e.stage(v, "Imported", "job-1")
	if entries, err := fs.ReadDir(again.FS(), "."); err != nil || len(entries) != 1 || entries[0].Name() != "kept.md" {
		e.Errorf("the bundle holds %v, %v", entries, err)
	}
	for _, id := range []string{"", "../x", "a/b", "a.b"} {
		if _, err := v.Stage(Pass(e.T, v, policy.ByImport, policy.Fill, "Imported", ""), id); !errors.Is(err, vault.ErrName) {
			e.Errorf("id %q: %v", id, err)
		}
	}
}

func publishesOnce(e exercise) {
	v := e.vault("Imported/Q3/mine.md")
	b := e.stage(v, "Imported", "job-1")
	e.must(b.WriteFile("index.md", []byte("note")))
	e.must(b.WriteFile("Q3.md", []byte("note")))
	for _, target := range []string{"Imported/Q3", "imported/q3"} {
		e.is(e.publish(v, b, target), fs.ErrExist)
		e.must(b.RemoveFile("Q3.md"))
	}
	if err := b.RemoveFile("../Q3/mine.md"); err == nil {
		e.Error("a file outside the bundle was removed")
	}
	e.must(e.publish(v, b, "Imported/Q3 (2)"))
	e.must(b.Close())
	e.holds(v, map[string]string{"Imported/Q3/mine.md": "text of Imported/Q3/mine.md", "Imported/Q3 (2)/index.md": "note"})
}

func discards(e exercise) {
	v := e.vault("a.md")
	b := e.stage(v, "Imported", "job-1")
	e.must(b.WriteFile("pages/1.md", []byte("page")))
	for range 2 {
		e.must(b.Discard())
	}
	e.holds(v, map[string]string{"a.md": "text of a.md"})
}

func needsPass(e exercise) {
	v := e.vault("a.md", ImportDir+"/x.md")
	b := e.stage(v, "Imported", "job-1")
	sum := vault.Digest([]byte("text of a.md"))
	for name, pass := range map[string]policy.Pass{"none": {}, "another": Pass(e.T, v, policy.ByImport, policy.Publish, "Imported/other", "")} {
		_, stageErr := v.Stage(pass, "id")
		_, _, dropErr := v.Drop(e.Context(), pass, strings.NewReader("x"), "d.md")
		errs := []error{
			v.Write(e.Context(), pass, []byte("x"), ""), v.Move(e.Context(), pass), v.Copy(e.Context(), pass, "a.md", sum, 12), v.Supplant(e.Context(), pass, sum), v.Remove(e.Context(), pass, sum), v.RemoveEmptyFolders(pass, ImportDir),
			stageErr, dropErr,
		}
		if name == "none" {
			errs = append(errs, b.Publish(pass))
		}
		if i := slices.Index(errs, nil); i >= 0 {
			e.Errorf("change %d was made with the pass %q", i, name)
		}
	}
	if err := v.Write(e.Context(), Pass(e.T, v, policy.ByOutput, policy.Create, "New.md", ""), []byte("x"), sum); err == nil {
		e.Error("a pass for a new file replaced one")
	}
	e.must(b.Discard())
	e.holds(v, map[string]string{"a.md": "text of a.md", ImportDir + "/x.md": "text of " + ImportDir + "/x.md"})
}

func cancelled(e exercise) {
	v := e.vault("a.md")
	ctx, cancel := context.WithCancel(e.Context())
	cancel()
	_, _, dropErr := v.Drop(ctx, Pass(e.T, v, policy.ByDrop, policy.Fill, ImportDir, ""), strings.NewReader("x"), "d.md")
	for _, err := range []error{
		v.Write(ctx, Pass(e.T, v, policy.ByOutput, policy.Create, "new.md", ""), []byte("x"), ""),
		v.Move(ctx, Pass(e.T, v, policy.ByOutput, policy.Move, "a.md", "b.md")),
		v.Remove(ctx, Pass(e.T, v, policy.ByOutput, policy.Delete, "a.md", ""), vault.Digest([]byte("text of a.md"))),
		dropErr,
	} {
		e.is(err, context.Canceled)
	}
	e.holds(v, map[string]string{"a.md": "text of a.md"})
}

// gated goes through vault.Files: the same changes, by name.
func gated(e exercise) {
	v := e.vault(ImportDir + "/q3.pdf")
	f := vault.NewFiles(v, policy.Gate{}, policy.ByImport)
	b, err := f.Stage("Imported", "job-1")
	e.must(err)
	e.must(b.WriteFile("index.md", []byte("note")))
	e.must(f.Publish(b, "Imported/q3", ""))
	e.must(f.Move(e.Context(), ImportDir+"/q3.pdf", "Imported/q3/q3.pdf"))
	_, base, err := f.Read("Imported/q3/index.md", 0)
	e.must(err)
	e.must(f.Write(e.Context(), "Imported/q3/index.md", []byte("changed"), base))
	e.must(f.Write(e.Context(), ImportDir+"/failed.md", []byte("why"), ""))
	e.must(f.Remove(e.Context(), ImportDir+"/failed.md", vault.Digest([]byte("why"))))
	e.holds(v, map[string]string{"Imported/q3/index.md": "changed", "Imported/q3/q3.pdf": "text of " + ImportDir + "/q3.pdf"})
	for what, err := range map[string]error{
		"write":  f.Write(e.Context(), "Notes/own.md", []byte("x"), ""),
		"move":   f.Move(e.Context(), "Imported/q3/q3.pdf", "Notes/q3.pdf"),
		"remove": f.Remove(e.Context(), "Notes/own.md", ""),
	} {
		if _, refused := errors.AsType[*policy.RefusedError](err); !refused {
			e.Errorf("%s outside the folders of imports: %v", what, err)
		}
	}
	dropper := vault.NewFiles(v, policy.Gate{}, policy.ByDrop)
	name, _, err := dropper.Drop(e.Context(), strings.NewReader("x"), "box/x.md")
	e.must(err)
	e.must(dropper.RemoveEmptyFolders(ImportDir+"/none", ImportDir))
	if text, _, err := dropper.Read(name, 0); err != nil || string(text) != "x" {
		e.Errorf("dropped as %s: %q, %v", name, text, err)
	}
}
