package admin

import (
	"regexp"
	"strings"
	"testing"

	"pingpost/engine/market"
	"pingpost/server/servertest"
)

// The test requests all operations of the API document with all roles. A role below the
// required one gets 403 with the required role's name, other roles another answer, and
// unauthenticated clients 401.
func TestEachRouteRequiresItsRole(t *testing.T) {
	l := openAccounts(t, servertest.Password)
	headers := map[market.OperatorRole]string{}
	for _, role := range []market.OperatorRole{market.RoleViewer, market.RoleOperator, market.RoleAdmin} {
		l.createUser(role.String(), role)
		headers[role] = l.mustLogIn(role.String(), testPassword).write
	}
	requested := 0
	for operation, name := range documentedRoles(t) {
		need, ok := market.ParseRole(name)
		_, path, _ := strings.Cut(operation, " ")
		if !ok || path == pathSession || path == "/admin/v1/live" {
			continue // the first is open to all; the others would end the session or not end
		}
		requested++
		line := regexp.MustCompile(`{\w+}`).ReplaceAllString(operation, "none")
		if got := l.send(line, "", ""); got.status != 401 {
			t.Errorf("%s without a credential: got %+v, want 401", line, got)
		}
		for role, header := range headers {
			got := l.send(line, header, "")
			short := got.status == 403 && strings.Contains(got.body, `"forbidden"`) && strings.Contains(got.body, "needs the role "+need.String())
			if short != (role < need) || got.status == 401 {
				t.Errorf("%s by %s: %+v", line, role, got)
			}
		}
	}
	if requested < 60 {
		t.Errorf("%d routes were requested, want at least 60", requested)
	}
}
