package chunking

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLinks(t *testing.T) {
	t.Parallel()
	src := strings.ReplaceAll(`---
related: "[[Plan#Goals|the plan]]"
others: ['[[It''s|x]]', [[Bare]]] # [[not this]]
---
[[A]] and ![[B.png|100]] [[C#h|d]] [[#own]] [[  D  ]] [t](E%20f.md#x "title") ![a](<G h.png>) [r][ref]
| x | [[H\|i]] |
|---|---|
| [[J\|k]] | |

~[[code]]~ %%[[comment]]%% $[[math]]$ [w](https://example.org/a.md) [m](mailto:a@b.c) [q](#own)

[ref]: K.md "t"

~~~
[[fenced]]
[ref]: L.md
~~~

    [[indented]]

> [[M]] <img src="N.png" width=3> [![in](O.png)](P.md)
`, "~", "`")
	var got []string
	for _, l := range Links([]byte(src)) {
		got = append(got, fmt.Sprintf("%s %s %s", l.Syntax, l.Target, src[l.Start:l.End]))
	}
	want := []string{
		"property Plan Plan", "property It's It''s", "property Bare Bare",
		"wikilink A A", "wikilink B.png B.png", "wikilink C C", "wikilink D D", "markdown E f.md E%20f.md", "markdown G h.png G h.png",
		"wikilink H H", "wikilink J J", "reference K.md K.md", "wikilink M M", "html N.png N.png", "markdown O.png O.png", "markdown P.md P.md",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
