package witness

import (
	"cmp"
	"encoding/json"
	"fmt"
)

// Object is a JSON object to encode.
type Object map[string]any

// document returns the configuration as JSON. A later revision changes only names, and adds
// campaigns and buyers that receive no leads.
func (t *Config) document(revision int) []byte {
	buyers, campaigns := make([]Object, 0, len(t.buyers)+revision), make([]Object, 0, len(t.campaigns)+revision)
	for i := range t.buyers {
		buyers = append(buyers, t.buyerDocument(&t.buyers[i]))
	}
	for i := range t.campaigns {
		campaigns = append(campaigns, t.campaignDocument(&t.campaigns[i], revision))
	}
	for n := range revision {
		buyer := fmt.Sprintf("rec_spare_%d", n)
		buyers = append(buyers, Object{"id": buyer, "caps": []Object{{"per": "day", "count": 1}}})
		campaigns = append(campaigns, Object{
			"id": fmt.Sprintf("cmp_spare_%d", n), "method": "waterfall", "payout": Object{"share": 0.8},
			"buyers": []Object{{"buyer": buyer, "price": 1}},
		})
	}
	text, err := json.MarshalIndent(Object{
		"data_dir": "data", "listen": "127.0.0.1:0", "token_lifetime": "12h", "hot_for": "10s",
		"provisioning":     "enforce", // reloads apply the next revision
		"admin":            Object{"listen": "127.0.0.1:0", "password": AdminPassword},
		"trusted_networks": []string{"127.0.0.0/8", cmp.Or(t.PeerIP, "127.0.0.1") + "/32"},
		"suppliers": []Object{{
			"id": SupplierID, "api_key": APIKey, "ingest_rate": 1_000_000, "ping_rate": 1_000_000,
			"oauth_clients": []Object{{"client_id": ClientID, "client_secret": ClientSecret}},
			"webhook":       Object{"url": t.webhookURL + "/hooks", "secret": WebhookSecret},
		}},
		"buyers": buyers, "campaigns": campaigns,
	}, "", " ")
	if err != nil {
		panic(err)
	}
	return text
}

func (t *Config) buyerDocument(b *buyerConfig) Object {
	out := Object{
		"id": b.id, "caps": t.capsDocument("", b.id),
		"oauth_clients": []Object{{"client_id": b.id, "client_secret": ClientSecret, "scopes": []string{"webhook"}}},
	}
	if b.hasEndpoint() {
		out["endpoint"], out["auth"] = t.endpoints[b.id], Object{"bearer": BuyerToken}
		out["post_timeout"], out["ping_rate"] = b.postTimeout, 1_000_000
		if b.hasTestEndpoint {
			out["test_endpoint"] = t.endpoints[b.id+testEndpointSuffix]
		}
	}
	if b.funded {
		out["funds"] = Object{"balance": b.balance, "credit": b.credit}
	}
	return out
}

func (t *Config) campaignDocument(c *campaignConfig, revision int) Object {
	seats := make([]Object, 0, len(c.filterSets))
	for i, seat := range c.filterSets {
		one := Object{
			"buyer": seat.buyer, "priority": i + 1, "weight": seat.weight, "price": seat.price,
			"caps": t.capsDocument(c.id, seat.buyer),
		}
		if c.isAuction() {
			delete(one, "price")
			delete(one, "weight")
		}
		seats = append(seats, one)
	}
	out := Object{
		"id": c.id, "name": fmt.Sprintf("%s, revision %d", c.id, revision), "method": c.method,
		"payout": Object{"share": 0.8}, "caps": t.capsDocument(c.id, ""), "buyers": seats,
		"duplicates": Object{"fields": []string{"phone", "email"}, "match": "any", "window": "30d"},
	}
	returns := Object{"cap_back": c.returnFreesCap}
	if c.manualReturns {
		returns["approval"] = "manual"
	}
	out["returns"] = returns
	if c.isAuction() {
		out["vertical"], out["floor"] = c.vertical, c.floor
	}
	return out
}

func (t *Config) capsDocument(campaign, buyer string) []Object {
	out := []Object{}
	for i := range t.caps {
		c := &t.caps[i]
		if c.campaign != campaign || c.buyer != buyer {
			continue
		}
		limit := Object{"per": c.per, "time_zone": c.zone}
		if c.money != 0 {
			limit["money"] = c.money
		} else {
			limit["count"] = c.count
		}
		out = append(out, limit)
	}
	return out
}
