package vaulttest_test

import (
	"testing"

	"github.com/vaultflow/vaultflow/vault/vaulttest"
)

func TestMemory(t *testing.T) {
	t.Parallel()
	vaulttest.Exercise(t, func(_ *testing.T, texts map[string]string) vaulttest.Vault { return vaulttest.With(texts) })
}
