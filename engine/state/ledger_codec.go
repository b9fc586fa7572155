package state

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/market/calendar"
)

// writeLedger writes all state that is not in rows. The caller excludes Apply.
func (s *State) writeLedger(w *writer) {
	w.raw(s.founded.Epoch[:])
	w.raw(s.founded.KeyCheck[:])
	w.int(s.founded.At)
	w.uint(uint64(s.catalogs.now.Version))
	w.string(s.catalogs.now.Document)
	s.names.write(w)
	s.caps.write(w)
	s.accounts.write(w)
	s.months.write(w)
	s.pendingReturns.write(w)
	s.turns.write(w)
	s.access.write(w)
	s.slots.write(w)
	s.catalogs.write(w)
	s.staff.write(w)
}

func (s *State) readLedger(r *reader) {
	copy(s.founded.Epoch[:], r.raw(16))
	copy(s.founded.KeyCheck[:], r.raw(16))
	s.founded.At = r.int()
	s.catalogs.now.Version, s.catalogs.now.Document = uint32(r.uint()), r.string()
	s.names.read(r)
	s.caps.read(r)
	s.accounts.read(r)
	s.months.read(r)
	s.pendingReturns.read(r)
	s.turns.read(r)
	s.access.read(r)
	if r.version >= versionSealed {
		s.slots.read(r)
	}
	s.catalogs.read(r)
	if r.version >= versionStaffed {
		s.staff.read(r)
	}
}

func (n *names) write(w *writer) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	w.uint(uint64(len(n.ids)))
	for kind, ids := range n.ids {
		w.uint(uint64(kind))
		w.uint(uint64(len(ids) - 1))
		for _, id := range ids[1:] {
			w.string(id)
		}
	}
}

func (n *names) read(r *reader) {
	for range r.count() {
		kind := event.NameKind(r.uint())
		if n.ids[kind] != nil {
			r.fail()
			return
		}
		for i := range r.count() {
			n.add(kind, market.Ref(i+1), r.string())
		}
	}
}

func (c *caps) write(w *writer) {
	c.keysMu.RLock()
	defer c.keysMu.RUnlock()
	w.uint(uint64(max(0, len(c.keys)-1)))
	for ref := 1; ref < len(c.keys); ref++ {
		key, cell := &c.keys[ref], c.cell(market.Ref(ref))
		w.uint(uint64(key.Scope))
		w.uint(uint64(key.Campaign))
		w.uint(uint64(key.Buyer))
		w.uint(uint64(key.Unit))
		w.uint(uint64(key.Period))
		w.string(key.Zone)
		w.int(cell.window)
		w.int(cell.used)
	}
}

func (c *caps) read(r *reader) {
	for i := range r.count() {
		ref := market.Ref(i + 1)
		c.add(ref, market.CapKey{
			Scope: market.CapScope(r.uint()), Campaign: market.Ref(r.uint()), Buyer: market.Ref(r.uint()),
			Unit: market.CapUnit(r.uint()), Period: calendar.Period(r.uint()), Zone: r.string(),
		})
		cell := c.cell(ref)
		cell.window, cell.used = r.int(), r.int()
	}
}

func (a *accounts) write(w *writer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	w.uint(uint64(len(a.byRef)))
	for ref, acc := range a.byRef {
		w.uint(uint64(ref))
		w.int(int64(acc.balance))
		w.int(int64(acc.held))
		w.bool(acc.opened)
	}
}

func (a *accounts) read(r *reader) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for range r.count() {
		acc := a.getLocked(market.Ref(r.uint()))
		acc.balance, acc.held, acc.opened = market.Money(r.int()), market.Money(r.int()), r.bool()
	}
}

func (t *turns) write(w *writer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	w.uint(uint64(len(t.byCampaign)))
	for campaign, c := range t.byCampaign {
		w.uint(uint64(campaign))
		c.mu.Lock()
		c.writeLocked(w)
		c.mu.Unlock()
	}
}

func (c *campaignTurns) writeLocked(w *writer) {
	w.uint(c.taken)
	w.uint(uint64(c.appliedSets))
	for set, s := range c.sets {
		if !s.applied {
			continue
		}
		w.fixed(set)
		w.uint(uint64(s.phase))
		w.uint(s.last)
		w.uint(uint64(len(s.counts)))
		for _, n := range s.counts {
			w.uint(uint64(n))
		}
	}
}

func (t *turns) read(r *reader) {
	for range r.count() {
		c := t.of(market.Ref(r.uint()))
		c.taken, c.appliedSets = r.uint(), r.count()
		for range c.appliedSets {
			set := r.fixed()
			s := &turnSet{applied: true, phase: uint32(r.uint()), last: r.uint()}
			for range r.count() {
				s.counts = append(s.counts, uint32(r.uint()))
			}
			c.sets[set] = s
		}
	}
}

func (a *access) write(w *writer) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	w.uint(uint64(len(a.byHash)))
	for hash, c := range a.byHash {
		w.raw(hash[:])
		w.uint(uint64(c.Kind))
		w.uint(uint64(c.Owner))
		w.uint(uint64(c.Ref))
		w.string(c.Client)
		w.uint(uint64(c.Scopes))
		w.string(c.Hint)
		w.int(c.At)
	}
	w.uint(uint64(len(a.ever)))
	for key := range a.ever {
		w.uint(uint64(key.credential))
		w.uint(uint64(key.owner))
		w.uint(uint64(key.ref))
		w.string(key.name)
	}
	w.uint(uint64(len(a.secrets)))
	for name, sealed := range a.secrets {
		w.string(name)
		w.bytes(sealed)
	}
	w.uint(uint64(len(a.paused)))
	for key, paused := range a.paused {
		w.uint(uint64(key.target))
		w.uint(uint64(key.ref))
		w.bool(paused)
	}
	w.uint(uint64(len(a.lists)))
	for ref, file := range a.lists {
		w.uint(uint64(ref))
		w.string(file.File)
		w.string(file.Source)
		w.uint(file.Entries)
		w.int(file.At)
		w.string(file.By)
		w.bool(file.Uploaded)
	}
}

func (a *access) read(r *reader) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for range r.count() {
		c := Credential{Used: new(LastUse)}
		copy(c.Hash[:], r.raw(32))
		c.Kind, c.Owner, c.Ref = event.CredentialKind(r.uint()), event.NameKind(r.uint()), market.Ref(r.uint())
		c.Client, c.Scopes = r.string(), event.Scopes(r.uint())
		c.Hint, c.At = r.string(), r.int()
		a.byHash[c.Hash] = c
	}
	for range r.count() {
		key := firstCredential{event.CredentialKind(r.uint()), event.NameKind(r.uint()), market.Ref(r.uint()), r.string()}
		a.ever[key] = true
	}
	for range r.count() {
		name := r.string()
		a.secrets[name] = r.bytes()
	}
	for range r.count() {
		key := pauseKey{event.NameKind(r.uint()), market.Ref(r.uint())}
		a.paused[key] = r.bool()
	}
	for range r.count() {
		ref := market.Ref(r.uint())
		file := ListFile{File: r.string(), Source: r.string(), Entries: r.uint()}
		if r.version >= versionHistory {
			file.At, file.By, file.Uploaded = r.int(), r.string(), r.bool()
		}
		a.lists[ref] = file
	}
}
