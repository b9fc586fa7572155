// Package state is the exchange's memory: the result of all logged events and, separate
// from it, the reservations of requests in flight.
//
// Apply alone changes the result of events. One goroutine calls it, in the order of the
// log and in the same way while serving and in replay. Reservations are overlays beside
// the event counts that they concern. A request makes them; they end when their event is
// applied or the request gives up. No snapshot and no hash contains them. Their sum is
// zero when the exchange is idle.
//
// Rows that grow with the number of leads and auctions (leads, auctions, idempotency keys,
// duplicate values) are in pointer-free chunked lists, in shards chosen by the key's bytes. So the
// garbage collector does not walk them, and a shard can be copied at once. The effect of
// Apply on a shard depends on that shard and the event alone. A snapshot may therefore
// copy its shards at different positions of the log, each with its stamp. An outbox, the
// pending webhooks of one supplier, is a shard in this sense too.
//
// A snapshot moves the rows of old closed leads from memory to cold files; see ColdFile.
package state

import (
	"bytes"
	"slices"
	"sync"
	"sync/atomic"

	"pingpost/engine/alert"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/savedreport"
)

// State is the exchange's memory. One goroutine calls Apply and PrefetchIntoCPUCache. While a
// snapshot is loaded or a log replayed, no other goroutine may use the state. All other methods
// are safe for concurrent use.
type State struct {
	leads             [shardCount]leadShard
	duplicates        [shardCount]duplicateShard
	idempotency       [shardCount]idempotencyShard
	auctions          [shardCount]auctionShard
	outboxes          webhookOutboxes
	caps              capCounters
	accounts          buyerAccounts
	monthlySales      monthlySaleCounts
	pendingReturns    pendingReturns
	rotations         campaignRotationTable
	names             objectNumberRegistry
	settings          settingsOutsideConfig
	users             operatorUserTable
	alerts            alert.Table
	savedReports      savedreport.Table
	unknownDeliveries unknownDeliveryCounts
	slots             leadEncryptionKeySlots

	reservations atomic.Int64
	availability availabilityVersions

	// applying excludes Apply from copies of the state, so that a copy has whole events. It also guards the rows of
	// all tables against other changes than those of Apply.
	applying sync.Mutex
	// configuring excludes applyGlobalEvent while a snapshot encodes the parts that it changes.
	configuring  sync.Mutex
	snapshotting sync.Mutex // held by WriteSnapshot
	seq          uint64     // of the last applied event
	at           int64      // its batch's time
	loaded       uint64     // the snapshot's global section contains the events up to this one
	founded      event.ExchangeFounded
	catalogs     configHistory

	rowSums     rowHashSums // of leads, keys and duplicate values
	auctionSums rowHashSums
	cold        coldFiles

	appliedSeconds atomic.Uint32 // at in Unix seconds, for readers without applying

	prefetched uint32 // results of PrefetchIntoCPUCache; keeps the compiler from removing its reads
}

// New returns an empty state.
func New() *State {
	s := &State{names: newObjectNumberRegistry(), settings: newSettingsOutsideConfig(), users: newOperatorUserTable()}
	s.auctionSums.untilSwept = true
	for i := range shardCount {
		s.leads[i].table.sums, s.duplicates[i].table.sums = &s.rowSums, &s.rowSums
		s.idempotency[i].table.sums, s.auctions[i].table.sums = &s.rowSums, &s.auctionSums
	}
	s.accounts.byRef = make(map[market.PermanentNumber]*buyerAccount)
	s.caps.availability, s.accounts.availability = &s.availability, &s.availability
	s.availability.campaignsByBuyer = make(map[market.PermanentNumber][]market.PermanentNumber)
	s.rotations.byCampaign = make(map[market.PermanentNumber]*campaignRotations)
	s.monthlySales.byKey = make(map[monthlyCountKey]*monthlyCount)
	s.pendingReturns.byLead = make(map[market.LeadID]PendingReturnSeqAndTime)
	s.outboxes.changed, s.outboxes.maxDead = make(chan struct{}, 1), maxDeadLetters
	return s
}

// Position returns the sequence of the last applied event, and its batch's time in Unix
// nanoseconds.
func (s *State) Position() (lastAppliedSeq uint64, batchUnixNanos int64) {
	s.applying.Lock()
	defer s.applying.Unlock()
	return s.seq, s.at
}

// FoundedEvent returns the first event of the log, which identifies the exchange. It is zero
// before the first event.
func (s *State) FoundedEvent() event.ExchangeFounded {
	s.applying.Lock()
	defer s.applying.Unlock()
	return s.founded
}

// Hash returns the sequence of the last applied event, and a hash of everything that events
// determine. Two states with the same log have the same hash, so a difference reveals a fault. A lead, key or
// duplicate value counts until the minute of its expiry begins.
// Apply waits meanwhile, so Hash locks only the fields that requests in flight change.
func (s *State) Hash() (lastAppliedSeq uint64, stateHash uint64) {
	s.applying.Lock()
	defer s.applying.Unlock()
	sum := newRunningHash(15).addID16(&s.founded.Epoch).addID16(&s.founded.KeyCheck).
		addWord(uint64(s.founded.At)).addWord(uint64(s.catalogs.current.Version)).addBytes([]byte(s.catalogs.current.Document)).sum()
	sum += s.rowSums.sumOfUnexpired(unixSecondsRoundedDown(s.at)) + s.auctionSums.never
	for i := range shardCount {
		for _, post := range s.leads[i].posts {
			sum += post.contentHash()
		}
	}
	sum += s.caps.sumOfEntryHashes() + s.accounts.sumOfEntryHashes() + s.monthlySales.sumOfEntryHashes() + s.rotations.sumOfEntryHashes() + s.names.sumOfEntryHashes() + s.settings.sumOfEntryHashes()
	sum += s.catalogs.sumOfEntryHashes()
	if alerts := s.alerts.EncodeSnapshot(); len(alerts) > 0 { // logs without alerts keep their hash
		sum += newRunningHash(29).addBytes(alerts).sum()
	}
	if reports := s.savedReports.EncodeSnapshot(); len(reports) > 0 {
		sum += newRunningHash(32).addBytes(reports).sum()
	}
	return s.seq, sum + s.pendingReturns.sumOfEntryHashes() + s.outboxes.sumOfEntryHashes() + s.slots.sumOfEntryHashes() + s.users.sumOfEntryHashes()
}

// Alerts returns the alerts: their settings, the ones that fire, and their history.
func (s *State) Alerts() *alert.Table { return &s.alerts }

// SavedReports returns the saved reports and the state of their e-mails.
func (s *State) SavedReports() *savedreport.Table { return &s.savedReports }

// LeadCountWithExpired returns the number of leads in memory, including expired ones that are not removed yet.
func (s *State) LeadCountWithExpired() (n int) {
	for i := range s.leads {
		n += s.leads[i].rowCountWithExpired()
	}
	return n
}

// availabilityVersions has the version of each campaign's availability, which BuyerAvailabilityVersion
// returns. An event raises the versions of the campaigns that it concerns: the campaign of a cap, or all
// campaigns of a buyer.
type availabilityVersions struct {
	all        atomic.Uint64             // raised by events that may concern each campaign
	byCampaign [shardCount]atomic.Uint64 // by the remainder of the campaign's number

	mu               sync.RWMutex
	campaignsByBuyer map[market.PermanentNumber][]market.PermanentNumber // ascending; see AddCampaignOfBuyer
}

// BuyerAvailabilityVersion returns a number that changes whenever an event may have changed which
// buyers are available to the campaign. Examples are a cap that becomes full, and a change of money or
// a pause. Callers cache availability until the number changes. They first read the number, then call
// AddCampaignOfBuyer for each buyer, and then check the caps and funds. They must also end the
// cache when a cap's window ends or a buyer opens or closes, because no event marks these times.
func (s *State) BuyerAvailabilityVersion(campaign market.PermanentNumber) uint64 {
	return s.availability.all.Load() + s.availability.byCampaign[campaign%shardCount].Load() // both only grow
}

// AddCampaignOfBuyer records that the campaign's availability depends on the buyer. From then on, events
// that concern the buyer's funds, its caps or its unknown deliveries change the campaign's
// BuyerAvailabilityVersion. Repeats have no effect.
func (s *State) AddCampaignOfBuyer(campaign, buyer market.PermanentNumber) {
	v := &s.availability
	v.mu.RLock()
	_, found := slices.BinarySearch(v.campaignsByBuyer[buyer], campaign)
	v.mu.RUnlock()
	if found {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	campaigns := v.campaignsByBuyer[buyer]
	if at, found := slices.BinarySearch(campaigns, campaign); !found {
		v.campaignsByBuyer[buyer] = slices.Insert(campaigns, at, campaign)
	}
}

// raiseForCap raises the version of the cap's campaign, or of all campaigns of its buyer.
func (v *availabilityVersions) raiseForCap(key *market.CapKey) {
	if key.Scope == market.ScopeBuyer {
		v.raiseForBuyer(key.Buyer)
	} else {
		v.byCampaign[key.Campaign%shardCount].Add(1)
	}
}

// raiseForBuyer raises the versions of all campaigns of the buyer.
func (v *availabilityVersions) raiseForBuyer(buyer market.PermanentNumber) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	for _, campaign := range v.campaignsByBuyer[buyer] {
		v.byCampaign[campaign%shardCount].Add(1)
	}
}

// IsCapFull reports whether the cap limit has no capacity for one more lead at price. It counts
// applied events, and no reservations. windowEndUnixNanos is the end of the cap's current window,
// and the answer is valid at most until then.
func (s *State) IsCapFull(limit *market.Cap, price market.Money, nowUnixNanos int64) (full bool, windowEndUnixNanos int64) {
	return s.caps.mustFindCounter(limit.Ref).isFullAndRecordInvalidationThreshold(limit, limit.AmountUsedBySale(price), nowUnixNanos)
}

// LacksFunds reports whether the buyer has less than price left by applied events alone, without
// reservations. It is false for a buyer with unlimited money.
func (s *State) LacksFunds(buyer *market.Buyer, price market.Money) bool {
	return buyer.Funded && price > 0 && s.accounts.lacksFundsAndRecordInvalidationThreshold(buyer.Ref, price, buyer.Credit)
}

// BuyerBalance returns a buyer's balance, and the part of it that is held for posts that have not
// ended.
func (s *State) BuyerBalance(buyer market.PermanentNumber) (balance, held market.Money) {
	s.accounts.mu.Lock()
	defer s.accounts.mu.Unlock()
	if acc := s.accounts.byRef[buyer]; acc != nil {
		return acc.balance, acc.held
	}
	return 0, 0
}

// sortCredentialsOldestFirst sorts credentials by the time at which they were set, the oldest first.
func sortCredentialsOldestFirst(own []Credential) {
	slices.SortFunc(own, func(a, b Credential) int {
		if a.At != b.At {
			return int(a.At - b.At)
		}
		return bytes.Compare(a.Hash[:], b.Hash[:])
	})
}
