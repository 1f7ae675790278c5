package step

import (
	"context"
	"errors"
	"strings"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/note"
)

// headingKey is a heading as [engine.Change] records it.
func headingKey(heading string) string {
	return strings.ToLower(strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(heading), "#")))
}

// ownBelow returns the texts below a heading of a file that the workflow wrote: what it put there last and, of changes by other outputs
// and tools since, the lines that they added. What is not known any more counts as somebody else's.
func (st *staging) ownBelow(ctx context.Context, file *stagedContent, heading string) ([]string, error) {
	key := headingKey(heading)
	if text, ok := file.wrote[key]; ok {
		return []string{text}, nil
	}
	changes, err := st.a.outputs.Memory.Written(ctx, st.s.Plan.Name, file.Name)
	if err != nil {
		return nil, err
	}
	own := []string{}
	for _, c := range changes {
		if digest := c.Own[key]; digest != "" {
			text, _, err := st.kept(ctx, digest)
			if err != nil {
				return nil, err
			}
			own = []string{string(text)}
			continue
		}
		before, had, err := st.kept(ctx, c.Before)
		if err != nil {
			return nil, err
		}
		after, has, err := st.kept(ctx, c.After)
		if err != nil {
			return nil, err
		}
		switch {
		case !had || !has:
		case c.Links > 0:
			own = relinked(own, before, after)
		default:
			own = append(own, note.Added(note.SectionText(before, heading), note.SectionText(after, heading)))
		}
	}
	return own, nil
}

// relinked returns texts of a file after a change of links in it, which changes no other characters and no ends of lines.
func relinked(texts []string, before, after []byte) []string {
	were, are := strings.Split(string(before), "\n"), strings.Split(string(after), "\n")
	if len(were) != len(are) {
		return texts
	}
	now := map[string]string{}
	for i, line := range were {
		if line != are[i] {
			now[strings.TrimSpace(line)] = strings.TrimSpace(are[i])
		}
	}
	for i, text := range texts {
		lines := strings.Split(text, "\n")
		for j, line := range lines {
			if was := strings.TrimSpace(line); now[was] != "" {
				lines[j] = strings.Replace(line, was, now[was], 1)
			}
		}
		texts[i] = strings.Join(lines, "\n")
	}
	return texts
}

// kept returns a content that retention may have removed.
func (st *staging) kept(ctx context.Context, digest string) (data []byte, known bool, err error) {
	if digest == "" {
		return nil, true, nil
	}
	data, err = st.a.stored.Blobs.Get(ctx, digest)
	if errors.Is(err, engine.ErrNotFound) {
		return nil, false, nil
	}
	return data, err == nil, err
}
