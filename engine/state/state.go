package state

import (
	"bytes"
	"slices"
	"sync"
	"sync/atomic"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// State is the exchange's memory. Apply is for one goroutine; everything else
// is safe for many.
type State struct {
	leads     [shards]leadShard
	dups      [shards]dupShard
	keys      [shards]keyShard
	auctions  [shards]auctionShard
	outboxes  outboxes
	caps      caps
	accounts  accounts
	months    months
	undecided undecided
	turns     turns
	names     names
	access    access
	staff     staff
	unknowns  unknowns
	slots     slots

	reservations atomic.Int64
	doors        atomic.Uint64 // see DoorVersion

	// applying excludes Apply from copies of the state: a copy sees whole facts.
	applying sync.Mutex
	seq      uint64 // of the last fact applied
	at       int64  // its batch's time
	loaded   uint64 // facts up to this one came with the snapshot's ledger
	founded  event.Founded
	catalogs catalogs

	seen uint32 // by Look; keeps the looks from being left out
}

// New returns an empty state.
func New() *State {
	s := &State{names: newNames(), access: newAccess(), staff: newStaff()}
	s.accounts.byRef = make(map[market.Ref]*account)
	s.turns.byCampaign = make(map[market.Ref]*campaignTurns)
	s.months.byKey = make(map[monthKey]*monthCount)
	s.undecided.byLead = make(map[market.LeadID]Waiting)
	s.outboxes.changed, s.outboxes.limit = make(chan struct{}, 1), deadLetters
	return s
}

// Position is the last fact applied, and its batch's time in Unix nanoseconds.
func (s *State) Position() (seq uint64, at int64) {
	s.applying.Lock()
	defer s.applying.Unlock()
	return s.seq, s.at
}

// Founded is the fact that began the log; its epoch is zero in an empty one.
func (s *State) Founded() event.Founded {
	s.applying.Lock()
	defer s.applying.Unlock()
	return s.founded
}

// Hash is the sum of the hashes of all that the facts have made, with the
// position it stands at. Equal logs give equal hashes.
func (s *State) Hash() (seq uint64, hash uint64) {
	s.applying.Lock()
	defer s.applying.Unlock()
	sum := newDigest(15).wordsOf(&s.founded.Epoch).wordsOf(&s.founded.KeyCheck).
		word(uint64(s.founded.At)).word(uint64(s.catalogs.now.Version)).bytes([]byte(s.catalogs.now.Document)).sum()
	for i := range shards {
		sum += s.leads[i].sum() + s.dups[i].sum() + s.keys[i].sum() + s.auctions[i].sum()
	}
	sum += s.caps.digest() + s.accounts.digest() + s.months.digest() + s.turns.digest() + s.names.digest() + s.access.digest()
	sum += s.catalogs.digest()
	return s.seq, sum + s.undecided.digest() + s.outboxes.digest() + s.slots.digest() + s.staff.digest()
}

func (shard *leadShard) sum() uint64 {
	shard.mu.Lock()
	defer shard.mu.Unlock()
	sum := shard.table.sum
	for _, post := range shard.posts {
		sum += post.digest()
	}
	return sum
}

func (shard *dupShard) sum() uint64 {
	shard.mu.Lock()
	defer shard.mu.Unlock()
	return shard.table.sum
}

func (shard *keyShard) sum() uint64 {
	shard.mu.Lock()
	defer shard.mu.Unlock()
	return shard.table.sum
}

// Leads is how many leads memory holds.
func (s *State) Leads() (n int) {
	for i := range s.leads {
		shard := &s.leads[i]
		shard.mu.Lock()
		n += shard.table.rows.n
		shard.mu.Unlock()
	}
	return n
}

// DoorVersion changes whenever a fact may have opened or shut a door: a cap
// that filled or emptied, money, a pause, a suppression list.
func (s *State) DoorVersion() uint64 { return s.doors.Load() }

// CapFull tells whether facts alone leave no room in a cap for one more lead
// at price, and until when the answer can stand.
func (s *State) CapFull(limit *market.Cap, price market.Money, now int64) (full bool, until int64) {
	return s.caps.cell(limit.Ref).full(limit, limit.Amount(price), now)
}

// FundsShort tells whether facts alone leave the buyer less than price.
func (s *State) FundsShort(buyer *market.Buyer, price market.Money) bool {
	return buyer.Funded && price > 0 && s.accounts.short(buyer.Ref, price, buyer.Credit)
}

// Balance is a buyer's money and what of it open posts hold.
func (s *State) Balance(buyer market.Ref) (balance, held market.Money) {
	s.accounts.mu.Lock()
	defer s.accounts.mu.Unlock()
	if acc := s.accounts.byRef[buyer]; acc != nil {
		return acc.balance, acc.held
	}
	return 0, 0
}

func sortCredentials(own []Credential) {
	slices.SortFunc(own, func(a, b Credential) int {
		if a.At != b.At {
			return int(a.At - b.At)
		}
		return bytes.Compare(a.Hash[:], b.Hash[:])
	})
}
