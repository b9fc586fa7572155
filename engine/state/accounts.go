package state

import (
	"math"
	"sync"

	"pingpost/engine/market"
)

// buyerAccount is one buyer's money: its balance, the part that is held for posts that have not
// ended, and the part that requests in flight reserve. A buyer may spend until its balance is
// minus its credit limit.
type buyerAccount struct {
	buyerFunds
	reserved market.Money
	changeSignal
	lastCopied uint32 // see snapshotCopies

	// Callers cache the answer of lacksFundsAndRecordInvalidationThreshold until the free money falls below
	// shortBelow or rises to enoughAt.
	shortBelow, enoughAt market.Money
}

// buyerFunds is the part of an account that events change.
type buyerFunds struct {
	balance market.Money
	held    market.Money
	opened  bool // an event has set the opening balance
}

// buyerAccounts holds the accounts of all buyers under one lock: they are few, and each access is
// brief.
type buyerAccounts struct {
	mu     sync.Mutex
	byRef  map[market.PermanentNumber]*buyerAccount
	copies snapshotCopies[market.PermanentNumber, buyerFunds]

	availability *availabilityVersions
}

// beginSnapshot begins a snapshot of the accounts as they are now.
func (a *buyerAccounts) beginSnapshot() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.copies.begin(len(a.byRef))
}

// copyLocked copies an account for the newest snapshot before it changes. The caller holds mu.
func (a *buyerAccounts) copyLocked(buyer market.PermanentNumber, acc *buyerAccount) {
	a.copies.addOnce(&acc.lastCopied, buyer, acc.buyerFunds)
}

// getOrCreateAccountLocked returns the buyer's account, and creates it if necessary. The caller
// holds mu.
func (a *buyerAccounts) getOrCreateAccountLocked(buyer market.PermanentNumber) *buyerAccount {
	acc := a.byRef[buyer]
	if acc == nil {
		acc = &buyerAccount{shortBelow: math.MinInt64, enoughAt: math.MaxInt64, lastCopied: a.copies.snapshot}
		a.byRef[buyer] = acc
	}
	return acc
}

// reserveFunds reserves price of the buyer's money, which may go down to minus creditLimit. If
// the result is Contended, the channel closes at the account's next change. It is created under
// the lock, so the caller cannot miss that change.
func (a *buyerAccounts) reserveFunds(buyer market.PermanentNumber, price, creditLimit market.Money) (result ReserveResult, accountChanged <-chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	acc := a.getOrCreateAccountLocked(buyer)
	free := acc.balance + creditLimit - acc.held
	switch {
	case price > free:
		return Full, nil
	case price > free-acc.reserved:
		return Contended, acc.nextChangeChannelLocked()
	}
	acc.reserved += price
	return Reserved, nil
}

// lacksFundsAndRecordInvalidationThreshold reports whether the buyer has less than price left, including its
// credit limit. It counts applied events alone, without reservations. It remembers the thresholds
// of its answers, so that adjustBalanceAndHeldFunds knows when a cached answer is no longer valid.
func (a *buyerAccounts) lacksFundsAndRecordInvalidationThreshold(buyer market.PermanentNumber, price, creditLimit market.Money) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	acc := a.getOrCreateAccountLocked(buyer)
	threshold := price - creditLimit
	if acc.balance-acc.held < threshold {
		acc.enoughAt = min(acc.enoughAt, threshold)
		return true
	}
	acc.shortBelow = max(acc.shortBelow, threshold)
	return false
}

// releaseFunds ends a reservation of price, and wakes the requests that wait for the buyer's
// money.
func (a *buyerAccounts) releaseFunds(buyer market.PermanentNumber, price market.Money) {
	a.mu.Lock()
	defer a.mu.Unlock()
	acc := a.getOrCreateAccountLocked(buyer)
	acc.reserved -= price
	if acc.reserved < 0 {
		panic("BUG: a reservation of funds was released twice")
	}
	acc.wakeWaitersLocked()
}

// adjustBalanceAndHeldFunds adds an event's changes to the buyer's balance and to its held money. It
// raises the availability versions of the buyer's campaigns if a cached answer of
// lacksFundsAndRecordInvalidationThreshold is no longer valid.
func (a *buyerAccounts) adjustBalanceAndHeldFunds(buyer market.PermanentNumber, balanceChange, heldChange market.Money) {
	if buyer == 0 || (balanceChange == 0 && heldChange == 0) {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	acc := a.getOrCreateAccountLocked(buyer)
	a.copyLocked(buyer, acc)
	acc.balance += balanceChange
	acc.held += heldChange
	free := acc.balance - acc.held
	if free < acc.shortBelow || free >= acc.enoughAt {
		acc.shortBelow, acc.enoughAt = math.MinInt64, math.MaxInt64
		a.availability.raiseForBuyer(buyer)
	}
	acc.wakeWaitersLocked()
}

// sumOfEntryHashes returns the accounts' part of State.Hash: the sum of the hashes of all accounts,
// without reservations.
func (a *buyerAccounts) sumOfEntryHashes() (sum uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for ref, acc := range a.byRef {
		if acc.balance == 0 && acc.held == 0 && !acc.opened {
			continue // a read created it, not an event
		}
		sum += newRunningHash(5).addWord(uint64(ref)).addWord(uint64(acc.balance)).addWord(uint64(acc.held)).addWord(boolAsUint(acc.opened)).sum()
	}
	return sum
}

// boolAsUint returns 1 for true and 0 for false, for hashes and encodings.
func boolAsUint(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// AppliedBuyerFunds is a buyer's balance, and the part of it that is held for posts that have not ended,
// after the event Seq.
type AppliedBuyerFunds struct {
	Seq           uint64 // the last applied event, of any kind
	At            int64  // its batch's time, Unix nanoseconds
	Balance, Held market.Money
	Opened        bool // an event has set the opening balance
}

// AppliedBuyerFunds returns a buyer's balance and held money, together with the sequence of the last
// applied event. It leaves out reservations. Without an account, balance and held money are zero.
func (s *State) AppliedBuyerFunds(buyer market.PermanentNumber) AppliedBuyerFunds {
	s.applying.Lock()
	defer s.applying.Unlock()
	a := AppliedBuyerFunds{Seq: s.seq, At: s.at}
	s.accounts.mu.Lock()
	defer s.accounts.mu.Unlock()
	if acc := s.accounts.byRef[buyer]; acc != nil {
		a.Balance, a.Held, a.Opened = acc.balance, acc.held, acc.opened
	}
	return a
}
