package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/vaultflow/vaultflow/failure/diag"

	"gopkg.in/yaml.v3"
)

// FileName is the name of the settings file in a vault.
const FileName = "settings.yaml"

// maxFile bounds settings files and .env files, in bytes.
const maxFile = 1 << 20

// Input is where settings are read from. Paths belong to the operating system.
type Input struct {
	Vault     string             // the vault's folder; settings.yaml there is read unless File is set
	File      string             // read this instead; it must exist unless it is the vault's own
	User      string             // the user's own file, below the vault's; see UserFile. It may be missing. Empty: none
	StateDir  string             // its .env is read too; empty: none
	Environ   []string           // as os.Environ returns it; nil means no environment
	Overrides map[string]string  // flags: values by dotted path, lists with commas
	From      Snapshot           // contents to use instead of reading the files; nil: read them
	NotVaults bool               // skip the vault's file, as if it had faults. What it names waits
	NotUsers  bool               // skip the user's file
	Grants    func(Waiting) bool // whether the user has granted a value of the vault's files; nil: nothing is granted
}

// Load reads the settings. For each key, flags override the environment, which overrides the vault's file, the user's and the
// defaults. A value in the vault's files that needs a grant and has none is ignored and listed in Settings.Waiting; but a
// model that waits is never replaced by another (see [Settings.ModelWaits]). The vault needs no settings file. All faults are
// returned together as an [*Error]; warnings and notes are in Settings.Diagnostics.
func Load(in Input) (*Settings, error) {
	s, err := load(in)
	if err == nil && len(s.Waiting) > 0 {
		s.Diagnostics = diag.Sort(append(s.Diagnostics, foreseen(in)...))
	}
	return s, err
}

func load(in Input) (*Settings, error) {
	s, r := unfinished(), &reporter{}
	environ := environMap(in.Environ)
	l := &layers{reporter: r, in: in, environ: environ, into: s}
	if err := l.user(); err != nil {
		return nil, err
	}
	if err := l.vault(); err != nil {
		return nil, err
	}
	environment(s, environ, r)
	overrides(s, in.Overrides, r)
	complete(s)
	chooseDefault(s, environ, r)
	validate(s, r)
	l.findKeys()
	if diag.HasErrors(r.list) {
		isNote := func(d diag.Diagnostic) bool { return d.Severity == diag.SeverityNote }
		return nil, &Error{Diagnostics: slices.DeleteFunc(diag.Sort(r.list), isNote)}
	}
	s.Diagnostics = diag.Sort(r.list)
	return s, nil
}

// readBounded reads a regular file of at most maxFile bytes. Without an error the data is not nil.
func readBounded(path string) ([]byte, error) {
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
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

// file decodes a settings file.
func file(s *Settings, source Source, path string, data []byte, r *reporter) {
	at := Origin{Source: source, Name: path, Line: 1, Column: 1}
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
		r.report(at, diag.SeverityError, CodeSyntax, "indent with spaces, and quote values that contain a colon", "%s", message)
		return
	}
	var second yaml.Node
	if err := dec.Decode(&second); !errors.Is(err, io.EOF) {
		r.report(at, diag.SeverityError, CodeSyntax, "remove the --- line", "the file contains more than one YAML document")
	}
	d := &decoder{reporter: r, source: source, name: path, origins: s.origins}
	if len(doc.Content) == 1 {
		d.value("", doc.Content[0], reflect.ValueOf(s).Elem(), field{})
	}
}
