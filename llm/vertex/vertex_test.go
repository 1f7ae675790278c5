package vertex_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/anthropic"
	"github.com/vaultflow/vaultflow/llm/gemini"
	"github.com/vaultflow/vaultflow/llm/llmtest"
	"github.com/vaultflow/vaultflow/llm/vertex"
	"github.com/vaultflow/vaultflow/llm/wire"
)

func ask(model string) llm.Request {
	return llm.Request{Model: model, Messages: []llm.Message{{Role: llm.User, Blocks: []content.Block{content.Text{Value: "hi"}}}}}
}

// issuer gives llmtest.Key for a token, as often as it is asked; with a status it refuses.
func issuer(t *testing.T, status int, body string) (url string, asked *atomic.Int32) {
	t.Helper()
	asked = &atomic.Int32{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		parts := strings.Split(r.FormValue("assertion"), ".")
		claims, err := base64.RawURLEncoding.DecodeString(parts[min(1, len(parts)-1)])
		if err != nil || !strings.Contains(string(claims), "robot@notes-1") || !strings.Contains(string(claims), "auth/cloud-platform") {
			t.Errorf("claims %s, %v", claims, err)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body)) // the client went away
	}))
	t.Cleanup(server.Close)
	return server.URL, asked
}

// serviceAccount writes the key of one.
func serviceAccount(t *testing.T, tokenURL string) string {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(map[string]string{
		"type": "service_account", "client_email": "robot@notes-1.iam.gserviceaccount.com", "private_key_id": "1",
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})), "token_uri": tokenURL,
	})
	if err != nil {
		t.Fatal(err)
	}
	return written(t, string(data))
}

func written(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "key.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const given = `{"access_token":"` + llmtest.Key + `","token_type":"Bearer","expires_in":3600}`

func TestConfig_tokensOfAServiceAccount(t *testing.T) {
	t.Parallel()
	tokenURL, asked := issuer(t, http.StatusOK, given)
	account := vertex.Account{Project: "notes-1", CredentialsFile: serviceAccount(t, tokenURL)}
	google := llmtest.NewServer(t, llmtest.Gemini{Vertex: true}, llmtest.Reply{Answer: llmtest.Answer{Text: "ok"}})
	p := gemini.New(account.Config(wire.Config{BaseURL: google.URL}, vertex.Google))
	for range 2 {
		if _, err := p.Generate(t.Context(), ask("gemini-3-pro"), nil); err != nil {
			t.Fatal(err)
		}
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("%d tokens were fetched, want one for both requests", n)
	}
}

func TestConfig_aTokenThatSomebodyHas(t *testing.T) {
	t.Parallel()
	account := vertex.Account{Project: "notes-1", Location: "global", CredentialsFile: "/not/looked/at"}
	claude := llmtest.NewServer(t, llmtest.Anthropic{Vertex: true}, llmtest.Reply{Answer: llmtest.Answer{Text: "ok"}})
	p := anthropic.New(account.Config(wire.Config{BaseURL: claude.URL + "/", APIKey: llmtest.Key}, vertex.Anthropic))
	if _, err := p.Generate(t.Context(), ask("claude-opus-4-6"), nil); err != nil {
		t.Fatal(err)
	}
}

func TestConfig_tokensThatCannotBeHad(t *testing.T) {
	t.Parallel()
	refusing, _ := issuer(t, http.StatusBadRequest, `{"error":"invalid_grant","error_description":"Invalid JWT Signature."}`)
	broken, _ := issuer(t, http.StatusServiceUnavailable, `{}`)
	gone := httptest.NewServer(nil)
	gone.Close()
	for _, c := range []struct {
		name, file string
		want       llm.Class
		says       string
	}{
		{"refused", serviceAccount(t, refusing), llm.ClassAuth, "invalid_grant Invalid JWT Signature."},
		{"trouble", serviceAccount(t, broken), llm.ClassOverloaded, "token service"},
		{"unreachable", serviceAccount(t, gone.URL), llm.ClassNetwork, "cannot be reached"},
		{"another address without a file", "", llm.ClassAuth, "Google's own addresses"},
		{"no file", filepath.Join(t.TempDir(), "none.json"), llm.ClassAuth, "credentials_file"},
		{"no JSON", written(t, "-----BEGIN PRIVATE KEY-----"), llm.ClassAuth, "is not JSON"},
		{"something else", written(t, `{"type":"magic"}`), llm.ClassAuth, `type "magic"`},
	} {
		server := llmtest.NewServer(t, llmtest.Gemini{Vertex: true})
		account := vertex.Account{Project: "notes-1", CredentialsFile: c.file}
		_, err := gemini.New(account.Config(wire.Config{BaseURL: server.URL}, vertex.Google)).Generate(t.Context(), ask("gemini-3-pro"), nil)
		e, ok := llm.AsError(err)
		if !ok || e.Class != c.want || !strings.Contains(e.Message, c.says) || strings.Contains(e.Message, "PRIVATE") {
			t.Errorf("%s: got %v, want %s and %q", c.name, err, c.want, c.says)
		}
		if n := len(server.Requests()); n != 0 {
			t.Errorf("%s: %d requests were sent", c.name, n)
		}
	}
}

func TestConfig_addresses(t *testing.T) {
	t.Parallel()
	for location, want := range map[string]string{
		"":             "https://aiplatform.googleapis.com/v1/projects/p/locations/global/publishers/google",
		"global":       "https://aiplatform.googleapis.com/v1/projects/p/locations/global/publishers/google",
		"eu":           "https://aiplatform.eu.rep.googleapis.com/v1/projects/p/locations/eu/publishers/google",
		"europe-west4": "https://europe-west4-aiplatform.googleapis.com/v1/projects/p/locations/europe-west4/publishers/google",
	} {
		if got := (vertex.Account{Project: "p", Location: location}).Config(wire.Config{}, vertex.Google).BaseURL; got != want {
			t.Errorf("%q: got %s, want %s", location, got, want)
		}
	}
}
