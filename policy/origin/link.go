package origin

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// ErrOutside reports a link that leads out of the vault.
var ErrOutside = errors.New("leads out of the vault")

// maxLinks bounds the number of links on the way to one file, as Linux does.
const maxLinks = 40

// Real returns a file's name after following all links, or the name itself if the file system does not support links. A
// missing part ends the search: nothing below it exists either.
func Real(files fs.FS, name string) (string, error) {
	links, ok := files.(fs.ReadLinkFS)
	if !ok {
		return name, nil
	}
	done, rest := "", strings.Split(name, "/")
	for hops := 0; len(rest) > 0; {
		next := path.Join(done, rest[0])
		if next == ".." || strings.HasPrefix(next, "../") {
			return "", fmt.Errorf("%s %w", name, ErrOutside)
		}
		rest = rest[1:]
		info, err := links.Lstat(next)
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			done = next
			continue
		}
		target, err := links.ReadLink(next)
		if hops++; err != nil || path.IsAbs(target) || hops > maxLinks {
			return "", fmt.Errorf("%s %w", name, ErrOutside)
		}
		rest = append(strings.Split(path.Clean(target), "/"), rest...)
	}
	return done, nil
}
