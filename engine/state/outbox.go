package state

import (
	"bytes"
	"cmp"
	"slices"
	"sync"

	"pingpost/engine/market"
)

// webhookOutbox holds the pending webhooks and dead letters of one supplier.
//
// Events add webhooks: the event that causes a webhook names it (Webhook, in decisions,
// settlements and changes). So a webhook is due from the instant at which its cause is
// durable. Events also remove webhooks: after delivery, when an operator drops one, or
// when there are too many dead letters. The webhookOutbox does not hold the payload, only the
// position of the cause in the log.
//
// Invariants:
//
//   - Lead and type name a webhook, and the webhookOutbox has it once. A lead has one
//     supplier, so all its webhooks are in one webhookOutbox.
//   - A webhook is pending or dead. If the webhookOutbox is off, no webhook is pending: new
//     ones are dead at once, and no resend changes that.
//   - Order within a lead: a pending webhook with fewer than two attempts (the first
//     one and the first retry) holds back the lead's later ones. Dead letters hold no
//     webhook back. So a lead's webhooks are a chain in the order of their causes, and
//     only earlier ones decide whether one may be sent.
//   - due has exactly the pending webhooks that are neither held back nor in flight,
//     the earliest first; dead has all dead letters, the oldest first. Both orders end
//     in the webhook's name, so they do not depend on the order of the rows.
//   - An in-flight mark means that a sender has the webhook. ClaimDueWebhook sets it; the
//     event of the attempt's result or UnclaimWebhook removes it. It is in no snapshot
//     and no hash: after a restart every webhook is due again, which is why delivery
//     is at least once. It is stored by the webhook's name and not in the row, which
//     may die, go or be resent meanwhile: no second attempt begins before the first
//     has ended.
//   - A failure counts only as the attempt after the last one that counted. A failure
//     that arrives after its webhook was resent or died is late, and does not change
//     the webhook.
//
// Apply alone changes rows, chains and status, in O(log n) for each webhook of an event.
// Only switching an webhookOutbox off touches every pending one, once. ClaimDueWebhook and
// UnclaimWebhook change marks and due, also in O(log n). mu guards everything. The growing
// parts are pointer-free: rows without gaps in a slab, where the last row fills the place
// of a removed one, and places in the queues.
//
// (Rejected: one queue for all suppliers, where a supplier with a hanging endpoint blocks
// the others. Rejected: due times in the index of leads, which each supplier's sender
// would scan at every wake-up.)
type webhookOutbox struct {
	supplier market.Ref
	maxDead  int // of dead letters

	mu       sync.Mutex
	rows     slab[webhookRow]
	firstRow map[market.LeadID]uint32 // the row of a lead's first webhook
	peakRows int                      // most rows since firstRow was made
	due      webhookHeap
	dead     webhookHeap
	inFlight map[webhookKey]struct{}
	sum      uint64 // of the rows' digests

	dropped      uint64 // dead letters that were removed for their age or number
	failingSince int64  // time of the first failed attempt since the last success; zero: the last one succeeded
	off          bool
}

type webhookKey struct {
	lead market.LeadID
	kind market.WebhookType
}

// webhookRow is one webhook. next and place are not in snapshots.
type webhookRow struct {
	Lead          market.LeadID
	Cause         uint64
	Created       int64
	Due           int64 // of a dead letter: when it died
	Attempts      uint32
	next          uint32 // one more than the row of the lead's next webhook; zero: it is the last
	queuePosition uint32 // one more than the place in due or dead; zero: in neither
	Type          market.WebhookType
	Dead          bool
}

// QueuedWebhook is a pending webhook or a dead letter.
type QueuedWebhook struct {
	Lead     market.LeadID
	Type     market.WebhookType
	Supplier market.Ref
	Cause    uint64 // sequence of the event that caused it
	Created  int64  // time of that event's batch, Unix nanoseconds
	Due      int64  // time of the next attempt; of a dead letter: when it died
	Attempts uint32 // failed ones
	Dead     bool
}

// OutboxStatus counts the webhooks of one supplier.
type OutboxStatus struct {
	Pending      int   // to be sent, including those in flight
	InFlight     int   // that a sender has taken
	Dead         int   // not sent again until an operator resends them
	Dropped      int   // dead letters that were removed for their age or number
	FailingSince int64 // time of the first failed attempt since the last success; zero: none
	Off          bool
}

// ClaimDueWebhook returns the earliest due webhook that is not in flight, and marks it as in
// flight. It belongs to the caller until an event records the attempt's result, or until
// UnclaimWebhook. It returns false if no webhook is due.
func (s *State) ClaimDueWebhook(supplier market.Ref, now int64) (QueuedWebhook, bool) {
	b := s.outboxes.get(supplier)
	if b == nil {
		return QueuedWebhook{}, false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.due.n == 0 || b.due.at(0).due > now {
		return QueuedWebhook{}, false
	}
	n := b.due.at(0).row
	b.removeFromHeap(n)
	row := b.rows.at(int(n))
	if b.inFlight == nil {
		b.inFlight = make(map[webhookKey]struct{})
	}
	b.inFlight[row.key()] = struct{}{}
	return row.toQueuedWebhook(supplier), true
}

// UnclaimWebhook removes the mark of a webhook that was not sent. It is due as before.
func (s *State) UnclaimWebhook(claimed QueuedWebhook) {
	b := s.outboxes.get(claimed.Supplier)
	if b == nil {
		return
	}
	b.mu.Lock()
	delete(b.inFlight, webhookKey{claimed.Lead, claimed.Type})
	b.updateHeapsOfLead(claimed.Lead)
	b.mu.Unlock()
	s.outboxes.notifySender()
}

// NextWebhookDueTime returns when the earliest webhook that ClaimDueWebhook could return is due.
func (s *State) NextWebhookDueTime(supplier market.Ref) (due int64, ok bool) {
	b := s.outboxes.get(supplier)
	if b == nil {
		return 0, false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.due.n == 0 {
		return 0, false
	}
	return b.due.at(0).due, true
}

// OutboxStatus returns the status of a supplier's outbox.
func (s *State) OutboxStatus(supplier market.Ref) OutboxStatus {
	b := s.outboxes.get(supplier)
	if b == nil {
		return OutboxStatus{}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return OutboxStatus{
		Pending: b.rows.n - b.dead.n, InFlight: len(b.inFlight), Dead: b.dead.n, Dropped: int(b.dropped),
		FailingSince: b.failingSince, Off: b.off,
	}
}

func (r *webhookRow) key() webhookKey { return webhookKey{r.Lead, r.Type} }

func (r *webhookRow) toQueuedWebhook(supplier market.Ref) QueuedWebhook {
	return QueuedWebhook{
		Lead: r.Lead, Type: r.Type, Supplier: supplier, Cause: r.Cause, Created: r.Created,
		Due: r.Due, Attempts: r.Attempts, Dead: r.Dead,
	}
}

func (r *webhookRow) digest(supplier market.Ref) uint64 {
	return newDigest(17).addID16((*[16]byte)(&r.Lead)).addWord(r.Cause).addWord(uint64(r.Created)).addWord(uint64(r.Due)).
		addWord(uint64(supplier) | uint64(r.Attempts)<<32).addWord(uint64(r.Type) | boolAsUint(r.Dead)<<8).sum()
}

// digest hashes the part of the outbox that events determine.
func (b *webhookOutbox) digest() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	sum := b.sum
	if b.dropped != 0 || b.failingSince != 0 || b.off {
		sum += newDigest(18).addWord(uint64(b.supplier)).addWord(b.dropped).addWord(uint64(b.failingSince)).addWord(boolAsUint(b.off)).sum()
	}
	return sum
}

// webhookOutboxes holds the webhookOutboxes of all suppliers that ever had a webhook. It has as many
// shards as rows have, so that a snapshot copies it piece by piece.
type webhookOutboxes struct {
	mu      sync.RWMutex // guards the set of outboxes, not their contents
	shards  [shardCount]outboxShard
	list    []*webhookOutbox // all outboxes by supplier; replaced, not changed, when one is added
	changed chan struct{}
	maxDead int // of dead letters a supplier
}

// outboxShard has one or two outboxes.
type outboxShard struct {
	boxes  []*webhookOutbox
	loaded uint64 // the snapshot contains the events up to this one
}

// maxDeadLetters is the number of dead letters that a supplier's outbox keeps.
const maxDeadLetters = 100_000

func (o *webhookOutboxes) shardOf(supplier market.Ref) *outboxShard {
	return &o.shards[supplier%shardCount]
}

// get returns a supplier's outbox, or nil.
func (o *webhookOutboxes) get(supplier market.Ref) *webhookOutbox {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.shardOf(supplier).findOutbox(supplier)
}

func (shard *outboxShard) findOutbox(supplier market.Ref) *webhookOutbox {
	for _, b := range shard.boxes {
		if b.supplier == supplier {
			return b
		}
	}
	return nil
}

// getOrCreate returns a supplier's outbox, and creates it if necessary. Only Apply calls
// it.
func (o *webhookOutboxes) getOrCreate(supplier market.Ref) *webhookOutbox {
	if b := o.get(supplier); b != nil {
		return b
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	b := &webhookOutbox{supplier: supplier, maxDead: o.maxDead}
	shard := o.shardOf(supplier)
	shard.boxes = append(shard.boxes, b)
	at, _ := slices.BinarySearchFunc(o.list, supplier, func(b *webhookOutbox, s market.Ref) int { return cmp.Compare(b.supplier, s) })
	o.list = slices.Concat(o.list[:at], []*webhookOutbox{b}, o.list[at:])
	return b
}

// notifySender tells the receiver that a webhook may be due. It does not wait for the receiver,
// and merges repeated notifications.
func (o *webhookOutboxes) notifySender() {
	select {
	case o.changed <- struct{}{}:
	default:
	}
}

// all returns the outboxes by supplier. Callers must not change the list.
func (o *webhookOutboxes) all() []*webhookOutbox {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.list
}

func (o *webhookOutboxes) digest() (sum uint64) {
	for _, b := range o.all() {
		sum += b.digest()
	}
	return sum
}

// WebhooksChanged returns a channel that receives when a webhook may be due, or due
// earlier. Several changes are one value, so there should be one receiver.
func (s *State) WebhooksChanged() <-chan struct{} { return s.outboxes.changed }

// OutboxTotals returns the counts of all outboxes together.
func (s *State) OutboxTotals() (all OutboxStatus) {
	for _, b := range s.outboxes.all() {
		one := s.OutboxStatus(b.supplier)
		all.Pending += one.Pending
		all.InFlight += one.InFlight
		all.Dead += one.Dead
		all.Dropped += one.Dropped
	}
	return all
}

// SuppliersWithPendingWebhooks returns the suppliers with pending webhooks, in order.
func (s *State) SuppliersWithPendingWebhooks() (suppliers []market.Ref) {
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

// FindWebhook returns a webhook, pending or dead.
func (s *State) FindWebhook(lead market.LeadID, kind market.WebhookType) (QueuedWebhook, bool) {
	for _, b := range s.outboxes.all() {
		if h, ok := b.findWebhook(lead, kind); ok {
			return h, true
		}
	}
	return QueuedWebhook{}, false
}

func (b *webhookOutbox) findWebhook(lead market.LeadID, kind market.WebhookType) (QueuedWebhook, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n, ok := b.findRow(lead, kind)
	if !ok {
		return QueuedWebhook{}, false
	}
	return b.rows.at(int(n)).toQueuedWebhook(b.supplier), true
}

// ListDeadLetters lists a supplier's dead letters, the oldest first: it skips the first skip
// ones and returns at most limit. It locks the supplier's outbox while it copies all dead
// letters, so only operators' requests should call it.
func (s *State) ListDeadLetters(supplier market.Ref, skip, limit int) []QueuedWebhook {
	b := s.outboxes.get(supplier)
	if b == nil {
		return nil
	}
	b.mu.Lock()
	all := make([]QueuedWebhook, 0, b.dead.n)
	for i := range b.dead.n {
		all = append(all, b.rows.at(int(b.dead.at(i).row)).toQueuedWebhook(supplier))
	}
	b.mu.Unlock()
	slices.SortFunc(all, func(x, y QueuedWebhook) int {
		return cmp.Or(cmp.Compare(x.Due, y.Due), cmp.Compare(x.Cause, y.Cause),
			cmp.Compare(x.Type, y.Type), bytes.Compare(x.Lead[:], y.Lead[:]))
	})
	from := min(max(skip, 0), len(all))
	return all[from:min(from+max(limit, 0), len(all))]
}
