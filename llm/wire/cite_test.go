package wire

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/llm"
)

func TestBody_Cite(t *testing.T) {
	t.Parallel()
	body := &Body{sent: []medium{
		{Block: content.Document{Name: "whole.pdf", Pages: 3}, id: "aaaaaa"},
		{Block: content.Document{Name: "cut.pdf", Pages: 90, PageRange: "40-41, 7,41"}, id: "bbbbbb"}, // the file cut out holds 7, 40 and 41
		{Block: content.Document{Name: "any.pdf"}, id: "cccccc"},
		{Block: content.Document{Name: "odd.pdf", PageRange: "x"}, id: "dddddd"},
	}}
	for name, c := range map[string]struct {
		quote Quote
		want  []llm.Citation
	}{
		"of a whole document":          {Quote{End: 4, First: 2, Last: 3, Text: "t"}, []llm.Citation{{End: 4, Document: "whole.pdf", From: 2, To: 3, Text: "t"}}},
		"of a cut one":                 {Quote{Start: 1, End: 4, Document: 1, First: 1, Last: 1}, []llm.Citation{{Start: 1, End: 4, Document: "cut.pdf", From: 7, To: 7}}},
		"of more pages of it":          {Quote{Document: 1, First: 2, Last: 3}, []llm.Citation{{Document: "cut.pdf", From: 40, To: 41}}},
		"of a page that it has not":    {Quote{Document: 1, First: 4, Last: 4}, []llm.Citation{{Document: "cut.pdf"}}},
		"to a page that it has not":    {Quote{Document: 1, First: 3, Last: 9}, []llm.Citation{{Document: "cut.pdf", From: 41, To: 41}}},
		"of no page":                   {Quote{Document: 0, Last: -1}, []llm.Citation{{Document: "whole.pdf"}}},
		"of pages nobody counted":      {Quote{Document: 2, First: 12, Last: 13}, []llm.Citation{{Document: "any.pdf", From: 12, To: 13}}},
		"of pages nobody can tell":     {Quote{Document: 3, First: 1, Last: 1}, []llm.Citation{{Document: "odd.pdf"}}},
		"by its title":                 {Quote{Document: Untold, Title: "bbbbbb", First: 1, Last: 1}, []llm.Citation{{Document: "cut.pdf", From: 7, To: 7}}},
		"by its title, not its number": {Quote{Document: 0, Title: "bbbbbb", First: 1, Last: 1}, []llm.Citation{{Document: "cut.pdf", From: 7, To: 7}}},
		"by its number, not a title":   {Quote{Document: 0, Title: "other", First: 1, Last: 1}, []llm.Citation{{Document: "whole.pdf", From: 1, To: 1}}},
		"by a title that it has not":   {Quote{Document: Untold, Title: "cut.pdf"}, nil},
		"of one that was not sent":     {Quote{Document: 4}, nil},
		"of a number below zero":       {Quote{Document: -7}, nil},
	} {
		if diff := cmp.Diff(c.want, body.Cite([]Quote{c.quote})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
