package engine_test

import (
	"strings"
	"sync"
	"testing"

	"pingpost/engine"
	"pingpost/engine/market"
	"pingpost/engine/market/adapter"
)

// listening keeps what its buyers are asked, and bids 5 for each of them.
type listening struct {
	mu    sync.Mutex
	pings map[string]string // body and key, by address
	first map[string]*byte  // of the body
}

func (*listening) Post(*market.PostRequest) market.PostResult { return accepts.result }
func (l *listening) Ping(req *market.PingRequest) market.PingResult {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.first[req.Endpoint.URL] = &req.Body[0]
	body := strings.ReplaceAll(string(req.Body), string(req.Auction), "AUCTION")
	l.pings[req.Endpoint.URL] = body + " " + strings.ReplaceAll(req.IdempotencyKey, string(req.Auction), "AUCTION")
	return market.PingResult{Status: 200, Bid: market.Bid{Amount: 5_000_000, Token: "t"}}
}

// Each buyer is asked in its own words; those who speak the contract share one
// body. One whose template has no end of what it says is not asked.
func TestBuyersAreAskedInTheirOwnWords(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		speak := func(template, key string) (a *adapter.Template, d *market.Dialect) {
			adapter, mistakes := adapter.NewPingTemplate(market.FormatForm, template, nil)
			if len(mistakes) > 0 {
				t.Fatal(mistakes)
			}
			return adapter, &market.Dialect{Method: "POST", KeyHeader: key, Answer: market.AnswerPaths{Format: market.FormatForm}}
		}
		r := auctions("blue", "form", "long", "gold", "keyed")
		r.buyers[1].adapter, r.buyers[1].dialect = speak("id={{auction}}&st={{.state}}&zip={{.zip3}}&until={{expires_at}}", "")
		r.buyers[2].adapter, r.buyers[2].dialect = speak(strings.Repeat("{{.source}}", 40), "")
		r.buyers[4].adapter, r.buyers[4].dialect = speak("st={{.state}}", "X-Key")
		heardBy := &listening{pings: map[string]string{}, first: map[string]*byte{}}
		x := begin(t, r, func(o *engine.Options) { o.Buyers = heardBy })
		expectEqual(t, heard(x.ping(inquiry(1, "zip3", "941", "source", strings.Repeat("s", 4000)))), "5", "bid")
		expectEqual(t, x.came(), "blue:won form:lost long:error gold:lost keyed:lost")
		expectEqual(t, heardBy.first["https://blue.example/v1/ping"], heardBy.first["https://gold.example/v1/ping"], "the contract's body was written twice")
		common := `{"auction_id":"AUCTION","vertical":"auto_insurance","state":"CA","source":"` + strings.Repeat("s", 4000) +
			`","tcpa_consent":true,"zip3":"941","expires_at":"2000-01-01T00:00:02.000Z"} AUCTION`
		for buyer, want := range map[string]string{
			"blue": common, "gold": common,
			"form":  "id=AUCTION&st=CA&zip=941&until=2000-01-01T00%3A00%3A02.000Z ",
			"keyed": "st=CA AUCTION",
			"long":  "",
		} {
			expectEqual(t, heardBy.pings["https://"+buyer+".example/v1/ping"], want, buyer, " was asked")
		}
	})
}
