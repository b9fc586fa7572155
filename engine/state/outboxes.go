package state

import (
	"bytes"
	"cmp"
	"slices"
	"sync"

	"pingpost/engine/market"
)

// outboxes are the outboxes of all suppliers that were ever owed something, in as
// many shards as rows have, so that a snapshot takes them piece by piece.
type outboxes struct {
	mu      sync.RWMutex // guards which outboxes there are, and nothing in them
	shards  [shards]outboxShard
	list    []*outbox // all, by supplier; another slice when there is one more
	changed chan struct{}
	limit   int // of dead letters a supplier
}

// outboxShard has an outbox or two.
type outboxShard struct {
	boxes  []*outbox
	loaded uint64 // facts up to this one came with the snapshot
}

// deadLetters is how many a supplier's outbox keeps.
const deadLetters = 100_000

func (o *outboxes) shard(supplier market.Ref) *outboxShard { return &o.shards[supplier%shards] }

// of finds a supplier's outbox, or nil.
func (o *outboxes) of(supplier market.Ref) *outbox {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.shard(supplier).find(supplier)
}

func (shard *outboxShard) find(supplier market.Ref) *outbox {
	for _, b := range shard.boxes {
		if b.supplier == supplier {
			return b
		}
	}
	return nil
}

// open finds a supplier's outbox, or makes it. For whoever applies facts.
func (o *outboxes) open(supplier market.Ref) *outbox {
	if b := o.of(supplier); b != nil {
		return b
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	b := &outbox{supplier: supplier, limit: o.limit}
	shard := o.shard(supplier)
	shard.boxes = append(shard.boxes, b)
	at, _ := slices.BinarySearchFunc(o.list, supplier, func(b *outbox, s market.Ref) int { return cmp.Compare(b.supplier, s) })
	o.list = slices.Concat(o.list[:at], []*outbox{b}, o.list[at:])
	return b
}

// signal says that something may be due that was not. Nobody waits for whoever
// should hear it, and many signals are one.
func (o *outboxes) signal() {
	select {
	case o.changed <- struct{}{}:
	default:
	}
}

// all are the outboxes there are, by supplier. They are everyone's to read.
func (o *outboxes) all() []*outbox {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.list
}

func (o *outboxes) digest() (sum uint64) {
	for _, b := range o.all() {
		sum += b.digest()
	}
	return sum
}

// HooksChanged receives when something may be due that was not, or sooner. Many
// changes are one signal, so there should be one receiver.
func (s *State) HooksChanged() <-chan struct{} { return s.outboxes.changed }

// HookSuppliers are the suppliers with hooks that are not dead, in their order.
func (s *State) HookSuppliers() (suppliers []market.Ref) {
	for _, b := range s.outboxes.all() {
		b.mu.Lock()
		pending := b.rows.n - b.dead.n
		b.mu.Unlock()
		if pending > 0 {
			suppliers = append(suppliers, b.supplier)
		}
	}
	return suppliers
}

// Hook finds a hook, pending or dead.
func (s *State) Hook(lead market.LeadID, kind market.HookType) (Hook, bool) {
	for _, b := range s.outboxes.all() {
		if h, ok := b.hook(lead, kind); ok {
			return h, true
		}
	}
	return Hook{}, false
}

func (b *outbox) hook(lead market.LeadID, kind market.HookType) (Hook, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n, ok := b.find(lead, kind)
	if !ok {
		return Hook{}, false
	}
	return b.rows.at(int(n)).hook(b.supplier), true
}

// DeadHooks lists a supplier's dead letters, the oldest first: after so many of
// them, and so many at most. It holds the supplier's outbox for as long as it
// takes to copy all that there are, so it is for people.
func (s *State) DeadHooks(supplier market.Ref, after, limit int) []Hook {
	b := s.outboxes.of(supplier)
	if b == nil {
		return nil
	}
	b.mu.Lock()
	all := make([]Hook, 0, b.dead.n)
	for i := range b.dead.n {
		all = append(all, b.rows.at(int(b.dead.at(i).row)).hook(supplier))
	}
	b.mu.Unlock()
	slices.SortFunc(all, func(x, y Hook) int {
		return cmp.Or(cmp.Compare(x.Due, y.Due), cmp.Compare(x.Cause, y.Cause),
			cmp.Compare(x.Type, y.Type), bytes.Compare(x.Lead[:], y.Lead[:]))
	})
	from := min(max(after, 0), len(all))
	return all[from:min(from+max(limit, 0), len(all))]
}
