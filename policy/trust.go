package policy

import (
	"fmt"
	"slices"
	"strings"
)

// ReadKind says what a step was shown.
type ReadKind string

// The kinds of what a step is shown.
const (
	ReadFile     ReadKind = "file"     // a file of the vault, as an input, transcluded or read by a tool
	ReadName     ReadKind = "name"     // the name of a file, without its content
	ReadVariable ReadKind = "variable" // a variable of the run
	ReadPicture  ReadKind = "picture"  // a picture of the web
	ReadPage     ReadKind = "web"      // something fetched from an address of the web
	ReadSearch   ReadKind = "search"   // what a search of the web found
	ReadMCP      ReadKind = "mcp"      // the answer of an MCP server's tool
	ReadArtifact ReadKind = "artifact" // fetched content that was kept
)

// Read is one thing that a step was shown.
type Read struct {
	Kind    ReadKind
	Name    string   // vault name, variable, address without the values of its query, server.tool, or reference
	Trust   string   // what the workflow says of it: trusted, untrusted, or empty
	Origins []string // the untrusted things that a variable's value, or a file of this run, was made from
}

// Trust tells content of the vault's owner from content of strangers. The zero value takes Imported for the folder of imports.
type Trust struct {
	ImportedDir string // imported files, mail and its attachments among them, lie below it
	// Known reports what is on record about the present content of a file of the vault: whether it is foreign, whatever its
	// name, and what it was made from. Nil: nothing is on record.
	Known func(name string) (foreign bool, origins []string)
	// Named is Known for the name alone: whether somebody else may have chosen it. Nil: its place decides.
	Named func(name string) (foreign bool, origins []string)
}

// Untrusted tells whether somebody else decides what stands there. What the workflow says goes first; without a word of it,
// files are trusted unless they lie below the folder of imports, the run made them from something untrusted, or their content
// is known as foreign; variables as far as what they were made from, and whatever came from beyond this machine is not.
func (t Trust) Untrusted(r Read) bool {
	switch {
	case r.Trust == "trusted":
		return false
	case r.Trust == "untrusted":
		return true
	case r.Kind == ReadFile || r.Kind == ReadName:
		foreign, _ := t.known(r)
		return foreign || len(r.Origins) > 0
	case r.Kind == ReadVariable:
		return len(r.Origins) > 0
	}
	return true
}

// known reports whether a file is foreign by its place or by what is on record, and what it was made from. A record beats the
// place: a person may trust an imported file.
func (t Trust) known(r Read) (foreign bool, origins []string) {
	switch {
	case r.Name == "": // a link that leads nowhere
		return false, nil
	case r.Kind == ReadFile && t.Known != nil:
		return t.Known(r.Name)
	case r.Kind == ReadName && t.Named != nil:
		return t.Named(r.Name)
	}
	return t.imported(r.Name), nil
}

// imported tells whether a vault name lies below the folder of imports. Case does not count: some file systems ignore it.
func (t Trust) imported(name string) bool {
	dir := strings.Trim(t.ImportedDir, "/")
	if dir == "" {
		dir = "Imported"
	}
	return strings.HasPrefix(strings.ToLower(name), strings.ToLower(dir)+"/")
}

// Origins lists the untrusted things among what a step was shown, each once and in order, such as "file Imported/a/index.md".
// A prompt with any is tainted. A file is listed with what it was made from; a variable gives what it was made from.
func (t Trust) Origins(reads []Read) []string {
	var list []string
	for _, r := range reads {
		if !t.Untrusted(r) {
			continue
		}
		ofVault := r.Kind == ReadFile || r.Kind == ReadName
		if ofVault || len(r.Origins) == 0 {
			list = AddOrigins(list, string(r.Kind)+" "+r.Name)
		}
		list = AddOrigins(list, r.Origins...)
		if ofVault {
			_, origins := t.known(r)
			list = AddOrigins(list, origins...)
		}
	}
	return list
}

// maxOrigins is how many origins a record names; that there are more is said by the last entry.
const maxOrigins = 20

// moreOrigins stands for the origins that a record has no room for.
const moreOrigins = "and more"

// AddOrigins adds origins to a list that does not hold them yet. The list is never empty again once it had an entry, and stays
// short. It is not changed in place.
func AddOrigins(list []string, more ...string) []string {
	list = slices.Clone(list)
	for _, origin := range more {
		switch {
		case slices.Contains(list, origin):
		case len(list) < maxOrigins:
			list = append(list, origin)
		case len(list) == maxOrigins:
			list = append(list, moreOrigins)
		}
	}
	return list
}

// MCPOrigin is the origin of what an MCP server says of its tools, which every request carries that offers them.
func MCPOrigin(server string) string { return string(ReadMCP) + " " + server }

// Use is a call of a tool, as far as trust is concerned.
type Use struct {
	Tool    string
	Network bool     // it reaches beyond this machine
	Writes  bool     // it changes files of the vault, or starts what does
	Changes []string // the files that it would change, as far as that is known before it runs; none: any
	Outputs []string // the files that the step itself writes, by its @output
	Granted bool     // the workflow lets the tool be used on untrusted content
}

// Refused says why a step must not carry out a call after it was shown the origins; empty when it may. Without origins
// everything may be done, and after them what neither reaches out nor changes anything but the step's own outputs.
func (u Use) Refused(origins []string) string {
	if len(origins) == 0 || u.Granted {
		return ""
	}
	switch {
	case u.Network:
		return "it reaches the network"
	case u.Writes && len(u.Changes) == 0:
		return "it may change files that are not among the step's outputs"
	case u.Writes:
		for _, name := range u.Changes {
			if !slices.Contains(u.Outputs, name) {
				return fmt.Sprintf("it changes %s, which is not among the step's outputs", name)
			}
		}
	}
	return ""
}
