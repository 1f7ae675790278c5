//go:build linux

package security

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// within runs a command that must end by itself.
func (s *scene) within(limit time.Duration, args ...string) string {
	s.t.Helper()
	began := time.Now()
	out := s.run(anyCode, args...)
	if took := time.Since(began); took > limit {
		s.t.Errorf("vaultflow %s took %s", strings.Join(args, " "), took.Round(time.Second))
	}
	return out
}

// Hostile notes cost a bounded time. The limits are far above what a bounded check takes on a busy machine.
func TestBounds_workflows(t *testing.T) {
	t.Parallel()
	doubling := "type: object\nproperties: {a: {$ref: \"#/$defs/d0\"}}\n$defs:\n"
	for i := range 60 {
		doubling += fmt.Sprintf("  d%d: {anyOf: [{$ref: \"#/$defs/d%d\"}, {$ref: \"#/$defs/d%d\"}]}\n", i, i+1, i+1)
	}
	doubling += "  d60: {type: integer}\n"
	for name, text := range map[string]string{
		"brackets":      "## A\n@output file: Out\n\n" + strings.Repeat("[", 400<<10) + "\n",
		"many brackets": "## A\n@output file: Out\n\n" + strings.Repeat("![[a](", 80<<10) + "\n",
		"inputs":        "## A\n" + strings.Repeat("@input file: Home.md\n", 30_000) + "@output file: Out\n\nRead.\n",
		"globs":         "## A\n@input file: " + strings.Repeat("{a,b}", 40) + ".md\n@output file: Out\n\nRead.\n",
		"stars":         "## A\n@input file: " + strings.Repeat("**/", 60) + "x.md\n@output file: Out\n\nRead.\n",
		"a schema":      "## A\n@input file: Home.md\n@output file: Out.json (format=json)\n@schema\n```yaml\n" + doubling + "```\n\nRead.\n",
		"steps":         strings.Repeat("## A\nx\n\n", 50_000),
		"quotes":        "## A\n@output file: Out\n\n" + strings.Repeat("> ", 200<<10) + "x\n",
		"aliases of YAML": "---\na: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\n" +
			"e: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\ng: [*f,*f,*f,*f,*f,*f,*f,*f,*f]\n---\n## A\nx\n",
		"deep YAML": "---\na: " + strings.Repeat("[", 20_000) + "\n---\n## A\nx\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.model.says(`{"a": "x"}`)
			s.workflow("Big", text)
			s.within(20*time.Second, "check")
			s.within(20*time.Second, "run", "Big")
		})
	}
}

// An answer without an end costs a bounded memory, and ends.
func TestBounds_answerWithoutEnd(t *testing.T) {
	t.Parallel()
	for name, chunk := range map[string]string{
		"many deltas": "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"" + strings.Repeat("x", 8<<10) + "\"}}]}\n\n",
		"one line":    strings.Repeat("x", 16<<10),
		"thinking":    "data: {\"choices\":[{\"index\":0,\"delta\":{\"reasoning_content\":\"" + strings.Repeat("x", 8<<10) + "\"}}]}\n\n",
		"a tool call": "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"type\":\"function\",\"function\":{\"name\":\"read_file\",\"arguments\":\"" + strings.Repeat("x", 8<<10) + "\"}}]}}]}\n\n",
		"calls":       "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"id\":\"a\",\"type\":\"function\",\"function\":{\"name\":\"read_file\",\"arguments\":\"{}\"}}]}}]}\n\n",
		"small calls": "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"x\"}}]}}]}\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			endless := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				if name == "one line" {
					fmt.Fprint(w, "data: ")
				}
				for r.Context().Err() == nil {
					if _, err := fmt.Fprint(w, chunk); err != nil {
						return
					}
				}
			}))
			t.Cleanup(endless.Close)
			s.workflow("Look", "## Look\n@retry 0\n@input file: Home.md\n@output file: Usual\n\nLook.\n")
			short := s.command(t.Context(), "run", "Look")
			if err := short.Run(); err != nil {
				t.Fatal(err)
			}
			usual := peakMemory(short.ProcessState.SysUsage())
			s.model.url = endless.URL + "/v1"
			s.settings("")
			s.workflow("Look", "## Look\n@retry 0\n@input file: Home.md\n@output file: Seen\n\nLook.\n")
			ctx := t.Context()
			cmd := s.command(ctx, "run", "Look")
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait() // it fails; what counts is what it took
			if peak := peakMemory(cmd.ProcessState.SysUsage()); peak > usual+64<<20 {
				t.Errorf("%d MB of memory for an answer without end, %d MB for another one", peak>>20, usual>>20)
			}
			if s.read("Seen.md") != "" {
				t.Error("an answer without an end was written")
			}
		})
	}
}

// Escapes of terminals do not pass through what is printed.
func TestBounds_terminalEscapes(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	const escape = "\x1b]0;owned\x07\x1b[31m\u009b31m\u202e"
	s.write("Workflows/Bad \x1b[31mname.md", "---\ndescription: \"x\\e[31m\\u202e\"\n---\n## A\n@input file: Home.md\n@output file: Out\n\nRead.\n")
	s.write("Notes/\x1b[31mbad.md", "text")
	s.write("Home.md", "# Home\n"+escape+"\n")
	s.workflow("Read", "---\ndescription: \"x\\e[31m\\u202e\"\n---\n## Read \x1b[31m\n@input file: Home.md\n@input file: Notes/*.md\n@output file: Out\n\nRead."+escape+"\n")
	for _, args := range [][]string{{"list"}, {"check"}, {"preview", "Read"}, {"run", "Read"}, {"runs"}, {"status"}, {"doctor"}, {"preview", "Missing\x1b[31m"}, {"show", "x\x1b[31m"}} {
		out := s.run(anyCode, args...)
		for _, bad := range []string{"\x1b", "\x07", "\u009b", "\u202e"} {
			if i := strings.Index(out, bad); i >= 0 {
				t.Errorf("vaultflow %q prints %s: %q", args, strconv.QuoteToASCII(bad), out[max(0, i-60):min(len(out), i+20)])
			}
		}
	}
}

// What a worker may see of the machine: see cmd/vaultflow-worker. Here, that settings never show tokens.
func TestBounds_configHidesTokens(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.settings("mcp_servers:\n  a: {url: \"https://mcp." + s.host + "/t0ken-in-the-path-4711/mcp?key=t0ken-in-the-query-4711\", headers: {Authorization: \"Bearer t0ken-in-a-header-4711\"}}\n" +
		"web: {token: \"t0ken-of-the-dashboard-4711\"}\n")
	s.workflow("Look", "## Look\n@tools a.x\n@input file: Home.md\n@output file: Seen\n\nLook.\n")
	for _, args := range [][]string{{"config"}, {"config", "--json"}, {"models"}, {"check"}, {"preview", "Look"}, {"run", "Look"}, {"status"}} {
		if out := s.run(anyCode, args...); strings.Contains(out, "t0ken") {
			t.Errorf("vaultflow %s prints a token:\n%.1500s", strings.Join(args, " "), out)
		}
	}
	if _, err := os.Stat(s.vault); err != nil {
		t.Fatal(err)
	}
}
