package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// saleCrashScenario is what comes in for one auction: the post, the same again, another lead
// by the same bid, each a while after the one before.
type saleCrashScenario struct {
	sale     saleCase
	interval time.Duration
}

// run plays it with the power cut once the log has n entries.
func (r saleCrashScenario) run(t *testing.T, n int, unacknowledged bool) (cut bool) {
	x := newFailingExchange(t, r.sale.market(), n, unacknowledged)
	x.buyers.scriptPosts("blue", r.sale.blue...)
	x.buyers.scriptBids("gold", noBid)
	var posts []postInput
	var received []*saleCall
	if x.engine.Configure(x.configuration(r.sale.market())) == nil {
		if a, err := x.ping(supplierPing(1)); err == nil {
			quote := auctionInfo{id: a.SellerAuction, auctionID: a.Auction, token: string(a.Token.AppendTo(nil))}
			posts = []postInput{postFor(1, quote), postFor(1, quote), postFor(2, quote)}
		}
	}
	for _, p := range posts {
		received = append(received, x.startSale(p))
		time.Sleep(r.interval)
	}
	for _, s := range received {
		<-s.done
	}
	time.Sleep(2 * time.Minute)
	cut = x.restartAfterCrash()
	for i, p := range posts {
		received = append(received, x.startSale(p))
		posts = append(posts, posts[i])
	}
	time.Sleep(time.Hour)
	for i, p := range posts[:min(3, len(posts))] {
		received = append(received, x.startSale(p))
		posts = append(posts, posts[i])
	}
	checkOneAnswerPerKey(t, posts, received)
	time.Sleep(time.Hour)
	x.closeAndCheck()
	took := map[string]bool{}
	for _, p := range x.buyers.posts {
		if p.answer.buyerHasLead {
			took[p.lead] = true
		}
	}
	if len(took) > 1 {
		t.Errorf("by one auction the buyer got %d leads", len(took))
	}
	return cut
}

// checkOneAnswerPerKey holds what was heard under each key, in time, to one final answer:
// nothing else after it.
func checkOneAnswerPerKey(t *testing.T, posts []postInput, received []*saleCall) {
	t.Helper()
	final := map[string]string{}
	for i, s := range received {
		got := answerText(s)
		if !isFinalAnswer(got) {
			expectEqual(t, final[posts[i].key], "", "the final answer before call ", i, ", which hears ", got)
			continue
		}
		if first := final[posts[i].key]; first == "" {
			final[posts[i].key] = got
		} else if got != first {
			t.Errorf("call %d hears %s, before it was %s", i, got, first)
		}
	}
}

// isFinalAnswer tells whether an answer rests on a event, and stays.
func isFinalAnswer(wire string) bool {
	for _, passing := range []string{"buyer_", "already_sold", "bid_expired", "the log has failed", "no requests right now"} {
		if strings.Contains(wire, passing) {
			return false
		}
	}
	return true
}

func TestPowerCutAtEveryEntryOfAPost(t *testing.T) {
	for _, d := range saleCases {
		for _, every := range []time.Duration{0, 400 * ms} {
			t.Run(fmt.Sprintf("%s/%s", d.name, every), func(t *testing.T) {
				crashAtEveryEntry(t, saleCrashScenario{d, every}.run)
			})
		}
	}
}

// A restart goes on with the schedule where it stood, also where nobody was
// reached. That the try under way, if any, reached nobody is not known then.
func TestScheduleOfAPromiseOverARestart(t *testing.T) {
	tests := []struct {
		blue     []postReply
		crash    time.Duration
		attempts string
		answer   string
	}{
		{[]postReply{unreachable}, 4 * time.Second, allAttempts, "buyer_unavailable"},
		{[]postReply{unreachable, unreachable, unreachable, accepts}, 4 * time.Second, "blue@0s blue@1s blue@3s blue@7s", soldToBlue},
		{[]postReply{unreachable, unreachable, unreachable, refuses}, 10 * ms, allAttempts, "buyer_unavailable"},
		{[]postReply{hangs, unreachable, refusesNotFinal}, 4 * time.Second, "blue@0s blue@4s blue@5s blue@7s blue@11s blue@19s blue@35s", "buyer_unavailable"},
	}
	for _, test := range tests {
		runWithExchange(t, test.answer+" "+test.crash.String(), twoBidders(), func(t *testing.T, x *testExchange) {
			x.buyers.scriptPosts("blue", test.blue...)
			p := postFor(1, x.pingAuction(supplierPing(1)))
			first := x.startSale(p)
			time.Sleep(test.crash)
			x.crashAndRestart()
			<-first.done
			time.Sleep(5 * time.Minute)
			expectEqual(t, strings.Join(x.buyers.postAttempts(), " "), test.attempts, "tried")
			expectEqual(t, x.saleResult(p), test.answer)
		})
	}
}
