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

// What the buyer gets, and what the record has.
func TestSaleContent(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		r := bidders()
		r.campaigns[0].unknown = market.UnknownKeep
		x := begin(t, r)
		a := x.quoted(inquiry(1, "zip3", "941", "source", "own", "vehicles", "#2"))
		p := postOf(1, a, "zip", "94110", "city", "Rome", "vehicles", "#3", "nickname", "Patty")
		p.lead.members = append([]market.JSONMember{member("city", "Paris"), member("nickname", "Old")}, p.lead.members...)
		answer := must.Value(x.sell(p))(t)
		id := answer.Lead.String()
		want := `{"auction_id":"` + a.ours.String() + `","bid_token":"` + x.world.tokenOf("blue", a.ours.String()) + `","lead":{"lead_uuid":"` + id + `",` +
			`"first_name":"Pat","last_name":"Doe","email":"p1@example.com","phone":"+14152000001",` +
			`"address":{"city":"Rome","state":"CA","zip":"94110"},"tcpa":{},"source":"own","tcpa_consent":true,"vehicles":3,"nickname":"Patty"}}`
		expectEqual(t, string(x.world.posts[0].body), want)
		if answer.SellerAuction != "a1" || answer.Buyer != "blue" || answer.BuyerLead != "theirs" || answer.Payout != 8_000_000 || answer.Currency.String() != "USD" || answer.Replayed {
			t.Errorf("%+v", answer)
		}
		key := sha256.Sum256(slices.Concat(a.ours[:], answer.Lead[:], []byte("blue")))
		expectEqual(t, x.world.posts[0].key, "post_"+hex.EncodeToString(key[:20]), "the key of auction, lead and buyer")
		lead := x.decisionOf(answer.Lead)
		if open := texts(lead.Fields); !strings.Contains(open, "lead_uuid=theirs-1 ") || strings.Contains(open, "Pat") {
			t.Errorf("open: %s", open)
		}
		if lead.Sale.Price != 10_000_000 || lead.Sale.Payout != 8_000_000 || len(lead.Trail) != 1 || lead.Trail[0].Outcome != market.OutcomePostPending {
			t.Errorf("%+v", lead)
		}
	})
}

// Of posts for one bid at the same instant one sells. Under one key all hear of
// it; under keys of their own the others are too late, once it stands.
func TestPostsAtTheSameInstant(t *testing.T) {
	tests := []struct {
		what string
		blue []reply
		keys bool // each its own
		want string
		took time.Duration // of the last
	}{
		{"one key", []reply{accepts.in(time.Second)}, false, "5 " + taken, time.Second},
		{"one key, refused", []reply{refuses.in(time.Second)}, false, "5 " + rejected, time.Second},
		{"one key, never answered", []reply{hangs}, false, "5 buyer_timeout", 5 * time.Second},
		{"keys of their own", []reply{accepts.in(time.Second)}, true, "4 already_sold, 1 " + taken, time.Second},
		{"keys of their own, each refused", []reply{refuses.in(900 * ms)}, true, "5 " + rejected, 4500 * ms},
		{"keys of their own, never answered", []reply{hangs}, true, "4 already_sold, 1 buyer_timeout", 5 * time.Second},
	}
	for _, test := range tests {
		for _, sync := range []time.Duration{0, 30 * ms} {
			trading(t, fmt.Sprintf("%s/%s", test.what, sync), bidders(), func(t *testing.T, x *exchange) {
				x.world.script("blue", test.blue...)
				a := x.quoted(inquiry(1))
				x.log.slow(sync)
				var all []*sale
				for i := range 5 {
					p := postOf(1, a)
					if test.keys {
						p = postOf(i, a)
					}
					all = append(all, x.goSell(p))
				}
				var took time.Duration
				counts := map[string]int{}
				for _, s := range all {
					counts[s.wait()]++
					took = max(took, s.took)
				}
				expectEqual(t, counted(counts), test.want)
				if sync == 0 && took != test.took {
					t.Errorf("the last hears after %s, want %s", took, test.took)
				}
				x.log.slow(0)
				time.Sleep(5 * time.Minute)
			})
		}
	}
}

// counted lists what was heard and how often, the frequent first.
func counted(counts map[string]int) string {
	var list []string
	for n := 9; n > 0; n-- {
		for what, times := range counts {
			if times == n {
				list = append(list, fmt.Sprint(n, " ", what))
			}
		}
	}
	return strings.Join(list, ", ")
}

// A lead that the exchange takes from nobody is recorded, with its reason; the
// bid is still there for another.
func TestPostThatReachesNobody(t *testing.T) {
	tests := []struct {
		what string
		rig  func(r *rig)
		lead []string
		want string
	}{
		{"on the campaign's list", func(r *rig) { r.campaigns[0].suppress = []string{"dnc"} }, nil, "suppressed"},
		{"on the buyer's list", func(r *rig) { r.buyers[0].refuses = []string{"dnc"} }, nil, "suppressed"},
		{"a duplicate", func(r *rig) {}, []string{"phone", "415 200 0009"}, "duplicate"},
		{"a duplicate of the buyer's", func(r *rig) { r.campaigns[0].duplicates = byBuyer }, []string{"phone", "415 200 0009"}, "duplicate"},
		{"not as the ping said, to the campaign", func(r *rig) {
			r.campaigns[0].filters = []market.FilterSpec{{Field: "vehicles", In: []string{"2"}}}
		}, []string{"vehicles", "#1"}, "filtered"},
		{"not as the ping said, to the buyer", func(r *rig) {
			r.campaigns[0].seats[0].filters = []market.FilterSpec{{Field: "vehicles", In: []string{"2"}}}
		}, []string{"vehicles", "#1"}, "filtered"},
	}
	for _, test := range tests {
		bubble(t, test.what, func(t *testing.T) {
			r := bidders()
			r.lists = []list{{id: "dnc", field: market.ListPhone, hash: market.HashPlain, entries: []string{phoneOf(1)}}}
			test.rig(&r)
			x := begin(t, r)
			expectEqual(t, x.posted(postOf(9, x.quoted(inquiry(9, "vehicles", "#2")))), taken)
			a := x.quoted(inquiry(1, "vehicles", "#2"))
			p := postOf(1, a, test.lead...)
			entries := x.log.len()
			first := x.goSell(p)
			expectEqual(t, first.wait(), "post_rejected "+test.want)
			x.crash()
			again := x.goSell(p)
			if wire(again) != wire(first) {
				t.Errorf("after a restart: %s, before: %s", wire(again), wire(first))
			}
			if x.log.len() != entries+1 || len(x.world.tried()) != 1 {
				t.Errorf("%d entries and %d posts", x.log.len()-entries, len(x.world.tried())-1)
			}
			expectEqual(t, x.posted(postOf(2, a)), taken, "another lead by that bid")
		})
	}
}

// A stop decides nothing and settles nothing.
func TestPostIsNotDecidedByAStop(t *testing.T) {
	trading(t, "", bidders(), func(t *testing.T, x *exchange) {
		x.world.script("blue", unreached, accepts)
		p := postOf(1, x.quoted(inquiry(1)))
		first := x.goSell(p)
		time.Sleep(500 * ms)
		x.engine.Close()
		expectEqual(t, first.wait(), "buyer_unavailable", "a stop told")
		if got := x.posted(p); !strings.Contains(got, "no requests") {
			t.Errorf("one that stops told %s", got)
		}
		x.crash()
		time.Sleep(time.Minute)
		expectEqual(t, x.posted(p), taken, "after the restart")
	})
}

// A configuration that comes between two tries changes nothing of what is sent.
func TestPostIsSentAsItWas(t *testing.T) {
	trading(t, "", bidders(), func(t *testing.T, x *exchange) {
		x.world.script("blue", unreached, breaks, accepts)
		p := postOf(1, x.quoted(inquiry(1)))
		first := x.goSell(p)
		time.Sleep(500 * ms)
		r := bidders()
		r.buyers[0].posts, r.buyers[0].timeout = false, time.Second
		r.campaigns[0].payout, r.campaigns[0].floor, r.campaigns[0].seats = "0.1", "99", r.campaigns[0].seats[1:]
		x.configure(r)
		if got := first.wait(); got != taken || len(x.world.posts) != 3 {
			t.Errorf("%s after %v", got, x.world.tried())
		}
		x.crash()
		expectEqual(t, x.posted(p), taken, "again")
	})
}

// An answer needs a fact of the log. Where the log does not give it, there is
// none, and never another.
func TestHistoryIsGone(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		var lost error
		x := begin(t, bidders(), historyThatFails(&lost))
		a, b := x.quoted(inquiry(1)), x.quoted(inquiry(2))
		p := postOf(1, a)
		expectEqual(t, x.posted(p), taken)
		x.crash()
		lost = errors.New("the segment is gone")
		if got := x.posted(p); !strings.Contains(got, "no requests") || x.noted.faults.Load() != 1 {
			t.Errorf("%s, %d faults", got, x.noted.faults.Load())
		}
		if got := x.posted(postOf(2, b)); !strings.Contains(got, "no requests") {
			t.Errorf("an auction that memory has forgotten: %s", got)
		}
		lost = nil
		expectEqual(t, x.posted(p)+", "+x.posted(postOf(2, b)), taken+", "+taken, "when it is back")
		lost = errors.New("the segment is gone")
		expectEqual(t, x.posted(postOf(3, b)), "already_sold", "an auction that was read a moment ago")
	})
}

// An auction that has been forgotten gives its id free, and what sells by that id
// from then on is the next one.
func TestAuctionIDUsedAgain(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		x := begin(t, bidders(), func(o *engine.Options) { o.PingIdempotency = time.Minute })
		before := x.quoted(inquiry(1))
		time.Sleep(2 * time.Minute)
		after := x.quoted(inquiry(1).withKey("another"))
		expectEqual(t, x.posted(postOf(1, before))+", "+x.posted(postOf(2, after)), "invalid_bid_token, "+taken)
	})
}

// readsSlowly makes an exchange take so long to read an event back from its log.
func readsSlowly(took time.Duration) func(*engine.Options) {
	return func(o *engine.Options) {
		history := o.History
		o.History = historyFunc(func(seq uint64) ([]byte, error) {
			time.Sleep(took)
			return history.At(seq)
		})
	}
}

// A bid whose window has ended while its auction was read back is over: nobody
// stands by it any more, whenever the request came.
func TestWindowEndsWhileTheLogIsRead(t *testing.T) {
	tests := []struct {
		what string
		took time.Duration
		want string
	}{
		{"in time", 2 * time.Second, "blue theirs 8, blue"},
		{"too late", 4 * time.Second, "bid_expired, bid_expired"},
	}
	for _, test := range tests {
		bubble(t, test.what, func(t *testing.T) {
			x := begin(t, bidders(), readsSlowly(test.took))
			a, b := x.quoted(inquiry(1)), x.offered(availability())
			x.crash() // what it remembered of them is gone
			time.Sleep(2 * time.Second)
			chosen := x.goSend(person(2, "flo_ping_id", b.id, "flo_buyer_id", "blue"))
			expectEqual(t, x.posted(postOf(1, a))+", "+chosen.wait(), test.want)
		})
	}
}

// Few facts are read back at once, and whoever has waited for its turn up to the
// ceiling waits no longer.
func TestReadingBackEndsAtTheCeiling(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		x := begin(t, bidders(), readsSlowly(time.Minute))
		a := x.quoted(inquiry(1))
		b := x.offered(availability())
		x.crash()
		var readers sync.WaitGroup
		for n := range 4 {
			readers.Go(func() { _, _ = x.sell(postOf(10+n, a)) })
		}
		time.Sleep(time.Second)
		entries := x.log.len()
		waits := map[string]func() error{
			"a post":                  func() error { _, err := x.sell(postOf(1, a)); return err },
			"a lead for a buyer":      func() error { _, err := x.send(person(2, "flo_ping_id", b.id, "flo_buyer_id", "blue")); return err },
			"a ping that came before": func() error { _, err := x.ping(inquiry(1)); return err },
		}
		for what, call := range waits {
			readers.Go(func() {
				start := time.Now()
				if err := call(); !errors.Is(err, engine.ErrUnavailable) || time.Since(start) != 5*time.Second {
					t.Errorf("%s: %v after %s", what, err, time.Since(start))
				}
			})
		}
		readers.Wait()
		expectEqual(t, x.log.len(), entries, "entries in the log")
	})
}

// An auction of which history has nothing left, while memory has its name still,
// as after history was shortened: its window is long over, and that is an answer.
// It is no fault, and a refused post uses up no key.
func TestHistoryIsShorterThanMemory(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		var cut error
		x := begin(t, bidders(), historyThatFails(&cut))
		open, sold, refused := x.quoted(inquiry(1)), x.quoted(inquiry(2)), x.quoted(inquiry(3))
		choice := x.offered(availability())
		expectEqual(t, x.posted(postOf(2, sold)), "blue theirs 8")
		x.world.script("blue", refuses)
		expectEqual(t, x.posted(postOf(3, refused)), "post_rejected post_rejected")
		x.crash() // what it remembered of them is gone
		time.Sleep(25 * time.Hour)
		cut = engine.ErrGone
		entries := x.log.len()
		for _, row := range []struct {
			what string
			post posting
			want string
		}{
			{"one that nobody took up", postOf(11, open), "bid_expired"},
			{"the same again", postOf(11, open), "bid_expired"},
			{"by a token that cannot be judged any more", func() posting { p := postOf(12, open); p.token = "bid_x"; return p }(), "bid_expired"},
			{"one that was sold", postOf(13, sold), "already_sold"},
			{"one whose sale was refused", postOf(14, refused), "bid_expired"},
			{"another supplier's", func() posting { p := postOf(15, open); p.supplier = "other"; return p }(), "invalid_bid_token"},
		} {
			expectEqual(t, x.posted(row.post), row.want, row.what)
		}
		expectEqual(t, x.posted(postOf(16, open, "phone", "1")), "invalid_payload lead.phone:invalid_format", "a lead with a fault")
		expectEqual(t, x.log.len(), entries, "entries in the log")
		expectEqual(t, x.tell(person(17, "flo_ping_id", choice.id, "flo_buyer_id", "blue")), "bid_expired", "a lead for a buyer")
		expectEqual(t, x.noted.faults.Load(), 0, "faults")
		// The answer to the ping itself is what cannot be had again.
		if _, err := x.ping(inquiry(1)); !errors.Is(err, engine.ErrUnavailable) || x.noted.faults.Load() != 1 {
			t.Errorf("the ping again: %v, %d faults", err, x.noted.faults.Load())
		}
		x.noted.faults.Store(0)
	})
}
