package sim

import (
	"hash/fnv"
	"time"
)

// postTimeout is the timeout of an attempt to post.
const postTimeout = 10 * time.Second

// conduct is the buyers' current behavior, by the last line about each. The simulated buyers
// and the model each have a copy, so that neither learns through the engine.
type conduct struct {
	posts, pings   map[string]line
	rejectingUntil map[string]int64 // end of the time in which a supplier rejects webhooks
}

func newConduct() *conduct {
	return &conduct{map[string]line{}, map[string]line{}, map[string]int64{}}
}

// applyLine applies a line. It returns false if the line is not about behavior. A supplier rejects
// webhooks for at most two days a week, so that the exchange never disables its webhook.
func (c *conduct) applyLine(l line, now int64) bool {
	switch l.verb {
	case "answers":
		c.posts[l.at(0)] = l
	case "bids":
		c.pings[l.at(0)] = l
	case "hears":
		const day = int64(24 * time.Hour)
		if until := c.rejectingUntil[l.at(0)]; l.at(1) == "nothing" && now > until+5*day {
			c.rejectingUntil[l.at(0)] = now + 2*day
		} else if l.at(1) != "nothing" {
			c.rejectingUntil[l.at(0)] = min(until, now)
		}
	default:
		return false
	}
	return true
}

// reply is the result of one attempt to post.
type reply struct {
	after time.Duration // longer than the timeout: the buyer hangs
	what  string        // accept refuse forbid fail forget unreached busy
	again time.Duration // Retry-After of busy
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

// forgetful returns the result of a buyer that accepts a lead, closes the connection without an
// answer, and refuses each repeat.
func forgetful(again bool) string {
	if again {
		return "refuse"
	}
	return "fail"
}

// offer is the result of one ping.
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
