// Package doctor examines a vault and what vaultflow needs for it: the worker, fonts, folders, the state, providers.
package doctor

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/daemon"
	"github.com/vaultflow/vaultflow/daemon/modelset"
	"github.com/vaultflow/vaultflow/daemon/words"
	"github.com/vaultflow/vaultflow/failure/diag"
	"github.com/vaultflow/vaultflow/ingestion/fonts"
	"github.com/vaultflow/vaultflow/settings"
)

// Finding is one line of `doctor`.
type Finding struct {
	Type    string `json:"type"` // "finding"
	Subject string `json:"subject"`
	State   string `json:"state"` // ok, warning or problem
	Message string `json:"message"`
	Fix     string `json:"fix,omitempty"`
}

// Examine looks at everything in turn. probing sends each provider one tiny call, which costs money. Once ctx ends, nothing more is found: what
// was being looked at is left out, except calls that may be paid.
func Examine(ctx context.Context, a *daemon.Workspace, probing bool) []Finding {
	one := func(f Finding) []Finding { return []Finding{f} }
	var all []Finding
	for _, examine := range []func() []Finding{
		func() []Finding { return one(examineTrust(a)) },
		func() []Finding { return examineSettings(a) },
		func() []Finding { return one(examineMemory(a)) },
		func() []Finding { return examineWorker(ctx, a) },
		func() []Finding { return one(examineOffice(ctx, a)) },
		func() []Finding { return one(examineFonts(fonts.Missing(fonts.Folders()))) },
		func() []Finding { return one(examineWatching(ctx, a)) },
		func() []Finding { return one(examineFolders(a)) },
		func() []Finding { return examineState(ctx, a) },
		func() []Finding { return one(examineWorkflows(ctx, a)) },
		func() []Finding {
			return one(Finding{Subject: "clock", State: "ok", Message: time.Now().In(a.Zone).Format("2006-01-02 15:04:05 MST")})
		},
		func() []Finding { return one(examineKeys(a)) },
		func() []Finding { return examineRetirements(ctx, a) },
	} {
		found := examine()
		if ctx.Err() != nil {
			return all
		}
		all = append(all, found...)
	}
	return append(all, examineProviders(ctx, a, probing)...)
}

// examineMemory reports what the system allows, and how it is divided.
func examineMemory(a *daemon.Workspace) Finding {
	const mb = 1 << 20
	found, share := a.Workers.Memory()
	if found.Bytes == 0 {
		return Finding{Subject: "memory", State: "warning", Message: fmt.Sprintf("this system does not report its limits; a worker gets %d MB", share.Worker/mb), Fix: "set engine.memory in settings.yaml"}
	}
	f := Finding{Subject: "memory", State: "ok", Message: fmt.Sprintf("%d MB (%s): %d MB for vaultflow, at most %d workers at once, each with at most %d MB",
		found.Bytes/mb, found.From, share.Daemon/mb, share.Workers, share.Worker/mb)}
	if share.Daemon+share.Worker > found.Bytes {
		f.State, f.Fix = "warning", "large pictures and pages can fail; allow vaultflow 512 MB or more"
	}
	return f
}

func examineWorker(ctx context.Context, a *daemon.Workspace) []Finding {
	report, err := a.Workers.Report(ctx)
	if err != nil {
		return []Finding{{Subject: "worker", State: "problem", Message: err.Error(), Fix: "run `make build` in vaultflow's folder"}}
	}
	var all []Finding
	for _, p := range report.Problems {
		all = append(all, Finding{Subject: "worker", State: "problem", Message: p.Message, Fix: p.Fix})
	}
	if report.Version != "" {
		all = append(all,
			Finding{Subject: "worker", State: "ok", Message: fmt.Sprintf("%s, MuPDF %s, Tesseract %s (%s)", report.Version, report.MuPDF, report.Tesseract, report.Worker)},
			Finding{Subject: "ocr", State: "ok", Message: "languages: " + strings.Join(report.Languages, ", ") + "; others come with the packages tesseract-ocr-NAME (Debian, Ubuntu), such as tesseract-ocr-deu"},
			Finding{Subject: "confinement", State: "ok", Message: report.Confinement})
	}
	return all
}

// examineFonts reports for which languages a page may come out without its text.
func examineFonts(missing []string) Finding {
	if len(missing) == 0 {
		return Finding{Subject: "fonts", State: "ok", Message: "Chinese, Japanese and Korean text is drawn also where a document comes without its fonts"}
	}
	return Finding{
		Subject: "fonts", State: "warning", Message: "none for " + strings.Join(missing, ", ") + ": pictures of pages lack such text where the document comes without its fonts",
		Fix: "apt-get install " + fonts.Package + " (Debian, Ubuntu), or put a font for it into " + fonts.Folders()[0],
	}
}

// examineTrust reports how far the vault is trusted, and what waits.
func examineTrust(a *daemon.Workspace) Finding {
	f := Finding{Subject: "trust", State: "ok"}
	o, err := a.Offers.Look()
	if err != nil {
		return Finding{Subject: "trust", State: "problem", Message: err.Error()}
	}
	f.Message = o.Means
	if n := o.Waiting(); n > 0 {
		f.State, f.Message, f.Fix = "warning", f.Message+"; "+words.Waiting(n)+" for your approval", "vaultflow trust"
	} else if a.Trust.Untrusted() {
		f.State, f.Fix = "warning", "vaultflow trust"
	}
	return f
}

func examineWatching(ctx context.Context, a *daemon.Workspace) Finding {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	test, err := a.Vault.SelfTest(ctx)
	switch {
	case err != nil:
		return Finding{Subject: "watching", State: "problem", Message: err.Error(), Fix: "set vault.watch: poll in settings.yaml"}
	case test.Mode != "events":
		return Finding{Subject: "watching", State: "warning", Message: "the folders are polled: " + test.Why, Fix: test.Hint}
	}
	f := Finding{Subject: "watching", State: "ok", Message: fmt.Sprintf("events arrive after %s", test.Latency.Round(100*time.Microsecond))}
	if !test.Writers {
		f.Message += "; this system does not show whether a file is still being written: a half-written file may be imported, and the complete one then becomes its next version"
	}
	return f
}

func examineFolders(a *daemon.Workspace) Finding {
	v := a.Settings.Vault
	var missing []string
	for _, dir := range []string{v.WorkflowsDir, v.ImportDir, v.ImportedDir} {
		if info, err := os.Stat(filepath.Join(a.Dir, filepath.FromSlash(dir))); err != nil || !info.IsDir() {
			missing = append(missing, dir)
		}
	}
	if len(missing) > 0 {
		return Finding{Subject: "folders", State: "warning", Message: "not there yet: " + strings.Join(missing, ", "), Fix: "vaultflow init " + a.Dir}
	}
	return Finding{Subject: "folders", State: "ok", Message: a.Dir}
}

// examineWorkflows counts what `check` reports.
func examineWorkflows(ctx context.Context, a *daemon.Workspace) Finding {
	all, err := a.Workflows.Checked(ctx)
	if err != nil {
		return Finding{Subject: "workflows", State: "problem", Message: err.Error()}
	}
	broken, warnings := 0, 0
	for _, l := range all {
		if !l.Valid() {
			broken++
		}
		for _, d := range l.Diagnostics {
			if d.Severity == diag.SeverityWarning {
				warnings++
			}
		}
	}
	if broken > 0 {
		return Finding{Subject: "workflows", State: "problem", Message: fmt.Sprintf("%d of %d cannot run", broken, len(all)), Fix: "vaultflow check"}
	}
	if warnings > 0 {
		return Finding{Subject: "workflows", State: "warning", Message: words.Counted(warnings, "warning") + " in " + words.Counted(len(all), "workflow"), Fix: "vaultflow check"}
	}
	return Finding{Subject: "workflows", State: "ok", Message: fmt.Sprintf("%d, default model %s", len(all), a.Settings.Models.Default)}
}

// examineProviders reports for each provider that an alias uses whether it has a key and can be reached. Keys never print.
func examineProviders(ctx context.Context, a *daemon.Workspace, probing bool) []Finding {
	used := map[string]bool{}
	for _, name := range a.Settings.AliasNames() {
		alias, _, _ := a.Settings.Alias(name)
		used[alias.Provider] = true
	}
	var all []Finding
	for _, name := range slices.Sorted(maps.Keys(used)) {
		p, ok := a.Settings.Provider(name)
		if !ok || p.Kind == settings.Offline {
			continue
		}
		if a.Trust.Untrusted() {
			all = append(all, Finding{Subject: name, State: "warning", Message: "not tried: this vault is not trusted yet", Fix: "vaultflow trust"})
			continue
		}
		found, sent := examineProvider(ctx, name, p), false
		if probing && ctx.Err() == nil {
			found, sent = probe(ctx, a, name, found)
		}
		if ctx.Err() == nil || sent {
			all = append(all, found)
		}
	}
	for _, alias := range a.Settings.WaitingNames() {
		if probing {
			all = append(all, Finding{Subject: alias, State: "warning", Message: "nothing was sent: it waits for your approval", Fix: "vaultflow trust"})
		}
	}
	return all
}

// examineRetirements reports models that their services stop, or have stopped.
func examineRetirements(ctx context.Context, a *daemon.Workspace) []Finding {
	workflows, err := a.Workflows.Checked(ctx)
	if err != nil {
		workflows = nil // which is a finding of its own
	}
	var all []Finding
	for _, alias := range a.Models.Retiring(workflows) {
		r := a.Models.Retirement(alias)
		all = append(all, Finding{
			Subject: alias, State: "warning", Message: r.Text(time.Now()), Fix: "set models.aliases." + alias + ".model to " + r.Successor + " or another model",
		})
	}
	return all
}

// examineKeys names the places that are searched for keys.
func examineKeys(a *daemon.Workspace) Finding {
	return Finding{Subject: "keys", State: "ok", Message: "searched for in the environment, then in " + strings.Join(a.KeyFiles(), ", ")}
}

func examineProvider(ctx context.Context, name string, p settings.Provider) Finding {
	f := Finding{Subject: name, State: "warning"}
	address := modelset.AddressOf(p)
	switch {
	case !settings.Available(p.Kind):
		f.Message = p.Kind + " is not available in this version"
	case p.Key == "" && p.NeedsKey():
		f.Message, f.Fix = "no key: "+p.APIKeyEnv+" is not set", "set it in the environment or in a file that the line keys names, to use this provider"
	case address == "":
		f.Message = "no region: AWS_REGION is not set"
	case !reachable(ctx, address):
		f.Message = "not reachable at " + modelset.HostOf(address)
		if p.Kind == "ollama" {
			f.Fix = "start Ollama to use local models"
		}
	default:
		f.State, f.Message = "ok", "reachable at "+modelset.HostOf(address)
		if p.KeyFrom != "" {
			f.Message += ", key from " + p.KeyFrom
		}
	}
	return f
}

// reachable reports whether anything answers at an address. Nothing but a connection is made.
func reachable(ctx context.Context, address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return false
	}
	port := u.Port()
	if port == "" {
		port = "443"
		if u.Scheme == "http" {
			port = "80"
		}
	}
	if proxy, err := http.ProxyFromEnvironment(&http.Request{URL: u}); err == nil && proxy != nil {
		return true // the proxy decides; a connection past it says nothing
	}
	dialer := net.Dialer{Timeout: 2 * time.Second}
	conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	if err != nil {
		return false
	}
	conn.Close()
	return true
}

// examineOffice reports whether LibreOffice can be used.
func examineOffice(ctx context.Context, a *daemon.Workspace) Finding {
	f := Finding{Subject: "libreoffice", State: "ok"}
	office, err := a.Workers.LibreOffice()
	switch {
	case err != nil:
		f.State, f.Message, f.Fix = "problem", err.Error(), "correct ingestion.office.libreoffice, or set it to auto"
		return f
	case a.Trust.Untrusted():
		f.Message = "not started: this vault is not trusted yet"
		return f
	case a.Settings.Ingestion.Office.LibreOffice == "off":
		f.Message = "off (ingestion.office.libreoffice): office files get no page pictures, and doc, xls, ppt and rtf are kept unread"
		return f
	case office == nil:
		f.State, f.Message = "warning", "not installed: office files get no page pictures, and doc, xls, ppt and rtf are kept unread"
		f.Fix = "install libreoffice-writer, libreoffice-calc and libreoffice-impress, or set ingestion.office.libreoffice to its soffice, or to off"
		return f
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	version, err := office.Start(ctx)
	if err != nil {
		f.State, f.Message, f.Fix = "warning", cmp.Or(err.Error(), "it does not start"), "start "+office.Program()+" by hand, or set ingestion.office.libreoffice to off"
		return f
	}
	f.Message = fmt.Sprintf("%s (%s)", version, office.Program())
	if lacks := office.Lacks(); len(lacks) > 0 {
		f.State, f.Fix = "warning", "install "+strings.Join(lacks, " and ")
		f.Message += ", but not all of it: some office files get no page pictures, and their old formats are kept unread"
	}
	return f
}
