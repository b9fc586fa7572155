package exchange

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// sharedHost is one host:port with several buyers: /fast bids at once, and every other
// path never answers.
type sharedHost struct {
	*httptest.Server
	slow atomic.Int64 // pings of slow buyers that have arrived
}

func newSharedHost(t testing.TB) *sharedHost {
	t.Helper()
	h, end := new(sharedHost), make(chan struct{})
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var ping struct {
			Auction string `json:"auction_id"`
		}
		if err := json.NewDecoder(io.LimitReader(r.Body, 1<<16)).Decode(&ping); err != nil {
			t.Error(err)
		}
		if !strings.HasPrefix(r.URL.Path, "/fast/") {
			h.slow.Add(1)
			<-end
			return
		}
		fmt.Fprintf(w, `{"auction_id":%q,"bid":{"amount":10,"bid_token":"t"}}`, ping.Auction)
	}))
	t.Cleanup(func() {
		close(end)
		h.CloseClientConnections()
		h.Close()
	})
	return h
}

// sharing is an exchange that sells to slow buyers and a fast one at the host, each with at
// most perBuyer connections.
func (h *sharedHost) sharing(slow, perBuyer int) string {
	var them, seats strings.Builder
	for i := range slow + 1 {
		name := "fast"
		if i < slow {
			name = fmt.Sprintf("slow%d", i)
		}
		fmt.Fprintf(&them, "  - {id: buy_%s, endpoint: %s/%[1]s, ping_rate: 1000000, max_connections: %[3]d}\n", name, h.URL, perBuyer)
		fmt.Fprintf(&seats, "{buyer: buy_%s}, ", name)
	}
	return head + `suppliers:
  - {id: sup_acme, api_key: "${ACME_KEY}", ping_rate: 1000000}
buyers:
` + them.String() + `campaigns:
  - id: cmp
    vertical: auto
    method: ping_post
    bid_timeout: 2s
    payout: {share: 0.8}
    buyers: [` + strings.TrimSuffix(seats.String(), ", ") + `]
`
}

// offersFast reports whether the fast buyer's bid is in an auction that is held now.
func (r *running) offersFast() bool {
	a := r.ask(`{"flo_campaign_id":"cmp","flo_supplier_id":"sup_acme","state":"CA"}`)
	if a.status != http.StatusOK {
		r.t.Errorf("%d %s", a.status, a.body)
	}
	return strings.Contains(a.body, `"buyer_id":"buy_fast"`)
}

// TestConnectionsBelongToABuyer: buyers that hang hold more connections to a host:port
// than one buyer may, and a fast buyer there bids in every auction.
func TestConnectionsBelongToABuyer(t *testing.T) {
	const slow, perBuyer = 4, 20
	h := newSharedHost(t)
	x := start(t, newPlace(t, h.sharing(slow, perBuyer)))
	var lost atomic.Int64
	var open sync.WaitGroup
	hold := func(auctions int) {
		for range auctions {
			open.Go(func() {
				if !x.offersFast() {
					lost.Add(1)
				}
			})
		}
	}
	hold(2 * perBuyer)
	eventually(t, "the slow buyers hold all their connections", func() bool { return h.slow.Load() == slow*perBuyer })
	hold(perBuyer / 2)
	open.Wait()
	if n := lost.Load(); n > 0 {
		t.Errorf("%d auctions lost the fast buyer's bid", n)
	}
}
