package admin

import (
	"regexp"
	"strings"
	"testing"

	"pingpost/engine/market"
	"pingpost/server/servertest"
)

// TestEveryRouteHasItsRole requests all operations of the API document with all roles. A role
// below the document's receives 403 with the name of the required role. Other roles receive
// another answer, and unauthenticated clients 401.
func TestEveryRouteHasItsRole(t *testing.T) {
	l := openAccounts(t, servertest.Password)
	headers := map[market.OperatorRole]string{}
	for _, role := range []market.OperatorRole{market.RoleViewer, market.RoleOperator, market.RoleAdmin} {
		l.hire(role.String(), role)
		headers[role] = l.in(role.String(), longEnough).writes
	}
	walked := 0
	for operation, name := range described(t) {
		need, ok := market.ParseRole(name)
		_, path, _ := strings.Cut(operation, " ")
		if !ok || path == pathSession || path == "/admin/v1/live" {
			continue // open to all; the session would end, the other never ends
		}
		walked++
		line := regexp.MustCompile(`{\w+}`).ReplaceAllString(operation, "none")
		if got := l.ask(line, "", ""); got.status != 401 {
			t.Errorf("%s by a stranger: %+v", line, got)
		}
		for role, header := range headers {
			got := l.ask(line, header, "")
			short := got.status == 403 && strings.Contains(got.body, `"forbidden"`) && strings.Contains(got.body, "needs the role "+need.String())
			if short != (role < need) || got.status == 401 {
				t.Errorf("%s by %s: %+v", line, role, got)
			}
		}
	}
	if walked < 60 {
		t.Errorf("%d routes were walked", walked)
	}
}
