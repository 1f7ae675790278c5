package directives

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/failure/diag"
	"github.com/vaultflow/vaultflow/vault"
)

// DefaultMaxFiles is the default of engine.max_selected_files.
const DefaultMaxFiles = 500

// Pending remembers which content of which files a step has processed.
type Pending interface {
	// Done reports whether the file was processed with this SHA-256 (lower-case hex).
	Done(ctx context.Context, key PendingKey, name, sha256 string) (bool, error)
}

// PendingKey identifies pending state. It survives changes of a directive's path, limit and spelling.
type PendingKey struct {
	Workflow  string `json:"workflow"`
	Step      string `json:"step"`
	Directive int    `json:"directive"` // Input.Index
}

// ResolveEnv is the environment in which an input is resolved. FS is required. Without Links a wikilink is a path; without
// Pending nothing counts as processed.
type ResolveEnv struct {
	FS       fs.FS
	Facts    Facts
	Links    vault.Links
	Pending  Pending
	From     string                                   // vault name of the workflow's note, which contains the wikilinks
	MaxFiles int                                      // 0 means DefaultMaxFiles
	Born     func(name string) (t time.Time, ok bool) // creation times for order=ctime; optional
}

// Found is one selected file.
type Found struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256,omitempty"` // set if the selection had to read the file, for pending
}

// Resolution is the result of resolving an input.
type Resolution struct {
	Files      []Found           `json:"files,omitempty"`      // in the order of the selection
	Target     string            `json:"target"`               // the path after expansion, for markers and messages
	Missing    bool              `json:"missing,omitempty"`    // nothing matches the path
	Near       []string          `json:"near,omitempty"`       // similar names, if Missing
	Considered int               `json:"considered,omitempty"` // matching files before pending, latest and limit
	Warnings   []diag.Diagnostic `json:"warnings,omitempty"`
}

// Key identifies the input's pending state.
func (in Input) Key(workflow, step string) PendingKey {
	return PendingKey{Workflow: workflow, Step: step, Directive: in.Index}
}

// Resolve finds the files of a file input. It only reads, and it reads file contents only for `pending`, of no more files
// than it needs. A variable input resolves to nothing. A path with {item} or {item-name} is resolved for each of
// [Facts].Items in order, with the whole selection each time; a file that several items find is included once, and the input
// is missing if no item finds anything. An error is a [diag.Diagnostic] if the author or the vault is at fault. A missing
// file is not an error.
func (in Input) Resolve(ctx context.Context, env ResolveEnv) (Resolution, error) {
	res := Resolution{Target: in.Target.Path}
	if in.Target.Scheme == SchemeVariable {
		return res, nil
	}
	if env.MaxFiles == 0 {
		env.MaxFiles = DefaultMaxFiles
	}
	if in.perItem(env.Facts) {
		return in.resolveItems(ctx, env)
	}
	f := finder{in: in, env: env, res: &res, bundles: vault.NewBundles(env.FS)}
	list, err := f.candidates(ctx)
	if err != nil {
		return res, err
	}
	res.Considered = len(list)
	if len(list) == 0 {
		f.missing()
		return res, nil
	}
	if list, err = f.stamped(ctx, list); err != nil {
		return res, err
	}
	in.Selection.arrange(list)
	res.Files, err = f.take(ctx, list)
	return res, err
}

// finder resolves one input.
type finder struct {
	in   Input
	env  ResolveEnv
	res  *Resolution
	near []string

	bundles *vault.Bundles
}

func (f *finder) warn(code, suggestion, format string, args ...any) {
	d := At(f.in.Target.At, code, suggestion, format, args...)
	d.Severity = diag.SeverityWarning
	f.res.Warnings = append(f.res.Warnings, d)
}

func (f *finder) fail(code, suggestion, format string, args ...any) error {
	return At(f.in.Target.At, code, suggestion, format, args...)
}

// candidates lists the files that match the path, in no particular order.
func (f *finder) candidates(ctx context.Context) ([]candidate, error) {
	t := f.in.Target
	switch {
	case t.Scheme == SchemeTrigger:
		return f.trigger()
	case t.Link:
		return f.link()
	case t.Literal:
		return f.exact(t.Path)
	}
	glob, err := ExpandGlob(t.Path, f.env.Facts)
	if err != nil {
		return nil, f.pattern(err)
	}
	name := unescape(glob)
	f.res.Target = name
	if !hasMeta(glob) {
		return f.exact(name)
	}
	// An existing file wins over a glob that looks like its name, such as `a [1].md`.
	if fs.ValidPath(name) && faultOf(name) == nil && KindOf(name) != "" {
		if info, err := fs.Stat(f.env.FS, name); err == nil && info.Mode().IsRegular() {
			return []candidate{{name: name}}, nil
		}
	}
	return f.glob(ctx, glob)
}

// trigger finds those of the files that started the run that are still there.
func (f *finder) trigger() ([]candidate, error) {
	var list []candidate
	for _, name := range f.env.Facts.Files {
		name = vault.Actual(f.env.FS, name)
		if bad := faultOf(name); bad != nil {
			return nil, f.fail(bad.code, bad.suggestion, "%s: %s", name, bad.message)
		}
		info, err := fs.Stat(f.env.FS, name)
		switch {
		case err == nil && info.Mode().IsRegular():
			list = append(list, candidate{name: name})
		case err != nil && !errors.Is(err, fs.ErrNotExist) && !notDir(err):
			return nil, f.fail(CodeCannotRead, "", "cannot read %s: %v", name, err)
		}
	}
	f.res.Target = "the file that started the run"
	if names := f.env.Facts.Files; len(names) > 0 {
		f.res.Target = names[0]
	}
	return f.withoutChapters(list), nil
}

func (f *finder) pattern(err error) error {
	var p *PatternError
	if errors.As(err, &p) {
		return At(f.in.Target.source().pos(p.Offset), p.Code, p.Suggestion, "%s", p.Message)
	}
	return err
}

func (f *finder) link() ([]candidate, error) {
	linkpath, err := ExpandPath(f.in.Target.Path, f.env.Facts)
	if err != nil {
		return nil, f.pattern(err)
	}
	f.res.Target = "[[" + linkpath + "]]"
	if f.env.Links == nil {
		return f.exact(linkpath)
	}
	l := f.env.Links.Locate(linkpath, f.env.From)
	if !l.Found {
		f.near = l.Near
		return nil, nil
	}
	if bad := faultOf(l.Name); bad != nil {
		return nil, f.fail(bad.code, bad.suggestion, "%s leads to %s: %s", f.res.Target, l.Name, bad.message)
	}
	if len(l.Ambiguous) > 1 {
		f.warn(CodeAmbiguousLink, "write more of the path", "%s matches %s; %s is used", f.res.Target, diag.OneOf(l.Ambiguous), l.Name)
	}
	return []candidate{{name: l.Name}}, nil
}

// exact finds one file by the extension rules: a name with a known extension as it is; without one, first with .md; with an
// unknown one as it is and then with .md.
func (f *finder) exact(name string) ([]candidate, error) {
	if bad := faultOf(name); bad != nil {
		return nil, At(bad.at(f.in.Target), bad.code, bad.suggestion, "%s", bad.message)
	}
	folder := false
	for _, try := range spellings(name) {
		try = vault.Actual(f.env.FS, try)
		info, err := fs.Stat(f.env.FS, try)
		switch {
		case err == nil && info.Mode().IsRegular():
			return []candidate{{name: try}}, nil
		case err == nil:
			folder = folder || info.IsDir()
		case !errors.Is(err, fs.ErrNotExist) && !notDir(err):
			return nil, f.fail(CodeCannotRead, "", "cannot read %s: %v", try, err)
		}
	}
	if folder {
		f.warn(CodeFolder, "write "+name+"/* for the notes in it", "%s is a folder", name)
	}
	return nil, nil
}

// notDir reports whether a path leads through a file (`a.md/b`), which some file systems do not report as missing.
func notDir(err error) bool { return strings.Contains(err.Error(), "not a directory") }

func spellings(name string) []string {
	switch ext := path.Ext(name); {
	case KindOf(name) != "":
		return []string{name}
	case ext == "":
		return []string{name + ".md", name}
	}
	return []string{name, name + ".md"}
}

// stamped sets the times that order the candidates, and drops files that have vanished.
func (f *finder) stamped(ctx context.Context, list []candidate) ([]candidate, error) {
	if f.in.Selection.Order == OrderCtime && f.env.Born == nil {
		f.warn(CodeNoCreationTimes, "use order=mtime", "creation times are unknown here, so files are ordered by modification time")
	}
	kept := list[:0]
	for _, c := range list {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("order the files of %s: %w", f.res.Target, err)
		}
		switch err := f.in.Selection.stamp(f.env.FS, &c, f.env.Born); {
		case err == nil:
			kept = append(kept, c)
		case !errors.Is(err, fs.ErrNotExist):
			return nil, f.fail(CodeCannotRead, "", "cannot read %s: %v", c.name, err)
		}
	}
	return kept, nil
}

// take applies pending, latest, limit and the overall bound.
func (f *finder) take(ctx context.Context, list []candidate) ([]Found, error) {
	limit := f.in.Selection.limit()
	var files []Found
	for _, c := range list {
		if limit > 0 && len(files) == limit {
			break
		}
		found := Found{Name: c.name}
		if f.in.Selection.Pending {
			done, err := f.done(ctx, &found)
			if err != nil {
				return nil, err
			}
			if done {
				continue
			}
		}
		if len(files) == f.env.MaxFiles {
			return nil, f.tooMany()
		}
		files = append(files, found)
	}
	return files, nil
}

func (f *finder) tooMany() error {
	return f.fail(CodeTooMany, "narrow the path, or add limit="+fmt.Sprint(f.env.MaxFiles),
		"%s selects more than %d files (engine.max_selected_files)", f.res.Target, f.env.MaxFiles)
}

// missing describes an input that matches no file.
func (f *finder) missing() {
	f.res.Missing = true
	f.res.Near = f.near
	if len(f.near) == 0 {
		f.res.Near = f.nearby()
	}
	hint := ""
	if len(f.res.Near) > 0 {
		hint = "did you mean " + diag.OneOf(f.res.Near) + "?"
	}
	f.warn(CodeMissing, hint, "nothing found for %s", f.res.Target)
}

// nearby lists up to three names in the folder of a missing file that differ in case or by a typo.
func (f *finder) nearby() []string {
	dir, base := path.Split(f.res.Target)
	dir = path.Clean("./" + dir)
	if !fs.ValidPath(dir) || strings.ContainsAny(f.res.Target, "*?[{") {
		return nil
	}
	entries, err := fs.ReadDir(f.env.FS, dir)
	if err != nil {
		return nil // the folder itself is missing: nothing to suggest
	}
	bare := strings.ToLower(strings.TrimSuffix(base, ".md"))
	var near []string
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), ".md")
		if len(near) < 3 && !e.IsDir() && !strings.HasPrefix(name, ".") && diag.Nearest(bare, []string{name}) != "" {
			near = append(near, path.Join(dir, e.Name()))
		}
	}
	slices.SortFunc(near, vault.Natural)
	return near
}
