package state

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/market/calendar"
)

// encodeGlobal writes the global state: all state that is not in rows. The caller excludes Apply.
func (s *State) encodeGlobal(w *sectionEncoder) {
	w.writeRaw(s.founded.Epoch[:])
	w.writeRaw(s.founded.KeyCheck[:])
	w.writeInt(s.founded.At)
	w.writeUint(uint64(s.catalogs.current.Version))
	w.writeString(s.catalogs.current.Document)
	s.names.encode(w)
	s.caps.encode(w)
	s.accounts.encode(w)
	s.monthlySales.encode(w)
	s.pendingReturns.encode(w)
	s.rotations.encode(w)
	s.settings.encode(w)
	s.slots.encode(w)
	s.catalogs.encode(w)
	s.users.encode(w)
}

func (s *State) decodeGlobal(r *sectionDecoder) {
	copy(s.founded.Epoch[:], r.readRaw(16))
	copy(s.founded.KeyCheck[:], r.readRaw(16))
	s.founded.At = r.readInt()
	s.catalogs.current.Version, s.catalogs.current.Document = uint32(r.readUint()), r.readString()
	s.names.decode(r)
	s.caps.decode(r)
	s.accounts.decode(r)
	s.monthlySales.decode(r)
	s.pendingReturns.decode(r)
	s.rotations.decode(r)
	s.settings.decode(r)
	if r.version >= versionSealed {
		s.slots.decode(r)
	}
	s.catalogs.decode(r)
	if r.version >= versionUsers {
		s.users.decode(r)
	}
}

func (n *nameNumbers) encode(w *sectionEncoder) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	w.writeUint(uint64(len(n.ids)))
	for kind, ids := range n.ids {
		w.writeUint(uint64(kind))
		w.writeUint(uint64(len(ids) - 1))
		for _, id := range ids[1:] {
			w.writeString(id)
		}
	}
}

func (n *nameNumbers) decode(r *sectionDecoder) {
	for range r.readCount() {
		kind := event.ObjectKind(r.readUint())
		if n.ids[kind] != nil {
			r.fail()
			return
		}
		for i := range r.readCount() {
			n.add(kind, market.Ref(i+1), r.readString())
		}
	}
}

func (c *capCounters) encode(w *sectionEncoder) {
	c.keysMu.RLock()
	defer c.keysMu.RUnlock()
	w.writeUint(uint64(max(0, len(c.keys)-1)))
	for ref := 1; ref < len(c.keys); ref++ {
		key, cell := &c.keys[ref], c.counterOf(market.Ref(ref))
		w.writeUint(uint64(key.Scope))
		w.writeUint(uint64(key.Campaign))
		w.writeUint(uint64(key.Buyer))
		w.writeUint(uint64(key.Unit))
		w.writeUint(uint64(key.Period))
		w.writeString(key.Zone)
		w.writeInt(cell.window)
		w.writeInt(cell.used)
	}
}

func (c *capCounters) decode(r *sectionDecoder) {
	for i := range r.readCount() {
		ref := market.Ref(i + 1)
		c.add(ref, market.CapKey{
			Scope: market.CapScope(r.readUint()), Campaign: market.Ref(r.readUint()), Buyer: market.Ref(r.readUint()),
			Unit: market.CapUnit(r.readUint()), Period: calendar.Period(r.readUint()), Zone: r.readString(),
		})
		cell := c.counterOf(ref)
		cell.window, cell.used = r.readInt(), r.readInt()
	}
}

func (a *buyerAccounts) encode(w *sectionEncoder) {
	a.mu.Lock()
	defer a.mu.Unlock()
	w.writeUint(uint64(len(a.byRef)))
	for ref, acc := range a.byRef {
		w.writeUint(uint64(ref))
		w.writeInt(int64(acc.balance))
		w.writeInt(int64(acc.held))
		w.writeBool(acc.opened)
	}
}

func (a *buyerAccounts) decode(r *sectionDecoder) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for range r.readCount() {
		acc := a.getOrCreateLocked(market.Ref(r.readUint()))
		acc.balance, acc.held, acc.opened = market.Money(r.readInt()), market.Money(r.readInt()), r.readBool()
	}
}

func (t *campaignRotationTable) encode(w *sectionEncoder) {
	t.mu.Lock()
	defer t.mu.Unlock()
	w.writeUint(uint64(len(t.byCampaign)))
	for campaign, c := range t.byCampaign {
		w.writeUint(uint64(campaign))
		c.mu.Lock()
		c.encodeLocked(w)
		c.mu.Unlock()
	}
}

// encodeLocked writes the rotations that events have used, without reserved turns. The caller
// holds c.mu.
func (c *campaignRotations) encodeLocked(w *sectionEncoder) {
	w.writeUint(c.appliedTurns)
	w.writeUint(uint64(c.appliedRotations))
	for set, s := range c.rotations {
		if !s.applied {
			continue
		}
		w.writeFixed(set)
		w.writeUint(uint64(s.phase))
		w.writeUint(s.lastTurn)
		w.writeUint(uint64(len(s.counts)))
		for _, n := range s.counts {
			w.writeUint(uint64(n))
		}
	}
}

func (t *campaignRotationTable) decode(r *sectionDecoder) {
	for range r.readCount() {
		c := t.getOrCreate(market.Ref(r.readUint()))
		c.appliedTurns, c.appliedRotations = r.readUint(), r.readCount()
		for range c.appliedRotations {
			set := r.readFixed()
			s := &rotation{applied: true, phase: uint32(r.readUint()), lastTurn: r.readUint()}
			for range r.readCount() {
				s.counts = append(s.counts, uint32(r.readUint()))
			}
			c.rotations[set] = s
		}
	}
}

func (a *operatorSettings) encode(w *sectionEncoder) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	w.writeUint(uint64(len(a.byHash)))
	for hash, c := range a.byHash {
		w.writeRaw(hash[:])
		w.writeUint(uint64(c.Kind))
		w.writeUint(uint64(c.Owner))
		w.writeUint(uint64(c.Ref))
		w.writeString(c.Client)
		w.writeUint(uint64(c.Scopes))
		w.writeString(c.Hint)
		w.writeInt(c.At)
	}
	w.writeUint(uint64(len(a.existed)))
	for key := range a.existed {
		w.writeUint(uint64(key.credential))
		w.writeUint(uint64(key.owner))
		w.writeUint(uint64(key.ref))
		w.writeString(key.name)
	}
	w.writeUint(uint64(len(a.secrets)))
	for name, sealed := range a.secrets {
		w.writeString(name)
		w.writeBytes(sealed)
	}
	w.writeUint(uint64(len(a.paused)))
	for key, paused := range a.paused {
		w.writeUint(uint64(key.target))
		w.writeUint(uint64(key.ref))
		w.writeBool(paused)
	}
	w.writeUint(uint64(len(a.lists)))
	for ref, file := range a.lists {
		w.writeUint(uint64(ref))
		w.writeString(file.File)
		w.writeString(file.Source)
		w.writeUint(file.Entries)
		w.writeInt(file.At)
		w.writeString(file.By)
		w.writeBool(file.Uploaded)
	}
}

func (a *operatorSettings) decode(r *sectionDecoder) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for range r.readCount() {
		c := Credential{LastUse: new(CredentialLastUse)}
		copy(c.Hash[:], r.readRaw(32))
		c.Kind, c.Owner, c.Ref = event.CredentialKind(r.readUint()), event.ObjectKind(r.readUint()), market.Ref(r.readUint())
		c.Client, c.Scopes = r.readString(), event.TokenScopes(r.readUint())
		c.Hint, c.At = r.readString(), r.readInt()
		a.byHash[c.Hash] = c
	}
	for range r.readCount() {
		key := credentialIdentity{event.CredentialKind(r.readUint()), event.ObjectKind(r.readUint()), market.Ref(r.readUint()), r.readString()}
		a.existed[key] = true
	}
	for range r.readCount() {
		name := r.readString()
		a.secrets[name] = r.readBytes()
	}
	for range r.readCount() {
		key := pauseKey{event.ObjectKind(r.readUint()), market.Ref(r.readUint())}
		a.paused[key] = r.readBool()
	}
	for range r.readCount() {
		ref := market.Ref(r.readUint())
		file := SuppressionFile{File: r.readString(), Source: r.readString(), Entries: r.readUint()}
		if r.version >= versionHistory {
			file.At, file.By, file.Uploaded = r.readInt(), r.readString(), r.readBool()
		}
		a.lists[ref] = file
	}
}
