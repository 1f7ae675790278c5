package bedrock_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/llmtest"
)

func TestGenerate_failuresInsideTheStream(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind, payload string
		want          llm.Class
	}{
		{"throttlingException", `{"message":"Too many tokens, please wait before trying again."}`, llm.ClassRateLimit},
		{"serviceUnavailableException", `{"message":"Bedrock is unable to process your request."}`, llm.ClassOverloaded},
		{"internalServerException", `{}`, llm.ClassOverloaded},
		{"modelStreamErrorException", `{"message":"it broke","originalStatusCode":500}`, llm.ClassOverloaded},
		{"validationException", `{"message":"Input is too long for requested model."}`, llm.ClassContextTokens},
	} {
		base := frames(t, "messageStart", `{"role":"assistant"}`, deltaOf, `{"contentBlockIndex":0,"delta":{"text":"half"}}`, c.kind, c.payload)
		said := ""
		_, err := provider(base).Generate(t.Context(), ask(families["claude"]), func(piece string) { said += piece })
		if e, ok := llm.AsError(err); !ok || e.Class != c.want || e.Code != c.kind || !e.Partial || said != "half" {
			t.Errorf("%s: got %v after %q, want %s", c.kind, err, said, c.want)
		}
	}
}

func TestGenerate_refusedRequests(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status    int
		code      string
		message   string
		want      llm.Class
		retryable bool
	}{
		{429, "ThrottlingException", "Too many requests, please wait before trying again.", llm.ClassRateLimit, true},
		{429, "ModelNotReadyException", "The model is not ready.", llm.ClassRateLimit, true},
		{424, "ModelErrorException", "The system encountered an unexpected error during processing. Try your request again.", llm.ClassOverloaded, true},
		{408, "ModelTimeoutException", "Model has timed out in processing the request.", llm.ClassNetwork, true},
		{403, "AccessDeniedException", "You don't have access to the model with the specified model ID.", llm.ClassAuth, false},
		{403, "InvalidSignatureException", "The request signature we calculated does not match the signature you provided.", llm.ClassAuth, false},
		{404, "ResourceNotFoundException", "This model version has reached the end of its life.", llm.ClassNotFound, false},
	} {
		server := llmtest.NewServer(t, llmtest.Bedrock{}, llmtest.Reply{Status: c.status, Code: c.code, Message: c.message})
		_, err := provider(server.URL).Generate(t.Context(), ask(families["claude"]), nil)
		if e, ok := llm.AsError(err); !ok || e.Class != c.want || e.Retryable() != c.retryable {
			t.Errorf("%s: got %v, want %s", c.code, err, c.want)
		}
	}
}

// mangled is a service whose answer is changed on its way.
func mangled(t *testing.T, change func(string) string) string {
	t.Helper()
	recorded := httptest.NewRecorder()
	llmtest.Bedrock{}.Answer(recorded, llmtest.Answer{Text: "whole", Output: 3})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, change(recorded.Body.String())) // the client goes away
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestGenerate_anAnswerThatIsNotWhole(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(string) string{
		"a bit turned":         func(s string) string { return strings.Replace(s, "whole", "whale", 1) },
		"cut in a frame":       func(s string) string { return s[:len(s)-9] },
		"cut in a prelude":     func(s string) string { return s + s[:6] },
		"nothing":              func(string) string { return "" },
		"a web page":           func(string) string { return "<html>please log in</html>" },
		"lengths of gigabytes": func(string) string { return "\xff\xff\xff\xf0\x00\x00\x00\x10" + strings.Repeat("x", 64) },
	} {
		_, err := provider(mangled(t, change)).Generate(t.Context(), ask(families["claude"]), nil)
		if e, ok := llm.AsError(err); !ok || e.Class != llm.ClassNetwork || strings.Contains(e.Message, "log in") {
			t.Errorf("%s: got %v, want a network failure", name, err)
		}
	}
}
