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

// loadTestSecrets are the random credentials of one load test.
type loadTestSecrets struct{ apiKey, client, password, webhook string }

type jsonObject = map[string]any

// encodeExchangeConfig returns the configuration of the exchange that a load test starts.
// ingestCampaigns get leads by ingest: those without auctions, or all campaigns if every
// campaign holds auctions.
func encodeExchangeConfig(s *scenario.Scenario, buyers []loadTestBuyerSpec, addresses *buyerAndReceiverAddresses, secrets *loadTestSecrets) (configText []byte, ingestCampaigns []string, err error) {
	supplier := jsonObject{
		"id": loadSupplier, "api_key": secrets.apiKey,
		"ingest_rate": s.Supplier.IngestRate, "ping_rate": s.Supplier.PingRate, "concurrent_auctions": 1_000_000,
		"oauth_clients": []any{jsonObject{"client_id": loadClient, "client_secret": secrets.client, "scopes": []string{"ping", "post"}}},
	}
	document := jsonObject{
		"data_dir": "exchange", "listen": "127.0.0.1:0", "tenant": "load",
		"admin":            jsonObject{"listen": "127.0.0.1:0", "password": secrets.password},
		"trusted_networks": []string{"127.0.0.0/8"}, "token_lifetime": (s.Duration() + tokenSpare).String(),
		"limits": jsonObject{"connections": s.InFlight + spareConns, "max_conns_per_ip": s.InFlight + spareConns},
	}
	if s.Webhooks != nil {
		supplier["webhook"] = jsonObject{"url": addresses.Receiver + "/hooks", "secret": secrets.webhook}
		document["webhooks"] = jsonObject{"in_flight": s.Webhooks.InFlight}
	}
	document["suppliers"] = []any{supplier}
	document["buyers"] = newBuyersConfig(buyers, addresses)
	campaigns, ingestCampaigns := newCampaignsConfig(s, buyers)
	document["campaigns"] = campaigns
	configText, err = json.Marshal(document)
	return configText, ingestCampaigns, err
}

func newBuyersConfig(buyers []loadTestBuyerSpec, addresses *buyerAndReceiverAddresses) (buyerEntries []any) {
	for i := range buyers {
		b := &buyers[i]
		form := jsonObject{"id": b.ID, "ping_rate": b.PingRate}
		if url := addresses.Buyers[b.ID]; url != "" {
			form["endpoint"] = url
		}
		if b.Caps {
			form["caps"] = []any{jsonObject{"per": "day", "count": 1_000_000_000}}
		}
		buyerEntries = append(buyerEntries, form)
	}
	return buyerEntries
}

// loadFields are the custom fields of the fake leads.
var loadFields = []any{
	jsonObject{"name": "homeowner", "type": "boolean"},
	jsonObject{"name": "currently_insured", "type": "boolean", "ping": true},
	jsonObject{"name": "vehicle_count", "type": "integer", "min": 0, "max": 20, "ping": true},
	jsonObject{"name": "driver_age_band", "type": "enum", "values": []string{"18-24", "25-34", "35-44", "45-54", "55+"}, "ping": true},
}

func newCampaignsConfig(s *scenario.Scenario, buyers []loadTestBuyerSpec) (campaignEntries []any, ingestCampaigns []string) {
	var auctions []string
	for g, group := range s.Campaigns {
		for i := range group.Count {
			id := fmt.Sprintf("cmp_%d_%05d", g, i)
			form := jsonObject{"id": id, "method": group.Method, "fields": loadFields}
			if !group.Duplicates {
				form["duplicates"] = jsonObject{"window": "0s"}
			}
			if group.Method == scenario.PingPostMethod {
				form["vertical"], form["sub_vertical"] = loadVertical, load.SubVertical
				if len(auctions) > 0 {
					form["vertical"] = fmt.Sprintf("%s_%d_%d", loadVertical, g, i)
				}
				auctions = append(auctions, id)
			} else {
				ingestCampaigns = append(ingestCampaigns, id)
			}
			form["buyers"] = newCampaignBuyersConfig(&group, i, buyers)
			campaignEntries = append(campaignEntries, form)
		}
	}
	if len(ingestCampaigns) == 0 {
		ingestCampaigns = auctions
	}
	return campaignEntries, ingestCampaigns
}

// newCampaignBuyersConfig returns the entries of buyers (filter sets) in one campaign of a load test. These
// are all buyers, or group.Seats of them, beginning with another buyer in each campaign. Only
// buyers with an endpoint can bid, so the others are left out of auctions.
func newCampaignBuyersConfig(group *scenario.Campaigns, campaignIndex int, buyers []loadTestBuyerSpec) (filterSets []any) {
	if group.Method == scenario.PingPostMethod {
		buyers = slices.DeleteFunc(slices.Clone(buyers), func(b loadTestBuyerSpec) bool { return b.Recorded })
	}
	n := group.Seats
	if n == 0 || n > len(buyers) {
		n = len(buyers)
	}
	for i := range n {
		b := &buyers[(campaignIndex*n+i)%len(buyers)]
		seat := jsonObject{"buyer": b.ID}
		if group.Method != scenario.PingPostMethod {
			seat["price"] = json.Number(b.Bid)
		}
		filterSets = append(filterSets, seat)
	}
	return filterSets
}
