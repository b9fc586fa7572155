package state

import (
	"slices"
	"sync"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// CatalogID identifies the configuration in force: its version, and the hashes of its
// document and of the entries made through the API.
type CatalogID struct {
	Version  uint32
	Document string // hex SHA-256
	Overlay  string // hex SHA-256; empty: no entry was made through the API
}

// Revision is a configuration that was put into force.
type Revision struct {
	CatalogID
	At   int64 // Unix nanoseconds; zero: loaded from a snapshot of an earlier program
	By   string
	From event.ConfigOrigin // zero: written by an earlier program
}

// MaxRevisions is the number of earlier configurations that memory keeps beside the one in
// force. The oldest one only shows the changes of the next.
const MaxRevisions = 1000

// catalogs holds the configuration in force and the earlier ones, the newest last.
// State.applying guards it.
type catalogs struct {
	current   CatalogID
	revisions []Revision // the one in force is the last
}

func (c *catalogs) apply(e *event.CatalogSet, at int64) {
	c.current = CatalogID{Version: e.Version, Document: copyString(e.Document), Overlay: copyString(e.Overlay)}
	if len(c.revisions) > MaxRevisions {
		c.revisions = append(c.revisions[:0], c.revisions[1:]...)
	}
	c.revisions = append(c.revisions, Revision{CatalogID: c.current, At: at, By: copyString(e.By), From: e.From})
}

// Catalog returns the configuration in force; version zero means none.
func (s *State) Catalog() CatalogID {
	s.applying.Lock()
	defer s.applying.Unlock()
	return s.catalogs.current
}

// Revisions returns the configurations that were in force, the newest first. The caller
// owns the list.
func (s *State) Revisions() []Revision {
	s.applying.Lock()
	past := slices.Clone(s.catalogs.revisions)
	s.applying.Unlock()
	slices.Reverse(past)
	return past
}

// digest leaves out the entries of earlier programs, so that their logs keep their hash.
func (c *catalogs) digest() (sum uint64) {
	for i := range c.revisions {
		r := &c.revisions[i]
		if r.From != 0 {
			sum += newDigest(26).addWord(uint64(r.Version)).addBytes([]byte(r.Document)).addBytes([]byte(r.Overlay)).
				addWord(uint64(r.At)).addBytes([]byte(r.By)).addWord(uint64(r.From)).sum()
		}
	}
	return sum
}

func (c *catalogs) encode(w *sectionEncoder) {
	w.writeUint(uint64(len(c.revisions)))
	for i := range c.revisions {
		r := &c.revisions[i]
		w.writeUint(uint64(r.Version))
		w.writeString(r.Document)
		w.writeString(r.Overlay)
		w.writeInt(r.At)
		w.writeString(r.By)
		w.writeUint(uint64(r.From))
	}
}

// decode reads the history, which follows the version and document of the one in force.
func (c *catalogs) decode(r *sectionDecoder) {
	if r.version < versionHistory {
		if c.current.Version > 0 {
			c.revisions = append(c.revisions, Revision{CatalogID: c.current})
		}
		return
	}
	for range r.readCount() {
		c.revisions = append(c.revisions, Revision{
			CatalogID: CatalogID{Version: uint32(r.readUint()), Document: r.readString(), Overlay: r.readString()},
			At:        r.readInt(), By: r.readString(), From: event.ConfigOrigin(r.readUint()),
		})
	}
	if n := len(c.revisions); n > 0 {
		c.current.Overlay = c.revisions[n-1].Overlay
	}
}

// nameRegister is the register of configured names. A name gets its number when it is first seen,
// and keeps it after it leaves the configuration.
type nameRegister struct {
	mu   sync.RWMutex
	refs map[event.ObjectKind]map[string]market.Ref
	ids  map[event.ObjectKind][]string // by Ref
}

func newNameRegister() nameRegister {
	return nameRegister{refs: make(map[event.ObjectKind]map[string]market.Ref), ids: make(map[event.ObjectKind][]string)}
}

func (n *nameRegister) add(kind event.ObjectKind, ref market.Ref, id string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.refs[kind] == nil {
		n.refs[kind] = make(map[string]market.Ref)
		n.ids[kind] = []string{""}
	}
	if int(ref) != len(n.ids[kind]) {
		panic("BUG: names are numbered one after the other")
	}
	id = copyString(id)
	n.refs[kind][id] = ref
	n.ids[kind] = append(n.ids[kind], id)
}

// RefOf returns a name's number, or zero if the name is unknown.
func (s *State) RefOf(kind event.ObjectKind, id string) market.Ref {
	s.names.mu.RLock()
	defer s.names.mu.RUnlock()
	return s.names.refs[kind][id]
}

// NameOf returns the name with the number, or an empty string.
func (s *State) NameOf(kind event.ObjectKind, ref market.Ref) string {
	s.names.mu.RLock()
	defer s.names.mu.RUnlock()
	if ids := s.names.ids[kind]; int(ref) < len(ids) {
		return ids[ref]
	}
	return ""
}

// NameCount returns how many names of a kind have numbers.
func (s *State) NameCount(kind event.ObjectKind) int {
	s.names.mu.RLock()
	defer s.names.mu.RUnlock()
	return max(0, len(s.names.ids[kind])-1)
}

// CapRefs returns the numbers of all caps by their keys. The caller owns the map.
func (s *State) CapRefs() map[market.CapKey]market.Ref {
	s.caps.keysMu.RLock()
	defer s.caps.keysMu.RUnlock()
	refs := make(map[market.CapKey]market.Ref, len(s.caps.keys))
	for ref, key := range s.caps.keys {
		if ref > 0 {
			refs[key] = market.Ref(ref)
		}
	}
	return refs
}

func (n *nameRegister) digest() (sum uint64) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	for kind, ids := range n.ids {
		for ref, id := range ids {
			if ref > 0 {
				sum += newDigest(9).addWord(uint64(kind)).addWord(uint64(ref)).addBytes([]byte(id)).sum()
			}
		}
	}
	return sum
}
