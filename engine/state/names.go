package state

import (
	"sync"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// names is the register of configured names: each has had its number since it
// was first seen, and keeps it when it leaves the configuration.
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

// RefOf is a name's number, or zero where it was never seen.
func (s *State) RefOf(kind event.NameKind, id string) market.Ref {
	s.names.mu.RLock()
	defer s.names.mu.RUnlock()
	return s.names.refs[kind][id]
}

// NameOf is the name that has the number, or empty.
func (s *State) NameOf(kind event.NameKind, ref market.Ref) string {
	s.names.mu.RLock()
	defer s.names.mu.RUnlock()
	if ids := s.names.ids[kind]; int(ref) < len(ids) {
		return ids[ref]
	}
	return ""
}

// Names is how many names of a kind have numbers.
func (s *State) Names(kind event.NameKind) int {
	s.names.mu.RLock()
	defer s.names.mu.RUnlock()
	return max(0, len(s.names.ids[kind])-1)
}

// CapRefs is the register of caps: by identity, their numbers. The caller owns
// the map.
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
