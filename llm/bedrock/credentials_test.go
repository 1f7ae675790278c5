package bedrock_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/bedrock"
	"github.com/vaultflow/vaultflow/llm/llmtest"
	"github.com/vaultflow/vaultflow/llm/wire"
)

const (
	accessKey = "AKIDEXAMPLE000000000"
	secretKey = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
)

var signedAt = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// signature is what AWS Signature Version 4 says it must be, computed anew from its description: a canonical request, a
// string to sign, a key of date, region and service.
func signature(r *http.Request, body []byte, secret, region string) (string, error) {
	value, ok := strings.CutPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 ")
	if !ok {
		return "", fmt.Errorf("authorization %q", r.Header.Get("Authorization"))
	}
	said := map[string]string{}
	for part := range strings.SplitSeq(value, ", ") {
		name, v, _ := strings.Cut(part, "=")
		said[name] = v
	}
	day, scope := signedAt.Format("20060102"), signedAt.Format("20060102")+"/"+region+"/bedrock/aws4_request"
	if said["Credential"] != accessKey+"/"+scope || r.Header.Get("X-Amz-Date") != signedAt.Format("20060102T150405Z") {
		return "", fmt.Errorf("credential %q at %q", said["Credential"], r.Header.Get("X-Amz-Date"))
	}
	signed := strings.Split(said["SignedHeaders"], ";")
	if !slices.IsSorted(signed) || !slices.Contains(signed, "host") || !slices.Contains(signed, "content-type") {
		return "", fmt.Errorf("signed headers %v", signed)
	}
	canonical := r.Method + "\n" + strings.ReplaceAll(r.URL.EscapedPath(), "%", "%25") + "\n\n"
	for _, name := range signed {
		value := strings.Join(r.Header.Values(name), ",")
		switch name {
		case "host":
			value = r.Host
		case "content-length":
			value = fmt.Sprint(r.ContentLength)
		}
		canonical += name + ":" + strings.TrimSpace(value) + "\n"
	}
	digest := sha256.Sum256(body)
	canonical += "\n" + said["SignedHeaders"] + "\n" + hex.EncodeToString(digest[:])
	sum := sha256.Sum256([]byte(canonical))
	key := []byte("AWS4" + secret)
	for _, part := range []string{day, region, "bedrock", "aws4_request"} {
		key = mac(key, part)
	}
	want := hex.EncodeToString(mac(key, "AWS4-HMAC-SHA256\n"+signedAt.Format("20060102T150405Z")+"\n"+scope+"\n"+hex.EncodeToString(sum[:])))
	if said["Signature"] != want {
		return "", fmt.Errorf("signature %s, want %s for\n%s", said["Signature"], want, canonical)
	}
	return r.Header.Get("X-Amz-Security-Token"), nil
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// asked is what a request to a service with signatures ends in: the security token, and where it went.
func asked(t *testing.T, c bedrock.Config, r llm.Request) (token, path string, err error) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, err := io.ReadAll(q.Body)
		if err != nil {
			t.Error(err)
		}
		path = q.URL.EscapedPath()
		if token, err = signature(q, body, secretKey, "eu-central-1"); err != nil {
			t.Error(err)
		}
		llmtest.Bedrock{}.Answer(w, llmtest.Answer{Text: "ok"})
	}))
	defer server.Close()
	c.BaseURL, c.Region, c.Now = server.URL, "eu-central-1", func() time.Time { return signedAt }
	_, err = bedrock.New(c).Generate(t.Context(), r, nil)
	return token, path, err
}

func TestGenerate_signsWithKeys(t *testing.T) {
	t.Parallel()
	album := &llmtest.Album{}
	r := ask("arn:aws:bedrock:eu-central-1:123456789012:inference-profile/eu.anthropic.claude-sonnet-4-5-20250929-v1:0", text("see"), album.Add(t, "a.png", "png", 200, 3))
	r.Media = album
	for _, session := range []llm.Secret{"", "token/with+signs=="} {
		c := bedrock.Config{Keys: bedrock.Keys{AccessKeyID: accessKey, SecretAccessKey: secretKey, SessionToken: session}}
		c.Headers = map[string]string{"X-Team": "notes"}
		token, path, err := asked(t, c, r)
		if err != nil || token != string(session) {
			t.Errorf("got token %q, %v", token, err)
		}
		if want := "/model/arn%3Aaws%3Abedrock%3Aeu-central-1%3A123456789012%3Ainference-profile%2Feu.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse-stream"; path != want {
			t.Errorf("asked %s, want %s", path, want)
		}
	}
}

// configured writes a machine's AWS configuration. Such a test cannot be parallel: the SDK finds the files by variables.
func configured(t *testing.T, config, keys string) {
	t.Helper()
	dir := t.TempDir()
	for variable, text := range map[string]string{"AWS_CONFIG_FILE": config, "AWS_SHARED_CREDENTIALS_FILE": keys} {
		path := filepath.Join(dir, variable)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Setenv(variable, path)
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "another, which the profile goes before")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "another")
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
}

func TestGenerate_signsWithAProfile(t *testing.T) {
	configured(t, "[profile work]\nregion = us-west-2\n", "[work]\naws_access_key_id = "+accessKey+"\naws_secret_access_key = "+secretKey+"\naws_session_token = short-lived\n")
	if token, _, err := asked(t, bedrock.Config{Profile: "work"}, ask(families["claude"])); err != nil || token != "short-lived" {
		t.Errorf("got token %q, %v", token, err)
	}
}

func TestGenerate_aProfileThatGivesNoKeys(t *testing.T) {
	configured(t, "[profile empty]\nregion = us-west-2\n[profile sso]\nsso_session = s\nsso_account_id = 1\nsso_role_name = r\n[sso-session s]\nsso_region = us-east-1\nsso_start_url = https://example.invalid/start\n", "")
	for _, name := range []string{"nobody", "empty", "sso"} {
		server := llmtest.NewServer(t, llmtest.Bedrock{})
		c := bedrock.Config{Config: wire.Config{BaseURL: server.URL}, Region: "us-east-1", Profile: name}
		_, err := bedrock.New(c).Generate(t.Context(), ask(families["claude"]), nil)
		if e, ok := llm.AsError(err); !ok || e.Class != llm.ClassAuth || !strings.Contains(e.Message, "profile "+name) || len(server.Requests()) > 0 {
			t.Errorf("%s: got %v after %d requests", name, err, len(server.Requests()))
		}
	}
}

func TestGenerate_showsNoKeyInErrors(t *testing.T) {
	t.Parallel()
	token := strings.Repeat("FwoGZXIvYXdzEBYaDK", 20)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		llmtest.Bedrock{}.Fail(w, 403, "InvalidSignatureException", "The Canonical String should have been 'POST\nx-amz-security-token:"+token+"'")
	}))
	defer server.Close()
	c := bedrock.Config{Config: wire.Config{BaseURL: server.URL}, Region: "us-east-1", Keys: bedrock.Keys{accessKey, secretKey, llm.Secret(token)}}
	_, err := bedrock.New(c).Generate(t.Context(), ask(families["claude"]), nil)
	if e, ok := llm.AsError(err); !ok || e.Class != llm.ClassAuth || strings.Contains(err.Error(), "FwoG") {
		t.Errorf("got %v, want a failure without the token", err)
	}
	if said := fmt.Sprintf("%v %+v %#v", c.Keys, c, c.Keys); strings.Contains(said, secretKey) || strings.Contains(said, "FwoG") {
		t.Errorf("keys print: %s", said)
	}
}
