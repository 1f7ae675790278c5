package tools

import (
	"bytes"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestWriteTools(t *testing.T) {
	t.Parallel()
	start := map[string]string{
		"a.md": "one\ntwo\nthree\n", "crlf.md": "one\r\ntwo\r\n", "open.md": "no end", "bin.dat": "a\x00b", "twice.md": "x\ny\nx\n", "p.png": "png", "Locked/a.md": "x",
	}
	type in = map[string]any
	for name, tt := range map[string]struct {
		tool string
		in   any
		file string // looked at afterwards
		want string // its content; "-" when it is not there
		said string
	}{
		"write":                   {WriteFile, in{"path": "New/b", "content": "text\n"}, "New/b.md", "text\n", "created New/b.md, 1 line"},
		"write, there already":    {WriteFile, in{"path": "a.md", "content": "x"}, "a.md", "one\ntwo\nthree\n", "error: a.md exists: use edit_file or append_file"},
		"write, no content":       {WriteFile, in{"path": "b.md"}, "b.md", "-", "error: content is missing"},
		"write a picture":         {WriteFile, in{"path": "b.png", "content": "x"}, "b.png", "-", "error: b.png: only text files can be written"},
		"write, bad name":         {WriteFile, in{"path": "what?.md", "content": "x"}, "what?.md", "-", `error: a file name cannot contain "?"`},
		"write, locked":           {WriteFile, in{"path": "Locked/b.md", "content": "x"}, "Locked/b.md", "-", "error: Locked/b.md: not permitted"},
		"write too much":          {WriteFile, in{"path": "b.md", "content": strings.Repeat("x", maxContent+1)}, "b.md", "-", "error: content has 4.0 MB"},
		"write, no object":        {WriteFile, `["a.md"]`, "b.md", "-", "error: the input of write_file must be a JSON object"},
		"append":                  {AppendFile, in{"path": "a.md", "content": "four\n"}, "a.md", "one\ntwo\nthree\nfour\n", "appended to a.md, now 4 lines"},
		"append, Windows":         {AppendFile, in{"path": "crlf.md", "content": "three\nfour"}, "crlf.md", "one\r\ntwo\r\nthree\r\nfour", "appended to"},
		"append, no line end":     {AppendFile, in{"path": "open.md", "content": "more"}, "open.md", "no end\nmore", "appended to"},
		"append, not there":       {AppendFile, in{"path": "log.txt", "content": "x"}, "log.txt", "x", "created log.txt, 1 line"},
		"append nothing":          {AppendFile, in{"path": "a.md", "content": ""}, "a.md", "one\ntwo\nthree\n", "error: content is empty"},
		"append to no text":       {AppendFile, in{"path": "bin.dat", "content": "x"}, "bin.dat", "a\x00b", "created bin.dat.md"},
		"edit":                    {EditFile, in{"path": "a.md", "old_text": "two\n", "new_text": "2\n"}, "a.md", "one\n2\nthree\n", "changed a.md at line 2"},
		"edit, remove":            {EditFile, in{"path": "a", "old_text": "two\n", "new_text": ""}, "a.md", "one\nthree\n", "changed a.md at line 2"},
		"edit, Windows":           {EditFile, in{"path": "crlf.md", "old_text": "one\ntwo", "new_text": "1\n2\n3"}, "crlf.md", "1\r\n2\r\n3\r\n", "changed crlf.md at line 1"},
		"edit, not there":         {EditFile, in{"path": "a.md", "old_text": "four", "new_text": ""}, "a.md", "one\ntwo\nthree\n", "error: a.md is not changed: the file does not contain old_text; read it again"},
		"edit, other white space": {EditFile, in{"path": "a.md", "old_text": "  two ", "new_text": "2"}, "a.md", "one\ntwo\nthree\n", "line 2 has it with other white space"},
		"edit, twice":             {EditFile, in{"path": "twice.md", "old_text": "x\n", "new_text": ""}, "twice.md", "x\ny\nx\n", "error: twice.md is not changed: old_text occurs 2 times, at line 1, 3: include more"},
		"edit all":                {EditFile, in{"path": "twice.md", "old_text": "x\n", "new_text": "z\n", "replace_all": true}, "twice.md", "z\ny\nz\n", "changed twice.md at line 1, 3"},
		"edit, the same":          {EditFile, in{"path": "a.md", "old_text": "one", "new_text": "one"}, "a.md", "one\ntwo\nthree\n", "error: old_text and new_text are the same"},
		"edit nothing":            {EditFile, in{"path": "a.md", "old_text": "", "new_text": "one"}, "a.md", "one\ntwo\nthree\n", "error: old_text is empty"},
		"edit, no new text":       {EditFile, in{"path": "a.md", "old_text": "one"}, "a.md", "one\ntwo\nthree\n", "error: new_text is missing"},
		"edit, no text":           {EditFile, in{"path": "bin.dat", "old_text": "a", "new_text": "b"}, "bin.dat", "a\x00b", "it is not UTF-8 text"},
		"edit, locked":            {EditFile, in{"path": "Locked/a.md", "old_text": "x", "new_text": "b"}, "Locked/a.md", "x", "not permitted"},
		"move":                    {MoveFile, in{"from": "a.md", "to": "Deep/b.md"}, "Deep/b.md", "one\ntwo\nthree\n", "moved a.md to Deep/b.md"},
		"move to a folder":        {MoveFile, in{"from": "p.png", "to": "Deep/"}, "Deep/p.png", "png", "moved p.png to Deep/p.png"},
		"move, same extension":    {MoveFile, in{"from": "a.md", "to": "b"}, "b.md", "one\ntwo\nthree\n", "moved a.md to b.md"},
		"move, another kind":      {MoveFile, in{"from": "p.png", "to": "p.pdf"}, "p.png", "png", "error: the new name of p.png must end in .png"},
		"move, taken":             {MoveFile, in{"from": "a.md", "to": "open.md"}, "open.md", "no end", "error: open.md exists"},
		"move, not there":         {MoveFile, in{"from": "b.md", "to": "c.md"}, "c.md", "-", `error: no file "b.md"`},
		"move to where it is":     {MoveFile, in{"from": "a.md", "to": "a.md"}, "a.md", "one\ntwo\nthree\n", "has that name already"},
		"move from locked":        {MoveFile, in{"from": "Locked/a.md", "to": "b.md"}, "b.md", "-", "not permitted"},
		"move to locked":          {MoveFile, in{"from": "a.md", "to": "Locked/b.md"}, "Locked/b.md", "-", "not permitted"},
		"delete, not permitted":   {DeleteFile, in{"path": "a.md"}, "a.md", "one\ntwo\nthree\n", "deleting needs approval"},
	} {
		d := newDesk(t, start)
		got := d.use(tt.tool, tt.in)
		have := "-"
		if f, ok := d.files[tt.file]; ok {
			have = string(f.Data)
		}
		if have != tt.want || !strings.Contains(got.Text(), tt.said) {
			t.Errorf("%s: said %q, %s holds %q; want %q, %q", name, got.Text(), tt.file, have, tt.said, tt.want)
		}
		if changed := !cmp.Equal(snapshot(d.files), snapshot(newDesk(t, start).files)); changed != got.Success || changed != (len(got.FilesChanged) > 0) {
			t.Errorf("%s: success %v, changed %v, named %v", name, got.Success, changed, got.FilesChanged)
		}
	}
	d := newDesk(t, start)
	d.del = true
	if got := d.use(DeleteFile, map[string]any{"path": "a.md"}); got.Text() != "deleted a.md" || d.files["a.md"] != nil {
		t.Errorf("delete: %q", got.Text())
	}
}

// What somebody else writes at the same time stays, with what is appended and changed on top of it.
func TestWriteTools_besideSomebodyElse(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		tool string
		in   map[string]any
		want string
	}{
		"append": {AppendFile, map[string]any{"path": "a.md", "content": "mine\n"}, "theirs\ntwo\nmine\n"},
		"edit":   {EditFile, map[string]any{"path": "a.md", "old_text": "two", "new_text": "2"}, "theirs\n2\n"},
	} {
		d := newDesk(t, map[string]string{"a.md": "one\ntwo\n"})
		once := true
		d.rival = func() {
			if once {
				d.files["a.md"] = &fstest.MapFile{Data: []byte("theirs\ntwo\n")}
			}
			once = false
		}
		if got := d.use(tt.tool, tt.in); !got.Success || string(d.files["a.md"].Data) != tt.want {
			t.Errorf("%s: %q, the file holds %q, want %q", name, got.Text(), d.files["a.md"].Data, tt.want)
		}
		n := 0
		d.rival = func() { n++; d.files["a.md"] = &fstest.MapFile{Data: append([]byte("theirs\ntwo\n"), byte('0'+n))} }
		if got := d.use(AppendFile, map[string]any{"path": "a.md", "content": "x"}); got.Success || !strings.Contains(got.Error, "someone else is changing it") || n != maxTries {
			t.Errorf("%s: after %d tries %+v", name, n, got)
		}
	}
}

// FuzzReplaced holds that everything outside of what is replaced stays, byte for byte.
func FuzzReplaced(f *testing.F) {
	f.Add([]byte("one\r\ntwo\r\n"), "one\ntwo", "1\n2", false)
	f.Add([]byte("aXbXc"), "X", "", true)
	f.Add([]byte("a\xff\xfeb"), "b", "c", false)
	f.Add([]byte("aaaa"), "aa", "a", true)
	f.Fuzz(func(t *testing.T, data []byte, old, text string, all bool) {
		if old == "" || old == text {
			return
		}
		before := bytes.Clone(data)
		next, lines, err := replaced(data, old, text, all)
		if !bytes.Equal(before, data) {
			t.Fatalf("the file's bytes were changed in place")
		}
		if err != nil {
			if next != nil {
				t.Fatalf("an error with a content: %v", err)
			}
			return
		}
		if len(lines) == 0 || !all && len(lines) != 1 {
			t.Fatalf("replaced at %v", lines)
		}
		find := old
		if !bytes.Contains(data, []byte(old)) {
			find, text = withEnds(old, "\r\n"), withEnds(text, "\r\n")
		}
		outside := bytes.Split(data, []byte(find))
		if len(outside) != len(lines)+1 || !bytes.Equal(bytes.Join(outside, []byte(text)), next) {
			t.Fatalf("%q with %q for %q became %q", data, text, find, next)
		}
	})
}
