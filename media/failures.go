package media

import (
	"context"
	"strings"
	"sync"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/llm"
)

// Failures keeps why media could not be loaded for a request: a service is sent the fallback text then, and the error ends there. It
// is safe for concurrent use; the zero value is ready.
type Failures struct {
	mu  sync.Mutex        // guards why
	why map[string]string // by the name of the medium
}

// Of returns why a medium could not be loaded, or "".
func (f *Failures) Of(name string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.why[name]
}

func (f *Failures) add(name, why string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.why == nil {
		f.why = map[string]string{}
	}
	f.why[name] = why
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
		name := content.NameOf(medium)
		w.failures.add(name, strings.TrimPrefix(err.Error(), "load "+name+": "))
	}
	return data, mediaType, err
}

// Fit implements llm.Loader.
func (w watched) Fit(limits llm.PictureLimits) (llm.Loader, error) {
	fitted, err := w.Loader.Fit(limits)
	return watched{fitted, w.failures}, err
}
