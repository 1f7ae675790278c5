package ingestion

import (
	"io"
	"strings"
)

// PasswordSuffix ends the name of a file that holds the passwords of the PDF beside it, one a line: name.pdf.password. Such
// a file is never imported and never removed.
const PasswordSuffix = ".password"

// maxPasswordFile bounds a file of passwords in bytes.
const maxPasswordFile = 16 << 10

// passwords lists what may open the job's document: what came with it, what lies beside it where it arrived and where it is
// now, and what the settings hold. They are read anew for each attempt, and are in no record.
func (w *work) passwords() []string {
	var out []string
	if w.im.Passwords != nil {
		out = w.im.Passwords(w.job)
	}
	for _, name := range []string{w.job.Source, w.job.at()} {
		if text, ok := readPasswords(w.im, name+PasswordSuffix); ok {
			for line := range strings.Lines(text) {
				if line = strings.TrimRight(line, "\r\n"); line != "" {
					out = append(out, line)
				}
			}
		}
	}
	return out
}

// readPasswords reads a file of passwords; one that cannot be read counts as not there.
func readPasswords(im *Importer, name string) (string, bool) {
	file, size, err := im.open(name)
	if err != nil {
		return "", false
	}
	defer file.Close()
	data, err := io.ReadAll(io.NewSectionReader(file, 0, min(size, maxPasswordFile)))
	return strings.TrimPrefix(string(data), "\ufeff"), err == nil
}
