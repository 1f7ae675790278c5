// Package assistantmd translates the workflow language of AssistantMD, as of February and March 2026, into ours. [Review]
// adds the exact rewriting to the diagnostics of a note; [Frontmatter.Repair] turns properties that AssistantMD read as plain
// text into YAML. The package reads text and keeps no state.
package assistantmd
