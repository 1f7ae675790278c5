package daemon

import (
	"os"

	"github.com/vaultflow/vaultflow/daemon/control"
	"github.com/vaultflow/vaultflow/policy/trust"
	"github.com/vaultflow/vaultflow/settings"
)

// FindState returns where the state of a vault is kept. named is the folder that was asked for, or "".
func FindState(vaultDir, named string) (string, error) {
	dir, err := settings.StateDir(vaultDir, named, os.Environ())
	if err != nil {
		return "", control.Invalid.Wrap(err)
	}
	return dir, nil
}

// asked are the values of the vault's files that wait while nothing is granted, with those that come to light when others
// are: a link to a file of settings hides what the file says.
func asked(in settings.Input) ([]trust.Ask, error) {
	in.Grants = func(settings.Waiting) bool { return true }
	if s, err := settings.Load(in); err == nil {
		return asksOf(s.Granted), nil
	}
	in.Grants = nil
	s, err := settings.Load(in)
	if err != nil {
		return nil, err
	}
	return asksOf(s.Waiting), nil
}

func asksOf(list []settings.Waiting) []trust.Ask {
	asks := make([]trust.Ask, len(list))
	for i, w := range list {
		asks[i] = trust.Ask{Key: w.Key, Digest: w.Digest, Says: w.Says, Value: w.Value}
	}
	return asks
}
