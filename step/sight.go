package step

import (
	"context"

	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/rewrite"
)

// sighted returns a client that checks by the token count whether the model can have seen the media. If not, it warns, and sends
// their text once if the budget allows.
func (c *call) sighted(ctx context.Context, client llm.Provider) llm.Provider {
	return rewrite.Sighted(client, rewrite.SightPolicy{
		Suspected: func(u rewrite.Unseen) {
			c.warnings = append(c.warnings, u.String())
			engine.Report(ctx, engine.Event{Kind: engine.EventUnseen, Message: u.String()})
		},
		Again: func(next llm.Request, _ cost.Usage) error {
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
