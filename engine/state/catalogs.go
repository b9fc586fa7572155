package state

import (
	"slices"
	"sync"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// ConfigVersion identifies a configuration: by its version number, the hash of the configuration
// document, and the hash of the entries made through the API.
type ConfigVersion struct {
	Version  uint32
	Document string // hex SHA-256
	Overlay  string // hex SHA-256; empty: no entry was made through the API
}

// ConfigRevision is one activation of a configuration, with its time, operator and origin.
type ConfigRevision struct {
	ConfigVersion
	At   int64              // Unix nanoseconds; zero: loaded from a snapshot of an earlier program
	By   string             // the operator; empty: the exchange itself, at a start or a reload
	From event.ConfigOrigin // zero: written by an earlier program
}

// MaxRevisions is the number of earlier configurations that memory keeps beside the active one.
// The oldest revision serves only as the base of comparison for the one after it.
const MaxRevisions = 1000

// configHistory holds the active configuration and the earlier ones, the newest last.
// State.applying guards it.
type configHistory struct {
	current   ConfigVersion
	revisions []ConfigRevision // the active one is the last
}

// applyConfigActivated makes the event's configuration the active one and adds it to the history. It
// drops the oldest revision beyond MaxRevisions.
func (h *configHistory) applyConfigActivated(e *event.ConfigActivated, batchUnixNanos int64) {
	h.current = ConfigVersion{Version: e.Version, Document: copyString(e.Document), Overlay: copyString(e.Overlay)}
	if len(h.revisions) > MaxRevisions {
		h.revisions = append(h.revisions[:0], h.revisions[1:]...)
	}
	h.revisions = append(h.revisions, ConfigRevision{ConfigVersion: h.current, At: batchUnixNanos, By: copyString(e.By), From: e.From})
}

// CurrentConfigVersion returns the active configuration. Version zero means that no configuration
// was activated yet.
func (s *State) CurrentConfigVersion() ConfigVersion {
	s.applying.Lock()
	defer s.applying.Unlock()
	return s.catalogs.current
}

// ConfigRevisions returns the active configuration and up to MaxRevisions earlier ones, the
// newest first. The caller owns the list.
func (s *State) ConfigRevisions() []ConfigRevision {
	s.applying.Lock()
	past := slices.Clone(s.catalogs.revisions)
	s.applying.Unlock()
	slices.Reverse(past)
	return past
}

// sumOfEntryHashes returns the history's part of State.Hash. It leaves out entries that earlier
// programs wrote without an origin, so that the logs of those programs keep their hash.
func (h *configHistory) sumOfEntryHashes() (sum uint64) {
	for i := range h.revisions {
		r := &h.revisions[i]
		if r.From != 0 {
			sum += newRunningHash(26).addWord(uint64(r.Version)).addBytes([]byte(r.Document)).addBytes([]byte(r.Overlay)).
				addWord(uint64(r.At)).addBytes([]byte(r.By)).addWord(uint64(r.From)).sum()
		}
	}
	return sum
}

// encodeOrDecodeSnapshot encodes or decodes the history. encodeOrDecodeFounding has decoded the
// version and document of the active configuration already. In old snapshots this configuration is
// the whole history.
func (h *configHistory) encodeOrDecodeSnapshot(c *snapshotSectionCodec) {
	if !c.hasFieldsSinceVersion(versionHistory) {
		if h.current.Version > 0 {
			h.revisions = append(h.revisions, ConfigRevision{ConfigVersion: h.current})
		}
		return
	}
	encodeOrDecodeList(c, &h.revisions, func(r *ConfigRevision) {
		encodeOrDecodeUvarint(c, &r.Version)
		encodeOrDecodeString(c, &r.Document)
		encodeOrDecodeString(c, &r.Overlay)
		encodeOrDecodeZigzag(c, &r.At)
		encodeOrDecodeString(c, &r.By)
		encodeOrDecodeUvarint(c, &r.From)
	})
	if n := len(h.revisions); c.decoding && n > 0 {
		h.current.Overlay = h.revisions[n-1].Overlay
	}
}

// objectNumberRegistry is the register of the permanent numbers of configured names: of suppliers,
// buyers, campaigns and suppression lists. A name gets its number when a configuration first
// contains it, and keeps it after it leaves the configuration.
type objectNumberRegistry struct {
	mu   sync.RWMutex
	refs map[event.ConfigObjectKind]map[string]market.PermanentNumber
	ids  map[event.ConfigObjectKind][]string // by Ref
}

// newObjectNumberRegistry returns an empty register.
func newObjectNumberRegistry() objectNumberRegistry {
	return objectNumberRegistry{refs: make(map[event.ConfigObjectKind]map[string]market.PermanentNumber), ids: make(map[event.ConfigObjectKind][]string)}
}

// add gives the name id the number ref, which must be the next number of its kind.
func (n *objectNumberRegistry) add(kind event.ConfigObjectKind, ref market.PermanentNumber, id string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.refs[kind] == nil {
		n.refs[kind] = make(map[string]market.PermanentNumber)
		n.ids[kind] = []string{""}
	}
	if int(ref) != len(n.ids[kind]) {
		panic("BUG: the number of a new name is not the next free number")
	}
	id = copyString(id)
	n.refs[kind][id] = ref
	n.ids[kind] = append(n.ids[kind], id)
}

// RefOf returns the permanent number of the name, or zero if the name has no number.
func (s *State) RefOf(kind event.ConfigObjectKind, name string) market.PermanentNumber {
	s.names.mu.RLock()
	defer s.names.mu.RUnlock()
	return s.names.refs[kind][name]
}

// NameOf returns the name that has the permanent number ref, or an empty string if no name has
// it.
func (s *State) NameOf(kind event.ConfigObjectKind, ref market.PermanentNumber) string {
	s.names.mu.RLock()
	defer s.names.mu.RUnlock()
	if ids := s.names.ids[kind]; int(ref) < len(ids) {
		return ids[ref]
	}
	return ""
}

// CountPermanentNumbers returns the number of names of a kind that have a permanent number.
func (s *State) CountPermanentNumbers(kind event.ConfigObjectKind) int {
	s.names.mu.RLock()
	defer s.names.mu.RUnlock()
	return max(0, len(s.names.ids[kind])-1)
}

// CapRefsByKey returns the permanent number of each cap, by the cap's key. The caller owns the map.
func (s *State) CapRefsByKey() map[market.CapKey]market.PermanentNumber {
	s.caps.keysMu.RLock()
	defer s.caps.keysMu.RUnlock()
	refs := make(map[market.CapKey]market.PermanentNumber, len(s.caps.keys))
	for ref, key := range s.caps.keys {
		if ref > 0 {
			refs[key] = market.PermanentNumber(ref)
		}
	}
	return refs
}

// sumOfEntryHashes returns the register's part of State.Hash: the sum of the hashes of all names and
// numbers.
func (n *objectNumberRegistry) sumOfEntryHashes() (sum uint64) {
	for kind, ids := range n.ids {
		for ref, id := range ids {
			if ref > 0 {
				sum += newRunningHash(9).addWord(uint64(kind)).addWord(uint64(ref)).addBytes([]byte(id)).sum()
			}
		}
	}
	return sum
}
