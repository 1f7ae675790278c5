package llmtest

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
)

// Claude's generations, as the provider's pages have them (migration guides of Sonnet 5 and 5.5, thinking, preserved thinking, model
// overview; read in November 2026).
var (
	claudeOld      = regexp.MustCompile(`claude-(?:3|(?:opus|sonnet|haiku)-4(?:-[0-5])?(?:-\d{8}|-latest|@|$))`)
	claudeSince47  = regexp.MustCompile(`claude-(?:opus-4-[7-9]|(?:opus|sonnet|haiku)-[5-9]|fable|mythos)`)
	claudeSince46  = regexp.MustCompile(`claude-(?:(?:opus|sonnet)-4-[6-9]|(?:opus|sonnet|haiku)-[5-9]|fable|mythos)`)
	claudeBetween  = regexp.MustCompile(`claude-sonnet-5-5`)
	claudeAlways   = regexp.MustCompile(`claude-(?:opus-5-5|fable|mythos)`)
	claudeBinds    = regexp.MustCompile(`claude-(?:(?:opus|sonnet|haiku)-5-5|(?:fable|mythos)-5-[1-9])`)
	claudeNoSchema = regexp.MustCompile(`claude-(?:opus-4-7|sonnet-5|haiku-5)`) // at Bedrock's Converse
)

// claudeAt is the model that the address of a request names on Vertex AI and Bedrock; one of 4.5 if it is not known.
func claudeAt(header http.Header) string {
	address := header.Get(AddressHeader)
	if !strings.Contains(address, "claude-") {
		return "claude-sonnet-4-5"
	}
	address = strings.TrimSuffix(address, "/converse-stream")
	return strings.TrimSuffix(address[strings.LastIndexByte(address, '/')+1:], ":streamRawPredict")
}

// claudeRefuses returns why a model of Claude refuses a request's options.
func claudeRefuses(model string, thought *anthropicThought, temperature *float64) error {
	since47 := claudeSince47.MatchString(model)
	if since47 && temperature != nil && *temperature != 1 {
		return errors.New("`temperature` may only be set to 1 for this model")
	}
	if thought == nil {
		return nil
	}
	switch kind := thought.Type; {
	case kind == "enabled" && since47:
		return errors.New(`"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.`)
	case kind == "adaptive" && claudeOld.MatchString(model):
		return errors.New("adaptive thinking is not supported on this model")
	case kind == "disabled" && claudeBetween.MatchString(model):
		return errors.New(`To turn thinking off on this model, send "thinking": {"type": "between_tools"} instead of {"type": "disabled"}.`)
	case kind == "disabled" && claudeAlways.MatchString(model):
		return errors.New("thinking cannot be turned off on this model")
	case kind == "between_tools" && !claudeBetween.MatchString(model):
		return errors.New("thinking.type: between_tools is not supported for this model")
	}
	return nil
}

// claudeEnds refuses a conversation that ends with a turn of the assistant, which earlier models continue.
func claudeEnds(model, lastRole string) error {
	if lastRole == "assistant" && claudeSince46.MatchString(model) {
		return errors.New("This model does not support assistant message prefill. The conversation must end with a user message.")
	}
	return nil
}

// binding is what the service keeps of an answer's reasoning: the conversation that it belongs to.
type binding struct {
	whole string            // of the request
	parts map[string]string // for each signature in it: of what is before its turn
}

// bindings returns the digests of a request to a model that binds its reasoning to the turns before it, as new accounts have it.
// Cache marks and reasoning itself do not count.
func (a Anthropic) bindings(header http.Header, body []byte) binding {
	var b struct {
		Model    string           `json:"model"`
		System   any              `json:"system"`
		Tools    []any            `json:"tools"`
		Messages []map[string]any `json:"messages"`
	}
	if json.Unmarshal(body, &b) != nil || !claudeBinds.MatchString(b.Model+claudeAt(header)) {
		return binding{}
	}
	if said, ok := b.System.(string); ok {
		b.System = []any{map[string]any{"type": "text", "text": said}}
	}
	signatures := make([][]string, len(b.Messages))
	for i, m := range b.Messages {
		var kept []any
		blocks, _ := m["content"].([]any)
		for _, block := range blocks {
			one, _ := block.(map[string]any)
			if kind, _ := one["type"].(string); strings.HasSuffix(kind, "thinking") {
				signature, _ := one["signature"].(string)
				signatures[i] = append(signatures[i], signature)
				continue
			}
			kept = append(kept, block)
		}
		m["content"] = kept
	}
	digest := func(messages int) string {
		data := toJSON(unmarked([]any{b.System, b.Tools, b.Messages[:messages]}))
		return fmt.Sprintf("%x", sha256.Sum256([]byte(data)))
	}
	found := binding{whole: digest(len(b.Messages)), parts: map[string]string{}}
	for i, list := range signatures {
		for _, s := range list {
			found.parts[s] = digest(i)
		}
	}
	return found
}

// unmarked returns a value without marks of the cache.
func unmarked(v any) any {
	var plain any
	if json.Unmarshal([]byte(toJSON(v)), &plain) != nil {
		return v
	}
	var strip func(any)
	strip = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			delete(v, "cache_control")
			for _, inner := range v {
				strip(inner)
			}
		case []any:
			for _, inner := range v {
				strip(inner)
			}
		}
	}
	strip(plain)
	return plain
}

// binds refuses reasoning that goes back after another conversation than its own, and keeps that of the next answer.
func (s *Server) binds(header http.Header, body []byte, turn int) (Reply, bool) {
	wire, ok := s.wire.(interface {
		bindings(header http.Header, body []byte) binding
	})
	if !ok {
		return Reply{}, false
	}
	found := wire.bindings(header, body)
	s.mu.Lock()
	defer s.mu.Unlock()
	for signature, before := range found.parts {
		if was, known := s.bound[signature]; known && was != before {
			return Reply{Status: 400, Code: "invalid_request_error", Message: "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. " +
				"Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\"."}, true
		}
	}
	if s.bound == nil {
		s.bound = map[string]string{}
	}
	s.bound[Signature(turn)] = found.whole
	return Reply{}, false
}
