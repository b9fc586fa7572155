package state

import (
	"sync"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// leadShard keeps leads, and the posts of those among them that are open.
type leadShard struct {
	mu     sync.Mutex
	table  table[Lead, *Lead]
	posts  map[market.LeadID]*Post
	loaded uint64
}

// Post is an open intent: a lead that is on its way to a buyer's endpoint, or
// whose tries are used up. It is written by Apply alone and replaced, never
// changed, so a reader may keep the pointer.
type Post struct {
	Lead     market.LeadID
	Intent   event.Post
	Sale     event.Sale
	Slot     uint64 // of the key that Body is sealed with; zero: it lies open
	Body     []byte // sealed: a Contact whose body is posted; none: the person was erased
	Attempts uint32
	Tried    int64 // when the last attempt ended, Unix nanoseconds
	Decided  int64
	Answered bool // the supplier was told ACCEPTED
	Unknown  bool // the tries are used up
}

// digest hashes what a snapshot has of the post, so that it leaves nothing out. One
// without a slot has the hash that it had before there were any.
func (p *Post) digest() uint64 {
	var all writer
	if p.Slot == 0 {
		p.writeOpen(&all)
	} else {
		p.write(&all)
	}
	return newDigest(8).bytes(all.buf).sum()
}

func (s *State) leadShard(id *market.LeadID) *leadShard {
	return &s.leads[shardOf((*[16]byte)(id))]
}

// Lead finds a lead that memory still has.
func (s *State) Lead(id market.LeadID) (Lead, bool) {
	shard := s.leadShard(&id)
	shard.mu.Lock()
	defer shard.mu.Unlock()
	if _, position, ok := shard.table.find((*[16]byte)(&id)); ok {
		return *shard.table.rows.at(position), true
	}
	return Lead{}, false
}

// Post finds a lead's open intent, or nil.
func (s *State) Post(id market.LeadID) *Post {
	shard := s.leadShard(&id)
	shard.mu.Lock()
	defer shard.mu.Unlock()
	return shard.posts[id]
}

// Posts calls f with every open intent.
func (s *State) Posts(f func(*Post)) {
	for i := range s.leads {
		shard := &s.leads[i]
		shard.mu.Lock()
		open := make([]*Post, 0, len(shard.posts))
		for _, post := range shard.posts {
			open = append(open, post)
		}
		shard.mu.Unlock()
		for _, post := range open {
			f(post)
		}
	}
}

// changePost replaces a lead's open intent by an edited copy.
func (shard *leadShard) changePost(id market.LeadID, edit func(*Post)) {
	old := shard.posts[id]
	if old == nil {
		return
	}
	edited := *old
	edit(&edited)
	shard.posts[id] = &edited
}

// Erased tells that nobody knows any more what was to be sent.
func (p *Post) Erased() bool { return len(p.Body) == 0 }

// sealedPart is the contact part of an intent, and the slot of its key.
type sealedPart struct {
	slot uint64
	part []byte
}

// openPost enters an intent. What it keeps is copied out of the event.
func (shard *leadShard) openPost(id market.LeadID, intent *event.Post, sale *event.Sale, sealed sealedPart, decided int64) {
	post := &Post{Lead: id, Decided: decided, Slot: sealed.slot, Body: append([]byte(nil), sealed.part...)}
	post.Intent = event.Post{
		URL: clone(intent.URL), Credential: clone(intent.Credential),
		Header: clone(intent.Header), Scheme: clone(intent.Scheme),
		Timeout: intent.Timeout, Idempotent: intent.Idempotent,
		TokenURL: clone(intent.TokenURL), ClientID: clone(intent.ClientID), Scope: clone(intent.Scope),
		Auction: intent.Auction, Dialect: cloneDialect(intent.Dialect),
	}
	post.Sale.CopyFrom(sale)
	if shard.posts == nil {
		shard.posts = make(map[market.LeadID]*Post)
	}
	shard.posts[id] = post
}

// clone copies a string that may alias a frame.
func clone(s string) string { return string([]byte(s)) }

// unknownLocked is 1 where the lead's post waits for an operator.
func (shard *leadShard) unknownLocked(lead market.LeadID) int {
	if post := shard.posts[lead]; post != nil && post.Unknown {
		return 1
	}
	return 0
}

// unknowns counts, by buyer, the posts that wait for an operator. It is derived
// from the posts, and in no snapshot or hash. Test leads are counted apart, so
// that no number of them shuts a buyer's door to the others.
type unknowns struct {
	mu      sync.Mutex
	byBuyer map[unknownOf]int
}

type unknownOf struct {
	buyer market.Ref
	test  bool
}

func (s *State) countUnknown(sale *event.Sale, change int) {
	if change == 0 {
		return
	}
	s.unknowns.mu.Lock()
	defer s.unknowns.mu.Unlock()
	if s.unknowns.byBuyer == nil {
		s.unknowns.byBuyer = make(map[unknownOf]int)
	}
	s.unknowns.byBuyer[unknownOf{sale.Buyer, sale.Test}] += change
	s.doors.Add(1)
}

// Unknown is how many of a buyer's leads nobody knows the fate of, or how many of
// its test leads.
func (s *State) Unknown(buyer market.Ref, test bool) int {
	s.unknowns.mu.Lock()
	defer s.unknowns.mu.Unlock()
	return s.unknowns.byBuyer[unknownOf{buyer, test}]
}

// AllUnknown is how many leads nobody knows the fate of, test leads aside.
func (s *State) AllUnknown() (n int) {
	s.unknowns.mu.Lock()
	defer s.unknowns.mu.Unlock()
	for of, count := range s.unknowns.byBuyer {
		if !of.test {
			n += count
		}
	}
	return n
}
