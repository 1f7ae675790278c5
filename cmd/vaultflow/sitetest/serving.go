//go:build unix

package sitetest

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// Serving is a serve that is running.
type Serving struct {
	Cmd  *exec.Cmd
	Log  *os.File
	Done chan struct{} // closed when the process is gone
	Site *Site
}

// Serve starts the daemon and waits until it answers and watches.
func (s *Site) Serve() *Serving {
	s.T.Helper()
	d := s.Start()
	s.Wait(Patience, "serve to answer", func() (bool, string) {
		select {
		case <-d.Done:
			s.T.Fatalf("serve ended by itself: %v", d.Cmd.ProcessState)
		default:
		}
		out, errs, code := s.CLI("serve", "--url")
		said, err := os.ReadFile(d.Log.Name())
		if err != nil {
			s.T.Fatal(err)
		}
		return code == 0 && bytes.Contains(said, []byte("watching "+s.Vault)), out + errs + string(said)
	})
	return d
}

// Start starts the daemon, with more flags. What it logs is shown when the test fails.
func (s *Site) Start(flags ...string) *Serving {
	s.T.Helper()
	log, err := os.CreateTemp(filepath.Dir(s.Vault), "serve-*.log")
	if err != nil {
		s.T.Fatal(err)
	}
	d := &Serving{Site: s, Cmd: s.Command(append([]string{"serve"}, flags...)...), Log: log, Done: make(chan struct{})}
	d.Cmd.Stdout, d.Cmd.Stderr = log, log
	if err := d.Cmd.Start(); err != nil {
		s.T.Fatal(err)
	}
	go func() {
		defer close(d.Done)
		d.Cmd.Wait()
	}()
	s.T.Cleanup(func() {
		if s.T.Failed() {
			d.Signal(syscall.SIGCONT)
			d.Signal(syscall.SIGQUIT) // says where every goroutine stands
			select {
			case <-d.Done:
			case <-time.After(5 * time.Second):
			}
		}
		d.Kill()
		if data, err := os.ReadFile(log.Name()); err == nil && s.T.Failed() {
			s.T.Logf("serve said:\n%s", data)
		}
		log.Close()
	})
	return d
}

// Signal sends a signal to the daemon, which may be gone.
func (d *Serving) Signal(sig syscall.Signal) {
	d.Site.T.Helper()
	if err := d.Cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		d.Site.T.Fatalf("signal %s: %v", sig, err)
	}
}

// Kill ends the daemon as a power cut would, and waits until it is gone.
func (d *Serving) Kill() {
	d.Site.T.Helper()
	d.Signal(syscall.SIGKILL)
	<-d.Done
}
