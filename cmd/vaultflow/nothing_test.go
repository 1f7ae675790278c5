package main

import (
	"errors"
	"strings"
	"testing"
)

// The error says once that there is no file of that name.
func TestNothingNamed(t *testing.T) {
	t.Parallel()
	err := nothingNamed("nix", errors.New(`there is no file "nix" in the vault`))
	if got := err.Error(); strings.Count(got, "no file") != 1 || !strings.Contains(got, "vaultflow runs") {
		t.Error(got)
	}
}
