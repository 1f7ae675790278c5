package note

import (
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/vaultflow/vaultflow/chunking"
)

// Title returns what a note calls itself: its property `title`, else its first heading, on one line; "" if it has neither.
func Title(note []byte) string {
	var properties struct {
		Title yaml.Node `yaml:"title"`
	}
	_, front := chunking.Frontmatter(note)
	if err := yaml.Unmarshal(front, &properties); err == nil && properties.Title.Kind == yaml.ScalarNode && properties.Title.Tag != "!!null" {
		if title := strings.Join(strings.Fields(properties.Title.Value), " "); title != "" {
			return title
		}
	}
	return strings.Join(strings.Fields(chunking.FirstHeading(note)), " ")
}
