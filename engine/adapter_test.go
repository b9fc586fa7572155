package engine_test

import (
	"strings"
	"sync"
	"testing"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/market/adapter"
	"pingpost/internal/must"
)

// configurePostTemplate makes blue's posts use the template instead of the contract.
func (x *testExchange) configurePostTemplate(template string) {
	x.t.Helper()
	adapter, mistakes := adapter.NewPostTemplate(market.FormatJSON, template, nil)
	if len(mistakes) > 0 {
		x.t.Fatal(mistakes)
	}
	c := x.configuration(x.market)
	c.Document += template
	c.Catalog.Buyers["blue"].Post.Adapter = adapter
	must.Succeed(x.t, x.engine.Configure(c))
}

// A template can use the auction's id and the token and price of the bid.
func TestPostTemplateUsesBidTerms(t *testing.T) {
	runWithExchange(t, "", twoBidders(), func(t *testing.T, x *testExchange) {
		x.configurePostTemplate(`{"auction_id":"{{auction}}","bid_token":"{{token}}","lead":{"lead_uuid":"{{lead_id}}","phone":"{{.phone}}"},"price": {{price}}}`)
		a := x.pingAuction(supplierPing(1))
		answer := must.Value(x.sellAtBid(postFor(1, a)))(t)
		want := `{"auction_id":"` + a.auctionID.String() + `","bid_token":"` + x.buyers.bidTokenOf("blue", a.auctionID.String()) + `",` +
			`"lead":{"lead_uuid":"` + answer.Lead.String() + `","phone":"+14152000001"},"price": 10}`
		expectEqual(t, string(x.buyers.posts[0].body), want)
	})
}

// A lead whose rendered template is too long stays unsold. Caps, funds and the bid become free.
func TestTooLongPostTemplateReleasesSale(t *testing.T) {
	runInVirtualTime(t, "", func(t *testing.T) {
		r := twoBidders()
		r.buyers[0].caps = []string{"day 1"}
		x := newExchange(t, r)
		x.configurePostTemplate(`{"auction_id":"{{auction}}","bid_token":"{{token}}","lead":{"lead_uuid":"{{lead_id}}","phone":"{{.phone}}"},"city":"` +
			strings.Repeat("{{.city}}", 100) + `"}`)
		a := x.pingAuction(supplierPing(1))
		p := postFor(1, a, "city", strings.Repeat("x", 2000))
		for range 2 {
			expectEqual(t, x.saleResult(p), rejectedByBuyer)
		}
		if len(x.buyers.postAttempts()) > 0 || x.state.ReservationCount() != 0 {
			t.Errorf("posts %v, %d reservations", x.buyers.postAttempts(), x.state.ReservationCount())
		}
		if balance, held := x.state.BuyerBalance(x.state.RefOf(event.ObjectBuyer, "blue")); balance != 100_000_000 || held != 0 {
			t.Errorf("balance %s with %s on hold", balance, held)
		}
		expectEqual(t, x.saleResult(postFor(2, a)), soldToBlue, "another lead")
	})
}

// recordingBuyers records all pings and bids 5 for each buyer.
type recordingBuyers struct {
	mu    sync.Mutex
	pings map[string]string // body and key, by URL
	first map[string]*byte  // address of the body, by URL
}

func (*recordingBuyers) Post(*market.BuyerPostRequest) market.BuyerPostResult { return accepts.result }

func (l *recordingBuyers) Ping(req *market.BuyerPingRequest) market.BuyerPingResult {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.first[req.Endpoint.URL] = &req.Body[0]
	body := strings.ReplaceAll(string(req.Body), string(req.Auction), "AUCTION")
	l.pings[req.Endpoint.URL] = body + " " + strings.ReplaceAll(req.IdempotencyKey, string(req.Auction), "AUCTION")
	return market.BuyerPingResult{Status: 200, Bid: market.Bid{Amount: 5_000_000, Token: "t"}}
}

// Buyers without a template share one body. A buyer whose rendered template is too long gets no
// ping.
func TestPingTemplatePerBuyer(t *testing.T) {
	runInVirtualTime(t, "", func(t *testing.T) {
		pingTemplate := func(template, key string) (a *adapter.Template, d *market.AdapterProtocol) {
			adapter, mistakes := adapter.NewPingTemplate(market.FormatForm, template, nil)
			if len(mistakes) > 0 {
				t.Fatal(mistakes)
			}
			return adapter, &market.AdapterProtocol{Method: "POST", KeyHeader: key, Answer: market.BuyerAnswerValuePaths{Format: market.FormatForm}}
		}
		r := auctionMarket("blue", "form", "long", "gold", "keyed")
		r.buyers[1].adapter, r.buyers[1].protocol = pingTemplate("id={{auction}}&st={{.state}}&zip={{.zip3}}&until={{expires_at}}", "")
		r.buyers[2].adapter, r.buyers[2].protocol = pingTemplate(strings.Repeat("{{.source}}", 40), "")
		r.buyers[4].adapter, r.buyers[4].protocol = pingTemplate("st={{.state}}", "X-Key")
		buyers := &recordingBuyers{pings: map[string]string{}, first: map[string]*byte{}}
		x := newExchange(t, r, func(o *engine.Options) { o.Buyers = buyers })
		expectEqual(t, describePing(x.ping(supplierPing(1, "zip3", "941", "source", strings.Repeat("s", 4000)))), "5", "bid")
		expectEqual(t, x.auctionOutcomes(), "blue:won form:lost long:error gold:lost keyed:lost")
		expectEqual(t, buyers.first["https://blue.example/v1/ping"], buyers.first["https://gold.example/v1/ping"], "addresses of the contract's body")
		common := `{"auction_id":"AUCTION","vertical":"auto_insurance","state":"CA","source":"` + strings.Repeat("s", 4000) +
			`","tcpa_consent":true,"zip3":"941","expires_at":"2000-01-01T00:00:02.000Z"} AUCTION`
		for buyer, want := range map[string]string{
			"blue": common, "gold": common,
			"form":  "id=AUCTION&st=CA&zip=941&until=2000-01-01T00%3A00%3A02.000Z ",
			"keyed": "st=CA AUCTION",
			"long":  "",
		} {
			expectEqual(t, buyers.pings["https://"+buyer+".example/v1/ping"], want, "ping of ", buyer)
		}
	})
}
