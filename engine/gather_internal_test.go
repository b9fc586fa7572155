package engine

import (
	"testing"

	"pingpost/engine/market"
)

// An answer that comes when the gathering is over changes nothing.
func TestNothingIsHeardAfterTheEnd(t *testing.T) {
	e := New(Options{Clock: timePorts{}})
	g := newGathering(e)
	g.add().seat, g.add().seat = 1, 2
	g.users.Store(3)
	bid := market.PingResult{Bid: market.Bid{Amount: 7}}
	g.answer(0, &bid, 5)
	g.over = true
	g.answer(1, &bid, 6)
	if g.pings[0].came != 5 || g.pings[0].result.Bid.Amount != 7 || g.pings[1].came != 0 || g.pings[1].result.Bid.Amount != 0 {
		t.Errorf("heard %+v", g.pings)
	}
	if g.answered != 1 || len(g.last) != 0 {
		t.Errorf("%d answers, %d ends", g.answered, len(g.last))
	}
}

// A gathering is emptied by the last who uses it, and not before.
func TestAGatheringOutlivesItsLaggards(t *testing.T) {
	e := New(Options{Clock: timePorts{}})
	g := newGathering(e)
	g.users.Store(1)
	p := g.add()
	g.bodies = append(g.bodies, "body"...)
	p.req.Body = g.bodies
	g.users.Add(1)
	g.release()
	if len(g.pings) != 1 || string(g.pings[0].req.Body) != "body" {
		t.Fatal("it was emptied while a ping was under way")
	}
	g.last <- struct{}{} // the last answer and the deadline at once
	g.over = true
	bodies := make([]byte, keptBodies+1)
	g.bodies = bodies
	g.release()
	if len(g.pings) != 0 || g.over || g.answered != 0 || len(g.last) != 0 || g.bodies != nil || g.pings[:1][0].req.Body != nil {
		t.Errorf("it was not emptied: %+v", g)
	}
}
