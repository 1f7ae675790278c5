package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/web/session"
)

// Times of a live stream.
const (
	gather    = 150 * time.Millisecond // changes within this time go out together
	heartbeat = 20 * time.Second       // the whole page is compared again, and the connection kept open
)

// stream is one live connection: it remembers what the browser has, and sends what differs.
type stream struct {
	site *site
	w    http.ResponseWriter
	ctl  *http.ResponseController
	view view
	id   string // of the run or import that the page is about; empty on the first page
	sent map[string]sentGroup

	request *http.Request // who it is for: a stream ends with its session or token
	asked   time.Time     // when that was looked at
}

// sentGroup is what the browser has of a group: the order of its parts, and their hashes by id.
type sentGroup struct {
	order  []string
	hashes map[string]string
}

// liveStreams keep open pages current.
type liveStreams struct{ site *site }

// live sends changes of a page as server-sent events. A stream begins with everything, so a browser that comes back after a break
// has missed nothing; the script leaves alone what did not change.
func (s liveStreams) live(w http.ResponseWriter, r *http.Request) {
	select {
	case s.site.streams <- struct{}{}:
		defer func() { <-s.site.streams }()
	default:
		s.site.fail(w, r, http.StatusServiceUnavailable, "too many pages are open", "close some of them")
		return
	}
	id := r.URL.Query().Get("id")
	v, err := s.viewOf(r.Context(), r.URL.Query().Get("view"), id)
	if err != nil {
		s.site.failWith(w, r, err)
		return
	}
	events, stop := s.site.cfg.Events.Subscribe(256)
	defer stop()
	openStream(w)
	st := &stream{site: s.site, w: w, ctl: http.NewResponseController(w), view: v, id: id, sent: map[string]sentGroup{}, request: r, asked: time.Now()}
	if err := st.follow(r.Context(), events); err != nil && r.Context().Err() == nil && s.site.closing.Err() == nil {
		s.site.cfg.Logger.Debug("live stream ended", "err", err)
	}
}

// viewOf finds the page that a stream is for.
func (s liveStreams) viewOf(ctx context.Context, name, id string) (view, error) {
	switch name {
	case "today", "":
		return frontPage(s).today(nil)
	case "run":
		r, err := s.site.cfg.Runs.Run(ctx, id)
		return runPages(s).runView(r), err
	case "import":
		r, err := s.site.cfg.Imports.Import(ctx, id)
		return importPages(s).importView(r), err
	}
	return view{}, fmt.Errorf("page %q: %w", name, engine.ErrNotFound)
}

func openStream(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.Header().Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
}

// follow sends until the browser or the server goes.
func (st *stream) follow(ctx context.Context, events <-chan engine.Event) error {
	if _, err := fmt.Fprint(st.w, "retry: 2000\n\n"); err != nil {
		return err
	}
	if err := st.update(ctx, nil); err != nil {
		return err
	}
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	dirty, all := map[string]bool{}, false
	for {
		var err error
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-st.site.closing.Done():
			return nil
		case e, open := <-events:
			if !open {
				return nil
			}
			if len(dirty) == 0 && !all {
				timer.Reset(gather)
			}
			err = st.note(e, dirty)
			all = all || e.Kind == engine.EventLost
		case <-timer.C:
			if all {
				clear(dirty)
			}
			if all || len(dirty) > 0 {
				err = st.update(ctx, dirty)
			}
			clear(dirty)
			all = false
		case <-beat.C:
			err = st.update(ctx, nil)
		}
		if err != nil {
			return err
		}
	}
}

// note marks what an event changes, and sends at once what is not part of a page.
func (st *stream) note(e engine.Event, dirty map[string]bool) error {
	about := st.id == "" || e.Run == st.id || e.Import != nil && e.Import.ID == st.id
	switch {
	case !about:
		return nil
	case e.Kind == engine.EventDelta:
		if st.id == "" {
			return nil
		}
		return st.send("delta", map[string]string{"step": writer(e), "text": e.Message})
	case st.id != "":
		dirty["head"] = true
	case e.Import != nil || e.Kind == engine.EventImport || e.Kind == engine.EventPage:
		dirty["imports"], dirty["totals"] = true, true
	default:
		dirty["runs"] = true
		if e.Kind == engine.EventRun {
			dirty["workflows"], dirty["totals"] = true, true
		}
	}
	switch {
	case e.Kind == engine.EventRun && e.Status.Finished() && e.Subject != "":
		return st.send("say", map[string]string{"text": e.Subject + ": " + statusPill(e.Status).Text})
	case e.Kind == engine.EventImport && e.State.Finished() && e.Subject != "":
		return st.send("say", map[string]string{"text": e.Subject + ": " + statePill(e.State).Text})
	}
	return nil
}

// change is what the browser gets about a group: the order of its parts and the HTML of those that are new.
type change struct {
	Name  string            `json:"name"`
	Order []string          `json:"order"`
	HTML  map[string]string `json:"html"`
}

// update loads the groups that are dirty, or all, and sends the differences.
func (st *stream) update(ctx context.Context, dirty map[string]bool) error {
	groups, err := st.view.load(ctx, dirty)
	if err != nil {
		return err
	}
	quiet := true
	for _, g := range groups {
		c := change{Name: g.Name, Order: make([]string, 0, len(g.Parts)), HTML: map[string]string{}}
		before, known := st.sent[g.Name]
		now := make(map[string]string, len(g.Parts))
		for _, p := range g.Parts {
			c.Order = append(c.Order, p.ID)
			now[p.ID] = p.hash
			if before.hashes[p.ID] != p.hash {
				c.HTML[p.ID] = string(p.HTML)
			}
		}
		st.sent[g.Name] = sentGroup{c.Order, now}
		if known && len(c.HTML) == 0 && slices.Equal(before.order, c.Order) {
			continue
		}
		quiet = false
		if err := st.send("group", c); err != nil {
			return err
		}
	}
	if quiet {
		return st.write(": still here\n\n")
	}
	return nil
}

func (st *stream) send(event string, data any) error {
	body, err := json.Marshal(data)
	if err != nil {
		return err
	}
	return st.write(fmt.Sprintf("event: %s\ndata: %s\n\n", event, body))
}

// errEnded ends a stream whose session or token has ended.
var errEnded = errors.New("the session or token has ended")

// allowed checks, at most once a second, whether the stream may continue.
func (st *stream) allowed() error {
	if now := time.Now(); now.Sub(st.asked) >= time.Second {
		st.asked = now
		id, err := guard{st.site}.identify(st.request)
		if _, waits := errors.AsType[*session.WaitError](err); !waits && (err != nil || !id.Scopes.Has(session.Read)) {
			return errEnded
		}
	}
	return nil
}

func (st *stream) write(text string) error {
	if err := st.allowed(); err != nil {
		return err
	}
	_ = st.ctl.SetWriteDeadline(time.Now().Add(heartbeat)) // a connection without deadlines only waits longer
	if _, err := fmt.Fprint(st.w, text); err != nil {
		return err
	}
	return st.ctl.Flush()
}
