// Package sandbox goes the way of whoever integrates against the example: seed, ping, post,
// explain, webhook.
package sandbox_test

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"pingpost/config"
	"pingpost/engine/market"
	"pingpost/exchange"
	"pingpost/exchange/explain"
	"pingpost/loadtest/refbuyer"
)

const hookSecret = "whsec_c2FuZGJveHNhbmRib3hzYW5kYm94"

func environment(name string) (string, bool) {
	if name == "SANDBOX_WEBHOOK_SECRET" {
		return hookSecret, true
	}
	return "the-" + name, strings.HasPrefix(name, "SANDBOX_")
}

// TestValid: as pingpost validate has it.
func TestValid(t *testing.T) {
	source, err := config.Load("sandbox.yaml", environment)
	if err != nil {
		t.Fatal(err)
	}
	built, err := source.Compile()
	if err != nil {
		t.Fatal(err)
	}
	if !built.Settings.Sandbox {
		t.Error("it is no sandbox")
	}
}

// trial is the example at work, with addresses of its own.
type trial struct {
	*exchange.Exchange
	t     *testing.T
	buyer *refbuyer.Buyer
	hooks chan hook
}

type hook struct {
	body   []byte
	header http.Header
}

func begin(t *testing.T) *trial {
	t.Helper()
	x := &trial{t: t, hooks: make(chan hook, 1000)}
	token, _ := environment("SANDBOX_BUYER_TOKEN")
	var err error
	if x.buyer, err = refbuyer.New(refbuyer.Options{Bid: refbuyer.Fixed(12_500_000), Token: token}); err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- x.buyer.Serve(t.Context()) }()
	t.Cleanup(func() {
		_ = x.buyer.Close()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		x.hooks <- hook{body, r.Header}
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(receiver.Close)
	x.start(map[string]string{
		"127.0.0.1:8081": "127.0.0.1:0", "127.0.0.1:9091": "127.0.0.1:0", "_rate: 1000": "_rate: 1000000",
		"127.0.0.1:8090": x.buyer.Addr().String(), "127.0.0.1:8091": receiver.Listener.Addr().String(),
	})
	return x
}

// start starts the example with changes. Buckets are empty at a start, so the rates
// are such that they fill at once.
func (x *trial) start(changes map[string]string) {
	x.t.Helper()
	text, err := os.ReadFile("sandbox.yaml")
	if err != nil {
		x.t.Fatal(err)
	}
	for old, instead := range changes {
		if !bytes.Contains(text, []byte(old)) {
			x.t.Fatalf("the example says nothing of %q", old)
		}
		text = bytes.ReplaceAll(text, []byte(old), []byte(instead))
	}
	path := filepath.Join(x.t.TempDir(), "sandbox.yaml")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		x.t.Fatal(err)
	}
	if x.Exchange, err = exchange.Start(path, exchange.Options{Env: environment, Logger: slog.New(slog.DiscardHandler)}); err != nil {
		x.t.Fatal(err)
	}
	x.t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		if err := x.Close(); err != nil {
			x.t.Error(err)
		}
	})
}

// call makes a request with the static token and reads its answer.
func (x *trial) call(path, key, body string, status int, into any) string {
	x.t.Helper()
	token, _ := environment("SANDBOX_TOKEN")
	return x.send(path, http.Header{"Authorization": {"Bearer " + token}, "Idempotency-Key": {key}}, body, status, into)
}

// send makes a request, again while it comes too soon, and returns the answer's text.
func (x *trial) send(path string, head http.Header, body string, status int, into any) string {
	x.t.Helper()
	head.Set("Content-Type", "application/json")
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		req, err := http.NewRequest(http.MethodPost, "http://"+x.Addr()+path, strings.NewReader(body))
		if err != nil {
			x.t.Fatal(err)
		}
		req.Header = head
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			x.t.Fatal(err)
		}
		text, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil {
			x.t.Fatal(err)
		}
		if res.StatusCode == http.StatusTooManyRequests && time.Now().Before(deadline) {
			continue
		}
		if res.StatusCode != status {
			x.t.Fatalf("%s: %d %.500s", path, res.StatusCode, text)
		}
		if err := json.Unmarshal(text, into); err != nil {
			x.t.Fatal(err)
		}
		return string(text)
	}
}

const (
	asked = `{"count":100,"vertical":"auto_insurance","state":"CA","seed":7}`
	sold  = `{"count":100,"vertical":"auto_insurance","state":"CA","seed":7,"campaign_id":"cmp_auto"}`
)

type seeded struct {
	Leads []struct {
		Ping map[string]any
		Lead json.RawMessage
	}
	Results []struct{ ID, Status string }
}

func TestTheWay(t *testing.T) {
	x := begin(t)
	var made, again seeded
	if x.call("/v1/dev/seed", "s", asked, 201, &made) != x.call("/v1/dev/seed", "s", asked, 201, &again) {
		t.Error("the same request was answered in two ways")
	}
	made.Leads[0].Ping["auction_id"] = "a-1"
	ping, err := json.Marshal(made.Leads[0].Ping)
	if err != nil {
		t.Fatal(err)
	}
	var bid struct {
		Bid struct {
			Amount market.Money
			Token  string `json:"bid_token"`
		}
	}
	if x.call("/v1/ping", "p", string(ping), 200, &bid); bid.Bid.Amount != 10_000_000 {
		t.Fatalf("bid %s", bid.Bid.Amount)
	}
	var sale struct {
		ID     string
		LeadID string `json:"lead_id"`
	}
	post := `{"auction_id":"a-1","bid_token":"` + bid.Bid.Token + `","lead":` + string(made.Leads[0].Lead) + `}`
	if x.call("/v1/post", "o", post, 201, &sale); sale.LeadID != x.buyer.Leads()[0].LeadID {
		t.Errorf("sold as %q, the buyer has %q", sale.LeadID, x.buyer.Leads()[0].LeadID)
	}
	var refused struct{ Error string }
	if x.call("/v1/post", "other", post, 409, &refused); refused.Error != "already_sold" {
		t.Errorf("a second post: %q", refused.Error)
	}
	x.explained(sale.ID)
	x.heard(sale.ID)
}

// explained sees that the lead's way is told from its ping to its buyer.
func (x *trial) explained(lead string) {
	x.t.Helper()
	id, ok := market.ParseLeadID(lead)
	if !ok {
		x.t.Fatalf("%q is no lead", lead)
	}
	text, err := x.ExplainLead(id)
	if err != nil {
		x.t.Fatal(err)
	}
	var told explain.Explanation
	if err := json.Unmarshal(text, &told); err != nil {
		x.t.Fatal(err)
	}
	if told.Status != "ACCEPTED" || told.Delivery != "delivered" || told.Buyer != "buy_blue" || told.Auction == nil || len(told.Auction.Candidates) != 1 {
		x.t.Errorf("%s", text)
	}
}

// heard waits for the webhook of a lead that was sold.
func (x *trial) heard(lead string) {
	x.t.Helper()
	verifier, err := standardwebhooks.NewWebhook(hookSecret)
	if err != nil {
		x.t.Fatal(err)
	}
	select {
	case got := <-x.hooks:
		if err := verifier.Verify(got.body, got.header); err != nil || got.header.Get("X-Pingpost-Signature") == "" {
			x.t.Errorf("%v: %v", err, got.header)
		}
		if !bytes.Contains(got.body, []byte(`"type":"lead.posted"`)) || !bytes.Contains(got.body, []byte(lead)) || !bytes.Contains(got.body, []byte(`"amount":10,`)) {
			x.t.Errorf("%s", got.body)
		}
	case <-time.After(20 * time.Second):
		x.t.Fatal("no webhook came")
	}
}

func TestAllAtOnce(t *testing.T) {
	x := begin(t)
	var run, again seeded
	first := x.call("/v1/dev/seed", "s", sold, 201, &run)
	for i, result := range run.Results {
		if result.Status != "ACCEPTED" {
			t.Errorf("lead %d: %+v", i, result)
		}
	}
	if len(run.Results) != 100 || x.call("/v1/dev/seed", "s", sold, 201, &again) != first || len(x.buyer.Leads()) != 100 {
		t.Errorf("%d results, the buyer has %d leads", len(run.Results), len(x.buyer.Leads()))
	}
}
