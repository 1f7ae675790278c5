package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/ingestion/phototest"
	"golang.org/x/text/unicode/norm"
)

// The simulated photographs: a fixed series.
const (
	photoCount = 60
	photoSeed  = 1
	photoBad   = .1 // a character error rate above this has to be marked as doubtful
)

// photos measures the recognition of simulated photographs.
func (r *run) photos(ctx context.Context, _ string, h half) error {
	dir, err := os.MkdirTemp(r.reader.scratch, "photos-")
	if err != nil {
		return err
	}
	texts := map[string]string{}
	var files []document
	for i := uint64(1); i <= photoCount; i++ {
		photo, err := phototest.Make(photoSeed, i)
		if err != nil {
			return err
		}
		f := document{path: filepath.Join(dir, fmt.Sprintf("%03d.jpg", i)), name: fmt.Sprintf("%03d", i), sha256: photo.SHA256, half: half(photo.Half)}
		if f.half != h {
			continue
		}
		if err := os.WriteFile(f.path, photo.JPEG, 0o600); err != nil {
			return err
		}
		about, err := json.Marshal(photo.Camera)
		if err != nil {
			return err
		}
		r.detail(h, "photos %s: %s %s, %s", f.name, photo.Language, photo.Kind, about)
		files, texts[f.sha256] = append(files, f), photo.Text
	}
	got, err := r.reader.read(ctx, "photos", files)
	if err != nil {
		return err
	}
	var rates []float64
	bad, silent := 0, 0
	for _, f := range files {
		doc := got[f.sha256]
		rate := errorRate(texts[f.sha256], doc.text())
		doubtful := len(doc.m.Doubtful()) > 0
		rates = append(rates, rate)
		if rate > photoBad {
			bad++
			if !doubtful {
				silent++
			}
		}
		r.detail(h, "photos %s: CER %.3f, doubtful: %v", f.name, rate, doubtful)
	}
	r.report.add(h, "photos: median CER", ours, median(rates), len(rates))
	r.report.add(h, "photos: share above .1", ours, share(bad, len(rates)), len(rates))
	r.report.add(h, "photos: share above .1, not doubtful", ours, share(silent, len(rates)), len(rates))
	return nil
}

// errorRate is the share of the letters of a text that have to be changed, at most 1. White space is folded, and quotes and
// dashes count as their plain forms.
func errorRate(want, markdown string) float64 {
	w, g := []rune(typed(want)), []rune(typed(plainText(markdown)))
	return min(1, float64(edits(w, g))/float64(max(len(w), 1)))
}

func typed(s string) string {
	return strings.Join(strings.Fields(fancy.Replace(norm.NFKC.String(s))), " ")
}

func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
