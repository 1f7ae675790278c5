package export

import (
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

var (
	scheme  = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:`)
	escaped = regexp.MustCompile("\\\\([!-/:-@\\[-`{-~])")
)

// find returns the file that a wikilink means, by Obsidian's rules within the tree.
func (t *Tree) find(link, from string) (int, bool) {
	link = strings.TrimSpace(strings.ReplaceAll(link, `\`, "/"))
	if link == "" {
		return 0, false
	}
	for _, name := range []string{link, link + ".md"} {
		if strings.HasPrefix(name, "./") || strings.HasPrefix(name, "../") {
			if i, ok := t.at(path.Join(path.Dir(from), name)); ok {
				return i, true
			}
			continue
		}
		name = path.Clean(strings.TrimPrefix(name, "/"))
		for _, candidate := range []string{name, t.top + name, path.Join(path.Dir(from), name)} {
			if i, ok := t.at(candidate); ok {
				return i, true
			}
		}
		if i, ok := t.ending(name); ok {
			return i, true
		}
	}
	return 0, false
}

// at returns the file with this source path.
func (t *Tree) at(name string) (int, bool) {
	if i, ok := t.whole[name]; ok {
		return i, true
	}
	i, ok := t.exact[key(name)]
	return i, ok
}

// ending returns the file with the shortest path that ends with a name.
func (t *Tree) ending(name string) (int, bool) {
	if i, ok := t.ends[name]; ok {
		return i, true
	}
	i, ok := t.ends[key(name)]
	return i, ok
}

// local returns the paths that a Markdown destination may mean, decoded and as written. There is none in an address.
func local(dest string) (paths []string, ok bool) {
	if dest == "" || dest[0] == '#' || strings.HasPrefix(dest, "//") || strings.Contains(dest, "://") {
		return nil, false
	}
	name, _, _ := strings.Cut(dest, "#")
	plain := escaped.ReplaceAllString(name, "$1")
	for _, p := range []string{plain, name, dest} {
		if decoded, err := url.PathUnescape(p); err == nil {
			paths = append(paths, decoded)
		}
		paths = append(paths, p)
	}
	return paths, !scheme.MatchString(dest)
}

// follow returns the file that a Markdown destination means: from the note's folder, and if nothing is there, as a wikilink would.
func (t *Tree) follow(paths []string, from string) (file int, decoded string, ok bool) {
	for _, p := range paths {
		name := strings.TrimPrefix(strings.ReplaceAll(p, `\`, "/"), "/")
		if i, ok := t.at(path.Join(path.Dir(from), name)); ok && !strings.HasPrefix(p, "/") {
			return i, p, true
		}
	}
	for _, p := range paths {
		if i, ok := t.find(p, from); ok {
			return i, p, true
		}
	}
	return 0, "", false
}

// way returns the path from one placed note to another file. It begins with a dot.
func way(from, to string) string {
	rel, err := filepath.Rel(path.Dir(from), to)
	if err != nil {
		return to // both are relative, so there is always a way
	}
	if rel = filepath.ToSlash(rel); !strings.HasPrefix(rel, "../") {
		rel = "./" + rel
	}
	return rel
}

// leads reports whether a written path that begins with a dot leads from a placed note to another file.
func leads(written, from, to string) bool {
	return (strings.HasPrefix(written, "./") || strings.HasPrefix(written, "../")) && !strings.Contains(written, `\`) && path.Join(path.Dir(from), written) == to
}

// encode writes a path as a Markdown destination.
var encoder = strings.NewReplacer("%", "%25", " ", "%20", "(", "%28", ")", "%29", "\u00a0", "%C2%A0", "\u202f", "%E2%80%AF", "$", "%24", "`", "%60", "?", "%3F", "*", "%2A", "&", "%26", "=", "%3D")

func encode(name string) string { return encoder.Replace(name) }
