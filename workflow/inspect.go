package workflow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/failure/diag"
)

// maxSchema bounds the text of a schema in bytes.
const maxSchema = 256 << 10

// Inspect reports what the vault reveals: missing inputs and folders, unusable schemas, outputs that leave the vault through
// links. It reads only schemas, and lists only folders in which a name is missing. What a step of the workflow itself may
// write does not count as missing. Without [World].FS there is nothing to report.
func Inspect(ctx context.Context, p *Plan, w World) []diag.Diagnostic {
	if w.FS == nil {
		return nil
	}
	i := inspector{checker: checker{plan: p, world: w}}
	for _, s := range p.Steps {
		for _, t := range s.read() {
			if t.Scheme == directives.SchemeFile && (t.Literal || !directives.MentionsItem(t.Path) && !directives.MentionsTrigger(t.Path)) {
				i.input(ctx, s, t)
			}
		}
		if s.Schema != nil && s.Schema.Target != nil {
			i.schema(ctx, s, *s.Schema.Target)
		}
		for _, out := range s.fileOutputs() {
			i.output(s, out)
		}
		i.formerPaths(ctx, s)
	}
	return Limit(diag.Sort(i.list))
}

type inspector struct{ checker }

func (i *inspector) env(s Step) directives.ResolveEnv {
	return directives.ResolveEnv{FS: i.world.FS, Facts: i.facts(s), Links: i.world.Links, From: i.plan.File}
}

// input checks the file of a path that names one, and the folder of any other.
func (i *inspector) input(ctx context.Context, s Step, t directives.Target) {
	if dir, fixed := fixedFolder(t); !fixed {
		i.folder(t, dir)
		return
	}
	found, err := directives.Input{At: t.At, Target: t}.Resolve(ctx, i.env(s))
	if err != nil {
		i.add(asDiagnostic(err, t.At))
		return
	}
	isFolder := slices.ContainsFunc(found.Warnings, func(d diag.Diagnostic) bool { return d.Code == directives.CodeFolder })
	for _, d := range found.Warnings {
		if d.Code == directives.CodeMissing && (isFolder || i.written(shapes(t), Position{})) {
			continue
		}
		if d.Code == directives.CodeMissing && s.Schema != nil && s.Schema.Target != nil && s.Schema.Target.At == t.At {
			d = directives.At(t.At, directives.CodeNoSchema, d.Suggestion, "there is no schema file %s, so the step fails", t.Path)
		}
		i.add(d)
	}
}

// fixedFolder returns the folder above the first part of a path that depends on the run or the vault; fixed is true if no
// part does.
func fixedFolder(t directives.Target) (dir string, fixed bool) {
	end := -1
	if !t.Literal {
		end = strings.IndexAny(strings.NewReplacer("{{", "__", "}}", "__").Replace(t.Path), "{*?[")
	}
	if end < 0 {
		return "", true
	}
	return strings.TrimSuffix(t.Path[:strings.LastIndexByte(t.Path[:end], '/')+1], "/"), false
}

func (i *inspector) folder(t directives.Target, dir string) {
	if dir == "" || t.Link || !fs.ValidPath(dir) {
		return
	}
	info, err := fs.Stat(i.world.FS, dir)
	if err == nil && info.IsDir() || i.written([]string{dir + "/**"}, Position{}) {
		return
	}
	message := "%s is not a folder"
	if errors.Is(err, fs.ErrNotExist) {
		message = "there is no folder %s"
	}
	d := directives.At(t.At, directives.CodeMissing, nearFolder(i.world.FS, dir), message, dir)
	i.add(d)
}

// nearFolder suggests a folder next to a missing one.
func nearFolder(fsys fs.FS, dir string) string {
	entries, err := fs.ReadDir(fsys, path.Dir(dir))
	if err != nil {
		return ""
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	if near := diag.Nearest(path.Base(dir), names); near != "" {
		return "did you mean " + path.Join(path.Dir(dir), near) + "?"
	}
	return ""
}

// written reports whether an output, other than the given one, may write a file that one of the globs matches.
func (i *inspector) written(globs []string, other Position) bool {
	return slices.ContainsFunc(i.plan.Steps, func(s Step) bool {
		return slices.ContainsFunc(s.fileOutputs(), func(out directives.Output) bool {
			return out.Target.At != other && mayFit(out.Target, globs)
		})
	})
}

// schema reads the file of an @schema.
func (i *inspector) schema(ctx context.Context, s Step, t directives.Target) {
	found, err := directives.Input{At: t.At, Target: t}.Resolve(ctx, i.env(s))
	if err != nil || len(found.Files) != 1 {
		return // input has reported why
	}
	name := found.Files[0].Name
	data, err := readBounded(i.world.FS, name)
	if err == nil {
		check := i.world.Schema
		if check == nil {
			check = wellFormed
		}
		err = check(name, data)
	}
	if err == nil && strings.EqualFold(path.Ext(name), ".json") {
		for _, p := range s.AnswerPatterns() {
			if fault, fix := AnswerFault(data, p.Field); fault != "" {
				i.add(directives.At(p.At, directives.CodeAnswerField, fix, "{answer-%s} has no value: %s", p.Field, fault))
			}
		}
	}
	if err != nil {
		i.add(directives.At(t.At, directives.CodeSchema, "", "the schema %s cannot be used: %v", name, err))
	}
}

func readBounded(fsys fs.FS, name string) ([]byte, error) {
	file, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxSchema+1))
	if err == nil && len(data) > maxSchema {
		err = fmt.Errorf("it is larger than %d bytes", maxSchema)
	}
	return data, err
}

// wellFormed checks that a file is the JSON or YAML that its extension promises.
func wellFormed(name string, data []byte) error {
	switch strings.ToLower(path.Ext(name)) {
	case ".json":
		var value any
		return json.Unmarshal(data, &value)
	case ".yaml", ".yml":
		var value yaml.Node
		return yaml.Unmarshal(data, &value)
	}
	return nil
}

// output checks for symbolic links on the way to an output, and for the note that a wikilink means.
func (i *inspector) output(s Step, out directives.Output) {
	var name string
	switch dir, fixed := fixedFolder(out.Target); {
	case out.Target.Link && (!fixed || i.world.Links == nil):
		return
	case out.Target.Link:
		env := directives.OutputEnv{Facts: i.facts(s), FS: i.world.FS, Links: i.world.Links, From: i.plan.File, ImportDir: i.world.ImportDir, MayWrite: i.plan.Meta.Permissions.MayWrite}
		var err error
		if name, err = out.Name(env); err != nil {
			i.link(out.Target, err)
			return
		}
	case !fixed:
		name = dir
	default:
		env := directives.OutputEnv{Facts: i.facts(s), ImportDir: i.world.ImportDir}
		var err error
		if name, err = out.Name(env); err != nil {
			return // Check has reported why
		}
	}
	if link := i.leaves(name); link != "" {
		i.add(directives.At(out.Target.At, directives.CodeOutputLeaves, "write elsewhere, or replace the link with a folder",
			"the link %s leads out of the vault or nowhere, so nothing can be written there", link))
	}
}

// link reports what is wrong with an output's wikilink. Another step or the user may still write a missing note.
func (i *inspector) link(t directives.Target, err error) {
	d := asDiagnostic(err, t.At)
	if d.Code == directives.CodeLinkMissing {
		if i.written(shapes(t), t.At) {
			return
		}
		d.Severity = diag.SeverityWarning
	}
	i.add(d)
}

// leaves returns the first link on the way to a name that cannot be followed inside the vault.
func (i *inspector) leaves(name string) string {
	if name == "" || !fs.ValidPath(name) {
		return ""
	}
	for end := 0; end < len(name); end++ {
		next := strings.IndexByte(name[end:], '/')
		if next < 0 {
			next = len(name) - end
		}
		end += next
		info, err := fs.Lstat(i.world.FS, name[:end])
		if err != nil {
			return ""
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			continue
		}
		if _, err := fs.Stat(i.world.FS, name[:end]); err != nil {
			return name[:end]
		}
	}
	return ""
}
