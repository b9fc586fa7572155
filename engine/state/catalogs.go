package state

import (
	"slices"
	"sync"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// Catalog identifies the configuration in force: its version, and the hashes of its
// document and of the entries made through the API.
type Catalog struct {
	Version  uint32
	Document string // hex SHA-256
	Overlay  string // hex SHA-256; empty: no entry was made through the API
}

// Revision is a configuration that was put into force.
type Revision struct {
	Catalog
	At   int64 // Unix nanoseconds; zero: loaded from a snapshot of an earlier program
	By   string
	From event.Origin // zero: written by an earlier program
}

// Revisions is the number of earlier configurations that memory keeps beside the one in
// force. The oldest one only shows the changes of the next.
const Revisions = 1000

// catalogs holds the configuration in force and the earlier ones, the newest last.
// State.applying guards it.
type catalogs struct {
	now  Catalog
	past []Revision // the one in force is the last
}

func (c *catalogs) set(e *event.CatalogSet, at int64) {
	c.now = Catalog{Version: e.Version, Document: clone(e.Document), Overlay: clone(e.Overlay)}
	if len(c.past) > Revisions {
		c.past = append(c.past[:0], c.past[1:]...)
	}
	c.past = append(c.past, Revision{Catalog: c.now, At: at, By: clone(e.By), From: e.From})
}

// Catalog returns the configuration in force; version zero means none.
func (s *State) Catalog() Catalog {
	s.applying.Lock()
	defer s.applying.Unlock()
	return s.catalogs.now
}

// Revisions returns the configurations that were in force, the newest first. The caller
// owns the list.
func (s *State) Revisions() []Revision {
	s.applying.Lock()
	past := slices.Clone(s.catalogs.past)
	s.applying.Unlock()
	slices.Reverse(past)
	return past
}

// digest leaves out the entries of earlier programs, so that their logs keep their hash.
func (c *catalogs) digest() (sum uint64) {
	for i := range c.past {
		r := &c.past[i]
		if r.From != 0 {
			sum += newDigest(26).word(uint64(r.Version)).bytes([]byte(r.Document)).bytes([]byte(r.Overlay)).
				word(uint64(r.At)).bytes([]byte(r.By)).word(uint64(r.From)).sum()
		}
	}
	return sum
}

func (c *catalogs) write(w *writer) {
	w.uint(uint64(len(c.past)))
	for i := range c.past {
		r := &c.past[i]
		w.uint(uint64(r.Version))
		w.string(r.Document)
		w.string(r.Overlay)
		w.int(r.At)
		w.string(r.By)
		w.uint(uint64(r.From))
	}
}

// read reads the history, which follows the version and document of the one in force.
func (c *catalogs) read(r *reader) {
	if r.version < versionHistory {
		if c.now.Version > 0 {
			c.past = append(c.past, Revision{Catalog: c.now})
		}
		return
	}
	for range r.count() {
		c.past = append(c.past, Revision{
			Catalog: Catalog{Version: uint32(r.uint()), Document: r.string(), Overlay: r.string()},
			At:      r.int(), By: r.string(), From: event.Origin(r.uint()),
		})
	}
	if n := len(c.past); n > 0 {
		c.now.Overlay = c.past[n-1].Overlay
	}
}

// names is the register of configured names. A name gets its number when it is first seen,
// and keeps it after it leaves the configuration.
type names struct {
	mu   sync.RWMutex
	refs map[event.NameKind]map[string]market.Ref
	ids  map[event.NameKind][]string // by Ref
}

func newNames() names {
	return names{refs: make(map[event.NameKind]map[string]market.Ref), ids: make(map[event.NameKind][]string)}
}

func (n *names) add(kind event.NameKind, ref market.Ref, id string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.refs[kind] == nil {
		n.refs[kind] = make(map[string]market.Ref)
		n.ids[kind] = []string{""}
	}
	if int(ref) != len(n.ids[kind]) {
		panic("BUG: names are numbered one after the other")
	}
	id = clone(id)
	n.refs[kind][id] = ref
	n.ids[kind] = append(n.ids[kind], id)
}

// RefOf returns a name's number, or zero if the name is unknown.
func (s *State) RefOf(kind event.NameKind, id string) market.Ref {
	s.names.mu.RLock()
	defer s.names.mu.RUnlock()
	return s.names.refs[kind][id]
}

// NameOf returns the name with the number, or an empty string.
func (s *State) NameOf(kind event.NameKind, ref market.Ref) string {
	s.names.mu.RLock()
	defer s.names.mu.RUnlock()
	if ids := s.names.ids[kind]; int(ref) < len(ids) {
		return ids[ref]
	}
	return ""
}

// NameCount returns how many names of a kind have numbers.
func (s *State) NameCount(kind event.NameKind) int {
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

func (n *names) digest() (sum uint64) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	for kind, ids := range n.ids {
		for ref, id := range ids {
			if ref > 0 {
				sum += newDigest(9).word(uint64(kind)).word(uint64(ref)).bytes([]byte(id)).sum()
			}
		}
	}
	return sum
}
