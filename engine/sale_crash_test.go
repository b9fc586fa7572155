package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// saleCrashScenario is a post, its repeat, and a post of another lead with the same bid,
// at the given interval.
type saleCrashScenario struct {
	sale     saleCase
	interval time.Duration
}

// run sends the posts and cuts the power once the log has n entries.
func (s saleCrashScenario) run(t *testing.T, n int, unacknowledged bool) (cut bool) {
	x := newFailingExchange(t, s.sale.market(), n, unacknowledged)
	x.buyers.scriptPosts("blue", s.sale.blue...)
	x.buyers.scriptBids("gold", noBid)
	var posts []postInput
	var calls []*saleCall
	if x.engine.Configure(x.configuration(s.sale.market())) == nil {
		if a, err := x.ping(supplierPing(1)); err == nil {
			quote := auctionInfo{id: a.SellerAuction, auctionID: a.Auction, token: string(a.Token.AppendAsText(nil))}
			posts = []postInput{postFor(1, quote), postFor(1, quote), postFor(2, quote)}
		}
	}
	for _, p := range posts {
		calls = append(calls, x.startSale(p))
		time.Sleep(s.interval)
	}
	for _, c := range calls {
		<-c.done
	}
	time.Sleep(2 * time.Minute)
	cut = x.restartAfterCrash()
	for i, p := range posts {
		calls = append(calls, x.startSale(p))
		posts = append(posts, posts[i])
	}
	time.Sleep(time.Hour)
	for i, p := range posts[:min(3, len(posts))] {
		calls = append(calls, x.startSale(p))
		posts = append(posts, posts[i])
	}
	checkOneAnswerPerKey(t, posts, calls)
	time.Sleep(time.Hour)
	x.closeAndCheck()
	bought := map[string]bool{}
	for _, p := range x.buyers.posts {
		if p.answer.buyerHasLead {
			bought[p.lead] = true
		}
	}
	if len(bought) > 1 {
		t.Errorf("the buyer got %d leads for one auction, want at most 1", len(bought))
	}
	return cut
}

// checkOneAnswerPerKey checks that a key has one final answer, and no other answer
// after it. calls[i] has the answer to posts[i].
func checkOneAnswerPerKey(t *testing.T, posts []postInput, calls []*saleCall) {
	t.Helper()
	final := map[string]string{}
	for i, c := range calls {
		got := answerText(c)
		if !isFinalAnswer(got) {
			expectEqual(t, final[posts[i].key], "", "final answer before call ", i, ", which got ", got)
			continue
		}
		if first := final[posts[i].key]; first == "" {
			final[posts[i].key] = got
		} else if got != first {
			t.Errorf("call %d: got %s, want the first answer %s", i, got, first)
		}
	}
}

// isFinalAnswer reports whether an answer is based on a logged event.
func isFinalAnswer(answer string) bool {
	for _, temporary := range []string{"buyer_", "already_sold", "bid_expired", "the log has failed", "cannot serve this request now"} {
		if strings.Contains(answer, temporary) {
			return false
		}
	}
	return true
}

func TestPowerCutAtEachLogEntryOfPost(t *testing.T) {
	for _, d := range saleCases {
		for _, interval := range []time.Duration{0, 400 * ms} {
			t.Run(fmt.Sprintf("%s/%s", d.name, interval), func(t *testing.T) {
				crashAtEveryEntry(t, saleCrashScenario{d, interval}.run)
			})
		}
	}
}

// An attempt under way at the crash counts as in doubt after the restart.
func TestRestartContinuesPostSchedule(t *testing.T) {
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
			expectEqual(t, strings.Join(x.buyers.postAttempts(), " "), test.attempts, "attempts")
			expectEqual(t, x.saleResult(p), test.answer)
		})
	}
}
