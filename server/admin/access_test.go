package admin

import (
	"strings"
	"testing"

	"github.com/valyala/fasthttp"

	"pingpost/engine/market"
)

// TestActorName checks that the name given with the configured password is cut to the
// length that a log record holds.
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

// TestNobodyAsks checks that an unauthenticated caller has no name and no role.
func TestNobodyAsks(t *testing.T) {
	var ctx fasthttp.RequestCtx
	if callerNameOf(&ctx) != "" || callerRoleOf(&ctx) != 0 {
		t.Errorf("%q, %s", callerNameOf(&ctx), callerRoleOf(&ctx))
	}
	ctx.SetUserValue(principalKey, principal{name: "anna", role: market.RoleViewer})
	if callerNameOf(&ctx) != "anna" || callerRoleOf(&ctx) != market.RoleViewer {
		t.Errorf("%q, %s", callerNameOf(&ctx), callerRoleOf(&ctx))
	}
}
