package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/vaultflow/vaultflow/engine"
)

// maxList bounds the lists of the API.
const maxList = 500

// apiRoutes answer programs.
type apiRoutes struct{ site *site }

func writeJSON(w http.ResponseWriter, status int, body any) {
	data, err := json.Marshal(body)
	if err != nil {
		http.Error(w, `{"type":"error","message":"the answer cannot be encoded"}`, http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(data, '\n')) // a client that is gone needs no answer
}

// answer writes a value, or the error.
func (s *site) respond(w http.ResponseWriter, r *http.Request, key string, value any, err error) {
	if err != nil {
		s.failWith(w, r, err)
		return
	}
	if key == "" {
		writeJSON(w, http.StatusOK, value)
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{key: value})
}

// limit reads ?limit=, from 1 to maxList.
func limit(r *http.Request) int {
	n, err := strconv.Atoi(r.URL.Query().Get("limit"))
	if err != nil || n < 1 {
		return 50
	}
	return min(n, maxList)
}

func (s apiRoutes) runs(w http.ResponseWriter, r *http.Request) {
	list, err := s.site.cfg.Runs.Runs(r.Context(), limit(r))
	s.site.respond(w, r, "runs", orEmpty(list), err)
}

func (s apiRoutes) run(w http.ResponseWriter, r *http.Request) {
	run, err := s.site.cfg.Runs.Run(r.Context(), r.PathValue("id"))
	s.site.respond(w, r, "", run, err)
}

func (s apiRoutes) imports(w http.ResponseWriter, r *http.Request) {
	list, err := s.site.cfg.Imports.Imports(r.Context(), limit(r))
	s.site.respond(w, r, "imports", orEmpty(list), err)
}

func (s apiRoutes) oneImport(w http.ResponseWriter, r *http.Request) {
	one, err := s.site.cfg.Imports.Import(r.Context(), r.PathValue("id"))
	s.site.respond(w, r, "", one, err)
}

func (s apiRoutes) workflows(w http.ResponseWriter, r *http.Request) {
	list, err := s.site.cfg.Workflows(r.Context())
	s.site.respond(w, r, "workflows", orEmpty(list), err)
}

func (s apiRoutes) health(w http.ResponseWriter, r *http.Request) {
	var list []Check
	if s.site.cfg.Health != nil {
		list = s.site.cfg.Health(r.Context())
	}
	s.site.respond(w, r, "checks", orEmpty(list), nil)
}

// apiStart runs a workflow: {"workflow": "daily/plan"}, about files with "files": ["Notes/a.md"].
func (s apiRoutes) start(w http.ResponseWriter, r *http.Request) {
	if s.site.cfg.Starter == nil {
		s.site.notFound(w, r)
		return
	}
	var body struct {
		Workflow string   `json:"workflow"`
		Files    []string `json:"files"`
	}
	dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, 64<<10))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&body); err != nil || body.Workflow == "" {
		s.site.fail(w, r, http.StatusBadRequest, `the body must be a JSON object with the name of a workflow and, if it is about files, their paths`, `send {"workflow": "name"} or {"workflow": "name", "files": ["Notes/a.md"]}`)
		return
	}
	started, err := s.site.cfg.Starter.StartWorkflow(r.Context(), body.Workflow, body.Files)
	if err != nil {
		s.site.failWith(w, r, err)
		return
	}
	w.Header().Set("Location", s.site.cfg.Root+"/api/v1/runs/"+started.Run)
	writeJSON(w, http.StatusAccepted, map[string]any{
		"type": "started", "run": started.Run, "created": started.Created, "status": started.Status, "reason": started.Reason,
	})
}

// apiEvents streams what happens, one JSON event each; ?run= narrows it to one run. With Last-Event-ID, or ?after=, the stored
// events of that run after the place come first.
func (s apiRoutes) events(w http.ResponseWriter, r *http.Request) {
	select {
	case s.site.streams <- struct{}{}:
		defer func() { <-s.site.streams }()
	default:
		s.site.fail(w, r, http.StatusServiceUnavailable, "too many streams are open", "close some of them")
		return
	}
	events, stop := s.site.cfg.Events.Subscribe(256)
	defer stop()
	run, after := r.URL.Query().Get("run"), place(r)
	var past []engine.Event
	if after >= 0 {
		var err error
		if past, err = s.site.cfg.Runs.Events(r.Context(), run, after, 1000); err != nil {
			s.site.failWith(w, r, err)
			return
		}
	}
	openStream(w)
	st := &stream{site: s.site, w: w, ctl: http.NewResponseController(w), request: r, asked: time.Now()}
	if err := st.events(r, past, events, run); err != nil && r.Context().Err() == nil {
		s.site.cfg.Logger.Debug("event stream ended", "err", err)
	}
}

// place is the last event that the client has; -1 when it does not say.
func place(r *http.Request) int64 {
	text := r.Header.Get("Last-Event-ID")
	if text == "" {
		text = r.URL.Query().Get("after")
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return -1
	}
	return n
}

// events sends the past ones and then those that come, each once.
func (st *stream) events(r *http.Request, past []engine.Event, events <-chan engine.Event, run string) error {
	var last int64
	for _, e := range past {
		if err := st.event(e); err != nil {
			return err
		}
		last = e.Seq
	}
	if err := st.write(": open\n\n"); err != nil {
		return err
	}
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for {
		var err error
		select {
		case <-r.Context().Done():
			return nil
		case <-st.site.closing.Done():
			return nil
		case <-beat.C:
			err = st.write(": still here\n\n")
		case e, open := <-events:
			if !open {
				return nil
			}
			if (run == "" || e.Run == run || e.Kind == engine.EventLost) && (e.Seq == 0 || e.Seq > last) {
				err = st.event(e)
			}
		}
		if err != nil {
			return err
		}
	}
}

func (st *stream) event(e engine.Event) error {
	body, err := json.Marshal(e)
	if err != nil {
		return err
	}
	id := ""
	if e.Seq > 0 {
		id = fmt.Sprintf("id: %d\n", e.Seq)
	}
	return st.write(fmt.Sprintf("%sevent: %s\ndata: %s\n\n", id, e.Kind, body))
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
