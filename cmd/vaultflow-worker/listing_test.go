package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/pdftest"
)

// Programs and what they print, as people frame them.
var (
	programmed = "func sum(values []float64) (total float64) {\n\tfor _, v := range values {\n\t\ttotal += v\n\t}\n\n\treturn total\n}"
	listed     = "NAME      READY   STATUS    RESTARTS   AGE\nweb-7f9   1/1     Running   0          12d\ndb-0      1/1     Running   3          12d\ncache-1   0/1     Pending   0          5m"
	sizes      = "1024  4096  12288  /home\n 512  2048   8192  /var\n 256   128     64  /tmp\n  32    16      8  /srv"
)

// listing sets a text in Courier, from a place on. As TeX does, it sets words at their places and no blanks; as Word does, whole lines.
func listing(y float64, text string, numbered, words bool) (placed []pdftest.Placed, bottom float64) {
	const size, left, pitch = 9.0, 80.0, 11.0
	for i, line := range strings.Split(text, "\n") {
		line = strings.ReplaceAll(line, "\t", "    ")
		if numbered {
			placed = append(placed, pdftest.Placed{Text: fmt.Sprint(i + 1), X: left - 14, Y: y, Size: 5})
		}
		if !words {
			placed = append(placed, pdftest.Placed{Text: line, X: left, Y: y, Size: size, Mono: true})
		} else {
			at := 0
			for _, word := range strings.SplitAfter(line, " ") {
				if text := strings.TrimSpace(word); text != "" {
					placed = append(placed, pdftest.Placed{Text: text, X: left + 0.6*size*float64(at), Y: y, Size: size, Mono: true})
				}
				at += len(word)
			}
		}
		y += pitch
	}
	return placed, y
}

func TestWorker_keepsListings(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"program": programmed, "columns": listed, "numbers": sizes} {
		for _, setting := range []string{"framed by TeX", "framed by Word", "on grey", "on grey lines", "bare"} {
			tex := setting == "framed by TeX"
			numbered := tex && name == "program"
			code, bottom := listing(150, text, numbered, tex)
			lines := strings.Split(strings.ReplaceAll(text, "\t", "    "), "\n")
			for i, line := range lines {
				if numbered {
					lines[i] = strings.TrimRight(fmt.Sprintf("%d  %s", i+1, line), " ")
				}
			}
			placed := append(code, pdftest.Placed{Text: "Above it is a sentence that says what the listing does, and why.", X: 72, Y: 120},
				pdftest.Placed{Text: "Below it is another sentence, which goes on where that one ended.", X: 72, Y: bottom + 22})
			frame := pdftest.Rule{X0: 76, Y0: 140, X1: 520, Y1: bottom - 5}
			var rules []pdftest.Rule
			if strings.HasPrefix(setting, "framed") {
				top, bottom, left, right := frame, frame, frame, frame
				top.Y1, bottom.Y0, left.X1, right.X0 = frame.Y0, frame.Y1, frame.X0, frame.X1
				rules = []pdftest.Rule{top, bottom, left, right}
			}
			var grey []pdftest.Rule
			switch setting {
			case "on grey":
				grey = []pdftest.Rule{frame}
			case "on grey lines":
				for y := frame.Y0; y < frame.Y1-1; y += 11 {
					grey = append(grey, pdftest.Rule{X0: frame.X0, Y0: y, X1: frame.X1, Y1: y + 11})
				}
			}
			doc := pdftest.New().PlacedPage(placed, rules).Ground(0.9, grey...)
			if name == "numbers" && setting == "bare" {
				continue // a table as good as any
			}
			t.Run(name+" "+setting, func(t *testing.T) {
				t.Parallel()
				s, _ := opened(t, doc.Bytes(), extract.KindPDF)
				got := ask(t, s, extract.PageRequest{N: 1, Text: true}).Text.Markdown
				want := "```\n" + strings.Join(lines, "\n") + "\n```"
				if !strings.Contains(got, want) {
					t.Errorf("got\n%s\nwant\n%s", got, want)
				}
			})
		}
	}
}
