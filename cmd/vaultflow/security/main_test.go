//go:build linux

package security

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// insideVariable is set in the process that runs the tests, in namespaces of its own.
const insideVariable = "VAULTFLOW_SECURITY_INSIDE"

// program is the vaultflow that the tests start. vaultflow-worker lies beside it when there is one.
var program string

// counted is the network of the tests; nil when this machine allows no namespaces.
var counted *network

func TestMain(m *testing.M) {
	if os.Getenv(insideVariable) == "" {
		if code, ok := inNamespaces(); ok {
			os.Exit(code)
		}
		fmt.Fprintln(os.Stderr, "security: no namespaces here; tests that count packets are skipped")
	}
	os.Exit(prepared(m))
}

// inNamespaces runs this program again without a network and with mounts of its own. It returns the exit code, and whether
// the system allowed that.
func inNamespaces() (code int, ok bool) {
	cmd := exec.Command(os.Args[0], os.Args[1:]...)
	cmd.Env = append(os.Environ(), insideVariable+"=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	if os.Getuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	if err := cmd.Start(); err != nil {
		return 0, false
	}
	err := cmd.Wait()
	if exited, failed := errors.AsType[*exec.ExitError](err); failed {
		return max(exited.ExitCode(), 1), true
	}
	return 0, err == nil
}

// prepared builds vaultflow, sets up the network and runs the tests.
func prepared(m *testing.M) int {
	dir, err := os.MkdirTemp("", "vaultflow-security-")
	if err != nil {
		return fail(err)
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "vaultflow")
	build := exec.Command("go", "build", "-o", program, "..")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOPROXY=off") // what it needs is in the module cache: this test was built with it
	if out, err := build.CombinedOutput(); err != nil {
		return fail(fmt.Errorf("build vaultflow: %w\n%s", err, out))
	}
	if worker := os.Getenv("VAULTFLOW_WORKER"); worker != "" {
		if err := os.Symlink(worker, filepath.Join(dir, "vaultflow-worker")); err != nil {
			return fail(err)
		}
	}
	if os.Getenv(insideVariable) != "" {
		if counted, err = newNetwork(dir); err != nil {
			fmt.Fprintln(os.Stderr, "security: packets are not counted:", err)
		}
	}
	code := m.Run()
	if code == 0 && counted != nil {
		if stray := counted.unclaimed(); len(stray) > 0 {
			return fail(fmt.Errorf("packets that belong to no scenario: %v", stray))
		}
	}
	return code
}

func fail(err error) int {
	fmt.Fprintln(os.Stderr, "security:", err)
	return 1
}
