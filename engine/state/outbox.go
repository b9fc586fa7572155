package state

import (
	"bytes"
	"cmp"
	"slices"
	"sync"

	"pingpost/engine/market"
)

// supplierWebhookOutbox holds the pending webhooks and dead letters of one supplier.
//
// Events add webhooks: the event that causes a webhook names it in its field Webhook. So a
// webhook is due as soon as its cause is durable. Events also remove webhooks: after delivery,
// when an operator drops one, or when dead letters are too many or too old. The outbox does not
// hold the payload, only the position of the cause in the log.
//
// Invariants:
//
//   - Lead and type identify a webhook, and the outbox has it once. A lead has one supplier, so
//     all its webhooks are in one outbox.
//   - A webhook is pending or dead. If the outbox is off, no webhook is pending: new ones are
//     dead at once, and no resend changes that.
//   - Order within a lead: a pending webhook with fewer than two attempts (the first one and the
//     first retry) holds back the lead's later webhooks. Dead letters hold no webhook back. So a
//     lead's webhooks are a chain in the order of their causes, and only earlier ones decide
//     whether one may be sent.
//   - due has exactly the pending webhooks that are neither held back nor in flight, the earliest
//     first; dead has all dead letters, the oldest first. Equal times are ordered by cause, type
//     and lead, so neither order depends on the positions of the rows.
//   - An in-flight mark means that a sender has the webhook. ClaimDueWebhook sets the mark; the
//     event of the attempt's result or UnclaimWebhook removes it. It is in no snapshot and no
//     hash: after a restart a webhook that was in flight is due again, so delivery is at least once. It is
//     stored by lead and type and not in the row, because the row may die, be removed or be
//     resent meanwhile. So no second attempt begins before the first has ended.
//   - A failure counts only as the attempt after the last one that counted. A failure that
//     arrives after its webhook was resent or died is late, and does not change the webhook.
//
// Apply alone changes rows, chains and status, in O(log n) for each webhook of an event. Only
// switching an outbox off changes every pending one, once. ClaimDueWebhook and UnclaimWebhook
// change marks and due, also in O(log n). mu guards everything. The growing parts are
// pointer-free. Rows are in a list without gaps, where the last row fills the place of a removed
// one; heaps refer to rows by position.
//
// (Rejected: one queue for all suppliers, where a supplier with a hanging endpoint blocks the
// others. Rejected: due times in the index of leads, which each supplier's sender would scan at
// every wake-up.)
type supplierWebhookOutbox struct {
	supplier market.PermanentNumber
	maxDead  int // of dead letters

	mu       sync.Mutex
	rows     chunkedRowList[webhookRow]
	firstRow map[market.LeadID]uint32 // the row of a lead's first webhook
	peakRows int                      // most rows since firstRow was made
	due      webhookHeap
	dead     webhookHeap
	inFlight map[webhookKey]struct{}
	sum      uint64 // of the rows' content hashes

	dropped      uint64 // dead letters that were removed for their age or number
	failingSince int64  // time of the first failed attempt since the last success; zero: the last one succeeded
	off          bool
}

// webhookKey identifies a webhook within its supplier's outbox.
type webhookKey struct {
	lead market.LeadID
	kind market.WebhookType
}

// webhookRow is one webhook in an outbox. Snapshots leave out next and queuePosition, which
// loading computes again.
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

// OutboxWebhook is a copy of a pending webhook or a dead letter, for senders and operators.
type OutboxWebhook struct {
	Lead     market.LeadID
	Type     market.WebhookType
	Supplier market.PermanentNumber
	Cause    uint64 // sequence of the event that caused it
	Created  int64  // time of that event's batch, Unix nanoseconds
	Due      int64  // time of the next attempt; of a dead letter: when it died
	Attempts uint32 // failed ones
	Dead     bool
}

// OutboxStatus is the state of one supplier's outbox: counts of webhooks, failures of the endpoint,
// and whether webhooks are off. For all outboxes together it has only the counts.
type OutboxStatus struct {
	Pending      int   // to be sent, including those in flight and those held back
	InFlight     int   // that a sender has claimed
	Dead         int   // not sent again until an operator resends them
	Dropped      int   // dead letters that were removed for their age or number
	FailingSince int64 // time of the first failed attempt since the last success; zero: none
	Off          bool
}

// ClaimDueWebhook returns the supplier's earliest webhook that is due at nowUnixNanos, and marks it
// as in flight. Only the caller may then send it, until an event records the attempt's result or
// the caller calls UnclaimWebhook. found is false if no webhook is due.
func (s *State) ClaimDueWebhook(supplier market.PermanentNumber, nowUnixNanos int64) (webhook OutboxWebhook, found bool) {
	b := s.outboxes.get(supplier)
	if b == nil {
		return OutboxWebhook{}, false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.due.n == 0 || b.due.at(0).due > nowUnixNanos {
		return OutboxWebhook{}, false
	}
	n := b.due.at(0).row
	b.removeRowFromHeap(n)
	row := b.rows.at(int(n))
	if b.inFlight == nil {
		b.inFlight = make(map[webhookKey]struct{})
	}
	b.inFlight[row.key()] = struct{}{}
	return row.toOutboxWebhook(supplier), true
}

// UnclaimWebhook ends the claim on a webhook that the caller could not send. The webhook is due
// again, unless it was dropped or died meanwhile.
func (s *State) UnclaimWebhook(claimed OutboxWebhook) {
	b := s.outboxes.get(claimed.Supplier)
	if b == nil {
		return
	}
	b.mu.Lock()
	delete(b.inFlight, webhookKey{claimed.Lead, claimed.Type})
	b.updateDueAndDeadHeapsForLead(claimed.Lead)
	b.mu.Unlock()
	s.outboxes.notifySender()
}

// NextWebhookDueTime returns when the supplier's next webhook can be sent, in Unix nanoseconds.
// found is false if all are in flight, held back or dead, or if there are none.
func (s *State) NextWebhookDueTime(supplier market.PermanentNumber) (dueUnixNanos int64, found bool) {
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

// OutboxStatus returns the state of a supplier's outbox. It is zero if the supplier never had a webhook
// and its webhooks were never switched off.
func (s *State) OutboxStatus(supplier market.PermanentNumber) OutboxStatus {
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

// toOutboxWebhook returns a copy of the row for callers outside of the state.
func (r *webhookRow) toOutboxWebhook(supplier market.PermanentNumber) OutboxWebhook {
	return OutboxWebhook{
		Lead: r.Lead, Type: r.Type, Supplier: supplier, Cause: r.Cause, Created: r.Created,
		Due: r.Due, Attempts: r.Attempts, Dead: r.Dead,
	}
}

func (r *webhookRow) contentHash(supplier market.PermanentNumber) uint64 {
	return newRunningHash(17).addID16((*[16]byte)(&r.Lead)).addWord(r.Cause).addWord(uint64(r.Created)).addWord(uint64(r.Due)).
		addWord(uint64(supplier) | uint64(r.Attempts)<<32).addWord(uint64(r.Type) | boolAsUint(r.Dead)<<8).sum()
}

// sumOfRowAndStatusHashes returns the outbox's part of State.Hash: the rows and the status, without in-flight
// marks.
func (b *supplierWebhookOutbox) sumOfRowAndStatusHashes() uint64 {
	sum := b.sum
	if b.dropped != 0 || b.failingSince != 0 || b.off {
		sum += newRunningHash(18).addWord(uint64(b.supplier)).addWord(b.dropped).addWord(uint64(b.failingSince)).addWord(boolAsUint(b.off)).sum()
	}
	return sum
}

// webhookOutboxes holds the outboxes of all suppliers. An outbox is created with the supplier's first
// webhook, or when the supplier's webhooks are first switched off or on. It has shardCount shards, so
// that a snapshot copies it in small steps.
type webhookOutboxes struct {
	mu      sync.RWMutex // guards the set of outboxes, not their contents
	shards  [shardCount]outboxShard
	list    []*supplierWebhookOutbox // all outboxes by supplier; replaced, not changed, when one is added
	changed chan struct{}
	maxDead int // of dead letters a supplier
}

// outboxShard holds the outboxes of the suppliers with one value of number modulo shardCount.
// They are usually one or two.
type outboxShard struct {
	boxes  []*supplierWebhookOutbox
	loaded uint64 // the snapshot contains the events up to this one
}

// maxDeadLetters is the maximum number of dead letters in a supplier's outbox. Beyond it, the oldest
// ones are removed.
const maxDeadLetters = 100_000

// outboxShardOf returns the shard with the supplier's outbox.
func (o *webhookOutboxes) outboxShardOf(supplier market.PermanentNumber) *outboxShard {
	return &o.shards[supplier%shardCount]
}

// get returns a supplier's outbox, or nil if no event has created it.
func (o *webhookOutboxes) get(supplier market.PermanentNumber) *supplierWebhookOutbox {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.outboxShardOf(supplier).findOutbox(supplier)
}

func (shard *outboxShard) findOutbox(supplier market.PermanentNumber) *supplierWebhookOutbox {
	for _, b := range shard.boxes {
		if b.supplier == supplier {
			return b
		}
	}
	return nil
}

// getOrCreateOutbox returns a supplier's outbox, and creates it if necessary. Only Apply and the
// loading of a snapshot call it.
func (o *webhookOutboxes) getOrCreateOutbox(supplier market.PermanentNumber) *supplierWebhookOutbox {
	if b := o.get(supplier); b != nil {
		return b
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	b := &supplierWebhookOutbox{supplier: supplier, maxDead: o.maxDead}
	shard := o.outboxShardOf(supplier)
	shard.boxes = append(shard.boxes, b)
	at, _ := slices.BinarySearchFunc(o.list, supplier, func(b *supplierWebhookOutbox, s market.PermanentNumber) int { return cmp.Compare(b.supplier, s) })
	o.list = slices.Concat(o.list[:at], []*supplierWebhookOutbox{b}, o.list[at:])
	return b
}

// notifySender notifies the receiver of WebhookMayBeDue that a webhook may be due. It does not
// wait for the receiver, and merges repeated notifications.
func (o *webhookOutboxes) notifySender() {
	select {
	case o.changed <- struct{}{}:
	default:
	}
}

// all returns all outboxes, ordered by supplier. Callers must not change the list.
func (o *webhookOutboxes) all() []*supplierWebhookOutbox {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.list
}

func (o *webhookOutboxes) sumOfEntryHashes() (sum uint64) {
	for _, b := range o.all() {
		sum += b.sumOfRowAndStatusHashes()
	}
	return sum
}

// WebhookMayBeDue returns a channel that receives a value when a webhook may have become due, or
// due earlier. Several changes give one value, so only one goroutine should receive.
func (s *State) WebhookMayBeDue() <-chan struct{} { return s.outboxes.changed }

// OutboxTotals returns the sums of the counts of all suppliers' webhooks. FailingSince and Off are
// not set.
func (s *State) OutboxTotals() (totals OutboxStatus) {
	for _, b := range s.outboxes.all() {
		one := s.OutboxStatus(b.supplier)
		totals.Pending += one.Pending
		totals.InFlight += one.InFlight
		totals.Dead += one.Dead
		totals.Dropped += one.Dropped
	}
	return totals
}

// SuppliersWithPendingWebhooks returns the suppliers with webhooks to be sent, in order of their
// numbers.
func (s *State) SuppliersWithPendingWebhooks() (suppliers []market.PermanentNumber) {
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

// FindWebhook returns the webhook of this type that the lead caused, pending or dead. It searches
// all outboxes; found is false if no outbox has the webhook.
func (s *State) FindWebhook(lead market.LeadID, webhookType market.WebhookType) (webhook OutboxWebhook, found bool) {
	for _, b := range s.outboxes.all() {
		if h, ok := b.findWebhook(lead, webhookType); ok {
			return h, true
		}
	}
	return OutboxWebhook{}, false
}

func (b *supplierWebhookOutbox) findWebhook(lead market.LeadID, webhookType market.WebhookType) (webhook OutboxWebhook, found bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n, ok := b.findRow(lead, webhookType)
	if !ok {
		return OutboxWebhook{}, false
	}
	return b.rows.at(int(n)).toOutboxWebhook(b.supplier), true
}

// ListDeadLetters returns a page of a supplier's dead letters, the oldest first. It leaves out
// the first skip ones and returns at most limit. It locks the outbox while it copies all dead
// letters, so only operators' requests should call it.
func (s *State) ListDeadLetters(supplier market.PermanentNumber, skip, limit int) []OutboxWebhook {
	b := s.outboxes.get(supplier)
	if b == nil {
		return nil
	}
	b.mu.Lock()
	all := make([]OutboxWebhook, 0, b.dead.n)
	for i := range b.dead.n {
		all = append(all, b.rows.at(int(b.dead.at(i).row)).toOutboxWebhook(supplier))
	}
	b.mu.Unlock()
	slices.SortFunc(all, func(x, y OutboxWebhook) int {
		return cmp.Or(cmp.Compare(x.Due, y.Due), cmp.Compare(x.Cause, y.Cause),
			cmp.Compare(x.Type, y.Type), bytes.Compare(x.Lead[:], y.Lead[:]))
	})
	from := min(max(skip, 0), len(all))
	return all[from:min(from+max(limit, 0), len(all))]
}
