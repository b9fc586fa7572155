package examples_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"pingpost/api"
	"pingpost/config"
	"pingpost/engine/market"
	"pingpost/exchange"
	"pingpost/internal/must"
	"pingpost/loadtest/refbuyer"
)

// sandbox is the sandbox example with a buyer and a webhook receiver.
type sandbox struct {
	*exchange.Exchange
	t        *testing.T
	buyer    *refbuyer.Buyer
	webhooks chan webhook
}

type webhook struct {
	body   []byte
	header http.Header
}

func startSandbox(t *testing.T) *sandbox {
	t.Helper()
	s := &sandbox{t: t, webhooks: make(chan webhook, 1000)}
	s.buyer = startBuyer(t, refbuyer.Options{Bid: refbuyer.Fixed(12_500_000), Token: secretOf("SANDBOX_BUYER_TOKEN")})
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		s.webhooks <- webhook{body, r.Header}
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(receiver.Close)
	// The auctions get the longest time that is allowed, because a seed request holds many at once.
	s.Exchange = startExample(t, "sandbox/sandbox.yaml", "127.0.0.1:8081", "127.0.0.1:0", "127.0.0.1:9091", "127.0.0.1:0",
		"127.0.0.1:8090", s.buyer.Addr().String(), "127.0.0.1:8091", receiver.Listener.Addr().String(),
		"method: ping_post", "method: ping_post\n    bid_timeout: 5s\n    post_reserve: 100ms")
	return s
}

// call sends a request with the static token, and decodes its answer, which must have the
// status.
func (s *sandbox) call(path, key, body string, status int, into any) (raw string) {
	s.t.Helper()
	return s.check(send(s.t, s.Exchange, path, body, "Authorization", "Bearer "+secretOf("SANDBOX_TOKEN"), "Idempotency-Key", key), status, into)
}

// callWithAPIKey is like call, with the API key.
func (s *sandbox) callWithAPIKey(path, body string, status int, into any) {
	s.t.Helper()
	s.check(send(s.t, s.Exchange, path, body, "X-Api-Key", secretOf("SANDBOX_API_KEY")), status, into)
}

func (s *sandbox) check(got answer, status int, into any) (raw string) {
	s.t.Helper()
	if got.status != status {
		s.t.Fatalf("%d %.500s, want %d", got.status, got.body, status)
	}
	decode(s.t, got.body, into)
	return got.body
}

func TestSandboxIsValid(t *testing.T) {
	built := must.Value(must.Value(config.Load("sandbox/sandbox.yaml", environment))(t).Compile())(t)
	if !built.Settings.Sandbox {
		t.Error("the example is not marked as a sandbox")
	}
}

// bidAnswer is the answer to a ping.
type bidAnswer struct {
	Bid struct {
		Amount market.Money
		Token  string `json:"bid_token"`
	}
}

// seedAnswer is the answer to a seed request.
type seedAnswer struct {
	Leads []struct {
		Ping map[string]any
		Lead json.RawMessage
	}
	Results []struct{ ID, Status string }
}

// TestSandboxSellsSeededLead pings, posts and explains a seeded lead, and awaits its webhook.
func TestSandboxSellsSeededLead(t *testing.T) {
	const seedBody = `{"count":100,"vertical":"auto_insurance","state":"CA","seed":7}`
	s := startSandbox(t)
	var seeded, repeat seedAnswer
	if s.call("/v1/dev/seed", "s", seedBody, 201, &seeded) != s.call("/v1/dev/seed", "s", seedBody, 201, &repeat) {
		t.Error("a repeated request got another answer")
	}
	seeded.Leads[0].Ping["auction_id"] = "a-1"
	ping := must.Value(json.Marshal(seeded.Leads[0].Ping))(t)
	var bid bidAnswer
	if s.call("/v1/ping", "p", string(ping), 200, &bid); bid.Bid.Amount != 10_000_000 {
		t.Fatalf("bid %s", bid.Bid.Amount)
	}
	var sale postAnswer
	post := `{"auction_id":"a-1","bid_token":"` + bid.Bid.Token + `","lead":` + string(seeded.Leads[0].Lead) + `}`
	if s.call("/v1/post", "o", post, 201, &sale); sale.LeadID != s.buyer.Leads()[0].LeadID {
		t.Errorf("sold as %q, but the buyer has %q", sale.LeadID, s.buyer.Leads()[0].LeadID)
	}
	var refused struct{ Error string }
	if s.call("/v1/post", "other", post, 409, &refused); refused.Error != "already_sold" {
		t.Errorf("a second post: %q", refused.Error)
	}
	explanation := explainLead(t, s.Exchange, sale.ID)
	if explanation.Status != "ACCEPTED" || explanation.Delivery != "delivered" || explanation.Buyer != "buy_blue" || explanation.Auction == nil || len(explanation.Auction.Candidates) != 1 {
		t.Errorf("%+v", explanation)
	}
	s.checkWebhook(sale.ID)
}

// checkWebhook waits for the webhook of a sold lead.
func (s *sandbox) checkWebhook(lead string) {
	s.t.Helper()
	verifier := must.Value(standardwebhooks.NewWebhook(webhookSecret))(s.t)
	select {
	case got := <-s.webhooks:
		if err := verifier.Verify(got.body, got.header); err != nil || got.header.Get("X-Pingpost-Signature") == "" {
			s.t.Errorf("%v: %v", err, got.header)
		}
		if !bytes.Contains(got.body, []byte(`"type":"lead.posted"`)) || !bytes.Contains(got.body, []byte(lead)) || !bytes.Contains(got.body, []byte(`"amount":10,`)) {
			s.t.Errorf("%s", got.body)
		}
	case <-time.After(20 * time.Second):
		s.t.Fatal("no webhook was sent")
	}
}

// TestSandboxSeedsSoldLeads: a seed request with a campaign sells all its leads at once.
func TestSandboxSeedsSoldLeads(t *testing.T) {
	const seedBody = `{"count":100,"vertical":"auto_insurance","state":"CA","seed":7,"campaign_id":"cmp_auto"}`
	s := startSandbox(t)
	var seeded, repeat seedAnswer
	first := s.call("/v1/dev/seed", "s", seedBody, 201, &seeded)
	for i, result := range seeded.Results {
		if result.Status != "ACCEPTED" {
			t.Errorf("lead %d: %+v", i, result)
		}
	}
	if len(seeded.Results) != 100 || s.call("/v1/dev/seed", "s", seedBody, 201, &repeat) != first || len(s.buyer.Leads()) != 100 {
		t.Errorf("%d results, the buyer has %d leads", len(seeded.Results), len(s.buyer.Leads()))
	}
}

// documentExample returns an example of the OpenAPI document with other texts: see
// replaceTexts.
func documentExample(t *testing.T, name string, oldAndNew ...string) string {
	t.Helper()
	var document struct {
		Components struct {
			Examples map[string]struct{ Value json.RawMessage }
		}
	}
	must.Succeed(t, json.Unmarshal(api.PublicJSON(), &document))
	return replaceTexts(t, string(document.Components.Examples[name].Value), oldAndNew...)
}

// TestSandboxAnswersDocumentExamples sends the OpenAPI document's example requests.
func TestSandboxAnswersDocumentExamples(t *testing.T) {
	s := startSandbox(t)
	var lead struct {
		Data struct{ Status, Buyer string }
	}
	if s.callWithAPIKey("/api/v1/ingest", documentExample(t, "IngestRequest"), 201, &lead); lead.Data.Status != "ACCEPTED" {
		t.Errorf("the lead: %+v", lead)
	}
	var available struct {
		Data struct {
			Accepted bool
			PingID   string `json:"ping_id"`
			Buyers   []struct {
				BuyerID string `json:"buyer_id"`
			}
		}
	}
	if s.callWithAPIKey("/api/v1/ping", documentExample(t, "AvailabilityRequest"), 200, &available); !available.Data.Accepted || available.Data.Buyers[0].BuyerID != "buy_blue" {
		t.Fatalf("the availability request: %+v", available)
	}
	chosen := documentExample(t, "IngestRequestChosenBuyer", "ping_01kc8z3n6b2c4d6e8f0g1h3j5k", available.Data.PingID)
	if s.callWithAPIKey("/api/v1/ingest", chosen, 201, &lead); lead.Data.Status != "ACCEPTED" {
		t.Errorf("the lead for a chosen buyer: %+v", lead)
	}
	var bid bidAnswer
	s.call("/v1/ping", "ping", documentExample(t, "PingRequest"), 200, &bid)
	var sale postAnswer
	s.call("/v1/post", "post", documentExample(t, "PostRequest", "bid_3x7k9m2p4q6r8s0t1v5w7y9z2a", bid.Bid.Token), 201, &sale)
	for _, name := range []string{"SeedRequest", "SeedRequestCampaign"} {
		var seeded seedAnswer
		if s.call("/v1/dev/seed", name, documentExample(t, name), 201, &seeded); len(seeded.Leads) != 100 {
			t.Errorf("%s: %d leads", name, len(seeded.Leads))
		}
	}
}
