package settings

import (
	"github.com/vaultflow/vaultflow/failure/diag"
)

// Settings is the whole tree. Load returns it; treat it as immutable.
//
// Tags: doc describes a key in settings.example.yaml, oneof lists words, min and max are inclusive bounds in the key's own
// unit, later marks a key that this version accepts and ignores, env is a further environment variable.
type Settings struct {
	Models     Models               `yaml:"models" doc:"Names for models, which workflows use with @model."`
	Providers  map[string]Provider  `yaml:"providers" doc:"Where models run. A provider whose name is a kind needs no entry. In a vault everything but the limits (timeouts, requests, tokens, num_ctx) waits."`
	Vault      Vault                `yaml:"vault" doc:"The vault's folders, and how they are watched."`
	LLM        LLM                  `yaml:"llm" doc:"How requests to models are made."`
	Engine     Engine               `yaml:"engine" doc:"How workflows run."`
	Ingestion  Ingestion            `yaml:"ingestion" doc:"How files from the import folder become notes, pages and text."`
	Policy     Policy               `yaml:"policy" doc:"What may be sent to a model."`
	WebFetch   WebFetch             `yaml:"web_fetch" doc:"The tool web_fetch, with which a model reads pages and documents on the web."`
	WebSearch  WebSearch            `yaml:"web_search" doc:"The tool web_search, with which a model searches the web."`
	MCPServers map[string]MCPServer `yaml:"mcp_servers" doc:"Servers of the Model Context Protocol. Workflows use their tools as server.tool; a server is started only then. In a vault each entry waits."`
	Watch      Watch                `yaml:"watch" doc:"Workflows with watch:."`
	Vaults     []string             `yaml:"vaults" doc:"Only in your own settings: folders (whole paths, or ~/…) that serve works on when it is started outside of a vault without --vault."`
	Web        Web                  `yaml:"web" doc:"The dashboard and the HTTP API of serve."`
	Logging    Logging              `yaml:"logging" doc:"What serve writes to standard error."`

	File        string            `yaml:"-"` // path of the vault's file, or of the one in its place; empty when there was none
	UserFile    string            `yaml:"-"` // path of the user's own file; empty when there was none
	Waiting     []Waiting         `yaml:"-"` // what the vault's files say and what takes no effect until it is granted
	Granted     []Waiting         `yaml:"-"` // what is in force because it was granted
	Diagnostics []diag.Diagnostic `yaml:"-"` // warnings and notes; errors are returned by Load
	origins     map[string]Origin
	withheld    withheld
	pending     []string // variables of keys that what waits would use
}

// Vault names folders inside the vault.
type Vault struct {
	WorkflowsDir   string   `yaml:"workflows_dir" doc:"Folder of the workflow notes."`
	ImportDir      string   `yaml:"import_dir" doc:"Files dropped here are imported."`
	ImportedDir    string   `yaml:"imported_dir" doc:"Folder where imports are put. It must not be inside import_dir."`
	Ignore         []string `yaml:"ignore" doc:"Further globs of files that are neither imported nor watched."`
	QuietPeriod    Duration `yaml:"quiet_period" min:"100ms" max:"10m" doc:"A dropped file is imported once it has not changed for this long."`
	HoldPeriod     Duration `yaml:"hold_period" min:"0s" max:"1d" doc:"How long serve leaves a file in import_dir after importing it, if its format does not show where it ends (logs, CSV, HTML, mail, sound): what a program appends becomes the next version. 0s: not at all."`
	StallPeriod    Duration `yaml:"stall_period" min:"1s" max:"1d" doc:"A file that seems incomplete is imported anyway once it has not changed for this long."`
	RescanInterval Duration `yaml:"rescan_interval" min:"1s" max:"1d" doc:"How often the folders are scanned in full, in case events were missed."`
	Watch          string   `yaml:"watch" oneof:"auto poll" doc:"auto uses the system's events, but polls network file systems; poll never relies on events."`
}

// LLM configures requests to models.
type LLM struct {
	OverflowFallback bool `yaml:"overflow_fallback" doc:"If a service refuses a request for its size or media, shrink it and send it again, at most twice: pictures get smaller, the oldest become text. false: the step fails."`
}

// Engine configures how workflows run.
type Engine struct {
	Timezone         string   `yaml:"timezone" doc:"IANA name such as Europe/Oslo, for workflows that name none. Empty: the machine's."`
	MaxParallelRuns  int      `yaml:"max_parallel_runs" min:"1" max:"256" doc:"Most runs at the same time. Of several vaults in one serve, the value in your own settings holds for all together; they take turns."`
	RunTimeout       Duration `yaml:"run_timeout" min:"0s" max:"4w" doc:"Time limit of a run whose workflow sets none. 0s: no limit."`
	MaxSelectedFiles int      `yaml:"max_selected_files" min:"1" max:"100000" doc:"Selecting more files than this is an error."`
	Memory           Bytes    `yaml:"memory" min:"0B" max:"1024GiB" doc:"Memory of vaultflow and its workers together. 0: as much as the control group or the machine allows; otherwise at least 128 MB. A worker gets at most ingestion.memory of it."`
	AutoBufferTokens int      `yaml:"auto_buffer_tokens" min:"100" max:"1000000" doc:"A longer tool result goes to a variable, and the model sees only its beginning."`

	StatusNote string    `yaml:"status_note" doc:"Note in the vault that serve keeps up to date, such as Status.md: schedule, costs, waiting files, failures, approvals. Empty: none."`
	Retention  Retention `yaml:"retention" doc:"How long records are kept. The latest run of each workflow and unfinished runs are always kept."`
}

// Retention configures how long records are kept.
type Retention struct {
	Runs            Duration `yaml:"runs" min:"2d" max:"520w" doc:"Records of finished runs with their prompts, receipts and answers; also of slots and costs."`
	RunsPerWorkflow int      `yaml:"runs_per_workflow" min:"10" max:"100000" doc:"Most records of a workflow's runs. Those of the last two days are always kept."`
	Contents        Duration `yaml:"contents" min:"1h" max:"520w" doc:"File contents from before a run changed them. Without them a run cannot be undone."`
}

// Watch is about workflows that fire when a file changes.
type Watch struct {
	Debounce Duration `yaml:"debounce" min:"0s" max:"1h" doc:"Changes within this time start one run for all the files."`
}

// Web is the dashboard's server.
type Web struct {
	Listen string   `yaml:"listen" doc:"Address and port, or unix:/path of a socket that only you can open. With 127.0.0.1, other machines cannot connect."`
	Token  Secret   `yaml:"token" doc:"Token with all rights, at least 16 characters, instead of the random one in the state directory. Better set VAULTFLOW_WEB_TOKEN than write it here."`
	Hosts  []string `yaml:"hosts" doc:"Further host names of the dashboard, for example behind a proxy."`
	Proxy  Proxy    `yaml:"proxy" doc:"A trusted reverse proxy in front of the dashboard."`
}

// Proxy is a reverse proxy that signs people in.
type Proxy struct {
	Trust      []string `yaml:"trust" doc:"Addresses or networks of the proxy, such as 192.168.1.5 or 10.0.0.0/24, or unix for whoever can open the socket. X-Forwarded-For, -Host and -Proto and user_header are believed only from there."`
	UserHeader string   `yaml:"user_header" doc:"Header in which the proxy names the signed-in user, such as Remote-User. Any user it names may do everything. Empty: the proxy signs nobody in."`
}

// Logging configures what is logged.
type Logging struct {
	Level  string `yaml:"level" oneof:"debug info warn error" doc:"The lowest level that is logged."`
	Format string `yaml:"format" oneof:"auto text json" doc:"auto: coloured on a terminal, plain text otherwise."`
}
