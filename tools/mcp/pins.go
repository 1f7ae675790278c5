package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/vaultflow/vaultflow/content/visible"
	"github.com/vaultflow/vaultflow/settings/state"
)

// pinsFile is the file of the pins in the state directory.
const pinsFile = "mcp-pins.json"

// Pins keep the descriptions of servers' tools that a user trusted. A description reaches models and may act as an instruction, so
// a tool whose description changes is refused until the user approves it. The first use of a server pins its tools, because the
// user allowed the server itself. Pins is safe for concurrent use.
type Pins struct {
	dir string
	mu  sync.Mutex // guards the file
}

// OpenPins returns the pins of a state directory.
func OpenPins(dir string) *Pins { return &Pins{dir: dir} }

// pin is the description of one tool.
type pin struct {
	Digest      string `json:"digest"`
	Description string `json:"description,omitempty"`
	Schema      string `json:"schema,omitempty"` // omitted if long
}

// pinned is what is known about one server.
type pinned struct {
	Reached string         `json:"reached"` // digest of the program or address: a new one is a new server
	Tools   map[string]pin `json:"tools"`
	Waiting map[string]pin `json:"waiting,omitempty"` // changed descriptions
}

type pinBook struct {
	Version int               `json:"version"`
	Servers map[string]pinned `json:"servers"`
}

// Limits that keep the file small.
const (
	maxPinnedSchema = 4 << 10 // bytes
	maxPinnedTexts  = 200     // tools of a server kept with text; others only as digests
)

func pinOf(name string, l listed, withTexts bool) pin {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %s %v", name, l.description, l.schema, l.readOnly))
	p := pin{Digest: hex.EncodeToString(sum[:])}
	if withTexts {
		p.Description = l.description
		if len(l.schema) <= maxPinnedSchema {
			p.Schema = string(l.schema)
		}
	}
	return p
}

// compare returns the tools of a server that differ from their pins. first reports whether the server was new: then it is pinned now.
func (p *Pins) compare(server, reached string, tools map[string]listed) (changed map[string]bool, first bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	book, err := p.read()
	if err != nil {
		return nil, false, err
	}
	now := map[string]pin{}
	for i, name := range slices.Sorted(maps.Keys(tools)) {
		now[name] = pinOf(name, tools[name], i < maxPinnedTexts)
	}
	known, there := book.Servers[server]
	if !there || known.Reached != reached {
		book.Servers[server] = pinned{Reached: reached, Tools: now}
		return nil, true, p.write(book)
	}
	changed, waiting := map[string]bool{}, map[string]pin{}
	for name, is := range now {
		if known.Tools[name].Digest != is.Digest {
			changed[name], waiting[name] = true, is
		}
	}
	if maps.Equal(waiting, known.Waiting) {
		return changed, false, nil
	}
	known.Waiting = waiting
	book.Servers[server] = known
	return changed, false, p.write(book)
}

// Waiting is a tool whose description differs from the trusted one.
type Waiting struct {
	Server, Tool string
	Digest       string // of the new description
	Says         string // the change, for people
	Before, Now  string // description and schema, with invisible characters shown; Before is empty for a new tool
}

// Waiting lists the tools that need approval, by name.
func (p *Pins) Waiting() ([]Waiting, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	book, err := p.read()
	if err != nil {
		return nil, err
	}
	var list []Waiting
	for _, server := range slices.Sorted(maps.Keys(book.Servers)) {
		known := book.Servers[server]
		for _, tool := range slices.Sorted(maps.Keys(known.Waiting)) {
			is := known.Waiting[tool]
			w := Waiting{Server: server, Tool: tool, Digest: is.Digest, Now: is.text()}
			w.Says = fmt.Sprintf("the server %s has a new tool, %s: what it says of itself goes to models", visible.Text(server), visible.Text(tool))
			if was, had := known.Tools[tool]; had {
				w.Before = was.text()
				w.Says = fmt.Sprintf("the tool %s of the server %s describes itself differently now: what it says of itself goes to models", visible.Text(tool), visible.Text(server))
			}
			list = append(list, w)
		}
	}
	return list, nil
}

// Grant approves the description with this digest of a tool. It reports whether it was waiting.
func (p *Pins) Grant(server, tool, digest string) (bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	book, err := p.read()
	if err != nil {
		return false, err
	}
	known := book.Servers[server]
	is, waits := known.Waiting[tool]
	if !waits || is.Digest != digest {
		return false, nil
	}
	known.Tools[tool] = is
	delete(known.Waiting, tool)
	return true, p.write(book)
}

// text returns the description of a tool, for people.
func (p pin) text() string {
	text := visible.Text(p.Description)
	if p.Schema != "" {
		text += "\n" + visible.Text(p.Schema)
	}
	if text == "" {
		text = "(too long to be kept; digest " + p.Digest + ")"
	}
	return strings.TrimSpace(text) + "\n"
}

func (p *Pins) read() (pinBook, error) {
	book := pinBook{Version: 1}
	data, err := state.Read(p.dir, pinsFile)
	if err == nil {
		err = json.Unmarshal(data, &book)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return book, fmt.Errorf("read which tools of MCP servers are trusted: %w", err)
	}
	if book.Servers == nil {
		book.Servers = map[string]pinned{}
	}
	for name, s := range book.Servers {
		if s.Tools == nil {
			s.Tools = map[string]pin{}
			book.Servers[name] = s
		}
	}
	return book, nil
}

func (p *Pins) write(book pinBook) error {
	data, err := json.Marshal(book)
	if err != nil {
		return err
	}
	return state.Write(p.dir, pinsFile, data)
}
