package auction

import (
	"testing"

	"pingpost/engine/market"
)

func TestLateAnswerIsIgnored(t *testing.T) {
	c := newBidCollector(NewRunner(RunnerOptions{Clock: testClock{}}))
	c.add()
	c.add()
	c.users.Store(3)
	bid := market.BuyerPingResult{Bid: market.Bid{Amount: 7}}
	c.recordAnswerUnlessOver(0, &bid, 5)
	c.over = true
	c.recordAnswerUnlessOver(1, &bid, 6)
	if c.pings[0].answeredAt != 5 || c.pings[0].result.Bid.Amount != 7 || c.pings[1].answeredAt != 0 || c.pings[1].result.Bid.Amount != 0 {
		t.Errorf("got answers %+v", c.pings)
	}
	if c.answered != 1 || len(c.last) != 0 {
		t.Errorf("%d answers, %d ends", c.answered, len(c.last))
	}
}

// The last user empties a collector, and no earlier one does.
func TestCollectorIsEmptiedByLastUser(t *testing.T) {
	c := newBidCollector(NewRunner(RunnerOptions{Clock: testClock{}}))
	c.users.Store(1)
	p := c.add()
	c.bodies = append(c.bodies, "body"...)
	p.request.Body = c.bodies
	c.users.Add(1)
	c.endUseAndRecycleIfLast()
	if len(c.pings) != 1 || string(c.pings[0].request.Body) != "body" {
		t.Fatal("the collector was emptied while a ping was in flight")
	}
	c.last <- struct{}{} // the last answer and the deadline at once
	c.over = true
	bodies := make([]byte, maxKeptBodyBytes+1)
	c.bodies = bodies
	c.endUseAndRecycleIfLast()
	if len(c.pings) != 0 || c.over || c.answered != 0 || len(c.last) != 0 || c.bodies != nil || c.pings[:1][0].request.Body != nil {
		t.Errorf("the collector was not emptied: %+v", c)
	}
}
