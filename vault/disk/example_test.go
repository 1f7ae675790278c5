package disk_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/vault"
	"github.com/vaultflow/vaultflow/vault/disk"
)

func Example() {
	dir, err := os.MkdirTemp("", "vault")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	v, err := disk.Open(dir, disk.Options{})
	if err != nil {
		panic(err)
	}
	defer v.Close()
	ctx := context.Background()
	permit := func(action policy.Action) policy.Pass {
		pass, err := policy.Gate{}.Decide(policy.Request{
			Writer: policy.ByOutput, Action: action, Place: policy.Look(v.FS(), "Plans/Week.md"), Permitted: policy.Permitted{Allowed: true},
		}).Pass()
		if err != nil {
			panic(err)
		}
		return pass
	}

	fmt.Println(v.Write(ctx, permit(policy.Create), []byte("first"), ""))
	_, digest, _ := v.Read("Plans/Week.md", 1<<20)
	fmt.Println(v.Write(ctx, permit(policy.Change), []byte("second"), digest))
	err = v.Write(ctx, permit(policy.Change), []byte("third"), digest)
	fmt.Println(errors.Is(err, vault.ErrConflict), err)
	fmt.Println(v.Locate("week", "Home.md").Name)
	// Output:
	// <nil>
	// <nil>
	// true write "Plans/Week.md": the file was changed since it was read
	// Plans/Week.md
}
