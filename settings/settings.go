package settings

import (
	"github.com/vaultflow/vaultflow/failure/diag"
)

// Settings is the whole tree. Load gives it; treat it as immutable.
//
// Tags: doc describes a key (it stands in settings.example.yaml), oneof lists words, min and max are inclusive bounds in the key's own
// unit, later says that this version accepts the key and does nothing with it, env is a further environment variable.
type Settings struct {
	Models     Models               `yaml:"models" doc:"Names for models. Workflows say them with @model."`
	Providers  map[string]Provider  `yaml:"providers" doc:"Where models are reached. A provider whose name is a kind needs no entry. In a vault all but the limits (timeouts, requests, tokens, num_ctx) waits."`
	Vault      Vault                `yaml:"vault" doc:"Folders of the vault, and how they are watched."`
	LLM        LLM                  `yaml:"llm" doc:"How models are asked."`
	Engine     Engine               `yaml:"engine" doc:"How workflows run."`
	Ingestion  Ingestion            `yaml:"ingestion" doc:"How files from the import folder become notes, pages and text."`
	Policy     Policy               `yaml:"policy" doc:"What may be sent to a model."`
	WebFetch   WebFetch             `yaml:"web_fetch" doc:"The tool web_fetch, with which a model reads pages and documents of the web."`
	WebSearch  WebSearch            `yaml:"web_search" doc:"The tool web_search, with which a model searches the web."`
	MCPServers map[string]MCPServer `yaml:"mcp_servers" doc:"Servers of the Model Context Protocol. Workflows name their tools as server.tool; nothing is started before one does. In a vault each entry waits."`
	Watch      Watch                `yaml:"watch" doc:"Workflows with watch:."`
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
	ImportedDir    string   `yaml:"imported_dir" doc:"Folder of the bundles that imports become. Never below import_dir."`
	Ignore         []string `yaml:"ignore" doc:"Further globs of names that are neither imported nor watched."`
	QuietPeriod    Duration `yaml:"quiet_period" min:"100ms" max:"10m" doc:"A dropped file is taken when it has been still for so long."`
	HoldPeriod     Duration `yaml:"hold_period" min:"0s" max:"1d" doc:"serve leaves an imported file of a kind that does not show its end (logs, CSV, HTML, mail, sound) in import_dir for so long: what a program appends becomes the next version. 0s: not at all."`
	StallPeriod    Duration `yaml:"stall_period" min:"1s" max:"1d" doc:"A file whose end is missing is tried anyway when it has been still for so long."`
	RescanInterval Duration `yaml:"rescan_interval" min:"1s" max:"1d" doc:"How often the folders are read in full, whatever the events said."`
	Watch          string   `yaml:"watch" oneof:"auto poll" doc:"auto uses the system's events, and polls network file systems; poll never relies on events."`
}

// LLM says how models are asked.
type LLM struct {
	OverflowFallback bool `yaml:"overflow_fallback" doc:"A request that a service refuses for its size or its media is made to fit and sent again, twice at most: pictures smaller, the oldest ones as text. false: the step fails."`
}

// Engine says how workflows run.
type Engine struct {
	Timezone         string   `yaml:"timezone" doc:"IANA name such as Europe/Oslo, for workflows that name none. Empty: the machine's."`
	MaxParallelRuns  int      `yaml:"max_parallel_runs" min:"1" max:"256" doc:"Runs at work at the same time."`
	RunTimeout       Duration `yaml:"run_timeout" min:"0s" max:"4w" doc:"Limit for a whole run whose workflow names none. 0s: no limit."`
	MaxSelectedFiles int      `yaml:"max_selected_files" min:"1" max:"100000" doc:"A selection of more files than this is an error."`
	AutoBufferTokens int      `yaml:"auto_buffer_tokens" min:"100" max:"1000000" doc:"The text of a tool's result that is longer goes to a variable, and the model gets its beginning."`

	StatusNote string    `yaml:"status_note" doc:"Note of the vault that serve keeps current, such as Status.md: next and last slots, costs, waiting files, failures, approvals. Empty: none."`
	Retention  Retention `yaml:"retention" doc:"How long the past is kept. The latest run of each workflow stays, and whatever has not ended."`
}

// Retention says how long the past is kept.
type Retention struct {
	Runs            Duration `yaml:"runs" min:"2d" max:"520w" doc:"Records of runs with their prompts, receipts and answers, after the end of the run; slots and costs too."`
	RunsPerWorkflow int      `yaml:"runs_per_workflow" min:"10" max:"100000" doc:"Records of a workflow's runs. Those of the last two days are kept whatever their number."`
	Contents        Duration `yaml:"contents" min:"1h" max:"520w" doc:"What files held before runs changed them. After that a run cannot be undone."`
}

// Watch is about workflows that fire when a file changes.
type Watch struct {
	Debounce Duration `yaml:"debounce" min:"0s" max:"1h" doc:"Changes within this time start one run with all the files."`
}

// Web is the dashboard's server.
type Web struct {
	Listen string   `yaml:"listen" doc:"Address and port, or unix:/path of a socket that only you can open. Other machines reach it only on an address that is not 127.0.0.1."`
	Token  Secret   `yaml:"token" doc:"Token that may do everything, at least 16 characters, in place of the random one in the state directory. Better set as VAULTFLOW_WEB_TOKEN than written here."`
	Hosts  []string `yaml:"hosts" doc:"Further host names under which browsers reach the dashboard, as behind a proxy."`
	Proxy  Proxy    `yaml:"proxy" doc:"A reverse proxy in front of the dashboard whose word counts."`
}

// Proxy is a reverse proxy that signs people in.
type Proxy struct {
	Trust      []string `yaml:"trust" doc:"Addresses or networks of the proxy, such as 192.168.1.5 or 10.0.0.0/24, or unix for who can open the socket. X-Forwarded-For, -Host and -Proto and user_header count from there alone."`
	UserHeader string   `yaml:"user_header" doc:"Header in which the proxy names who has signed in, such as Remote-User. Who it names may do everything, so the proxy decides who gets through. Empty: the proxy signs nobody in."`
}

// Logging says what is logged.
type Logging struct {
	Level  string `yaml:"level" oneof:"debug info warn error" doc:"The least important kind of line that is written."`
	Format string `yaml:"format" oneof:"auto text json" doc:"auto: coloured on a terminal, plain text otherwise."`
}
