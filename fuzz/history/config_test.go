//go:build unix

package history

import (
	"fmt"
	"time"

	"pingpost/fuzz/witness"
)

const (
	historiesPerCluster = 50 // each has its own budgets
	capLeads            = 12 // limit of a cap
	balance             = 40 // of an account at the begin
	fundPrice           = 4
	restBuyer           = "rec_rest" // buys any number of leads
	bidder              = "bid_any"
)

// budgetsOf returns the budgets of a history, by its number in the cluster: a cap of a filter set with
// another buyer behind it, a cap of a buyer, a cap of a buyer with an endpoint, and an account. The endpoint
// accepts each lead: see DESIGN.md.
func budgetsOf(number int) []*budget {
	name := func(format string) string { return fmt.Sprintf(format, number) }
	return []*budget{
		{campaign: name("cmp_cap_%d"), buyer: name("cap_%d"), fallback: restBuyer, whole: capLeads, cost: 1},
		{campaign: name("cmp_day_%d"), buyer: name("day_%d"), reason: "caps_full", whole: capLeads, cost: 1},
		{campaign: name("cmp_post_%d"), buyer: name("post_%d"), reason: "caps_full", whole: capLeads, cost: 1, isPosted: true},
		{campaign: name("cmp_fund_%d"), buyer: name("fund_%d"), reason: "insufficient_funds", whole: balance, cost: fundPrice, isAccount: true},
	}
}

// document returns the configuration of a cluster.
func document(bidderURL string) []byte {
	_, daily := witness.ZonesFarFromWindowEnd(time.Now())
	buyers := []witness.Object{{"id": restBuyer}, {"id": bidder, "endpoint": bidderURL, "ping_rate": 1_000_000}}
	campaigns := []witness.Object{
		campaign("cmp_key", seat(restBuyer, 10)),
		campaign("cmp_person", seat(restBuyer, 10)),
		{
			"id": "cmp_bids", "method": "ping_post", "vertical": "auto", "floor": 1, "payout": witness.Object{"share": 0.8},
			"buyers": []witness.Object{{"buyer": bidder}}, "duplicates": witness.Object{"window": "0s"},
		},
	}
	delete(campaigns[1], "duplicates")
	for i := range historiesPerCluster {
		b := budgetsOf(i)
		capped := seat(b[0].buyer, 10)
		capped["caps"] = []witness.Object{{"per": "total", "count": capLeads}}
		campaigns = append(campaigns, campaign(b[0].campaign, capped, seat(restBuyer, 5)), campaign(b[1].campaign, seat(b[1].buyer, 10)))
		campaigns = append(campaigns, campaign(b[2].campaign, seat(b[2].buyer, 10)), campaign(b[3].campaign, seat(b[3].buyer, fundPrice)))
		buyers = append(
			buyers, reporter(b[0].buyer), reporter(b[1].buyer, "caps", []witness.Object{{"per": "day", "count": capLeads, "time_zone": daily}}),
			witness.Object{"id": b[2].buyer, "endpoint": bidderURL, "caps": []witness.Object{{"per": "total", "count": capLeads}}},
			reporter(b[3].buyer, "funds", witness.Object{"balance": balance, "credit": 0}),
		)
	}
	return witness.Encode(witness.Object{
		"admin": witness.Object{"password": witness.AdminPassword}, "token_lifetime": "12h", "trusted_networks": []string{"127.0.0.0/8"},
		"report": witness.Object{"keep": "0s"},
		"suppliers": []witness.Object{{
			"id": witness.SupplierID, "api_key": witness.APIKey, "ingest_rate": 1_000_000, "ping_rate": 1_000_000,
			"oauth_clients": []witness.Object{{"client_id": witness.ClientID, "client_secret": witness.ClientSecret}},
		}},
		"buyers": buyers, "campaigns": campaigns,
	})
}

func campaign(id string, seats ...witness.Object) witness.Object {
	return witness.Object{
		"id": id, "method": "waterfall", "payout": witness.Object{"share": 0.8}, "buyers": seats,
		"returns": witness.Object{"cap_back": true}, "duplicates": witness.Object{"window": "0s"},
	}
}

func seat(buyer string, price int) witness.Object {
	return witness.Object{"buyer": buyer, "price": price}
}

// reporter returns a buyer that may return leads, with a further member.
func reporter(id string, member ...any) witness.Object {
	b := witness.Object{"id": id, "oauth_clients": []witness.Object{{"client_id": id, "client_secret": witness.ClientSecret, "scopes": []string{"webhook"}}}}
	if len(member) == 2 {
		b[member[0].(string)] = member[1]
	}
	return b
}
