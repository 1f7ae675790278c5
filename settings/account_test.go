package settings_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/settings"
)

func TestLoad_whoAsksAtACloud(t *testing.T) {
	t.Parallel()
	aws := []string{"AWS_REGION=eu-west-1", "AWS_ACCESS_KEY_ID=id", "AWS_SECRET_ACCESS_KEY=of-the-environment", "AWS_SESSION_TOKEN=token"}
	google := []string{"GOOGLE_CLOUD_PROJECT=notes-1", "GOOGLE_CLOUD_LOCATION=us", "GOOGLE_APPLICATION_CREDENTIALS=/keys/a.json"}
	const found = "environment variable AWS_ACCESS_KEY_ID"
	for _, c := range []struct {
		name, provider, kind string
		environ              []string
		want                 settings.Provider
		needsKey             bool
	}{
		{"keys of the environment", "", "bedrock", aws, settings.Provider{Region: "eu-west-1", AccessKeyID: "id", SecretAccessKey: "of-the-environment", SessionToken: "token", KeyFrom: found}, false},
		{"a profile goes before them", "profile: work, region: eu-north-1", "bedrock", aws, settings.Provider{Region: "eu-north-1", Profile: "work"}, false},
		{"a key of Bedrock too", "", "bedrock", append(aws[:4:4], "AWS_BEARER_TOKEN_BEDROCK=k"), settings.Provider{Region: "eu-west-1", Key: "k", KeyFrom: "environment variable AWS_BEARER_TOKEN_BEDROCK"}, false},
		{"they do not go to another address", `base_url: "https://gateway.example.org"`, "bedrock", aws, settings.Provider{Region: "eu-west-1"}, true},
		{"nobody", "region: eu-west-1", "bedrock", nil, settings.Provider{Region: "eu-west-1"}, true},
		{"google", "", "vertex", google, settings.Provider{Project: "notes-1", Location: "us", CredentialsFile: "/keys/a.json", KeyFrom: "environment variable GOOGLE_APPLICATION_CREDENTIALS"}, false},
		{"a file of the settings", "project: p-2, credentials_file: /mine.json", "vertex", google, settings.Provider{Project: "p-2", Location: "us", CredentialsFile: "/mine.json"}, false},
		{"another's variables", "", "anthropic", append(aws, google...), settings.Provider{}, true},
	} {
		vault := t.TempDir()
		text := "models: {default: a, aliases: {a: {provider: " + c.kind + ", model: m}}}\nproviders:\n  " + c.kind + ": {" + c.provider + "}\n"
		if err := os.WriteFile(filepath.Join(vault, settings.FileName), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := settings.Load(settings.Input{Grants: everything, Vault: vault, Environ: c.environ})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		got, _ := s.Provider(c.kind)
		if got.NeedsKey() && got.Key == "" != c.needsKey {
			t.Errorf("%s: needs a key: %v", c.name, got.NeedsKey())
		}
		plain := settings.Provider{
			Region: got.Region, Profile: got.Profile, AccessKeyID: got.AccessKeyID, SecretAccessKey: got.SecretAccessKey, SessionToken: got.SessionToken,
			Project: got.Project, Location: got.Location, CredentialsFile: got.CredentialsFile, Key: got.Key, KeyFrom: got.KeyFrom,
		}
		if diff := cmp.Diff(c.want, plain); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
		if said := fmt.Sprintf("%+v %v", got, s.Diagnostics); strings.Contains(said, "of-the-environment") {
			t.Errorf("%s: the secret prints", c.name)
		}
	}
}

func TestLoad_cloudsThatCannotBeAsked(t *testing.T) {
	t.Parallel()
	vault := t.TempDir()
	text := "models: {default: b, aliases: {b: {provider: bedrock, model: m}, v: {provider: vertex, model: m}}}\nproviders: {bedrock: {access_key_id: a, secret_access_key: tell-nobody}}\n"
	if err := os.WriteFile(filepath.Join(vault, settings.FileName), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := settings.Load(settings.Input{Grants: everything, Vault: vault})
	if err != nil {
		t.Fatal(err)
	}
	all := ""
	for _, d := range s.Diagnostics {
		all += d.String() + "\n"
	}
	for _, want := range []string{"without region", "AWS_REGION", "without project", "GOOGLE_CLOUD_PROJECT", "the settings contain a key", "set AWS_ACCESS_KEY_ID"} {
		if !strings.Contains(all, want) || strings.Contains(all, "tell-nobody") {
			t.Errorf("want %q, and no key, in:\n%s", want, all)
		}
	}
}
