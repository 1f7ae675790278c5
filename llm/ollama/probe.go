package ollama

import (
	"context"
	"encoding/json"
	"io"
	"strings"

	"github.com/vaultflow/vaultflow/llm/wire"
)

// maxProbe is how many bytes of a description are read; some hold a whole licence and vocabulary.
const maxProbe = 16 << 20

// Model is a server's description of a model.
type Model struct {
	Capabilities  []string // Ollama's words: completion, vision, tools, thinking, embedding…
	ContextLength int      // tokens that the model was made for; 0: unknown
}

// Has reports whether the server names a capability.
func (m Model) Has(capability string) bool {
	for _, c := range m.Capabilities {
		if c == capability {
			return true
		}
	}
	return false
}

// Show returns the server's description of a model.
func (p *Provider) Show(ctx context.Context, model string) (Model, error) {
	body, err := wire.NewDrawing(nil, wire.Form{}).Body(map[string]string{"model": model})
	if err != nil {
		return Model{}, err
	}
	var shown struct {
		Capabilities []string                   `json:"capabilities"`
		Info         map[string]json.RawMessage `json:"model_info"`
	}
	answer, err := p.endpoint.Post(ctx, "/api/show", body)
	if err := decode(answer, err, &shown); err != nil {
		return Model{}, err
	}
	m := Model{Capabilities: shown.Capabilities}
	for key, value := range shown.Info {
		if strings.HasSuffix(key, ".context_length") && json.Unmarshal(value, &m.ContextLength) != nil {
			m.ContextLength = 0
		}
	}
	return m, nil
}

// Tags returns the names of the server's models. An error means that the server cannot be reached.
func (p *Provider) Tags(ctx context.Context) ([]string, error) {
	var list struct {
		Models []struct {
			Name string `json:"name"`
		} `json:"models"`
	}
	answer, err := p.endpoint.Get(ctx, "/api/tags")
	if err := decode(answer, err, &list); err != nil {
		return nil, err
	}
	names := make([]string, len(list.Models))
	for i, m := range list.Models {
		names[i] = m.Name
	}
	return names, nil
}

func decode(answer *wire.Answer, err error, into any) error {
	if err != nil {
		return err
	}
	defer answer.Close()
	if err := json.NewDecoder(io.LimitReader(answer.Body, maxProbe)).Decode(into); err != nil {
		return answer.Broken(errNotUnderstood)
	}
	return nil
}
