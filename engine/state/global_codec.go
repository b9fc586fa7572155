package state

import (
	"maps"
	"sync"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// copyGlobalStateWhileApplyIsBlocked begins the global section: all state that is not in shards. It
// encodes the small parts that events of leads change. encodeLater encodes the other parts as they are at
// this moment, while Apply continues:
//   - Names and the keys of caps never change, so their present lists are enough.
//   - Pending returns are few, so their map is copied.
//   - Apply copies a cap's use, an account, a monthly count or a rotation before it first changes it.
//   - Events that change settings or users are rare. Apply of such an event waits for configuring.
func (s *State) copyGlobalStateWhileApplyIsBlocked(body *snapshotSectionCodec) (encodeLater func()) {
	s.encodeOrDecodeFounding(body)
	names := objectNumberRegistry{ids: maps.Clone(s.names.ids)}
	s.caps.beginSnapshot()
	s.accounts.beginSnapshot()
	s.monthlySales.beginSnapshot()
	s.rotations.snapshot++
	returns := pendingReturns{byLead: maps.Clone(s.pendingReturns.byLead), lastSweep: s.pendingReturns.lastSweep}
	var slots, settings snapshotSectionCodec
	s.slots.encodeOrDecodeSnapshot(&slots)
	s.configuring.Lock()
	return func() {
		s.encodeOrDecodeConfiguration(&settings, func() { settings.buf = append(settings.buf, slots.buf...) })
		s.configuring.Unlock()
		names.encodeOrDecodeSnapshot(body)
		s.caps.encodeOrDecodeSnapshot(body)
		s.accounts.encodeOrDecodeSnapshot(body)
		s.monthlySales.encodeOrDecodeSnapshot(body)
		returns.encodeOrDecodeSnapshot(body)
		s.rotations.encodeOrDecodeSnapshot(body)
		body.buf = append(body.buf, settings.buf...)
	}
}

// decodeGlobalState decodes the global section in the order in which
// copyGlobalStateWhileApplyIsBlocked encodes it.
func (s *State) decodeGlobalState(c *snapshotSectionCodec) {
	s.encodeOrDecodeFounding(c)
	s.names.encodeOrDecodeSnapshot(c)
	s.caps.encodeOrDecodeSnapshot(c)
	s.accounts.encodeOrDecodeSnapshot(c)
	s.monthlySales.encodeOrDecodeSnapshot(c)
	s.pendingReturns.encodeOrDecodeSnapshot(c)
	s.rotations.encodeOrDecodeSnapshot(c)
	s.encodeOrDecodeConfiguration(c, func() { s.slots.encodeOrDecodeSnapshot(c) })
}

// encodeOrDecodeFounding encodes or decodes the first event, and the active configuration.
func (s *State) encodeOrDecodeFounding(c *snapshotSectionCodec) {
	encodeOrDecodeFixedBytes(c, s.founded.Epoch[:])
	encodeOrDecodeFixedBytes(c, s.founded.KeyCheck[:])
	encodeOrDecodeZigzag(c, &s.founded.At)
	encodeOrDecodeUvarint(c, &s.catalogs.current.Version)
	encodeOrDecodeString(c, &s.catalogs.current.Document)
}

// encodeOrDecodeConfiguration encodes or decodes the parts that only applyGlobalEvent changes.
// encodeOrDecodeSlots encodes or decodes the keys' slots, which are between these parts.
func (s *State) encodeOrDecodeConfiguration(c *snapshotSectionCodec, encodeOrDecodeSlots func()) {
	s.settings.encodeOrDecodeSnapshot(c)
	if c.hasFieldsSinceVersion(versionSealed) {
		encodeOrDecodeSlots()
	}
	s.catalogs.encodeOrDecodeSnapshot(c)
	if c.hasFieldsSinceVersion(versionUsers) {
		s.users.encodeOrDecodeSnapshot(c)
	}
	if c.hasFieldsSinceVersion(versionAlerts) {
		encodeOrDecodeTable(c, &s.alerts)
	}
	if c.hasFieldsSinceVersion(versionReports) {
		encodeOrDecodeTable(c, &s.savedReports)
	}
	if c.hasFieldsSinceVersion(versionEntries) {
		s.caps.encodeOrDecodeEntriesOfKeys(c)
	}
}

// snapshotCopies holds copies of a table's entries as they were when the newest snapshot began. Before Apply
// changes or removes an entry for the first time since then, it copies the entry. The snapshot's encoder copies
// the entries that Apply has not copied. Each entry has a snapshot's number: for that snapshot it needs no copy,
// because it was copied already or did not exist yet. The table's lock guards the copies.
//
// (Rejected: one section for each part of a table, each with its own log position. A replay would need
// the position of each part, and events that remove old entries would depend on several parts.)
type snapshotCopies[K comparable, C any] struct {
	snapshot   uint32 // number of the newest snapshot
	entries    int    // in the table when that snapshot began
	notEncoded []copiedEntry[K, C]
}

type copiedEntry[K comparable, C any] struct {
	key  K
	copy C
}

// begin begins a snapshot of a table with this number of entries.
func (c *snapshotCopies[K, C]) begin(entries int) { c.snapshot, c.entries = c.snapshot+1, entries }

// addOnce adds the copy of an entry, unless the entry's lastCopied says that the newest snapshot has it.
func (c *snapshotCopies[K, C]) addOnce(lastCopied *uint32, key K, entry C) (added bool) {
	if *lastCopied == c.snapshot {
		return false
	}
	*lastCopied = c.snapshot
	c.notEncoded = append(c.notEncoded, copiedEntry[K, C]{key, entry})
	return true
}

// encodeOrDecodeCopies encodes the entries of a table as they were when the snapshot began, or decodes
// them; encodeOrDecodeEntry encodes one entry, or decodes it and adds it to the table. The encoder holds
// mu while copyLocked copies entriesPerStep entries, and encodes the copies without it. The map may change
// between two steps: the loop still visits each remaining entry once.
func encodeOrDecodeCopies[K comparable, E, C any](c *snapshotSectionCodec, mu sync.Locker, entriesPerStep int, entries map[K]*E, copies *snapshotCopies[K, C], copyLocked func(K, *E), encodeOrDecodeEntry func(*K, *C)) {
	count := c.encodeOrDecodeCount(copies.entries)
	if c.decoding {
		for range count {
			var entry copiedEntry[K, C]
			encodeOrDecodeEntry(&entry.key, &entry.copy)
		}
		return
	}
	var taken []copiedEntry[K, C]
	encodeTaken := func() {
		taken, copies.notEncoded = copies.notEncoded, taken[:0]
		mu.Unlock()
		defer mu.Lock()
		for i := range taken {
			encodeOrDecodeEntry(&taken[i].key, &taken[i].copy)
		}
		count -= len(taken)
		c.endStep()
	}
	mu.Lock()
	defer mu.Unlock()
	visited := 0
	for key, entry := range entries {
		copyLocked(key, entry)
		if visited++; visited%entriesPerStep == 0 {
			encodeTaken()
		}
	}
	encodeTaken()
	if copies.notEncoded = nil; count != 0 {
		panic("BUG: a snapshot does not have each entry of a table once")
	}
}

// encodeOrDecodeTable encodes or decodes a table that another package defines.
func encodeOrDecodeTable(c *snapshotSectionCodec, table interface {
	EncodeSnapshot() []byte
	DecodeSnapshot(encoded []byte) error
},
) {
	encoded := table.EncodeSnapshot()
	if encodeOrDecodeBytes(c, &encoded); c.decoding && table.DecodeSnapshot(encoded) != nil {
		c.markDamaged()
	}
}

func (n *objectNumberRegistry) encodeOrDecodeSnapshot(c *snapshotSectionCodec) {
	known := maps.Clone(n.ids)
	encodeOrDecodeMap(c, known, func(kind *event.ConfigObjectKind, ids *[]string) {
		if encodeOrDecodeUvarint(c, kind); c.decoding && n.ids[*kind] != nil {
			c.markDamaged()
		}
		for i := range c.encodeOrDecodeCount(len(*ids) - 1) {
			if c.decoding {
				var id string
				encodeOrDecodeString(c, &id)
				n.add(*kind, market.PermanentNumber(i+1), id)
			} else {
				encodeOrDecodeString(c, &(*ids)[i+1])
				if i%256 == 0 {
					c.endStep()
				}
			}
		}
	})
}

// encodeOrDecodeEntriesOfKeys encodes or decodes the entries of the caps' keys, which most keys do not have.
func (c *capCounters) encodeOrDecodeEntriesOfKeys(body *snapshotSectionCodec) {
	type entryOfCap struct {
		ref   market.PermanentNumber
		entry string
	}
	var all []entryOfCap
	for ref, key := range c.keysAtSnapshot {
		if key.Entry != "" && !body.decoding {
			all = append(all, entryOfCap{market.PermanentNumber(ref), key.Entry})
		}
	}
	encodeOrDecodeList(body, &all, func(of *entryOfCap) {
		encodeOrDecodeUvarint(body, &of.ref)
		encodeOrDecodeString(body, &of.entry)
		if body.decoding && int(of.ref) < len(c.keys) {
			c.keys[of.ref].Entry = of.entry
		} else if body.decoding {
			body.markDamaged()
		}
	})
}

func (c *capCounters) encodeOrDecodeSnapshot(body *snapshotSectionCodec) {
	for i := range body.encodeOrDecodeCount(max(0, len(c.keysAtSnapshot)-1)) {
		ref := market.PermanentNumber(i + 1)
		var key market.CapKey
		var use capUse
		if !body.decoding {
			key, use = c.keysAtSnapshot[ref], c.mustFindCounter(ref).useAtSnapshot(c.snapshot)
		}
		encodeOrDecodeUvarint(body, &key.Scope)
		encodeOrDecodeUvarint(body, &key.Campaign)
		encodeOrDecodeUvarint(body, &key.Buyer)
		encodeOrDecodeUvarint(body, &key.Unit)
		encodeOrDecodeUvarint(body, &key.Period)
		encodeOrDecodeString(body, &key.Zone)
		encodeOrDecodeZigzag(body, &use.window)
		encodeOrDecodeZigzag(body, &use.used)
		if body.decoding {
			c.add(ref, key)
			c.mustFindCounter(ref).capUse = use
		} else if i%256 == 0 {
			body.endStep()
		}
	}
}

func (a *buyerAccounts) encodeOrDecodeSnapshot(c *snapshotSectionCodec) {
	encodeOrDecodeCopies(c, &a.mu, 64, a.byRef, &a.copies, a.copyLocked, func(ref *market.PermanentNumber, acc *buyerFunds) {
		encodeOrDecodeUvarint(c, ref)
		encodeOrDecodeZigzag(c, &acc.balance)
		encodeOrDecodeZigzag(c, &acc.held)
		if encodeOrDecodeBool(c, &acc.opened); c.decoding {
			a.getOrCreateAccountLocked(*ref).buyerFunds = *acc
		}
	})
}

func (t *campaignRotationTable) encodeOrDecodeSnapshot(c *snapshotSectionCodec) {
	t.mu.Lock()
	campaigns := maps.Clone(t.byCampaign)
	t.mu.Unlock()
	encodeOrDecodeMap(c, campaigns, func(campaign *market.PermanentNumber, of **campaignRotations) {
		if encodeOrDecodeUvarint(c, campaign); c.decoding {
			*of = newCampaignRotations()
		}
		(*of).encodeOrDecodeSnapshot(c, t.snapshot)
	})
	if c.decoding {
		t.byCampaign = campaigns
	}
}

// encodeOrDecodeSnapshot encodes or decodes the rotations that events have used, without reserved
// turns. An encoder encodes them as they were when the snapshot began.
func (c *campaignRotations) encodeOrDecodeSnapshot(body *snapshotSectionCodec, snapshot uint32) {
	c.mu.Lock()
	c.beginSnapshotLocked(snapshot)
	turns := c.turnsAtSnapshot
	c.mu.Unlock()
	encodeOrDecodeUvarint(body, &turns)
	encodeOrDecodeCopies(body, &c.mu, 64, c.rotations, &c.copies, c.copyLocked, func(id *uint64, s *appliedTurnCounts) {
		encodeOrDecodeFixed64(body, id)
		encodeOrDecodeUvarint(body, &s.phase)
		encodeOrDecodeUvarint(body, &s.lastTurn)
		if encodeOrDecodeList(body, &s.counts, func(turns *uint32) { encodeOrDecodeUvarint(body, turns) }); body.decoding {
			c.rotations[*id] = &rotationTurnCounts{applied: true, appliedTurnCounts: *s}
		}
	})
	if body.decoding {
		c.appliedTurns, c.appliedRotations = turns, len(c.rotations)
	}
}

func (a *settingsOutsideConfig) encodeOrDecodeSnapshot(c *snapshotSectionCodec) {
	encodeOrDecodeMap(c, a.byHash, func(hash *[32]byte, of *Credential) {
		encodeOrDecodeFixedBytes(c, hash[:])
		encodeOrDecodeUvarint(c, &of.Kind)
		encodeOrDecodeUvarint(c, &of.Owner)
		encodeOrDecodeUvarint(c, &of.Ref)
		encodeOrDecodeString(c, &of.Client)
		encodeOrDecodeUvarint(c, &of.Scopes)
		encodeOrDecodeString(c, &of.Hint)
		if encodeOrDecodeZigzag(c, &of.At); c.decoding {
			of.Hash, of.LastUse = *hash, new(CredentialLastUseMinute)
		}
	})
	encodeOrDecodeMap(c, a.existed, func(key *existedCredentialKey, existed *bool) {
		encodeOrDecodeUvarint(c, &key.credential)
		encodeOrDecodeUvarint(c, &key.owner)
		encodeOrDecodeUvarint(c, &key.ref)
		encodeOrDecodeString(c, &key.name)
		*existed = true
	})
	encodeOrDecodeMap(c, a.secrets, func(name *string, sealed *[]byte) {
		encodeOrDecodeString(c, name)
		encodeOrDecodeBytes(c, sealed)
	})
	encodeOrDecodeMap(c, a.paused, func(key *campaignOrBuyerKey, paused *bool) {
		encodeOrDecodeUvarint(c, &key.target)
		encodeOrDecodeUvarint(c, &key.ref)
		encodeOrDecodeBool(c, paused)
	})
	encodeOrDecodeMap(c, a.lists, func(list *market.PermanentNumber, file *SuppressionListFile) {
		encodeOrDecodeUvarint(c, list)
		encodeOrDecodeString(c, &file.File)
		encodeOrDecodeString(c, &file.Source)
		encodeOrDecodeUvarint(c, &file.Entries)
		if c.hasFieldsSinceVersion(versionHistory) {
			encodeOrDecodeZigzag(c, &file.At)
			encodeOrDecodeString(c, &file.By)
			encodeOrDecodeBool(c, &file.Uploaded)
		}
	})
}
