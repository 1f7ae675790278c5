package llm

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/vaultflow/vaultflow/content"
)

// reference is the line that stays when a block is left out of a request: what it was, where it is kept, and how to read it.
// It stands on one line whatever names say.
func (r Request) reference(b content.Block, tool string) string {
	facts := factsOf(b)
	how := "It can be read again in the vault."
	switch {
	case tool != "" && r.offers(tool):
		how = fmt.Sprintf("To read it again, call %s as before.", tool)
	case r.offers("read_file"):
		how = "To read it, call read_file."
	}
	return leftOut + strings.Join(facts, "; ") + ". " + how + "]"
}

// leftOut begins a reference.
const leftOut = "[left out to fit; "

func (r Request) offers(tool string) bool {
	for _, t := range r.Tools {
		if t.Name == tool {
			return true
		}
	}
	return false
}

// artifactKeys are the members of a tool's data that say where its whole content is kept, in the order of the line.
var artifactKeys = []string{
	"artifact_ref", "content_kind", "media_type", "size_bytes", "source_url", "extracted_chars", "extraction_truncated", "handler",
}

func factsOf(b content.Block) []string {
	fact := func(key string, value any) string {
		if text, ok := value.(string); ok {
			value = fmt.Sprintf("%q", text)
		}
		return fmt.Sprintf("%s: %v", key, value)
	}
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

// stub stands for a medium that is left out: the text that stands for it, and its reference.
func (r Request) stub(b content.Block, tool string) []content.Block {
	return []content.Block{content.Text{Value: b.Text() + "\n" + r.reference(b, tool)}}
}

// stubLine is stub with the reference alone, for where the text is too long as well.
func (r Request) stubLine(b content.Block, tool string) []content.Block {
	return []content.Block{content.Text{Value: r.reference(b, tool)}}
}

// stubResult stands for a whole tool result: it says what was there, and keeps the references in it, and media that are
// shorter than a reference would be.
func (r Request) stubResult(result content.ToolResult, tool string) []content.Block {
	lines := []string{r.reference(result, tool)}
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
