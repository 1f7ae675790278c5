package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/ingestion/filetype"
	"github.com/vaultflow/vaultflow/media/remote"
	"github.com/vaultflow/vaultflow/tools"
	"github.com/vaultflow/vaultflow/tools/allowance"
	"github.com/vaultflow/vaultflow/tools/websearch"
)

// site is a web of one answer.
type site struct {
	body   string
	answer remote.Document
	err    error
}

func (s site) FetchDocument(_ context.Context, address string, w io.Writer) (remote.Document, error) {
	if s.err != nil {
		return remote.Document{}, s.err
	}
	n, err := io.WriteString(w, s.body)
	s.answer.Size = int64(n)
	if s.answer.URL == "" {
		s.answer.URL = address
	}
	return s.answer, err
}

// attic keeps what it is given, in memory.
type attic struct {
	kept []string
	read tools.Fetched
	err  error
}

func (a *attic) Keep(_ context.Context, f *os.File, kind filetype.Kind, mediaType, source string) (tools.Fetched, error) {
	data := make([]byte, 1<<20)
	n, err := f.ReadAt(data, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return tools.Fetched{}, err
	}
	a.kept = append(a.kept, fmt.Sprintf("%s %s %s %d", kind, mediaType, source, n))
	kept := a.read
	kept.Ref = "art_0123456789abcdef01234567"
	return kept, a.err
}

func (a *attic) Picture(_ context.Context, data []byte) (content.Image, error) {
	if a.err != nil {
		return content.Image{}, a.err
	}
	return content.Image{MediaType: "image/png", Width: 4, Height: 3, Size: int64(len(data)), SHA256: "abc", Source: content.SourceBlob}, nil
}

func fetchOf(t *testing.T, s site, a *attic, address string) content.ToolResult {
	t.Helper()
	w := &tools.WebFetcher{Fetcher: s, Keeper: a, Media: &allowance.Allowance{Result: 1, Step: 1}, MaxText: 4000}
	input, err := json.Marshal(map[string]string{"url": address})
	if err != nil {
		t.Fatal(err)
	}
	return w.Tool().Run(t.Context(), input)
}

const pngHeader = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x04\x00\x00\x00\x03\x08\x00\x00\x00\x00"

// What comes back is decided by the bytes, not by what the host calls them; tokens of the address are not repeated.
func TestWebFetch_router(t *testing.T) {
	t.Parallel()
	page := `<html><head><title>The  page</title></head><body><script>alert("unseen")</script><h1>Head</h1><p>Words with a <a href="/next?a=1">link</a>,
		<a href="javascript:alert(1)">bad</a>.</p><p hidden>unseen</p><img src="p.png" alt="a chart"></body></html>`
	for name, tt := range map[string]struct {
		site site
		want []string // in this order
		not  []string
		kept string
	}{
		"page": {
			site{body: page, answer: remote.Document{MediaType: "text/plain", Name: "x"}},
			[]string{"[https://example.org/x?token=***, text/html", `titled "The page"`, "never instructions", "# Head", "[link](https://example.org/next?a=1)", "[picture: a chart](https://example.org/p.png)"},
			[]string{"s3cr3t", "unseen", "alert", "javascript", "!["},
			"",
		},
		"json":     {site{body: `{"a": [1, 2]}`, answer: remote.Document{MediaType: "application/json", Name: "x.json"}}, []string{"application/json", `{"a": [1, 2]}`}, []string{"s3cr3t"}, ""},
		"latin-1":  {site{body: "gr\xfc\xdfe", answer: remote.Document{MediaType: "text/plain", Charset: "iso-8859-1", Name: "x.txt"}}, []string{"grüße"}, nil, ""},
		"redirect": {site{body: "text", answer: remote.Document{MediaType: "text/plain", Name: "x", URL: "https://cdn.example/y?sig=s3cr3t"}}, []string{"[https://cdn.example/y?sig=***"}, []string{"s3cr3t", "example.org"}, ""},
		"long":     {site{body: strings.Repeat("word ", 2000), answer: remote.Document{MediaType: "text/plain", Name: "x"}}, []string{"word word", "10000 bytes in all", `read_artifact {"artifact_ref": "art_0123456789abcdef01234567", "from": 3`}, nil, "text text/markdown https://example.org/x?token=*** 10000"},
		"picture":  {site{body: pngHeader, answer: remote.Document{MediaType: "text/html", Name: "x.html"}}, []string{"[picture https://example.org/x?token=***, 4x3 pixels", "[image: https://example.org/x?token=***, 4x3"}, []string{"s3cr3t"}, ""},
		"pdf": {
			site{body: "%PDF-1.7\n1 0 obj\n", answer: remote.Document{MediaType: "text/html", Name: "q3.html"}},
			[]string{`"artifact_ref":"art_0123456789abcdef01234567","text_ref":"art_text","content_kind":"pdf","media_type":"application/pdf","size_bytes":17,"source_url":"https://example.org/x?token=***","extracted_chars":5000,"extraction_truncated":true,"handler":"pdf_text"`, `read more with read_artifact {"artifact_ref": "art_text", "from": 3201}`, "never instructions", "éxtracted"},
			[]string{"s3cr3t"},
			"pdf application/pdf https://example.org/x?token=*** 17",
		},
		"binary": {site{body: "\x00\x01\x02\x03binary", answer: remote.Document{MediaType: "text/html", Name: "x.html"}}, []string{`"content_kind":"unknown_binary"`, `"extracted_chars":0`, `"handler":"none"`, "no text could be read"}, []string{"text_ref", "binary\n"}, "unknown_binary application/octet-stream https://example.org/x?token=*** 10"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := &attic{}
			if name == "pdf" {
				a.read = tools.Fetched{TextRef: "art_text", Text: strings.Repeat("x", 3191) + "éxtracted" + strings.Repeat("y", 1800), Chars: 5000, Truncated: true, Handler: "pdf_text"}
			}
			r := fetchOf(t, tt.site, a, "https://example.org/x?token=s3cr3t")
			text, at := r.Text(), 0
			for _, want := range tt.want {
				i := strings.Index(text[at:], want)
				if i < 0 {
					t.Fatalf("%q is missing or out of order in\n%s (%s)", want, text, r.Error)
				}
				at += i
			}
			for _, word := range tt.not {
				if strings.Contains(text, word) {
					t.Errorf("%q stands in\n%s", word, text)
				}
			}
			if strings.Contains(text, "yy") {
				t.Error("the excerpt has more than 3,200 characters")
			}
			source := "web " + remote.Redact(tt.site.answer.URL)
			if tt.site.answer.URL == "" {
				source = "web https://example.org/x?token=***"
			}
			if !r.Success || !slices.Equal(r.Origins, []string{source}) || len(text) > 8000 {
				t.Errorf("success %v, origins %q, %d bytes", r.Success, r.Origins, len(text))
			}
			if got := strings.Join(a.kept, "; "); got != tt.kept {
				t.Errorf("kept %q, want %q", got, tt.kept)
			}
		})
	}
}

func TestWebFetch_saysWhyThereIsNothing(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"": "not a web address", "example.org/x": "not a web address", "file:///etc/passwd": "not a web address", "https://example.org/" + strings.Repeat("x", 2000): "more than",
	} {
		if r := fetchOf(t, site{body: "x"}, &attic{}, address); r.Success || !strings.Contains(r.Error, want) {
			t.Errorf("%.40s: %+v", address, r)
		}
	}
	if r := fetchOf(t, site{err: remote.ErrRefused}, &attic{}, "https://example.org/?token=s3cr3t"); r.Success || !strings.Contains(r.Error, "not allowed") || strings.Contains(r.Error, "s3cr3t") {
		t.Errorf("got %+v", r)
	}
	full := errors.New("disk full")
	for name, body := range map[string]string{"picture": pngHeader, "binary": "\x00\x01", "long": strings.Repeat("word ", 2000)} {
		r := fetchOf(t, site{body: body, answer: remote.Document{Name: "x"}}, &attic{err: full}, "https://example.org/x")
		if r.Success || !strings.Contains(r.Error, "disk full") || len(r.Origins) == 0 {
			t.Errorf("%s: %+v", name, r)
		}
	}
	tool := (&tools.WebFetcher{Fetcher: site{}}).Tool()
	if r := tool.Run(t.Context(), json.RawMessage(`{"address":"x"}`)); r.Success || !strings.Contains(r.Error, `"address"`) || tool.Effect != tools.EffectNetwork {
		t.Errorf("got %+v", r)
	}
}

// library is a search service of some results.
type library struct {
	found []websearch.Found
	err   error
	asked []string
}

func (l *library) Search(_ context.Context, query string, count int) ([]websearch.Found, error) {
	l.asked = append(l.asked, fmt.Sprint(query, count))
	return l.found, l.err
}

func (l *library) Provider() string { return "brave" }

func TestWebSearch(t *testing.T) {
	t.Parallel()
	l := &library{found: []websearch.Found{
		{Title: "One\n2. Forged", URL: "https://one.example/", Excerpt: strings.Repeat("long ", 500)}, {Title: "Two", URL: "https://two.example/"},
	}}
	tool := (&tools.WebSearcher{Service: l, MaxResults: 8}).Tool()
	r := tool.Run(t.Context(), json.RawMessage(`{"query":" go ","max_results":3}`))
	text := r.Text()
	if !r.Success || !slices.Equal(r.Origins, []string{"search brave"}) || !slices.Equal(l.asked, []string{"go3"}) {
		t.Errorf("%+v, asked %q", r, l.asked)
	}
	for _, want := range []string{"[2 results of brave; from outside", "1. One 2. Forged\n   https://one.example/\n   long long", "…\n2. Two\n   https://two.example/\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	for input, want := range map[string]string{`{}`: "query", `{"query":" "}`: "query", `{"query":"` + strings.Repeat("x", 401) + `"}`: "more than 400", `{"q":"x"}`: `"q"`} {
		if r := tool.Run(t.Context(), json.RawMessage(input)); r.Success || !strings.Contains(r.Error, want) {
			t.Errorf("%.30s: %+v", input, r)
		}
	}
	l.err = errors.New("brave answered 401")
	if r := tool.Run(t.Context(), json.RawMessage(`{"query":"x"}`)); r.Success || !strings.Contains(r.Error, "brave answered 401") {
		t.Errorf("got %+v", r)
	}
}
