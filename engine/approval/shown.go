package approval

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/settings/state"
)

const (
	shownFile = "shown-approvals"
	maxSeen   = 2000 // proposals that are remembered
)

// Shown remembers, in a file of the state directory, which proposals the command line has shown. Commands are short and
// follow one another: two at once may forget what one of them showed, and then it is shown again.
type Shown struct{ Dir string }

// shownRow is what was shown of a proposal.
type shownRow struct {
	Run    string `json:"run"`
	Item   int    `json:"item"`
	Digest string `json:"digest"`
	Pages  []int  `json:"pages"` // from 1, sorted
	Of     int    `json:"of"`
}

func (r shownRow) is(p engine.Proposal) bool {
	return r.Run == p.Run && r.Item == p.Item && r.Digest == p.Digest()
}

// Mark records that pages of a proposal were shown, counted from 1, and how many there are.
func (s Shown) Mark(p engine.Proposal, pages []int, of int) error {
	rows, err := s.rows()
	if err != nil {
		return err
	}
	row := shownRow{Run: p.Run, Item: p.Item, Digest: p.Digest(), Of: of}
	if i := slices.IndexFunc(rows, func(r shownRow) bool { return r.is(p) }); i >= 0 {
		if rows[i].Of == of {
			row.Pages = rows[i].Pages
		}
		rows = slices.Delete(rows, i, i+1)
	}
	row.Pages = append(row.Pages, pages...)
	slices.Sort(row.Pages)
	row.Pages = slices.Compact(row.Pages)
	rows = append(rows, row)
	data, err := json.Marshal(rows[max(0, len(rows)-maxSeen):])
	if err != nil {
		return err
	}
	return state.Write(s.Dir, shownFile, data)
}

// Whole reports whether every page of a proposal was shown, in the content that it has now.
func (s Shown) Whole(p engine.Proposal) (bool, error) {
	rows, err := s.rows()
	return slices.ContainsFunc(rows, func(r shownRow) bool { return r.is(p) && r.Of > 0 && len(r.Pages) == r.Of }), err
}

func (s Shown) rows() (rows []shownRow, err error) {
	data, err := state.Read(s.Dir, shownFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, &rows); err != nil {
		return nil, fmt.Errorf("%s in the state directory is damaged; remove it: %w", shownFile, err)
	}
	return rows, nil
}
