//go:build unix

package main

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"strings"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/engine"
)

// savedPage is a page as browsers save it, with the files that it names.
func savedPage(folder string, pictures ...string) string {
	var b strings.Builder
	b.WriteString("<html><head><title>A trip</title></head><body><article><h1>A trip</h1><p>" + strings.Repeat("We walked for days, and it rained. ", 30) + "</p>")
	for _, p := range pictures {
		fmt.Fprintf(&b, `<img src="./%s/%s" alt="%s">`, folder, p, p)
	}
	return b.String() + "<p>" + strings.Repeat("Then the sun came. ", 30) + "</p></article></body></html>"
}

// pictureOf returns a picture of one pixel that differs from those of other names.
func pictureOf(name string) string {
	dot := image.NewGray(image.Rect(0, 0, 1+len(name), 1))
	copy(dot.Pix, name)
	var b bytes.Buffer
	if err := png.Encode(&b, dot); err != nil {
		panic(err)
	}
	return b.String()
}

// A browser saves a page and its files one after the other, in any order and slowly: they are imported once, together.
func TestSavedPages_slow(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	s.serve()
	s.write("Import/Trip.html", savedPage("Trip_files", "lake.png", "hut.png"))
	s.write("Import/Tee-Dateien/tee.png", pictureOf("tee"))
	s.write("Import/attachments/cake.png", pictureOf("cake"))
	<-time.After(time.Second) // longer than the quiet period
	s.write("Import/Trip_files/lake.png", pictureOf("lake"))
	s.write("Import/Tee.htm", savedPage("Tee-Dateien", "tee.png"))
	s.write("Import/Cake.md", "# Cake\n\n![[attachments/cake.png]]\n")
	<-time.After(time.Second)
	s.write("Import/Trip_files/hut.png", pictureOf("hut"))
	for source, r := range s.ended(3) {
		if r.State != engine.ImportDone || len(s.Files(r.Bundle+"/assets", "")) == 0 {
			t.Errorf("%s: %s, %q", source, r.State, s.Files(r.Bundle, ""))
		}
	}
	if note := s.Read("Imported/Trip/Trip.md"); strings.Count(note, "](./assets/") != 2 {
		t.Errorf("the page lacks pictures:\n%s", note)
	}
}

// Files that arrive after their page or note was imported complete its bundle: there is no second one, and nothing is lost.
func TestSavedPages_filesAfterTheImport(t *testing.T) {
	t.Parallel()
	for _, hold := range []string{"0s", "10m"} {
		t.Run(hold, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, "", "")
			s.write("settings.yaml", strings.Replace(quick, "hold_period: 0s", "hold_period: "+hold, 1))
			s.write("settings.yaml", strings.Replace(s.Read("settings.yaml"), "stall_period: 2s", "stall_period: 1s", 1))
			d := s.serve()
			s.write("Import/Trip.html", savedPage("Trip_fichiers", "lake.png", "hut.png"))
			s.write("Import/Cake.md", "# Cake\n\n![[cake.png]]\n")
			s.ended(2)
			s.write("Import/Trip_fichiers/lake.png", pictureOf("lake"))
			s.write("Import/cake.png", pictureOf("cake"))
			s.ended(4)
			if hold != "0s" {
				d.stop()
				s.write("settings.yaml", strings.Replace(s.Read("settings.yaml"), "10m", "0s", 1))
				s.serve()
			}
			s.emptied()
			s.write("Import/Trip_fichiers/hut.png", pictureOf("hut"))
			s.ended(5)
			s.emptied()
			if note := s.Read("Imported/Trip/Trip.md"); strings.Count(note, "](./assets/") != 2 {
				t.Errorf("the page lacks pictures:\n%s\n%s", note, describe(s.Imports()))
			}
			if note := s.Read("Imported/Cake/Cake.md"); !strings.Contains(note, "![[./assets/cake.png]]") {
				t.Errorf("the note lacks its picture:\n%s\n%s", note, describe(s.Imports()))
			}
			for _, bundle := range s.Files("Imported", "manifest.json") {
				if !strings.HasPrefix(bundle, "Imported/Trip") && !strings.HasPrefix(bundle, "Imported/Cake") {
					t.Errorf("files were imported by themselves: %s", bundle)
				}
			}
		})
	}
}
