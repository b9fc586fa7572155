package state

import (
	"maps"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// snapshotGlobalState encodes or decodes the global state: all state that is not in rows. The caller
// excludes Apply. So only fields that requests in flight change need their lock.
func (s *State) snapshotGlobalState(c *sectionCodec) {
	arrayField(c, s.founded.Epoch[:])
	arrayField(c, s.founded.KeyCheck[:])
	intField(c, &s.founded.At)
	uintField(c, &s.catalogs.current.Version)
	stringField(c, &s.catalogs.current.Document)
	s.names.snapshotFields(c)
	s.caps.snapshotFields(c)
	s.accounts.snapshotFields(c)
	s.monthlySales.snapshotFields(c)
	s.pendingReturns.snapshotFields(c)
	s.rotations.snapshotFields(c)
	s.settings.snapshotFields(c)
	if c.hasFieldsSince(versionSealed) {
		s.slots.snapshotFields(c)
	}
	s.catalogs.snapshotFields(c)
	if c.hasFieldsSince(versionUsers) {
		s.users.snapshotFields(c)
	}
}

func (n *nameNumbers) snapshotFields(c *sectionCodec) {
	known := maps.Clone(n.ids)
	mapField(c, known, func(kind *event.ObjectKind, ids *[]string) {
		if uintField(c, kind); c.decoding && n.ids[*kind] != nil {
			c.markDamaged()
		}
		for i := range c.countField(len(*ids) - 1) {
			if c.decoding {
				var id string
				stringField(c, &id)
				n.add(*kind, market.Ref(i+1), id)
			} else {
				stringField(c, &(*ids)[i+1])
			}
		}
	})
}

func (c *capCounters) snapshotFields(body *sectionCodec) {
	for i := range body.countField(max(0, len(c.keys)-1)) {
		ref := market.Ref(i + 1)
		var key market.CapKey
		if !body.decoding {
			key = c.keys[ref]
		}
		uintField(body, &key.Scope)
		uintField(body, &key.Campaign)
		uintField(body, &key.Buyer)
		uintField(body, &key.Unit)
		uintField(body, &key.Period)
		stringField(body, &key.Zone)
		if body.decoding {
			c.add(ref, key)
		}
		counter := c.counterOf(ref)
		intField(body, &counter.window)
		intField(body, &counter.used)
	}
}

func (a *buyerAccounts) snapshotFields(c *sectionCodec) {
	a.mu.Lock()
	defer a.mu.Unlock()
	mapField(c, a.byRef, func(ref *market.Ref, acc **buyerAccount) {
		if uintField(c, ref); c.decoding {
			*acc = a.getOrCreateLocked(*ref)
		}
		intField(c, &(*acc).balance)
		intField(c, &(*acc).held)
		boolField(c, &(*acc).opened)
	})
}

func (t *campaignRotationTable) snapshotFields(c *sectionCodec) {
	t.mu.Lock()
	defer t.mu.Unlock()
	mapField(c, t.byCampaign, func(campaign *market.Ref, of **campaignRotations) {
		if uintField(c, campaign); c.decoding {
			*of = newCampaignRotations()
		}
		(*of).mu.Lock()
		defer (*of).mu.Unlock()
		(*of).snapshotFieldsLocked(c)
	})
}

// snapshotFieldsLocked encodes or decodes the rotations that events have used, without reserved
// turns. The caller holds mu.
func (c *campaignRotations) snapshotFieldsLocked(body *sectionCodec) {
	uintField(body, &c.appliedTurns)
	applied := maps.Clone(c.rotations)
	maps.DeleteFunc(applied, func(_ uint64, s *rotation) bool { return !s.applied })
	mapField(body, applied, func(id *uint64, s **rotation) {
		if fixedField(body, id); body.decoding {
			*s = &rotation{applied: true}
		}
		uintField(body, &(*s).phase)
		uintField(body, &(*s).lastTurn)
		listField(body, &(*s).counts, func(turns *uint32) { uintField(body, turns) })
	})
	if body.decoding {
		c.rotations, c.appliedRotations = applied, len(applied)
	}
}

func (a *operatorSettings) snapshotFields(c *sectionCodec) {
	mapField(c, a.byHash, func(hash *[32]byte, of *Credential) {
		arrayField(c, hash[:])
		uintField(c, &of.Kind)
		uintField(c, &of.Owner)
		uintField(c, &of.Ref)
		stringField(c, &of.Client)
		uintField(c, &of.Scopes)
		stringField(c, &of.Hint)
		if intField(c, &of.At); c.decoding {
			of.Hash, of.LastUse = *hash, new(CredentialLastUse)
		}
	})
	mapField(c, a.existed, func(key *credentialIdentity, existed *bool) {
		uintField(c, &key.credential)
		uintField(c, &key.owner)
		uintField(c, &key.ref)
		stringField(c, &key.name)
		*existed = true
	})
	mapField(c, a.secrets, func(name *string, sealed *[]byte) {
		stringField(c, name)
		bytesField(c, sealed)
	})
	mapField(c, a.paused, func(key *pauseKey, paused *bool) {
		uintField(c, &key.target)
		uintField(c, &key.ref)
		boolField(c, paused)
	})
	mapField(c, a.lists, func(list *market.Ref, file *SuppressionFile) {
		uintField(c, list)
		stringField(c, &file.File)
		stringField(c, &file.Source)
		uintField(c, &file.Entries)
		if c.hasFieldsSince(versionHistory) {
			intField(c, &file.At)
			stringField(c, &file.By)
			boolField(c, &file.Uploaded)
		}
	})
}
