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

// shop answers leads, pings and posts as configured.
func shop(t *testing.T, first, post func(*fasthttp.RequestCtx)) (line *Conn, seller, supplier *Client) {
	t.Helper()
	_, addr := serve(t, func(ctx *fasthttp.RequestCtx) {
		if string(ctx.Path()) == "/v1/post" {
			post(ctx)
		} else {
			first(ctx)
		}
	})
	line = NewConn(addr)
	t.Cleanup(line.Close)
	return line, NewSeller(Auctions{Host: addr, Token: "tok", Vertical: "auto"}, true), NewSupplier(Ingest{Leads: testLeads, Host: addr, Key: "key"})
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

func TestEveryArrivalIsCountedByItsEnd(t *testing.T) {
	large := strings.Repeat(" ", maxAnswer) + aBid
	for name, test := range map[string]struct {
		first, post func(*fasthttp.RequestCtx) // a nil post: an ingest
		want        Result
		message     string
	}{
		"sold":                {says(200, aBid), says(201, aSale), Result{Done: 1}, ""},
		"nobody bids":         {says(200, noBid), says(201, aSale), Result{NoBid: 1}, "no_buyer"},
		"the ping is refused": {says(429, `{"error":"rate_limited"}`), says(201, aSale), Result{Refused: 1}, "/v1/ping: status 429"},
		"the post is refused": {says(200, aBid), says(410, `{"error":"bid_expired"}`), Result{Refused: 1}, "/v1/post: status 410"},
		"the ping is lost":    {hangUp, says(201, aSale), Result{Broken: 1}, "no answer"},
		"the post is lost":    {says(200, aBid), hangUp, Result{Broken: 1}, "no answer"},
		"a long answer":       {says(200, large[len(aBid):]), says(201, aSale), Result{Done: 1}, ""},
		"an endless answer":   {says(200, large), says(201, aSale), Result{Broken: 1}, "no answer"},
		"a lead sold":         {says(201, `{"data":{"status":"ACCEPTED"}}`), nil, Result{Done: 1}, ""},
		"a lead not sold":     {says(201, `{"data":{"status":"UNMATCHED"}}`), nil, Result{Refused: 1}, "UNMATCHED"},
		"a lead refused":      {says(429, `"ACCEPTED"`), nil, Result{Refused: 1}, "status 429"},
		"a lead unanswered":   {hangUp, nil, Result{Broken: 1}, "no answer"},
	} {
		t.Run(name, func(t *testing.T) {
			line, c, supplier := shop(t, test.first, test.post)
			posts := test.want.Done
			if test.post == nil {
				c, posts = supplier, 0
			}
			c.Handle(line, Arrival{Number: 1, Due: time.Now(), Measured: true})
			got := Result{Done: c.Done, NoBid: c.NoBid, Refused: c.Refused, Broken: c.Broken, Late: c.Late}
			if c.Sent != 1 || fmt.Sprint(got) != fmt.Sprint(test.want) || !strings.Contains(c.FirstError, test.message) || (c.Err() == nil) != (test.message == "") {
				t.Errorf("got %+v, %q", got, c.FirstError)
			}
			if uint64(len(c.Posted)) != posts || uint64(c.Posts.TotalCount()) != posts || uint64(c.Latency.TotalCount()) != c.Done {
				t.Errorf("%d posted, %d and %d in the histograms", len(c.Posted), c.Posts.TotalCount(), c.Latency.TotalCount())
			}
		})
	}
}

func TestThePostHasTheBidToken(t *testing.T) {
	var pinged, posted string
	line, s, _ := shop(t, func(ctx *fasthttp.RequestCtx) {
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
	// The warm-up is not measured, but its sales are listed.
	if s.Done != 0 || s.Latency.TotalCount()+s.Posts.TotalCount() != 0 || len(s.Posted) != 1 || s.Posted[0].Lead != "ref_1" || s.Posted[0].Measured || s.Posted[0].Sent < before {
		t.Errorf("%+v", s.Result)
	}
}

// An arrival that was due long ago has a long latency, although its answers were fast.
func TestLatencyCountsFromTheDueTime(t *testing.T) {
	line, s, _ := shop(t, says(200, aBid), func(ctx *fasthttp.RequestCtx) {
		time.Sleep(100 * time.Millisecond)
		says(201, aSale)(ctx)
	})
	s.Handle(line, Arrival{Number: 1, Due: time.Now().Add(50*time.Millisecond - MaxSaleTime), Measured: true})
	if s.Late != 1 || s.At(100) < MaxSaleTime*98/100 || time.Duration(s.Posts.Max()) >= MaxSaleTime {
		t.Errorf("late %d, bids %s, posts %s", s.Late, s.At(100), time.Duration(s.Posts.Max()))
	}
	s.Handle(line, Arrival{Number: 2, Due: time.Now(), Measured: true})
	if s.Done != 2 || s.Late != 1 {
		t.Errorf("sold %d, late %d", s.Done, s.Late)
	}
}

func TestReconnect(t *testing.T) {
	var n atomic.Int32
	line, s, _ := shop(t, func(ctx *fasthttp.RequestCtx) {
		if n.Add(1) == 1 {
			hangUp(ctx)
			return
		}
		says(200, aBid)(ctx)
	}, says(201, aSale))
	for i := range uint64(3) {
		s.Handle(line, Arrival{Number: i, Due: time.Now(), Measured: true})
	}
	if s.Broken != 1 || s.Done != 2 {
		t.Errorf("%d broken, %d sold: %s", s.Broken, s.Done, s.FirstError)
	}
}

func TestResultsAddUp(t *testing.T) {
	one, other := NewResult(), NewResult()
	one.Sent, one.Done, one.NoBid, one.Refused, one.Broken, one.Late, one.Bytes, one.Posted = 9, 1, 1, 3, 4, 1, 5, make([]Posted, 1)
	other.Sent, other.Done, other.NoBid, other.Refused, other.Broken, other.Late, other.Bytes, other.Posted = 10, 10, 1, 1, 1, 1, 2, make([]Posted, 2)
	other.FirstError = "second"
	recordLatency(one.Latency, time.Millisecond)
	recordLatency(other.Latency, time.Second)
	recordLatency(other.Posts, time.Hour) // above the histogram's highest value
	one.Add(&other)
	if one.Sent != 19 || one.Done != 11 || one.NoBid != 2 || one.Refused != 4 || one.Broken != 5 || one.Late != 2 || one.Bytes != 7 || one.FirstError != "second" || len(one.Posted) != 3 {
		t.Errorf("%+v", one)
	}
	if one.Latency.TotalCount() != 2 || one.At(100) < time.Second || one.Posts.TotalCount() != 1 {
		t.Errorf("%d bids, %d posts", one.Latency.TotalCount(), one.Posts.TotalCount())
	}
}
