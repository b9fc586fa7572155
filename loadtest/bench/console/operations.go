// Package console lists the requests by which the console's pages load their data, and measures how long
// an exchange takes to answer them.
package console

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Objects are the ids of an exchange's objects, to which some operations refer.
type Objects struct {
	Campaign, Buyer, Supplier string
	Lead, Phone               string // of a lead that the log has
	Now                       time.Time
}

// Operation is a request of a page.
type Operation struct {
	Name   string // method and route, and what it selects
	Method string
	Path   string // with the query
	Body   string
}

// Operations returns the operations of all pages, in the order of their names. TestOperationsAreComplete compares them with the
// document of the admin API.
func Operations(o *Objects) (all []Operation) {
	get := func(route, selects, path string, query url.Values) {
		name := "GET " + route
		if selects != "" {
			name += ", " + selects
		}
		if len(query) > 0 {
			path += "?" + query.Encode()
		}
		all = append(all, Operation{Name: name, Method: "GET", Path: "/admin/v1/" + path})
	}
	plain := func(routes ...string) {
		for _, route := range routes {
			get(route, "", route, nil)
		}
	}
	addSearches(o, get)
	body, _ := json.Marshal(map[string]string{"phone": o.Phone}) // a map of texts has no error
	all = append(all, Operation{Name: "POST leads/find, by phone", Method: "POST", Path: "/admin/v1/leads/find", Body: string(body)})
	get("audit", "newest", "audit", url.Values{"limit": {"50"}})
	get("audit", "of an operator and a target", "audit", url.Values{"limit": {"50"}, "actor": {"ann"}, "target_kind": {"buyer"}})
	get("audit", "with a text that none has", "audit", url.Values{"limit": {"50"}, "q": {"no such text"}})
	get("explain/{id}", "a lead", "explain/"+o.Lead, nil)
	get("explain", "a lead", "explain", url.Values{"id": {o.Lead}})
	get("caps", "", "caps", nil)
	get("caps", "of a buyer", "caps", url.Values{"buyer": {o.Buyer}})
	get("bench/example", "", "bench/example", url.Values{"campaign": {o.Campaign}})
	get("campaigns/{id}/instructions", "", "campaigns/"+o.Campaign+"/instructions", url.Values{"supplier": {o.Supplier}})
	get("config/campaigns/{id}", "", "config/campaigns/"+o.Campaign, nil)
	for _, owner := range []struct{ kind, id string }{{"buyers", o.Buyer}, {"suppliers", o.Supplier}} {
		get(owner.kind+"/{id}/clients", "", owner.kind+"/"+owner.id+"/clients", nil)
		get("config/"+owner.kind+"/{id}", "", "config/"+owner.kind+"/"+owner.id, nil)
	}
	get("buyers/{id}/funds", "", "buyers/"+o.Buyer+"/funds", nil)
	get("suppliers/{id}/keys", "", "suppliers/"+o.Supplier+"/keys", nil)
	get("webhooks/{id}", "", "webhooks/"+o.Supplier, nil)
	get("webhooks/{id}/dead", "", "webhooks/"+o.Supplier+"/dead", url.Values{"limit": {"50"}})
	get("returns", "", "returns", url.Values{"limit": {"50"}})
	get("deliveries", "", "deliveries", nil)
	get("alerts/history", "", "alerts/history", url.Values{"limit": {"20"}})
	plain(
		"overview", "session", "session/methods", "backup", "cluster", "users", "invitations", "api-tokens", "secrets", "webhooks", "suppression",
		"config", "config/drift", "config/defaults", "config/history", "config/suppliers", "config/buyers", "config/campaigns", "config/suppression_lists",
		"alerts", "alerts/rules", "alerts/channels", "saved-reports",
	)
	slices.SortStableFunc(all, func(x, y Operation) int { return strings.Compare(x.Name, y.Name) })
	return all
}

// addSearches adds the operations that read the report's leads, auctions and sums.
func addSearches(o *Objects, get func(route, selects, path string, query url.Values)) {
	day := func(ago int) string { return o.Now.AddDate(0, 0, -ago).UTC().Format(time.DateOnly) }
	month := func(q url.Values) url.Values {
		q.Set("from", day(29))
		q.Set("to", day(-1))
		return q
	}
	for selects, query := range map[string]url.Values{
		"newest": {}, "of a buyer": {"buyer": {o.Buyer}}, "of a supplier": {"supplier": {o.Supplier}}, "of a campaign in a state": {"campaign": {o.Campaign}, "state": {"TX"}},
		"unsold": {"reason": {"no_bid"}}, "of a source": {"source": {"search"}}, "returned, which none is": {"status": {"returned"}}, "tests, which none is": {"test": {"true"}},
		"of three weeks ago": {"to": {day(21)}}, "one id": {"q": {o.Lead}},
	} {
		query.Set("limit", "50")
		get("leads", selects, "leads", query)
	}
	for selects, query := range map[string]url.Values{"newest": {}, "of a buyer that lost": {"buyer": {o.Buyer}, "outcome": {"lost"}}, "of a campaign": {"campaign": {o.Campaign}}} {
		query.Set("limit", "50")
		get("auctions", selects, "auctions", query)
	}
	get("unmatched", "a day", "unmatched", nil)
	get("unmatched", "a month", "unmatched", month(url.Values{}))
	get("unmatched", "a month of a campaign", "unmatched", month(url.Values{"campaign": {o.Campaign}}))
	get("report", "totals of a month", "report", month(url.Values{"totals": {"true"}}))
	for _, by := range []string{"hour", "day", "buyer", "supplier", "campaign", "source", "state", "reason", "day,buyer", "campaign,buyer", "source,state"} {
		get("report", "totals of a month by "+by, "report", month(url.Values{"by": {by}, "totals": {"true"}}))
	}
}

// Excluded are the GET operations that no page waits for, with the reason.
var Excluded = map[string]string{
	"live":                          "a stream; its events are those of overview",
	"leads/export":                  "a file",
	"statement":                     "reads the log of its period, not the report",
	"openapi.yaml":                  "a document for programs",
	"hash":                          "a check for programs",
	"session/oidc":                  "a redirect",
	"session/oidc/callback":         "a redirect",
	"invitations/{invitation}":      "for the invited person",
	"buyers/{id}/tokens":            "only of a sandbox",
	"suppliers/{id}/tokens":         "only of a sandbox",
	"config/suppression_lists/{id}": "like config/buyers/{id}, of an object that the exchange does not have",
	"alerts/rules/{id}":             "an element of alerts/rules",
	"alerts/channels/{id}":          "an element of alerts/channels",
	"saved-reports/{id}":            "an element of saved-reports",
}
