package directives

import (
	"cmp"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/failure/diag"
	"github.com/vaultflow/vaultflow/vault"
)

// Orders of a [Selection].
const (
	OrderName  = "name"
	OrderMtime = "mtime"
	OrderCtime = "ctime"
	OrderDate  = "date"
)

// Selection chooses among the files that match a path. The zero value selects all of them in natural order of their names.
type Selection struct {
	Pending bool   `json:"pending,omitempty"` // only those whose current content is not processed yet
	Latest  bool   `json:"latest,omitempty"`  // newest first; one unless Limit is set
	Limit   int    `json:"limit,omitempty"`   // 0: no limit, or 1 for Latest
	Order   string `json:"order,omitempty"`   // name, mtime, ctime or date; empty: name, or mtime for Latest
	Dir     string `json:"dir,omitempty"`     // asc or desc; empty: asc, or desc for Latest

	PendingAt diag.Position `json:"pending_at,omitzero"` // after the word pending, if it is a parameter
}

// read is set for a parameter of a directive with a target.
func (s *Selection) read(t Target, p Param, r *report) {
	if t.Scheme == SchemeVariable {
		r.add(p.At, CodeParamElsewhere, "", "%s selects files, so it has no meaning for a variable", p.Key)
	}
	s.set(p, r)
}

func (s *Selection) set(p Param, r *report) {
	switch p.Key {
	case "pending":
		s.Pending = p.boolean(r)
		if p.Bare {
			s.PendingAt = p.At
			s.PendingAt.Column += len("pending")
		}
	case "latest":
		s.Latest = p.boolean(r)
	case "limit":
		s.Limit = p.count(r)
	case "order":
		s.Order = p.word(r, OrderName, OrderMtime, OrderCtime, OrderDate)
	case "dir":
		s.Dir = p.word(r, "asc", "desc")
	}
}

// shorthand applies `{latest:3}` and `{pending:5}` of a path.
func (s *Selection) shorthand(p piece, t Target, r *report) {
	if !slices.Contains(selectors, p.name) {
		return
	}
	at := t.source().pos(p.offset)
	n, _ := selectorCount(p.format)
	switch {
	case s.Pending || s.Latest:
		r.add(at, CodeExclusive, "", "{%s} repeats or contradicts another pending or latest", p.name)
	case n > 0 && s.Limit > 0:
		r.add(at, CodeExclusive, "keep one of them", "{%s:%d} and limit=%d contradict each other", p.name, n, s.Limit)
	}
	s.Pending = s.Pending || p.name == "pending"
	s.Latest = s.Latest || p.name == "latest"
	s.Limit = max(s.Limit, n)
}

func (s *Selection) check(d Directive, r *report) {
	if !s.Pending || !s.Latest {
		return
	}
	for _, p := range d.Params {
		if p.Key == "pending" || p.Key == "latest" {
			r.add(p.At, CodeExclusive, "keep pending or latest", "pending and latest exclude each other")
			return
		}
	}
}

func (s Selection) limit() int {
	if s.Latest && s.Limit == 0 {
		return 1
	}
	return s.Limit
}

func (s Selection) order() string {
	switch {
	case s.Order != "":
		return s.Order
	case s.Latest:
		return OrderMtime
	}
	return OrderName
}

func (s Selection) descending() bool { return s.Dir == "desc" || s.Dir == "" && s.Latest }

// candidate is a file that matches the path, with the time that orders it.
type candidate struct {
	name  string
	when  time.Time
	dated bool
}

// arrange sorts candidates. Those without a date in their name come last in either direction.
func (s Selection) arrange(list []candidate) {
	byName := s.order() == OrderName
	slices.SortStableFunc(list, func(a, b candidate) int {
		if !byName && a.dated != b.dated {
			if a.dated {
				return -1
			}
			return 1
		}
		c := vault.Natural(a.name, b.name)
		if !byName {
			c = cmp.Or(a.when.Compare(b.when), c)
		}
		if s.descending() {
			return -c
		}
		return c
	})
}

// stamp sets a candidate's time.
func (s Selection) stamp(fsys fs.FS, c *candidate, born func(string) (time.Time, bool)) error {
	switch s.order() {
	case OrderDate:
		c.when, c.dated = dateIn(c.name)
		return nil
	case OrderCtime:
		if born != nil {
			if t, ok := born(c.name); ok {
				c.when, c.dated = t, true
				return nil
			}
		}
	case OrderName:
		return nil
	}
	info, err := fs.Stat(fsys, c.name)
	if err != nil {
		return err
	}
	c.when, c.dated = info.ModTime(), true
	return nil
}

var dateForm = regexp.MustCompile(`(\d{4})[-_.]?(\d{2})[-_.]?(\d{2})`)

// dateIn returns the first date in a file's base name: 2026-03-01, 2026_03_01 or 20260301, unless further digits surround it.
func dateIn(name string) (time.Time, bool) {
	base := name[strings.LastIndexByte(name, '/')+1:]
	for from := 0; from < len(base); {
		m := dateForm.FindStringSubmatchIndex(base[from:])
		if m == nil {
			break
		}
		start, end := from+m[0], from+m[1]
		digits := base[from+m[2]:from+m[3]] + base[from+m[4]:from+m[5]] + base[from+m[6]:from+m[7]]
		alone := start == 0 || !isDigit(base[start-1])
		if t, err := time.Parse("20060102", digits); err == nil && alone && (end == len(base) || !isDigit(base[end]) || end-start == 8 && len(base)-end >= 6) {
			return t, true
		}
		from = start + 1
	}
	return time.Time{}, false
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
