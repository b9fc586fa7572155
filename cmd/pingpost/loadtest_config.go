package main

import (
	"encoding/json"
	"fmt"
	"slices"

	"pingpost/loadtest/load"
	"pingpost/loadtest/scenario"
)

// Names in a load test's own exchange.
const (
	loadSupplier = "sup_load"
	loadClient   = "load"
	loadVertical = "load_test"
)

// loadSecrets are the random credentials of one load test.
type loadSecrets struct{ apiKey, client, password, webhook string }

type object = map[string]any

// loadConfig returns the configuration of the exchange that a load test starts. ingests are
// the campaigns to which leads are sent by ingest: those without auctions, or all if every
// campaign holds auctions.
func loadConfig(s *scenario.Scenario, buyers []loadBuyer, at *buyersAt, secrets *loadSecrets) (text []byte, ingests []string, err error) {
	supplier := object{
		"id": loadSupplier, "api_key": secrets.apiKey,
		"ingest_rate": s.Supplier.IngestRate, "ping_rate": s.Supplier.PingRate, "concurrent_auctions": 1_000_000,
		"oauth_clients": []any{object{"client_id": loadClient, "client_secret": secrets.client, "scopes": []string{"ping", "post"}}},
	}
	document := object{
		"data_dir": "exchange", "listen": "127.0.0.1:0", "tenant": "load",
		"admin":            object{"listen": "127.0.0.1:0", "password": secrets.password},
		"trusted_networks": []string{"127.0.0.0/8"}, "token_lifetime": (s.Duration() + tokenSpare).String(),
		"limits": object{"connections": s.InFlight + spareConns, "max_conns_per_ip": s.InFlight + spareConns},
	}
	if s.Webhooks != nil {
		supplier["webhook"] = object{"url": at.Receiver + "/hooks", "secret": secrets.webhook}
		document["webhooks"] = object{"in_flight": s.Webhooks.InFlight}
	}
	document["suppliers"] = []any{supplier}
	document["buyers"] = loadBuyersConfig(buyers, at)
	campaigns, ingests := loadCampaigns(s, buyers)
	document["campaigns"] = campaigns
	text, err = json.Marshal(document)
	return text, ingests, err
}

func loadBuyersConfig(buyers []loadBuyer, at *buyersAt) (list []any) {
	for i := range buyers {
		b := &buyers[i]
		form := object{"id": b.ID, "ping_rate": b.PingRate}
		if url := at.Buyers[b.ID]; url != "" {
			form["endpoint"] = url
		}
		if b.Caps {
			form["caps"] = []any{object{"per": "day", "count": 1_000_000_000}}
		}
		list = append(list, form)
	}
	return list
}

// loadFields are the custom fields of the fake leads.
var loadFields = []any{
	object{"name": "homeowner", "type": "boolean"},
	object{"name": "currently_insured", "type": "boolean", "ping": true},
	object{"name": "vehicle_count", "type": "integer", "min": 0, "max": 20, "ping": true},
	object{"name": "driver_age_band", "type": "enum", "values": []string{"18-24", "25-34", "35-44", "45-54", "55+"}, "ping": true},
}

func loadCampaigns(s *scenario.Scenario, buyers []loadBuyer) (list []any, ingests []string) {
	var auctions []string
	for g, group := range s.Campaigns {
		for i := range group.Count {
			id := fmt.Sprintf("cmp_%d_%05d", g, i)
			form := object{"id": id, "method": group.Method, "fields": loadFields}
			if !group.Duplicates {
				form["duplicates"] = object{"window": "0s"}
			}
			if group.Method == scenario.PingPostMethod {
				form["vertical"], form["sub_vertical"] = loadVertical, load.SubVertical
				if len(auctions) > 0 {
					form["vertical"] = fmt.Sprintf("%s_%d_%d", loadVertical, g, i)
				}
				auctions = append(auctions, id)
			} else {
				ingests = append(ingests, id)
			}
			form["buyers"] = loadSeats(&group, i, buyers)
			list = append(list, form)
		}
	}
	if len(ingests) == 0 {
		ingests = auctions
	}
	return list, ingests
}

// loadSeats returns the entries of buyers (filter sets) in one campaign of a load test. These
// are all buyers, or group.Seats of them, beginning with another buyer in each campaign. Only
// buyers with an endpoint can bid, so the others are left out of auctions.
func loadSeats(group *scenario.Campaigns, campaign int, buyers []loadBuyer) (seats []any) {
	if group.Method == scenario.PingPostMethod {
		buyers = slices.DeleteFunc(slices.Clone(buyers), func(b loadBuyer) bool { return b.Recorded })
	}
	n := group.Seats
	if n == 0 || n > len(buyers) {
		n = len(buyers)
	}
	for i := range n {
		b := &buyers[(campaign*n+i)%len(buyers)]
		seat := object{"buyer": b.ID}
		if group.Method != scenario.PingPostMethod {
			seat["price"] = json.Number(b.Bid)
		}
		seats = append(seats, seat)
	}
	return seats
}
