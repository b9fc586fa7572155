package state

import (
	"sync"

	"pingpost/engine/market"
)

// An outbox is what one supplier is still to be told of its leads.
//
// Facts put a hook in: the one that brought about what is to be told says so in
// the same frame (Hook, in decisions, settlements and changes), so a hook is due
// from the instant at which its cause is durable. Facts take it out: it was
// delivered, or an operator dropped it, or there were too many dead letters. What
// a hook says is not kept, only where its cause is in the log.
//
// Invariants:
//
//   - A hook is named by its lead and its type, and is here once. A lead has one
//     supplier, so all its hooks are in one outbox.
//   - A hook is pending or dead. Off means that nothing is pending: what is caused
//     is dead at once, and nothing is resent.
//   - Order of one lead: a pending hook with fewer than two attempts behind it
//     (its first, and the first retry) holds back the lead's later ones. Dead
//     letters hold nothing back. So a lead's hooks are a chain in the order of
//     their causes, and whether one may go is a matter of those before it.
//   - due has exactly the pending hooks that are neither held back nor out, the
//     earliest first; dead has all dead letters, the oldest first. Both orders end
//     in the hook's name, so they are the same whatever way the rows lie in.
//   - A mark (out) says that somebody is at work with a hook: TakeHook makes it,
//     the fact of what the attempt came to or ReturnHook ends it, and nothing else
//     does. It is in no snapshot and no hash: after a restart all is due again,
//     which is why delivery is at least once. It is kept by the hook's name and
//     not with the hook, which may die, go, or be resent meanwhile: no second
//     attempt begins before the first has ended.
//   - A failure counts only as the attempt after the last one that counted. One
//     that comes in after its hook was resent or died is late, and changes nothing
//     of it.
//
// Apply alone changes rows, chains and standing, in O(log n) for each hook that a
// fact concerns; only to switch an outbox off touches every pending one, once.
// TakeHook and ReturnHook change marks and due, in as much. Everything is guarded
// by mu. What grows is pointer-free: rows without gaps in a slab, where the last
// takes the place of one that goes, and places in the queues beside them.
//
// (Rejected: one queue of all suppliers, where one whose endpoint hangs stands in
// front of the others; due times in the index of leads, which are looked at by
// each supplier's sender every time it wakes.)
type outbox struct {
	supplier market.Ref
	limit    int // of dead letters

	mu    sync.Mutex
	rows  slab[hookRow]
	first map[market.LeadID]uint32 // the row of a lead's first hook; nil while there are none
	due   queue
	dead  queue
	out   map[hookName]struct{}
	sum   uint64 // of the rows' digests

	dropped uint64 // dead letters that had to go
	failing int64  // since when no attempt has succeeded; zero: the last one did
	off     bool
}

type hookName struct {
	lead market.LeadID
	kind market.HookType
}

// hookRow is one hook. next and place are of this process alone.
type hookRow struct {
	Lead     market.LeadID
	Cause    uint64
	Created  int64
	Due      int64 // of a dead one: when it died
	Attempts uint32
	next     uint32 // one more than the row of the lead's next hook; zero: it is the last
	place    uint32 // one more than the place in due or dead; zero: in neither
	Type     market.HookType
	Dead     bool
}

// Hook is an event that a supplier is owed.
type Hook struct {
	Lead     market.LeadID
	Type     market.HookType
	Supplier market.Ref
	Cause    uint64 // sequence of the fact that brought it about
	Created  int64  // that fact's batch's time, Unix nanoseconds
	Due      int64  // when the next attempt is; of a dead letter: when it died
	Attempts uint32 // that failed
	Dead     bool
}

// HookStanding is how it goes with one supplier's hooks.
type HookStanding struct {
	Pending      int   // to be sent, those on their way included
	Out          int   // of them on their way
	Dead         int   // given up until an operator resends them
	Dropped      int   // dead letters that are gone, because of their age or their number
	FailingSince int64 // when the first attempt failed after the last that did not; zero: none has
	Off          bool
}

// TakeHook takes the earliest hook that is due and that nobody is at work with,
// and marks it: it is the caller's until a fact says what the attempt came to, or
// until ReturnHook. False where there is none.
func (s *State) TakeHook(supplier market.Ref, now int64) (Hook, bool) {
	b := s.outboxes.of(supplier)
	if b == nil {
		return Hook{}, false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.due.n == 0 || b.due.at(0).when > now {
		return Hook{}, false
	}
	n := b.due.at(0).row
	b.leave(n)
	row := b.rows.at(int(n))
	if b.out == nil {
		b.out = make(map[hookName]struct{})
	}
	b.out[row.name()] = struct{}{}
	return row.hook(supplier), true
}

// ReturnHook ends the mark of a hook that was not tried after all: it is due as
// it was.
func (s *State) ReturnHook(h Hook) {
	b := s.outboxes.of(h.Supplier)
	if b == nil {
		return
	}
	b.mu.Lock()
	delete(b.out, hookName{h.Lead, h.Type})
	b.arrange(h.Lead)
	b.mu.Unlock()
	s.outboxes.signal()
}

// NextHook is when the earliest hook is due that TakeHook could take.
func (s *State) NextHook(supplier market.Ref) (due int64, ok bool) {
	b := s.outboxes.of(supplier)
	if b == nil {
		return 0, false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.due.n == 0 {
		return 0, false
	}
	return b.due.at(0).when, true
}

// HookStanding is how it goes with a supplier's hooks.
func (s *State) HookStanding(supplier market.Ref) HookStanding {
	b := s.outboxes.of(supplier)
	if b == nil {
		return HookStanding{}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return HookStanding{
		Pending: b.rows.n - b.dead.n, Out: len(b.out), Dead: b.dead.n, Dropped: int(b.dropped),
		FailingSince: b.failing, Off: b.off,
	}
}

func (r *hookRow) name() hookName { return hookName{r.Lead, r.Type} }

func (r *hookRow) hook(supplier market.Ref) Hook {
	return Hook{
		Lead: r.Lead, Type: r.Type, Supplier: supplier, Cause: r.Cause, Created: r.Created,
		Due: r.Due, Attempts: r.Attempts, Dead: r.Dead,
	}
}

func (r *hookRow) digest(supplier market.Ref) uint64 {
	return newDigest(17).wordsOf((*[16]byte)(&r.Lead)).word(r.Cause).word(uint64(r.Created)).word(uint64(r.Due)).
		word(uint64(supplier) | uint64(r.Attempts)<<32).word(uint64(r.Type) | flag(r.Dead)<<8).sum()
}

// digest hashes all that facts have made of the outbox.
func (b *outbox) digest() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	sum := b.sum
	if b.dropped != 0 || b.failing != 0 || b.off {
		sum += newDigest(18).word(uint64(b.supplier)).word(b.dropped).word(uint64(b.failing)).word(flag(b.off)).sum()
	}
	return sum
}
