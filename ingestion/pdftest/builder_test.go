package pdftest_test

import (
	"bytes"
	"image/jpeg"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/image/tiff"

	"github.com/vaultflow/vaultflow/ingestion/pdftest"
)

func sample() *pdftest.Builder {
	return pdftest.New().PageSize(300, 220).Info("Prüfung", "A. Author").
		TextPage(append([]pdftest.Line{pdftest.Heading("A heading")}, pdftest.Text("First line (with brackets).", "", "Café – two.")...)...).Field(pdftest.TextField("name", "Filled in")).
		ScanPage("Scanned words").StampedScanPage("stamp 1", "More words").InvisibleTextScan([]string{"behind"}, "in front").
		BlankPage().TextPage(pdftest.Text("Turned")...).Rotated(90).Outline("Start", 1).Outline("Turned page", 6)
}

func TestBytes_crossReferencesPointAtObjects(t *testing.T) {
	t.Parallel()
	for name, pdf := range map[string][]byte{"plain": sample().Bytes(), "encrypted": sample().UserPassword("secret").Bytes(), "owner": sample().OwnerPasswordOnly().Bytes(), "lossless": sample().Lossless().ScanPage("x").Bytes(), "empty": pdftest.New().Bytes()} {
		if !bytes.HasPrefix(pdf, []byte("%PDF-1.7\n")) || !bytes.HasSuffix(pdf, []byte("%%EOF\n")) {
			t.Errorf("%s: header or end is missing", name)
		}
		start := regexp.MustCompile(`startxref\n(\d+)\n`).FindSubmatch(pdf)
		at, _ := strconv.Atoi(string(start[1]))
		if !bytes.HasPrefix(pdf[at:], []byte("xref\n")) {
			t.Fatalf("%s: startxref %d leads to %q", name, at, pdf[at:at+10])
		}
		for i, m := range regexp.MustCompile(`(\d{10}) 00000 n `).FindAllSubmatch(pdf[at:], -1) {
			offset, _ := strconv.Atoi(string(m[1]))
			if want := strconv.Itoa(i+1) + " 0 obj\n"; !bytes.HasPrefix(pdf[offset:], []byte(want)) {
				t.Errorf("%s: object %d is not at %d", name, i+1, offset)
			}
		}
	}
}

func TestBytes_areTheSameEachTime(t *testing.T) {
	t.Parallel()
	if !bytes.Equal(sample().Bytes(), sample().Bytes()) {
		t.Error("two builds differ")
	}
}

func TestBytes_hideWhatIsEncrypted(t *testing.T) {
	t.Parallel()
	if pdf := sample().UserPassword("secret").Bytes(); bytes.Contains(pdf, []byte("First line")) {
		t.Error("the text stands in the file in the clear")
	}
}

func TestPhoto_isAJPEG(t *testing.T) {
	t.Parallel()
	c, err := jpeg.DecodeConfig(bytes.NewReader(pdftest.Photo(600, 400, "Hello")))
	if err != nil || c.Width != 600 || c.Height != 400 {
		t.Errorf("got %d × %d, %v", c.Width, c.Height, err)
	}
}

func TestTIFF_isReadByOthers(t *testing.T) {
	t.Parallel()
	file := pdftest.TIFF(1, pdftest.Drawing(60, 40, 72, "a"), pdftest.Drawing(30, 20, 72, "b"))
	c, err := tiff.DecodeConfig(bytes.NewReader(file))
	if err != nil || c.Width != 60 || c.Height != 40 {
		t.Errorf("first page of %d × %d, %v", c.Width, c.Height, err)
	}
}

func TestScans_areOfTheKindAskedFor(t *testing.T) {
	t.Parallel()
	plain, fine := pdftest.New().ScanPage("x").Bytes(), pdftest.New().Resolution(300).Lossless().ScanPage("x").Bytes()
	for _, want := range []string{"/Width 1652", "/DCTDecode"} {
		if !bytes.Contains(plain, []byte(want)) || bytes.Contains(fine, []byte(want)) {
			t.Errorf("%s: in the plain file %v, in the fine one %v", want, bytes.Contains(plain, []byte(want)), bytes.Contains(fine, []byte(want)))
		}
	}
	if !bytes.Contains(fine, []byte("/Width 2479")) || !bytes.Contains(fine, []byte("/FlateDecode")) {
		t.Error("no lossless picture of 300 dpi")
	}
}

func TestHostile_filesStartLikePDF(t *testing.T) {
	t.Parallel()
	for name, pdf := range map[string][]byte{
		"count": pdftest.HugePageCount(), "giant": pdftest.GiantPage(), "truncated": pdftest.Truncated(), "rubbish": pdftest.Rubbish(),
	} {
		if !bytes.HasPrefix(pdf, []byte("%PDF-")) {
			t.Errorf("%s does not start like a PDF", name)
		}
	}
	if !bytes.Contains(pdftest.HugePageCount(), []byte("/Count 9999999999")) {
		t.Error("the huge count is missing")
	}
}

func TestBytes_pleaseOtherReaders(t *testing.T) {
	t.Parallel()
	plain, locked := filepath.Join(t.TempDir(), "plain.pdf"), filepath.Join(t.TempDir(), "locked.pdf")
	for path, data := range map[string][]byte{plain: sample().Bytes(), locked: sample().UserPassword("secret").Bytes()} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("qpdf", func(t *testing.T) {
		t.Parallel()
		run(t, "qpdf", "--check", plain)
		run(t, "qpdf", "--check", "--password=secret", "--allow-weak-crypto", locked)
	})
	t.Run("pdftotext", func(t *testing.T) {
		t.Parallel()
		for _, args := range [][]string{{plain, "-"}, {"-upw", "secret", locked, "-"}} {
			if out := run(t, "pdftotext", args...); !strings.Contains(out, "First line (with brackets).") || !strings.Contains(out, "Café – two.") {
				t.Errorf("pdftotext %v gave %q", args, out)
			}
		}
	})
}

// run starts a program that need not be installed.
func run(t *testing.T, program string, args ...string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Skipf("%s is not installed", program)
	}
	out, err := exec.CommandContext(t.Context(), path, args...).CombinedOutput()
	if err != nil {
		t.Errorf("%s: %v\n%s", program, err, out)
	}
	return string(out)
}
