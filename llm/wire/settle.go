package wire

import (
	"fmt"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/llm"
)

// Settle makes the final checks for all services on a complete answer: an answer cut off before its first word is a failure,
// not an empty answer. If all of its tokens were reasoning, or it ended inside a tool call, the output limit was too small;
// else the prompt filled the window.
func Settle(response *llm.Response, answer *Answer, request llm.Request) (*llm.Response, error) {
	if response.Stop != llm.StopLength || response.Text != "" {
		return response, nil
	}
	failure := &llm.Error{Class: llm.ClassContextTokens, Provider: answer.endpoint.provider, Usage: response.Usage, Actual: int64(response.Usage.InputTokens), Limit: int64(request.ContextWindow)}
	failure.Message = "the answer was cut off before its first word: the prompt fills the model's context window"
	thought := response.Usage.ThinkingTokens > 0 // some services count it and show nothing
	for _, b := range response.Blocks {
		thought = thought || b.Type() == content.TypeThinking
		if b.Type() == content.TypeToolCall {
			failure.Class, failure.Actual, failure.Limit = llm.ClassParameter, 0, 0
			failure.Message = fmt.Sprintf("the answer was cut off after %d tokens, inside a tool call: allow more output tokens", response.Usage.OutputTokens)
			return nil, failure
		}
	}
	if thought {
		failure.Class, failure.Actual, failure.Limit = llm.ClassParameter, 0, 0
		failure.Message = fmt.Sprintf("all %d tokens of the answer went into reasoning: allow more output tokens or less thinking", response.Usage.OutputTokens)
	}
	return nil, failure
}
