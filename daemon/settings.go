package daemon

import (
	"context"
	"os"

	"github.com/vaultflow/vaultflow/policy/trust"
	"github.com/vaultflow/vaultflow/settings"
)

// FindState returns where the state of a vault is kept. named is the folder that was asked for, or "".
func FindState(vaultDir, named string) (string, error) {
	dir, err := settings.StateDir(vaultDir, named, os.Environ())
	if err != nil {
		return "", invalid(err)
	}
	return dir, nil
}

// load reads the settings, as far as the vault is trusted.
func (a *Workspace) load(ctx context.Context, o Options) error {
	environ := os.Environ()
	input := settings.Input{
		File: o.Settings, Vault: a.Dir, User: settings.UserFile(environ), StateDir: a.StateDir, Environ: environ, Overrides: o.Overrides,
	}
	a.loaded = rememberFiles(input)
	given, err := openAnswers(ctx, a.StateDir, a.Dir, func() ([]trust.Ask, error) { return asked(input) })
	if err != nil {
		return err
	}
	input.Grants = given.grants
	if a.Settings, err = settings.Load(input); err != nil {
		return invalid(err)
	}
	a.Log = o.Logger(a.Settings)
	a.Trust = newTrust(given, a.Settings, a.Log)
	return a.Trust.narrow(a.Settings, o.Overrides["web.listen"] != "")
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
