package refbuyer

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pingpost/engine/market"
	"pingpost/internal/must"
)

// TestWon: a lead costs its bid, in its own auction and while the bid is valid.
func TestWon(t *testing.T) {
	spread := must.Value(ParsePricing("CA=8-20,*=3"))(t)
	b, base := start(t, Options{Bid: spread, Valid: 2 * time.Second})
	var at atomic.Int64
	at.Store(noon.UnixMilli())
	b.now = func() time.Time { return time.UnixMilli(at.Load()) }
	bid, _, _ := ask(t, base, "p1", pingOf("auc_1"))
	price := must.Value(market.ParseMoney([]byte(bid.Bid.Amount)))(t)
	post := func(key, body string) (int, string) {
		status, text, _ := send(t, "POST", base+"/v1/post", body, "Idempotency-Key", key)
		return status, text
	}
	won := func(n int) string { return withToken(lead(fmt.Sprint("l", n)), bid.Bid.BidToken) }

	if status, text := post("k1", won(1)); status != 201 {
		t.Fatalf("the token of its own bid: %d %s", status, text)
	}
	if status, text := post("k2", strings.Replace(won(2), "auc_1", "auc_2", 1)); status != 422 || !strings.Contains(text, "invalid_bid_token") {
		t.Errorf("in another auction: %d %s", status, text)
	}
	at.Add(2000)
	if status, text := post("k3", won(3)); status != 201 {
		t.Errorf("in its last millisecond: %d %s", status, text)
	}
	at.Add(1)
	if status, text := post("k4", won(4)); status != 410 || !strings.Contains(text, "bid_expired") {
		t.Errorf("a millisecond too late: %d %s", status, text)
	}
	if status, text := post("k3", won(3)); status != 201 {
		t.Errorf("the retry of what was in time: %d %s", status, text)
	}
	want := Stats{Posts: 4, Accepted: 2, Won: 2, Expired: 1, Replayed: 1, Invalid: 1, Revenue: 2 * price, Pings: 1, Bids: 1, PeakPings: 1}
	if got := b.Stats(); got != want {
		t.Errorf("stats\n got %+v\nwant %+v", got, want)
	}

	before := b.Stats().Revenue
	if status, text := post("k5", lead("l5")); status != 201 || b.Stats().Revenue-before != 3_000_000 {
		t.Errorf("without a bid, from nowhere: %d %s, %v", status, text, b.Stats().Revenue-before)
	}
	before = b.Stats().Revenue
	atHome := strings.Replace(lead("l6"), `"lead_uuid"`, `"address":{"state":"CA"},"lead_uuid"`, 1)
	if status, text := post("k6", atHome); status != 201 || b.Stats().Revenue-before < 8_000_000 {
		t.Errorf("without a bid, from California: %d %s, %v", status, text, b.Stats().Revenue-before)
	}
}

// TestLatency: an answer is delayed until the buyer closes. Posts and pings have separate response
// times.
func TestLatency(t *testing.T) {
	o := Options{Latency: Uniform{1, 1}}
	o.complete()
	if o.PostLatency != o.Latency {
		t.Errorf("posts take %v by default", o.PostLatency)
	}
	for i, options := range []Options{{Latency: Hanging{1, Uniform{}}, PostLatency: Uniform{}}, {Latency: Uniform{}, PostLatency: Hanging{1, Uniform{}}}} {
		delayed := []string{"/v1/ping", "/v1/post"}[i]
		b, base := start(t, options)
		answered := make(chan string, 2)
		for path, body := range map[string]string{"/v1/ping": pingOf("auc_1"), "/v1/post": lead("l1")} {
			go func() {
				send(t, "POST", base+path, body, "Idempotency-Key", "k1", "Connection", "close")
				answered <- path
			}()
		}
		for s := b.Stats(); s.Pings+s.Accepted < 2; s = b.Stats() {
			time.Sleep(time.Millisecond)
		}
		first := <-answered
		http.DefaultClient.CloseIdleConnections()
		if err := b.Close(); err != nil { // releases the other answer
			t.Error(err)
		}
		if second := <-answered; first == delayed || second != delayed {
			t.Errorf("%s was answered at once, and %s at the end; want %s at the end", first, second, delayed)
		}
	}
}
