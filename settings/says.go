package settings

import (
	"fmt"
	"reflect"
	"strings"
)

// sayKey describes in plain words what granting a waiting key allows.
func sayKey(path, value string) string {
	all := value == ""
	if all && !emptyIsAll[path] {
		return "Ignore the " + path + " of your own settings"
	}
	switch path {
	case "ingestion.worker":
		return "Start the program " + value + " for each imported document"
	case "ingestion.keep_original":
		return "Delete each file from the import folder once all of it is read"
	case "ingestion.tessdata":
		return "Read the language data of text recognition from the folder " + value
	case "ingestion.office.libreoffice":
		if value == "auto" {
			return "Start LibreOffice for imported office files"
		}
		return "Start the program " + value + " for imported office files"
	case "ingestion.ocr.engines":
		if value == "mistral" {
			return "Send pictures of the pages of imported documents to Mistral"
		}
		return "Send pictures of the pages of imported documents to a model"
	case "ingestion.vision":
		if value == "all" {
			return "Send pictures of all pages of imported documents to a model"
		}
		return "Send pictures of pages whose text is doubtful to a model"
	case "ingestion.ocr.model":
		return "Send pictures of the pages of imported documents to the model " + value
	case "policy.remote_images.allow":
		return "Fetch pictures from " + hostOrAll(value, all)
	case "web_fetch.allow":
		return "Let workflows read pages from " + hostOrAll(value, all)
	case "web.listen":
		if path, ok := (Web{Listen: value}).Socket(); ok {
			return "Serve the dashboard to you on the socket " + path
		}
		if (Web{Listen: value}).Loopback() {
			return "Serve the dashboard to this machine at " + value
		}
		return "Serve the dashboard to other machines at " + value
	case "web.token":
		return "Open the dashboard to everybody who knows the token written in the vault"
	case "web.proxy.trust":
		return "Trust " + value + " to say who uses the dashboard"
	case "web.proxy.user_header":
		return "Let a proxy sign people in to the dashboard with the header " + value
	case "web.hosts":
		return "Serve the dashboard under the name " + value
	}
	return "Set " + path + " to " + value
}

func hostOrAll(host string, all bool) string {
	if all {
		return "every public host"
	}
	return host
}

// sayRemote asks for pictures from other machines: from all, or from the named hosts, each of which is asked for too.
func sayRemote(all bool, at Origin) Waiting {
	says, hosts := "Fetch the pictures that notes link to, from any public host, which then learns that the note was read", "all"
	if !all {
		says, hosts = "Fetch the pictures that notes link to, from the hosts in policy.remote_images.allow", "named"
	}
	return waiting(remoteEnabled, map[string]any{"enabled": true, "hosts": hosts}, says, "true", at)
}

// sayUnit does the same for a section whose keys are granted together.
func sayUnit(v reflect.Value) string {
	switch u := v.Interface().(type) {
	case WebSearch:
		u = u.complete()
		if !u.Enabled() {
			return "Set an address or a key for web_search, for a service named in the environment: " + u.BaseURL.String() + withKey(u.APIKeyEnv, u.APIKey)
		}
		return "Send what models search for to " + u.Provider + " at " + u.BaseURL.String() + withKey(u.APIKeyEnv, u.APIKey)
	case MistralOCR:
		where := "Mistral"
		if u.Endpoint != "" {
			where = u.Endpoint.String() + " with Mistral's key"
		}
		says := fmt.Sprintf("Send pictures of the pages of imported documents to the model %s at %s, if mistral is one of the engines", u.Model, where)
		if u.PricePerPage != 0 {
			says += fmt.Sprintf(", and count %s US dollars a page", text(reflect.ValueOf(u.PricePerPage)))
		}
		return says
	case Audio:
		if u.Provider == "" {
			return "Set the model or the price of ingestion.audio"
		}
		says := fmt.Sprintf("Send recordings of the import folder to the model %s of the provider %s", u.Model, u.Provider)
		if u.PricePerMinute != 0 {
			says += fmt.Sprintf(", and count %s US dollars for a minute", text(reflect.ValueOf(u.PricePerMinute)))
		}
		return says
	}
	return "Set " + display(v)
}

func withKey(variable string, key Secret) string {
	switch {
	case variable != "" && key != "":
		return " with the key in " + variable + ", else the one written in the vault"
	case variable != "":
		return " with the key in " + variable
	case key != "":
		return " with the key written in the vault"
	}
	return ""
}

// sayProvider asks for the service that an entry of providers names.
func sayProvider(name string, who Provider, at Origin) Waiting {
	p := who.complete(name)
	var b strings.Builder
	b.WriteString("Send your notes to ")
	switch {
	case p.BaseURL != "":
		b.WriteString(p.BaseURL.String())
	case p.Kind == "bedrock":
		b.WriteString("Amazon Bedrock")
	case p.Kind == "vertex":
		b.WriteString("Google Vertex AI")
	default:
		b.WriteString("the provider " + name)
	}
	b.WriteString(withKey(p.APIKeyEnv, p.APIKey))
	for _, part := range []struct{ before, value string }{
		{" with the keys of the AWS profile ", p.Profile},
		{" with the AWS keys written in the vault: ", p.AccessKeyID.String() + p.SecretAccessKey.String() + p.SessionToken.String()},
		{" with the credentials in the file ", p.CredentialsFile},
		{" for the project ", p.Project},
		{" in the region ", p.Region + p.Location},
		{" with further headers: ", strings.Join(sortedKeys(p.Headers), ", ")},
		{" through the proxy ", shownAddress(string(p.Proxy))},
	} {
		if part.value != "" {
			b.WriteString(part.before + part.value)
		}
	}
	v := reflect.ValueOf(who)
	return waiting("providers."+name, canonical(v), b.String(), display(v), at)
}

// sayPrice asks for a model's price if costs are capped outside the vault.
func sayPrice(name string, a Alias, at Origin) Waiting {
	v := reflect.ValueOf(a.Price)
	says := fmt.Sprintf("Charge the tokens of the model %s at the vault's prices, %s, against the cost limits that you set outside the vault", name, display(v))
	return waiting("models.aliases."+name+".price", []any{a.Provider, a.Model, canonical(v)}, says, display(v), at)
}

// sayServer asks for an MCP server, with all its tools or those that are asked for one by one.
func sayServer(name string, m MCPServer, all bool, at Origin) Waiting {
	var b strings.Builder
	if m.URL != "" {
		b.WriteString("Connect to the MCP server " + m.URL.String())
		if len(m.Headers) > 0 {
			b.WriteString(" with the headers " + strings.Join(sortedKeys(m.Headers), ", "))
		}
	} else {
		b.WriteString("Start the program " + m.Command.String())
		if len(m.EnvFrom) > 0 {
			b.WriteString(" with " + strings.Join(m.EnvFrom, ", ") + " from your environment")
		}
		if len(m.Env) > 0 {
			b.WriteString(" with its own values for " + strings.Join(sortedKeys(m.Env), ", "))
		}
	}
	what := core(m)
	b.WriteString(" when a workflow uses one of its tools")
	if all {
		what["tools"] = "all"
		b.WriteString("; workflows may use all of them")
	}
	m.Allow, m.Deny, m.Timeout = nil, nil, 0
	return waiting("mcp_servers."+name, what, b.String(), display(reflect.ValueOf(m)), at)
}

func sayTool(server, tool string, at Origin) Waiting {
	return waiting("mcp_servers."+server+".allow", tool, "Let workflows use the tool "+tool+" of the MCP server "+server, tool, at)
}

// sayVariable asks for a line of the vault's .env.
func sayVariable(name string, value Secret, at Origin) Waiting {
	shown, says := value.String(), "Use "+name+" from this vault's .env: requests go to the account of whoever put it there"
	if plainVariables[name] {
		shown, says = string(value), "Use "+name+"="+string(value)+" from this vault's .env"
	}
	return waiting("file:"+dotEnvName+":"+name, string(value), says, shown, at)
}

// plainVariables hold no secrets.
var plainVariables = map[string]bool{
	"AWS_REGION": true, "GOOGLE_CLOUD_PROJECT": true, "GOOGLE_CLOUD_LOCATION": true, "GOOGLE_APPLICATION_CREDENTIALS": true,
}
