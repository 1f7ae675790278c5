package settings

import (
	"regexp"

	"github.com/vaultflow/vaultflow/failure/diag"
)

// accountKey is a key of a provider entry that identifies an account at a cloud. variable is the one that the cloud's own
// programs read. A key that proves an identity is used only at the cloud's own address.
type accountKey struct {
	kind     string
	name     string
	variable string
	proof    bool
	secret   bool
	value    func(p *Provider) *string
}

var accountKeys = []accountKey{
	{"bedrock", "region", "AWS_REGION", false, false, func(p *Provider) *string { return &p.Region }},
	{"bedrock", "profile", "", true, false, func(p *Provider) *string { return &p.Profile }},
	{"bedrock", "access_key_id", "AWS_ACCESS_KEY_ID", true, true, func(p *Provider) *string { return (*string)(&p.AccessKeyID) }},
	{"bedrock", "secret_access_key", "AWS_SECRET_ACCESS_KEY", true, true, func(p *Provider) *string { return (*string)(&p.SecretAccessKey) }},
	{"bedrock", "session_token", "AWS_SESSION_TOKEN", true, true, func(p *Provider) *string { return (*string)(&p.SessionToken) }},
	{"vertex", "project", "GOOGLE_CLOUD_PROJECT", false, false, func(p *Provider) *string { return &p.Project }},
	{"vertex", "location", "GOOGLE_CLOUD_LOCATION", false, false, func(p *Provider) *string { return &p.Location }},
	{"vertex", "credentials_file", "GOOGLE_APPLICATION_CREDENTIALS", true, false, func(p *Provider) *string { return &p.CredentialsFile }},
}

// findAccount fills in what the settings leave out, from the places that may hold keys. An account from the settings is never
// mixed with one from the environment.
func findAccount(s *Settings, name string, p Provider, ring *keyring) Provider {
	named := p.Key != ""
	for _, k := range accountKeys {
		said := k.kind == p.Kind && *k.value(&p) != ""
		named = named || k.proof && said
		if k.secret && said {
			secretInFile(s, "providers."+name+"."+k.name, "set "+k.variable+" in the environment", ring.reporter)
		}
	}
	for _, k := range accountKeys {
		value := k.value(&p)
		if k.kind != p.Kind || *value != "" || k.proof && (named || p.BaseURL != "") {
			continue
		}
		found, from := ring.lookUp(k.variable)
		*value = string(found)
		if k.proof && found != "" && p.KeyFrom == "" {
			p.KeyFrom = from
		}
	}
	return p
}

// accountForms are the forms of names that become part of an address.
var accountForms = map[string]*regexp.Regexp{
	"region":   regexp.MustCompile(`^[a-z]{2}(-[a-z0-9]+)+$`),
	"location": regexp.MustCompile(`^[a-z]+(-[a-z]+[0-9]+)?$`),
	"project":  regexp.MustCompile(`^([a-z0-9.-]+:)?[a-z0-9][a-z0-9-]*$`),
}

// validateAccount checks that keys come in complete sets, and rejects keys of another kind.
func validateAccount(s *Settings, name string, r *reporter) {
	p, key := s.Providers[name], "providers."+name
	for _, k := range accountKeys {
		value := *k.value(&p)
		form := accountForms[k.name]
		switch {
		case value != "" && k.kind != p.Kind:
			fault(s, r, key+"."+k.name, CodeConflict, "remove it", "%s.%s belongs to kind %s", key, k.name, k.kind)
		case value != "" && form != nil && !form.MatchString(value):
			fault(s, r, key+"."+k.name, CodeValue, "write it as the cloud's console does", "%s.%s is not a valid %s", key, k.name, k.name)
		}
	}
	if p.Kind == "bedrock" && (p.AccessKeyID == "") != (p.SecretAccessKey == "") {
		fault(s, r, key, CodeConflict, "", "%s: set access_key_id and secret_access_key together", key)
	}
}

// missingAccount warns about a provider that is in use but cannot be called.
func missingAccount(s *Settings, name string, r *reporter) {
	p, key := s.Providers[name], "providers."+name
	for _, k := range accountKeys {
		if needed := k.name == "region" || k.name == "project"; needed && k.kind == p.Kind && *k.value(&p) == "" && used(s, name) {
			r.report(placeOf(s, key), diag.SeverityWarning, CodeReference, "add "+k.name+":, or set "+k.variable, "%s: without %s its models cannot be called", key, k.name)
		}
	}
}
