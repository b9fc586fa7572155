package admin

import (
	"strings"
	"testing"

	"github.com/fasthttp/router"

	"pingpost/engine/market"
	"pingpost/server/servertest"
)

// allowed is every path of the operators' address, below the least role that opens it.
// A path that is new has to be put into one of them.
var allowed = map[market.OperatorRole]string{
	market.RoleViewer: `
GET /admin/v1/session                DELETE /admin/v1/session
GET /admin/v1/api-tokens             POST /admin/v1/api-tokens        DELETE /admin/v1/api-tokens/{id}
PUT /admin/v1/users/{name}/password GET /admin/v1/openapi.yaml
GET /admin/v1/hash                   GET /admin/v1/config             GET /admin/v1/config/history
GET /admin/v1/config/defaults        GET /admin/v1/secrets
GET /admin/v1/config/suppliers       GET /admin/v1/config/suppliers/{id}
GET /admin/v1/config/buyers          GET /admin/v1/config/buyers/{id}
GET /admin/v1/config/campaigns       GET /admin/v1/config/campaigns/{id}
GET /admin/v1/config/suppression_lists GET /admin/v1/config/suppression_lists/{id}
GET /admin/v1/suppression            GET /admin/v1/backup             GET /admin/v1/deliveries
GET /admin/v1/explain                GET /admin/v1/explain/{id}       GET /admin/v1/statement
GET /admin/v1/report                 GET /admin/v1/returns            GET /admin/v1/suppliers/{id}/keys
GET /admin/v1/buyers/{id}/funds      GET /admin/v1/overview           GET /admin/v1/live
GET /admin/v1/suppliers/{id}/clients GET /admin/v1/buyers/{id}/clients
GET /admin/v1/suppliers/{id}/tokens  GET /admin/v1/buyers/{id}/tokens
GET /admin/v1/webhooks               GET /admin/v1/webhooks/{id}      GET /admin/v1/webhooks/{id}/dead
GET /admin/v1/leads                  GET /admin/v1/auctions           GET /admin/v1/unmatched
GET /admin/v1/caps                   GET /admin/v1/bench/example`,
	market.RoleOperator: `
POST /admin/v1/campaigns/{id}/pause  POST /admin/v1/campaigns/{id}/resume
POST /admin/v1/buyers/{id}/pause     POST /admin/v1/buyers/{id}/resume
POST /admin/v1/deliveries/{lead}/{how} POST /admin/v1/returns/{lead}
POST /admin/v1/webhooks/{id}/dead/{event}/resend DELETE /admin/v1/webhooks/{id}/dead/{event}
POST /admin/v1/webhooks/{id}/resend  POST /admin/v1/webhooks/{id}/off POST /admin/v1/webhooks/{id}/on
POST /admin/v1/report/rebuild        POST /admin/v1/backup            PUT /admin/v1/suppression/{id}
POST /admin/v1/bench`,
	market.RoleAdmin: `
GET /admin/v1/users                  PUT /admin/v1/users/{name}       DELETE /admin/v1/users/{name}
PUT /admin/v1/config
PUT /admin/v1/config/suppliers/{id}  DELETE /admin/v1/config/suppliers/{id}
PUT /admin/v1/config/buyers/{id}     DELETE /admin/v1/config/buyers/{id}
PUT /admin/v1/config/campaigns/{id}  DELETE /admin/v1/config/campaigns/{id}
PUT /admin/v1/config/suppression_lists/{id} DELETE /admin/v1/config/suppression_lists/{id}
POST /admin/v1/erase                 PUT /admin/v1/secrets/{name:*}
POST /admin/v1/suppliers/{id}/keys   DELETE /admin/v1/suppliers/{id}/keys/{hint}
POST /admin/v1/buyers/{id}/funds
DELETE /admin/v1/suppliers/{id}/clients/{client} DELETE /admin/v1/buyers/{id}/clients/{client}
POST /admin/v1/suppliers/{id}/clients/{client}/secrets POST /admin/v1/buyers/{id}/clients/{client}/secrets
DELETE /admin/v1/suppliers/{id}/clients/{client}/secrets/{hint} DELETE /admin/v1/buyers/{id}/clients/{client}/secrets/{hint}
POST /admin/v1/suppliers/{id}/tokens POST /admin/v1/buyers/{id}/tokens
DELETE /admin/v1/suppliers/{id}/tokens/{token} DELETE /admin/v1/buyers/{id}/tokens/{token}
POST /admin/v1/webhooks/{id}/secret  DELETE /admin/v1/webhooks/{id}/secret/previous
GET /debug/pprof/{name:*}`,
}

// TestEveryRouteHasItsRole requests all routes with all roles. A lower role receives 403
// with the name of the required role. Other roles receive another answer, and
// unauthenticated clients 401.
func TestEveryRouteHasItsRole(t *testing.T) {
	needs := map[string]market.OperatorRole{}
	for role, lines := range allowed {
		words := strings.Fields(lines)
		for i := 0; i < len(words); i += 2 {
			needs[words[i]+" "+words[i+1]] = role
		}
	}
	l := openAccounts(t, servertest.Password)
	headers := map[market.OperatorRole]string{}
	for _, role := range []market.OperatorRole{market.RoleViewer, market.RoleOperator, market.RoleAdmin} {
		l.hire(role.String(), role)
		headers[role] = l.in(role.String(), longEnough).writes
	}
	routes := router.New()
	l.admin.addAuthenticatedRoutes(routes)
	walked := 0
	for method, paths := range routes.List() {
		for _, path := range paths {
			need, known := needs[method+" "+path]
			if !known {
				t.Errorf("%s %s has no role in the table", method, path)
			}
			if path == "/admin/v1/session" || path == "/admin/v1/live" {
				continue // the one ends the session, the other never ends
			}
			walked++
			line := method + " " + strings.NewReplacer("{name:*}", "none", "{name}", "none", "{id}", "none", "{lead}", "none", "{how}", "none").Replace(path)
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
	}
	if walked < 60 {
		t.Errorf("%d routes were walked", walked)
	}
}
