package rewrite

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/llm"
)

// leftOut begins a reference.
const leftOut = "[left out to fit; "

// reference returns the one line that replaces a block: what it was, where it is kept, and how to read it.
func reference(r llm.Request, m medium) string {
	how := "It can be read again in the vault."
	switch tool := toolOf(r, m.spot); {
	case tool != "" && offers(r, tool):
		how = fmt.Sprintf("To read it again, call %s as before.", tool)
	case offers(r, "read_file"):
		how = "To read it, call read_file."
	}
	return leftOut + strings.Join(factsOf(m.Block), "; ") + ". " + how + "]"
}

func offers(r llm.Request, tool string) bool {
	return slices.ContainsFunc(r.Tools, func(t llm.Tool) bool { return t.Name == tool })
}

// artifactKeys are the members of a tool's data that say where its whole content is kept, in the order of the line.
var artifactKeys = []string{
	"artifact_ref", "content_kind", "media_type", "size_bytes", "source_url", "extracted_chars", "extraction_truncated", "handler",
}

func fact(key string, value any) string {
	if text, ok := value.(string); ok {
		value = fmt.Sprintf("%q", text) // whatever a name says, it stays on its line
	}
	return fmt.Sprintf("%s: %v", key, value)
}

func factsOf(b content.Block) []string {
	file := func(name, mediaType string, size int64) []string {
		facts := []string{fact("artifact_ref", name), fact("content_kind", string(b.Type()))}
		if mediaType != "" {
			facts = append(facts, fact("media_type", mediaType))
		}
		if size > 0 {
			facts = append(facts, fact("size_bytes", size))
		}
		return facts
	}
	switch b := b.(type) {
	case content.Image:
		return file(b.Name, b.MediaType, b.Size)
	case content.Document:
		return file(b.Name, b.MediaType, b.Size)
	case content.ToolResult:
		var data map[string]any
		var facts []string
		if json.Unmarshal(b.Data, &data) == nil {
			for _, key := range artifactKeys {
				if value, there := data[key]; there {
					facts = append(facts, fact(key, value))
				}
			}
		}
		if len(facts) > 0 {
			return facts
		}
		return []string{fact("content_kind", "text"), fact("size_bytes", len(b.Text()))}
	}
	return []string{fact("content_kind", string(b.Type()))}
}

// stub returns what replaces a medium: its fallback text and its reference.
func stub(r llm.Request, m medium) []content.Block {
	return []content.Block{content.Text{Value: m.Text() + "\n" + reference(r, m)}}
}

// stubResult returns what replaces a whole tool result: its reference, the references in it, and its media, which are
// replaced one by one where that saves something.
func stubResult(r llm.Request, s spot, result content.ToolResult) []content.Block {
	lines := []string{reference(r, medium{s, result})}
	var media []content.Block
	for _, b := range result.Blocks {
		if _, reference, found := strings.Cut(b.Text(), "\n"+leftOut); found {
			lines = append(lines, leftOut+reference)
		}
		if content.IsMedia(b) {
			media = append(media, b)
		}
	}
	return []content.Block{content.ToolResult{
		CallID: result.CallID, Success: result.Success, Output: strings.Join(lines, "\n"), Blocks: media, FilesChanged: result.FilesChanged,
	}}
}
