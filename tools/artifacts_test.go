package tools

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/content"
)

type readSeeker struct{ *strings.Reader }

func (readSeeker) Close() error { return nil }

func artifactReader(text string, most int) *ArtifactReader {
	return &ArtifactReader{Artifacts: []Artifact{{Ref: "art_1"}, {Ref: "art_gone"}}, MaxText: most, Open: func(ref string) (io.ReadSeekCloser, error) {
		if ref != "art_1" {
			return nil, errors.New("/secret/path")
		}
		return readSeeker{strings.NewReader(text)}, nil
	}}
}

func askArtifact(t *testing.T, r *ArtifactReader, input string) content.ToolResult {
	t.Helper()
	got := Registry{r.Tool()}.Run(t.Context(), content.ToolCall{ID: "id", Name: ReadArtifact, Input: json.RawMessage(input)})
	if n := len(got.Text()); n > r.room() {
		t.Errorf("%s: a result of %d bytes, above %d", input, n, r.room())
	}
	return got
}

func TestReadArtifact_everythingCanBeRead(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "short", strings.Repeat("x", 3000), strings.Repeat("aü💾", 1000)} {
		r, all, from := artifactReader(text, 700), "", 0
		for round := 0; ; round++ {
			if round > 1000 {
				t.Fatal("no end")
			}
			got := askArtifact(t, r, fmt.Sprintf(`{"artifact_ref":"art_1","from":%d}`, from)).Text()
			_, body, _ := strings.Cut(got, "]\n")
			body, next, goesOn := strings.Cut(body, "\n[more: call again with from=")
			all += body
			if !goesOn {
				break
			}
			if _, err := fmt.Sscanf(next, "%d]", &from); err != nil {
				t.Fatal(err)
			}
		}
		if all != text {
			t.Errorf("read %d bytes of %d, or others", len(all), len(text))
		}
	}
}

func TestReadArtifact_says(t *testing.T) {
	t.Parallel()
	text := "The quick brown fox.\n" + strings.Repeat("padding ", 100) + "Another Fox here."
	for input, want := range map[string]string{
		`{"artifact_ref":"art_1","from":4,"to":9}`:                   "bytes 4 to 9 of 838]\nquick\n",
		`{"artifact_ref":"art_1","search":"FOX"}`:                    "[at 16] … The quick brown fox.",
		`{"artifact_ref":"art_1","search":"fox","from":20}`:          "[at 829] …",
		`{"artifact_ref":"art_1","search":"fox","from":20,"to":100}`: "not found between 20 and 100",
		`{"artifact_ref":"art_1","search":"wolf"}`:                   "not found between 0 and 838",
	} {
		if got := askArtifact(t, artifactReader(text, 0), input); !got.Success || !strings.Contains(got.Text(), want) {
			t.Errorf("%s: %q %s, want %q", input, got.Text(), got.Error, want)
		}
	}
	for input, want := range map[string]string{
		`{}`: "there are: art_1", `{"artifact_ref":"../x"}`: "there is no artifact", `{"artifact_ref":"art_gone"}`: "no longer exists",
		`{"artifact_ref":"art_1","from":-1}`: "not be negative", `{"artifact_ref":"art_1","from":5,"to":5}`: "be above from",
		`{"artifact_ref":"art_1","from":9999}`: "ends at 838", `{"artifact_ref":5}`: "for example: {",
		`{"artifact_ref":"art_1","search":"` + strings.Repeat("x", 201) + `"}`: "at most 200 bytes",
	} {
		got := askArtifact(t, artifactReader(text, 0), input)
		if got.Success || !strings.Contains(got.Error, want) || strings.Contains(got.Error, "secret") {
			t.Errorf("%s: %q, want %q", input, got.Error, want)
		}
	}
	if got := askArtifact(t, artifactReader("%PDF-1.7\x00\xff\xfe", 0), `{"artifact_ref":"art_1"}`); !strings.Contains(got.Error, "not text") {
		t.Errorf("binary: %+v", got)
	}
}

func TestReadArtifact_boundsHits(t *testing.T) {
	t.Parallel()
	got := askArtifact(t, artifactReader(strings.Repeat("fox ", 1000), 0), `{"artifact_ref":"art_1","search":"fox"}`).Text()
	if n := strings.Count(got, "[at "); n != maxHits || !strings.Contains(got, fmt.Sprintf("from=%d]", maxHits*4)) {
		t.Errorf("%d hits: %s", n, got)
	}
}

func FuzzReadArtifact(f *testing.F) {
	f.Add("text ü", `{"artifact_ref":"art_1","from":1}`)
	f.Add("\xff\xfe", `{"artifact_ref":"art_1","search":"e","to":1}`)
	f.Fuzz(func(t *testing.T, text, input string) {
		askArtifact(t, artifactReader(text, 600), input)
	})
}
