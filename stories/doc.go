// Package stories plays vaultflow as people use it, to the last step: files dropped, schedules, notes written in Obsidian, and
// each shipped example. The daemon runs, the real worker reads, and the model is a strict service that answers from what it
// was shown. It is tests only; VAULTFLOW_LONG=1 adds the long documents and kills.
package stories
