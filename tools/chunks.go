package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/tools/allowance"
)

// ReadChunks is the name of the tool that reads parts of inputs for which the prompt had no room.
const ReadChunks = "read_chunks"

// Chunk is a deferred part of an input: text, or a label and a picture.
type Chunk struct {
	ID     string
	Blocks []content.Block
}

// ChunkReader reads deferred chunks in the prompt's order, within limits. It belongs to one turn of a step and is not safe
// for concurrent use.
type ChunkReader struct {
	Chunks  []Chunk // in the prompt's order
	Media   *allowance.Allowance
	MaxText int // bytes of text in one result; 0 is content.MaxToolText

	shown []string // ids of chunks that were read to their end
}

// Shown lists the chunks that were read to their end, in the order of the calls.
func (r *ChunkReader) Shown() []string { return slices.Clone(r.shown) }

const chunkParameters = `{"type":"object","properties":{` +
	`"ids":{"type":"array","items":{"type":"string"},"description":"Chunk ids from the prompt, such as c12."},` +
	`"range":{"type":"string","description":"A range of chunk ids instead, such as c40-c60."},` +
	`"from":{"type":"integer","minimum":0,"description":"Byte to continue from in a single chunk, as a result says."}` +
	`},"additionalProperties":false}`

// Tool is read_chunks over the reader's chunks.
func (r *ChunkReader) Tool() Tool {
	return Tool{
		Name: ReadChunks, Parameters: json.RawMessage(chunkParameters), Run: r.run,
		Description: "Reads parts of the inputs that the prompt marks as deferred, by their chunk ids, in the prompt's order. " +
			"Chunks that do not fit into one result are named: call again for them.",
	}
}

func (r *ChunkReader) run(_ context.Context, input json.RawMessage) content.ToolResult {
	wanted, from, err := readChunksInput(input)
	if err != nil {
		return Failed("%v", err)
	}
	chosen, unknown := r.choose(wanted)
	if len(chosen) == 0 {
		return Failed("no deferred chunk matches %s; there are: %s", clipped(strings.Join(wanted, ", ")), clipped(r.listing()))
	}
	if from > 0 && len(chosen) != 1 {
		return Failed("from needs a single chunk id")
	}
	page := r.page(chosen, from)
	if len(unknown) > 0 {
		page.say("[not deferred: " + clipped(strings.Join(unknown, ", ")) + "]")
	}
	return content.ToolResult{Success: true, Blocks: page.blocks}
}

// readChunksInput reads the model's input, which may be looser than the schema: text instead of a list, ranges among ids.
func readChunksInput(input json.RawMessage) (wanted []string, from int, err error) {
	in, err := parse[struct {
		IDs   json.RawMessage `json:"ids"`
		Range string          `json:"range"`
		From  int             `json:"from"`
	}](input, `{"ids": ["c12", "c13"]} or {"range": "c40-c60"}`)
	if err != nil {
		return nil, 0, err
	}
	var list []string
	var text string
	if len(in.IDs) > 0 && json.Unmarshal(in.IDs, &list) != nil {
		if json.Unmarshal(in.IDs, &text) != nil {
			return nil, 0, fmt.Errorf("ids must be a list of chunk ids such as c12")
		}
		list = []string{text}
	}
	for _, part := range append(list, in.Range) {
		for id := range strings.FieldsFuncSeq(part, func(c rune) bool { return c == ',' || c == ' ' || c == ';' }) {
			wanted = append(wanted, strings.ToLower(strings.Trim(id, "[]\"'")))
		}
	}
	if len(wanted) == 0 {
		return nil, 0, fmt.Errorf("name chunks with ids or range")
	}
	if in.From < 0 {
		return nil, 0, errors.New("from must not be negative")
	}
	return wanted, in.From, nil
}

// choose returns the chunks with the wanted ids, in the prompt's order, and the ids that match none.
func (r *ChunkReader) choose(wanted []string) (chosen []Chunk, unknown []string) {
	take := make([]bool, len(r.Chunks))
	for _, id := range wanted {
		first, last, ok := span(id)
		found := false
		for i, c := range r.Chunks {
			n, _, isID := span(c.ID)
			if c.ID == id || ok && isID && n >= first && n <= last {
				take[i], found = true, true
			}
		}
		if !found {
			unknown = append(unknown, id)
		}
	}
	for i, c := range r.Chunks {
		if take[i] {
			chosen = append(chosen, c)
		}
	}
	return chosen, unknown
}

// span reads c12 and c40-c60.
func span(id string) (first, last int, ok bool) {
	a, b, isRange := strings.Cut(strings.ReplaceAll(id, "–", "-"), "-")
	first, err := strconv.Atoi(strings.TrimPrefix(a, "c"))
	if err != nil {
		return 0, 0, false
	}
	if !isRange {
		return first, first, true
	}
	last, err = strconv.Atoi(strings.TrimPrefix(b, "c"))
	return first, last, err == nil
}

// listing names all chunks, as ranges.
func (r *ChunkReader) listing() string {
	var ids []string
	for _, c := range r.Chunks {
		ids = append(ids, c.ID)
	}
	return Ranges(ids)
}

// Ranges writes consecutive ids as ranges: c3, c7-c12.
func Ranges(ids []string) string {
	var parts []string
	for i := 0; i < len(ids); {
		last := i
		for last+1 < len(ids) && follows(ids[last], ids[last+1]) {
			last++
		}
		switch last - i {
		case 0:
			parts = append(parts, ids[i])
		case 1:
			parts = append(parts, ids[i], ids[last])
		default:
			parts = append(parts, ids[i]+"-"+ids[last])
		}
		i = last + 1
	}
	return strings.Join(parts, ", ")
}

func follows(a, b string) bool {
	n, _, ok := span(a)
	m, _, also := span(b)
	return ok && also && m == n+1
}

// chunkPage is one result in the making.
type chunkPage struct {
	blocks []content.Block
	text   int // bytes left
	images int // left
}

func (p *chunkPage) say(words string) { p.blocks = append(p.blocks, content.Text{Value: words + "\n"}) }

// page fills one result with chunks, in order, until one does not fit.
func (r *ChunkReader) page(chosen []Chunk, from int) *chunkPage {
	p := &chunkPage{text: r.MaxText, images: r.Media.Result}
	if p.text <= 0 {
		p.text = content.MaxToolText
	}
	p.text -= reserve
	for i, c := range chosen {
		c.Blocks = r.Media.Admit(c.Blocks)
		text, images := allowance.Weight(c.Blocks)
		switch {
		case r.Media.Exceeds(images):
			p.say("[" + c.ID + " is not shown: the step has received all the pictures it may have]")
			continue
		case i == 0 && (from > 0 || text > p.text):
			r.part(p, c, from)
			p.rest(chosen[1:])
			return p
		case text > p.text || images > p.images:
			p.rest(chosen[i:])
			return p
		}
		p.blocks = append(p.blocks, content.Text{Value: "[" + c.ID + "]\n"})
		p.blocks = append(p.blocks, c.Blocks...)
		p.text, p.images = p.text-text, p.images-images
		r.Media.Take(c.Blocks)
		r.shown = append(r.shown, c.ID)
	}
	return p
}

// reserve is the space at the end of a result for notes, in bytes.
const reserve = 512

// rest names the chunks that did not fit.
func (p *chunkPage) rest(left []Chunk) {
	if len(left) == 0 {
		return
	}
	var ids []string
	for _, c := range left {
		ids = append(ids, c.ID)
	}
	p.say("[no room in this result for " + clipped(Ranges(ids)) + ": call again for them]")
}

// clipped shortens a list, divided by commas, to fit the reserve.
func clipped(list string) string {
	if len(list) <= reserve/2 {
		return list
	}
	short := cutText(list, reserve/2)
	if i := strings.LastIndexByte(short, ','); i >= 0 {
		short = short[:i]
	}
	return short + " and more"
}

// part adds as much of one large chunk as fits, starting at a byte of its text.
func (r *ChunkReader) part(p *chunkPage, c Chunk, from int) {
	text := content.Join(c.Blocks)
	from = min(from, len(text))
	for from > 0 && from < len(text) && !utf8.RuneStart(text[from]) {
		from--
	}
	end := min(from+p.text-len(c.ID)-8, len(text))
	for end < len(text) && !utf8.RuneStart(text[end]) {
		end--
	}
	p.blocks = append(p.blocks, content.Text{Value: "[" + c.ID + "]\n"}, content.Text{Value: text[from:end]})
	p.text = 0
	if end < len(text) {
		p.say(fmt.Sprintf("\n[more of %s: call again with from=%d, of %d]", c.ID, end, len(text)))
		return
	}
	r.shown = append(r.shown, c.ID)
}
