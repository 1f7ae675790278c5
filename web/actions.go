package web

import (
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"

	"github.com/vaultflow/vaultflow/engine"
)

// actions are the handlers that start, cancel and retry runs, and upload files.
type actions struct{ site *site }

// startWorkflow runs a workflow and goes to its run.
func (s actions) startWorkflow(w http.ResponseWriter, r *http.Request) {
	if s.site.cfg.Starter == nil {
		s.site.notFound(w, r)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, 64<<10)
	var files []string
	if file := strings.TrimSpace(r.PostFormValue("file")); file != "" {
		files = []string{file}
	}
	started, err := s.site.cfg.Starter.StartWorkflow(r.Context(), r.PostFormValue("name"), files)
	if err != nil {
		s.site.failWith(w, r, err)
		return
	}
	s.site.redirect(w, r, "/runs/"+url.PathEscape(started.Run))
}

func (s actions) cancel(w http.ResponseWriter, r *http.Request) {
	s.control(w, r, func(c Control) error { return c.Cancel(r.Context(), r.PathValue("id")) })
}

func (s actions) retry(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 64<<10)
	if c := s.site.cfg.Control; c != nil && r.PostFormValue("current") != "" {
		started, err := c.Again(r.Context(), r.PathValue("id"))
		if err != nil {
			s.site.failWith(w, r, err)
			return
		}
		s.site.redirect(w, r, "/runs/"+url.PathEscape(started))
		return
	}
	s.control(w, r, func(c Control) error {
		from := engine.RetryFrom{Step: r.PostFormValue("step"), Failed: r.PostFormValue("failed") != ""}
		retried, err := c.Retry(r.Context(), r.PathValue("id"), from)
		if err == nil {
			r.SetPathValue("id", retried) // the page to go back to
		}
		return err
	})
}

// dismiss goes back to the list from which the failure disappears.
func (s actions) dismiss(w http.ResponseWriter, r *http.Request) {
	s.control(w, r, func(c Control) error { return c.Dismiss(r.Context(), r.PathValue("id")) })
}

// control does something to a run or an import, which have the same ids, and goes back to its page or to the first one.
func (s actions) control(w http.ResponseWriter, r *http.Request, do func(Control) error) {
	if s.site.cfg.Control == nil {
		s.site.notFound(w, r)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, 64<<10)
	if err := do(s.site.cfg.Control); err != nil {
		s.site.failWith(w, r, err)
		return
	}
	id := r.PathValue("id")
	back := "/runs/" + url.PathEscape(id)
	switch r.PostFormValue("back") {
	case "import":
		back = importURL(id)
	case "today":
		back = "/"
	}
	s.site.redirect(w, r, back)
}

// upload takes files from the drop zone, one after the other, without keeping one in memory.
func (s actions) upload(w http.ResponseWriter, r *http.Request) {
	if s.site.cfg.Dropper == nil {
		s.site.notFound(w, r)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, s.site.cfg.MaxUpload)
	form, err := r.MultipartReader()
	if err != nil {
		s.site.fail(w, r, http.StatusBadRequest, "the upload cannot be read", "")
		return
	}
	var stored []string
	for {
		p, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			var name string
			if name, err = s.drop(r, p); name != "" {
				stored = append(stored, name)
			}
		}
		if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
			s.site.fail(w, r, http.StatusRequestEntityTooLarge, "the files are larger than "+size(s.site.cfg.MaxUpload), "put them into the import folder")
			return
		}
		if errors.Is(err, errSlow) {
			s.site.fail(w, r, http.StatusRequestTimeout, errSlow.Error(), "put the files into the import folder")
			return
		}
		if err != nil {
			s.site.failWith(w, r, err)
			return
		}
	}
	if strings.Contains(r.Header.Get("Accept"), "text/html") {
		s.site.redirect(w, r, "/#imports")
		return
	}
	writeJSON(w, http.StatusAccepted, map[string]any{"type": "upload", "stored": stored})
}

// drop puts one part into the import folder. Parts that are not files are skipped.
func (s actions) drop(r *http.Request, p *multipart.Part) (string, error) {
	defer p.Close()
	name := p.FileName() // without folders
	if p.FormName() != "file" || name == "" {
		return "", nil
	}
	return s.site.cfg.Dropper.Drop(r.Context(), name, p)
}
