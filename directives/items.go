package directives

import (
	"context"
)

// perItem reports whether an input must be resolved for each item of the batch.
func (in Input) perItem(f Facts) bool {
	return len(f.Items) > 0 && !in.Target.Literal && MentionsItem(in.Target.Path)
}

// ReadsItem reports whether an input is `file: {item}`, which shows the whole item.
func (in Input) ReadsItem() bool {
	return in.Target.Scheme == SchemeFile && !in.Target.Literal && !in.Target.Link && in.Target.Path == "{item}"
}

// resolveItems resolves an input for each item and merges the results.
func (in Input) resolveItems(ctx context.Context, env ResolveEnv) (Resolution, error) {
	all := Resolution{Missing: true}
	seen := map[string]bool{}
	items, name := env.Facts.Items, env.Facts.ItemName
	for i, item := range items {
		env.Facts.Items, env.Facts.ItemName = nil, NameOf(item)
		if item == env.Facts.Item && name != "" {
			env.Facts.ItemName = name
		}
		one := env
		one.Facts.Item = item
		res, err := in.Resolve(ctx, one)
		if err != nil {
			return all, err
		}
		if i == 0 {
			all.Target = res.Target
		}
		all.Missing = all.Missing && res.Missing
		all.Near = append(all.Near, res.Near...)
		all.Considered += res.Considered
		all.Warnings = append(all.Warnings, res.Warnings...)
		for _, file := range res.Files {
			if !seen[file.Name] {
				seen[file.Name] = true
				all.Files = append(all.Files, file)
			}
		}
	}
	if len(items) > 1 {
		all.Target = in.Target.Path
	}
	if !all.Missing {
		all.Near = nil
	}
	if len(all.Files) > env.MaxFiles {
		return all, At(in.Target.At, CodeTooMany, "use a smaller batch", "%s selects more than %d files (engine.max_selected_files)", in.Target.Path, env.MaxFiles)
	}
	return all, nil
}
