package omission

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"testing"
)

func TestTable_saysEachCauseOnce(t *testing.T) {
	t.Parallel()
	seen := map[Cause]bool{}
	for _, r := range Table {
		if seen[r.Cause] || r.Words == "" || r.Remedy == "" {
			t.Errorf("%+v: want words and a remedy, once", r)
		}
		seen[r.Cause] = true
	}
}

func TestWhy_survivesARecord(t *testing.T) {
	t.Parallel()
	for _, was := range []Why{Of(Missing), Over("max_images", ""), Over("max_images", "openai"), {}} {
		data, err := json.Marshal(was)
		var got Why
		if err != nil || json.Unmarshal(data, &got) != nil || got != was {
			t.Errorf("%s: got %+v, want %+v (%v)", data, got, was, err)
		}
	}
}

func TestFrom_findsTheCause(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err  error
		want Cause
	}{
		{fmt.Errorf("load: %w", Wrap(Encrypted, errors.New("x"))), Encrypted},
		{&fs.PathError{Err: fs.ErrNotExist}, Missing},
		{&fs.PathError{Err: fs.ErrPermission}, Denied},
		{errors.New("x"), Unreadable},
	} {
		if got := From(tt.err).Cause(); got != tt.want {
			t.Errorf("%v: got %s, want %s", tt.err, got, tt.want)
		}
	}
}

func TestOf_refusesOtherCauses(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("want a panic")
		}
	}()
	Of("")
}
