//go:build unix

package stories

import (
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/vaultflow/vaultflow/llm/llmtest"
)

// sighting is something that the model was shown: a code word in a text, or a picture with a mark.
type sighting struct {
	word    string
	picture int    // -1 for a word, and for a picture without a mark
	input   string // name of the file in whose frame it is
	page    int    // of the document, by the heading before it; 0 if none
	ref     string // in brackets behind the word, such as a link to its page
}

func (s sighting) String() string {
	if s.word != "" {
		return "The code word is " + s.word + "."
	}
	if s.picture < 0 {
		return "A picture without a mark."
	}
	return fmt.Sprintf("Picture %d.", s.picture)
}

// ask is one request to the model, with its answer.
type ask struct {
	seen   []sighting
	prompt string // all of its text
	answer string
}

// service is a model that reads and looks: it answers with the code words and the marks of what it was shown, in order. What
// a real service would refuse fails the test.
type service struct {
	*llmtest.Server
	mu     sync.Mutex // guards what follows
	asks   []ask
	before func(a ask) // called before an answer; nil for none
}

func newService(t *testing.T, tokens int) *service {
	t.Helper()
	s := &service{}
	s.Server = llmtest.NewComposing(t, llmtest.OpenAI{Kind: "openai_compatible"}, llmtest.Limits{Images: 50, Side: 8000, Body: 50 << 20, Tokens: tokens}, s.reply)
	return s
}

// beforeAnswers sets what is called before each answer.
func (s *service) beforeAnswers(f func(a ask)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before = f
}

func (s *service) reply(c llmtest.Captured) llmtest.Reply {
	a := look(c.Parts)
	answer := llmtest.Answer{Input: 100 + len(a.prompt)/4 + 1600*len(a.pictures()), Output: 50}
	if ids := deferred(c); ids != "" {
		answer.ToolCalls = []llmtest.ToolCall{{Name: "read_chunks", Input: fmt.Sprintf(`{"range":%q}`, ids)}}
		return llmtest.Reply{Answer: answer}
	}
	if call, ok := files(a, c); ok {
		answer.ToolCalls = []llmtest.ToolCall{call}
		return llmtest.Reply{Answer: answer}
	}
	a.answer = says(a, c)
	s.mu.Lock()
	s.asks = append(s.asks, a)
	before := s.before
	s.mu.Unlock()
	if before != nil {
		before(a)
	}
	answer.Text = a.answer
	return llmtest.Reply{Answer: answer}
}

// forget forgets the last answer, which reached nobody.
func (s *service) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asks, s.before = s.asks[:len(s.asks)-1], nil
}

// asked returns the answered requests so far.
func (s *service) asked() []ask {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asks)
}

// about returns the answered requests that were shown something of files whose names begin so.
func (s *service) about(prefix string) []ask {
	var found []ask
	for _, a := range s.asked() {
		if slices.ContainsFunc(a.seen, func(g sighting) bool { return strings.HasPrefix(g.input, prefix) }) {
			found = append(found, a)
		}
	}
	return found
}

func (a ask) pictures() (all []int) {
	for _, g := range a.seen {
		if g.word == "" {
			all = append(all, g.picture)
		}
	}
	return all
}

func (a ask) words() (all []string) {
	for _, g := range a.seen {
		if g.word != "" {
			all = append(all, g.word)
		}
	}
	return all
}

// token is what matters in a prompt's text: frames, pages and code words.
var token = regexp.MustCompile(`(?m)<input-[0-9a-f]+ [^>]*?path="([^"]*)"|(</input-)|^(?:## .*Page |\[page )(\d+)|code word is\s+([a-z]+)\s+([a-z]+)(?: (\[[^\n]*\]))?`)

// look reads the parts of a request in their order.
func look(parts []llmtest.Part) ask {
	var a ask
	var all strings.Builder
	at := sighting{picture: -1}
	for _, p := range parts {
		if p.Kind() == "image" {
			g := at
			if n, ok := readMark(p.Data); ok {
				g.picture = n
			}
			a.seen = append(a.seen, g)
			continue
		}
		all.WriteString(p.Text + "\n")
		for _, m := range token.FindAllStringSubmatch(p.Text, -1) {
			switch {
			case m[1] != "":
				at.input, at.page = m[1], 0
			case m[2] != "":
				at.input, at.page = "", 0
			case m[3] != "":
				at.page, _ = strconv.Atoi(m[3])
			case m[4] != "":
				g := at
				g.word, g.ref = m[4]+" "+m[5], m[6]
				a.seen = append(a.seen, g)
			}
		}
	}
	a.prompt = all.String()
	return a
}

// receipt is one as JSON, which a prompt may contain.
var receipt = regexp.MustCompile(`"?date"?: *"?([^",\n]+)"?[,\n]\s*"?shop"?: *"?([^",\n]+)"?[,\n]\s*"?total"?: *([\d.]+)`)

// says is the answer to what was seen: lines, or JSON when the service was given a schema.
func says(a ask, c llmtest.Captured) string {
	if raw := c.Schema(); raw != nil {
		var schema map[string]any
		if err := json.Unmarshal(raw, &schema); err != nil {
			return err.Error()
		}
		answer := filled(schema, "", a.seen)
		if all, ok := answer.(map[string]any); ok && all["folder"] != nil {
			all["folder"], all["title"] = place(a)
		}
		data, err := json.Marshal(answer)
		if err != nil {
			return err.Error()
		}
		return string(data)
	}
	mark := "- "
	if strings.Contains(a.prompt, "`- [ ] ") {
		mark = "- [ ] "
	}
	if cells := receipt.FindStringSubmatch(a.prompt); cells != nil && strings.Contains(a.prompt, "| Date | Shop | Total |") {
		return "| Date | Shop | Total |\n| --- | --- | ---: |\n| " + strings.Join(cells[1:], " | ") + " |\n"
	}
	cites := strings.Contains(string(c.Body), "How to cite pages")
	var lines []string
	for _, g := range a.seen {
		line := mark + g.String()
		switch {
		case cites && g.ref != "":
			line = strings.TrimSuffix(line, ".") + " " + g.ref
		case cites && g.page > 0:
			line = fmt.Sprintf("%s [%s, p. %d]", strings.TrimSuffix(line, "."), path.Base(path.Dir(g.input)), g.page)
		}
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return "Nothing was shown."
	}
	return strings.Join(lines, "\n") + "\n"
}

// filled is a value of a schema, made of what was seen: one item, property or number for each thing.
func filled(schema map[string]any, name string, seen []sighting) any {
	kind, _ := schema["type"].(string)
	if kinds, ok := schema["type"].([]any); ok && len(kinds) > 0 {
		kind, _ = kinds[0].(string)
	}
	if values, ok := schema["enum"].([]any); ok {
		return values[0]
	}
	switch kind {
	case "object":
		all := map[string]any{}
		properties, _ := schema["properties"].(map[string]any)
		for key, sub := range properties {
			if sub, ok := sub.(map[string]any); ok {
				all[key] = filled(sub, key, seen)
			}
		}
		return all
	case "array":
		items, _ := schema["items"].(map[string]any)
		list := []any{}
		for i := range seen {
			list = append(list, filled(items, name, seen[i:i+1]))
		}
		if most, ok := schema["maxItems"].(float64); ok && len(list) > int(most) {
			list = list[:int(most)]
		}
		return list
	case "integer", "number":
		for _, g := range seen {
			if g.page > 0 && strings.Contains(name, "page") {
				return g.page
			}
			if g.picture >= 0 {
				return g.picture
			}
		}
		return 0
	case "boolean":
		return len(seen) > 0
	}
	return value(schema, name, seen)
}

// value is a text about what was seen.
func value(schema map[string]any, name string, seen []sighting) string {
	var all []string
	for _, g := range seen {
		all = append(all, strings.TrimSuffix(g.String(), "."))
	}
	text := strings.Join(all, "; ")
	if format, _ := schema["format"].(string); format == "date" {
		return "2026-11-02"
	}
	if strings.Contains(name, "tag") {
		return strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(text, "The code word is "), " ", "-"))
	}
	return text
}

// belongs finds where a note says that it is to be filed.
var belongs = regexp.MustCompile(`belongs to (\w+)`)

// place is where a note says that it is to be filed, and its code word.
func place(a ask) (folder, title string) {
	folder = "Inbox"
	if m := belongs.FindStringSubmatch(a.prompt); m != nil {
		folder = m[1]
	}
	if len(a.seen) > 0 {
		title = a.seen[0].word
	}
	return folder, title
}

// files moves the note that it was shown to the folder that the note names, by its code word, when it is offered the tool.
func files(a ask, c llmtest.Captured) (llmtest.ToolCall, bool) {
	m := belongs.FindStringSubmatch(a.prompt)
	if m == nil || len(a.seen) == 0 || !slices.Contains(c.Tools(), "move_file") || slices.ContainsFunc(c.Parts, func(p llmtest.Part) bool { return p.Result != "" }) {
		return llmtest.ToolCall{}, false
	}
	return llmtest.ToolCall{Name: "move_file", Input: fmt.Sprintf(`{"from":%q,"to":%q}`, a.seen[0].input, m[1]+"/"+a.seen[0].word+".md")}, true
}

// A prompt defers chunks, and the results of tools bring them.
var (
	chunk   = regexp.MustCompile(`deferred as (c\d+)`)
	brought = regexp.MustCompile(`chunk="(c\d+)"`)
)

// roundsMost is how often the service asks for more of one prompt.
const roundsMost = 12

// deferred returns the chunks that were deferred and have not come yet, as a range, when they can be asked for.
func deferred(c llmtest.Captured) string {
	var ids []string
	came, rounds := map[string]bool{}, 0
	for _, p := range c.Parts {
		switch {
		case p.Result != "":
			rounds++
			for _, m := range brought.FindAllStringSubmatch(p.Text, -1) {
				came[m[1]] = true
			}
		case rounds == 0:
			for _, m := range chunk.FindAllStringSubmatch(p.Text, -1) {
				if !slices.Contains(ids, m[1]) {
					ids = append(ids, m[1])
				}
			}
		}
	}
	ids = slices.DeleteFunc(ids, func(id string) bool { return came[id] })
	if len(ids) == 0 || rounds >= roundsMost || !slices.Contains(c.Tools(), "read_chunks") {
		return ""
	}
	return ids[0] + "-" + ids[len(ids)-1]
}
