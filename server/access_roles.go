package server

import "pingpost/engine/market"

// roleFor is the role that a path asks for: who looks is a viewer, who changes
// something an admin, but for these.
func roleFor(method, path string) market.Role {
	if role, ok := roles[method+" "+path]; ok {
		return role
	}
	if method == "GET" {
		return market.RoleViewer
	}
	return market.RoleAdmin
}

var roles = map[string]market.Role{
	"GET /debug/pprof/{name:*}": market.RoleAdmin, // what is in memory is secret
	"GET " + pathUsers:          market.RoleAdmin,

	"POST /admin/v1/deliveries/{lead}/{how}":           market.RoleOperator,
	"POST /admin/v1/returns/{lead}":                    market.RoleOperator,
	"POST /admin/v1/campaigns/{id}/pause":              market.RoleOperator,
	"POST /admin/v1/campaigns/{id}/resume":             market.RoleOperator,
	"POST /admin/v1/buyers/{id}/pause":                 market.RoleOperator,
	"POST /admin/v1/buyers/{id}/resume":                market.RoleOperator,
	"POST /admin/v1/webhooks/{id}/dead/{event}/resend": market.RoleOperator,
	"DELETE /admin/v1/webhooks/{id}/dead/{event}":      market.RoleOperator,
	"POST /admin/v1/webhooks/{id}/resend":              market.RoleOperator,
	"POST /admin/v1/webhooks/{id}/off":                 market.RoleOperator,
	"POST /admin/v1/webhooks/{id}/on":                  market.RoleOperator,
	"POST /admin/v1/bench":                             market.RoleOperator,
	"PUT /admin/v1/suppression/{id}":                   market.RoleOperator,
	"POST /admin/v1/backup":                            market.RoleOperator,
	"POST /admin/v1/report/rebuild":                    market.RoleOperator,

	// What is one's own. The handlers ask whose it is.
	"DELETE " + pathSession:     market.RoleViewer,
	"PUT " + pathPassword:       market.RoleViewer,
	"POST " + pathAPITokens:     market.RoleViewer,
	"DELETE " + pathOneAPIToken: market.RoleViewer,
}
