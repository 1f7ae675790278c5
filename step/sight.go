package step

import (
	"context"
	"errors"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/rewrite"
)

// errOther stops a request that nobody approved.
var errOther = errors.New("another prompt was approved")

// exact is a loader for a prompt that was approved: a medium that cannot be loaded ends the call, and nothing is sent in its place.
type exact struct {
	llm.Loader
	end context.CancelCauseFunc
}

// unlike ends a call whose request would not be the one that was approved.
type unlike struct{ error }

var _ llm.Loader = exact{}

// Load implements llm.Loader.
func (e exact) Load(ctx context.Context, medium content.Block) ([]byte, string, error) {
	data, mediaType, err := e.Loader.Load(ctx, medium)
	if err != nil && ctx.Err() == nil && !errors.Is(err, errors.ErrUnsupported) {
		e.end(unlike{failure.New(failure.Conflict, "vaultflow retry RUN --step STEP asks again, with the files as they are then",
			"the prompt was approved, but cannot be sent as it was: %v", err)})
	}
	return data, mediaType, err
}

// Fit implements llm.Loader.
func (e exact) Fit(limits llm.PictureLimits) (llm.Loader, error) {
	fitted, err := e.Loader.Fit(limits)
	return exact{fitted, e.end}, err
}

// sighted returns a client that checks by the token count whether the model can have seen the media. If not, it warns, and sends
// their text once if the budget allows.
func (c *call) sighted(ctx context.Context, client llm.Provider) llm.Provider {
	return rewrite.Sighted(client, rewrite.SightPolicy{
		Suspected: func(u rewrite.Unseen) {
			c.warnings = append(c.warnings, u.String())
			engine.Report(ctx, engine.Event{Kind: engine.EventUnseen, Message: u.String()})
		},
		Again: func(next llm.Request, _ cost.Usage) error {
			if c.approved {
				c.warnings = append(c.warnings, "its words were not sent: the prompt was approved as it was")
				return errOther
			}
			if err := c.metered.Ahead(ctx, next); err != nil {
				c.warnings = append(c.warnings, "its words were not sent: "+err.Error())
				return err
			}
			first := c.sent.Tokens
			c.built(ctx, next)
			c.sent.Tokens += first // the count is a sum, too
			return nil
		},
	})
}
