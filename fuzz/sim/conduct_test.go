package sim

import (
	"hash/fnv"
	"time"
)

// postTimeout is how long an attempt to post may take.
const postTimeout = 10 * time.Second

// conduct is how buyers behave by now: what the last line about each of them
// says. Both the simulated buyers and the model go by it, each by a copy of its
// own, so that neither learns anything through the engine.
type conduct struct {
	posts, pings map[string]line
	deaf         map[string]int64 // until when suppliers acknowledge no event
}

func newConduct() *conduct {
	return &conduct{map[string]line{}, map[string]line{}, map[string]int64{}}
}

// take makes a line part of it; false: it says nothing of conduct. Nobody is deaf
// for longer than two days in a week, so that no endpoint is switched off.
func (c *conduct) take(l line, now int64) bool {
	switch l.verb {
	case "answers":
		c.posts[l.at(0)] = l
	case "bids":
		c.pings[l.at(0)] = l
	case "hears":
		const day = int64(24 * time.Hour)
		if until := c.deaf[l.at(0)]; l.at(1) == "nothing" && now > until+5*day {
			c.deaf[l.at(0)] = now + 2*day
		} else if l.at(1) != "nothing" {
			c.deaf[l.at(0)] = min(until, now)
		}
	default:
		return false
	}
	return true
}

// reply is how one attempt to post is met.
type reply struct {
	after time.Duration // over the timeout: it hangs
	what  string        // accept refuse forbid fail forget unreached busy
	again time.Duration // of busy: when it may be tried again
}

func (c *conduct) post(buyer string) reply {
	l, ok := c.posts[buyer]
	r := reply{after: l.duration("in", 0), what: "accept", again: l.duration("again", time.Second)}
	switch {
	case !ok:
	case l.at(1) == "hang":
		r.after, r.what = postTimeout, "fail"
	default:
		r.what = l.at(1)
	}
	return r
}

// forgetful is how a buyer answers that takes a lead, closes without a byte, and
// refuses each repeat.
func forgetful(again bool) string {
	if again {
		return "refuse"
	}
	return "fail"
}

// offer is how one ping is met.
type offer struct {
	after  time.Duration
	what   string // bid none error garbage throttle euro hang
	amount int64
}

func (c *conduct) bid(buyer, ref string) offer {
	l, ok := c.pings[buyer]
	if !ok {
		return offer{what: "bid", amount: 10_000_000}
	}
	o := offer{after: l.duration("in", 0), what: l.at(1), amount: l.money("base")}
	if spread := l.number("spread", 0); spread > 0 {
		sum := fnv.New32a()
		sum.Write([]byte(ref))
		o.amount += int64(sum.Sum32()) % spread * l.money("step")
	}
	if o.what == "hang" {
		o.after = time.Hour
	}
	return o
}
