package media

import (
	"context"
	"strings"
	"sync"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/failure/omission"
	"github.com/vaultflow/vaultflow/llm"
)

// Failures keeps why media could not be loaded for a request: a service is sent the fallback text then, and the error ends there. It
// is safe for concurrent use; the zero value is ready.
type Failures struct {
	mu  sync.Mutex       // guards err
	err map[string]error // by the name of the medium
}

// Of returns why a medium could not be loaded, in words and with the cause, or nothing.
func (f *Failures) Of(name string) (words string, why omission.Why) {
	f.mu.Lock()
	defer f.mu.Unlock()
	err := f.err[name]
	if err == nil {
		return "", omission.Why{}
	}
	return strings.TrimPrefix(err.Error(), "load "+name+": "), omission.From(err)
}

func (f *Failures) add(name string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		f.err = map[string]error{}
	}
	f.err[name] = err
}

// In returns the loader, whose failures are kept from now on.
func (f *Failures) In(l llm.Loader) llm.Loader { return watched{l, f} }

// watched records the failures of a loader.
type watched struct {
	llm.Loader
	failures *Failures
}

var _ llm.Loader = watched{}

// Load implements llm.Loader.
func (w watched) Load(ctx context.Context, medium content.Block) ([]byte, string, error) {
	data, mediaType, err := w.Loader.Load(ctx, medium)
	if err != nil && ctx.Err() == nil {
		w.failures.add(content.NameOf(medium), err)
	}
	return data, mediaType, err
}

// Fit implements llm.Loader.
func (w watched) Fit(limits llm.PictureLimits) (llm.Loader, error) {
	fitted, err := w.Loader.Fit(limits)
	return watched{fitted, w.failures}, err
}
