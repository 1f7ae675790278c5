package offline

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/llm"
)

const (
	readChunks  = "read_chunks"
	maxDeferred = 20 // chunks and ranges that are asked for
)

// deferredAs matches the markers of what a prompt had no room for, such as "[deferred as c4-c5: …]".
var (
	deferredAs = regexp.MustCompile(`^\[.*\bdeferred as ((?:c\d+(?:-c\d+)?)(?:, c\d+(?:-c\d+)?)*)\b.*\]$`)
	chunkID    = regexp.MustCompile(`c\d+(?:-c\d+)?`)
)

// chunkCall asks for deferred chunks.
type chunkCall struct{ ids []string }

// call tells whether deferred chunks are to be asked for: once, when the tool is on offer.
func (r *reading) call(request llm.Request) (chunkCall, bool) {
	offered := slices.ContainsFunc(request.Tools, func(t llm.Tool) bool { return t.Name == readChunks })
	if !offered || r.results || len(r.finder.deferred) == 0 {
		return chunkCall{}, false
	}
	ids := r.finder.deferred
	return chunkCall{ids[:min(len(ids), maxDeferred)]}, true
}

func (c chunkCall) notice() string {
	return "> The offline model reads the deferred parts " + strings.Join(c.ids, ", ") + " once, whatever they are.\n"
}

// block is the call. messages is how long the conversation is, for an id of its own.
func (c chunkCall) block(messages int) content.ToolCall {
	input, err := json.Marshal(map[string][]string{"ids": c.ids})
	if err != nil { // cannot happen: a list of texts always has a JSON form
		input = nil
	}
	return content.ToolCall{ID: fmt.Sprintf("offline_%d", messages), Name: readChunks, Input: input}
}
