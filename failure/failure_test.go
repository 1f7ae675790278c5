package failure_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/failure"
)

// reported is an error with a report of its own.
type reported struct {
	report failure.Error
	cause  error
}

var _ failure.Reporter = reported{}

func (reported) Error() string            { return "reported" }
func (r reported) Unwrap() error          { return r.cause }
func (r reported) Failure() failure.Error { return r.report }

func TestOf(t *testing.T) {
	t.Parallel()
	budget := failure.Error{Code: failure.Budget, Hint: "raise it", Class: "day", Retryable: true}
	limited := failure.Error{Code: failure.Provider, Hint: "wait", Class: "rate_limit", HTTP: 429, Actual: 3, Limit: 2, Retryable: true, RetryAfter: time.Minute}
	with := func(f failure.Error, change func(*failure.Error)) *failure.Error {
		change(&f)
		return &f
	}
	for name, c := range map[string]struct {
		err  error
		want *failure.Error
	}{
		"nil":      {nil, nil},
		"unknown":  {errors.New("x"), &failure.Error{Code: failure.Internal, Message: "x"}},
		"deadline": {fmt.Errorf("read: %w", context.DeadlineExceeded), &failure.Error{Code: failure.Timeout, Message: "read: context deadline exceeded"}},
		"canceled": {fmt.Errorf("read: %w", context.Canceled), &failure.Error{Code: failure.Cancelled, Message: "read: context canceled"}},
		"data": {
			fmt.Errorf("a: %w", failure.New(failure.Vault, "h", "m")),
			&failure.Error{Code: failure.Vault, Message: "a: m", Hint: "h"},
		},
		"a report": {
			fmt.Errorf("send: %w", reported{report: limited}),
			with(limited, func(f *failure.Error) { f.Message = "send: reported" }),
		},
		"the outermost code decides": {
			reported{failure.Error{Code: failure.Vault, Exhausted: true}, reported{report: limited}},
			with(limited, func(f *failure.Error) {
				f.Code, f.Retryable, f.Exhausted, f.Message = failure.Vault, false, true, "reported"
			}),
		},
		"a hint without a code": {
			reported{failure.Error{Hint: "outer"}, reported{report: budget}},
			with(budget, func(f *failure.Error) { f.Hint, f.Message = "outer", "reported" }),
		},
		"joined": {
			errors.Join(errors.New("x"), reported{report: budget}),
			with(budget, func(f *failure.Error) { f.Message = "x\nreported" }),
		},
		"a code that is not listed": {
			reported{report: failure.Error{Code: "invented", Hint: "h"}},
			&failure.Error{Code: failure.Internal, Message: "reported", Hint: "h"},
		},
		"a full disk": {
			&fs.PathError{Op: "write", Path: "a", Err: syscall.ENOSPC},
			&failure.Error{Code: failure.Internal, Message: "write a: no space left on device", Hint: failure.HintTransient, Transient: true},
		},
		"a full disk below data": {
			failure.New(failure.State, "h", "%v", syscall.ENOSPC),
			&failure.Error{Code: failure.State, Message: "no space left on device", Hint: failure.HintTransient, Transient: true},
		},
		"a transient report below another": {
			reported{failure.Error{Code: failure.Vault, Hint: "h"}, reported{report: failure.Error{Transient: true}}},
			&failure.Error{Code: failure.Vault, Message: "reported", Hint: "h", Transient: true},
		},
	} {
		if diff := cmp.Diff(c.want, failure.Of(c.err)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestAdvice(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"":      &fs.PathError{Op: "write", Path: "a", Err: syscall.ENOSPC},
		"inner": fmt.Errorf("x: %w", reported{cause: reported{report: failure.Error{Hint: "inner"}}}),
		"data":  fmt.Errorf("x: %w", failure.New(failure.Input, "data", "m")),
	} {
		if got := failure.Advice(err); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// What the journal and other programs read.
func TestError_json(t *testing.T) {
	t.Parallel()
	const all = `{"code":"provider","message":"m","hint":"h","retryable":true,"class":"rate_limit","status":429,"actual":3,"limit":2,"passing":true}`
	var f failure.Error
	if err := json.Unmarshal([]byte(all), &f); err != nil {
		t.Fatal(err)
	}
	f.RetryAfter, f.Exhausted = time.Second, true // of this process alone
	if got, err := json.Marshal(f); err != nil || string(got) != all {
		t.Errorf("got %s, %v; want %s", got, err, all)
	}
	if got, err := json.Marshal(failure.New(failure.Input, "", "m")); err != nil || string(got) != `{"code":"input","message":"m"}` {
		t.Errorf("got %s, %v", got, err)
	}
}

// Every constant is in the list, once: Of accepts no other code.
func TestCodes(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "code.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var declared []failure.Code
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok {
			if typ, ok := spec.Type.(*ast.Ident); ok && typ.Name == "Code" {
				value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
				if err != nil {
					t.Error(err)
				}
				declared = append(declared, failure.Code(value))
			}
		}
		return true
	})
	listed := failure.Codes()
	slices.Sort(declared)
	slices.Sort(listed)
	if diff := cmp.Diff(declared, listed); diff != "" || len(slices.Compact(listed)) != len(declared) {
		t.Errorf("codes (-declared +listed):\n%s", diff)
	}
}
