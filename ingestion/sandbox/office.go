package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/extract"
)

// Office converts documents with LibreOffice: a process for each, with a profile and a copy of the document in a folder of
// its own, confined by the worker's program. It is a value: copies may be used by many goroutines.
type Office struct {
	Program            string        // path of LibreOffice's soffice
	Worker             string        // program that confines it
	Dir                string        // folder for the folders of conversions; empty: the system's for temporary files
	Timeout            time.Duration // of the processor, for one conversion; 0 = 2 min
	MemoryBytes        int64         // most memory of one of its processes; 0 = 2 GiB
	MaxPages           int           // about so many pages are printed, one more if there are more; 0 = 500
	RequireConfinement bool          // none below extract.ConfinedFull
	Logger             *slog.Logger  // nil: nothing is logged

	patience int // 0 = 3; see limit
}

// maxConverted limits a converted file, in bytes. It is kept in memory.
const maxConverted = 256 << 20

// officeCPU is the processor time of a conversion in multiples of its time-out, in case nobody watches any more.
const officeCPU = 4

// officePrefix begins the names of the folders of conversions.
const officePrefix = "office-"

func (o Office) withDefaults() Office {
	if o.Timeout <= 0 {
		o.Timeout = 2 * time.Minute
	}
	if o.MemoryBytes <= 0 {
		o.MemoryBytes = 2 << 30
	}
	if o.MaxPages <= 0 {
		o.MaxPages = 500
	}
	if o.patience == 0 {
		o.patience = 3
	}
	if o.Dir == "" {
		o.Dir = os.TempDir()
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// extension matches what the name of the copy and the arguments may contain.
var extension = regexp.MustCompile(`^[a-z0-9]{1,8}$`)

// Convert returns a document in another format. from and to are extensions without a dot, such as docx and pdf. The error is an
// *extract.Error, or that of ctx. Nothing is left of it in Dir, unless this process is killed; see [Office.Sweep].
func (o Office) Convert(ctx context.Context, doc io.Reader, from, to string) ([]byte, error) {
	o = o.withDefaults()
	if !extension.MatchString(from) || !extension.MatchString(to) {
		return nil, &extract.Error{Code: failure.Unsupported, Message: fmt.Sprintf("there is no conversion from %q to %q", from, to)}
	}
	dir, err := o.folder()
	if err != nil {
		return nil, err
	}
	defer o.remove(dir)
	source := filepath.Join(dir, "in", "document."+from)
	if err := writeCopy(source, doc); err != nil {
		return nil, err
	}
	args := append(quiet(dir), "--convert-to", o.filter(from, to), "--outdir", filepath.Join(dir, "out"), source)
	said, err := o.run(ctx, dir, args)
	if err != nil {
		return nil, err
	}
	data, err := take(filepath.Join(dir, "out", "document."+to), to, said)
	if pack := o.lacksFor(from); err != nil && pack != "" {
		return nil, &extract.Error{Code: failure.WorkerMissing, Message: "LibreOffice reads no " + from + " files here: install " + pack}
	}
	return data, err
}

// Version returns LibreOffice's version, such as "7.4.7.2". It runs confined for that, as for a conversion.
func (o Office) Version(ctx context.Context) (string, error) {
	o = o.withDefaults()
	dir, err := o.folder()
	if err != nil {
		return "", err
	}
	defer o.remove(dir)
	said, err := o.run(ctx, dir, append(quiet(dir), "--version"))
	if err != nil {
		return "", err
	}
	if found := officeVersion.FindStringSubmatch(said); found != nil {
		return found[1], nil
	}
	return "", &extract.Error{Code: failure.WorkerMissing, Message: o.Program + " is not LibreOffice: it prints " + firstLine(said)}
}

var officeVersion = regexp.MustCompile(`LibreOffice\S* (\d[\d.]*)`)

// Sweep removes the folders that conversions of a killed process have left in Dir. Nobody may be converting.
func (o Office) Sweep() {
	left, err := filepath.Glob(filepath.Join(o.withDefaults().Dir, officePrefix+"*"))
	if err != nil {
		return // the pattern is ours
	}
	for _, dir := range left {
		o.withDefaults().remove(dir)
	}
}

func (o Office) folder() (string, error) {
	err := os.MkdirAll(o.Dir, 0o700)
	var dir string
	if err == nil {
		dir, err = os.MkdirTemp(o.Dir, officePrefix)
	}
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	for _, sub := range []string{"in", "out", "tmp", "home", filepath.Join("profile", "user")} {
		if err == nil {
			err = os.MkdirAll(filepath.Join(dir, sub), 0o700)
		}
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "profile", "user", "registrymodifications.xcu"), []byte(officeProfile), 0o600)
	}
	if err != nil {
		return "", &extract.Error{Code: failure.WorkerMissing, Message: "there is no folder for LibreOffice: " + err.Error()}
	}
	return dir, nil
}

func (o Office) remove(dir string) {
	if err := os.RemoveAll(dir); err != nil {
		o.Logger.Warn("folder of a conversion not removed", "dir", dir, "err", err)
	}
}

func writeCopy(path string, doc io.Reader) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		_, err = io.Copy(f, doc)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return &extract.Error{Code: failure.WorkerMissing, Message: "the document cannot be copied for LibreOffice: " + err.Error()}
	}
	return nil
}

// run runs LibreOffice in its folder and returns its output.
func (o Office) run(ctx context.Context, dir string, program []string) (string, error) {
	worker, err := exec.LookPath(o.Worker)
	if err == nil {
		worker, err = filepath.Abs(worker)
	}
	if err != nil {
		return "", missing(err)
	}
	for _, way := range officeIsolations() {
		var p *process
		if p, err = o.launch(worker, dir, program, way); err == nil {
			return o.await(ctx, p)
		}
	}
	return "", missing(err)
}

func (o Office) launch(worker, dir string, program []string, namespaces uintptr) (*process, error) {
	args := []string{
		"-office=" + o.Program, "-work=" + dir, "-memory=" + strconv.FormatInt(o.MemoryBytes, 10), "-cpu=" + (officeCPU * o.Timeout).String(),
	}
	if namespaces != 0 {
		args = append(args, "-isolated")
	}
	if o.RequireConfinement {
		args = append(args, "-require-confinement")
	}
	p := &process{}
	p.cmd = exec.Command(worker, append(append(args, "--"), program...)...) //nolint:noctx // the user's own setting; await ends it
	p.cmd.Env = []string{
		"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "SAL_USE_VCLPLUGIN=svp", "SAL_DISABLE_OPENCL=1", "MALLOC_ARENA_MAX=2",
		"HOME=" + filepath.Join(dir, "home"), "TMPDIR=" + filepath.Join(dir, "tmp"),
	}
	p.cmd.Dir = dir
	p.cmd.Stdout, p.cmd.Stderr = &p.stderr, &p.stderr
	p.cmd.WaitDelay = reapDelay
	setGroup(p.cmd)
	isolate(p.cmd, namespaces)
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("make a pipe for LibreOffice: %w", err)
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	p.reap = sync.OnceValue(p.cmd.Wait)
	return p, nil
}

// await waits for LibreOffice's end, and ends it when it takes too long. Its exit code says little: it is 0 too when it made
// nothing of the document.
func (o Office) await(ctx context.Context, p *process) (string, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer p.limitBy(groupTime, o.Timeout, o.patience, cancel)()
	stop := context.AfterFunc(ctx, p.kill)
	err := p.reap()
	late := !stop()
	p.kill() // what it may have left running
	_ = p.in.Close()
	said := p.stderr.String()
	o.Logger.Debug("libreoffice ended", "err", err, "said", said)
	_, killed := signalled(p)
	slow, isSlow := errors.AsType[tooSlow](context.Cause(ctx))
	switch {
	case late && isSlow:
		return "", &extract.Error{Code: failure.Timeout, Message: "LibreOffice " + slow.Error()}
	case late:
		return "", fmt.Errorf("convert with LibreOffice: %w", context.Cause(ctx))
	case p.cmd.ProcessState.ExitCode() == extract.ExitUnconfined:
		return "", &extract.Error{Code: failure.Unconfined, Message: firstLine(said)}
	case noMemory.MatchString(said), killed:
		return "", &extract.Error{Code: failure.Memory, Message: "LibreOffice needed more memory than allowed"}
	}
	return said, nil
}

// take reads what LibreOffice has written, and nothing that only looks like it: the folder was in the hands of a program that
// read a stranger's document.
func take(path, to, said string) ([]byte, error) {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return nil, &extract.Error{Code: failure.Corrupt, Message: "LibreOffice could not convert it: " + complaint(said)}
	case !info.Mode().IsRegular():
		return nil, &extract.Error{Code: failure.Crashed, Message: "LibreOffice wrote no file"}
	case info.Size() > maxConverted:
		return nil, &extract.Error{Code: failure.TooLarge, Message: fmt.Sprintf("LibreOffice wrote %d MB, above the limit of %d MB", info.Size()>>20, maxConverted>>20)}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, &extract.Error{Code: failure.Crashed, Message: "LibreOffice's file cannot be read: " + err.Error()}
	}
	want := "PK\x03\x04"
	if to == "pdf" {
		want = "%PDF-"
	}
	if !bytes.HasPrefix(data, []byte(want)) {
		return nil, &extract.Error{Code: failure.Crashed, Message: "LibreOffice did not write a " + to + " file"}
	}
	return data, nil
}

// complaint is the line of LibreOffice's messages that says most.
func complaint(said string) string {
	for line := range strings.Lines(said) {
		if strings.Contains(line, "rror") {
			return firstLine(line)
		}
	}
	return firstLine(said)
}
