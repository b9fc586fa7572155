package load

import (
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/valyala/fasthttp"
)

const (
	aBid  = `{"auction_id":"seller-auction-1","bid":{"amount":8.5,"currency":"USD","bid_token":"bid_ABC","valid_until":"2026-01-02T03:04:05Z"}}`
	noBid = `{"auction_id":"seller-auction-1","bid":null,"reject_reason":"no_buyer"}`
	aSale = `{"auction_id":"seller-auction-1","lead_id":"ref_1","id":"lead_1","status":"ACCEPTED"}`
)

func sellerOf(addr string, sells bool) *Seller {
	return &Seller{Requests: Auctions{Host: addr, Token: "tok", Vertical: "auto"}, SellBids: sells, Sales: NewSales()}
}

// shop answers pings and posts as configured.
func shop(t *testing.T, ping, post func(*fasthttp.RequestCtx)) (*Conn, *Seller) {
	t.Helper()
	_, addr := serve(t, func(ctx *fasthttp.RequestCtx) {
		if string(ctx.Path()) == "/v1/post" {
			post(ctx)
		} else {
			ping(ctx)
		}
	})
	line := &Conn{addr: addr}
	t.Cleanup(line.Close)
	return line, sellerOf(addr, true)
}

func says(status int, body string) func(*fasthttp.RequestCtx) {
	return func(ctx *fasthttp.RequestCtx) {
		ctx.SetStatusCode(status)
		ctx.SetBodyString(body)
	}
}

// hangUp closes the connection without an answer.
func hangUp(ctx *fasthttp.RequestCtx) {
	ctx.HijackSetNoResponse(true)
	ctx.Hijack(func(conn net.Conn) { conn.Close() })
}

func TestEveryAuctionIsCountedByItsEnd(t *testing.T) {
	for name, test := range map[string]struct {
		ping, post func(*fasthttp.RequestCtx)
		want       Sales
		message    string
	}{
		"sold":                {says(200, aBid), says(201, aSale), Sales{Auctions: 1, Sold: 1}, ""},
		"nobody bids":         {says(200, noBid), says(201, aSale), Sales{Auctions: 1, NoBid: 1}, "no_buyer"},
		"the ping is refused": {says(429, `{"error":"rate_limited"}`), says(201, aSale), Sales{Auctions: 1, Refused: 1}, "ping: status 429"},
		"the post is refused": {says(200, aBid), says(410, `{"error":"bid_expired"}`), Sales{Auctions: 1, Refused: 1}, "post: status 410"},
		"the ping is lost":    {hangUp, says(201, aSale), Sales{Auctions: 1, Broken: 1}, "no answer"},
		"the post is lost":    {says(200, aBid), hangUp, Sales{Auctions: 1, Broken: 1}, "no answer"},
	} {
		t.Run(name, func(t *testing.T) {
			line, s := shop(t, test.ping, test.post)
			s.Handle(line, Arrival{Number: 1, Due: time.Now(), Measured: true})
			got := Sales{Auctions: s.Auctions, Sold: s.Sold, NoBid: s.NoBid, Refused: s.Refused, Broken: s.Broken, Late: s.Late}
			if fmt.Sprint(got) != fmt.Sprint(test.want) || !strings.Contains(s.FirstError, test.message) || (s.FirstError == "") != (test.message == "") {
				t.Errorf("got %+v, %q", got, s.FirstError)
			}
			if n := uint64(len(s.Posted)); n != s.Sold || uint64(s.Posts.TotalCount()) != s.Sold || uint64(s.Bids.TotalCount()) != s.Sold {
				t.Errorf("%d posted, %d and %d in the histograms", n, s.Posts.TotalCount(), s.Bids.TotalCount())
			}
		})
	}
}

func TestThePostHasTheBidToken(t *testing.T) {
	var pinged, posted string
	line, s := shop(t, func(ctx *fasthttp.RequestCtx) {
		pinged = string(ctx.Request.Header.Peek("Authorization")) + string(ctx.Request.Body())
		says(200, aBid)(ctx)
	}, func(ctx *fasthttp.RequestCtx) {
		posted = string(ctx.Request.Header.Peek("Authorization")) + string(ctx.Request.Body())
		says(201, aSale)(ctx)
	})
	before := time.Now().UnixNano()
	s.Handle(line, Arrival{Number: 12, Due: time.Now()})
	for _, text := range []string{pinged, posted} {
		if !strings.HasPrefix(text, "Bearer tok{") || !strings.Contains(text, `"auction_id":"seller-auction-12"`) {
			t.Errorf("sent %s", text)
		}
	}
	if !strings.Contains(posted, `"bid_token":"bid_ABC"`) {
		t.Errorf("posted %s", posted)
	}
	// The warm-up does not count, but its sales are listed.
	if s.Auctions+s.Sold != 0 || s.Bids.TotalCount()+s.Posts.TotalCount() != 0 || len(s.Posted) != 1 || s.Posted[0].Lead != "ref_1" || s.Posted[0].Measured || s.Posted[0].Sent < before {
		t.Errorf("%+v", s.Sales)
	}
}

// An arrival that was due long ago has a long latency, although its answers were fast.
func TestAuctionLatencyCountsFromTheDueTime(t *testing.T) {
	line, s := shop(t, says(200, aBid), says(201, aSale))
	s.Handle(line, Arrival{Number: 1, Due: time.Now().Add(-MaxSaleTime), Measured: true})
	if s.Late != 1 || time.Duration(s.Bids.Max()) < MaxSaleTime*99/100 || time.Duration(s.Posts.Max()) >= MaxSaleTime {
		t.Errorf("late %d, bids %s, posts %s", s.Late, time.Duration(s.Bids.Max()), time.Duration(s.Posts.Max()))
	}
	s.Handle(line, Arrival{Number: 2, Due: time.Now(), Measured: true})
	if s.Sold != 2 || s.Late != 1 {
		t.Errorf("sold %d, late %d", s.Sold, s.Late)
	}
}

func TestReconnect(t *testing.T) {
	var n atomic.Int32
	line, s := shop(t, func(ctx *fasthttp.RequestCtx) {
		if n.Add(1) == 1 {
			hangUp(ctx)
			return
		}
		says(200, aBid)(ctx)
	}, says(201, aSale))
	for i := range uint64(3) {
		s.Handle(line, Arrival{Number: i, Due: time.Now(), Measured: true})
	}
	if s.Broken != 1 || s.Sold != 2 {
		t.Errorf("%d broken, %d sold: %s", s.Broken, s.Sold, s.FirstError)
	}
}

func TestSalesAddUp(t *testing.T) {
	one, other := NewSales(), NewSales()
	one.count(&Sales{Auctions: 9, Sold: 1, NoBid: 1, Refused: 3, Broken: 4, Late: 1, Posted: make([]Posted, 1)})
	other.count(&Sales{Auctions: 10, Sold: 10, FirstError: "second", Posted: make([]Posted, 2)})
	recordLatency(one.Bids, time.Millisecond)
	recordLatency(other.Bids, time.Second)
	recordLatency(other.Posts, time.Hour) // above the histogram's highest value
	one.Add(&other)
	if one.Auctions != 19 || one.Sold != 11 || one.NoBid != 1 || one.Refused != 3 || one.Broken != 4 || one.Late != 1 || one.FirstError != "second" || len(one.Posted) != 3 {
		t.Errorf("%+v", one)
	}
	if one.Bids.TotalCount() != 2 || time.Duration(one.Bids.Max()) < time.Second || one.Posts.TotalCount() != 1 {
		t.Errorf("%d bids, %d posts", one.Bids.TotalCount(), one.Posts.TotalCount())
	}
}
