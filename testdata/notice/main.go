// Command notice writes NOTICE and sbom.cdx.json from what both binaries are built of: Go modules as `go list` reports them,
// with the licence texts of the module cache, and what some of them embed (components.go). Both files are the same on every
// machine. With -check it writes nothing and reports what differs.
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

func main() {
	check := flag.Bool("check", false, "compare, and write nothing")
	flag.Parse()
	if err := run(*check); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// allowed are the licences that may be combined with AGPL-3.0-or-later.
var allowed = []string{
	"AGPL-3.0-or-later", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "FTL", "HPND", "IJG", "ISC", "LGPL-3.0-or-later", "libtiff", "Libpng", "MIT",
	"OFL-1.1", "blessing", "Zlib", "Unicode-3.0",
}

// part is a module or an embedded component.
type part struct {
	Name, Version string
	Licences      []string // SPDX identifiers, which all apply
	Copyright     string   // where the texts do not say it
	In            []string // binaries
	Within        string   // module that brings it; empty for a module
	File, Digest  string   // file of the module that holds it, and its SHA-256
	Sum           string   // of go.sum
	Texts         []string
}

func run(check bool) error {
	root, err := output("go", "env", "GOMOD")
	if err != nil {
		return err
	}
	root = filepath.Dir(strings.TrimSpace(root))
	parts, err := modules(root)
	if err != nil {
		return err
	}
	embedded, err := components(root, parts)
	if err != nil {
		return err
	}
	faults := judge(append(slices.Clone(parts), embedded...))
	sbom, err := bom(root, parts, embedded)
	if err != nil {
		return err
	}
	for name, data := range map[string][]byte{"NOTICE": notice(parts, embedded), "sbom.cdx.json": sbom} {
		path := filepath.Join(root, name)
		if !check {
			if err := os.WriteFile(path, data, 0o644); err != nil { //nolint:gosec // a file of the repository
				return err
			}
			continue
		}
		old, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if !bytes.Equal(old, data) {
			faults = append(faults, difference(name, string(old), parts))
		}
	}
	return errors.Join(faults...)
}

// judge reports parts without a licence that may be used.
func judge(all []part) (faults []error) {
	for _, p := range all {
		if len(p.Licences) == 0 {
			faults = append(faults, fmt.Errorf("%s %s: its licence is not recognised; look at it, and teach testdata/notice", p.Name, p.Version))
		}
		for _, l := range p.Licences {
			if !slices.Contains(allowed, l) {
				faults = append(faults, fmt.Errorf("%s %s: the licence %s is not in the list of those that may be used", p.Name, p.Version, l))
			}
		}
		if len(p.Texts) == 0 && len(p.Licences) > 0 && p.Licences[0] != "blessing" {
			faults = append(faults, fmt.Errorf("%s %s has no licence text", p.Name, p.Version))
		}
	}
	return faults
}

// difference describes how a file differs.
func difference(name, old string, parts []part) error {
	for _, p := range parts {
		if !strings.Contains(old, p.Name) || !strings.Contains(old, p.Version) {
			return fmt.Errorf("%s lacks %s %s; `make sbom` writes it", name, p.Name, p.Version)
		}
	}
	return fmt.Errorf("%s is not what the modules and testdata/notice say; `make sbom` writes it", name)
}

func output(name string, args ...string) (string, error) {
	return outputIn("", nil, name, args...)
}

func outputIn(dir string, env []string, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...) //nolint:noctx // go list ends by itself
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return string(out), nil
}

// modules lists what both binaries are linked from, on Linux.
func modules(root string) ([]part, error) {
	type module struct{ Path, Version, Dir, Sum string }
	byPath := map[string]*part{}
	for binary, tags := range map[string]string{"vaultflow": "", "vaultflow-worker": "worker,nodynamic"} {
		cgo := "CGO_ENABLED=0"
		if tags != "" {
			cgo = "CGO_ENABLED=1"
		}
		out, err := outputIn(root, []string{"GOOS=linux", "GOARCH=amd64", "GOFLAGS=-mod=readonly", cgo},
			"go", "list", "-deps", "-tags", tags, "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}\t{{.Sum}}{{end}}{{end}}", "./cmd/"+binary)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(out) {
			f := strings.Split(strings.TrimRight(line, "\n"), "\t")
			if len(f) != 4 {
				continue
			}
			m := module{f[0], f[1], f[2], f[3]}
			p := byPath[m.Path]
			if p == nil {
				texts, err := texts(m.Dir)
				if err != nil {
					return nil, err
				}
				p = &part{Name: m.Path, Version: m.Version, Texts: texts, Licences: classify(m.Path, texts)}
				byPath[m.Path] = p
			}
			if !slices.Contains(p.In, binary) {
				p.In = append(p.In, binary)
			}
		}
	}
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		return nil, err
	}
	var list []part
	for _, p := range byPath {
		slices.Sort(p.In)
		if _, after, ok := strings.Cut(string(sums), "\n"+p.Name+" "+p.Version+" "); ok {
			p.Sum, _, _ = strings.Cut(after, "\n")
		}
		list = append(list, *p)
	}
	slices.SortFunc(list, byName)
	return list, nil
}

func byName(a, b part) int { return strings.Compare(a.Name, b.Name) }

var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)([.-].*)?$`)

// texts reads the licence files of a module.
func texts(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read the module cache (`go mod download` fills it): %w", err)
	}
	var list []string
	for _, e := range entries {
		if e.IsDir() || !licenceFile.MatchString(e.Name()) || strings.HasSuffix(e.Name(), ".go") {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		list = append(list, tidy(string(data)))
	}
	return list, nil
}

// tidy makes texts comparable without changing a word.
func tidy(s string) string {
	var lines []string
	for line := range strings.Lines(strings.ReplaceAll(strings.TrimPrefix(s, "\ufeff"), "\r\n", "\n")) {
		lines = append(lines, strings.TrimRight(line, " \t\n\f\r"))
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

// marks are phrases that identify licences, in order.
var marks = []struct{ licence, words string }{
	{"AGPL-3.0-or-later", "GNU AFFERO GENERAL PUBLIC LICENSE"},
	{"LGPL-3.0-or-later", "GNU LESSER GENERAL PUBLIC LICENSE"},
	{"GPL", "GNU GENERAL PUBLIC LICENSE"},
	{"MPL-2.0", "Mozilla Public License"},
	{"Apache-2.0", "Apache License"},
	{"BSD-3-Clause", "endorse or promote products derived from"},
	{"BSD-2-Clause", "Redistributions in binary form must reproduce"},
	{"ISC", "Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee"},
	{"MIT", "Permission is hereby granted, free of charge, to any person obtaining"},
}

// exceptions are modules whose files contain more than their own licence, or a reworded one.
var exceptions = map[string][]string{
	"modernc.org/sqlite": {"BSD-3-Clause", "blessing"},
	"modernc.org/libc":   {"BSD-3-Clause", "MIT"},
}

var blanks = regexp.MustCompile(`[\s*#]+`)

// classify recognises licences by their words.
func classify(path string, texts []string) []string {
	if known, ok := exceptions[path]; ok {
		return known
	}
	var found []string
	for _, text := range texts {
		flat := strings.ToLower(blanks.ReplaceAllString(text, " "))
		for _, m := range marks {
			if strings.Contains(flat, strings.ToLower(m.words)) {
				if !slices.Contains(found, m.licence) {
					found = append(found, m.licence)
				}
				if m.licence == "AGPL-3.0-or-later" || m.licence == "LGPL-3.0-or-later" || strings.HasPrefix(m.licence, "BSD-3") {
					break // their texts name the others
				}
			}
		}
	}
	slices.Sort(found)
	return found
}

// digestOf is the SHA-256 of a file.
func digestOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// bom is the list as CycloneDX 1.5, without times and random numbers.
func bom(root string, parts, embedded []part) ([]byte, error) {
	type property struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	type licence struct {
		Expression string `json:"expression"`
	}
	type hash struct {
		Alg     string `json:"alg"`
		Content string `json:"content"`
	}
	type component struct {
		Type       string     `json:"type"`
		Ref        string     `json:"bom-ref"`
		Name       string     `json:"name"`
		Version    string     `json:"version,omitempty"`
		Copyright  string     `json:"copyright,omitempty"`
		Hashes     []hash     `json:"hashes,omitempty"`
		Licences   []licence  `json:"licenses,omitempty"`
		PURL       string     `json:"purl,omitempty"`
		Properties []property `json:"properties,omitempty"`
	}
	own := component{Type: "application", Ref: "vaultflow", Name: "vaultflow", Licences: []licence{{"AGPL-3.0-or-later"}}}
	var list []component
	for _, p := range append(slices.Clone(parts), embedded...) {
		c := component{Type: "library", Name: p.Name, Version: p.Version, Copyright: p.Copyright, Licences: []licence{{strings.Join(p.Licences, " AND ")}}}
		c.Ref = p.Name + "@" + p.Version
		if p.Within == "" {
			c.PURL = "pkg:golang/" + p.Name + "@" + p.Version
			c.Ref = c.PURL
		} else {
			c.Ref = p.Within + "#" + c.Ref
			c.Properties = append(c.Properties, property{"vaultflow:within", p.Within})
		}
		if p.Sum != "" {
			c.Properties = append(c.Properties, property{"vaultflow:go.sum", p.Sum})
		}
		if p.File != "" {
			c.Properties = append(c.Properties, property{"vaultflow:file", p.File})
			c.Hashes = []hash{{"SHA-256", p.Digest}}
		}
		for _, binary := range p.In {
			c.Properties = append(c.Properties, property{"vaultflow:binary", binary})
		}
		list = append(list, c)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	err := enc.Encode(struct {
		Format   string `json:"bomFormat"`
		Spec     string `json:"specVersion"`
		Version  int    `json:"version"`
		Metadata struct {
			Component component `json:"component"`
		} `json:"metadata"`
		Components []component `json:"components"`
	}{"CycloneDX", "1.5", 1, struct {
		Component component `json:"component"`
	}{own}, list})
	return b.Bytes(), err
}
