//go:build unix

package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io/fs"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/cmd/vaultflow/sitetest"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/llm/llmtest"
)

// Between a preview and a run anything may be edited: what is on the wire is what was previewed, byte for byte, or the run names each edit that
// mattered, and nothing else. `make test-long` does 300 edits; VAULTFLOW_SEED repeats one run of them.
func TestEdits(t *testing.T) {
	t.Parallel()
	edits, seeds := 5, []uint64{1}
	if sitetest.Long() {
		edits, seeds = 50, []uint64{uint64(time.Now().UnixNano()), 2, 3}
	}
	if text := os.Getenv("VAULTFLOW_SEED"); text != "" {
		seeds = make([]uint64, 1)
		if _, err := fmt.Sscan(text, &seeds[0]); err != nil {
			t.Fatal(err)
		}
	}
	for _, seed := range seeds {
		for _, serving := range []bool{false, true} {
			if serving && !sitetest.Long() {
				continue
			}
			t.Run(fmt.Sprintf("seed %d, serving %t", seed, serving), func(t *testing.T) {
				t.Parallel()
				e := newEditing(t, seed, serving)
				for range edits {
					if e.round(); e.bad > 2 {
						return
					}
				}
			})
		}
	}
}

// wired is what a step sent first: to which address, and which bytes.
type wired struct {
	address string
	body    string
}

// editing is a vault that is edited between previews and runs.
type editing struct {
	*site
	r       *rand.Rand
	serving bool
	wires   []*llmtest.Server
	answer  string // of the model; guarded by mu
	fails   bool   // the next request; guarded by mu
	window  int    // of the Ollama server; 0: it does not say; guarded by mu
	mu      sync.Mutex

	knobs  map[string]string // settings, by name
	flow   map[string]string // places of the workflow, by name
	known  map[string]wired  // what was sent under a digest
	wasAt  [2]int            // requests that were looked at, by wire
	count  int
	bad    int            // rounds that failed
	differ map[string]int // how often a kind of difference was seen
}

// edit changes something.
type edit struct {
	name string
	do   func() (undo func())
	says string // matches each difference that it may cause
	must string // matches one that it causes if anything differs; empty: says does
	none bool   // it has no effect

	maybe bool // a preview cannot know whether it has an effect
}

// newEditing makes the vault of a seed: even ones have an Ollama server, others one that is compatible with OpenAI.
func newEditing(t *testing.T, seed uint64, serving bool) *editing {
	t.Helper()
	t.Logf("seed %d", seed)
	e := &editing{
		site: newSite(t, sitetest.Worker(t, filepath.Join("..", "..")), ""), r: rand.New(rand.NewPCG(seed, 7)), serving: serving, answer: "An answer.", window: 8192,
		knobs: map[string]string{"default": "a", "address": "0"}, flow: map[string]string{}, known: map[string]wired{}, differ: map[string]int{},
	}
	e.Env = append(e.Env, "LAB_KEY="+llmtest.Key)
	compose := func(c llmtest.Captured) llmtest.Reply {
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.fails {
			e.fails = false
			return llmtest.Reply{Status: http.StatusForbidden, Code: "forbidden", Message: "not now"}
		}
		pictures, text := 0, 0
		for _, p := range c.Parts {
			text += len(p.Text)
			if p.Kind() == "image" {
				pictures++
			}
		}
		return llmtest.Reply{Answer: llmtest.Answer{Text: e.answer, Input: text/4 + 400*pictures, Output: 10}}
	}
	var wire llmtest.Wire = llmtest.OpenAI{Kind: "openai_compatible"}
	e.knobs["kind"], e.knobs["path"] = "openai_compatible", "/v1"
	if seed%2 == 0 {
		wire, e.knobs["kind"], e.knobs["path"] = ollamaOf{llmtest.Ollama{}, e}, "ollama", ""
	}
	for range 2 {
		e.wires = append(e.wires, llmtest.NewComposing(t, wire, llmtest.Limits{}, compose))
	}
	e.vault()
	e.settings()
	e.workflow()
	if serving {
		e.serve()
	}
	e.ran("run", "Flow") // so that the last step has an input
	return e
}

// ollamaOf is an Ollama server whose models have the window of the test.
type ollamaOf struct {
	llmtest.Wire
	e *editing
}

func (o ollamaOf) Aside(w http.ResponseWriter, r *http.Request) bool {
	if r.URL.Path != "/api/show" {
		return false
	}
	o.e.mu.Lock()
	defer o.e.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"capabilities":["completion","vision","tools"],"model_info":{"general.architecture":"x","x.context_length":%d}}`, o.e.window)
	return true
}

func (e *editing) vault() {
	e.write("Notes/A.md", "---\ntags: [one]\n---\nFirst.\n![[p1.png]]\n![[Emb#Part]]\nSee [[B]].\n![[p2.jpg]]\nEnd of A.\n")
	e.write("Notes/B.md", "Second.\n![[p3.gif]]\n![alt](../Pictures/p4.webp)\n![[p1.png]]\nEnd of B.\n")
	e.write("Notes/C.md", "Third.\n![[gone.png]]\n![[p5.png]]\n")
	e.write("Emb.md", "Before.\n\n# Part\nPart.\n![[Deep]]\n![[p6.png]]\n\n# Rest\nRest.\n![[p7.png]]\n")
	e.write("Deep.md", "Deep.\n")
	e.write("Items/I1.md", "Item one.\n![[p2.jpg]]\n")
	e.write("Items/I2.md", "Item two.\n")
	e.write("Other/X.md", "Nobody reads this.\n")
	for i, name := range []string{"p1.png", "p2.jpg", "p3.gif", "p4.webp", "p5.png", "p6.png", "p7.png"} {
		e.Write("Pictures/"+name, e.drawn(name, 60+40*i, uint8(20+i)))
	}
	b := &bench{t: e.T, dir: filepath.Dir(e.Vault)}
	b.document("Imported/Paper", "", make([]string, 3), nil)
}

// drawn is a picture in the format of its name, as wide as it says.
func (e *editing) drawn(name string, side int, shade uint8) []byte {
	if filepath.Ext(name) == ".webp" {
		return plainWebP(side, shade)
	}
	img := image.NewPaletted(image.Rect(0, 0, side, side), nil)
	for i := range 256 {
		img.Palette = append(img.Palette, color.Gray{Y: uint8(i)})
	}
	for i := range img.Pix {
		img.Pix[i] = shade + uint8(i*i>>3)
	}
	var b bytes.Buffer
	var err error
	switch filepath.Ext(name) {
	case ".png":
		err = png.Encode(&b, img)
	case ".jpg":
		err = jpeg.Encode(&b, img, nil)
	default:
		err = gif.Encode(&b, img, nil)
	}
	if err != nil {
		e.T.Fatal(err)
	}
	return b.Bytes()
}

// plainWebP is a lossless WebP of one grey.
func plainWebP(side int, shade uint8) []byte {
	var bits []byte // from the lowest
	put := func(value uint32, n int) {
		for i := range n {
			bits = append(bits, byte(value>>i&1))
		}
	}
	put(uint32(side-1), 14)
	put(uint32(side-1), 14)
	put(0, 1+3)                                                   // no alpha, version 0
	put(0, 1)                                                     // no transform
	put(0, 1)                                                     // no cache of colours
	put(0, 1)                                                     // one group of codes
	for _, symbol := range []uint8{shade, shade, shade, 255, 0} { // green, red, blue, alpha, distance: codes of one symbol, which need no bits
		put(1, 1)
		put(0, 1)
		put(1, 1)
		put(uint32(symbol), 8)
	}
	data := []byte{0x2f}
	for i := 0; i < len(bits); i += 8 {
		var b byte
		for j := range min(8, len(bits)-i) {
			b |= bits[i+j] << j
		}
		data = append(data, b)
	}
	if len(data)%2 == 1 {
		data = append(data, 0)
	}
	body := binary.LittleEndian.AppendUint32([]byte("WEBPVP8L"), uint32(len(data)))
	body = append(body, data...)
	return append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(body))), body...)
}

func (e *editing) settings() {
	k := func(name string) string { return e.knobs[name] }
	var alias, budget, policy, engine strings.Builder
	for _, name := range slices.Sorted(maps.Keys(e.knobs)) {
		value := e.knobs[name]
		kind, key, ok := strings.Cut(name, ".")
		if !ok {
			continue
		}
		line := map[string]*strings.Builder{"alias": &alias, "budget": &budget, "policy": &policy, "engine": &engine}[kind]
		fmt.Fprintf(line, ", %s: %s", key, value)
	}
	inner := func(b strings.Builder) string { return strings.TrimPrefix(b.String(), ", ") }
	if budget.Len() > 0 {
		fmt.Fprintf(&policy, ", budget: {%s}", inner(budget))
	}
	caps := k("caps")
	if caps == "" {
		caps = "[text, vision, tools]"
	}
	model := k("model")
	if model == "" {
		model = "some-1"
	}
	text := quick + k("comment")
	text += fmt.Sprintf("models:\n  default: %s\n  aliases:\n    a: {provider: lab, model: %s, capabilities: %s%s}\n    b: {provider: lab, model: some-2, capabilities: [text, vision, tools]}\n", k("default"), model, caps, alias.String())
	text += fmt.Sprintf("providers:\n  lab: {kind: %s, base_url: %q, api_key_env: LAB_KEY%s}\n", k("kind"), e.wires[k("address")[0]-'0'].URL+k("path"), k("provider"))
	text += fmt.Sprintf("policy: {%s}\nengine: {%s}\n", inner(policy), inner(engine))
	e.write("settings.yaml", text)
}

func (e *editing) workflow() {
	f := func(name, other string) string {
		if v, ok := e.flow[name]; ok {
			return v
		}
		return other
	}
	e.write("Workflows/Flow.md", "---\ndescription: "+f("description", "none")+"\n---\n"+f("intro", "Intro.")+"\n\n## Instructions\nBe brief"+f("instructions", ".")+"\n\n"+
		"## Read\n"+f("read", "")+"@input file: Notes/*.md (order=name"+f("input", ", images=auto")+")\n@input file: Imported/Paper/index.md (images=auto)\n@output file: Out/Read\n@write_mode replace\n\nMARK-READ Look"+f("look", ".")+"\n\n"+
		"## Each\n@for_each file: Items/*.md (order=name)\n@input file: {item} (images=auto)\n@output file: Out/{item-name} {today}\n@write_mode replace\n\nMARK-EACH Look.\n\n"+
		"## Sum\n@input file: Out/Read\n@output file: Out/Sum\n@write_mode replace\n\nMARK-SUM Sum up.\n")
}

// set changes a value of a map until it is undone, and writes what is made from it.
func set(m map[string]string, write func(), pairs ...string) func() (undo func()) {
	return func() func() {
		was := map[string]string{}
		had := map[string]bool{}
		for i := 0; i < len(pairs); i += 2 {
			was[pairs[i]], had[pairs[i]] = m[pairs[i]], false
			if _, ok := m[pairs[i]]; ok {
				had[pairs[i]] = true
			}
			m[pairs[i]] = pairs[i+1]
		}
		write()
		return func() {
			for key, ok := range had {
				if m[key] = was[key]; !ok {
					delete(m, key)
				}
			}
			write()
		}
	}
}

// replaced writes a file otherwise until it is undone.
func (e *editing) replaced(name string, how func(was string) string) func() (undo func()) {
	return func() func() {
		was := e.Read(name)
		e.write(name, how(was))
		return func() { e.write(name, was) }
	}
}

// inPlace overwrites a file's bytes, and leaves its size and time as they were.
func (e *editing) inPlace(name string, data []byte) {
	path := e.Path(name)
	info, err := os.Stat(path)
	if err == nil {
		err = os.WriteFile(path, data, 0o644)
	}
	if err == nil {
		err = os.Chtimes(path, info.ModTime(), info.ModTime())
	}
	if err != nil {
		e.T.Fatal(err)
	}
}

func (e *editing) moved(from, to string) func() (undo func()) {
	move := func(from, to string) {
		if err := errors.Join(os.MkdirAll(filepath.Dir(e.Path(to)), 0o755), os.Rename(e.Path(from), e.Path(to))); err != nil {
			e.T.Fatal(err)
		}
	}
	return func() func() { move(from, to); return func() { move(to, from) } }
}

func (e *editing) removed(name string) func() (undo func()) {
	return func() func() {
		was := e.Read(name)
		if err := os.Remove(e.Path(name)); err != nil {
			e.T.Fatal(err)
		}
		return func() { e.write(name, was) }
	}
}

func (e *editing) added(name, text string) func() (undo func()) {
	return func() func() {
		e.write(name, text)
		return func() {
			if err := os.Remove(e.Path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				e.T.Fatal(err)
			}
		}
	}
}

// onTheWay are differences that arise after a prompt was made, as by a retry.
const onTheWay = "^(left out while sending|request changed|model changed|service changed|window |setting changed: (temperature|max_output_tokens|capabilities) )"

// consequences are those of limits.
const consequences = `|^(picture|file|note) is |^text (added|changed|removed): the tools on offer`

// any returns an edit.
func (e *editing) any() edit {
	n := func(most int) int { return 1 + e.r.IntN(most) }
	pick := func(all ...string) string { return all[e.r.IntN(len(all))] }
	picture := pick("p1.png", "p2.jpg", "p3.gif", "p4.webp", "p5.png", "p6.png")
	at := "Pictures/" + picture
	q := regexp.QuoteMeta
	append1 := func(was string) string { return was + fmt.Sprintf("More %d.\n", e.count) }
	limit := func(key, value string) edit {
		return edit{name: key + "=" + value, do: set(e.knobs, e.settings, "budget."+key, value), says: "^setting changed: " + key + " " + consequences, must: "^setting changed: " + key + " "}
	}
	call := func(key, value, says string) edit {
		return edit{name: key + "=" + value, do: set(e.knobs, e.settings, "alias."+key, value), says: says}
	}
	nothing := func(name string, do func() func()) edit { return edit{name: name, do: do, none: true} }
	all := []func() edit{
		func() edit {
			name := pick("Notes/A.md", "Notes/B.md", "Notes/C.md", "Deep.md", "Items/I1.md")
			return edit{name: "text of " + name, do: e.replaced(name, append1), says: "^note changed: " + q(name) + "$"}
		},
		func() edit {
			return edit{name: "properties", do: e.replaced("Notes/A.md", func(was string) string { return strings.Replace(was, "one", "two", 1) }), says: "^note changed: Notes/A.md$"}
		},
		func() edit {
			return edit{name: "embedded section", do: e.replaced("Emb.md", func(was string) string { return strings.Replace(was, "Part.", "Other part.", 1) }), says: "^note changed: Emb.md$"}
		},
		func() edit {
			return nothing("beside the embedded section", e.replaced("Emb.md", func(was string) string { return strings.Replace(was, "Rest.", "Other rest.", 1) }))
		},
		func() edit {
			return edit{name: "embedded note renamed", do: e.moved("Deep.md", "Deeper.md"), says: `^(note|file|picture) .*Deep|^note changed: Emb.md|order of the inputs`}
		},
		func() edit {
			return edit{name: "note renamed", do: e.moved("Notes/B.md", "Notes/D.md"), says: `Notes/[BD].md|^picture (removed|added): |order of the inputs|^picture is (sent|deduplicated)`, must: `^note added: Notes/D.md`}
		},
		func() edit {
			return edit{name: "note deleted", do: e.removed("Notes/C.md"), says: `Notes/C.md|^(picture|file) removed: .*(p5|gone)`, must: `^note removed: Notes/C.md`}
		},
		func() edit {
			return edit{name: "note added", do: e.added("Notes/E.md", "Fifth.\n![[p7.png]]\n"), says: `Notes/E.md|^picture added: .*p7`, must: `^note added: Notes/E.md`}
		},
		func() edit {
			return edit{name: "embed added", do: e.replaced("Notes/B.md", func(was string) string { return was + "![[p7.png]]\n" }), says: `^note changed: Notes/B.md$|^picture added: .*p7`, must: `^picture added`}
		},
		func() edit {
			return edit{name: "order", do: e.replaced("Notes/B.md", func(was string) string {
				return "Second.\n![alt](../Pictures/p4.webp)\n![[p3.gif]]\n![[p1.png]]\nEnd of B.\n"
			}), says: `^note changed: Notes/B.md$|order of the inputs`, must: `order of the inputs`}
		},
		func() edit {
			other := e.drawn(picture, 100, uint8(100+n(100)))
			return edit{name: "other picture " + picture, do: e.replaced(at, func(string) string { return string(other) }), says: "^(picture (changed|is [a-z]+.*)|left out while sending): .*" + q(picture)}
		},
		func() edit {
			return edit{name: "same size and time " + picture, do: func() func() {
				was := []byte(e.Read(at))
				other := slices.Clone(was)
				if len(other) > 8 {
					other = tail(other)
				}
				e.inPlace(at, other)
				return func() { e.inPlace(at, was) }
			}, says: "^(picture (changed|torn|is [a-z]+.*)|left out while sending): .*" + q(picture)}
		},
		func() edit {
			return edit{name: "torn " + picture, do: e.replaced(at, func(was string) string { return was[:len(was)*2/3] }), says: "^(picture (torn|changed|is [a-z]+.*)|left out while sending): .*" + q(picture)}
		},
		func() edit {
			return edit{name: "deleted " + picture, do: e.removed(at), says: "^(picture|file|left out while sending:) .*" + q(picture)}
		},
		func() edit {
			return edit{name: "moved " + picture, do: e.moved(at, "Other/"+picture), says: "^(picture|file|left out while sending:) .*" + q(picture) + "|order of the inputs"}
		},
		func() edit {
			return edit{name: "nearer " + picture, do: e.added("Notes/"+picture, string(e.drawn(picture, 90, 222))), says: "^(picture|file) .*" + q(picture) + "|order of the inputs"}
		},
		func() edit {
			return nothing("touched "+picture, func() func() {
				now := time.Now()
				if err := os.Chtimes(e.Path(at), now, now); err != nil {
					e.T.Fatal(err)
				}
				return func() {}
			})
		},
		func() edit {
			return nothing("same bytes "+picture, e.replaced(at, func(was string) string { return was }))
		},
		func() edit { return limit("max_images", fmt.Sprint(n(8)-1)) },
		func() edit { return limit("max_image_pixels", fmt.Sprint(64+n(300))) },
		func() edit { return limit("max_total_mb", pick("0.01", "0.02", "50")) },
		func() edit { // how large a picture is when it is encoded again shows then
			made := limit("max_image_mb", pick("0.01", "1", "4"))
			made.maybe = true
			return made
		},
		func() edit { return limit("min_image_side", pick("0", "90", "150")) },
		func() edit { return limit("max_prompt_tokens", pick("1200", "2000", "50000")) },
		func() edit { return limit("max_decode_pixels", pick("20000", "2000000")) },
		func() edit { return limit("max_pages", fmt.Sprint(n(5)-1)) },
		func() edit { return limit("max_fallback_tokens", pick("0", "10", "50")) },
		func() edit { return limit("min_page_dpi", pick("0", "10", "200")) },
		func() edit {
			e1 := limit("when_exceeded", pick("defer", "drop_oldest", "drop_newest", "refs_only"))
			e2 := limit("max_images", "2")
			first, second := e1.do, e2.do
			e1.do = func() func() { a := first(); b := second(); return func() { b(); a() } }
			e1.name, e1.says = e1.name+" with max_images", e1.says+"|"+e2.says
			e1.must = e2.must
			return e1
		},
		func() edit { return nothing("max_cost_usd", set(e.knobs, e.settings, "budget.max_cost_usd", "5")) },
		func() edit {
			return nothing("max_tool_images", set(e.knobs, e.settings, "budget.max_tool_images", "3"))
		},
		func() edit { return nothing("price", set(e.knobs, e.settings, "alias.price", "{input: 1, output: 2}")) },
		func() edit {
			return nothing("limits of the provider", set(e.knobs, e.settings, "provider", ", timeout: 90s, max_concurrency: 3"))
		},
		func() edit {
			return nothing("comment", set(e.knobs, e.settings, "comment", fmt.Sprintf("# %d\n", e.count)))
		},
		func() edit {
			return nothing("parallel runs", set(e.knobs, e.settings, "engine.max_parallel_runs", "3"))
		},
		func() edit { return nothing("strict links", set(e.knobs, e.settings, "policy.links", "strict")) },
		func() edit {
			return edit{name: "default model", do: set(e.knobs, e.settings, "default", "b"), says: "^model changed: b "}
		},
		func() edit {
			return edit{name: "model's name", do: set(e.knobs, e.settings, "model", "some-3"), says: "^model changed: a "}
		},
		func() edit {
			return edit{name: "address", do: set(e.knobs, e.settings, "address", "1"), says: "^service changed: "}
		},
		func() edit { return call("temperature", "0.3", "^setting changed: temperature ") },
		func() edit {
			return call("max_output_tokens", "777", "^setting changed: max_output_tokens "+consequences)
		},
		func() edit {
			return call("context_window", pick("3000", "9000", "32000"), "^window (changed|learned): |^request changed|^left out"+consequences)
		},
		func() edit { return call("limits", "{max_images: 2}", "^setting changed: max_images "+consequences) },
		func() edit {
			return edit{name: "no vision", do: set(e.knobs, e.settings, "caps", "[text, tools]"), says: "^setting changed: capabilities " + consequences + "|^text (added|changed|removed): the instructions|^left out while sending: "}
		},
		func() edit {
			return edit{name: "no tools", do: set(e.knobs, e.settings, "caps", "[text, vision]"), says: "^setting changed: capabilities " + consequences + "|^text (added|changed|removed): the instructions"}
		},
		func() edit {
			return edit{name: "untrusted", do: set(e.knobs, e.settings, "policy.untrusted", "[Notes/B.md]"), says: "^(note|picture|file) is untrusted now: "}
		},
		func() edit {
			return edit{name: "instructions", do: set(e.flow, e.workflow, "instructions", fmt.Sprintf(" and kind (%d).", e.count)), says: "^text changed: the instructions$"}
		},
		func() edit {
			return edit{name: "step's text", do: set(e.flow, e.workflow, "look", fmt.Sprintf(" at this (%d).", e.count)), says: "^text changed: the step's text$"}
		},
		func() edit {
			return nothing("description", set(e.flow, e.workflow, "description", fmt.Sprint("d", e.count)))
		},
		func() edit {
			return nothing("text above the steps", set(e.flow, e.workflow, "intro", fmt.Sprint("Intro ", e.count)))
		},
		func() edit {
			return edit{name: "images of the input", do: set(e.flow, e.workflow, "input", pick(", images=ignore", "", ", limit=2", ", head=10")), says: "^(picture|file|note) |order of the inputs|^text (added|changed|removed): the tools on offer"}
		},
		func() edit {
			return edit{name: "budget of the step", do: set(e.flow, e.workflow, "read", "@budget (max_images=1)\n"), says: "^setting changed: max_images " + consequences, must: "^setting changed: max_images "}
		},
		func() edit {
			return edit{name: "tools of the step", do: set(e.flow, e.workflow, "read", "@tools read_file\n"), says: "^text (added|changed): the (tools on offer|instructions)"}
		},
		func() edit { return nothing("another note", e.replaced("Other/X.md", append1)) },
		func() edit { return nothing("a new note", e.added("Other/Y.md", "New.\n![[p1.png]]\n")) },
		func() edit {
			return nothing("another workflow", e.added("Workflows/More.md", "## A\n@output file: Out/More\nx\n"))
		},
		func() edit {
			return nothing("there and back", func() func() { e.replaced("Notes/A.md", append1)()(); return func() {} })
		},
		func() edit {
			return edit{name: "answer", do: func() func() {
				e.mu.Lock()
				defer e.mu.Unlock()
				e.answer = fmt.Sprintf("Answer %d.", e.count)
				return func() {} // the last step has read it
			}, says: "^note changed: Out/Read.md$"}
		},
		func() edit {
			return edit{name: "window of the server", do: func() func() {
				e.mu.Lock()
				defer e.mu.Unlock()
				was := e.window
				e.window = 4096 * n(3)
				return func() { e.mu.Lock(); defer e.mu.Unlock(); e.window = was }
			}, says: "^window (changed|learned): |^request changed|^left out" + consequences}
		},
	}
	return all[e.r.IntN(len(all))]()
}

// tail changes the last bytes that say something of a file.
func tail(data []byte) []byte {
	out := bytes.Clone(data)
	out[len(out)/2] ^= 1
	return out
}

// works are what a run sent, by marker: only the first batch of a step was previewed.
func works(r engine.RunRecord) map[string]engine.BatchRecord {
	out := map[string]engine.BatchRecord{}
	for _, s := range r.Steps {
		if all := s.Works(); len(all) > 0 {
			out["MARK-"+strings.ToUpper(s.Step)] = all[0]
		}
	}
	return out
}

// sent returns the first request of each marker since it was asked last.
func (e *editing) sent() map[string]wired {
	out := map[string]wired{}
	for i, w := range e.wires {
		all := w.Requests()
		for _, c := range all[e.wasAt[i]:] {
			marker := regexp.MustCompile(`MARK-[A-Z]+`).FindString(string(c.Body))
			if _, ok := out[marker]; !ok {
				out[marker] = wired{w.URL, string(c.Body)}
			}
		}
		e.wasAt[i] = len(all)
	}
	return out
}

// previewed returns the digests of a preview, by marker.
func (e *editing) previewed() map[string]string {
	e.T.Helper()
	out := map[string]string{}
	for _, p := range sitetest.Rows[promptLine](e.Site, "preview", "Flow") {
		if p.Type == "prompt" {
			out["MARK-"+strings.ToUpper(p.Step)] = p.Digest
		}
	}
	return out
}

// ran runs a command that ends with a run, and returns the run and what was on the wire.
func (e *editing) ran(args ...string) (engine.RunRecord, map[string]wired, string) {
	e.T.Helper()
	out, errs, code := e.CLI(append(args, "--json")...)
	var r engine.RunRecord
	for dec := json.NewDecoder(strings.NewReader(out)); dec.More(); {
		var row json.RawMessage
		if err := dec.Decode(&row); err != nil {
			e.T.Fatal(err, out)
		}
		var kind struct{ Type string }
		if json.Unmarshal(row, &kind) == nil && kind.Type == "run" {
			if err := json.Unmarshal(row, &r); err != nil {
				e.T.Fatal(err)
			}
		}
	}
	said := fmt.Sprintf("%v: exit code %d, %s (%s)\n%s", args, code, r.Status, r.Reason, errs)
	for marker, work := range works(r) {
		said += fmt.Sprintf("%s: %s (%s) left out %q\n", marker, work.Status, work.Reason, work.Omitted)
	}
	if r.ID == "" {
		e.T.Fatalf("no run: %s%s", said, out)
	}
	return r, e.sent(), said
}

// round previews, edits and runs.
func (e *editing) round() {
	e.T.Helper()
	e.count++
	digests := e.previewed()
	if slices.ContainsFunc(slices.Collect(maps.Values(digests)), func(d string) bool { return e.known[d].body == "" }) {
		r, sent, said := e.ran("run", "Flow")
		e.judge(digests, r, sent, nil, said)
		digests = e.previewed()
		for m, d := range digests {
			if e.known[d].body == "" {
				e.T.Fatalf("round %d: a preview behind a run without an edit has another digest: %s %s, the run\n%s\n%+v", e.count, m, d, said, works(r)[m].Sent)
			}
		}
	}
	retry := ""
	if e.r.IntN(8) == 0 {
		e.mu.Lock()
		e.fails = true
		e.mu.Unlock()
		r, sent, said := e.ran("run", "Flow")
		e.judge(digests, r, sent, nil, said)
		retry = r.ID
	}
	var edits []edit
	var undo []func()
	for range 1 + e.r.IntN(6)/3 + e.r.IntN(6)/5 {
		made := e.any()
		undo = append(undo, made.do())
		edits = append(edits, made)
	}
	args := []string{"run", "Flow"}
	if retry != "" {
		args = []string{"retry", retry}
	}
	r, sent, said := e.ran(args...)
	e.judge(digests, r, sent, edits, said)
	for _, u := range slices.Backward(undo) {
		u()
	}
}

// judge compares what was sent with what was previewed and with what the run says about it.
func (e *editing) judge(digests map[string]string, r engine.RunRecord, sent map[string]wired, edits []edit, said string) {
	e.T.Helper()
	var names []string
	for _, made := range edits {
		names = append(names, made.name)
	}
	failed := false
	fail := func(format string, args ...any) {
		e.T.Helper()
		failed = true
		e.T.Errorf("round %d, after %q: %s", e.count, names, fmt.Sprintf(format, args...))
	}
	defer func() {
		if failed {
			e.bad++
			e.T.Log(said)
		}
	}()
	var all []string
	for marker, work := range works(r) {
		got, was := sent[marker], e.known[digests[marker]]
		if work.Calls == 0 || got.body == "" {
			continue // nothing was sent
		}
		now := work.Sent
		list := now.Differences
		exact := !slices.ContainsFunc(list, regexp.MustCompile(onTheWay).MatchString) // what was assembled was sent
		if before, ok := e.known[now.Digest]; ok && exact && before != got {
			fail("%s: one digest for two requests:\n%s", marker, cmpText(before.address+before.body, got.address+got.body))
		}
		if exact {
			e.known[now.Digest] = got
		}
		switch {
		case digests[marker] == "":
			if !now.Previewed.IsZero() {
				continue // an older preview
			}
		case now.Previewed.IsZero():
			fail("%s: no comparison", marker)
		case was.body == "" && edits == nil:
			if len(list) > 0 || now.Digest != digests[marker] {
				fail("%s: nothing was edited: %q, digest %s, previewed %s", marker, list, now.Digest, digests[marker])
			}
		case got == was && len(list) > 0 && !slices.ContainsFunc(edits, func(made edit) bool { return made.maybe }):
			fail("%s: the same bytes, and %q", marker, list)
		case got != was && len(list) == 0:
			fail("%s: sent as previewed, but\n%s", marker, cmpText(was.address+was.body, got.address+got.body))
		}
		all = append(all, list...)
		for _, line := range list {
			e.differ[strings.SplitN(line, ":", 2)[0]]++
			if edits != nil && !slices.ContainsFunc(edits, func(made edit) bool { return !made.none && regexp.MustCompile(made.says).MatchString(line) }) {
				fail("%s: nobody edited what it names: %q, of %q", marker, line, list)
			}
		}
	}
	for _, made := range edits {
		must := made.must
		if must == "" {
			must = made.says
		}
		if !made.none && len(edits) == 1 && len(all) > 0 && !slices.ContainsFunc(all, regexp.MustCompile(must).MatchString) {
			fail("%s is not named: %q", made.name, all)
		}
	}
}

// cmpText shows where two texts differ first.
func cmpText(a, b string) string {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	show := func(s string) string { return s[max(0, i-80):min(len(s), i+120)] }
	return fmt.Sprintf("- %s\n+ %s", show(a), show(b))
}
