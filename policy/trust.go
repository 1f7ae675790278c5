package policy

import (
	"fmt"
	"slices"
	"strings"
)

// ReadKind is a kind of content that a step was shown.
type ReadKind string

// The kinds of content.
const (
	ReadFile     ReadKind = "file"     // a file in the vault, as an input, transcluded or read by a tool
	ReadName     ReadKind = "name"     // the name of a file, without its content
	ReadVariable ReadKind = "variable" // a variable of the run
	ReadPicture  ReadKind = "picture"  // a picture from the web
	ReadPage     ReadKind = "web"      // something fetched from a web address
	ReadSearch   ReadKind = "search"   // the results of a web search
	ReadMCP      ReadKind = "mcp"      // the result of an MCP tool
	ReadArtifact ReadKind = "artifact" // fetched content that was kept
)

// Read is one thing that a step was shown.
type Read struct {
	Kind    ReadKind
	Name    string   // vault name, variable, address without its query values, server.tool, or reference
	Trust   string   // the workflow's choice: trusted, untrusted, or empty
	Origins []string // the untrusted sources of a variable's value or a file of this run
}

// Trust distinguishes the owner's content from that of strangers. The zero value has Imported as the folder of imports.
type Trust struct {
	ImportedDir string // imported files are below it, including mail and attachments
	// Known reports what is on record about the present content of a file: whether it is foreign, whatever its name, and its
	// origins. nil: nothing is on record.
	Known func(name string) (foreign bool, origins []string)
	// Named is Known for the name alone: whether somebody else may have chosen it. nil: its place decides.
	Named func(name string) (foreign bool, origins []string)
}

// Untrusted reports whether somebody else determines this content. The workflow's choice comes first. Without one, files are
// trusted unless they are below the folder of imports, the run made them from something untrusted, or their content is known
// to be foreign; variables are as trusted as their sources; anything from beyond this machine is untrusted.
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

// known reports whether a file is foreign by its place or its record, and its origins. The record overrides the place,
// because the user may trust an imported file.
func (t Trust) known(r Read) (foreign bool, origins []string) {
	switch {
	case r.Name == "": // a dangling link
		return false, nil
	case r.Kind == ReadFile && t.Known != nil:
		return t.Known(r.Name)
	case r.Kind == ReadName && t.Named != nil:
		return t.Named(r.Name)
	}
	return t.imported(r.Name), nil
}

// imported reports whether a vault name is below the folder of imports. It ignores case, as some file systems do.
func (t Trust) imported(name string) bool {
	dir := strings.Trim(t.ImportedDir, "/")
	if dir == "" {
		dir = "Imported"
	}
	return strings.HasPrefix(strings.ToLower(name), strings.ToLower(dir)+"/")
}

// Origins lists the untrusted sources of what a step was shown, each once and in order, such as "file Imported/a/index.md". A
// prompt with any is tainted. A file is listed with its sources; for a variable only its sources are listed.
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

// maxOrigins is how many origins a record names; if there are more, the last entry says so.
const maxOrigins = 20

// moreOrigins represents the origins that a record has no room for.
const moreOrigins = "and more"

// AddOrigins adds new origins to a list, which remains short and is not changed in place.
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

// MCPOrigin returns the origin of an MCP server's tool descriptions, which are part of every request that offers the tools.
func MCPOrigin(server string) string { return string(ReadMCP) + " " + server }

// Use describes a tool call for decisions about trust.
type Use struct {
	Tool    string
	Network bool     // it reaches beyond this machine
	Writes  bool     // it changes files in the vault, or starts something that does
	Changes []string // the files it would change, if known in advance; none: any
	Outputs []string // the files that the step itself writes, by its @output
	Granted bool     // the workflow allows the tool on untrusted content
}

// Refused returns why a step must not make a call after it was shown the origins, or "" if it may. Without origins every call
// is allowed; with them only calls that neither reach the network nor change anything but the step's own outputs.
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
