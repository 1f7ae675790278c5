package main

import (
	"bytes"
	"image"
	"image/jpeg"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/llm/llmtest"
)

// photo is a JPEG within all bounds that says where it was taken. Each shade is another picture.
func photo(t *testing.T, shade uint8) []byte {
	t.Helper()
	canvas := image.NewGray(image.Rect(0, 0, 80, 60))
	for i := range canvas.Pix {
		canvas.Pix[i] = shade + uint8(i%50)
	}
	var data bytes.Buffer
	if err := jpeg.Encode(&data, canvas, nil); err != nil {
		t.Fatal(err)
	}
	return llmtest.WithLocation(data.Bytes())
}

// TestPictures_leaveWithoutLocation sends photographs in a prompt, through a tool, and in the second turn again: the service gets
// pixels as the camera encoded them, and nothing else. The server fails the test for any metadata.
func TestPictures_leaveWithoutLocation(t *testing.T) {
	forAdapters(t, func(t *testing.T, adapter adapter) {
		call := calls("read_file", `{"path":"second.jpg"}`)
		call.Answer.Input = 2000 // enough for the picture, not too much for the smallest window
		b := newBench(t, adapter, "      capabilities: [text, vision, tools]\n", call, says("Seen."))
		b.write("first.jpg", string(photo(t, 10)))
		b.write("second.jpg", string(photo(t, 120)))
		b.write("Note.md", "![[first.jpg]]\n")
		b.write("Workflows/Look.md", "---\n---\n## Look\n@tools read_file\n@input file: Note (images=auto)\n@output file: Out\n\nWhat is there?\n")
		b.run(exitDone, "run", "Look")
		requests := b.server.Requests()
		if len(requests) != 2 {
			t.Fatalf("%d requests, want 2", len(requests))
		}
		var sent [][]byte
		for _, p := range requests[1].Parts {
			if p.Kind() == "image" {
				sent = append(sent, p.Data)
			}
		}
		if len(sent) != 2 {
			t.Fatalf("%d pictures in the second request, want 2", len(sent))
		}
		for i, shade := range []uint8{10, 120} {
			whole := photo(t, shade)
			if pixels := whole[len(whole)-len(sent[i])+2:]; !bytes.Equal(pixels, sent[i][2:]) {
				t.Errorf("picture %d was encoded again: %d bytes of %d", i+1, len(sent[i]), len(whole))
			}
		}
	})
}

// TestPictures_onlyMediaLoadsThem: adapters get the bytes of media from an llm.Loader, and package media removes metadata in each of
// its own. Another implementation would be a way around it.
func TestPictures_onlyMediaLoadsThem(t *testing.T) {
	t.Parallel()
	found := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(data, []byte("var _ llm.Loader = ")) {
			return err
		}
		found++
		wraps := filepath.ToSlash(path) == "../../step/sight.go" // it passes on what one of package media returns
		if dir := filepath.ToSlash(filepath.Dir(path)); dir != "../../media" && dir != "../../llm/llmtest" && !wraps {
			t.Errorf("%s has an llm.Loader: use one of package media", path)
		}
		return nil
	})
	if err != nil || found < 3 {
		t.Errorf("%d files with an llm.Loader, %v", found, err)
	}
}
