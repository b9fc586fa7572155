package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// rush is what comes in for one auction: the post, the same again, another lead
// by the same bid, each a while after the one before.
type rush struct {
	d     delivery
	every time.Duration
}

// perform plays it with the power cut once the log has n entries.
func (r rush) perform(t *testing.T, n int, unheard bool) (cut bool) {
	x := startDying(t, r.d.market(), n, unheard)
	x.world.script("blue", r.d.blue...)
	x.world.offers("gold", passes)
	var posts []posting
	var heard []*sale
	if x.engine.Configure(x.configuration(r.d.market())) == nil {
		if a, err := x.ping(inquiry(1)); err == nil {
			quote := told{id: a.SellerAuction, ours: a.Auction, token: string(a.Token.AppendTo(nil))}
			posts = []posting{postOf(1, quote), postOf(1, quote), postOf(2, quote)}
		}
	}
	for _, p := range posts {
		heard = append(heard, x.goSell(p))
		time.Sleep(r.every)
	}
	for _, s := range heard {
		<-s.done
	}
	time.Sleep(2 * time.Minute)
	cut = x.riseAfterCut()
	for i, p := range posts {
		heard = append(heard, x.goSell(p))
		posts = append(posts, posts[i])
	}
	time.Sleep(time.Hour)
	for i, p := range posts[:min(3, len(posts))] {
		heard = append(heard, x.goSell(p))
		posts = append(posts, posts[i])
	}
	oneAnswerAKey(t, posts, heard)
	time.Sleep(time.Hour)
	x.finish()
	took := map[string]bool{}
	for _, p := range x.world.posts {
		if p.answer.took {
			took[p.lead] = true
		}
	}
	if len(took) > 1 {
		t.Errorf("by one auction the buyer got %d leads", len(took))
	}
	return cut
}

// oneAnswerAKey holds what was heard under each key, in time, to one final answer:
// nothing else after it.
func oneAnswerAKey(t *testing.T, posts []posting, heard []*sale) {
	t.Helper()
	final := map[string]string{}
	for i, s := range heard {
		got := wire(s)
		if !isFinal(got) {
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

// isFinal tells whether an answer rests on a fact, and stays.
func isFinal(wire string) bool {
	for _, passing := range []string{"buyer_", "already_sold", "bid_expired", "the log has failed", "no requests right now"} {
		if strings.Contains(wire, passing) {
			return false
		}
	}
	return true
}

func TestPowerCutAtEveryEntryOfAPost(t *testing.T) {
	for _, d := range deliveries {
		for _, every := range []time.Duration{0, 400 * ms} {
			t.Run(fmt.Sprintf("%s/%s", d.what, every), func(t *testing.T) {
				everyCut(t, rush{d, every}.perform)
			})
		}
	}
}

// A restart goes on with the schedule where it stood, also where nobody was
// reached. That the try under way, if any, reached nobody is not known then.
func TestScheduleOfAPromiseOverARestart(t *testing.T) {
	tests := []struct {
		blue   []reply
		crash  time.Duration
		tried  string
		answer string
	}{
		{[]reply{unreached}, 4 * time.Second, whole, "buyer_unavailable"},
		{[]reply{unreached, unreached, unreached, accepts}, 4 * time.Second, "blue@0s blue@1s blue@3s blue@7s", taken},
		{[]reply{unreached, unreached, unreached, refuses}, 10 * ms, whole, "buyer_unavailable"},
		{[]reply{hangs, unreached, forbids}, 4 * time.Second, "blue@0s blue@4s blue@5s blue@7s blue@11s blue@19s blue@35s", "buyer_unavailable"},
	}
	for _, test := range tests {
		trading(t, test.answer+" "+test.crash.String(), bidders(), func(t *testing.T, x *exchange) {
			x.world.script("blue", test.blue...)
			p := postOf(1, x.quoted(inquiry(1)))
			first := x.goSell(p)
			time.Sleep(test.crash)
			x.crash()
			<-first.done
			time.Sleep(5 * time.Minute)
			expectEqual(t, strings.Join(x.world.tried(), " "), test.tried, "tried")
			expectEqual(t, x.posted(p), test.answer)
		})
	}
}
