package intake

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/vaultflow/vaultflow/daemon/consent"
	"github.com/vaultflow/vaultflow/daemon/control"
	"github.com/vaultflow/vaultflow/daemon/intake/packing"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/artifact"
	"github.com/vaultflow/vaultflow/engine/change"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/engine/local"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion"
	"github.com/vaultflow/vaultflow/media/remote"
	"github.com/vaultflow/vaultflow/settings"
	"github.com/vaultflow/vaultflow/vault"
	"github.com/vaultflow/vaultflow/vault/disk"
)

// request is one import: what was asked for it in place of the settings, and what is known about its file.
type request struct {
	how      control.ImportHow
	source   string // address that it was fetched from
	declared string // media type that the host named
	hold     bool   // leave it in the import folder for a while if nothing marks its end
	where    string // vault name of the file, if it is not where it arrived
	named    bool   // by the user, who wants it even if its import was cancelled before
}

// Imports asks for the imports of files. It is safe for concurrent use.
type Imports struct {
	settings  *settings.Settings
	vault     *disk.Vault
	files     vault.Files // the vault to what drops files into it
	trust     *consent.Trust
	rules     *Rules
	web       DocumentFetcher
	artifacts Artifacts
	journal   *journal.Journal
	exec      *local.Executor
	zone      *time.Location

	mu      sync.Mutex
	claimed map[string]string // runs of files of the import folder that a command has asked for, by name. Guarded by mu
}

// Config is what imports need.
type Config struct {
	Settings  *settings.Settings
	Vault     *disk.Vault
	Files     vault.Files // writes dropped files
	Trust     *consent.Trust
	Rules     *Rules
	Web       DocumentFetcher
	Artifacts Artifacts
	Journal   *journal.Journal
	Exec      *local.Executor
	Zone      *time.Location
}

// DocumentFetcher fetches documents.
type DocumentFetcher interface {
	FetchDocument(ctx context.Context, address string, w io.Writer) (remote.Document, error)
}

// Artifacts keeps fetched documents.
type Artifacts interface {
	Keep(ctx context.Context, r io.Reader, from artifact.Source) (ref string, err error)
	Open(ref string) (io.ReadSeekCloser, error)
}

// importScope is the scope of fetched documents in the artifact store. Runs of workflows have scopes of their own.
const importScope = "import"

// New returns the imports of a vault.
func New(c Config) *Imports {
	return &Imports{
		settings: c.Settings, vault: c.Vault, files: c.Files, trust: c.Trust, rules: c.Rules, web: c.Web, artifacts: c.Artifacts,
		journal: c.Journal, exec: c.Exec, zone: c.Zone, claimed: map[string]string{},
	}
}

// dropFile copies a file of this machine into the import folder and asks for its import.
func (i *Imports) dropFile(ctx context.Context, o control.ImportOrder) (string, error) {
	f, err := os.Open(string(o.Path))
	if err != nil {
		return "", control.Usage.Errorf("import: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		return i.dropFolder(ctx, o)
	}
	if err != nil || !info.Mode().IsRegular() {
		return "", control.Usage.Errorf("import %s: it is no regular file", o.Path)
	}
	if o.Walked && !i.vault.Takes(path.Join(i.settings.Vault.ImportDir, vault.SafeName(path.Base(o.Name), 0))) {
		return "", nil // clutter of a folder that was named as a whole
	}
	if root, names := savedWith(string(o.Path)); names != nil {
		return i.dropPage(ctx, o, root, names)
	}
	return i.drop(ctx, f, o.Name, request{how: o.ImportHow})
}

// dropPage packs a web page of this machine and the files that were saved with it.
func (i *Imports) dropPage(ctx context.Context, o control.ImportOrder, root string, names []string) (string, error) {
	files := make([]packing.File, len(names))
	for n, name := range names {
		files[n] = packing.File{Name: name}
	}
	archive := packing.Piped(func(w io.Writer) error { return packing.Write(ctx, w, packing.OnDisk(root), files) })
	defer archive.Close()
	return i.drop(ctx, archive, strings.TrimSuffix(o.Name, path.Ext(o.Name))+".zip", request{how: o.ImportHow})
}

// dropFolder packs a folder of notes of this machine into the import folder and starts its import.
func (i *Imports) dropFolder(ctx context.Context, o control.ImportOrder) (string, error) {
	root := string(o.Path)
	names, err := packing.VisibleIn(root, func(error) {})
	if err != nil {
		return "", control.Usage.Errorf("import: %w", err)
	}
	var files []packing.File
	for _, name := range names {
		if i.vault.Takes(path.Join(i.settings.Vault.ImportDir, strings.ToValidUTF8(name, "_"))) {
			files = append(files, packing.File{Name: name})
		}
	}
	archive := packing.Piped(func(w io.Writer) error { return packing.Write(ctx, w, packing.OnDisk(root), files) })
	defer archive.Close()
	return i.drop(ctx, archive, o.Name, request{how: o.ImportHow})
}

// drop copies r into the import folder and starts its import. The watcher sees the file too, and finds the run in claimed, so the
// file is imported once. Faults in its folder's settings are found before anything is copied.
func (i *Imports) drop(ctx context.Context, r io.Reader, name string, asked request) (string, error) {
	if _, err := i.rules.of(path.Join(i.settings.Vault.ImportDir, path.Clean("/"+name)), asked); err != nil {
		return "", err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	dropped, digest, err := i.files.Drop(ctx, r, name)
	if err != nil {
		return "", err
	}
	asked.named = true
	run, err := i.start(ctx, dropped, digest, asked)
	if err == nil {
		i.claimed[dropped] = run
	}
	return run, err
}

// claim returns the run with which a command imports a file, or "", and forgets it.
func (i *Imports) claim(name string) string {
	i.mu.Lock()
	defer i.mu.Unlock()
	run := i.claimed[name]
	delete(i.claimed, name)
	return run
}

// isClaimed reports whether a command imports a file.
func (i *Imports) isClaimed(name string) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.claimed[name] != ""
}

// start asks for the import of a file that lies in the vault.
func (i *Imports) start(ctx context.Context, name, digest string, asked request) (string, error) {
	info, err := i.vault.FS().Open(cmp.Or(asked.where, name))
	if err != nil {
		return "", err
	}
	defer info.Close()
	stat, err := info.Stat()
	if err != nil {
		return "", err
	}
	options, err := i.rules.of(name, asked)
	if err != nil {
		return "", err
	}
	data, err := json.Marshal(options)
	if err != nil {
		return "", fmt.Errorf("encode the import's settings: %w", err)
	}
	job := ingestion.Job{Mode: asked.how.Mode, Settings: options}
	if asked.where == "" {
		if run, err := i.complete(ctx, name, digest, job.Hash()); err != nil || run != "" {
			return run, err
		}
	}
	started, err := i.exec.Start(ctx, engine.Request{
		Key: engine.ImportKey(digest, job.Hash(), name), Again: true, Kind: engine.KindImport, Subject: name,
		Trigger: engine.Trigger{Kind: engine.TriggerDrop}, At: time.Now().In(i.zone),
		Import: &engine.ImportRequest{SHA256: digest, Size: stat.Size(), Mode: asked.how.Mode, Options: data, Where: asked.where, Drop: i.dropOf(name)},
	})
	if err == nil && started.Status == engine.Cancelled && asked.named {
		err = i.exec.Retry(ctx, started.Run, engine.RetryFrom{})
	}
	return started.Run, err
}

// complete has an earlier import of the same bytes make what its bundle lacks. It returns that run if it takes the file, too: one from
// another place ends as its duplicate.
func (i *Imports) complete(ctx context.Context, name, sha256, settings string) (run string, err error) {
	before, ok, err := i.journal.Imports.Imported(ctx, sha256, settings)
	if err != nil || !ok || before.Held || !i.rules.Lacks(before.Bundle) || i.replaced(before) != "" {
		return "", err
	}
	ended, err := i.journal.Runs.Run(ctx, before.ID)
	if err == nil {
		_, err = i.Retry(ctx, ended, engine.RetryFrom{})
	}
	if err != nil && failure.Of(err).Code == failure.Retry {
		return "", nil // the bundle stays as it is
	}
	if err != nil || before.Source != name {
		return "", err
	}
	return before.ID, nil
}

// dropOf names the archive or folder that a file of the import folder arrived in, or returns "" for one that came alone.
func (i *Imports) dropOf(name string) string {
	rel, _ := strings.CutPrefix(name, i.settings.Vault.ImportDir+"/")
	drop, _, inside := strings.Cut(rel, "/")
	if !inside {
		return ""
	}
	return drop
}

// Drop does what another command asks for: it names an address or a file of this machine.
func (i *Imports) Drop(ctx context.Context, o control.ImportOrder) (string, error) {
	if o.URL != "" {
		return i.dropURL(ctx, o)
	}
	return i.dropFile(ctx, o)
}

// dropURL fetches a document, keeps it as an artifact, and asks for its import. The name is the one that was asked for, else the host's.
func (i *Imports) dropURL(ctx context.Context, o control.ImportOrder) (string, error) {
	if err := i.trust.Refusal("nothing is fetched from the web"); err != nil {
		return "", err
	}
	temp, err := os.CreateTemp("", "vaultflow-fetch-*")
	if err != nil {
		return "", fmt.Errorf("keep what is fetched: %w", err)
	}
	defer func() { _ = temp.Close(); _ = os.Remove(temp.Name()) }() // it is copied, or of no use
	document, err := i.web.FetchDocument(ctx, o.URL, temp)
	if err != nil {
		return "", fmt.Errorf("fetch: %w", err)
	}
	if _, err := temp.Seek(0, io.SeekStart); err != nil {
		return "", fmt.Errorf("read what was fetched: %w", err)
	}
	shown := remote.Redact(o.URL) // the values of its query may be tokens: nothing that is kept repeats them
	ref, err := i.artifacts.Keep(ctx, temp, artifact.Source{Scope: importScope, MediaType: document.MediaType, URL: shown})
	if err != nil {
		return "", err
	}
	content, err := i.artifacts.Open(ref)
	if err != nil {
		return "", err
	}
	defer content.Close()
	if o.Name == "" {
		o.Name = document.Name
	}
	return i.drop(ctx, content, o.Name, request{how: o.ImportHow, source: shown, declared: document.MediaType})
}

// DropOrTake asks for the import of a file of this machine, or of one that lies in the import folder.
func (i *Imports) DropOrTake(ctx context.Context, o control.ImportOrder) (string, error) {
	if o.URL != "" || o.Path != "" {
		return i.Drop(ctx, o)
	}
	sum, err := change.Files{FS: i.vault.FS()}.Hash(o.Name)
	if err != nil {
		return "", err
	}
	return i.start(ctx, o.Name, sum, request{how: o.ImportHow, named: true})
}

// Retry retries an import because the user asks for it, and returns the run that does so. If the user has put another file in the
// place of one that failed or was not whole, that is another import, and the failure is no longer listed.
func (i *Imports) Retry(ctx context.Context, run engine.RunRecord, from engine.RetryFrom) (string, error) {
	r, err := i.journal.Imports.Get(ctx, run.ID)
	if err != nil {
		return "", err
	}
	if sum := i.replaced(r); sum != "" {
		started, err := i.importReplaced(ctx, r, sum)
		if err != nil {
			return "", err
		}
		return started, i.journal.Runs.Dismiss(ctx, run.ID, time.Now())
	}
	if err := Attempts(i.journal).Again(ctx, run.ID, r.SHA256); err != nil {
		return "", err
	}
	return run.ID, i.exec.Retry(ctx, run.ID, from)
}

// replaced returns the digest of what the user has put in the place of the original of an import that failed or was not whole, or "".
func (i *Imports) replaced(r engine.ImportRecord) string {
	if r.Filed == "" || r.State != engine.ImportFailed && r.State != engine.ImportNeedsPassword && r.State != engine.ImportPartial {
		return ""
	}
	sum, err := change.Files{FS: i.vault.FS()}.Hash(r.Filed)
	if err != nil || sum == r.SHA256 {
		return "" // the import itself reports a file that cannot be read
	}
	return sum
}

func (i *Imports) importReplaced(ctx context.Context, r engine.ImportRecord, sum string) (string, error) {
	e, _, err := i.journal.Executor().Load(ctx, r.ID)
	if err != nil {
		return "", err
	}
	plan, err := local.ImportPlan(e)
	if err != nil {
		return "", err
	}
	asked, err := askedOf(plan)
	if err != nil {
		return "", err
	}
	asked.where = r.Filed
	return i.start(ctx, r.Source, sum, asked)
}

// underWay returns the import of a file that is running, whatever its settings were, or "". One that had a transient error (a full disk, a
// missing worker) is retried: it is the same import, so finished pages stay finished.
func (i *Imports) underWay(ctx context.Context, news disk.Arrival) (string, error) {
	last, found, err := i.journal.Imports.Latest(ctx, news.Name, news.SHA256)
	if err != nil || !found {
		return "", err
	}
	ended, err := i.journal.Runs.Run(ctx, last.ID)
	failed := last.State == engine.ImportFailed || last.State == engine.ImportWaiting
	switch {
	case err == nil && !ended.Status.Finished():
		return last.ID, nil // it was resumed
	case !failed: // also one whose run is not known, after a history was lost
		return "", nil
	case err != nil || !mayPass(ended):
		return "", err
	}
	if err := i.exec.Retry(ctx, last.ID, engine.RetryFrom{}); err != nil {
		return "", nil //nolint:nilerr // a person was faster; the key of a new request finds that run, if it is still at work
	}
	return last.ID, nil
}

// stayed reports whether an import has ended and its original could not be moved.
func (i *Imports) stayed(ctx context.Context, ended engine.RunRecord) bool {
	if ended.Status != engine.DoneWithOmissions {
		return false
	}
	r, err := i.journal.Imports.Get(ctx, ended.ID)
	return err == nil && r.Filed == "" && r.State != engine.ImportFailed
}
