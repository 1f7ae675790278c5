// The command generate makes the JSON Schemas of Google's two request bodies: gemini.json from the compiled protocol buffers
// of the Developer API, vertex.json from the discovery document that google.golang.org/api carries. The vendors with types
// in TypeScript are done by generate.mjs. Run it here, without arguments; ../README.md says what is changed and why.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"strings"
)

const (
	prefix  = "#/definitions/"
	encoded = "^[A-Za-z0-9+/_-]*={0,2}$" // bytes: base64 with either alphabet, as protocol buffers read it
)

// object is a JSON Schema or a part of one.
type object = map[string]any

func main() {
	log.SetFlags(0)
	definitions, root := fromProtos()
	// Documented, and in the discovery document of Vertex; this version of the protocol buffers is older.
	definitions["ThinkingConfig"]["properties"].(object)["thinkingLevel"] = object{"type": "string", "enum": []string{"MINIMAL", "LOW", "MEDIUM", "HIGH"}}
	write("../gemini.json", version("cloud.google.com/go/ai"), root, definitions)
	definitions, root = fromDiscovery()
	write("../vertex.json", version("google.golang.org/api"), root, definitions)
}

// version names a module as it was built in.
func version(path string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		log.Fatal("the command was built without modules")
	}
	for _, m := range info.Deps {
		if m.Path == path {
			return m.Path + "@" + m.Version
		}
	}
	log.Fatalf("%s is not built in", path)
	return ""
}

// write puts what root needs of the definitions into a file, one a line, in the order of their names.
func write(name, source, root string, definitions map[string]object) {
	reached := map[string]bool{}
	reach(object{"$ref": prefix + root}, definitions, reached)
	var out bytes.Buffer
	fmt.Fprintf(&out, "{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\n\"$comment\":\"made from %s; do not edit\",\n\"$ref\":\"%s%s\",\n\"definitions\":{\n", source, prefix, root)
	for i, name := range slices.Sorted(maps.Keys(reached)) {
		if i > 0 {
			out.WriteString(",\n")
		}
		fmt.Fprintf(&out, "%q:%s", name, marshal(definitions[name]))
	}
	out.WriteString("\n}}\n")
	if err := os.WriteFile(name, out.Bytes(), 0o644); err != nil {
		log.Fatal(err)
	}
}

func marshal(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		log.Fatal(err)
	}
	return data
}

// reach notes all definitions that a schema needs.
func reach(v any, definitions map[string]object, reached map[string]bool) {
	switch v := v.(type) {
	case object:
		if ref, ok := v["$ref"].(string); ok {
			name := strings.TrimPrefix(ref, prefix)
			if definitions[name] == nil {
				log.Fatalf("%s is not defined", ref)
			}
			if !reached[name] {
				reached[name] = true
				reach(definitions[name], definitions, reached)
			}
		}
		for _, inner := range v {
			reach(inner, definitions, reached)
		}
	case []object:
		for _, inner := range v {
			reach(inner, definitions, reached)
		}
	case []any:
		for _, inner := range v {
			reach(inner, definitions, reached)
		}
	}
}
