package toolbox

import (
	"regexp"
	"slices"
	"strconv"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/prompt"
	"github.com/vaultflow/vaultflow/tools"
)

// shownPages collects what the tools of a turn have shown, as lines of a receipt, for @cite.
type shownPages struct {
	lines []prompt.Line

	file  string        // that the present call has looked at
	shown []prompt.Line // by the present call; a tool tries less when a result does not fit
}

func (p *shownPages) begin() { p.file, p.shown = "", nil }

var lineNumbers = regexp.MustCompile(`(?m)^ *(\d+)\t`)

// end adds what a call has shown.
func (p *shownPages) end(tool string, result content.ToolResult) {
	if !result.Success {
		return
	}
	p.lines = append(p.lines, p.shown...)
	if p.shown != nil || tool != tools.ReadFile && tool != tools.ReadVariable {
		return
	}
	line := prompt.Line{Kind: prompt.KindText, Fate: policy.Sent, Text: content.Join(result.Blocks), Source: prompt.Source{Note: p.file}}
	if numbers := lineNumbers.FindAllStringSubmatch(line.Text, -1); len(numbers) > 0 && tool == tools.ReadFile {
		for i, m := range [][]string{numbers[0], numbers[len(numbers)-1]} {
			line.Source.Lines[i], _ = strconv.Atoi(m[1]) // digits; a huge number is no line
		}
	}
	p.lines = append(p.lines, line)
}

// chunks adds the deferred chunks that were read.
func (p *shownPages) chunks(deferred []prompt.Deferred, ids []string) {
	for _, d := range deferred {
		if slices.Contains(ids, d.ID) {
			line := d.Line
			line.Fate = policy.Sent
			p.lines = append(p.lines, line)
		}
	}
}
