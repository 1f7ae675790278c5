package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/vaultflow/vaultflow/policy"
)

// errPass refuses a change without a permission for it.
var errPass = errors.New("there is no permission for this")

// admit returns the name that a pass permits an action on. The way there is looked at once more: a link that somebody has put
// into it since the gate looked would lead elsewhere.
func (f *folder) admit(pass policy.Pass, actions ...policy.Action) (string, error) {
	name, err := pass.Of(actions...)
	if err != nil {
		return "", errors.Join(errPass, err)
	}
	return name, f.straight(name)
}

// straight refuses a name with a link in the way.
func (f *folder) straight(name string) error {
	found := "."
	for part := range strings.SplitSeq(f.actual(name), "/") {
		found = path.Join(found, part)
		info, err := f.root.Lstat(found)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return &fs.PathError{Op: "write", Path: name, Err: fmt.Errorf("%s is a link, and nothing is written through links", found)}
		}
	}
	return nil
}
