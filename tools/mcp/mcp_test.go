package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/tools"
	"github.com/vaultflow/vaultflow/tools/toolstest"
)

// serverMode is the variable that makes the test binary a server.
const serverMode = "VAULTFLOW_TEST_MCP"

func TestMain(m *testing.M) {
	grace, maxMessage = 100*time.Millisecond, 1<<20
	switch os.Getenv(serverMode) {
	case "":
		os.Exit(m.Run())
	case "silent": // neither speaks nor ends by itself
		time.Sleep(time.Hour) // an empty select ends a program without cgo
	case "noise":
		fmt.Println("Listening on stdio …")
		time.Sleep(time.Hour)
	}
	fmt.Fprintln(os.Stderr, "stderr-s3cr3t") // must reach nobody
	if err := realServer().Run(context.Background(), &sdk.StdioTransport{}); err != nil {
		os.Exit(1)
	}
}

type words struct {
	Text string `json:"text" jsonschema:"what to say"`
}

// realServer is a server of the official SDK with tools that behave well and badly.
func realServer() *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	sdk.AddTool(s, &sdk.Tool{Name: "echo", Description: "Says it again."}, func(_ context.Context, _ *sdk.CallToolRequest, in words) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: in.Text}}}, nil, nil
	})
	raw := func(name string, run func() (*sdk.CallToolResult, error)) {
		s.AddTool(&sdk.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, _ *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			if name == "slow" {
				<-ctx.Done()
			}
			return run()
		})
	}
	size := int64(7)
	raw("mixed", func() (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{
			&sdk.TextContent{Text: "one"}, &sdk.ImageContent{Data: []byte("picture"), MIMEType: "image/png"}, &sdk.TextContent{Text: "two"},
			&sdk.AudioContent{Data: []byte("sound"), MIMEType: "audio/wav"}, &sdk.ResourceLink{URI: "file:///x", Name: "x\ny", MIMEType: "text/plain", Size: &size},
			&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "note://a", Text: "inside"}},
			&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "note://b", Blob: []byte{1, 2, 3}}}, &sdk.ImageContent{Data: []byte("broken"), MIMEType: "image/png"},
		}}, nil
	})
	raw("structured", func() (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{}, StructuredContent: map[string]any{"n": 1}}, nil
	})
	raw("nothing", func() (*sdk.CallToolResult, error) { return &sdk.CallToolResult{Content: []sdk.Content{}}, nil })
	raw("fails", func() (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: "no such note"}}}, nil
	})
	raw("breaks", func() (*sdk.CallToolResult, error) { return nil, errors.New("broken inside") })
	raw("slow", func() (*sdk.CallToolResult, error) { return &sdk.CallToolResult{}, nil })
	raw("dies", func() (*sdk.CallToolResult, error) { os.Exit(3); return nil, nil })
	raw("floods", func() (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: strings.Repeat("x", maxMessage+1)}}}, nil
	})
	raw("environment", func() (*sdk.CallToolResult, error) {
		dir, err := os.Getwd()
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: strings.Join(os.Environ(), "\n") + "\n" + dir}}}, err
	})
	raw("secret.tool", func() (*sdk.CallToolResult, error) { return &sdk.CallToolResult{}, nil })
	return s
}

func stdio(t *testing.T, mode string, timeout time.Duration) Server {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Server{Name: "srv", Command: []string{self}, Env: []string{serverMode + "=" + mode, "GIVEN=yes"}, Timeout: timeout}
}

func hub(t *testing.T, s Server) *Hub {
	t.Helper()
	h := New([]Server{s}, Options{Version: "test", Picture: func(_ context.Context, data []byte) (content.Image, error) {
		if string(data) == "broken" {
			return content.Image{}, errors.New("no picture")
		}
		return content.Image{MediaType: "image/png", SHA256: "abc", Source: content.SourceBlob}, nil
	}})
	t.Cleanup(h.Close)
	return h
}

// call calls one tool (server.tool) of a hub.
func call(t *testing.T, h *Hub, name, input string) content.ToolResult {
	t.Helper()
	list := h.Tools([]string{name})
	if len(list) != 1 || list[0].Called != name || list[0].Effect != tools.EffectNetwork {
		t.Fatalf("%s: got %+v", name, list)
	}
	return list[0].Run(t.Context(), json.RawMessage(input))
}

// overHTTP serves the real server with streamable HTTP, to those who show the key.
func overHTTP(t *testing.T) Server {
	t.Helper()
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return realServer() }, nil)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer s3cr3t" {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return Server{Name: "srv", URL: server.URL, Headers: map[string]string{"Authorization": "Bearer s3cr3t"}, Timeout: time.Minute}
}

// Results keep their order, and each part is what it can be for a model; over pipes and over HTTP alike.
func TestCall_results(t *testing.T) {
	t.Parallel()
	for way, s := range map[string]Server{"stdio": stdio(t, "real", time.Minute), "http": overHTTP(t)} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			h := hub(t, s)
			const head = "from outside"
			for name, want := range map[string][]string{
				"echo":       {head, "hello"},
				"mixed":      {head, "one", "IMAGE", "two", `[sound, "audio/wav", 5 bytes`, `[resource "x\ny" at "file:///x"`, `[resource "note://a"]`, "inside", `[resource "note://b"`, "cannot be shown: no picture"},
				"structured": {head, `{"n":1}`},
				"nothing":    {"returned nothing"},
			} {
				r := call(t, h, "srv."+name, `{"text":"hello"}`)
				var got []string
				for _, b := range r.Blocks {
					if _, isImage := b.(content.Image); isImage {
						got = append(got, "IMAGE")
						continue
					}
					got = append(got, b.Text())
				}
				if !slices.EqualFunc(got, want, strings.Contains) || !r.Success || !slices.Equal(r.Origins, []string{"mcp srv." + name}) {
					t.Errorf("%s: %q, want %q; %+v", name, got, want, r)
				}
			}
			for name, want := range map[string]string{"fails": "srv.fails: no such note", "breaks": "broken inside", "unknown": "has no tool unknown"} {
				if r := call(t, h, "srv."+name, `{}`); r.Success || !strings.Contains(r.Error, want) {
					t.Errorf("%s: %+v, want %q", name, r, want)
				}
			}
			for _, input := range []string{`{}`, `{"text": 5}`, `{"text": "a", "more": 1}`} {
				if r := call(t, h, "srv.echo", input); r.Success || !strings.Contains(r.Error, "does not fit") {
					t.Errorf("%s: %+v", input, r)
				}
			}
		})
	}
}

// A program gets the environment that it is given, and nothing of ours.
func TestProgram_environment(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "s3cr3t")
	h := hub(t, stdio(t, "real", time.Minute))
	text := call(t, h, "srv.environment", `{}`).Text()
	here, err := os.Getwd()
	if err != nil || strings.Contains(text, "s3cr3t") || strings.Contains(text, here) || !strings.Contains(text, "GIVEN=yes") {
		t.Errorf("%v\n%s", err, text)
	}
}

// Whatever a server does is the failure of one call, and the next one starts it again.
func TestCall_badServers(t *testing.T) {
	t.Parallel()
	patient, hasty := hub(t, stdio(t, "real", time.Minute)), hub(t, stdio(t, "real", time.Minute))
	hasty.servers["srv"].reach()
	hasty.servers["srv"].Timeout = 50 * time.Millisecond // of calls only: it runs
	for _, c := range []struct{ name, want string }{
		{"dies", "failed"}, {"echo", ""}, {"slow", "did not answer within 50ms"}, {"echo", ""}, {"floods", "failed"}, {"echo", ""},
	} {
		h := patient
		if c.name == "slow" {
			h = hasty
		}
		r := call(t, h, "srv."+c.name, `{"text":"hello"}`)
		if (c.want == "") != r.Success || !strings.Contains(r.Error, c.want) || len(r.Error) > 500 {
			t.Errorf("%s: %.200q %v", c.name, r.Error, r.Success)
		}
		if strings.Contains(r.Text(), "stderr-s3cr3t") {
			t.Errorf("%s: standard error stands in the result", c.name)
		}
	}
	for mode, want := range map[string]string{"silent": "did not answer within 300ms", "noise": "cannot be used"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			if r := call(t, hub(t, stdio(t, mode, 300*time.Millisecond)), "srv.echo", `{}`); r.Success || !strings.Contains(r.Error, want) {
				t.Errorf("%+v", r)
			}
		})
	}
	missing := hub(t, Server{Name: "srv", Command: []string{"/no/such/program"}})
	if r := call(t, missing, "srv.echo", `{}`); r.Success || !strings.Contains(r.Error, "program /no/such/program not found") {
		t.Errorf("%+v", r)
	}
	wrong := overHTTP(t)
	wrong.Headers = nil
	if r := call(t, hub(t, wrong), "srv.echo", `{}`); r.Success || !strings.Contains(r.Error, "cannot be used") {
		t.Errorf("%+v", r)
	}
}

func TestHub_permits(t *testing.T) {
	t.Parallel()
	open := stdio(t, "real", time.Minute)
	open.Deny = []string{"dies"}
	narrow := Server{Name: "narrow", URL: "http://127.0.0.1:1/", Allow: []string{"b", "a", "c"}, Deny: []string{"c"}}
	h := New([]Server{open, narrow}, Options{})
	t.Cleanup(h.Close)
	for name, want := range map[string]bool{"srv.echo": true, "srv.dies": false, "narrow.a": true, "narrow.c": false, "narrow.d": false, "other.a": false, "srv": false, "srv.": false} {
		if h.Permits(name) != want {
			t.Errorf("%s: want %v", name, want)
		}
	}
	if names, servers := h.Names(); !slices.Equal(names, []string{"narrow.a", "narrow.b"}) || !slices.Equal(servers, []string{"srv"}) {
		t.Errorf("names %q of %q", names, servers)
	}
	if got := h.Tools([]string{"srv.dies", "other.a"}); len(got) != 0 {
		t.Errorf("got %+v", got)
	}
	if h.servers["srv"].session != nil {
		t.Error("a server was started for nothing")
	}
}

func TestWireName(t *testing.T) {
	t.Parallel()
	taken := map[string]bool{}
	for _, tt := range [][2]string{{"srv", "echo"}, {"srv", "secret.tool"}, {"srv", "secret_tool"}, {"a", "b__c"}, {"a__b", "c"}, {"srv", strings.Repeat("x", 90)}, {"srv", "größe"}} {
		name := wireName(tt[0], tt[1], taken)
		if len(name) > maxName || taken[name] || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_-") != "" {
			t.Errorf("%v: %s", tt, name)
		}
		taken[name] = true
	}
	if !taken["srv__echo"] || !taken["srv__secret_tool"] {
		t.Errorf("names %v", taken)
	}
}

// A closed hub has ended its programs.
func TestHub_close(t *testing.T) {
	t.Parallel()
	h := New([]Server{stdio(t, "real", time.Minute)}, Options{})
	if r := call(t, h, "srv.echo", `{"text":"x"}`); !r.Success {
		t.Fatal(r.Error)
	}
	dead := h.servers["srv"].session.dead
	h.Close()
	select {
	case <-dead:
	case <-time.After(time.Minute):
		t.Error("the server lives on")
	}
	if r := h.servers["srv"].call(t.Context(), "echo", json.RawMessage(`{"text":"x"}`)); r.Success {
		t.Error("a closed hub starts servers")
	}
}

// An address and headers may hold tokens. They reach neither the model nor the log, whatever the failure says.
func TestCall_concealsTheAddress(t *testing.T) {
	t.Parallel()
	echo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, r.URL.String()+" "+r.Header.Get("Authorization"), http.StatusTeapot)
	}))
	t.Cleanup(echo.Close)
	for name, address := range map[string]string{"nobody there": "http://127.0.0.1:1/s3cr3t-path/mcp?token=s3cr3t", "it echoes": echo.URL + "/s3cr3t-path/mcp?token=s3cr3t"} {
		var log bytes.Buffer
		h := New([]Server{{Name: "srv", URL: address, Headers: map[string]string{"Authorization": "Bearer s3cr3t"}, Timeout: time.Minute}}, Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
		t.Cleanup(h.Close)
		text := fmt.Sprintf("%+v", call(t, h, "srv.x", "{}"))
		if text += log.String(); strings.Contains(text, "s3cr3t") || !strings.Contains(text, "cannot be used") {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// A tool of a server keeps the promises of our own. Its text has no bound here: the toolbox keeps a long one in a variable.
func TestTools_contract(t *testing.T) {
	t.Parallel()
	h := hub(t, stdio(t, "real", time.Minute))
	toolstest.Exercise(t, toolstest.Case{Tool: h.Tools([]string{"srv.echo"})[0], Input: `{"text":"hello"}`, Long: true})
}
