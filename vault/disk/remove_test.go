package disk

import (
	"context"
	"errors"
	"testing"

	"github.com/vaultflow/vaultflow/vault"
)

func TestRemove_onlyTheBytesThatAreMeant(t *testing.T) {
	t.Parallel()
	v, _ := tempVault(t, "Import/a.pdf")
	_, sum, err := v.Read("Import/a.pdf", 1<<20)
	must(t, err)
	var conflict *vault.ConflictError
	if err := v.remove(t.Context(), "Import/a.pdf", sum[1:]+"0"); !errors.As(err, &conflict) {
		t.Errorf("other bytes: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := v.remove(ended, "Import/a.pdf", sum); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled removal: %v", err)
	}
	if there, err := exists(v, "Import/a.pdf"); !there || err != nil {
		t.Fatalf("it is gone: %v", err)
	}
	for range 2 {
		must(t, v.remove(t.Context(), "Import/a.pdf", sum))
	}
	if there, err := exists(v, "Import/a.pdf"); there || err != nil {
		t.Errorf("it is still there: %v", err)
	}
	if err := v.remove(t.Context(), "../a.pdf", sum); err == nil {
		t.Error("a name outside the vault passes")
	}
}

func TestTakes(t *testing.T) {
	t.Parallel()
	v, _ := tempVault(t)
	for name, want := range map[string]bool{
		"Import/a.pdf": true, "Import/x/a.pdf": true, "Notes/a.pdf": false, "Import/a.tmp": false, "Import/_import.yaml": false,
		"Import/Failed/a.pdf": false, "Import/.git/a.pdf": false,
	} {
		if got := v.Takes(name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
