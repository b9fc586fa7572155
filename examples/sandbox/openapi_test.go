package sandbox_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"pingpost/api"
)

// shown is an example of the OpenAPI document, with changes: old and new in turn.
func shown(t *testing.T, name string, changes ...string) string {
	t.Helper()
	var document struct {
		Components struct {
			Examples map[string]struct{ Value json.RawMessage }
		}
	}
	if err := json.Unmarshal(api.PublicJSON(), &document); err != nil {
		t.Fatal(err)
	}
	body := string(document.Components.Examples[name].Value)
	for i := 0; i+1 < len(changes); i += 2 {
		if !strings.Contains(body, changes[i]) {
			t.Fatalf("the example %s says nothing of %q: %s", name, changes[i], body)
		}
		body = strings.ReplaceAll(body, changes[i], changes[i+1])
	}
	return body
}

// supply makes a request with the API key.
func (x *trial) supply(path, body string, status int, into any) {
	x.t.Helper()
	key, _ := environment("SANDBOX_API_KEY")
	x.send(path, http.Header{"X-Api-Key": {key}}, body, status, into)
}

// TestExamplesOfTheDocument: who sends this sandbox what the OpenAPI document shows is
// answered as it shows.
func TestExamplesOfTheDocument(t *testing.T) {
	x := begin(t)
	var lead struct {
		Data struct{ Status, Buyer string }
	}
	if x.supply("/api/v1/ingest", shown(t, "IngestRequest"), 201, &lead); lead.Data.Status != "ACCEPTED" {
		t.Errorf("the lead: %+v", lead)
	}
	var would struct {
		Data struct {
			Accepted bool
			PingID   string `json:"ping_id"`
			Buyers   []struct {
				BuyerID string `json:"buyer_id"`
			}
		}
	}
	if x.supply("/api/v1/ping", shown(t, "AvailabilityRequest"), 200, &would); !would.Data.Accepted || would.Data.Buyers[0].BuyerID != "buy_blue" {
		t.Fatalf("the question: %+v", would)
	}
	chosen := shown(t, "IngestRequestChosenBuyer", "ping_01kc8z3n6b2c4d6e8f0g1h3j5k", would.Data.PingID)
	if x.supply("/api/v1/ingest", chosen, 201, &lead); lead.Data.Status != "ACCEPTED" {
		t.Errorf("the lead for a chosen buyer: %+v", lead)
	}
	var bid struct {
		Bid struct {
			Token string `json:"bid_token"`
		}
	}
	x.call("/v1/ping", "ping", shown(t, "PingRequest"), 200, &bid)
	var sale struct{ Status string }
	x.call("/v1/post", "post", shown(t, "PostRequest", "bid_3x7k9m2p4q6r8s0t1v5w7y9z2a", bid.Bid.Token), 201, &sale)
	for _, name := range []string{"SeedRequest", "SeedRequestCampaign"} {
		var made seeded
		if x.call("/v1/dev/seed", name, shown(t, name), 201, &made); len(made.Leads) != 100 {
			t.Errorf("%s: %d leads", name, len(made.Leads))
		}
	}
}
