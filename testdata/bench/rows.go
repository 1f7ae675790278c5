package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/draw"
	_ "image/jpeg" // a decoder of page pictures
	"image/png"
	"io"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/vaultflow/vaultflow/ingestion/pdftest"
)

// vault returns a command's preparation, which makes a fresh vault, and the arguments that name it.
func (b *bench) vault(name string) (fresh func() error, args []string) {
	vault, state := filepath.Join(b.scratch, name), filepath.Join(b.scratch, name+"-state")
	return func() error {
		return errors.Join(b.aside(vault), b.aside(state), os.MkdirAll(filepath.Join(vault, ".obsidian"), 0o755))
	}, []string{"--vault", vault, "--state-dir", state}
}

// aside moves a folder out of the way, if there is one. It is removed at the end only: ext4 takes longer to make files while it remembers
// many that were just removed.
func (b *bench) aside(dir string) error {
	b.old++
	err := os.Rename(dir, filepath.Join(b.scratch, fmt.Sprintf("old%d", b.old)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// unread keeps recognition out of a comparison with programs that do not recognise.
var unread = []string{"VAULTFLOW_INGESTION_PDF_STRATEGIES=pdf_text"}

// imported returns the command that imports a document into a fresh vault.
func (b *bench) imported(d document, mode string) *command {
	fresh, args := b.vault("vault")
	return &command{name: "vaultflow import --mode " + mode, before: fresh, run: program(unread, b.program(), append(args, "import", "--mode", mode, d.path)...)}
}

// longest is ingestion.pdf.max_side, in pixels: both programs draw larger pages smaller.
const longest = "2000"

// drawing compares whole imports with drawing alone, and with drawing and reading.
func (b *bench) drawing(ctx context.Context, documents []document) error {
	fmt.Print("Whole import, pictures at 150 dpi; ms, median (fastest to slowest)\n\n| document | command | vaultflow | peer | ratio | peer |\n|---|---|--:|--:|--:|---|\n")
	var sizes []string
	for _, d := range documents {
		out := filepath.Join(b.scratch, "mutool")
		empty := func() error { return errors.Join(b.aside(out), os.MkdirAll(out, 0o755)) }
		drawn := program(nil, "mutool", "draw", "-q", "-r", "150", "-w", longest, "-h", longest, "-o", filepath.Join(out, "%d.png"), d.path)
		text := program(nil, "mutool", "convert", "-F", "text", "-o", filepath.Join(out, "text.txt"), d.path)
		draws := &command{name: "mutool draw", before: empty, run: drawn}
		both := &command{name: "mutool draw and convert", before: empty, run: func(ctx context.Context) error { return errors.Join(drawn(ctx), text(ctx)) }}
		pictures, hybrid := b.imported(d, "page_images"), b.imported(d, "hybrid")
		if err := b.measure(ctx, draws, both, hybrid, pictures); err != nil {
			return fmt.Errorf("%s: %w", d.name, err)
		}
		line(d.name, pictures, draws)
		line(d.name, hybrid, both)
		row, err := compared(filepath.Join(b.scratch, "vault", "Imported"), out)
		if err != nil {
			return fmt.Errorf("%s: %w", d.name, err)
		}
		sizes = append(sizes, "| "+d.name+" "+row)
	}
	fmt.Printf("\nThe same pictures: bytes, and SSIM against mutool's on every 20th page\n\n| document | files | bytes | of mutool's | lowest SSIM |\n|---|--:|--:|--:|--:|\n%s\n\n", strings.Join(sizes, "\n"))
	return nil
}

// compared compares the page pictures of a vault with mutool's.
func compared(imported, mutool string) (string, error) {
	var ours []string
	err := filepath.WalkDir(imported, func(path string, _ fs.DirEntry, err error) error {
		if filepath.Base(filepath.Dir(path)) == "pages" {
			ours = append(ours, path)
		}
		return err
	})
	slices.Sort(ours) // page_0001 and so on
	var bytes, theirs int64
	lowest := 1.0
	for i, path := range ours {
		peer := filepath.Join(mutool, fmt.Sprint(i+1)+".png")
		a, errA := os.Stat(path)
		b, errB := os.Stat(peer)
		if err := errors.Join(err, errA, errB); err != nil {
			return "", err
		}
		bytes, theirs = bytes+a.Size(), theirs+b.Size()
		if i%20 == 0 {
			s, err := similarity(path, peer)
			if err != nil {
				return "", err
			}
			lowest = min(lowest, s)
		}
	}
	return fmt.Sprintf("| %d | %d | %.2f | %.4f |", len(ours), bytes, float64(bytes)/float64(theirs), lowest), err
}

// similarity returns the structural similarity (Wang and others, 2004) of two pictures in grey, over windows of 8 × 8 pixels.
func similarity(a, b string) (float64, error) {
	x, err := grey(a)
	if err != nil {
		return 0, err
	}
	y, err := grey(b)
	if err != nil {
		return 0, err
	}
	if d := x.Rect.Size().Sub(y.Rect.Size()); max(d.X, -d.X, d.Y, -d.Y) > 2 { // other pictures
		return 0, nil
	}
	const side, c1, c2 = 8, 6.5025, 58.5225
	sum, windows := 0.0, 0.0
	for top := 0; top+side <= min(x.Rect.Dy(), y.Rect.Dy()); top += side {
		for left := 0; left+side <= min(x.Rect.Dx(), y.Rect.Dx()); left += side {
			var sx, sy, sxx, syy, sxy float64
			for i := range side * side {
				p, q := float64(x.GrayAt(left+i%side, top+i/side).Y), float64(y.GrayAt(left+i%side, top+i/side).Y)
				sx, sy, sxx, syy, sxy = sx+p, sy+q, sxx+p*p, syy+q*q, sxy+p*q
			}
			const n = side * side
			mx, my := sx/n, sy/n
			vx, vy, cov := sxx/n-mx*mx, syy/n-my*my, sxy/n-mx*my
			sum += (2*mx*my + c1) * (2*cov + c2) / ((mx*mx + my*my + c1) * (vx + vy + c2))
			windows++
		}
	}
	return sum / math.Max(windows, 1), nil
}

func grey(path string) (*image.Gray, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	img, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	out := image.NewGray(image.Rect(0, 0, img.Bounds().Dx(), img.Bounds().Dy()))
	draw.Draw(out, out.Rect, img, img.Bounds().Min, draw.Src)
	return out, nil
}

// recognising compares the import of scans, words with boxes included, with tesseract, which gets the pages as pictures.
func (b *bench) recognising(ctx context.Context, documents []document) error {
	if _, err := exec.LookPath("tesseract"); err != nil {
		fmt.Println("tesseract is not installed: recognition is not compared")
		return nil
	}
	fmt.Print("Words with boxes of scanned pages; tesseract gets them as pictures at 300 dpi\n\n| document | command | vaultflow | peer | ratio | peer |\n|---|---|--:|--:|--:|---|\n")
	for _, d := range chosen(documents, document.isScan) {
		pages := filepath.Join(b.scratch, "words")
		if err := errors.Join(b.aside(pages), os.MkdirAll(pages, 0o755), program(nil, "mutool", "draw", "-q", "-r", "300", "-o", filepath.Join(pages, "%d.png"), d.path)(ctx)); err != nil {
			return err
		}
		page := func(env []string, n int) func(context.Context) error {
			return program(env, "tesseract", filepath.Join(pages, fmt.Sprint(n)+".png"), filepath.Join(pages, fmt.Sprint(n)), "-l", "eng", "hocr")
		}
		plain := &command{name: "tesseract", run: func(ctx context.Context) error {
			for n := range d.pages {
				if err := page(nil, n+1)(ctx); err != nil {
					return err
				}
			}
			return nil
		}}
		tuned := &command{name: "tesseract, one thread each, as many as processors", run: func(ctx context.Context) error {
			group, ctx := errgroup.WithContext(ctx)
			group.SetLimit(runtime.NumCPU())
			for n := range d.pages {
				group.Go(func() error { return page([]string{"OMP_THREAD_LIMIT=1"}, n+1)(ctx) })
			}
			return group.Wait()
		}}
		fresh, args := b.vault("vault")
		ours := &command{name: "vaultflow import", before: fresh, run: program(nil, b.program(), append(args, "import", "--languages", "eng", d.path)...)}
		if err := b.measure(ctx, plain, tuned, ours); err != nil {
			return err
		}
		line(d.name, ours, plain)
		line(d.name, ours, tuned)
	}
	fmt.Println()
	return nil
}

// twoCores compares all processors with one.
func (b *bench) twoCores(ctx context.Context, documents []document) error {
	if _, err := exec.LookPath("taskset"); err != nil || runtime.NumCPU() < 2 {
		return nil
	}
	fmt.Print("Two processors and one\n\n| document | command | two | one | ratio | peer |\n|---|---|--:|--:|--:|---|\n")
	for _, d := range chosen(documents, func(d document) bool { return d.pages >= 100 && !d.isScan() }) {
		pinned := func(processors string) *command {
			fresh, args := b.vault("vault")
			args = append([]string{"-c", processors, b.program()}, append(args, "import", "--mode", "page_images", d.path)...)
			return &command{name: "taskset -c " + processors, before: fresh, run: program(unread, "taskset", args...)}
		}
		one, two := pinned("0"), pinned("0,1")
		if err := b.measure(ctx, one, two); err != nil {
			return err
		}
		line(d.name, two, one)
	}
	fmt.Println()
	return nil
}

// quiet is vault.quiet_period while a letter is dropped, the shortest there is.
const quiet = 100 * time.Millisecond

// warm measures letters with a daemon that runs already: until a command ends that imports one, and until the bundle of a dropped one is there.
func (b *bench) warm(ctx context.Context, documents []document) error {
	d, err := b.serve(ctx, "warm", "VAULTFLOW_VAULT_QUIET_PERIOD="+quiet.String(), "VAULTFLOW_INGESTION_MODE=page_images")
	if err != nil {
		return err
	}
	defer d.stop()
	fmt.Print("Letters, with a daemon that runs\n\n| document | command | vaultflow | peer | ratio | peer |\n|---|---|--:|--:|--:|---|\n")
	n := 0
	for _, letter := range chosen(documents, func(d document) bool { return d.pages <= 2 && !d.isScan() }) {
		data, err := os.ReadFile(letter.path)
		if err != nil {
			return err
		}
		path := ""
		next := func() error { // each is another document, so that none counts as a duplicate
			n++
			path = filepath.Join(b.scratch, fmt.Sprintf("letter%d.pdf", n))
			return os.WriteFile(path, append(bytes.Clone(data), fmt.Sprintf("\n%%%d\n", n)...), 0o600)
		}
		ours := &command{name: "vaultflow import", before: next, run: func(ctx context.Context) error {
			return program(nil, b.program(), append(slices.Clone(d.args), "import", "--mode", "page_images", path)...)(ctx)
		}}
		peer := &command{name: "mutool draw", run: func(ctx context.Context) error {
			return program(nil, "mutool", "draw", "-q", "-r", "150", "-o", filepath.Join(b.scratch, "letter%d.png"), path)(ctx)
		}}
		dropped := &command{name: fmt.Sprintf("dropped, %v of vault.quiet_period included", quiet), before: next, run: func(ctx context.Context) error {
			name := filepath.Base(path)
			if err := os.Rename(path, filepath.Join(d.vault, "Import", name)); err != nil {
				return err
			}
			return appears(ctx, filepath.Join(d.vault, "Imported", strings.TrimSuffix(name, ".pdf"), "manifest.json"))
		}}
		if err := b.measure(ctx, ours, peer, dropped); err != nil {
			return err
		}
		line(letter.name, ours, peer)
		line(letter.name, dropped, peer)
	}
	fmt.Println()
	return nil
}

// serving is a daemon that runs.
type serving struct {
	vault string
	args  []string // that name its vault
	pid   int
	stop  func()
}

// serve starts a daemon in a fresh vault, and waits until it answers.
func (b *bench) serve(ctx context.Context, name string, env ...string) (serving, error) {
	fresh, args := b.vault(name)
	if err := fresh(); err != nil {
		return serving{}, err
	}
	cmd := exec.CommandContext(ctx, b.program(), append(slices.Clone(args), "serve", "--listen", "127.0.0.1:0")...)
	cmd.Env = append(os.Environ(), env...)
	said, err := cmd.StderrPipe()
	if err != nil {
		return serving{}, err
	}
	if err := cmd.Start(); err != nil {
		return serving{}, err
	}
	go io.Copy(io.Discard, bufio.NewReader(said)) //nolint:errcheck // it ends with the daemon
	for range 100 {
		if program(nil, b.program(), append(slices.Clone(args), "serve", "--url")...)(ctx) == nil {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	return serving{filepath.Join(b.scratch, name), args, cmd.Process.Pid, func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait() // it was interrupted
	}}, nil
}

// memory shows how much memory the daemon uses at most (Linux): at rest, once it has imported each document of the folder, or a picture of
// 100 megapixels if no folder was named.
func (b *bench) memory(ctx context.Context, documents []document) error {
	d, err := b.serve(ctx, "memory", unread...)
	if err != nil {
		return err
	}
	defer d.stop()
	if b.dir == "" {
		var picture bytes.Buffer
		if err := png.Encode(&picture, pdftest.Drawing(10_000, 10_000, 300, lines(200)...)); err != nil {
			return err
		}
		path := filepath.Join(b.scratch, "Large.png")
		if err := os.WriteFile(path, picture.Bytes(), 0o600); err != nil {
			return err
		}
		documents = []document{{name: "picture of 100 megapixels", path: path}}
	}
	rest, err := peak(d.pid)
	if err != nil {
		fmt.Println("The memory of the daemon is not known on this system")
		return nil
	}
	fmt.Printf("Most resident memory of one daemon, MiB\n\n| after | MiB |\n|---|--:|\n| its start | %d |\n", rest)
	for _, doc := range documents {
		if err := program(unread, b.program(), append(slices.Clone(d.args), "import", doc.path)...)(ctx); err != nil {
			return err
		}
		most, err := peak(d.pid)
		if err != nil {
			return err
		}
		fmt.Printf("| %s | %d |\n", doc.name, most)
	}
	fmt.Println()
	return nil
}

// peak returns the most resident memory of a process so far, in MiB.
func peak(pid int) (int, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(data), "VmHWM:")
	kib := 0
	_, err = fmt.Sscan(rest, &kib)
	return kib >> 10, err
}

// appears waits for a file.
func appears(ctx context.Context, path string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		if _, err := os.Stat(path); err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s did not appear: %w", path, ctx.Err())
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// receipt measures the preview of a note with many pictures, in a process of its own, beside reading the beginning of each picture.
func (b *bench) receipt(ctx context.Context, _ []document) error {
	fresh, args := b.vault("pictures")
	if err := fresh(); err != nil {
		return err
	}
	if err := os.Mkdir(filepath.Join(b.scratch, "pictures-state"), 0o700); err != nil { // a preview makes none, and keeps no digests without it
		return err
	}
	photos, err := b.photos()
	if err != nil {
		return err
	}
	var note strings.Builder
	const pictures = 500
	names := make([]string, pictures)
	for i := range names {
		name := fmt.Sprintf("%d.jpg", i)
		fmt.Fprintf(&note, "![[%s]]\n", name)
		names[i] = filepath.Join(b.scratch, "pictures", name)
		if err := os.WriteFile(names[i], append(bytes.Clone(photos[i%len(photos)]), make([]byte, i)...), 0o600); err != nil {
			return err
		}
	}
	for name, text := range map[string]string{"Pictures.md": note.String(), "None.md": "Nothing.\n"} {
		if err := os.WriteFile(filepath.Join(b.scratch, "pictures", name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	time.Sleep(3 * time.Second) // digests of files that have just changed are not kept
	preview := func(note string) func(context.Context) error {
		return program(nil, b.program(), append(slices.Clone(args), "preview", "-i", note+" (images=auto)")...)
	}
	many, none := &command{name: "vaultflow preview", run: preview("Pictures.md")}, &command{name: "vaultflow preview", run: preview("None.md")}
	heads := &command{name: "head", run: program(nil, "head", append([]string{"-q", "-c", "65536"}, names...)...)}
	if err := b.measure(ctx, many, none, heads); err != nil {
		return err
	}
	fmt.Printf("Receipt of a note with pictures, in a new process; head reads 64 KB of each\n\n| note | command | vaultflow | peer | ratio | peer |\n|---|---|--:|--:|--:|---|\n")
	line(fmt.Sprintf("%d pictures", pictures), many, heads)
	line("no pictures", none, heads)
	fmt.Println()
	return nil
}

// photos returns the folder's JPEG pictures, or one of 600 KB if it has none.
func (b *bench) photos() ([][]byte, error) {
	paths, err := filepath.Glob(filepath.Join(b.dir, "*.jpg"))
	if err != nil || b.dir == "" || len(paths) == 0 {
		return [][]byte{slices.Concat(pdftest.Photo(600, 400, "a"), make([]byte, 600<<10))}, err
	}
	all := make([][]byte, len(paths))
	for i, path := range paths {
		if all[i], err = os.ReadFile(path); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// readers returns a reader of each.
func readers(all [][]byte) []io.Reader {
	out := make([]io.Reader, len(all))
	for i, data := range all {
		out[i] = bytes.NewReader(data)
	}
	return out
}
