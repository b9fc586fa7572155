package state

import (
	"sync"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// leadShard holds leads and their open posts.
type leadShard struct {
	mu     sync.Mutex
	table  table[Lead, *Lead]
	posts  map[market.LeadID]*OpenPost
	loaded uint64
}

// OpenPost is the delivery of a lead that is still attempted, or whose attempts are used
// up. Apply alone writes it, and replaces it instead of changing it. So a reader may keep
// the pointer.
type OpenPost struct {
	Lead        market.LeadID
	Intent      event.PostIntent
	Sale        event.Sale
	Slot        uint64 // of the key that Body is sealed with; zero: plaintext (before encryption)
	Body        []byte // sealed Contact with the body to post; empty: the person was erased
	Attempts    uint32 // used steps of the retry schedule
	LastAttempt int64  // end of the last attempt, Unix nanoseconds
	Decided     int64
	Answered    bool // the supplier has received ACCEPTED
	Exhausted   bool // the attempts are used up
}

// digest hashes all fields that a snapshot holds. A later field with its zero value adds
// no bytes, so old posts keep their hash.
func (p *OpenPost) digest() uint64 {
	var all sectionEncoder
	p.encodeFields(&all)
	if p.Slot != 0 {
		all.writeUint(p.Slot)
	}
	if p.Intent.Trusted {
		all.writeBool(true)
	}
	return newDigest(8).addBytes(all.buf).sum()
}

func (s *State) leadShardOf(id *market.LeadID) *leadShard {
	return &s.leads[shardIndex((*[16]byte)(id))]
}

// Lead returns a lead that memory still holds.
func (s *State) Lead(id market.LeadID) (Lead, bool) {
	shard := s.leadShardOf(&id)
	shard.mu.Lock()
	defer shard.mu.Unlock()
	if _, position, ok := shard.table.find((*[16]byte)(&id)); ok {
		return *shard.table.rows.at(position), true
	}
	return Lead{}, false
}

// OpenPost returns a lead's open post, or nil.
func (s *State) OpenPost(id market.LeadID) *OpenPost {
	shard := s.leadShardOf(&id)
	shard.mu.Lock()
	defer shard.mu.Unlock()
	return shard.posts[id]
}

// EachOpenPost calls visit for every open post.
func (s *State) EachOpenPost(visit func(*OpenPost)) {
	for i := range s.leads {
		shard := &s.leads[i]
		shard.mu.Lock()
		open := make([]*OpenPost, 0, len(shard.posts))
		for _, post := range shard.posts {
			open = append(open, post)
		}
		shard.mu.Unlock()
		for _, post := range open {
			visit(post)
		}
	}
}

// replaceOpenPost replaces a lead's open post by an edited copy.
func (shard *leadShard) replaceOpenPost(id market.LeadID, edit func(*OpenPost)) {
	old := shard.posts[id]
	if old == nil {
		return
	}
	edited := *old
	edit(&edited)
	shard.posts[id] = &edited
}

// IsContactErased reports whether the person was erased, so that no body is left to send.
func (p *OpenPost) IsContactErased() bool { return len(p.Body) == 0 }

// sealedContact is the sealed contact part of a post, and the slot of its key.
type sealedContact struct {
	slot uint64
	data []byte
}

// addOpenPost stores an open post. It copies the strings and lists that it keeps out of the
// event.
func (shard *leadShard) addOpenPost(id market.LeadID, intent *event.PostIntent, sale *event.Sale, sealed sealedContact, decidedAt int64) {
	post := &OpenPost{Lead: id, Decided: decidedAt, Slot: sealed.slot, Body: append([]byte(nil), sealed.data...)}
	post.Intent = event.PostIntent{
		URL: copyString(intent.URL), Credential: copyString(intent.Credential),
		Header: copyString(intent.Header), Scheme: copyString(intent.Scheme),
		Timeout: intent.Timeout, Repeatable: intent.Repeatable, Trusted: intent.Trusted,
		TokenURL: copyString(intent.TokenURL), ClientID: copyString(intent.ClientID), Scope: copyString(intent.Scope),
		Auction: intent.Auction, Dialect: copyDialect(intent.Dialect),
	}
	post.Sale.CopyFrom(sale)
	if shard.posts == nil {
		shard.posts = make(map[market.LeadID]*OpenPost)
	}
	shard.posts[id] = post
}

// copyString copies a string that may alias a frame.
func copyString(s string) string { return string([]byte(s)) }

// countExhaustedPostsLocked returns 1 if the lead's post waits for an operator.
func (shard *leadShard) countExhaustedPostsLocked(lead market.LeadID) int {
	if post := shard.posts[lead]; post != nil && post.Exhausted {
		return 1
	}
	return 0
}

// unknownDeliveryCounts counts the exhausted posts by buyer. It is derived from the posts, and in no
// snapshot or hash. Test leads have a count of their own, so that they never make a buyer
// unavailable to other leads.
type unknownDeliveryCounts struct {
	mu      sync.Mutex
	byBuyer map[unknownDeliveryKey]int
}

type unknownDeliveryKey struct {
	buyer market.Ref
	test  bool
}

func (s *State) adjustUnknownDeliveries(sale *event.Sale, change int) {
	if change == 0 {
		return
	}
	s.unknownDeliveries.mu.Lock()
	defer s.unknownDeliveries.mu.Unlock()
	if s.unknownDeliveries.byBuyer == nil {
		s.unknownDeliveries.byBuyer = make(map[unknownDeliveryKey]int)
	}
	s.unknownDeliveries.byBuyer[unknownDeliveryKey{sale.Buyer, sale.Test}] += change
	s.availability.Add(1)
}

// CountUnknownDeliveries returns the number of the buyer's leads, or testLeads leads, whose delivery
// is unknown.
func (s *State) CountUnknownDeliveries(buyer market.Ref, testLeads bool) int {
	s.unknownDeliveries.mu.Lock()
	defer s.unknownDeliveries.mu.Unlock()
	return s.unknownDeliveries.byBuyer[unknownDeliveryKey{buyer, testLeads}]
}

// CountAllUnknownDeliveries returns the number of leads whose delivery is unknown, without test
// leads.
func (s *State) CountAllUnknownDeliveries() (n int) {
	s.unknownDeliveries.mu.Lock()
	defer s.unknownDeliveries.mu.Unlock()
	for of, count := range s.unknownDeliveries.byBuyer {
		if !of.test {
			n += count
		}
	}
	return n
}
