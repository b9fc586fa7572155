package state

import (
	"sync"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// leadShard holds a part of all leads, and the open posts of these leads.
type leadShard struct {
	rowShard[Lead, *Lead]
	posts    map[market.LeadID]*UnfinishedPost
	replaced map[market.LeadID]replacedColdLead // leads in memory that a cold file has too

	inUseUntil map[market.LeadID]int64 // leads that stay in memory until then, Unix nanoseconds
}

// UnfinishedPost is a lead's delivery to a buyer that has not ended. Its attempts continue, or they are
// used up and an operator must decide. Apply never changes an UnfinishedPost: it stores an edited copy.
// So a reader may keep the pointer.
type UnfinishedPost struct {
	Lead        market.LeadID
	Intent      event.PostIntent
	Sale        event.Sale
	Slot        uint64 // of the key that Body is sealed with; zero: plaintext (before encryption)
	Body        []byte // encrypted LeadPersonalData with the body to post; empty: an operator erased it
	Attempts    uint32 // used steps of the retry schedule
	LastAttempt int64  // end of the last attempt, Unix nanoseconds
	Decided     int64
	Answered    bool // the supplier has received ACCEPTED
	Exhausted   bool // the attempts are used up
}

// contentHash hashes all fields that a snapshot holds. Fields that were added later are left out while
// they are zero, so old posts keep their hash.
func (p *UnfinishedPost) contentHash() uint64 {
	var all snapshotSectionCodec
	p.encodeOrDecodeOldestVersionFields(&all)
	if p.Slot != 0 {
		encodeOrDecodeUvarint(&all, &p.Slot)
	}
	if p.Intent.Trusted {
		encodeOrDecodeBool(&all, &p.Intent.Trusted)
	}
	return newRunningHash(8).addBytes(all.buf).sum()
}

// leadShardOf returns the shard that holds the lead.
func (s *State) leadShardOf(id *market.LeadID) *leadShard {
	return &s.leads[shardIndex((*[16]byte)(id))]
}

// Lead returns the row of a lead from memory or a cold file, or false if neither has the lead (any more). Memory may
// still have an expired lead. The error comes from a cold file.
func (s *State) Lead(id market.LeadID) (lead Lead, found bool, err error) {
	if lead, found = s.LeadInMemory(id); !found {
		return s.findColdLead(id)
	}
	return lead, true, nil
}

// LeadInMemory is Lead without the cold files. Memory has each lead whose delivery has not ended.
func (s *State) LeadInMemory(id market.LeadID) (lead Lead, found bool) {
	shard := s.leadShardOf(&id)
	shard.mu.Lock()
	defer shard.mu.Unlock()
	if _, position, ok := shard.table.findWithExpired((*[16]byte)(&id)); ok {
		return *shard.table.rows.at(position), true
	}
	return Lead{}, false
}

// UnfinishedPost returns the lead's delivery that has not ended, or nil without one.
func (s *State) UnfinishedPost(id market.LeadID) *UnfinishedPost {
	shard := s.leadShardOf(&id)
	shard.mu.Lock()
	defer shard.mu.Unlock()
	return shard.posts[id]
}

// EachUnfinishedPost calls visit for every delivery that has not ended. visit may call methods of the
// state, because no lock is held. EachUnfinishedPost may miss posts that are added meanwhile, and
// may visit posts that have just ended.
func (s *State) EachUnfinishedPost(visit func(*UnfinishedPost)) {
	for i := range s.leads {
		shard := &s.leads[i]
		shard.mu.Lock()
		open := make([]*UnfinishedPost, 0, len(shard.posts))
		for _, post := range shard.posts {
			open = append(open, post)
		}
		shard.mu.Unlock()
		for _, post := range open {
			visit(post)
		}
	}
}

// replacePostByEditedCopy stores an edited copy of the lead's open post. It has no effect without
// an open post. The caller holds the shard's lock.
func (shard *leadShard) replacePostByEditedCopy(id market.LeadID, edit func(*UnfinishedPost)) {
	old := shard.posts[id]
	if old == nil {
		return
	}
	edited := *old
	edit(&edited)
	shard.posts[id] = &edited
}

// IsPersonalDataErased reports whether an operator has erased the person's data, so that the post
// cannot be sent again.
func (p *UnfinishedPost) IsPersonalDataErased() bool { return len(p.Body) == 0 }

// sealedPersonalData is the encrypted (sealed) personal part of a post, and the slot number of its
// key.
type sealedPersonalData struct {
	slot uint64
	data []byte
}

// addUnfinishedPost stores an open post for the lead. It copies strings and lists, because the event's
// memory is reused. The caller holds the shard's lock.
func (shard *leadShard) addUnfinishedPost(id market.LeadID, intent *event.PostIntent, sale *event.Sale, sealed sealedPersonalData, decidedAtUnixNanos int64) {
	post := &UnfinishedPost{Lead: id, Decided: decidedAtUnixNanos, Slot: sealed.slot, Body: append([]byte(nil), sealed.data...)}
	post.Intent = event.PostIntent{
		URL: copyString(intent.URL), Credential: copyString(intent.Credential),
		Header: copyString(intent.Header), Scheme: copyString(intent.Scheme),
		Timeout: intent.Timeout, Repeatable: intent.Repeatable, Trusted: intent.Trusted,
		TokenURL: copyString(intent.TokenURL), ClientID: copyString(intent.ClientID), Scope: copyString(intent.Scope),
		Auction: intent.Auction, AdapterProtocol: cloneAdapterProtocolStrings(intent.AdapterProtocol),
	}
	post.Sale.CopyFrom(sale)
	if shard.posts == nil {
		shard.posts = make(map[market.LeadID]*UnfinishedPost)
	}
	shard.posts[id] = post
}

// copyString returns a copy of s with its own memory. Strings of events share memory with the log
// record that they were decoded from.
func copyString(s string) string { return string([]byte(s)) }

// countPostsOutOfAttemptsLocked returns 1 if all attempts to post the lead are used up without a
// result, so that an operator must decide. Otherwise it returns 0. The caller holds the shard's
// lock.
func (shard *leadShard) countPostsOutOfAttemptsLocked(lead market.LeadID) (zeroOrOne int) {
	if post := shard.posts[lead]; post != nil && post.Exhausted {
		return 1
	}
	return 0
}

// unknownDeliveryCounts counts, for each buyer, the posts whose attempts are used up without a
// result. It is derived from the posts, and in no snapshot or hash. Test leads are counted
// separately, so that they never make a buyer unavailable to other leads.
type unknownDeliveryCounts struct {
	mu      sync.Mutex
	byBuyer map[unknownDeliveryCountKey]int
}

// unknownDeliveryCountKey is the key of the counts of unknown deliveries: a buyer, separately for
// test leads and other leads.
type unknownDeliveryCountKey struct {
	buyer market.PermanentNumber
	test  bool
}

// addToUnknownDeliveryCount adds change to the unknown deliveries of the sale's buyer. It also raises
// the availability versions of the buyer's campaigns, because too many unknown deliveries make a buyer
// unavailable.
func (s *State) addToUnknownDeliveryCount(sale *event.Sale, change int) {
	if change == 0 {
		return
	}
	s.unknownDeliveries.mu.Lock()
	defer s.unknownDeliveries.mu.Unlock()
	if s.unknownDeliveries.byBuyer == nil {
		s.unknownDeliveries.byBuyer = make(map[unknownDeliveryCountKey]int)
	}
	s.unknownDeliveries.byBuyer[unknownDeliveryCountKey{sale.Buyer, sale.Test}] += change
	s.availability.raiseForBuyer(sale.Buyer)
}

// CountUnknownDeliveries returns how many leads are with the buyer in an unknown state: all
// attempts were used up without a result. ofTestLeads selects the count of test leads.
func (s *State) CountUnknownDeliveries(buyer market.PermanentNumber, ofTestLeads bool) int {
	s.unknownDeliveries.mu.Lock()
	defer s.unknownDeliveries.mu.Unlock()
	return s.unknownDeliveries.byBuyer[unknownDeliveryCountKey{buyer, ofTestLeads}]
}

// CountUnknownDeliveriesExceptTests returns the number of unknown deliveries of all buyers,
// without test leads.
func (s *State) CountUnknownDeliveriesExceptTests() (n int) {
	s.unknownDeliveries.mu.Lock()
	defer s.unknownDeliveries.mu.Unlock()
	for of, count := range s.unknownDeliveries.byBuyer {
		if !of.test {
			n += count
		}
	}
	return n
}
