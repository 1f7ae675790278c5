package tools

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/policy/origin"
	"github.com/vaultflow/vaultflow/vault"
)

// Paths checks the file names that a model sends: slash paths from the vault's root, not hidden, inside the vault, and within the
// workflow's permissions. It is safe for concurrent use when its parts are.
type Paths struct {
	FS    fs.FS                      // the vault; links are resolved if it is an fs.ReadLinkFS
	Read  func(name string) error    // why a file must not be read; nil: all may be read
	Write func(name string) error    // why a file must not be written; nil: all may be written
	Find  func(target string) string // the file a wikilink leads to, or ""; nil: links are not followed
	Near  func(name string) []string // existing names similar to one; nil: none
	Seen  func(name string)          // called for each file whose content a tool shows; may be nil
	Named func(name string)          // called for each file and folder of which a tool shows only the name; may be nil
}

// maxPart is the longest part of a name, in bytes: what ext4, APFS and NTFS allow.
const maxPart = 255

// clean returns a name in the form that the vault uses, or an error if it is not a valid one.
func clean(written string) (string, error) {
	name := strings.TrimSpace(written)
	name = strings.TrimSuffix(strings.TrimPrefix(name, "./"), "/")
	switch {
	case name == "" || name == ".":
		return "", errors.New("write the path of a file from the vault's root, such as Notes/today.md")
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		return "", errors.New("the path has a character that names cannot have")
	case strings.Contains(name, "://"):
		return "", fmt.Errorf("%.80q is a web address, not a path in the vault", name)
	case strings.HasPrefix(name, "/") || strings.HasPrefix(name, "~") || strings.Contains(name, `\`) || len(name) > 1 && name[1] == ':':
		return "", fmt.Errorf("%.80q: write the path from the vault's root with /, such as Notes/today.md", name)
	}
	for part := range strings.SplitSeq(name, "/") {
		switch {
		case part == ".." || part == "." || part == "":
			return "", fmt.Errorf("%.80q: . and .. are not allowed in a path", name)
		case part[0] == '.':
			return "", fmt.Errorf("%.80q is hidden: tools do not see names that begin with a dot", name)
		case len(part) > maxPart:
			return "", fmt.Errorf("a part of the path is longer than %d bytes", maxPart)
		}
	}
	return name, nil
}

// File returns the file that a model names: by that name, by that name with .md, as a wikilink, or by the folder of an
// imported document. The file may be read.
func (p Paths) File(written string) (string, error) {
	target, isLink := linkTarget(written)
	if isLink && p.Find != nil {
		if name := p.Find(target); name != "" {
			return name, p.readable(name)
		}
		return "", p.missing(target)
	}
	name, err := clean(target)
	if err != nil {
		return "", err
	}
	for _, candidate := range []string{name, name + ".md"} {
		candidate = vault.Actual(p.FS, candidate)
		if err := p.readable(candidate); err != nil {
			return "", err
		}
		info, err := fs.Stat(p.FS, candidate)
		switch {
		case err == nil && info.IsDir():
			if note := vault.BundleNote(p.FS, candidate); note != "" {
				return note, p.readable(note)
			}
			return "", fmt.Errorf("%s is a folder: use list_files", candidate)
		case err == nil:
			return candidate, nil
		case !errors.Is(err, fs.ErrNotExist):
			return "", fmt.Errorf("%s cannot be read: %w", candidate, plain(err))
		}
	}
	return "", p.missing(name)
}

// linkTarget returns a wikilink without brackets, heading and alias.
func linkTarget(written string) (target string, isLink bool) {
	s := strings.TrimSpace(written)
	inner, opens := strings.CutPrefix(strings.TrimPrefix(s, "!"), "[[")
	inner, closes := strings.CutSuffix(inner, "]]")
	if !opens || !closes {
		return s, false
	}
	inner, _, _ = strings.Cut(inner, "|")
	inner, _, _ = strings.Cut(inner, "#")
	return strings.TrimSpace(inner), true
}

func (p Paths) missing(name string) error {
	if p.Near != nil {
		if near := p.allowed(p.Near(name)); len(near) > 0 {
			p.named(near...)
			return fmt.Errorf("no file %.200q; similar: %s", name, strings.Join(near, ", "))
		}
	}
	return fmt.Errorf("no file %.200q; find files with list_files or search_files", name)
}

// allowed returns the names that may be read, at most five.
func (p Paths) allowed(names []string) []string {
	var out []string
	for _, name := range names {
		if len(out) < 5 && p.readable(name) == nil {
			out = append(out, name)
		}
	}
	return out
}

// readable returns why a file must not be read, by its name or by the name that links lead to.
func (p Paths) readable(name string) error {
	real, err := p.real(name)
	if err != nil {
		return err
	}
	for _, n := range []string{name, real} {
		if _, err := clean(n); err != nil {
			return err
		}
		if p.Read == nil {
			continue
		}
		if err := p.Read(n); err != nil {
			return err
		}
	}
	return nil
}

// writable returns why a file must not be written. Nothing is written through links.
func (p Paths) writable(name string) error {
	real, err := p.real(name)
	if err != nil {
		return err
	}
	if real != name {
		return fmt.Errorf("%s is reached through a link; name the file itself, %s", name, real)
	}
	if i := strings.IndexAny(name, `*?:"<>|`); i >= 0 {
		return fmt.Errorf("a file name cannot contain %q", name[i:i+1])
	}
	if p.Write == nil {
		return nil
	}
	return p.Write(name)
}

// real returns the name behind all links.
func (p Paths) real(name string) (string, error) { return origin.Real(p.FS, name) }

// seen records that a tool has shown the content of a file.
func (p Paths) seen(name string) {
	if p.Seen != nil {
		p.Seen(name)
	}
}

// named records that a tool has shown names.
func (p Paths) named(names ...string) {
	for _, name := range names {
		if p.Named != nil {
			p.Named(name)
		}
	}
}

// plain returns the cause of a file system error, for sentences that already name the file.
func plain(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}
