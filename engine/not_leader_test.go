package engine_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pingpost/engine"
	"pingpost/engine/market"
	"pingpost/internal/must"
)

// logThatLoses is the log of a node that loses the leadership. After `after` further events, Append
// returns ErrNotLeader, or fails the waiter with it.
type logThatLoses struct {
	engine.Log
	after int // -1: never
	queue bool
}

func (l *logThatLoses) Append(data []byte, w engine.CommitWaiter) error {
	if l.after < 0 {
		return l.Log.Append(data, w)
	}
	if l.after > 0 {
		l.after--
		return l.Log.Append(data, w)
	}
	err := fmt.Errorf("cluster: %w", engine.ErrNotLeader)
	if !l.queue {
		return err
	}
	go w.Failed(err)
	return nil
}

// requestWithHistory is an exchange with the auction and the sold lead that a request of a test needs.
type requestWithHistory struct {
	*testExchange
	auction auctionInfo
	sold    engine.IngestAnswer
}

// A request returns ErrNotLeader only if no event of it was committed, or if the next leader has the event
// under the request's key.
func TestErrNotLeaderAllowsRepeat(t *testing.T) {
	post := func(key string, replies ...postReply) func(x *requestWithHistory) error {
		return func(x *requestWithHistory) error {
			x.buyers.scriptPosts("blue", replies...)
			return errorOf(x.ingest(leadRequest(1).withKey(key)))
		}
	}
	sale := func(replies ...postReply) func(x *requestWithHistory) error {
		return func(x *requestWithHistory) error {
			x.buyers.scriptPosts("blue", replies...)
			return errorOf(x.sellAtBid(postFor(1, x.auction)))
		}
	}
	for name, row := range map[string]struct {
		market  marketSpec
		request func(x *requestWithHistory) error
		events  int // that the request commits
	}{
		"unsold":              {threeBuyers(market.Waterfall), func(x *requestWithHistory) error { return errorOf(x.ingest(leadRequest(1, "state", "AK"))) }, 1},
		"sold without a post": {threeBuyers(market.Waterfall), func(x *requestWithHistory) error { return errorOf(x.ingest(leadRequest(1).withKey("k"))) }, 1},
		"posted":              {twoPostBuyers(), post("", accepts), 2},
		"posted, repeated":    {twoPostBuyers(), post("", serverError, accepts), 3},
		"posted, refused":     {twoPostBuyers(), post("", refuses), 3},
		"posted, hanging":     {twoPostBuyers(), post("", hangs), 2},
		"posted, key":         {twoPostBuyers(), post("k", accepts), 2},
		"repeated, key":       {twoPostBuyers(), post("k", serverError, accepts), 3},
		"refused, key":        {twoPostBuyers(), post("k", refuses), 3},
		"hanging, key":        {twoPostBuyers(), post("k", hangs), 2},
		"auction and post":    {twoBidders(), post("", accepts), 2},
		"ping":                {twoBidders(), func(x *requestWithHistory) error { return errorOf(x.ping(supplierPing(2))) }, 1},
		"availability":        {twoBidders(), func(x *requestWithHistory) error { return errorOf(x.requestAvailability(availabilityRequest())) }, 1},
		"sale at a bid, key":  {twoBidders(), sale(accepts), 2},
		"sale refused, key":   {twoBidders(), sale(refuses), 2},
		"sale hanging, key":   {twoBidders(), sale(hangs), 2},
		"one report":          {threeBuyers(market.Waterfall), func(x *requestWithHistory) error { return errorOf(x.report(newReport(x.sold, "contacted"))) }, 1},
		"many reports":        {threeBuyers(market.Waterfall), func(x *requestWithHistory) error { return errorOf(x.reportAll(newReport(x.sold, "contacted"))) }, 1},
		"a return":            {threeBuyers(market.Waterfall), func(x *requestWithHistory) error { return errorOf(x.report(newReport(x.sold, "returned"))) }, 1},
	} {
		for after := range row.events {
			for _, queued := range []bool{false, true} {
				runInVirtualTime(t, fmt.Sprintf("%s, %d events committed, queued: %t", name, after, queued), func(t *testing.T) {
					checkErrNotLeader(t, row.market, row.request, after, queued, strings.HasSuffix(name, ", key"))
				})
			}
		}
	}
}

// checkErrNotLeader sends a request whose node loses the leadership after some of its events.
func checkErrNotLeader(t *testing.T, m marketSpec, request func(x *requestWithHistory) error, after int, queued, keyed bool) {
	log := &logThatLoses{after: -1, queue: queued}
	x := requestWithHistory{testExchange: newExchange(t, m, func(o *engine.Options) { log.Log, o.Log = o.Log, log })}
	if m.campaigns[0].method == market.PingPost {
		x.auction = x.pingAuction(supplierPing(1))
	}
	if m.campaigns[0].method == market.Waterfall && !m.buyers[0].postEndpoint {
		x.sold = must.Value(x.ingest(leadRequest(9)))(t)
	}
	before := x.log.len()
	log.after = after
	err := request(&x)
	if err == nil {
		t.Fatal("the request succeeded")
	}
	if got := errors.Is(err, engine.ErrNotLeader); got != (after == 0 || keyed) {
		t.Errorf("%v with %d committed events", err, after)
	}
	if got := errors.Is(err, engine.ErrNextLeaderAnswers); got != (after > 0 && keyed) {
		t.Errorf("%v with %d committed events", err, after)
	}
	if x.log.len()-before != after {
		t.Errorf("%d committed events, want %d", x.log.len()-before, after)
	}
	time.Sleep(time.Minute)
	expectEqual(t, x.state.ReservationCount(), 0, "reservations")
}

// An engine that stops rejects requests with an error that another node may decide them.
func TestStoppedEngineReturnsErrNotLeader(t *testing.T) {
	runInVirtualTime(t, "", func(t *testing.T) {
		x := newExchange(t, threeBuyers(market.Waterfall))
		x.engine.Close()
		err := errorOf(x.ingest(leadRequest(1)))
		if !errors.Is(err, engine.ErrNotLeader) || !errors.Is(err, engine.ErrUnavailable) {
			t.Error(err)
		}
	})
}

// An engine that stops during an auction has no event of it, so another node may decide the request.
func TestEndedAuctionReturnsErrNotLeader(t *testing.T) {
	runWithExchange(t, "", auctionMarket("blue"), func(t *testing.T, x *testExchange) {
		x.buyers.scriptBids("blue", bids("10").after(time.Second))
		ended := make(chan error, 2)
		go func() { ended <- errorOf(x.ping(supplierPing(1))) }()
		go func() { ended <- errorOf(x.ingest(leadRequest(1))) }()
		time.Sleep(500 * ms)
		x.engine.Close()
		for range 2 {
			if err := <-ended; !errors.Is(err, engine.ErrNotLeader) {
				t.Error(err)
			}
		}
	})
}

// A report that confirms a delivery commits that first. If the node loses the leadership then, the next leader
// decides the same report, with the same result.
func TestReportConfirmsDeliveryBeforeErrNotLeader(t *testing.T) {
	for _, reportAll := range []bool{false, true} {
		runInVirtualTime(t, fmt.Sprintf("many: %t", reportAll), func(t *testing.T) {
			log := &logThatLoses{after: -1, queue: true}
			x := newExchange(t, returnsMarket(returnRule(nil)).withPostEndpoints(), func(o *engine.Options) { log.Log, o.Log = o.Log, log })
			x.buyers.scriptPosts("blue", serverError)
			sold := x.soldLead(1)
			time.Sleep(time.Hour)
			report := func() (engine.StatusReportAnswer, error) {
				if reportAll {
					return x.reportAll(newReport(sold, "returned"))
				}
				return x.report(newReport(sold, "returned"))
			}
			before := x.log.len()
			log.after = 1
			if _, err := report(); !errors.Is(err, engine.ErrNotLeader) || x.log.len() != before+1 {
				t.Fatalf("%v with %d committed events, want ErrNotLeader after the first", err, x.log.len()-before)
			}
			log.after = -1
			answer := must.Value(report())(t)
			if len(answer.Results) != 1 || answer.Results[0].Code != "" || answer.Replayed || x.log.len() != before+2 {
				t.Errorf("the next leader answers %+v, want one more event", answer)
			}
			expectEqual(t, x.leadState(sold)+", "+x.balance("blue"), "returned confirmed, 100")
		})
	}
}
