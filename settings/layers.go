package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/failure/diag"
)

// UserFile returns the path of the user's own settings file, $XDG_CONFIG_HOME/vaultflow/settings.yaml or
// ~/.config/vaultflow/settings.yaml, or "" if neither variable is set.
func UserFile(environ []string) string {
	env := environMap(environ)
	base := env["XDG_CONFIG_HOME"]
	if !filepath.IsAbs(base) { // the specification says to ignore a relative one
		home := env["HOME"]
		if home == "" {
			home = env["USERPROFILE"]
		}
		if home == "" {
			return ""
		}
		base = filepath.Join(home, ".config")
	}
	return filepath.Join(base, "vaultflow", FileName)
}

// layers lays the settings files over each other, starting with the user's.
type layers struct {
	*reporter
	in      Input
	environ map[string]string
	into    *Settings
}

// user reads the user's own file, if it exists. One inside the vault is judged like the vault's own.
func (l *layers) user() error {
	path := l.in.User
	if path == "" || l.in.NotUsers || l.samePlace(path) {
		return nil
	}
	data, err := l.in.read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read your settings: %w", err)
	}
	l.into.UserFile = path
	from := l.put(SourceUser, path, data, l.in.placeOf(path).inVault)
	l.closedToOthers(path, from)
	return nil
}

// samePlace reports whether the user's file is also the vault's, so that it counts once.
func (l *layers) samePlace(path string) bool {
	return l.in.File != "" && realPath(path) == realPath(l.in.File)
}

// closedToOthers warns if others can change the user's file or, if it contains a key, read it.
func (l *layers) closedToOthers(path string, from *Settings) {
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS == "windows" {
		return
	}
	if mode := info.Mode().Perm(); mode&0o022 != 0 {
		l.report(Origin{Name: path}, diag.SeverityWarning, CodeUnsafe, "chmod 600 "+path, "other users of this machine can change your settings (mode %o)", mode)
	} else if mode&0o044 != 0 && holdsSecret(from) {
		l.report(Origin{Name: path}, diag.SeverityWarning, CodeSecret, "chmod 600 "+path, "other users of this machine can read the keys in your settings (mode %o)", mode)
	}
}

// vault reads the vault's settings.yaml, or the file that replaces it.
func (l *layers) vault() error {
	path, usual := l.in.file()
	if path == "" {
		return nil
	}
	if l.in.NotVaults {
		l.into.withheld.file = l.linkKey(path)
		return nil
	}
	where := l.in.placeOf(path)
	if where.linked != "" && !l.grantLink(path, where.linked) {
		l.into.withheld.file = l.linkKey(path)
		return nil
	}
	data, err := l.in.read(path)
	if errors.Is(err, fs.ErrNotExist) && usual {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read settings: %w", err)
	}
	l.into.File = path
	l.put(SourceFile, path, data, where.inVault)
	keysInText(path, data, l.reporter)
	return nil
}

// put decodes a file and lays its values over the layers below.
func (l *layers) put(source Source, path string, data []byte, theirs bool) (from *Settings) {
	from = &Settings{origins: map[string]Origin{}}
	file(from, source, path, data, l.reporter)
	if at, set := from.origins["vaults"]; set && source == SourceFile && theirs { // whoever writes into a vault must not choose others
		l.report(at, diag.SeverityError, CodeValue, "move it to your own settings"+l.ownFile(), "vaults is not a setting of a vault: it lists the vaults of this machine that serve works on")
		delete(from.origins, "vaults")
	}
	j := &judge{layers: l, from: from, path: path, theirs: theirs}
	j.settings()
	return from
}

// ownFile returns the name of the user's own file in brackets, or "".
func (l *layers) ownFile() string {
	if l.in.User == "" {
		return ""
	}
	return " (" + l.in.User + ")"
}

// holdsSecret reports whether a file contains a key, token, password or header.
func holdsSecret(s *Settings) bool { return hasSecret(reflect.ValueOf(*s)) }

func hasSecret(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Struct:
		return slices.ContainsFunc(fieldsOf(v.Type()), func(f field) bool { return hasSecret(v.Field(f.index)) })
	case reflect.Map:
		return slices.ContainsFunc(v.MapKeys(), func(key reflect.Value) bool { return hasSecret(v.MapIndex(key)) })
	case reflect.Slice:
		return v.Len() > 0 && v.Type().Elem() == reflect.TypeFor[Secret]()
	}
	return v.Type() == reflect.TypeFor[Secret]() && !v.IsZero()
}

// file returns the path of the vault's settings file; usual is true if it may be missing.
func (in Input) file() (path string, usual bool) {
	if in.Vault == "" {
		return in.File, false
	}
	own := filepath.Join(in.Vault, FileName)
	if in.File == "" {
		return own, true
	}
	return in.File, filepath.Clean(in.File) == own
}

// place is where a file is.
type place struct {
	inVault bool   // other people and sync can write it
	linked  string // target of a symbolic link in the vault on the way to it, or ""
}

// placeOf checks a file's name and where it really is: a link in the vault may lead outside, and one outside may lead into
// the vault.
func (in Input) placeOf(path string) place {
	if in.Vault == "" {
		return place{}
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return place{inVault: true}
	}
	root, real := realPath(in.Vault), realPath(abs)
	for _, folder := range []string{in.Vault, root} {
		if rel, ok := local(folder, abs); ok {
			p := place{inVault: true}
			if real != filepath.Join(root, rel) {
				p.linked = real
			}
			return p
		}
	}
	_, within := local(root, real)
	return place{inVault: within}
}

// local returns a path relative to a folder that contains it.
func local(folder, path string) (rel string, ok bool) {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return "", false
	}
	rel, err = filepath.Rel(folder, path)
	return rel, err == nil && filepath.IsLocal(rel)
}

// forget removes the origins of a table entry before another replaces it.
func forget(s *Settings, prefix string) {
	maps.DeleteFunc(s.origins, func(path string, _ Origin) bool { return path == prefix || strings.HasPrefix(path, prefix+".") })
}

// adopt copies the origins of an entry.
func adopt(s *Settings, from *Settings, prefix string) {
	for path, at := range from.origins {
		if path == prefix || strings.HasPrefix(path, prefix+".") {
			s.origins[path] = at
		}
	}
}

// leaves returns the values outside maps, by path.
func leaves(s *Settings) map[string]reflect.Value {
	all := map[string]reflect.Value{}
	walk(reflect.ValueOf(s).Elem(), "", func(path string, _ field, v reflect.Value) { all[path] = v })
	return all
}
