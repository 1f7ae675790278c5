package assistantmd

import (
	"regexp"
	"strings"

	"github.com/vaultflow/vaultflow/directives"
)

// oldTools holds the tools of AssistantMD that have one counterpart. Its other tools did several things at once, so the user
// must choose.
var oldTools = map[string]string{
	"true": "all", "yes": "all", "1": "all", "on": "all", "false": "none", "no": "none", "0": "none", "off": "none",
	"buffer_ops": "read_variable", "workflow_run": "run_workflow", "file_read": "read_file",
}

var toolWord = regexp.MustCompile(`[^\s,()]+|\([^)]*\)`)

// tools fixes the names of tools.
func (r lineReview) tools(l oldLine) {
	for _, span := range toolWord.FindAllStringIndex(l.value.text, -1) {
		word := l.value.text[span[0]:span[1]]
		start, end := l.value.start+span[0], l.value.start+span[1]
		if name := oldTools[canonicalName(word)]; name != "" && r.ours {
			if directives.ValidTool(word) {
				r.out.warn(l.at(start), "write "+name, "AssistantMD's "+word+" is called "+name+" here", l.replace(start, end, name))
			} else {
				r.out.attach(l.at(start), l.column(start), directives.CodeDirectiveValue, "write "+name, l.replace(start, end, name))
			}
		}
		if at := strings.Index(strings.ToLower(word), "session"); word[0] == '(' && at > 0 {
			r.out.attach(l.at(start+at), l.column(start+at), directives.CodeParamValue,
				"write scope=run, which is what session meant in a workflow, or scope=workflow to keep it between runs", l.replace(start+at, start+at+len("session"), "run"))
		}
	}
}
