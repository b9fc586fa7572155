package state

import (
	"slices"

	"pingpost/engine/event"
)

// Catalog is the configuration in force: its version, and the hashes of its
// document and of what was made entry by entry.
type Catalog struct {
	Version  uint32
	Document string // hex SHA-256
	Overlay  string // hex SHA-256; empty: nothing was made
}

// Revision is a configuration that was put into force.
type Revision struct {
	Catalog
	At   int64 // Unix nanoseconds; zero where a snapshot of an earlier program did not say
	By   string
	From event.Origin // zero: by an earlier program
}

// Revisions is how many configurations of before are remembered beside the one in
// force; the oldest one only says what the next one changed.
const Revisions = 1000

// catalogs are the configuration in force and those before it, the newest last.
// Whoever holds State.applying has them.
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

// Catalog is the configuration in force; version zero is none.
func (s *State) Catalog() Catalog {
	s.applying.Lock()
	defer s.applying.Unlock()
	return s.catalogs.now
}

// Revisions are the configurations that were in force, the newest first. The
// caller owns the list.
func (s *State) Revisions() []Revision {
	s.applying.Lock()
	past := slices.Clone(s.catalogs.past)
	s.applying.Unlock()
	slices.Reverse(past)
	return past
}

// digest leaves out what earlier programs wrote: their logs keep the hash that
// they had.
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

// read goes on after the version and the document of the one in force.
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
