package main

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// module is this project's import path.
const module = "github.com/vaultflow/vaultflow"

// rooms says which of our packages each package may import: docs/architecture.md explains the floors. A package that is
// not in this table fails the test, so that a new one gets a row and a floor before it gets a user.
var rooms = []room{
	{module, 1, nil}, // the licences
	{"failure", 1, nil},
	{"failure/diag", 1, nil},
	{"failure/drain", 1, nil},
	{"failure/omission", 1, nil},
	{"cost", 1, nil},
	{"content", 1, nil},
	{"engine/diff", 1, []string{"content", "content/visible"}},
	{"content/visible", 1, nil},
	{"step/defuse", 1, nil},
	{"step/cite", 1, nil},
	{"step/parts", 1, []string{"content"}},
	{"step/previewed", 1, []string{"settings/state"}},
	{"step/relink", 1, []string{"chunking", "vault"}},
	{"content/conform", 1, nil},
	{"imaging", 1, nil},
	{"media/remote", 1, []string{"imaging"}},
	{"tools/websearch", 1, nil},
	{"chunking", 1, nil},
	{"note", 1, []string{"chunking"}},
	{"directives", 2, []string{"directives/moment", "vault"}},
	{"directives/moment", 2, nil},
	{"policy", 1, []string{"cost"}},
	{"policy/turns", 1, nil},
	{"vault", 1, []string{"policy"}},
	{"vault/disk", 1, []string{"policy", "vault"}},
	{"vault/vaulttest", 1, []string{"policy", "vault"}},
	{"settings", 2, []string{"policy", "content/visible"}},
	{"settings/state", 1, nil},
	{"settings/vaultid", 2, []string{"policy", "settings", "settings/state"}},
	{"policy/origin", 1, nil},
	{"policy/origin/origintest", 1, []string{"policy/origin"}},
	{"settings/schemas", 1, nil},
	{"ingestion/doubt", 2, nil},
	{"ingestion/extract", 2, []string{"content", "ingestion/doubt"}},
	{"ingestion/sandbox", 2, []string{"ingestion/extract"}},
	{"ingestion", 2, []string{"content", "ingestion/archive", "ingestion/attempts", "ingestion/charset", "ingestion/choose", "ingestion/config", "ingestion/doubt", "ingestion/export", "ingestion/extract", "ingestion/fault", "ingestion/filetype", "ingestion/fonts", "ingestion/indexnote", "ingestion/mail", "ingestion/manifest", "ingestion/markdown", "ingestion/office", "ingestion/preview", "ingestion/reading", "ingestion/sound", "ingestion/webpage", "imaging", "note", "vault"}},
	{"ingestion/choose", 2, []string{"ingestion/doubt", "ingestion/extract"}},
	{"ingestion/config", 2, []string{"ingestion/choose", "ingestion/extract", "ingestion/fault", "ingestion/indexnote", "ingestion/markdown"}},
	{"ingestion/export", 2, []string{"ingestion/filetype", "ingestion/markdown", "vault"}},
	{"ingestion/fault", 2, nil},
	{"ingestion/attempts", 2, []string{"ingestion/fault"}},
	{"ingestion/reading", 2, []string{"ingestion/attempts", "ingestion/extract", "ingestion/fault", "ingestion/markdown"}},
	{"ingestion/sound", 2, nil},
	{"ingestion/preview", 2, nil},
	{"ingestion/office", 2, []string{"ingestion/charset", "ingestion/markdown", "ingestion/script", "ingestion/webpage", "vault"}},
	{"ingestion/script", 2, nil},
	{"ingestion/webpage", 2, []string{"ingestion/script"}},
	{"ingestion/fonts", 2, nil},
	{"ingestion/bidi", 2, nil},
	{"ingestion/formula", 2, nil},
	{"ingestion/layout", 2, []string{"ingestion/doubt", "ingestion/formula"}},
	{"ingestion/pdftest", 2, nil},
	{"ingestion/phototest", 2, nil},
	{"workflow", 3, []string{"directives", "policy", "vault", "workflow/assistantmd"}},
	{"workflow/assistantmd", 3, []string{"directives"}},
	{"llm", 3, []string{"cost", "content", "policy", "policy/turns"}},
	{"llm/metered", 3, []string{"cost", "llm"}},
	{"llm/rewrite", 3, []string{"cost", "llm", "content", "policy"}},
	{"llm/wire", 3, []string{"cost", "llm", "content", "policy"}},
	{"llm/anthropic", 3, []string{"llm/wire", "cost", "llm", "content"}},
	{"llm/openai", 3, []string{"llm/wire", "cost", "llm", "content"}},
	{"llm/ollama", 3, []string{"llm/wire", "cost", "llm", "content"}},
	{"llm/bedrock", 3, []string{"llm/wire", "cost", "llm", "content", "policy"}},
	{"llm/vertex", 3, []string{"llm/wire", "llm"}},
	{"llm/gemini", 3, []string{"llm/wire", "cost", "llm", "content"}},
	{"llm/mistralocr", 3, []string{"llm/wire", "cost", "llm", "content", "imaging"}},
	{"llm/transcription", 3, []string{"llm/wire", "cost", "llm", "content", "ingestion/sound"}},
	{"llm/offline", 3, []string{"llm/wire", "cost", "llm", "content", "content/conform"}},
	{"llm/replay", 3, []string{"llm", "content"}},
	{"llm/llmtest", 3, []string{"llm/wire", "llm/rewrite", "cost", "llm", "content"}},
	{"prompt", 3, []string{"vault", "content", "chunking", "policy", "directives", "policy/origin"}},
	{"tools/allowance", 6, []string{"content", "engine"}},
	{"tools", 6, []string{"tools/allowance", "llm", "content", "policy", "media/remote", "tools/websearch", "ingestion/filetype", "ingestion/webpage", "policy/origin", "vault"}},
	{"tools/toolstest", 6, []string{"content", "content/conform", "tools"}},
	{"tools/mcp", 6, []string{"tools", "content", "policy", "settings/state", "content/visible", "content/conform"}},
	{"engine", 4, []string{"content", "cost", "step/cite", "step/parts", "workflow", "engine/diff", "content/visible", "vault"}},
	{"engine/local", 4, []string{"engine", "policy/turns"}},
	{"policy/trust", 3, []string{"directives", "settings/state", "content/visible", "workflow"}},
	{"policy/trust/trusttest", 3, []string{"policy/trust"}},
	{"engine/enginetest", 4, []string{"cost", "engine", "workflow"}},
	{"media", 4, []string{"content", "imaging", "ingestion", "ingestion/filetype", "ingestion/manifest", "ingestion/extract", "ingestion/office", "llm", "policy", "prompt", "media/remote", "settings/state", "vault"}},
	{"engine/change", 4, []string{"content", "engine", "policy/origin", "policy", "vault"}},
	{"engine/imports", 4, []string{"engine", "engine/change", "ingestion", "ingestion/manifest", "policy/origin"}},
	{"step", 5, []string{"chunking", "content/conform", "content", "cost", "step/cite", "step/defuse", "step/parts", "step/previewed", "step/relink", "directives", "directives/moment", "engine", "engine/change", "engine/diff", "imaging", "ingestion/filetype", "ingestion/manifest", "llm", "llm/metered", "llm/rewrite", "media", "note", "policy/origin", "policy", "prompt", "vault", "content/visible", "workflow"}},
	{"step/steptest", 5, []string{"content", "cost", "directives", "engine", "engine/change", "llm", "policy/origin", "policy/origin/origintest", "vault", "vault/vaulttest", "workflow"}},
	{"undo", 5, []string{"engine/diff", "engine", "engine/change", "policy", "vault"}},
	{"tools/toolbox", 6, []string{"engine/artifact", "content", "step/defuse", "directives", "engine", "engine/change", "ingestion/filetype", "llm", "llm/wire", "media", "policy/origin", "policy", "prompt", "step", "tools", "tools/allowance", "vault", "workflow"}},
	{"engine/journal", 4, []string{"cost", "engine", "directives", "step/parts", "policy/origin", "settings/state", "vault"}},
	{"engine/artifact", 4, nil},
	{"engine/approval", 4, []string{"engine", "content/visible", "settings/state", "vault"}},
	{"engine/trigger", 4, []string{"engine", "ingestion/filetype", "workflow", "vault"}},
	{"cmd/vaultflow-worker", 8, []string{"*"}},
	{"web", 5, []string{"cost", "step/cite", "engine", "content/visible", "web/session"}},
	{"web/session", 5, []string{"settings/state"}},
	{"daemon", 7, []string{"*"}},
	{"daemon/access", 7, []string{"settings", "settings/state", "web", "web/session"}},
	{"daemon/vaults", 7, []string{"*"}},
	{"daemon/artifacts", 7, []string{"engine/artifact", "tools", "tools/toolbox"}},
	{"daemon/control", 7, []string{"engine"}},
	{"daemon/memory", 7, nil},
	{"daemon/workers", 7, []string{"daemon/memory", "ingestion", "ingestion/extract", "ingestion/reading", "ingestion/sandbox", "media", "policy/turns", "settings", "vault/disk"}},
	{"daemon/consent", 7, []string{"content/visible", "daemon/control", "daemon/modelset", "daemon/words", "engine", "engine/journal", "policy/trust", "settings", "tools", "tools/mcp", "workflow"}},
	{"daemon/intake/packing", 7, []string{"ingestion/export"}},
	{"daemon/intake", 7, []string{"content", "cost", "daemon/consent", "daemon/control", "daemon/intake/packing", "daemon/modelset", "daemon/workers", "engine", "engine/artifact", "engine/change", "engine/journal", "engine/local", "ingestion", "ingestion/attempts", "ingestion/config", "ingestion/export", "ingestion/manifest", "llm", "llm/metered", "llm/mistralocr", "llm/transcription", "media", "media/remote", "policy", "policy/trust", "settings", "step", "vault", "vault/disk"}},
	{"daemon/statusnote", 7, []string{"daemon/words", "engine", "note", "settings", "step", "vault", "vault/disk"}},
	{"daemon/modelset", 7, []string{"*"}},
	{"daemon/doctor", 7, []string{"*"}},
	{"daemon/reload", 7, []string{"daemon/consent", "daemon/control", "engine", "settings"}},
	{"daemon/statedir", 7, []string{"daemon/control", "engine/imports", "engine/journal", "policy", "policy/origin", "policy/trust", "settings", "settings/vaultid", "vault", "vault/disk"}},
	{"daemon/backup", 7, []string{"engine/journal", "policy/trust", "settings/state", "settings/vaultid"}},
	{"daemon/words", 7, []string{"engine", "cost"}},
	{"cmd/vaultflow", 8, []string{"*"}},
	{"ingestion/archive", 2, []string{"ingestion/charset", "ingestion/filetype"}},
	{"ingestion/charset", 2, nil},
	{"ingestion/filetype", 2, []string{"ingestion/charset"}},
	{"ingestion/indexnote", 2, []string{"content", "ingestion/doubt", "ingestion/extract", "ingestion/filetype", "ingestion/manifest", "ingestion/markdown", "note", "vault"}},
	{"ingestion/manifest", 2, []string{"ingestion/doubt", "ingestion/extract", "ingestion/filetype", "vault"}},
	{"ingestion/mail", 2, []string{"ingestion/charset", "ingestion/markdown", "ingestion/script"}},
	{"ingestion/markdown", 2, []string{"ingestion/formula"}},
	{"ingestion/worker", 2, []string{"ingestion/extract"}},
	{"ingestion/worker/confine", 2, []string{"ingestion/extract"}},
	{"ingestion/worker/heif", 2, []string{"imaging"}},
	{"ingestion/worker/libreoffice", 2, []string{"ingestion/extract", "ingestion/worker/confine"}},
	{"ingestion/worker/metadata", 2, []string{"ingestion/layout"}},
	{"ingestion/worker/mupdf", 2, []string{"ingestion/bidi", "ingestion/extract", "ingestion/formula", "ingestion/layout", "ingestion/script", "ingestion/worker/metadata", "ingestion/worker/pdf", "ingestion/worker/picture"}},
	{"ingestion/worker/ocr", 2, []string{"ingestion/doubt", "ingestion/extract", "ingestion/layout", "ingestion/worker/photo", "ingestion/worker/raster"}},
	{"ingestion/worker/pagepng", 2, []string{"ingestion/worker/pagepng/deflate"}},
	{"ingestion/worker/pagepng/deflate", 2, nil},
	{"ingestion/worker/pdf", 2, []string{"content", "ingestion/doubt", "ingestion/extract", "ingestion/layout", "ingestion/worker", "ingestion/worker/metadata", "ingestion/worker/ocr", "ingestion/worker/pdfium", "ingestion/worker/raster"}},
	{"ingestion/worker/pdfium", 2, []string{"ingestion/extract", "ingestion/fonts", "ingestion/layout", "ingestion/worker/metadata"}},
	{"ingestion/worker/photo", 2, []string{"ingestion/worker/raster"}},
	{"ingestion/worker/picture", 2, []string{"imaging", "ingestion/extract", "ingestion/worker", "ingestion/worker/ocr", "ingestion/worker/raster"}},
	{"ingestion/worker/raster", 2, []string{"imaging", "ingestion/extract", "ingestion/worker/pagepng"}},
	{"ingestion/worker/tesseract", 2, []string{"ingestion/worker/ocr"}},
	{"cmd/vaultflow/security", 8, []string{"*"}},
	{"cmd/vaultflow/sitetest", 8, []string{"engine", "policy/trust", "policy/trust/trusttest", "settings"}},
	{"stories", 8, nil},
}

// room is a package: its floor, and which of ours it may import. A nil list allows none, "*" whatever is below.
type room struct {
	name    string
	floor   int
	imports []string
}

// house holds the rooms by name.
var house = func() map[string]room {
	m := map[string]room{}
	for _, r := range rooms {
		m[r.name] = r
	}
	return m
}()

// everybody lists the packages of floor 1 that any package may import.
var everybody = []string{"failure", "failure/diag", "failure/drain", "failure/omission"}

// private lists the packages that only the wiring may import (cmd and daemon): everyone else states the interface they need.
var private = []string{"vault/disk", "llm/anthropic", "llm/openai", "llm/gemini", "llm/bedrock", "llm/vertex", "llm/ollama", "llm/mistralocr", "llm/transcription", "llm/offline", "engine/journal", "web", "engine/local", "ingestion/sandbox", "tools/mcp"}

// wires reports whether a package is part of the wiring.
func wires(name string) bool {
	top, _, _ := strings.Cut(name, "/")
	return top == "cmd" || top == "daemon"
}

type goPackage struct {
	ImportPath string
	Imports    []string
}

func listPackages(t *testing.T) []goPackage {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-tags", "worker", "-json=ImportPath,Imports", module+"/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []goPackage
	for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
		var p goPackage
		if err := dec.Decode(&p); err != nil {
			t.Fatalf("read go list: %v", err)
		}
		all = append(all, p)
	}
	return all
}

func TestImports_onlyGoDownTheFloors(t *testing.T) {
	t.Parallel()
	packages := listPackages(t)
	if len(packages) < 20 {
		t.Fatalf("go list found %d packages, want the whole house", len(packages))
	}
	for _, p := range packages {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		row, known := house[name]
		if !known {
			t.Errorf("package %s has no row in the table: give it a floor", name)
			continue
		}
		for _, imported := range p.Imports {
			low, ours := strings.CutPrefix(imported, module+"/")
			if !ours {
				continue
			}
			switch {
			case house[low].floor > row.floor:
				t.Errorf("%s (floor %d) imports %s (floor %d): only downward", name, row.floor, low, house[low].floor)
			case slices.Contains(everybody, low):
			case !slices.Contains(row.imports, low) && !slices.Contains(row.imports, "*"):
				t.Errorf("%s imports %s, which its row does not allow", name, low)
			case slices.Contains(private, low) && !wires(name):
				t.Errorf("%s imports %s: only cmd and daemon may, state the interface you need", name, low)
			}
		}
	}
}

func TestNames_noVaguePackages(t *testing.T) {
	t.Parallel()
	vague := []string{"util", "utils", "common", "helpers", "types", "models", "internal", "pkg"}
	for _, p := range listPackages(t) {
		for part := range strings.SplitSeq(strings.TrimPrefix(p.ImportPath, module+"/"), "/") {
			if slices.Contains(vague, part) {
				t.Errorf("package %s: %q names no subject", p.ImportPath, part)
			}
		}
	}
}
