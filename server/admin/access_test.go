package admin

import (
	"strings"
	"testing"

	"github.com/valyala/fasthttp"
)

// The operator name given with the configured password is cut to the length that a log
// record holds.
func TestActorName(t *testing.T) {
	for given, want := range map[string]string{
		"anna":                         "anna",
		"":                             "operator",
		"  ":                           "operator",
		"\x00\n\u202e":                 "operator",
		" a\nb\x1b[31m\u202e ":         "ab[31m",
		"Ånna \"Ö\"":                   "Ånna \"Ö\"",
		"bad\xff\xfeutf":               "badutf",
		strings.Repeat("x", 100):       strings.Repeat("x", 64),
		"x" + strings.Repeat("ä", 100): "x" + strings.Repeat("ä", 31),
	} {
		if got := sanitizeActorName(given); got != want {
			t.Errorf("%q became %q, want %q", given, got, want)
		}
	}
}

// A caller has a name only once it is authenticated.
func TestCallerName(t *testing.T) {
	var ctx fasthttp.RequestCtx
	before := callerNameOf(&ctx)
	ctx.SetUserValue(principalKey, principal{name: "anna"})
	if after := callerNameOf(&ctx); before != "" || after != "anna" {
		t.Errorf("%q, then %q", before, after)
	}
}
