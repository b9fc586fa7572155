package engine_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pingpost/engine"
	"pingpost/engine/market"
	"pingpost/internal/must"
)

func TestSalePostAndEvent(t *testing.T) {
	runInVirtualTime(t, "", func(t *testing.T) {
		r := twoBidders()
		r.campaigns[0].unknown = market.UnknownKeep
		x := newExchange(t, r)
		a := x.pingAuction(supplierPing(1, "zip3", "941", "source", "own", "vehicles", "#2"))
		p := postFor(1, a, "zip", "94110", "city", "Rome", "vehicles", "#3", "nickname", "Patty")
		p.lead.members = append([]market.JSONMember{member("city", "Paris"), member("nickname", "Old")}, p.lead.members...)
		answer := must.Value(x.sellAtBid(p))(t)
		id := answer.Lead.String()
		want := `{"auction_id":"` + a.auctionID.String() + `","bid_token":"` + x.buyers.bidTokenOf("blue", a.auctionID.String()) + `","lead":{"lead_uuid":"` + id + `",` +
			`"first_name":"Pat","last_name":"Doe","email":"p1@example.com","phone":"+14152000001",` +
			`"address":{"city":"Rome","state":"CA","zip":"94110"},"tcpa":{},"source":"own","tcpa_consent":true,"vehicles":3,"nickname":"Patty"}}`
		expectEqual(t, string(x.buyers.posts[0].body), want)
		if answer.SellerAuction != "a1" || answer.Buyer != "blue" || answer.BuyerLead != "theirs" || answer.Payout != 8_000_000 || answer.Currency.String() != "USD" || answer.Replayed {
			t.Errorf("answer %+v", answer)
		}
		key := sha256.Sum256(slices.Concat(a.auctionID[:], answer.Lead[:], []byte("blue")))
		expectEqual(t, x.buyers.posts[0].key, "post_"+hex.EncodeToString(key[:20]), "key of auction, lead and buyer")
		lead := x.decisionOf(answer.Lead)
		if open := fieldTexts(lead.Fields); !strings.Contains(open, "lead_uuid=theirs-1 ") || strings.Contains(open, "Pat") {
			t.Errorf("plaintext fields in the log: %s", open)
		}
		if lead.Sale.Price != 10_000_000 || lead.Sale.Payout != 8_000_000 || len(lead.Trail) != 1 || lead.Trail[0].Outcome != market.OutcomePostPending {
			t.Errorf("event %+v", lead)
		}
	})
}

// One post sells. The others get its answer if they have its key, else already_sold.
func TestConcurrentPostsForOneBid(t *testing.T) {
	tests := []struct {
		name string
		blue []postReply
		keys bool // each post has its own key
		want string
		took time.Duration // of the last
	}{
		{"one key", []postReply{accepts.after(time.Second)}, false, "5 " + soldToBlue, time.Second},
		{"one key, refused", []postReply{refuses.after(time.Second)}, false, "5 " + rejectedByBuyer, time.Second},
		{"one key, never answered", []postReply{hangs}, false, "5 buyer_timeout", 5 * time.Second},
		{"different keys", []postReply{accepts.after(time.Second)}, true, "4 already_sold, 1 " + soldToBlue, time.Second},
		{"different keys, each refused", []postReply{refuses.after(900 * ms)}, true, "5 " + rejectedByBuyer, 4500 * ms},
		{"different keys, never answered", []postReply{hangs}, true, "4 already_sold, 1 buyer_timeout", 5 * time.Second},
	}
	for _, test := range tests {
		for _, sync := range []time.Duration{0, 30 * ms} {
			runWithExchange(t, fmt.Sprintf("%s/%s", test.name, sync), twoBidders(), func(t *testing.T, x *testExchange) {
				x.buyers.scriptPosts("blue", test.blue...)
				a := x.pingAuction(supplierPing(1))
				x.log.setSyncTime(sync)
				var all []*saleCall
				for i := range 5 {
					p := postFor(1, a)
					if test.keys {
						p = postFor(i, a)
					}
					all = append(all, x.startSale(p))
				}
				var took time.Duration
				counts := map[string]int{}
				for _, s := range all {
					counts[s.wait()]++
					took = max(took, s.took)
				}
				expectEqual(t, describeCounts(counts), test.want)
				if sync == 0 && took != test.took {
					t.Errorf("the last answer comes after %s, want %s", took, test.took)
				}
				x.log.setSyncTime(0)
				time.Sleep(5 * time.Minute)
			})
		}
	}
}

// describeCounts lists the answers with their counts, the highest first.
func describeCounts(counts map[string]int) string {
	var list []string
	for n := 9; n > 0; n-- {
		for name, times := range counts {
			if times == n {
				list = append(list, fmt.Sprint(n, " ", name))
			}
		}
	}
	return strings.Join(list, ", ")
}

// The lead is logged with the reason, and the bid stays valid for another lead.
func TestPostRejectedBeforeDelivery(t *testing.T) {
	tests := []struct {
		name   string
		change func(r *marketSpec)
		lead   []string
		want   string
	}{
		{"on the campaign's list", func(r *marketSpec) { r.campaigns[0].suppress = []string{"dnc"} }, nil, "suppressed"},
		{"on the buyer's list", func(r *marketSpec) { r.buyers[0].suppress = []string{"dnc"} }, nil, "suppressed"},
		{"duplicate", func(r *marketSpec) {}, []string{"phone", "415 200 0009"}, "duplicate"},
		{"duplicate at the buyer", func(r *marketSpec) { r.campaigns[0].duplicates = byBuyer }, []string{"phone", "415 200 0009"}, "duplicate"},
		{"campaign filter, value differs from the ping", func(r *marketSpec) {
			r.campaigns[0].filters = []market.FilterSpec{{Field: "vehicles", In: []string{"2"}}}
		}, []string{"vehicles", "#1"}, "filtered"},
		{"buyer filter, value differs from the ping", func(r *marketSpec) {
			r.campaigns[0].filterSets[0].filters = []market.FilterSpec{{Field: "vehicles", In: []string{"2"}}}
		}, []string{"vehicles", "#1"}, "filtered"},
	}
	for _, test := range tests {
		runInVirtualTime(t, test.name, func(t *testing.T) {
			r := twoBidders()
			r.lists = []list{{id: "dnc", field: market.ListPhone, hash: market.HashPlain, entries: []string{phoneOf(1)}}}
			test.change(&r)
			x := newExchange(t, r)
			expectEqual(t, x.saleResult(postFor(9, x.pingAuction(supplierPing(9, "vehicles", "#2")))), soldToBlue)
			a := x.pingAuction(supplierPing(1, "vehicles", "#2"))
			p := postFor(1, a, test.lead...)
			entries := x.log.len()
			first := x.startSale(p)
			expectEqual(t, first.wait(), "post_rejected "+test.want)
			x.crashAndRestart()
			repeat := x.startSale(p)
			if answerText(repeat) != answerText(first) {
				t.Errorf("repeat after a restart: got %s, want %s", answerText(repeat), answerText(first))
			}
			if x.log.len() != entries+1 || len(x.buyers.postAttempts()) != 1 {
				t.Errorf("%d log entries and %d posts, want 1 and 0", x.log.len()-entries, len(x.buyers.postAttempts())-1)
			}
			expectEqual(t, x.saleResult(postFor(2, a)), soldToBlue, "another lead with the same bid")
		})
	}
}

func TestStopDoesNotSettlePost(t *testing.T) {
	runWithExchange(t, "", twoBidders(), func(t *testing.T, x *testExchange) {
		x.buyers.scriptPosts("blue", unreachable, accepts)
		p := postFor(1, x.pingAuction(supplierPing(1)))
		first := x.startSale(p)
		time.Sleep(500 * ms)
		x.engine.Close()
		expectEqual(t, first.wait(), "buyer_unavailable", "answer at the stop")
		if got := x.saleResult(p); !strings.Contains(got, "cannot serve this request") {
			t.Errorf("post to a stopped exchange: got %s", got)
		}
		x.crashAndRestart()
		time.Sleep(time.Minute)
		expectEqual(t, x.saleResult(p), soldToBlue, "after the restart")
	})
}

// All attempts send the same body.
func TestNewConfigurationDoesNotChangePost(t *testing.T) {
	runWithExchange(t, "", twoBidders(), func(t *testing.T, x *testExchange) {
		x.buyers.scriptPosts("blue", unreachable, serverError, accepts)
		p := postFor(1, x.pingAuction(supplierPing(1)))
		first := x.startSale(p)
		time.Sleep(500 * ms)
		r := twoBidders()
		r.buyers[0].postEndpoint, r.buyers[0].timeout = false, time.Second
		r.campaigns[0].payout, r.campaigns[0].floor, r.campaigns[0].filterSets = "0.1", "99", r.campaigns[0].filterSets[1:]
		x.configure(r)
		if got := first.wait(); got != soldToBlue || len(x.buyers.posts) != 3 {
			t.Errorf("got %s after attempts %v, want a sale after 3", got, x.buyers.postAttempts())
		}
		x.crashAndRestart()
		expectEqual(t, x.saleResult(p), soldToBlue, "repeat")
	})
}

// Without the auction's event, the exchange answers that it is unavailable.
func TestPostWithUnreadableLog(t *testing.T) {
	runInVirtualTime(t, "", func(t *testing.T) {
		var readError error
		x := newExchange(t, twoBidders(), failingHistory(&readError))
		a, b := x.pingAuction(supplierPing(1)), x.pingAuction(supplierPing(2))
		p := postFor(1, a)
		expectEqual(t, x.saleResult(p), soldToBlue)
		x.crashAndRestart()
		readError = errors.New("cannot read the segment")
		if got := x.saleResult(p); !strings.Contains(got, "cannot serve this request") || x.observed.faults.Load() != 1 {
			t.Errorf("got %s and %d faults, want unavailable and 1", got, x.observed.faults.Load())
		}
		if got := x.saleResult(postFor(2, b)); !strings.Contains(got, "cannot serve this request") {
			t.Errorf("auction that is not cached: got %s, want unavailable", got)
		}
		readError = nil
		expectEqual(t, x.saleResult(p)+", "+x.saleResult(postFor(2, b)), soldToBlue+", "+soldToBlue, "when the log is readable repeat")
		readError = errors.New("cannot read the segment")
		expectEqual(t, x.saleResult(postFor(3, b)), "already_sold", "cached auction")
	})
}

// The id of a forgotten auction is free again, and then names the new auction.
func TestReusedAuctionID(t *testing.T) {
	runInVirtualTime(t, "", func(t *testing.T) {
		x := newExchange(t, twoBidders(), func(o *engine.Options) { o.PingIdempotency = time.Minute })
		before := x.pingAuction(supplierPing(1))
		time.Sleep(2 * time.Minute)
		after := x.pingAuction(supplierPing(1).withKey("another"))
		expectEqual(t, x.saleResult(postFor(1, before))+", "+x.saleResult(postFor(2, after)), "invalid_bid_token, "+soldToBlue)
	})
}

// slowHistory returns an option that delays each read of an event from the log.
func slowHistory(took time.Duration) func(*engine.Options) {
	return func(o *engine.Options) {
		history := o.History
		o.History = historyFunc(func(seq uint64) ([]byte, error) {
			time.Sleep(took)
			return history.At(seq)
		})
	}
}

// The bid must still be valid after the log was read.
func TestBidExpiresDuringLogRead(t *testing.T) {
	tests := []struct {
		name string
		took time.Duration
		want string
	}{
		{"in time", 2 * time.Second, "blue theirs 8, blue"},
		{"too late", 4 * time.Second, "bid_expired, bid_expired"},
	}
	for _, test := range tests {
		runInVirtualTime(t, test.name, func(t *testing.T) {
			x := newExchange(t, twoBidders(), slowHistory(test.took))
			a, b := x.pingAuction(supplierPing(1)), x.availabilityAuction(availabilityRequest())
			x.crashAndRestart() // empties the cache
			time.Sleep(2 * time.Second)
			chosen := x.startIngest(leadRequest(2, "flo_ping_id", b.id, "flo_buyer_id", "blue"))
			expectEqual(t, x.saleResult(postFor(1, a))+", "+chosen.wait(), test.want)
		})
	}
}

// Few log reads run at once. A request that waits for its turn gives up at its ceiling.
func TestLogReadEndsAtCeiling(t *testing.T) {
	runInVirtualTime(t, "", func(t *testing.T) {
		x := newExchange(t, twoBidders(), slowHistory(time.Minute))
		a := x.pingAuction(supplierPing(1))
		b := x.availabilityAuction(availabilityRequest())
		x.crashAndRestart()
		var readers sync.WaitGroup
		for n := range 4 {
			readers.Go(func() { _, _ = x.sellAtBid(postFor(10+n, a)) })
		}
		time.Sleep(time.Second)
		entries := x.log.len()
		waits := map[string]func() error{
			"post": func() error { _, err := x.sellAtBid(postFor(1, a)); return err },
			"lead for a chosen buyer": func() error {
				_, err := x.ingest(leadRequest(2, "flo_ping_id", b.id, "flo_buyer_id", "blue"))
				return err
			},
			"repeated ping": func() error { _, err := x.ping(supplierPing(1)); return err },
		}
		for name, call := range waits {
			readers.Go(func() {
				start := time.Now()
				if err := call(); !errors.Is(err, engine.ErrUnavailable) || time.Since(start) != 5*time.Second {
					t.Errorf("%s: error %v after %s, want unavailable after 5s", name, err, time.Since(start))
				}
			})
		}
		readers.Wait()
		expectEqual(t, x.log.len(), entries, "entries in the log")
	})
}

// The log may be shortened while memory still has the auction's name. Then the bid is
// long expired, which is no fault. A rejected post uses no key.
func TestPostForAuctionMissingInLog(t *testing.T) {
	runInVirtualTime(t, "", func(t *testing.T) {
		var readError error
		x := newExchange(t, twoBidders(), failingHistory(&readError))
		open, sold, refused := x.pingAuction(supplierPing(1)), x.pingAuction(supplierPing(2)), x.pingAuction(supplierPing(3))
		choice := x.availabilityAuction(availabilityRequest())
		expectEqual(t, x.saleResult(postFor(2, sold)), "blue theirs 8")
		x.buyers.scriptPosts("blue", refuses)
		expectEqual(t, x.saleResult(postFor(3, refused)), "post_rejected post_rejected")
		x.crashAndRestart() // empties the cache
		time.Sleep(25 * time.Hour)
		readError = engine.ErrGone
		entries := x.log.len()
		for _, row := range []struct {
			name string
			post postInput
			want string
		}{
			{"unsold auction", postFor(11, open), "bid_expired"},
			{"repeat", postFor(11, open), "bid_expired"},
			{"token that cannot be checked", func() postInput { p := postFor(12, open); p.token = "bid_x"; return p }(), "bid_expired"},
			{"sold auction", postFor(13, sold), "already_sold"},
			{"auction with a refused sale", postFor(14, refused), "bid_expired"},
			{"another supplier", func() postInput { p := postFor(15, open); p.supplier = "other"; return p }(), "invalid_bid_token"},
		} {
			expectEqual(t, x.saleResult(row.post), row.want, row.name)
		}
		expectEqual(t, x.saleResult(postFor(16, open, "phone", "1")), "invalid_payload lead.phone:invalid_format", "invalid lead")
		expectEqual(t, x.log.len(), entries, "entries in the log")
		expectEqual(t, x.ingestResult(leadRequest(17, "flo_ping_id", choice.id, "flo_buyer_id", "blue")), "bid_expired", "lead for a chosen buyer")
		expectEqual(t, x.observed.faults.Load(), 0, "faults")
		// The answer to the ping needs the event.
		if _, err := x.ping(supplierPing(1)); !errors.Is(err, engine.ErrUnavailable) || x.observed.faults.Load() != 1 {
			t.Errorf("repeated ping: error %v and %d faults, want unavailable and 1", err, x.observed.faults.Load())
		}
		x.observed.faults.Store(0)
	})
}
