package state

import (
	"math"
	"sync"

	"pingpost/engine/market"
)

// An account is one buyer's money: what it has (balance), what open posts hold
// of it, and what requests in flight reserve. A buyer may spend down to minus
// its credit limit.
type account struct {
	balance  market.Money
	held     market.Money
	opened   bool // the opening balance was written
	reserved market.Money
	changed  chan struct{} // closed at the next change; nil while nobody waits

	// Those who asked whether the money is short keep the answer until what is
	// free falls below shuts or rises to opens.
	shuts, opens market.Money
}

// accounts are few and touched briefly, so one lock guards them all.
type accounts struct {
	mu    sync.Mutex
	byRef map[market.Ref]*account
}

func (a *accounts) getLocked(buyer market.Ref) *account {
	acc := a.byRef[buyer]
	if acc == nil {
		acc = &account{shuts: math.MinInt64, opens: math.MaxInt64}
		a.byRef[buyer] = acc
	}
	return acc
}

// reserve asks for price of the buyer's money. Where it is blocked it returns
// the channel to wait on, made before anyone can end what blocks it.
func (a *accounts) reserve(buyer market.Ref, price, credit market.Money) (Room, <-chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	acc := a.getLocked(buyer)
	free := acc.balance + credit - acc.held
	switch {
	case price > free:
		return RoomFull, nil
	case price > free-acc.reserved:
		return RoomBlocked, acc.waitLocked()
	}
	acc.reserved += price
	return RoomTaken, nil
}

// short tells whether facts alone leave less than price.
func (a *accounts) short(buyer market.Ref, price, credit market.Money) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	acc := a.getLocked(buyer)
	threshold := price - credit
	if acc.balance-acc.held < threshold {
		acc.opens = min(acc.opens, threshold)
		return true
	}
	acc.shuts = max(acc.shuts, threshold)
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
	acc.wakeLocked()
}

// move applies a fact to the balance and to what is held. It tells whether an
// answer of short no longer stands.
func (a *accounts) move(buyer market.Ref, balance, held market.Money) (crossed bool) {
	if buyer == 0 || (balance == 0 && held == 0) {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	acc := a.getLocked(buyer)
	acc.balance += balance
	acc.held += held
	free := acc.balance - acc.held
	if free < acc.shuts || free >= acc.opens {
		acc.shuts, acc.opens = math.MinInt64, math.MaxInt64
		crossed = true
	}
	acc.wakeLocked()
	return crossed
}

func (acc *account) wakeLocked() {
	if acc.changed != nil {
		close(acc.changed)
		acc.changed = nil
	}
}

func (acc *account) waitLocked() <-chan struct{} {
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
			continue // made by a look, not by a fact
		}
		sum += newDigest(5).word(uint64(ref)).word(uint64(acc.balance)).word(uint64(acc.held)).word(flag(acc.opened)).sum()
	}
	return sum
}

func flag(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// Account is a buyer's money as it stands after one fact.
type Account struct {
	Seq           uint64 // of the fact
	At            int64  // its batch's time, Unix nanoseconds
	Balance, Held market.Money
	Opened        bool // the opening balance was written
}

// Account looks at a buyer's money between two facts.
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
