package directives

import (
	"errors"
	"io/fs"
	"path"
	"strings"

	"github.com/vaultflow/vaultflow/failure/diag"
	"github.com/vaultflow/vaultflow/vault"
)

// OutputEnv is the environment that determines an output's name.
type OutputEnv struct {
	Facts     Facts
	FS        fs.FS                  // the vault, for names of older bundles' files (see vault.Actual); nil: names are kept
	Links     vault.Links            // where a wikilink leads; nil: wikilinks are refused
	From      string                 // name of the workflow's note
	ImportDir string                 // the inbox, where nothing is written; empty means Import
	MayWrite  func(name string) bool // permissions.write; nil allows everything
}

// Name returns the vault name of a file output, before write mode new numbers it. A missing or unknown extension means .md. A
// name outside the vault, in a dot folder, in the import folder or outside permissions.write is a [diag.Diagnostic]. A
// variable's name is returned unchanged.
func (o Output) Name(env OutputEnv) (string, error) {
	t := o.Target
	if t.Scheme != SchemeFile {
		return t.Path, nil
	}
	name, err := o.written(env)
	if err != nil {
		return "", err
	}
	if f := outputFault(name); f != nil {
		return "", At(f.at(t), f.code, f.suggestion, "%q: %s", name, f.message)
	}
	if KindOf(name) == "" {
		name += ".md"
	}
	if env.FS != nil {
		name = vault.Actual(env.FS, name)
	}
	if len(path.Base(name)) > 255 {
		return "", At(t.At, CodeNameTooLong, "", "the name %q is longer than 255 bytes", clip(name))
	}
	inbox := env.ImportDir
	if inbox == "" {
		inbox = "Import"
	}
	if Inside(name, inbox) {
		return "", At(t.At, CodeImportFolder, "write elsewhere", "%s is inside the import folder %s", name, inbox)
	}
	if env.MayWrite != nil && !env.MayWrite(name) {
		return "", At(t.At, CodeNotPermitted, "add it to permissions.write", "%s is not covered by permissions.write", name)
	}
	return name, nil
}

// written returns the name before the rules are applied to it.
func (o Output) written(env OutputEnv) (string, error) {
	t := o.Target
	if t.Literal {
		return t.Path, nil
	}
	name, err := ExpandPath(t.Path, env.Facts)
	var p *PatternError
	if errors.As(err, &p) {
		return "", At(t.source().pos(p.Offset), p.Code, p.Suggestion, "%s", p.Message)
	}
	if err != nil || !t.Link {
		return name, err
	}
	if env.Links != nil {
		if l := env.Links.Locate(name, env.From); l.Found && len(l.Ambiguous) < 2 {
			return l.Name, nil
		} else if l.Found {
			return "", At(t.At, CodeLinkMissing, "write the whole path", "[[%s]] matches %s", name, diag.OneOf(l.Ambiguous))
		}
	}
	suggestion := "write the name of an existing note"
	if _, err := (Output{Target: Target{Scheme: SchemeFile, Path: name, Literal: true}}).Name(env); err == nil {
		suggestion = "write file: " + name + " to create a new note"
	}
	return "", At(t.At, CodeLinkMissing, suggestion, "[[%s]] leads to no note", name)
}

// Inside reports whether a name is a folder or below it, ignoring case.
func Inside(name, folder string) bool {
	name, folder = strings.ToLower(name), strings.ToLower(strings.Trim(folder, "/"))
	return name == folder || strings.HasPrefix(name, folder+"/")
}
