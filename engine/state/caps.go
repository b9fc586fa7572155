package state

import (
	"math"
	"sync"
	"sync/atomic"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// Room is what an attempt to reserve finds.
type Room uint8

const (
	RoomTaken   Room = 1 // reserved
	RoomFull    Room = 2 // by facts alone there is none: final
	RoomBlocked Room = 3 // only other requests' reservations stand in the way: wait, then ask again
)

// A capCell counts one cap in its present window.
//
// What is applied (window, used) changes by facts alone. What is reserved
// belongs to requests in flight and to the window they decided in (heldWindow).
// For a decision at window w both are read as zero where they are of an earlier
// window, and where either is of a later one, the decision joins that: clocks
// disagree and requests are slow, but the cell's windows never go back. A fact
// or a reservation of a window that has passed is let go: nobody will ask for
// that window again. Room is promised only while
// used + reserved + amount <= limit, and every promise is either applied or
// released, so no limit is exceeded at any concurrency.
type capCell struct {
	mu         sync.Mutex
	window     int64 // start of the window that used counts, Unix nanoseconds
	used       int64
	heldWindow int64
	reserved   int64
	changed    chan struct{} // closed at the next change; nil while nobody waits

	start, end int64 // of the window that was computed last

	// Those who asked whether the cap is full keep the answer until used rises
	// above shuts or falls to opens: the nearest of all their thresholds.
	shuts, opens int64
}

// caps holds the cells by the cap's Ref. The slice only grows, beyond the end
// that those who have it already know of.
type caps struct {
	cells  atomic.Pointer[[]*capCell]
	keysMu sync.RWMutex
	keys   []market.CapKey // by Ref
}

func (c *caps) cell(ref market.Ref) *capCell {
	cells := c.cells.Load()
	if cells == nil || int(ref) >= len(*cells) || ref == 0 {
		panic("BUG: a cap that no catalog has numbered")
	}
	return (*cells)[ref]
}

// add gives the cap named key the next number, which must be ref.
func (c *caps) add(ref market.Ref, key market.CapKey) {
	c.keysMu.Lock()
	defer c.keysMu.Unlock()
	var cells []*capCell
	if now := c.cells.Load(); now != nil {
		cells = *now
	}
	if len(cells) == 0 {
		cells = []*capCell{nil} // no cap has number zero
		c.keys = make([]market.CapKey, 1)
	}
	if int(ref) != len(cells) {
		panic("BUG: caps are numbered one after the other")
	}
	grown := append(cells, &capCell{shuts: math.MaxInt64, opens: math.MinInt64})
	c.keys = append(c.keys, key)
	c.cells.Store(&grown)
}

// reserve asks for amount in the window that now lies in. What of it the fact
// gives back itself (credit, in its own window) needs no room. It returns what
// it reserved and the window's start; where it is blocked, the channel to wait
// on, made before anyone can end what blocks it.
func (c *capCell) reserve(limit *market.Cap, amount int64, credit event.Charge, now int64) (room Room, held event.Charge, wait <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	window := max(c.windowAt(limit, now), c.window, c.heldWindow)
	if credit.Window == window {
		amount -= credit.Amount
	}
	var used, reserved int64
	if c.window == window {
		used = c.used
	}
	if c.heldWindow == window {
		reserved = c.reserved
	}
	switch {
	case used+amount > limit.Limit:
		return RoomFull, held, nil
	case used+reserved+amount > limit.Limit:
		return RoomBlocked, held, c.waitLocked()
	}
	held = event.Charge{Cap: limit.Ref, Window: window, Amount: max(0, amount)}
	c.heldWindow, c.reserved = window, reserved+held.Amount
	return RoomTaken, held, nil
}

// full tells whether facts alone leave no room for amount at now.
func (c *capCell) full(limit *market.Cap, amount, now int64) (full bool, until int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	window := c.windowAt(limit, now)
	used := int64(0)
	if c.window >= window {
		used = c.used
	}
	threshold := limit.Limit - amount
	if used > threshold {
		c.opens = max(c.opens, threshold)
		return true, c.end
	}
	c.shuts = min(c.shuts, threshold)
	return false, c.end
}

// windowAt is the start of the window at now; computing one reads the zone's
// rules, so the last is kept.
func (c *capCell) windowAt(limit *market.Cap, now int64) int64 {
	if now < c.start || now >= c.end {
		c.start, c.end = limit.Period.Window(now, limit.Zone)
	}
	return c.start
}

// release gives a reservation up, or ends one whose fact is applied.
func (c *capCell) release(window, amount int64) {
	c.mu.Lock()
	if c.heldWindow == window {
		c.reserved -= amount
		if c.reserved < 0 {
			panic("BUG: a cap's reservation was released twice")
		}
	}
	c.wakeLocked()
	c.mu.Unlock()
}

// charge applies a fact; a negative amount gives back. It tells whether an
// answer of full no longer stands.
func (c *capCell) charge(window, amount int64) (crossed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case window == c.window:
		c.used += amount
	case window > c.window && amount > 0:
		c.window, c.used = window, amount
	}
	if c.used > c.shuts || c.used <= c.opens {
		c.shuts, c.opens = math.MaxInt64, math.MinInt64
		crossed = true
	}
	c.wakeLocked()
	return crossed
}

func (c *capCell) wakeLocked() {
	if c.changed != nil {
		close(c.changed)
		c.changed = nil
	}
}

// waitLocked returns a channel that is closed at the cell's next change.
func (c *capCell) waitLocked() <-chan struct{} {
	if c.changed == nil {
		c.changed = make(chan struct{})
	}
	return c.changed
}

// charge applies a sale's charges.
func (c *caps) charge(charges []event.Charge) (crossed bool) { return c.swap(nil, charges) }

// swap gives back what one sale took and takes what the next one takes. Where
// both charge one window of one cap that is a single change: in between, the
// room would be free for anyone, though it was never given up.
func (c *caps) swap(back, take []event.Charge) (crossed bool) {
	for i := range take {
		amount := take[i].Amount - chargeOf(back, &take[i]).Amount
		crossed = c.cell(take[i].Cap).charge(take[i].Window, amount) || crossed
	}
	for i := range back {
		if chargeOf(take, &back[i]).Cap == 0 {
			crossed = c.cell(back[i].Cap).charge(back[i].Window, -back[i].Amount) || crossed
		}
	}
	return crossed
}

// chargeOf finds the charge of the same window of the same cap.
func chargeOf(charges []event.Charge, like *event.Charge) event.Charge {
	for _, charge := range charges {
		if charge.Cap == like.Cap && charge.Window == like.Window {
			return charge
		}
	}
	return event.Charge{}
}

func (c *caps) digest() (sum uint64) {
	cells := c.cells.Load()
	if cells == nil {
		return 0
	}
	for ref, cell := range *cells {
		if cell == nil {
			continue
		}
		key := &c.keys[ref]
		sum += newDigest(4).word(uint64(ref)).word(uint64(key.Scope) | uint64(key.Unit)<<8 | uint64(key.Period)<<16).
			word(uint64(key.Campaign) | uint64(key.Buyer)<<32).bytes([]byte(key.Zone)).
			word(uint64(cell.window)).word(uint64(cell.used)).sum()
	}
	return sum
}
