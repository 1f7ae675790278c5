package main

import (
	"encoding/json"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	_ "google.golang.org/api/googleapi" // names the version whose discovery document is read
)

// fromDiscovery reads the request of Vertex, version v1. A discovery document has the words of an old JSON Schema; its
// objects are closed here, as the service refuses names that it does not know.
func fromDiscovery() (definitions map[string]object, root string) {
	folder, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "google.golang.org/api").Output()
	if err != nil {
		log.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(folder)), "aiplatform", "v1", "aiplatform-api.json"))
	if err != nil {
		log.Fatal(err)
	}
	var document struct {
		Schemas map[string]object `json:"schemas"`
	}
	if err := json.Unmarshal(data, &document); err != nil {
		log.Fatal(err)
	}
	definitions = map[string]object{}
	for name, schema := range document.Schemas {
		definitions[short(name)] = closed(schema)
	}
	root = "GenerateContentRequest"
	definitions[root]["required"] = []string{"contents"}
	return definitions, root
}

func short(name string) string { return strings.TrimPrefix(name, "GoogleCloudAiplatformV1") }

// closed keeps the words that bear on what is accepted.
func closed(s object) object {
	out := object{}
	if ref, ok := s["$ref"].(string); ok {
		return object{"$ref": prefix + short(ref)}
	}
	kind, _ := s["type"].(string)
	switch format, _ := s["format"].(string); {
	case kind == "any":
		return out
	case format == "int64":
		out["type"] = []string{"integer", "string"}
	case format == "byte":
		out["type"], out["pattern"] = "string", encoded
	default:
		out["type"] = kind
	}
	if names, ok := s["enum"]; ok {
		out["enum"] = names
	}
	if items, ok := s["items"].(object); ok {
		out["items"] = closed(items)
	}
	switch more, ok := s["additionalProperties"].(object); {
	case ok:
		out["additionalProperties"] = closed(more)
	case kind == "object":
		out["additionalProperties"] = false
	}
	if properties, ok := s["properties"].(object); ok {
		members := object{}
		for name, p := range properties {
			members[name] = closed(p.(object))
		}
		out["properties"] = members
	}
	return out
}
