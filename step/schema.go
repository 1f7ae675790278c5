package step

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/vaultflow/vaultflow/chunking"
	"github.com/vaultflow/vaultflow/content/conform"
	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/note"
	"github.com/vaultflow/vaultflow/vault"
)

// maxSchema limits a schema's text, in bytes: each prompt of its step contains it.
const maxSchema = 256 << 10

// compileSchema compiles a JSON Schema. Without $schema it is draft 2020-12. Formats are checked.
func compileSchema(raw []byte) (*conform.Schema, error) {
	compiled, err := conform.Compile(raw, true)
	if foreign, ok := errors.AsType[*jsonschema.LoadURLError](err); ok {
		return nil, fmt.Errorf("%w: %s", conform.ErrForeignRef, strings.TrimPrefix(foreign.URL, conform.Root))
	}
	switch invalid, ok := errors.AsType[*jsonschema.SchemaValidationError](err); {
	case ok:
		if list := problemsOf(invalid.Err); len(list) > 0 {
			return nil, errors.New(strings.Join(list, "; "))
		}
	case err != nil:
		return nil, errors.New(strings.ReplaceAll(err.Error(), conform.Root, ""))
	}
	return compiled, compiled.Probe()
}

// maxProblems is how many problems of an answer are named.
const maxProblems = 20

// problemsOf lists what is wrong, with JSON pointers.
func problemsOf(err error) []string {
	invalid, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return []string{err.Error()}
	}
	var list []string
	listProblems(invalid, &list)
	slices.Sort(list)
	list = slices.Compact(list)
	if more := len(list) - maxProblems; more > 0 {
		list = append(list[:maxProblems], fmt.Sprintf("and %d more", more))
	}
	return list
}

func listProblems(e *jsonschema.ValidationError, list *[]string) {
	switch k := e.ErrorKind.(type) {
	case *kind.AnyOf:
		listAlternatives(e, list)
		return
	case *kind.OneOf:
		if len(k.Subschemas) == 0 {
			listAlternatives(e, list)
			return
		}
	}
	if len(e.Causes) == 0 {
		*list = append(*list, "at "+pointer(e.InstanceLocation)+": "+words(e.ErrorKind))
	}
	for _, cause := range e.Causes {
		listProblems(cause, list)
	}
}

// listAlternatives lists the problems of the closest alternative.
func listAlternatives(e *jsonschema.ValidationError, list *[]string) {
	*list = append(*list, fmt.Sprintf("at %s: it fits none of the %d alternatives", pointer(e.InstanceLocation), len(e.Causes)))
	var nearest []string
	for _, cause := range e.Causes {
		var problems []string
		listProblems(cause, &problems)
		if nearest == nil || len(problems) < len(nearest) {
			nearest = problems
		}
	}
	*list = append(*list, nearest...)
}

var english = message.NewPrinter(language.English)

func words(k jsonschema.ErrorKind) string {
	if _, never := k.(*kind.FalseSchema); never {
		return "nothing is allowed here"
	}
	return strings.Join(strings.Fields(k.LocalizedString(english)), " ")
}

// pointer is a JSON pointer; the whole is "the top".
func pointer(path []string) string {
	if len(path) == 0 {
		return "the top"
	}
	var b strings.Builder
	for _, part := range path {
		b.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(part))
	}
	return b.String()
}

// demand is the form that a step wants for its answer.
type demand struct {
	Schema json.RawMessage `json:"schema,omitempty"` // JSON Schema
	JSON   bool            `json:"json,omitempty"`   // any JSON
	Object bool            `json:"object,omitempty"` // a JSON object, for properties
}

// Demands reads the demands of steps.
type Demands struct {
	Vault  vault.Writer
	Inputs Inputs
}

// of returns the step's demand. It reads and checks a schema in a file.
func (f Demands) of(ctx context.Context, s Context) (demand, error) {
	var d demand
	d.Object = s.Step.WriteMode.Mode == directives.ModeFrontmatter && len(s.Step.Outputs) > 0
	d.JSON = d.Object || s.Step.Schema != nil || slices.ContainsFunc(s.Step.Outputs, func(o directives.Output) bool { return o.Format == directives.FormatJSON })
	schema := s.Step.Schema
	if schema == nil {
		return d, nil
	}
	raw, from := []byte(schema.Inline), "@schema"
	if schema.Target != nil {
		name, err := f.file(ctx, s, *schema.Target)
		if err != nil {
			return d, err
		}
		from = name
		data, _, err := f.Vault.Read(name, maxSchema)
		if err != nil {
			return d, failure.New(failure.Input, "", "read the schema %s: %v", name, err)
		}
		if raw, err = schemaText(name, data); err != nil {
			return d, failure.New(failure.Input, "", "the schema %s: %v", name, err)
		}
	}
	if _, err := compileSchema(raw); err != nil {
		return d, failure.New(failure.InvalidWorkflow, "see json-schema.org for the syntax", "%s: %s is not a valid JSON Schema: %v", schema.At, from, err)
	}
	d.Schema = raw
	return d, nil
}

// file returns the vault name of a schema.
func (f Demands) file(ctx context.Context, s Context, target directives.Target) (string, error) {
	found, err := directives.Input{At: s.Step.Schema.At, Target: target}.Resolve(ctx, f.Inputs.env(s))
	if err != nil {
		return "", failure.WithCode(err, failure.Input)
	}
	if len(found.Files) != 1 {
		hint := ""
		if len(found.Near) > 0 {
			hint = "similar names: " + strings.Join(found.Near, ", ")
		}
		return "", failure.New(failure.Input, hint, "%s: the schema %s is not one file of the vault", s.Step.Schema.At, target)
	}
	name := found.Files[0].Name
	if !s.Plan.Meta.Permissions.MayRead(name) {
		return "", failure.New(failure.Permission, "add it to permissions.read in the frontmatter", "%s: %s may not be read by this workflow", s.Step.Schema.At, name)
	}
	return name, nil
}

// schemaText converts a schema's file to JSON: JSON or YAML, or a note with either in its only code fence.
func schemaText(name string, data []byte) ([]byte, error) {
	text := string(data)
	if ext := strings.ToLower(path.Ext(name)); ext == ".md" || ext == ".markdown" {
		size, _ := chunking.Frontmatter(data)
		text = note.Unfenced(text[size:])
	}
	value, err := note.ReadJSON(strings.TrimPrefix(text, "\ufeff"))
	if err != nil {
		if value, err = note.ReadYAML(text); err != nil {
			return nil, err
		}
	}
	return note.MarshalJSON(value)
}
