package remote

import "testing"

func TestRedact(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://example.org/a/b.pdf":                          "https://example.org/a/b.pdf",
		"https://example.org/a%2Fb?id=5&token=s3cr3t":          "https://example.org/a%2Fb?id=***&token=***",
		"https://example.org:443/a?s3cr3t#access_token=s3cr3t": "https://example.org:443/a?***",
		"https://me:s3cr3t@example.org/":                       "https://example.org/",
		"http://example.org/?q=a=s3cr3t&&x=":                   "http://example.org/?q=***&&x=***",
		"s3cr3t":                                               "***",
		"https://exa mple.org/s3cr3t":                          "***",
	} {
		if got := Redact(address); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}
