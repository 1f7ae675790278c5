package local

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/engine"
)

// imported returns the order in which imports begin, one at a time. When one begins, arrivals are added.
func imported(t *testing.T, first []string, arrive func(begun int) []string) []string {
	t.Helper()
	q := newQueue(Config{MaxRuns: 1, MaxImports: 1})
	add := func(names []string) {
		for _, name := range names {
			drop, _, inside := strings.Cut(name, "/")
			if !inside {
				drop = ""
			}
			j := &job{id: name, lane: name, done: make(chan struct{})}
			j.spec.Import = &engine.ImportPlan{Source: name, Drop: drop}
			q.add(j)
		}
	}
	add(first)
	var order []string
	for {
		var begun *job
		q.start(func(j *job) { begun = j })
		if begun == nil {
			return order
		}
		order = append(order, begun.id)
		add(arrive(len(order)))
		q.leave(begun, nil)
	}
}

func members(drop string, n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("%s/%d", drop, i))
	}
	return names
}

// A letter that is dropped behind 400 members of an archive is next, and so is the first file of another folder; both drops take turns.
func TestQueue_aLetterDoesNotWaitForAnArchive(t *testing.T) {
	t.Parallel()
	order := imported(t, members("archive", 400), func(begun int) []string {
		switch begun {
		case 10:
			return append(members("folder", 5), "letter")
		default:
			return nil
		}
	})
	if got := strings.Join(order[10:16], " "); got != "letter folder/0 archive/10 folder/1 archive/11 folder/2" {
		t.Errorf("after ten members came %s", got)
	}
	if len(order) != 406 || !slices.Contains(order, "archive/399") {
		t.Errorf("%d began", len(order))
	}
}

// Letters without end do not starve a folder.
func TestQueue_singlesStarveNobody(t *testing.T) {
	t.Parallel()
	order := imported(t, append(members("folder", 20), "letter"), func(begun int) []string {
		if begun > 90 {
			return nil
		}
		return []string{fmt.Sprintf("letter %d", begun)}
	})
	if at := slices.Index(order, "folder/19"); at < 0 || at > 81 {
		t.Errorf("the last file of the folder was number %d of %d", at+1, len(order))
	}
}
