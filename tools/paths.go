package tools

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/policy/origin"
)

// Paths are the rules for the names of files that a model writes: slash paths from the vault's root, not hidden, not
// leading out of it, and only what the workflow's permissions allow. It is safe for concurrent use when its parts are.
type Paths struct {
	FS    fs.FS                      // the vault; links are looked at when it is an fs.ReadLinkFS
	Read  func(name string) error    // why a file must not be read; nil: every file may
	Write func(name string) error    // why a file must not be made or changed; nil: every file may
	Find  func(target string) string // the file that a wikilink means, or empty; nil: links are not followed
	Near  func(name string) []string // names that look like one which is not there; nil: none
	Seen  func(name string)          // told of every file whose content a tool gives; may be nil
	Named func(name string)          // told of every file and folder whose name alone a tool gives; may be nil
}

// maxPart is the longest part of a name, in bytes: what ext4, APFS and NTFS allow.
const maxPart = 255

// clean gives a name the form that the vault uses, or says what is wrong with it.
func clean(written string) (string, error) {
	name := strings.TrimSpace(written)
	name = strings.TrimSuffix(strings.TrimPrefix(name, "./"), "/")
	switch {
	case name == "" || name == ".":
		return "", errors.New("name a file, with its path from the vault's root, such as Notes/today.md")
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		return "", errors.New("the path holds a character that no name can have")
	case strings.Contains(name, "://"):
		return "", fmt.Errorf("%.80q is an address, and no path in the vault", name)
	case strings.HasPrefix(name, "/") || strings.HasPrefix(name, "~") || strings.Contains(name, `\`) || len(name) > 1 && name[1] == ':':
		return "", fmt.Errorf("%.80q: write the path from the vault's root with /, such as Notes/today.md", name)
	}
	for part := range strings.SplitSeq(name, "/") {
		switch {
		case part == ".." || part == "." || part == "":
			return "", fmt.Errorf("%.80q: . and .. have no place in a path from the vault's root", name)
		case part[0] == '.':
			return "", fmt.Errorf("%.80q is hidden: what begins with a dot is not for tools", name)
		case len(part) > maxPart:
			return "", fmt.Errorf("a part of the path is longer than %d bytes", maxPart)
		}
	}
	return name, nil
}

// file finds the file that a model means: of that name, of that name with .md, or the one that a wikilink leads to.
func (p Paths) file(written string) (string, error) {
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
		if err := p.readable(candidate); err != nil {
			return "", err
		}
		info, err := fs.Stat(p.FS, candidate)
		switch {
		case err == nil && info.IsDir():
			return "", fmt.Errorf("%s is a folder: list_files shows what is in it", candidate)
		case err == nil:
			return candidate, nil
		case !errors.Is(err, fs.ErrNotExist):
			return "", fmt.Errorf("%s cannot be read: %w", candidate, plain(err))
		}
	}
	return "", p.missing(name)
}

// linkTarget takes the brackets, the heading and the alias off a wikilink.
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
			return fmt.Errorf("there is no file %.200q; there is: %s", name, strings.Join(near, ", "))
		}
	}
	return fmt.Errorf("there is no file %.200q; list_files and search_files find files", name)
}

// allowed are those of some names that may be read, five at most.
func (p Paths) allowed(names []string) []string {
	var out []string
	for _, name := range names {
		if len(out) < 5 && p.readable(name) == nil {
			out = append(out, name)
		}
	}
	return out
}

// readable says why a file must not be read, under its name and under the one that links on the way lead to.
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

// writable says why a file must not be made or changed. What is reached through a link is not.
func (p Paths) writable(name string) error {
	real, err := p.real(name)
	if err != nil {
		return err
	}
	if real != name {
		return fmt.Errorf("%s is reached through a link; name the file itself, %s", name, real)
	}
	if i := strings.IndexAny(name, `*?:"<>|`); i >= 0 {
		return fmt.Errorf("no name of a note can have %q", name[i:i+1])
	}
	if p.Write == nil {
		return nil
	}
	return p.Write(name)
}

// real is the name behind all links. A part that is not there ends the search: what lies below does not exist.
func (p Paths) real(name string) (string, error) { return origin.Real(p.FS, name) }

// seen tells who watches that a tool has given a file's content.
func (p Paths) seen(name string) {
	if p.Seen != nil {
		p.Seen(name)
	}
}

// named tells who watches that a tool has given names.
func (p Paths) named(names ...string) {
	for _, name := range names {
		if p.Named != nil {
			p.Named(name)
		}
	}
}

// plain takes the operation and the path off an error of a file system: the sentence around it names the file.
func plain(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}
