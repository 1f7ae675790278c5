package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/tools"
)

// Bounds of what a server may send.
const (
	maxTools       = 1000     // that it may list
	maxSchema      = 64 << 10 // bytes of a tool's schema
	maxDescription = 2000     // bytes of a tool's description
)

// maxMessage is how long one message of a server may be, in bytes. Tests send less.
var maxMessage = 16 << 20

// pause is how long to wait before starting a failed server again. After a time-out the wait is five times that time, because a
// step asks for its tools several times.
const pause = 5 * time.Second

// connection is one server, running or not.
type connection struct {
	Server
	o Options

	mu      sync.Mutex // guards what follows
	session *session   // nil: not running
	failed  error      // why it could not be started the last time
	until   time.Time  // do not start it before
	closed  bool
}

// session is a running server with the tools it listed.
type session struct {
	*sdk.ClientSession
	tools map[string]listed
	end   func() // ends the program

	changed map[string]bool // tools that describe themselves differently than when they were trusted
	first   bool            // this session pinned the tools
	dead    chan struct{}   // closed when the connection has ended
}

// listed is a tool as the server describes it.
type listed struct {
	description string
	schema      json.RawMessage
	check       func(ctx context.Context, input json.RawMessage) error
	readOnly    bool // the server says so
}

// reach returns the server, and starts it if needed.
func (c *connection) reach() (*session, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.o.Idle {
		return nil, errors.New("no server is started here")
	}
	if c.closed {
		return nil, errors.New("vaultflow is stopping")
	}
	if c.session != nil {
		select {
		case <-c.session.dead:
			c.session.end()
			c.session = nil
		default:
			return c.session, nil
		}
	}
	if c.failed != nil && time.Now().Before(c.until) {
		return nil, c.failed
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.Timeout)
	defer cancel()
	s, err := c.start(ctx)
	if err != nil {
		err = c.conceal(err)
		wait := pause
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			err, wait = fmt.Errorf("it did not answer within %s", c.Timeout), 5*c.Timeout
		}
		c.failed, c.until = fmt.Errorf("the server %s cannot be used: %w", c.Name, err), time.Now().Add(wait)
		c.log("server of mcp_servers cannot be used", err)
		return nil, c.failed
	}
	c.session, c.failed = s, nil
	return s, nil
}

func (c *connection) log(message string, err error) {
	if c.o.Log != nil {
		c.o.Log.Warn(message, "server", c.Name, "err", err)
	}
}

// start connects and lists the tools.
func (c *connection) start(ctx context.Context) (*session, error) {
	transport, end, err := c.transport()
	if err != nil {
		return nil, err
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "vaultflow", Version: c.o.Version}, &sdk.ClientOptions{
		Capabilities:   &sdk.ClientCapabilities{}, // no roots: a server learns nothing about the vault
		MultiRoundTrip: &sdk.MultiRoundTripOptions{Disabled: true},
	})
	type connected struct {
		session *sdk.ClientSession
		err     error
	}
	done := make(chan connected, 1)
	go func() { // a silent server must not delay anything beyond its time-out
		s, err := client.Connect(ctx, transport, nil)
		done <- connected{s, err}
	}()
	var got connected
	select {
	case got = <-done:
	case <-ctx.Done():
		end()
		go func() {
			if late := <-done; late.session != nil {
				_ = late.session.Close() // too late
			}
		}()
		return nil, ctx.Err()
	}
	if got.err != nil {
		end()
		return nil, plain(got.err)
	}
	s := &session{ClientSession: got.session, tools: map[string]listed{}, dead: make(chan struct{})}
	var once sync.Once
	s.end = func() {
		once.Do(func() {
			closed := make(chan struct{})
			go func() { _ = got.session.Close(); close(closed) }() // it may wait for the server
			select {
			case <-closed:
			case <-time.After(grace):
			}
			end()
		})
	}
	go func() { _ = got.session.Wait(); close(s.dead) }()
	if err := s.list(ctx); err != nil {
		s.end()
		return nil, err
	}
	if err := c.compare(s); err != nil {
		s.end()
		return nil, err
	}
	return s, nil
}

// isChanged reports whether a tool's description differs from the trusted one, unless someone has approved it since.
func (c *connection) isChanged(s *session, name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !s.changed[name] {
		return false
	}
	if err := c.compare(s); err != nil {
		c.log("pins of mcp_servers cannot be read", err)
	}
	return s.changed[name]
}

// compare compares the descriptions of the permitted tools with those a user trusted.
func (c *connection) compare(s *session) error {
	if c.o.Pins == nil {
		return nil
	}
	used := map[string]listed{}
	for name, l := range s.tools {
		if c.permits(name) {
			used[name] = l
		}
	}
	changed, first, err := c.o.Pins.compare(c.Name, c.reached(), used)
	if err != nil {
		return err
	}
	s.changed, s.first = changed, first
	if c.o.Log == nil {
		return nil
	}
	switch {
	case s.first:
		c.o.Log.Info("tools of a server of mcp_servers pinned as they describe themselves", "server", c.Name, "tools", len(used))
	case len(s.changed) > 0:
		c.o.Log.Warn("tools of a server of mcp_servers describe themselves differently: refused until vaultflow trust", "server", c.Name, "tools", slices.Sorted(maps.Keys(s.changed)))
	}
	return nil
}

// reached returns the digest of the program or address: each has its own pins.
func (s Server) reached() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q", s.Command, s.URL))
	return hex.EncodeToString(sum[:])
}

// list reads the tools, page by page.
func (s *session) list(ctx context.Context) error {
	for t, err := range s.Tools(ctx, nil) {
		if err != nil {
			return plain(err)
		}
		if len(s.tools) == maxTools {
			return fmt.Errorf("it lists more than %d tools", maxTools)
		}
		if t != nil && t.Name != "" {
			s.tools[t.Name] = describe(t)
		}
	}
	return nil
}

// describe returns a tool as the server describes it, within limits. A schema that services would reject is replaced with any
// object, because the server checks its input itself.
func describe(t *sdk.Tool) listed {
	l := listed{description: clip(strings.ToValidUTF8(t.Description, ""), maxDescription), schema: json.RawMessage(anything)}
	l.readOnly = t.Annotations != nil && t.Annotations.ReadOnlyHint
	raw, err := json.Marshal(t.InputSchema)
	var form struct {
		Type string `json:"type"`
	}
	if err == nil && len(raw) <= maxSchema && json.Unmarshal(raw, &form) == nil && form.Type == "object" {
		if l.check = checker(raw); l.check != nil {
			l.schema = raw
		}
	}
	return l
}

// anything is the schema that accepts every object.
const anything = `{"type":"object"}`

// tool returns a tool to offer to models. If it is not available its calls fail with the reason.
func (c *connection) tool(name string) tools.Tool {
	t := tools.Tool{Parameters: json.RawMessage(anything), Description: "A tool of the server " + c.Name + "."}
	if s, err := c.reach(); err == nil {
		l, ok := s.tools[name]
		changed := c.isChanged(s, name)
		switch {
		case changed:
			t.Note = c.differs(name)
		case ok && s.first:
			t.Note = fmt.Sprintf("the tools of the server %s were pinned as they describe themselves: a change of them asks again", c.Name)
		}
		if ok && !changed {
			t.Parameters, t.ReadOnly = l.schema, l.readOnly
			t.Description = strings.TrimSpace(t.Description + " " + l.description)
		}
	}
	t.Run = func(ctx context.Context, input json.RawMessage) content.ToolResult {
		result := c.call(ctx, name, input)
		result.Origins = policy.Trust{}.Origins([]policy.Read{{Kind: policy.ReadMCP, Name: c.Name + "." + name}})
		return result
	}
	return t
}

// differs is the error for a tool that changed since it was trusted.
func (c *connection) differs(name string) string {
	return fmt.Sprintf("%s.%s describes itself differently than when it was trusted: it is refused until somebody agrees with `vaultflow trust`", c.Name, name)
}

// call makes one call. It is never sent twice, because its effect is unknown.
func (c *connection) call(ctx context.Context, name string, input json.RawMessage) content.ToolResult {
	s, err := c.reach()
	if err != nil {
		return tools.Failed("%v", err)
	}
	l, ok := s.tools[name]
	if !ok {
		return tools.Failed("the server %s has no tool %s", c.Name, name)
	}
	if c.isChanged(s, name) {
		return tools.Failed("%s", c.differs(name))
	}
	if l.check != nil {
		if err := l.check(ctx, input); err != nil {
			return tools.Failed("the input does not fit: %v", err)
		}
	}
	inner, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	answer, err := s.CallTool(inner, &sdk.CallToolParams{Name: name, Arguments: input})
	switch {
	case ctx.Err() != nil:
		return tools.Failed("the run was stopped")
	case errors.Is(inner.Err(), context.DeadlineExceeded):
		return tools.Failed("the server %s did not answer within %s; it is unknown what the call did", c.Name, c.Timeout)
	case err != nil:
		if said := (*jsonrpc.Error)(nil); !errors.As(err, &said) {
			c.drop(s) // it was no answer
		}
		err = c.conceal(plain(err))
		c.log("call of a server of mcp_servers failed", err)
		return tools.Failed("the server %s failed: %v", c.Name, err)
	}
	return c.result(ctx, name, answer)
}

// drop ends a server whose connection failed. The next call starts it again.
func (c *connection) drop(s *session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session == s {
		c.session = nil
	}
	s.end()
}

// close ends the server.
func (c *connection) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	if c.session != nil {
		c.session.end()
		c.session = nil
	}
}

// plain returns an error on one line of limited length. Its text may come from the server.
func plain(err error) error {
	return errors.New(clip(strings.Join(strings.Fields(strings.ToValidUTF8(err.Error(), "")), " "), 300))
}

// clip cuts a text to at most n bytes, at a whole character.
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
