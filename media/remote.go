package media

import (
	"context"

	"github.com/vaultflow/vaultflow/media/remote"
	"github.com/vaultflow/vaultflow/prompt"
)

// Fetcher fetches pictures of the web under a policy.
type Fetcher interface {
	Fetch(ctx context.Context, address string) (remote.Picture, error)
}

// Remote returns pictures of the web for prompts.
type Remote struct {
	Policy  remote.Policy
	Fetcher Fetcher // nil: nothing is fetched, as in a preview
	Foreign
}

// Picture is a prompt.Builder's Remote. For an address that the policy forbids the error matches remote.ErrRefused and says
// why; without a fetcher an allowed one is prompt.ErrNotFetched.
func (r *Remote) Picture(ctx context.Context, address string) (prompt.RemotePicture, error) {
	if err := r.Policy.Check(address); err != nil {
		return prompt.RemotePicture{}, err
	}
	if r.Fetcher == nil {
		return prompt.RemotePicture{}, prompt.ErrNotFetched
	}
	if r.Worker == nil {
		return prompt.RemotePicture{}, ErrNoWorker
	}
	fetched, err := r.Fetcher.Fetch(ctx, address)
	if err != nil {
		return prompt.RemotePicture{}, err
	}
	p, err := r.Keep(ctx, fetched.Data)
	if err != nil {
		return prompt.RemotePicture{}, err
	}
	return prompt.RemotePicture{Picture: prompt.Picture{
		MediaType: p.MediaType, Width: p.Width, Height: p.Height, Size: p.Size, SHA256: p.SHA256,
	}}, nil
}
