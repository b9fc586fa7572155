package format

import (
	"math"
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseDigits(t *testing.T) {
	for text, want := range map[string]int{"0": 0, "007": 7, "65535": 65535, "9223372036854775807": math.MaxInt64} {
		if n, ok := ParseDigits([]byte(text)); !ok || n != want {
			t.Errorf("%q is %d, %v; want %d", text, n, ok, want)
		}
	}
	for _, text := range []string{"", "-1", "+1", "1 ", "1a", "9223372036854775808", "18446744073709551617"} {
		if n, ok := ParseDigits([]byte(text)); ok {
			t.Errorf("%q is %d, want no number", text, n)
		}
	}
}

func TestIsURL(t *testing.T) {
	long := strings.Repeat("l", maxDNSLabel)
	for text, want := range map[string]bool{
		"https://cert.example/3f2a?x=1&y=%20#z": true,
		"HTTPS://CERT.example":                  true,
		"http://localhost:8080/":                true,
		"https://127.0.0.1:65535":               true,
		"https://[2001:db8::1]:443/x":           true,
		"https://[::]":                          true,
		"https://a_b.example":                   true,
		"https://" + long + ".example":          true,
		"https://x?q":                           true,
		"https://" + long + "l.example":         false,
		"":                                      false,
		"https://":                              false,
		"https:///path":                         false,
		"https:/x":                              false,
		"https:x":                               false,
		"//x/y":                                 false,
		"/x":                                    false,
		"x.example":                             false,
		"ftp://x.example":                       false,
		"javascript:alert(1)":                   false,
		"https://user@x.example":                false,
		"https://user:pw@x.example":             false,
		"https://x.example:":                    false,
		"https://x.example:0":                   false,
		"https://x.example:65536":               false,
		"https://x.example:+80":                 false,
		"https://x.example:000080":              false,
		"https://x..example":                    false,
		"https://x.example.":                    false,
		"https://-x.example":                    false,
		"https://x-.example":                    false,
		"https://x y.example":                   false,
		"https://x.example/a b":                 false,
		"https://x.example/\n":                  false,
		"https://x.example/\x00":                false,
		"https://x.example/<script>":            false,
		"https://x.example/\\y":                 false,
		"https://x.example/%2":                  false,
		"https://x.example/%zz":                 false,
		"https://x.example/ä":                   false,
		"https://bücher.example":                false,
		"https://[2001:db8::1":                  false,
		"https://[1::2::3]":                     false,
		"https://[:::]":                         false,
		"https://[:1:2:3:4:5:6:7]":              false,
		"https://[1:2:3:4:5:6:7]":               false,
		"https://[1:2:3:4:5:6:7:8]":             true,
		"https://[1:2:3:4:5:6:7:8:9]":           false,
		"https://[12345::]":                     false,
		"https://[::g]":                         false,
		"https://[]":                            false,
		"https://[::1.2.3.4]":                   false,
		"https://[::1]x":                        false,
		" https://x.example":                    false,
	} {
		if got := IsURL([]byte(text), false); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	if IsURL([]byte("http://x.example"), true) || !IsURL([]byte("https://x.example"), true) {
		t.Error("the https-only check is wrong")
	}
}

func TestIsURLAcceptsOnlyParsableURLs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := "https://" + rapid.StringMatching(`[a-z0-9.:@\[\]_%-]{1,12}([/?#][a-zA-Z0-9%/?#&=:@!$'()*+,;~. -]{0,12})?`).Draw(t, "rest")
		if !IsURL([]byte(text), true) {
			return
		}
		parsed, err := url.Parse(text)
		if err != nil || parsed.Host == "" || parsed.User != nil || !strings.HasPrefix(text[len("https://"):], parsed.Host) {
			t.Fatalf("%q is accepted, but net/url parses it as %v, %v", text, parsed, err)
		}
	})
}

func TestIsPlainText(t *testing.T) {
	for text, want := range map[string]bool{
		"":                     true,
		"Ann\tO'Neil\r\n2":     true,
		"José \U0001F600":      true,
		"\uFFFD":               true,
		"a\x00b":               false,
		"a\x1bb":               false,
		"a\x7fb":               false,
		"a\u0085b":             false,
		"a\u009fb":             false,
		"a\u00a0b":             true,
		"a\xffb":               false,
		"a\xed\xa0\x80b":       false,
		"a" + string('\u200d'): true,
	} {
		if got := IsPrintableText([]byte(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
