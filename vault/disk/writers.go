package disk

import (
	"io/fs"
	"os"
	"path"
	"strings"
)

// writers is what the system says of the programs that have a file open for writing.
type writers struct {
	open bool   // one has
	by   string // its name, when it can be had
	part bool   // it has not downloaded all of the file; whether it runs is unknown
	sure bool   // the system has answered for all programs; without it, open being false proves nothing
}

// reason is why a file is not taken while somebody writes it, in words.
func (w writers) reason() string {
	if w.part {
		return w.by + " has not finished downloading it"
	}
	if w.by == "" {
		return "a program still has it open for writing"
	}
	return w.by + " still has it open for writing"
}

// findWriters looks for the programs that have an open file open for writing too.
type findWriters func(file *os.File) writers

// Writing says in words which program has a file open for writing; empty when none has, or nobody knows.
func (rd *reader) Writing(name string) string {
	file, err := openRead(rd.root, name)
	if err != nil {
		return ""
	}
	defer file.Close()
	if w := rd.writersOf(file); w.open {
		return w.reason()
	}
	return ""
}

// tellsWriters reports whether the system knows which files are open for writing.
func (rd *reader) tellsWriters(name string) bool {
	file, err := openRead(rd.root, name)
	if err != nil {
		return false
	}
	defer file.Close()
	w := rd.writersOf(file)
	return w.open && w.sure
}

// unfinished are endings of files beside one that a program has not downloaded to its end, and the program.
var unfinished = map[string]string{".aria2": "aria2", ".lftp-pget-status": "lftp", ".ytdl": "yt-dlp"}

// downloading looks for a file that shows that a program has not finished this one. That can have its full size long before its
// content, and a browser keeps an empty one where its download will be.
func (rd *reader) downloading(name string, size int64) writers {
	for ending, program := range unfinished {
		if _, err := rd.root.Lstat(name + ending); err == nil {
			return writers{open: true, part: true, by: program}
		}
	}
	if size > 0 {
		return writers{}
	}
	beside, err := fs.ReadDir(rd.FS(), path.Dir(name))
	if err != nil {
		return writers{}
	}
	ext := path.Ext(name)
	stem := strings.TrimSuffix(path.Base(name), ext)
	for _, e := range beside { // Firefox writes stem.part, or with letters by chance between name and extension
		middle, ok := strings.CutPrefix(e.Name(), stem)
		if ok && strings.HasSuffix(middle, ext+".part") {
			return writers{open: true, part: true, by: "a browser"}
		}
	}
	return writers{}
}
