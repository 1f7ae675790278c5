//go:build unix

package main

import (
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/cmd/vaultflow/sitetest"
)

// A run says that it sent what was previewed, or names each difference: with serve and without.
func TestPreview_isCompared(t *testing.T) {
	t.Parallel()
	for _, serving := range []bool{false, true} {
		name := "alone"
		if serving {
			name = "serve"
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, "", "")
			s.write("Workflows/Look.md", "---\n---\n## A\n@input file: Note (images=auto)\n@model offline\n@output file: Out\nWhat is it?\n")
			s.write("Note.md", "One\n![[p.png]]\n![[q.jpg]]\n")
			whole := encodedAs(t, "png")
			s.Write("p.png", []byte(whole))
			s.Write("q.jpg", []byte(encodedAs(t, "jpg")))
			if serving {
				s.Serve()
			}
			check := func(want ...string) {
				t.Helper()
				out, errs, _ := s.CLI("run", "Look")
				for _, line := range want {
					if !strings.Contains(out, " "+line) {
						t.Errorf("no %q in\n%s%s", line, out, errs)
					}
				}
				_, list, differs := strings.Cut(out, "differs from the preview of ")
				if n := strings.Count(list, "\n      "); differs != (len(want) > 1) || n != len(want)-1 {
					t.Errorf("not exactly %q in\n%s", want, out)
				}
			}
			if out, errs, _ := s.CLI("run", "Look"); strings.Contains(out, "preview") {
				t.Errorf("without a preview:\n%s%s", out, errs)
			}
			digest := ""
			for _, line := range sitetest.Rows[promptLine](s.Site, "preview", "Look") {
				if line.Type == "prompt" {
					digest = line.Digest
				}
			}
			check("sent as previewed")
			if run := s.Runs("Look")[0]; digest == "" || run.Steps != nil && run.Steps[0].Sent.Digest != digest {
				t.Errorf("digest %q, sent %+v", digest, run.Steps)
			}
			s.write("Note.md", "Two\n![[p.png]]\n![[q.jpg]]\n")
			check("differs from the preview of", "note changed: Note.md")
			s.Must("preview", "Look")
			check("sent as previewed")
			s.Write("p.png", []byte(whole[:len(whole)/2]))
			s.Write("q.jpg", []byte(encodedAs(t, "jpg")+"x"))
			check("differs from the preview of", "picture torn: p.png", "picture changed: q.jpg")
			s.Write("p.png", []byte(whole))
			s.Must("preview", "Look")
			s.Write("settings.yaml", []byte(strings.Replace(s.Read("settings.yaml"), "\nweb:", "\npolicy: {budget: {max_images: 1}}\nweb:", 1)))
			check("differs from the preview of", "setting changed: max_images is 1, was 20", "text added: the tools on offer", "picture is deferred (max_images 1 reached), was sent: q.jpg")
		})
	}
}
