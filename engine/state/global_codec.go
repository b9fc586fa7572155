package state

import (
	"maps"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// encodeOrDecodeGlobalState encodes or decodes the global state: all state that is not in shards. The
// caller blocks Apply, so only the fields that requests in flight change need their lock.
func (s *State) encodeOrDecodeGlobalState(c *snapshotSectionCodec) {
	encodeOrDecodeFixedBytes(c, s.founded.Epoch[:])
	encodeOrDecodeFixedBytes(c, s.founded.KeyCheck[:])
	encodeOrDecodeZigzag(c, &s.founded.At)
	encodeOrDecodeUvarint(c, &s.catalogs.current.Version)
	encodeOrDecodeString(c, &s.catalogs.current.Document)
	s.names.encodeOrDecodeSnapshot(c)
	s.caps.encodeOrDecodeSnapshot(c)
	s.accounts.encodeOrDecodeSnapshot(c)
	s.monthlySales.encodeOrDecodeSnapshot(c)
	s.pendingReturns.encodeOrDecodeSnapshot(c)
	s.rotations.encodeOrDecodeSnapshot(c)
	s.settings.encodeOrDecodeSnapshot(c)
	if c.hasFieldsSinceVersion(versionSealed) {
		s.slots.encodeOrDecodeSnapshot(c)
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
			}
		}
	})
}

func (c *capCounters) encodeOrDecodeSnapshot(body *snapshotSectionCodec) {
	for i := range body.encodeOrDecodeCount(max(0, len(c.keys)-1)) {
		ref := market.PermanentNumber(i + 1)
		var key market.CapKey
		if !body.decoding {
			key = c.keys[ref]
		}
		encodeOrDecodeUvarint(body, &key.Scope)
		encodeOrDecodeUvarint(body, &key.Campaign)
		encodeOrDecodeUvarint(body, &key.Buyer)
		encodeOrDecodeUvarint(body, &key.Unit)
		encodeOrDecodeUvarint(body, &key.Period)
		encodeOrDecodeString(body, &key.Zone)
		if body.decoding {
			c.add(ref, key)
		}
		counter := c.mustFindCounter(ref)
		encodeOrDecodeZigzag(body, &counter.window)
		encodeOrDecodeZigzag(body, &counter.used)
	}
}

func (a *buyerAccounts) encodeOrDecodeSnapshot(c *snapshotSectionCodec) {
	a.mu.Lock()
	defer a.mu.Unlock()
	encodeOrDecodeMap(c, a.byRef, func(ref *market.PermanentNumber, acc **buyerAccount) {
		if encodeOrDecodeUvarint(c, ref); c.decoding {
			*acc = a.getOrCreateAccountLocked(*ref)
		}
		encodeOrDecodeZigzag(c, &(*acc).balance)
		encodeOrDecodeZigzag(c, &(*acc).held)
		encodeOrDecodeBool(c, &(*acc).opened)
	})
}

func (t *campaignRotationTable) encodeOrDecodeSnapshot(c *snapshotSectionCodec) {
	t.mu.Lock()
	defer t.mu.Unlock()
	encodeOrDecodeMap(c, t.byCampaign, func(campaign *market.PermanentNumber, of **campaignRotations) {
		if encodeOrDecodeUvarint(c, campaign); c.decoding {
			*of = newCampaignRotations()
		}
		(*of).mu.Lock()
		defer (*of).mu.Unlock()
		(*of).encodeOrDecodeSnapshotLocked(c)
	})
}

// encodeOrDecodeSnapshotLocked encodes or decodes the rotations that events have used, without reserved
// turns. The caller holds mu.
func (c *campaignRotations) encodeOrDecodeSnapshotLocked(body *snapshotSectionCodec) {
	encodeOrDecodeUvarint(body, &c.appliedTurns)
	applied := maps.Clone(c.rotations)
	maps.DeleteFunc(applied, func(_ uint64, s *rotationTurnCounts) bool { return !s.applied })
	encodeOrDecodeMap(body, applied, func(id *uint64, s **rotationTurnCounts) {
		if encodeOrDecodeFixed64(body, id); body.decoding {
			*s = &rotationTurnCounts{applied: true}
		}
		encodeOrDecodeUvarint(body, &(*s).phase)
		encodeOrDecodeUvarint(body, &(*s).lastTurn)
		encodeOrDecodeList(body, &(*s).counts, func(turns *uint32) { encodeOrDecodeUvarint(body, turns) })
	})
	if body.decoding {
		c.rotations, c.appliedRotations = applied, len(applied)
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
