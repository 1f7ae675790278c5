package wire

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParseFailure(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   string
		want Failure
	}{
		{`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, Failure{Code: "overloaded_error", Message: "Overloaded"}},
		{`{"error":{"message":"no","type":"invalid_request_error","code":"invalid_value"}}`, Failure{Code: "invalid_value", Message: "no"}},
		{`{"error":"model \"x\" not found"}`, Failure{Message: `model "x" not found`}},
		{`{"object":"error","message":"bad","type":"t","code":3000}`, Failure{Code: "3000", Message: "bad"}},
		{`{"detail":[{"loc":["body"],"msg":"Extra inputs","input":"SECRET NOTE"},{"msg":"Field required"}]}`, Failure{Message: "Extra inputs; Field required"}},
		{`{"message":{"detail":[{"msg":"Extra inputs","input":"SECRET"}]}}`, Failure{Message: "Extra inputs"}},
		{`{"detail":"nope"}`, Failure{Message: "nope"}},
		{`[{"error":{"code":400,"message":"gem","status":"INVALID_ARGUMENT"}}]`, Failure{Code: "400", Message: "gem"}},
		{`{"error":{"code":400,"message":"Provider returned error","metadata":{"raw":"{\"error\":{\"message\":\"prompt is too long: 3 tokens > 2 maximum\"}}"}}}`, Failure{Code: "400", Message: "Provider returned error: prompt is too long: 3 tokens > 2 maximum"}},
		{`{"error":{"code":400,"message":"Provider returned error","metadata":{"raw":{"error":{"code":"context_length_exceeded","message":"too long"}}}}}`, Failure{Code: "context_length_exceeded", Message: "Provider returned error: too long"}},
		{"<html><title>502</title></html>", Failure{}},
		{"upstream timed out\nmore", Failure{Message: "upstream timed out"}},
		{"", Failure{}},
	} {
		if diff := cmp.Diff(c.want, ParseFailure([]byte(c.in))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.in, diff)
		}
	}
}

func TestEndpoint_cleansMessages(t *testing.T) {
	t.Parallel()
	e := Config{APIKey: "open sesame", Headers: map[string]string{"X-Team": "blue-team-token"}}.Endpoint("p", "", "")
	for in, want := range map[string]string{
		"key open sesame, team blue-team-token":           "key ***, team ***",
		"Incorrect API key provided: sk-abc***xyz9":       "Incorrect API key provided: ***",
		"url data:image/png;base64,AAAA is bad":           "url [data] is bad",
		"got " + strings.Repeat("aB3/", 100) + " there":   "got [data] there",
		"two\nlines\tand \x1b[31mcolour":                  "two lines and [31mcolour",
		strings.Repeat("word ", 300):                      strings.Repeat("word ", 120) + "…",
		"images/page_0001.png is too large, 4096x8192 px": "images/page_0001.png is too large, 4096x8192 px",
	} {
		if got := e.clean(in); got != want {
			t.Errorf("clean(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		header map[string]string
		want   time.Duration
	}{
		{nil, 0},
		{map[string]string{"Retry-After": "2"}, 2 * time.Second},
		{map[string]string{"Retry-After": "1.5"}, 1500 * time.Millisecond},
		{map[string]string{"Retry-After": "9", "Retry-After-Ms": "250"}, 250 * time.Millisecond},
		{map[string]string{"Retry-After": now.Add(time.Minute).Format(http.TimeFormat)}, time.Minute},
		{map[string]string{"Retry-After": now.Add(time.Minute).Format(http.TimeFormat), "Date": now.Add(50 * time.Second).Format(http.TimeFormat)}, 10 * time.Second},
		{map[string]string{"Retry-After": now.Add(-time.Minute).Format(http.TimeFormat)}, 0},
		{map[string]string{"Retry-After": "-5"}, 0},
		{map[string]string{"Retry-After": "NaN"}, 0},
		{map[string]string{"Retry-After": "soon"}, 0},
	} {
		h := make(http.Header)
		for key, value := range c.header {
			h.Set(key, value)
		}
		if got := retryAfter(h, now); got != c.want {
			t.Errorf("%v: got %v, want %v", c.header, got, c.want)
		}
	}
}

func TestServerEvents(t *testing.T) {
	t.Parallel()
	in := "\ufeff: hello\r\n\r\nevent: a\r\ndata: 1\r\ndata:2\r\n\r\nid: 7\n\ndata\n\ndata: last"
	var got []string
	for e, err := range ServerEvents(strings.NewReader(in)) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, e.Name+"="+string(e.Data))
	}
	if diff := cmp.Diff([]string{"a=1\n2", "=", "=last"}, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestLines_areBounded(t *testing.T) {
	t.Parallel()
	var last error
	for _, err := range Lines(strings.NewReader("short\n\n" + strings.Repeat("x", maxLine+1))) {
		last = err
	}
	if last == nil {
		t.Error("a line above the bound was read")
	}
}

func TestRaw_belongsToItsWireAndModel(t *testing.T) {
	t.Parallel()
	raw := PackRaw("w", "m", json.RawMessage(`[{"signature":"x","n":12345678901234567890}]`))
	if turn, ok := UnpackRaw(raw, "w", "m"); !ok || string(turn) != `[{"signature":"x","n":12345678901234567890}]` {
		t.Errorf("got %s, %v", turn, ok)
	}
	for _, other := range [][2]string{{"w", "n"}, {"v", "m"}} {
		if _, ok := UnpackRaw(raw, other[0], other[1]); ok {
			t.Errorf("the turn was given to %v", other)
		}
	}
	if _, ok := UnpackRaw(nil, "w", "m"); ok || PackRaw("w", "m", json.RawMessage("{")) != nil {
		t.Error("nothing became a turn")
	}
}

func TestConfig_neverPrintsItsKey(t *testing.T) {
	t.Parallel()
	c := Config{APIKey: "sk-very-secret"}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "config", c)
	for _, out := range []string{fmt.Sprintf("%v %+v %#v", c, c, c), log.String()} {
		if strings.Contains(out, "very") || !strings.Contains(out, "***") {
			t.Errorf("printed %s", out)
		}
	}
}
