package workflow

import "testing"

func TestFix_frontmatter(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		"schedule: cron: 0 8 * * 1-5":                          "schedule: \"cron: 0 8 * * 1-5\"",
		"schedule:\n  - cron: 0 8 * * *\n  - once: 2099-01-01": "schedule:\n  - \"cron: 0 8 * * *\"\n  - \"once: 2099-01-01\"",
		"schedule: 0 8 * * *":                                  "schedule: \"cron: 0 8 * * *\"",
		"schedule: \"@daily\"":                                 "schedule: \"cron: @daily\"",
		"schedule: ['2099-01-01 09:00']":                       "schedule: ['once: 2099-01-01 09:00']",
		"week-start-day: monday":                               "week_start_day: monday",
		"overlap: skipp":                                       "overlap: skip",
		"catch_up: lates":                                      "catch_up: latest",
		"budget:\n  max_image: 3\n  when_exceeded: fails":      "budget:\n  max_images: 3\n  when_exceeded: fail",
		"permissions: {raed: [a], wirte: [b]}":                 "permissions: {read: [a], write: [b]}",
		"workflow_engine: step\nenabled: false":                "enabled: false",
		"description: @me":                                     "description: \"@me\"",
		"watch: [*.md, In/**, **/x]\nenabled: true":            "watch: [\"*.md\", In/**, \"**/x\"]\nenabled: true",
		"permissions: {read: [**], write: [a, *b]}":            "permissions: {read: [\"**\"], write: [a, \"*b\"]}",
		"watch: *.md\nenabled: true":                           "watch: \"*.md\"\nenabled: true",
		// In doubt a person decides, and always about properties that may be the person's own.
		"schedul: \"cron: 0 8 * * *\"":         "schedul: \"cron: 0 8 * * *\"",
		"Enabled: true":                        "Enabled: true",
		"Model: gpt":                           "Model: gpt",
		"on-import: true":                      "on-import: true",
		"watch: [*a\nenabled: true":            "watch: [*a\nenabled: true",
		"schedule: [cron: 0 8 * * *]":          "schedule: [cron: 0 8 * * *]",
		"schedule: daily":                      "schedule: daily",
		"enabled: false\nEnabled: true":        "enabled: false\nEnabled: true",
		"Watch: a\nwatch: b\nenabled: true":    "Watch: a\nwatch: b\nenabled: true",
		"overlap: wait":                        "overlap: wait",
		"workflow_engine: step\nmode: [a, b]":  "mode: [a, b]",
		"workflow_engine:\n  name: step":       "workflow_engine:\n  name: step",
		"models: [a]\ntimezones: [b]\nmode: x": "models: [a]\ntimezones: [b]\nmode: x",
	} {
		const body = "\n---\n## A\nschedul: cron: prompt text\n"
		if got, _ := Fix("w", "w.md", []byte("---\n"+src+body), nil); string(got) != "---\n"+want+body {
			t.Errorf("%q became %q, want %q", src, got, want)
		}
	}
	late := "\n \n---\nenabled: true\n---\n## A\nx\n"
	if got, _ := Fix("w", "w.md", []byte(late), nil); string(got) != late[3:] {
		t.Errorf("frontmatter below blank lines became %q", got)
	}
}
