package main

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/daemon"
	"github.com/vaultflow/vaultflow/daemon/control"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/ingestion/pdftest"
	"github.com/vaultflow/vaultflow/llm/llmtest"
	"github.com/vaultflow/vaultflow/media/remote"
	"github.com/vaultflow/vaultflow/tools"
)

// sites answers for addresses without a network, under the policy of a run.
type sites struct {
	policy   remote.Policy
	contents map[string][]byte // by address
}

func (s sites) FetchDocument(_ context.Context, address string, w io.Writer) (remote.Document, error) {
	if err := s.policy.Check(address); err != nil {
		return remote.Document{}, err
	}
	n, err := w.Write(s.contents[address])
	return remote.Document{MediaType: "text/html", Name: "index.html", URL: address, Size: int64(n)}, err
}

// A PDF of the web becomes an artifact whose text the real worker reads and read_artifact gives in parts; a picture is decoded
// there and encoded anew, without what a camera wrote into it. The artifacts are those of the run, and no token of an address
// is kept but in the model's own call.
func TestWebFetch_withTheWorker(t *testing.T) {
	path := worker(t)
	t.Setenv("LAB_KEY", llmtest.Key)
	picture := image.NewRGBA(image.Rect(0, 0, 60, 40))
	picture.Set(3, 3, color.White)
	var photo bytes.Buffer
	if err := jpeg.Encode(&photo, picture, nil); err != nil {
		t.Fatal(err)
	}
	tagged := append([]byte("\xff\xd8\xff\xfe\x00\x0cGPS-s3cr3t"), photo.Bytes()[2:]...) // a comment behind the first mark
	pdf := pdftest.New()
	for n := range 3 {
		pdf.TextPage(pdftest.Text(fmt.Sprintf("Chapter %d of the report.", n+1))...)
	}
	b := newBench(t, adapters()[0], "      capabilities: [text, vision, tools]\n",
		calls("web_fetch", `{"url":"https://example.org/q3?token=t0ken"}`, "web_fetch", `{"url":"https://example.org/photo"}`),
		calls("web_fetch", `{"url":"https://example.org/photo"}`), llmtest.Reply{Answer: llmtest.Answer{Deltas: []string{"Read."}, Input: 20000, Output: 5}})
	for key, value := range environment(b.dir) {
		t.Setenv(key, value)
	}
	data, err := os.ReadFile(filepath.Join(b.dir, "vault", "settings.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	b.write("settings.yaml", string(data)+fmt.Sprintf("ingestion: {worker: %q}\n", path))
	b.write("Workflows/Read.md", "---\npermissions: {network: [example.org]}\n---\n## Read\n@tools web_fetch\n@output file: Out\n\nWhat is there?\n")
	var log bytes.Buffer
	g := &globals{streams: &streams{out: io.Discard, err: &log}, vault: filepath.Join(b.dir, "vault"), stateDir: filepath.Join(b.dir, "state")}
	o, err := g.options(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	o.Web.Pages = func(p remote.Policy) tools.Fetcher {
		return sites{p, map[string][]byte{"https://example.org/q3?token=t0ken": pdf.Bytes(), "https://example.org/photo": tagged}}
	}
	a, err := daemon.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	w, err := a.Work(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	err = w.Run(t.Context(), func(ctx context.Context) error {
		run, err := w.Runs.Start(ctx, control.RunOrder{Workflow: "Read"})
		if err != nil {
			return err
		}
		r, err := followRun(stopping{ctx, ctx}, g, w.Journal, followed{run: run, wait: w.Exec.Wait})
		if err != nil || r.Status != engine.Done {
			t.Errorf("the run is %s: %+v, %v", r.Status, r.Failure, err)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	requests := b.server.Requests()
	if len(requests) != 3 {
		t.Fatalf("%d requests, want 3", len(requests))
	}
	said := texts(requests[1].Parts)
	for _, want := range []string{`"content_kind":"pdf","media_type":"application/pdf"`, `"source_url":"https://example.org/q3?token=***"`, `"extraction_truncated":false,"handler":"pdf_text"`, "Chapter 3 of the report.", "from outside: data"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not on the wire:\n%s", want, said)
		}
	}
	if images(requests[1].Parts) != 1 || !strings.Contains(texts(requests[2].Parts), "blocked: it reaches the network") {
		t.Errorf("%d pictures, then\n%s", images(requests[1].Parts), texts(requests[2].Parts))
	}
	for _, p := range requests[1].Parts {
		if bytes.Contains(p.Data, []byte("s3cr3t")) {
			t.Error("what the camera wrote is on the wire")
		}
	}
	manifest, err := os.ReadFile(filepath.Join(b.dir, "state", "artifacts", "manifest.jsonl"))
	if err != nil || strings.Count(string(manifest), "\n") != 2 || strings.Contains(string(manifest), "t0ken") || !strings.Contains(string(manifest), `"scope":"workflow:Read"`) {
		t.Errorf("%v\n%s", err, manifest)
	}
	if strings.Contains(log.String(), "t0ken") || !strings.Contains(log.String(), "blocked") {
		t.Errorf("log:\n%s", log.String())
	}
}
