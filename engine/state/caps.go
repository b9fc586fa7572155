package state

import (
	"math"
	"sync"
	"sync/atomic"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// ReserveResult is the result of an attempt to reserve a cap, funds or a duplicate value.
type ReserveResult uint8

const (
	Reserved  ReserveResult = 1
	Full      ReserveResult = 2 // the applied events alone leave no capacity: final
	Contended ReserveResult = 3 // only other requests' reservations are in the way: wait, then retry
)

// capCounter counts the use of one cap in its current window.
//
// Events alone change the applied part (window, used). The reserved part belongs to requests in
// flight and to the window in which they decided (reservedWindow). A decision in window w reads
// either part as zero if that part is of an earlier window. If either part is of a later window,
// the decision joins that window: clocks differ and requests are slow, but the windows of a
// counter never go back. An event or a release of a past window is dropped, because no request
// asks for that window again. A reservation succeeds only while used + reserved + amount <=
// limit, and every reservation is either applied or released. So concurrent requests never exceed
// a limit.
type capCounter struct {
	mu sync.Mutex
	capUse
	reservedWindow int64
	reserved       int64
	changeSignal

	start, end int64 // of the window that was computed last

	// Callers cache the answer of isFullAndRecordInvalidationThreshold until used rises above fullAbove
	// or falls to freeAt, the nearest of all their thresholds.
	fullAbove, freeAt int64

	atSnapshot capUse // when the snapshot lastCopied began
	lastCopied uint32
}

// capUse is the part of a cap's counter that events change.
type capUse struct {
	window int64 // start of the window that used counts, Unix nanoseconds
	used   int64
}

// capCounters holds the counter of each cap, indexed by the cap's number (Ref). Readers load the
// slice without a lock: add only appends behind the length that they know.
type capCounters struct {
	cells  atomic.Pointer[[]*capCounter]
	keysMu sync.RWMutex
	keys   []market.CapKey // by Ref

	availability *availabilityVersions

	snapshot       uint32          // number of the newest snapshot
	keysAtSnapshot []market.CapKey // keys when it began
}

// beginSnapshot begins a snapshot of the caps as they are now. The caller blocks Apply.
func (c *capCounters) beginSnapshot() { c.snapshot, c.keysAtSnapshot = c.snapshot+1, c.keys }

// useAtSnapshot returns the cap's use when the newest snapshot began, which has this number.
func (c *capCounter) useAtSnapshot(snapshot uint32) capUse {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.copyLocked(snapshot)
	return c.atSnapshot
}

// copyLocked copies the cap's use for the newest snapshot before it changes. The caller holds mu.
func (c *capCounter) copyLocked(snapshot uint32) {
	if c.lastCopied != snapshot {
		c.lastCopied, c.atSnapshot = snapshot, c.capUse
	}
}

// mustFindCounter returns the counter of the cap with this number. An unknown number is a bug and
// panics.
func (c *capCounters) mustFindCounter(ref market.PermanentNumber) *capCounter {
	cells := c.cells.Load()
	if cells == nil || int(ref) >= len(*cells) || ref == 0 {
		panic("BUG: no event has given this cap a number")
	}
	return (*cells)[ref]
}

// add appends a counter for the cap that key identifies. ref must be the next free number.
func (c *capCounters) add(ref market.PermanentNumber, key market.CapKey) {
	c.keysMu.Lock()
	defer c.keysMu.Unlock()
	var cells []*capCounter
	if now := c.cells.Load(); now != nil {
		cells = *now
	}
	if len(cells) == 0 {
		cells = []*capCounter{nil} // no cap has number zero
		c.keys = make([]market.CapKey, 1)
	}
	if int(ref) != len(cells) {
		panic("BUG: the number of a new cap is not the next free number")
	}
	grown := append(cells, &capCounter{fullAbove: math.MaxInt64, freeAt: math.MinInt64})
	c.keys = append(c.keys, key)
	c.cells.Store(&grown)
}

// reserveCapacity reserves amount of the cap limit in the window that contains nowUnixNanos.
// refusedSaleCharge is an earlier charge that the same event gives back; in its own window this
// charge needs no new capacity.
//
// The reservation names the window and the amount that was reserved. If the result is Contended,
// capacityChanged closes at the counter's next change. It is created under the lock, so the
// caller cannot miss that change.
func (c *capCounter) reserveCapacity(limit *market.Cap, amount int64, refusedSaleCharge event.CapCharge, nowUnixNanos int64) (result ReserveResult, reservation event.CapCharge, capacityChanged <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	window := max(c.windowStartAt(limit, nowUnixNanos), c.window, c.reservedWindow)
	if refusedSaleCharge.Window == window {
		amount -= refusedSaleCharge.Amount
	}
	var used, reserved int64
	if c.window == window {
		used = c.used
	}
	if c.reservedWindow == window {
		reserved = c.reserved
	}
	switch {
	case used+amount > limit.Limit:
		return Full, reservation, nil
	case used+reserved+amount > limit.Limit:
		return Contended, reservation, c.nextChangeChannelLocked()
	}
	reservation = event.CapCharge{Cap: limit.Ref, Window: window, Amount: max(0, amount)}
	c.reservedWindow, c.reserved = window, reserved+reservation.Amount
	return Reserved, reservation, nil
}

// isFullAndRecordInvalidationThreshold reports whether the window that contains nowUnixNanos has less than
// saleAmount left by applied events alone, without reservations. windowEndUnixNanos is the end of
// that window. It remembers the threshold of its answer, so that applyCharge knows when a cached
// answer is no longer valid.
func (c *capCounter) isFullAndRecordInvalidationThreshold(limit *market.Cap, saleAmount, nowUnixNanos int64) (full bool, windowEndUnixNanos int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	window := c.windowStartAt(limit, nowUnixNanos)
	used := int64(0)
	if c.window >= window {
		used = c.used
	}
	threshold := limit.Limit - saleAmount
	if used > threshold {
		c.freeAt = max(c.freeAt, threshold)
		return true, c.end
	}
	c.fullAbove = min(c.fullAbove, threshold)
	return false, c.end
}

// windowStartAt returns the start of the window that contains nowUnixNanos. The counter caches the last
// window, because computing a window reads the rules of the time zone.
func (c *capCounter) windowStartAt(limit *market.Cap, nowUnixNanos int64) (startUnixNanos int64) {
	if nowUnixNanos < c.start || nowUnixNanos >= c.end {
		c.start, c.end = limit.Period.WindowContaining(nowUnixNanos, limit.Zone)
	}
	return c.start
}

// releaseCapacity ends a reservation of amount in the window. Callers call it after the
// reservation's event was applied, or when its request gives up.
func (c *capCounter) releaseCapacity(windowStartUnixNanos, amount int64) {
	c.mu.Lock()
	if c.reservedWindow == windowStartUnixNanos {
		c.reserved -= amount
		if c.reserved < 0 {
			panic("BUG: a cap's reservation was released twice")
		}
	}
	c.wakeWaitersLocked()
	c.mu.Unlock()
}

// applyCharge adds an event's amount to the window's use; a negative amount gives capacity back.
// It drops an amount of a past window. availabilityMayChange reports that an answer of
// isFullAndRecordInvalidationThreshold, which callers cache, is no longer valid. newestSnapshot is the
// number of a snapshot that may still need the use before the change.
func (c *capCounter) applyCharge(windowStartUnixNanos, amount int64, newestSnapshot uint32) (availabilityMayChange bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.copyLocked(newestSnapshot)
	switch {
	case windowStartUnixNanos == c.window:
		c.used += amount
	case windowStartUnixNanos > c.window && amount > 0:
		c.window, c.used = windowStartUnixNanos, amount
	}
	if c.used > c.fullAbove || c.used <= c.freeAt {
		c.fullAbove, c.freeAt = math.MaxInt64, math.MinInt64
		availabilityMayChange = true
	}
	c.wakeWaitersLocked()
	return availabilityMayChange
}

// changeSignal notifies requests of the next change of a cap counter or an account. The lock of
// its owner guards it.
type changeSignal struct {
	changed chan struct{} // closed at the next change; nil: no request waits
}

// wakeWaitersLocked wakes the requests that wait for a change. The caller holds the owner's lock.
func (c *changeSignal) wakeWaitersLocked() {
	if c.changed != nil {
		close(c.changed)
		c.changed = nil
	}
}

// nextChangeChannelLocked returns a channel that closes at the next change. The caller holds the
// owner's lock.
func (c *changeSignal) nextChangeChannelLocked() <-chan struct{} {
	if c.changed == nil {
		c.changed = make(chan struct{})
	}
	return c.changed
}

// applyCharges counts a sale's charges in their caps.
func (c *capCounters) applyCharges(charges []event.CapCharge) { c.replaceCharges(nil, charges) }

// replaceCharges gives back the charges of one sale and applies those of the next sale. If both
// charge one window of one cap, it makes a single change. Otherwise another request could take
// the capacity in between, though the lead never gave it up.
func (c *capCounters) replaceCharges(returned, charged []event.CapCharge) {
	for i := range charged {
		amount := charged[i].Amount - findChargeOfSameCapAndWindow(returned, &charged[i]).Amount
		c.applyCharge(charged[i].Cap, charged[i].Window, amount)
	}
	for i := range returned {
		if findChargeOfSameCapAndWindow(charged, &returned[i]).Cap == 0 {
			c.applyCharge(returned[i].Cap, returned[i].Window, -returned[i].Amount)
		}
	}
}

// applyCharge adds an event's amount to the use of the cap ref. It raises the availability versions of the
// cap's campaigns if a cached answer of isFullAndRecordInvalidationThreshold is no longer valid.
func (c *capCounters) applyCharge(ref market.PermanentNumber, windowStartUnixNanos, amount int64) {
	if c.mustFindCounter(ref).applyCharge(windowStartUnixNanos, amount, c.snapshot) {
		c.availability.raiseForCap(&c.keys[ref])
	}
}

// findChargeOfSameCapAndWindow returns the element of charges that has the cap and the window of like,
// or a zero charge.
func findChargeOfSameCapAndWindow(charges []event.CapCharge, like *event.CapCharge) event.CapCharge {
	for _, charge := range charges {
		if charge.Cap == like.Cap && charge.Window == like.Window {
			return charge
		}
	}
	return event.CapCharge{}
}

// sumOfEntryHashes returns the caps' part of State.Hash: the sum of the hashes of all counters, without
// reservations.
func (c *capCounters) sumOfEntryHashes() (sum uint64) {
	cells := c.cells.Load()
	if cells == nil {
		return 0
	}
	for ref, cell := range *cells {
		if cell == nil {
			continue
		}
		key := &c.keys[ref]
		hash := newRunningHash(4).addWord(uint64(ref)).addWord(uint64(key.Scope) | uint64(key.Unit)<<8 | uint64(key.Period)<<16).
			addWord(uint64(key.Campaign) | uint64(key.Buyer)<<32).addBytes([]byte(key.Zone)).
			addWord(uint64(cell.window)).addWord(uint64(cell.used))
		if key.Terms != "" { // so that logs without terms keep their hash
			hash = hash.addBytes([]byte(key.Terms))
		}
		sum += hash.sum()
	}
	return sum
}

// CapUsage is the use of a cap in its current window, for display to operators.
type CapUsage struct {
	Used        int64 // by applied events
	Reserved    int64 // by requests in progress
	From, Until int64 // Unix nanoseconds, the end exclusive
}

// CapUsage returns the use of the cap limit in the window that a decision at nowUnixNanos would charge.
func (s *State) CapUsage(limit *market.Cap, nowUnixNanos int64) (usage CapUsage) {
	cell := s.caps.mustFindCounter(limit.Ref)
	cell.mu.Lock()
	defer cell.mu.Unlock()
	window := max(cell.windowStartAt(limit, nowUnixNanos), cell.window, cell.reservedWindow)
	usage.From, usage.Until = limit.Period.WindowContaining(window, limit.Zone)
	if cell.window == window {
		usage.Used = cell.used
	}
	if cell.reservedWindow == window {
		usage.Reserved = cell.reserved
	}
	return usage
}

// AppliedCapUsage is the use of a cap by applied events alone.
type AppliedCapUsage struct {
	Seq    uint64 // the last applied event, of any kind
	Window int64  // start of the latest window with a charge, Unix nanoseconds
	Used   int64  // in that window
}

// AppliedCapUsages returns the use of the caps at one position of the log, with the position. The
// caps must have numbers.
func (s *State) AppliedCapUsages(caps []*market.Cap) []AppliedCapUsage {
	usages := make([]AppliedCapUsage, 0, len(caps))
	s.applying.Lock()
	defer s.applying.Unlock()
	for _, limit := range caps {
		cell := s.caps.mustFindCounter(limit.Ref)
		cell.mu.Lock()
		usages = append(usages, AppliedCapUsage{Seq: s.seq, Window: cell.window, Used: cell.used})
		cell.mu.Unlock()
	}
	return usages
}
