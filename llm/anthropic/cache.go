package anthropic

// cacheMark asks the service to cache the request up to the marked block, for five minutes from its last use. At most four
// blocks can be marked. Reading the cache costs a tenth of the tokens' price, writing it a quarter more than the price.
// From the provider's page on prompt caching, read in November 2026.
type cacheMark struct {
	Type string `json:"type"`
}

func newText(value string) textPart { return textPart{Type: "text", Text: value} }

// keep marks two prefixes that the next request of a conversation will share: tools and system prompt, and everything up to
// the last turn. It marks no media, but the last text or result before them.
func keep(body *messagesBody, system string) {
	mark := &cacheMark{"ephemeral"}
	switch last := len(body.Tools) - 1; {
	case system != "":
		body.System = []textPart{{"text", system, mark}}
	case last >= 0:
		body.Tools[last].Cache = mark
	}
	parts, _ := body.Messages[len(body.Messages)-1].Content.([]any)
	for i := len(parts) - 1; i >= 0; i-- {
		switch part := parts[i].(type) {
		case textPart:
			part.Cache = mark
			parts[i] = part
			return
		case toolResult:
			part.Cache = mark
			parts[i] = part
			return
		}
	}
}
