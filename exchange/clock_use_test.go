package exchange

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"
)

// If the computer's clock is behind the log, the exchange's clock is ahead of it. Invitations, exports
// and searches use the exchange's.
func TestOperatorsUseClockOfExchange(t *testing.T) {
	t.Parallel()
	x := startAcceptingClock(t, newDirWithLogAge(t, reportConfig(baseConfig), -48*time.Hour))
	began := x.clock.Now()
	invited := decode[struct {
		Token   string
		Expires time.Time `json:"expires_at"`
	}](t, x.mustAdmin(201, "POST", "/admin/v1/invitations", `{"role":"viewer","expires_in":"1h"}`))
	if life := invited.Expires.Sub(time.Unix(0, began)); life < 59*time.Minute || life > 2*time.Hour {
		t.Errorf("the invitation expires %s after the exchange's time", life)
	}
	x.adminRequest("GET", "/admin/v1/invitations/"+invited.Token, "").mustHave(t, 200, `"role":"viewer"`)
	accepted := x.adminRequest("POST", "/admin/v1/invitations/"+invited.Token+"/accept", `{"name":"ann","password":"a canary of a password"}`)
	accepted.mustHave(t, 201, `"role":"viewer"`)

	x.mustSell(leadBody(1))
	x.waitForAllLogEntries()
	if rows := x.mustAdmin(200, "GET", "/admin/v1/leads/export?format=ndjson", "").body; strings.Count(rows, "\n") != 1 {
		t.Errorf("the export has not the lead: %q", rows)
	}
	x.mustAdmin(200, "GET", "/admin/v1/unmatched", "").mustHave(t, 200, `"leads":1`)

	at := func(after time.Duration) string {
		return url.QueryEscape(time.Unix(0, began).Add(after).UTC().Format(time.RFC3339))
	}
	for query, want := range map[string]bool{
		"from=" + at(-time.Hour): true, "to=" + at(time.Hour): true, "from=" + at(-time.Hour) + "&to=" + at(time.Hour): true,
		"from=" + at(time.Hour): false, "to=" + at(-time.Hour): false,
	} {
		entries, _ := x.audit("?" + query + "&operation=" + url.QueryEscape("POST /admin/v1/invitations"))
		if found := len(entries) > 0; found != want {
			t.Errorf("%s: %s", query, fmt.Sprint(entries))
		}
	}
}
