package main

import (
	"encoding/json"
	"fmt"

	"pingpost/fuzz/witness"
)

type object = witness.Object

// endpointBuyers receive posts; reportingBuyers only have leads recorded for them.
var (
	endpointBuyers  = []string{"buy_fussy", "buy_flaky"}
	reportingBuyers = []string{"rec_alpha", "rec_beta", "rec_gamma"}
	methods         = map[string]string{"cmp_fall": "waterfall", "cmp_round": "round_robin", "cmp_weight": "weighted", "cmp_bids": "ping_post"}
	campaigns       = []string{"cmp_fall", "cmp_round", "cmp_weight", "cmp_bids"}
)

// revisionMark precedes the revision number in a configuration, and so in the answer to its
// apply.
const revisionMark = "revision-"

// configDocument returns a revision of the configuration. Each revision adds a suppression
// list, so each creates both kinds of files beside the log.
func configDocument(buyerURLs map[string]string, webhookURL string, revision int) []byte {
	out := object{
		"data_dir": "data", "listen": "127.0.0.1:0",
		"admin":            object{"listen": "127.0.0.1:0", "password": witness.AdminPassword},
		"trusted_networks": []string{"127.0.0.0/8"},
		"hot_for":          "1s",
		"report":           object{"keep": "0s"}, // SQLite writes through a memory map, which strace cannot record
		"suppliers": []object{{
			"id": witness.SupplierID, "api_key": witness.APIKey, "ingest_rate": 1_000_000, "ping_rate": 1_000_000,
			"oauth_clients": []object{{"client_id": witness.ClientID, "client_secret": witness.ClientSecret}},
			"webhook":       object{"url": webhookURL + "/hooks", "secret": witness.WebhookSecret},
		}},
	}
	buyers := make([]object, 0, len(endpointBuyers)+len(reportingBuyers))
	places := make([]object, 0, len(campaigns))
	lists := make([]object, 0, revision+1)
	for _, id := range endpointBuyers {
		buyers = append(buyers, object{"id": id, "endpoint": buyerURLs[id], "auth": object{"bearer": witness.BuyerToken}, "ping_rate": 1_000_000})
	}
	for _, id := range reportingBuyers {
		buyers = append(buyers, object{"id": id, "oauth_clients": []object{{"client_id": id, "client_secret": witness.ClientSecret, "scopes": []string{"webhook"}}}})
	}
	suppressed := make([]string, 0, revision+1)
	for n := range revision + 1 {
		id := fmt.Sprintf("list_%d", n)
		lists = append(lists, object{"id": id, "field": "phone", "file": id + ".txt"})
		suppressed = append(suppressed, id)
	}
	for _, id := range campaigns {
		places = append(places, campaignDocument(id, revision, suppressed))
	}
	out["buyers"], out["campaigns"], out["suppression_lists"] = buyers, places, lists
	text, err := json.MarshalIndent(out, "", " ")
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return text
}

// campaignDocument returns a campaign's configuration.
func campaignDocument(id string, revision int, suppressionListIDs []string) object {
	c := object{
		"id": id, "name": fmt.Sprintf("%s, %s%d.", id, revisionMark, revision), "method": methods[id],
		"payout": object{"share": 0.8}, "suppression": suppressionListIDs,
	}
	seats := []object{}
	for i, buyer := range endpointBuyers {
		seat := object{"buyer": buyer}
		if id != "cmp_bids" {
			seat["price"], seat["weight"] = 12-i, 1
		}
		seats = append(seats, seat)
	}
	if id == "cmp_bids" {
		c["vertical"] = "auto"
	} else {
		for i, buyer := range reportingBuyers {
			seats = append(seats, object{"buyer": buyer, "price": 5 + i, "weight": 3})
		}
	}
	if id == "cmp_fall" {
		seats[0]["caps"] = []object{{"per": "hour", "count": 40}}
	}
	c["buyers"] = seats
	return c
}

// suppressionListContent returns the content of a suppression list.
func suppressionListContent(number int) []byte {
	return fmt.Appendf(nil, "+1212230%04d\n+1213230%04d\n", number, number)
}
