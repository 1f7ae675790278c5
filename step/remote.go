package step

import (
	"context"
	"errors"
	"fmt"

	"github.com/vaultflow/vaultflow/imaging"
	"github.com/vaultflow/vaultflow/prompt"
	"github.com/vaultflow/vaultflow/remote"
)

// Fetcher fetches pictures of the web under a policy.
type Fetcher interface {
	Fetch(ctx context.Context, address string) (remote.Picture, error)
}

// RemotePictures gives pictures of the web to prompts: fetched, decoded and encoded anew in the worker, kept as blobs. No
// byte that a stranger chose reaches a model or is decoded in this process.
type RemotePictures struct {
	Policy  remote.Policy
	Fetcher Fetcher // nil: nothing is fetched, as in a preview
	Worker  Worker
	Blobs   Blobs
	Limits  imaging.Limits // of the pictures as they are kept
}

// Picture is a prompt.Builder's Remote. For an address that the policy forbids the error matches remote.ErrRefused and says
// why; without a fetcher an allowed one is prompt.ErrNotFetched.
func (r *RemotePictures) Picture(ctx context.Context, address string) (prompt.RemotePicture, error) {
	if err := r.Policy.Check(address); err != nil {
		return prompt.RemotePicture{}, err
	}
	if r.Fetcher == nil {
		return prompt.RemotePicture{}, prompt.ErrNotFetched
	}
	if r.Worker == nil {
		return prompt.RemotePicture{}, errNoWorker
	}
	fetched, err := r.Fetcher.Fetch(ctx, address)
	if err != nil {
		return prompt.RemotePicture{}, err
	}
	limits := r.Limits
	limits.Accept, limits.Reencode = []string{"image/png", "image/jpeg"}, true
	made, err := Convert(ctx, r.Worker, fetched.Data, limits)
	if err != nil {
		return prompt.RemotePicture{}, fmt.Errorf("it cannot be shown: %w", err)
	}
	if r.Blobs == nil {
		return prompt.RemotePicture{}, errors.New("there is no place to keep it")
	}
	digest, err := r.Blobs.Put(ctx, made.Data)
	if err != nil {
		return prompt.RemotePicture{}, fmt.Errorf("keep it: %w", err)
	}
	return prompt.RemotePicture{Picture: prompt.Picture{
		MediaType: made.MediaType, Width: made.Width, Height: made.Height, Size: int64(len(made.Data)), SHA256: digest,
	}}, nil
}
