package state

import (
	"math"
	"sync"

	"pingpost/engine/market"
)

// account is one buyer's money: its balance, the part that open posts hold, and the part
// that requests in flight reserve. A buyer may spend down to minus its credit limit.
type account struct {
	balance  market.Money
	held     market.Money
	opened   bool // an event has set the opening balance
	reserved market.Money
	changed  chan struct{} // closed at the next change; nil: no request waits

	// Callers cache the answer of lacksFunds until the free money falls below
	// shortBelow or rises to enoughAt.
	shortBelow, enoughAt market.Money
}

// accounts guards all accounts with one lock: they are few, and each access is brief.
type accounts struct {
	mu    sync.Mutex
	byRef map[market.Ref]*account
}

// getLocked returns the buyer's account, and creates it if necessary. The caller holds mu.
func (a *accounts) getLocked(buyer market.Ref) *account {
	acc := a.byRef[buyer]
	if acc == nil {
		acc = &account{shortBelow: math.MinInt64, enoughAt: math.MaxInt64}
		a.byRef[buyer] = acc
	}
	return acc
}

// reserve reserves price of the buyer's money. If the result is Contended, it returns the
// channel to wait on. The channel exists before any blocking reservation can end.
func (a *accounts) reserve(buyer market.Ref, price, credit market.Money) (ReserveResult, <-chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	acc := a.getLocked(buyer)
	free := acc.balance + credit - acc.held
	switch {
	case price > free:
		return Full, nil
	case price > free-acc.reserved:
		return Contended, acc.changedLocked()
	}
	acc.reserved += price
	return Reserved, nil
}

// lacksFunds reports whether the applied events alone leave less than price.
func (a *accounts) lacksFunds(buyer market.Ref, price, credit market.Money) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	acc := a.getLocked(buyer)
	threshold := price - credit
	if acc.balance-acc.held < threshold {
		acc.enoughAt = min(acc.enoughAt, threshold)
		return true
	}
	acc.shortBelow = max(acc.shortBelow, threshold)
	return false
}

func (a *accounts) release(buyer market.Ref, price market.Money) {
	a.mu.Lock()
	defer a.mu.Unlock()
	acc := a.getLocked(buyer)
	acc.reserved -= price
	if acc.reserved < 0 {
		panic("BUG: a reservation of funds was released twice")
	}
	acc.notifyLocked()
}

// adjust applies an event's change of the balance and of the held money. It reports whether
// an answer of lacksFunds is no longer valid.
func (a *accounts) adjust(buyer market.Ref, balance, held market.Money) (crossed bool) {
	if buyer == 0 || (balance == 0 && held == 0) {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	acc := a.getLocked(buyer)
	acc.balance += balance
	acc.held += held
	free := acc.balance - acc.held
	if free < acc.shortBelow || free >= acc.enoughAt {
		acc.shortBelow, acc.enoughAt = math.MinInt64, math.MaxInt64
		crossed = true
	}
	acc.notifyLocked()
	return crossed
}

func (acc *account) notifyLocked() {
	if acc.changed != nil {
		close(acc.changed)
		acc.changed = nil
	}
}

func (acc *account) changedLocked() <-chan struct{} {
	if acc.changed == nil {
		acc.changed = make(chan struct{})
	}
	return acc.changed
}

func (a *accounts) digest() (sum uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for ref, acc := range a.byRef {
		if acc.balance == 0 && acc.held == 0 && !acc.opened {
			continue // a read created it, not an event
		}
		sum += newDigest(5).addWord(uint64(ref)).addWord(uint64(acc.balance)).addWord(uint64(acc.held)).addWord(boolAsUint(acc.opened)).sum()
	}
	return sum
}

func boolAsUint(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// Account is a buyer's money after one event.
type Account struct {
	Seq           uint64 // of the event
	At            int64  // its batch's time, Unix nanoseconds
	Balance, Held market.Money
	Opened        bool // an event has set the opening balance
}

// Account returns a buyer's money, consistent with the last applied event.
func (s *State) Account(buyer market.Ref) Account {
	s.applying.Lock()
	defer s.applying.Unlock()
	a := Account{Seq: s.seq, At: s.at}
	s.accounts.mu.Lock()
	defer s.accounts.mu.Unlock()
	if acc := s.accounts.byRef[buyer]; acc != nil {
		a.Balance, a.Held, a.Opened = acc.balance, acc.held, acc.opened
	}
	return a
}
