//go:build unix

package sandbox

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/extract"
)

// TestMain turns this binary into a fake worker when the environment says so.
func TestMain(m *testing.M) {
	if role := os.Getenv("VAULTFLOW_FAKE"); role != "" {
		fake(role)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// block waits until it is killed. An empty select would be reported as a deadlock.
func block() { <-time.After(time.Hour) }

// fake plays a worker. A role is "when:what": at start, at open or at page.
func fake(role string) {
	when, what, _ := strings.Cut(role, ":")
	if when == "start" {
		misbehave(what)
	}
	hello := extract.Hello{Protocol: extract.Protocol, Version: "fake", Languages: []string{"eng"}, Confinement: extract.ConfinedFull}
	switch role {
	case "hello:old":
		hello.Protocol = 0
	case "hello:unconfined":
		hello.Confinement = extract.ConfinedNot
	case "hello:landlock":
		hello.Confinement = extract.ConfinedLandlock
	case "hello:seccomp":
		hello.Confinement = extract.ConfinedCalls
	}
	send(hello)
	for {
		message, err := extract.Decode(os.Stdin)
		if err != nil {
			return
		}
		switch m := message.(type) {
		case extract.Open:
			fd, err := extract.Receive(3)
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(9)
			}
			handed = fd
			if when == "open" {
				misbehave(what)
			}
			send(extract.Document{Pages: 3, Renderer: "fake", Title: environment(), Subject: strings.Join(os.Args[1:], " "), Author: networks()})
		case extract.PageRequest:
			if when == "page" && m.N == 2 {
				misbehave(what)
			}
			send(extract.Page{N: m.N, WidthPt: 1, HeightPt: 1, Text: &extract.PageText{Plain: documentText()}})
		}
	}
}

func environment() string { return strings.Join(os.Environ(), " ") }

// networks lists the network interfaces that are up.
func networks() string {
	all, err := net.Interfaces()
	if err != nil {
		return err.Error()
	}
	var up []string
	for _, i := range all {
		if i.Flags&net.FlagUp != 0 {
			up = append(up, i.Name)
		}
	}
	return strings.Join(up, " ")
}

// handed is the descriptor of the document.
var handed uintptr

func documentText() string {
	var b bytes.Buffer
	_, _ = io.Copy(&b, io.NewSectionReader(os.NewFile(handed, "document"), 0, 100))
	return b.String()
}

func send(message any) {
	if err := extract.Encode(os.Stdout, message); err != nil {
		os.Exit(9)
	}
}

func misbehave(what string) {
	switch what {
	case "hang":
		block()
	case "spin":
		for n := 0; ; n++ { // staticcheck would report a loop without a body
			runtime.KeepAlive(n)
		}
	case "late":
		time.Sleep(2 * time.Second)
	case "exit1":
		fmt.Fprintln(os.Stderr, "format error: invalid page tree")
		os.Exit(1)
	case "panic":
		panic("crashed on purpose")
	case "segv":
		_ = syscall.Kill(os.Getpid(), syscall.SIGSEGV)
		block()
	case "sigsys":
		// A program that does not handle the signal, as the kernel's end for a forbidden call is not handled either.
		_ = syscall.Exec("/bin/sh", []string{"sh", "-c", "kill -SYS $$"}, nil)
	case "killed":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		block()
	case "spent":
		fmt.Fprintln(os.Stderr, "the processor time that is allowed was used up")
		os.Exit(extract.ExitSpent)
	case "memory":
		fmt.Fprintln(os.Stderr, "fatal error: runtime: out of memory")
		os.Exit(2)
	case "unconfined":
		fmt.Fprintln(os.Stderr, "no landlock here")
		os.Exit(extract.ExitUnconfined)
	case "flood":
		for chunk := bytes.Repeat([]byte{'x'}, 1<<16); ; {
			_, _ = os.Stderr.Write(chunk)
			if _, err := os.Stdout.Write(chunk); err != nil {
				block()
			}
		}
	case "announce":
		_, _ = os.Stdout.Write([]byte{0x0b, 0xff, 0xff, 0xff, 'I'})
		block()
	case "text25": // as one message of 25 MB
		body := []byte(`{"n":2,"width_pt":1,"height_pt":1,"text":{"plain":"` + strings.Repeat("word ", 5<<20) + `"}}`)
		_, _ = os.Stdout.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), 'P'))
		_, _ = os.Stdout.Write(body)
		block()
	case "text5":
		send(extract.Page{N: 2, WidthPt: 1, HeightPt: 1, Text: &extract.PageText{Markdown: strings.Repeat("word ", 1<<20)}})
		block()
	case "announcetext": // it announces 25 MB and sends none
		_, _ = os.Stdout.Write([]byte{0x01, 0x90, 0, 0, 'P'})
		block()
	case "lie":
		send(extract.Page{N: 77})
		block()
	case "parts":
		send(extract.Page{N: 2, OCR: &extract.PageOCR{}})
		block()
	case "password":
		send(&extract.Error{Code: failure.NeedsPassword, Message: "locked", Page: 99})
		block()
	case "unknowncode":
		send(&extract.Error{Code: "worker_missing", Message: "a\x1b[31mb\nc"})
	case "half":
		_, _ = os.Stdout.Write([]byte{0, 0, 1, 0, 'P', '{'})
		os.Exit(0)
	case "orphan":
		child := exec.Command(os.Args[0])
		child.Env = []string{"VAULTFLOW_FAKE=start:hang"}
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		if err := child.Start(); err != nil {
			os.Exit(9)
		}
		os.Exit(0)
	}
}

// pretend gives the configuration of a fake worker.
func pretend(t *testing.T, role string) Config {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Config{Worker: self, OpenTimeout: 5 * time.Second, PageTimeout: 5 * time.Second, env: []string{"VAULTFLOW_FAKE=" + role}}
}

func document(t *testing.T, content string) *os.File {
	t.Helper()
	f, err := os.CreateTemp(t.TempDir(), "document")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if _, err := f.WriteString(content); err != nil {
		t.Fatal(err)
	}
	return f
}
