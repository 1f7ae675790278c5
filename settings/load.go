package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// FileName is the settings file's name in a vault.
const FileName = "settings.yaml"

// maxFile bounds settings files and .env files, in bytes.
const maxFile = 1 << 20

// Input says where to read. Paths belong to the operating system.
type Input struct {
	Vault     string            // the vault's folder; settings.yaml there is read unless File is set
	File      string            // another settings file, which must exist unless it is the vault's own
	StateDir  string            // its .env is read too; empty: none
	Environ   []string          // as os.Environ gives it; nil means no environment
	Overrides map[string]string // what flags say: values by dotted path, lists with commas
}

// Load reads the settings. A vault without a settings file has the defaults. All faults come back together, as an
// [*Error]; warnings and notes are in Settings.Diagnostics.
func Load(in Input) (*Settings, error) {
	s, r := unfinished(), &reporter{}
	path, data, err := in.read()
	if err != nil {
		return nil, err
	}
	if data != nil {
		s.File = path
		s.file(path, data, r)
		keysInText(path, data, r)
	}
	environ := environMap(in.Environ)
	environment(s, environ, r)
	overrides(s, in.Overrides, r)
	s.complete()
	s.chooseDefault(environ, r)
	s.validate(in, r)
	s.findKeys(in, environ, r)
	if r.failed() {
		isNote := func(d Diagnostic) bool { return d.Severity == SeverityNote }
		return nil, &Error{Diagnostics: slices.DeleteFunc(r.sorted(), isNote)}
	}
	s.Diagnostics = r.sorted()
	return s, nil
}

// read gives the settings file; data is nil when there is none.
func (in Input) read() (path string, data []byte, err error) {
	usual := filepath.Join(in.Vault, FileName)
	if path = in.File; path == "" {
		if in.Vault == "" {
			return "", nil, nil
		}
		path = usual
	}
	data, err = readBounded(path)
	if errors.Is(err, fs.ErrNotExist) && in.Vault != "" && filepath.Clean(path) == usual {
		return "", nil, nil
	}
	if err != nil {
		return "", nil, fmt.Errorf("read settings: %w", err)
	}
	return path, data, nil
}

// readBounded reads a regular file of at most maxFile bytes. Its data is not nil when there is no error.
func readBounded(path string) ([]byte, error) {
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("%s is larger than 1 MiB", path)
	}
	return data, err
}

var yamlLine = regexp.MustCompile(`line (\d+): `)

// file decodes the settings file.
func (s *Settings) file(path string, data []byte, r *reporter) {
	at := Origin{Source: SourceFile, Name: path, Line: 1, Column: 1}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc yaml.Node
	err := dec.Decode(&doc)
	if errors.Is(err, io.EOF) {
		return // nothing but comments
	}
	if err != nil {
		message := strings.TrimPrefix(err.Error(), "yaml: ")
		if m := yamlLine.FindStringSubmatch(message); m != nil {
			at.Line, _ = strconv.Atoi(m[1]) // the expression allows digits only
			message = strings.Replace(message, m[0], "", 1)
		}
		r.report(at, SeverityError, CodeSyntax, "indent with blanks, and quote values with a colon", "%s", message)
		return
	}
	var second yaml.Node
	if err := dec.Decode(&second); !errors.Is(err, io.EOF) {
		r.report(at, SeverityError, CodeSyntax, "remove the --- line", "the file holds more than one document")
	}
	d := &decoder{reporter: r, source: SourceFile, name: path, origins: s.origins}
	if len(doc.Content) == 1 {
		d.value("", doc.Content[0], reflect.ValueOf(s).Elem(), field{})
	}
}
