// Package assistantmd knows the workflow language that AssistantMD had in February and March 2026, and how to write it
// in ours. [Review] adds the exact rewriting to the diagnostics of a note; [Frontmatter.Repair] makes YAML of properties
// that AssistantMD read as plain text. The package reads text and keeps no state.
package assistantmd
