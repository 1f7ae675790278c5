package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

const head = `vaultflow
Copyright (C) the vaultflow authors

vaultflow is free software under the GNU Affero General Public License, version 3 or later; see LICENSE. Whoever uses a modified
version over a network gets its source from you: the dashboard's foot links to it (build with -X main.source=ADDRESS).

The binaries contain the software listed here. Each line names its licence and, in brackets, the texts at the end that apply.
The dashboard shows this file at /licences. Written by ` + "`make sbom`" + `; do not edit.
`

const system = `
Not contained, but loaded from the system by vaultflow-worker: Tesseract (Apache-2.0) and Leptonica (BSD-2-Clause), with what they
load in turn. LibreOffice (MPL-2.0) is started where it is installed.
`

// notice writes the list and each text once.
func notice(parts, embedded []part) []byte {
	var b bytes.Buffer
	b.WriteString(head)
	var all []string
	users := map[string][]string{}
	numbers := func(p part) string {
		var list []string
		for _, text := range p.Texts {
			i := slices.Index(all, text)
			if i < 0 {
				i, all = len(all), append(all, text)
			}
			if name := strings.TrimSpace(p.Name + " " + p.Version); !slices.Contains(users[text], name) {
				users[text] = append(users[text], name)
			}
			list = append(list, fmt.Sprint(i+1))
		}
		if len(list) == 0 {
			return ""
		}
		return " [" + strings.Join(list, ", ") + "]"
	}
	b.WriteString("\nGo, its standard library and run-time system: BSD-3-Clause, Copyright 2009 The Go Authors (the text of golang.org/x/sys).\n")
	for _, binary := range []string{"vaultflow", "vaultflow-worker"} {
		fmt.Fprintf(&b, "\nGo modules in %s\n\n", binary)
		for _, p := range parts {
			if slices.Contains(p.In, binary) {
				fmt.Fprintf(&b, "  %s %s: %s%s\n", p.Name, p.Version, strings.Join(p.Licences, ", "), numbers(p))
			}
		}
	}
	b.WriteString("\nEmbedded in these modules: compiled C and C++, as WebAssembly or static libraries, and fonts\n")
	within := ""
	for _, p := range embedded {
		if at := strings.TrimSpace(p.Within + " " + p.File); at != within {
			within = at
			fmt.Fprintf(&b, "\n  in %s\n", at)
			if p.Digest != "" {
				fmt.Fprintf(&b, "  SHA-256 %s\n", p.Digest)
			}
		}
		fmt.Fprintf(&b, "    %s: %s%s\n      %s\n", strings.TrimSpace(p.Name+" "+p.Version), strings.Join(p.Licences, ", "), numbers(p), p.Copyright)
	}
	b.WriteString(system)
	for i, text := range all {
		fmt.Fprintf(&b, "\n%s\n[%d] %s\n\n%s\n", strings.Repeat("=", 100), i+1, strings.Join(users[text], ", "), text)
	}
	return b.Bytes()
}
