package settings

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// VaultID identifies a vault by its folder's name and a digest of its real path, so that two vaults never share a state
// directory and a link to a vault is the same vault.
func VaultID(vault string) string {
	real := realPath(vault)
	sum := sha256.Sum256([]byte(real))
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, filepath.Base(real))
	if len(name) > 40 {
		name = name[:40]
	}
	if name = strings.Trim(name, "-"); name == "" {
		name = "vault"
	}
	return name + "-" + hex.EncodeToString(sum[:6])
}

// StateDir returns the state directory of a vault: override if it is set, else $XDG_STATE_HOME/vaultflow/<vault id>, else
// ~/.local/state/vaultflow/<vault id>. The directory is not created. One inside the vault is an error.
func StateDir(vault, override string, environ []string) (string, error) {
	dir := override
	if dir == "" {
		home, err := StateHome(environ)
		if err != nil {
			return "", err
		}
		dir = filepath.Join(home, VaultID(vault))
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("find the state directory: %w", err)
	}
	if inside(dir, vault) {
		return "", fmt.Errorf("the state directory %s is inside the vault; use --state-dir with another folder", dir)
	}
	return dir, nil
}

// StateHome returns the folder of the state directories: $XDG_STATE_HOME/vaultflow, else ~/.local/state/vaultflow.
func StateHome(environ []string) (string, error) {
	env := environMap(environ)
	base := env["XDG_STATE_HOME"]
	if !filepath.IsAbs(base) { // the specification: a relative one is ignored
		home := env["HOME"]
		if home == "" {
			home = env["USERPROFILE"]
		}
		if home == "" {
			return "", errors.New("find the state directory: neither XDG_STATE_HOME nor HOME is set; use --state-dir")
		}
		base = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(base, "vaultflow"), nil
}
