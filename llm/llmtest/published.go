package llmtest

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"path"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// schemaFiles are made from what the services' owners publish; schemas/README.md names the sources.
//
//go:embed schemas/*.json
var schemaFiles embed.FS

// compiled are the schemas by name, each made ready when it is first asked for.
var compiled = func() map[string]func() (*jsonschema.Schema, error) {
	files, err := schemaFiles.ReadDir("schemas")
	if err != nil {
		panic(err) // the folder is part of the program
	}
	all := map[string]func() (*jsonschema.Schema, error){}
	for _, f := range files {
		name := strings.TrimSuffix(f.Name(), ".json")
		all[name] = sync.OnceValues(func() (*jsonschema.Schema, error) { return compile(f.Name()) })
	}
	return all
}()

func compile(file string) (*jsonschema.Schema, error) {
	data, err := schemaFiles.ReadFile(path.Join("schemas", file))
	if err != nil {
		return nil, err
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertContent() // base64 must be base64
	if err := compiler.AddResource(file, document); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return compiler.Compile(file)
}

// Published holds a request body to the schema that was made from a service's own publication: members that it does not
// know are refused everywhere. name is that of a file in schemas, without its ending.
func Published(name string, body []byte) error {
	made, ok := compiled[name]
	if !ok {
		return fmt.Errorf("there is no schema %q", name)
	}
	schema, err := made()
	if err != nil {
		return err
	}
	instance, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("the body is not JSON: %w", err)
	}
	var refused *jsonschema.ValidationError
	if err := schema.Validate(instance); errors.As(err, &refused) {
		at := deepest(refused)
		return fmt.Errorf("the published schema of %s refuses /%s: %s",
			name, strings.Join(at.InstanceLocation, "/"), at.ErrorKind.LocalizedString(message.NewPrinter(language.English)))
	} else if err != nil {
		return err
	}
	return nil
}

// deepest is the fault farthest inside the body. Where a value may have many forms it is that of the form that was meant:
// one whose type or role is that of the value.
func deepest(e *jsonschema.ValidationError) *jsonschema.ValidationError {
	var best *jsonschema.ValidationError
	for _, cause := range e.Causes {
		d := deepest(cause)
		if best == nil || !otherForm(d) && (otherForm(best) || len(d.InstanceLocation) > len(best.InstanceLocation)) {
			best = d
		}
	}
	if best == nil {
		return e
	}
	return best
}

func otherForm(e *jsonschema.ValidationError) bool {
	_, fixed := e.ErrorKind.(*kind.Const)
	return fixed
}
