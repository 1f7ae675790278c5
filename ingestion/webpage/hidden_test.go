package webpage

import (
	"strings"
	"testing"
)

func TestReadable_leavesOutWhatNobodySees(t *testing.T) {
	t.Parallel()
	page := `<html><body><p>seen</p><script>unseen1</script><noscript>unseen2</noscript><template>unseen3</template><!-- unseen4 -->
		<div hidden>unseen5 <p>unseen6</p></div><p style="color: red; DISPLAY:none !important">unseen7</p><span style="visibility: hidden">unseen8</span>
		<p style="display: block">too</p><p style="opacity: 1">also</p></body></html>`
	p, err := Readable([]byte(page), "text/html", "", Hooks{})
	if err != nil || strings.Contains(p.Markdown, "unseen") {
		t.Errorf("%v:\n%s", err, p.Markdown)
	}
	for _, word := range []string{"seen", "too", "also"} {
		if !strings.Contains(p.Markdown, word) {
			t.Errorf("%s is missing:\n%s", word, p.Markdown)
		}
	}
}
