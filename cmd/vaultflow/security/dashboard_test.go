//go:build linux

package security

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// address returns the dashboard's, without any way of signing in.
func (s *scene) address() string {
	s.t.Helper()
	var line struct{ URL string }
	out := s.run(0, "serve", "--url", "--json")
	if err := json.Unmarshal([]byte(out), &line); err != nil {
		s.t.Fatalf("serve --url --json: %v\n%s", err, out)
	}
	i := strings.Index(line.URL, "://")
	host, _, _ := strings.Cut(line.URL[i+3:], "/")
	return "http://" + host
}

// Another account of the machine reaches the port and knows nothing.
func TestDashboard_isSomebodys(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.workflow("Ask", "## Write\n@input file: Home.md\n@output file: Wanted\n@approve outputs\n\nSummarise.\n")
	s.serve()
	s.run(anyCode, "run", "Ask")
	base := s.address()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for _, path := range []string{
		"/", "/approvals", "/runs/x", "/imports/x", "/live", "/media/Attachments/vaultflow.png", "/api/v1/runs", "/api/v1/workflows", "/api/v1/status", "/api/v1/approvals",
		"/api/v1/imports", "/api/v1/health", "/api/v1/events", "//static/x", "/static/../approvals", "/api/v1/runs/static/", "/login/../approvals", "/healthz/../api/v1/runs", "/trust", "/tokens", "/sessions",
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
		resp.Body.Close()
		if resp.StatusCode == http.StatusOK || strings.Contains(string(body), "Wanted") || strings.Contains(string(body), "Diary") {
			t.Errorf("GET %s: %s without signing in", path, resp.Status)
		}
	}
	runs := s.run(0, "runs", "--json", "--limit", "1")
	var run struct{ ID string }
	if err := json.Unmarshal([]byte(runs), &run); err != nil {
		t.Fatal(err)
	}
	for _, post := range []string{"/workflows/run", "/approvals/" + run.ID, "/api/v1/approvals/" + run.ID, "/api/v1/runs", "/runs/" + run.ID + "/cancel", "/runs/" + run.ID + "/undo", "/upload"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+post, strings.NewReader(`{"approve":true,"items":[1],"workflow":"Ask"}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode < 300 || resp.StatusCode == http.StatusNotFound {
			t.Errorf("POST %s: %s without signing in", post, resp.Status)
		}
	}
	s.serveHasLooked()
	if s.read("Wanted.md") != "" {
		t.Error("it was approved without signing in")
	}
}

// Wrong tokens are answered more and more slowly.
func TestDashboard_wrongTokensWait(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.serve()
	base := s.address()
	began, tries := time.Now(), 0
	for ; tries < 200 && time.Since(began) < 3*time.Second; tries++ {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/api/v1/runs", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", fmt.Sprintf("Bearer guess-%d-0123456789", tries))
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode == http.StatusTooManyRequests {
			return
		}
	}
	if tries == 200 {
		t.Error("200 wrong tokens were answered within 3 s, none of them with a delay")
	}
}

// Bodies that never end do not fill the daemon up.
func TestDashboard_slowBodies(t *testing.T) {
	t.Parallel()
	if os.Getenv("VAULTFLOW_LONG") == "" {
		t.Skip("takes as long as a body may: VAULTFLOW_LONG=1")
	}
	s := newScene(t)
	s.serve()
	base := strings.TrimPrefix(s.address(), "http://")
	var open []net.Conn
	for range 3000 {
		conn, err := net.Dial("tcp", base)
		if err != nil {
			break
		}
		defer conn.Close()
		fmt.Fprintf(conn, "POST /upload HTTP/1.1\r\nHost: %s\r\nContent-Length: 1000000\r\nContent-Type: multipart/form-data; boundary=x\r\n\r\n--x", base)
		open = append(open, conn)
	}
	s.until("the slow bodies are ended", func() bool {
		left := 0
		for _, conn := range open {
			if err := conn.SetReadDeadline(time.Now().Add(time.Millisecond)); err != nil {
				continue
			}
			if _, err := io.Copy(io.Discard, conn); os.IsTimeout(err) {
				left++
			}
		}
		return left == 0
	})
	s.run(0, "status")
}

// Nothing of the state is readable for others, also in a folder that was open before.
func TestState_isPrivate(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.put(filepath.Join(s.dir, "state", "state.db-journal"), "")
	if err := os.Chmod(filepath.Join(s.dir, "state"), 0o777); err != nil {
		t.Fatal(err)
	}
	s.workflow("Look", "## Look\n@input file: Home.md\n@output file: Seen\n\nLook.\n")
	s.serve()
	s.run(0, "run", "Look")
	s.serveHasLooked()
	err := filepath.WalkDir(filepath.Join(s.dir, "state"), func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return unlessGone(err)
		}
		info, err := d.Info()
		if err == nil && !d.IsDir() && info.Mode().Perm()&0o077 != 0 && d.Name() != "state.db-journal" {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return unlessGone(err)
	})
	if err != nil {
		t.Fatal(err)
	}
}
