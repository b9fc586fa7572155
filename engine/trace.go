package engine

import (
	"encoding/binary"
	"encoding/hex"

	"pingpost/engine/auction"
	"pingpost/engine/market"
)

// Trace is what a traced request has gone through, noted as it goes: when its facts
// were on their way to the disk, and each call of a buyer. Whoever began it draws it,
// once the request has its answer. It has ids, sizes, times and outcomes, and nothing
// that a supplier or a buyer has written. It belongs to the request's goroutine.
//
// The nil one is of a request that is not traced: it notes nothing and costs nothing.
//
// Rejected: a port that is told of each step. It would be called on the way of every
// request, and the spans' beginnings and ends would be matched where they are noted.
type Trace struct {
	ID   [16]byte // W3C's trace-id: of all that this request is a part of
	Span uint64   // the last span's id that was given; the next one's is one more

	Lead     market.LeadID
	Campaign string
	Auction  market.AuctionID
	Held     Stretch // the auction, from the first ping to the last answer; zero: none was held
	Commits  []Stretch
	Calls    []Call
	LeftOut  int // calls beyond mostCalls
}

// Stretch is a part of a request's time, in Unix nanoseconds.
type Stretch struct{ From, To int64 }

// Call is one request to a buyer.
type Call struct {
	Stretch
	Span    uint64 // its id, which the buyer was told
	Post    bool   // a lead, and not a question for a bid
	Buyer   string
	Outcome string // of a ping what its seat came to in the end; of a post its verdict, or pending
	Fault   market.Fault
	Status  int // of the answer; 0 without one
	Bytes   int // of the body that was sent
	seat    int
}

// mostCalls is how many calls of one request are noted.
const mostCalls = 1024

// callPending is a post that nobody waits for any more: its supplier has the answer.
const callPending = "pending"

// trace is the request's trace, or nil.
func (t *Timings) trace() *Trace {
	if t == nil {
		return nil
	}
	return t.Trace
}

// Next gives a span its id.
func (t *Trace) Next() uint64 {
	if t.Span++; t.Span == 0 { // which stands for none
		t.Span++
	}
	return t.Span
}

// StartCall returns the id of a new span, and the W3C traceparent header for the buyer. It
// implements auction.Tracer.
func (t *Trace) StartCall() (span uint64, traceparent string) {
	if t == nil {
		return 0, ""
	}
	span = t.Next()
	var text [55]byte
	copy(text[:], "00-")
	hex.Encode(text[3:35], t.ID[:])
	text[35] = '-'
	hex.Encode(text[36:52], binary.BigEndian.AppendUint64(nil, span))
	copy(text[52:], "-01")
	return span, string(text[:])
}

// add notes a call, and tells where; -1: there are too many.
func (t *Trace) add(c Call) int {
	if len(t.Calls) >= mostCalls {
		t.LeftOut++
		return -1
	}
	t.Calls = append(t.Calls, c)
	return len(t.Calls) - 1
}

// Commit notes that facts were on their way to the disk.
func (t *Trace) Commit(from, to int64) {
	if t != nil {
		t.Commits = append(t.Commits, Stretch{from, to})
	}
}

// about notes whose lead the request brings.
func (t *Trace) about(lead market.LeadID, campaign *market.Campaign) {
	if t != nil {
		t.Lead, t.Campaign = lead, string(campaign.ID)
	}
}

// AddPing implements auction.Tracer. The outcome follows later: see setPingOutcomes.
func (t *Trace) AddPing(span uint64, filterSet int, buyer market.BuyerID, from, to int64, result *market.PingResult, bodySize int) {
	to = max(from, to)
	if t.Held == (Stretch{}) {
		t.Held = Stretch{from, to}
	}
	t.Held.To = max(t.Held.To, to)
	t.add(Call{
		Stretch: Stretch{from, to}, Span: span, Buyer: string(buyer),
		Fault: result.Fault, Status: max(0, result.Status), Bytes: bodySize, seat: filterSet,
	})
}

// setAuction records an auction that had pings.
func (t *Trace) setAuction(id market.AuctionID, campaign *market.Campaign) {
	if t != nil && t.Held != (Stretch{}) {
		t.Auction, t.Campaign = id, string(campaign.ID)
	}
}

// setPingOutcomes records the final outcome of each ping.
func (t *Trace) setPingOutcomes(a *auction.Auction) {
	if t == nil || !a.IsHeld() {
		return
	}
	for i := range t.Calls {
		if call := &t.Calls[i]; !call.Post {
			call.Outcome = a.OutcomeOf(call.seat).String()
		}
	}
}

// tracedTry is the try under way of a courier whose request is traced.
type tracedTry struct {
	of *Trace // nil: it is not traced, or has its answer
	at int    // which of its calls
}

// begin notes a try, and gives what its buyer is told of it.
func (t *tracedTry) begin(c *courier, now int64) (parent string) {
	if t.of == nil {
		return ""
	}
	span, parent := t.of.StartCall()
	if auction := c.post.Intent.Auction; !auction.IsZero() {
		t.of.Auction = auction
	}
	t.at = t.of.add(Call{
		Stretch: Stretch{now, now}, Span: span, Post: true, Outcome: callPending, Bytes: len(c.body), Buyer: c.buyer(),
	})
	return parent
}

// end notes what the try came to.
func (t *tracedTry) end(result *market.PostResult, now int64) {
	if t.of == nil || t.at < 0 {
		return
	}
	call := &t.of.Calls[t.at]
	call.To, call.Outcome, call.Fault, call.Status = now, result.Verdict.String(), result.Fault, max(0, result.Status)
}

// leave lets go of the request, which has its answer; what is tried after that is in
// no trace. A try that is under way lasts until now there.
func (t *tracedTry) leave(now int64) {
	if t.of != nil && t.at >= 0 && t.at < len(t.of.Calls) && t.of.Calls[t.at].Outcome == callPending {
		t.of.Calls[t.at].To = now
	}
	*t = tracedTry{}
}
