package step

import (
	"context"

	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/rewrite"
)

// sighted is a client that looks whether the model can have seen the media that it was sent, by the tokens that were counted.
// When not, the step warns, and their words are sent once where the costs allow it.
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
			c.sent.Tokens += first // what is counted is the sum, too
			return nil
		},
	})
}
