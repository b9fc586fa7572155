package exchange

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"pingpost/config/canonical"
	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/server/admin"
)

// parts are the configuration in force, taken apart.
type currentEntries struct {
	*activeConfig
	all  canonical.Entries
	base canonical.Entries
	file string // that base is of
}

func (x *Exchange) currentEntries() (*currentEntries, error) {
	now := x.active.Load()
	if now == nil || x.Ready() != nil {
		return nil, errNotReady
	}
	s := &currentEntries{activeConfig: now, file: x.sourceName(now)}
	var err error
	if s.all, err = canonical.ParseEntries(now.canonical); err == nil {
		s.base, err = canonical.ParseEntries(now.base)
	}
	return s, err
}

// Items are the entries of a kind in force.
func (x *Exchange) Items(kind canonical.Kind) ([]admin.Item, error) {
	s, err := x.currentEntries()
	if err != nil {
		return nil, err
	}
	items := make([]admin.Item, 0, len(s.all[kind]))
	for _, entry := range s.all[kind] {
		items = append(items, *x.findItem(s, canonical.Ref{Kind: kind, ID: entry.ID}))
	}
	return items, nil
}

// Item is one of them.
func (x *Exchange) Item(ref canonical.Ref) (*admin.Item, error) {
	s, err := x.currentEntries()
	if err != nil {
		return nil, err
	}
	if item := x.findItem(s, ref); item != nil {
		return item, nil
	}
	return nil, noItem(ref)
}

func noItem(ref canonical.Ref) error {
	return fmt.Errorf("%w: the configuration has no %s", engine.ErrNotFound, ref)
}

// itemIn is an entry as operators see it, nil where there is none.
func (x *Exchange) findItem(s *currentEntries, ref canonical.Ref) *admin.Item {
	text := s.all.Find(ref)
	if text == nil {
		return nil
	}
	item := &admin.Item{ID: ref.ID, Owner: "api", ETag: etagOf(text), Document: text}
	if s.base.Find(ref) != nil {
		item.Owner, item.File = "file", s.file
	}
	doors := map[canonical.Kind]event.NameKind{canonical.Buyers: event.NameBuyer, canonical.Campaigns: event.NameCampaign}
	if door, ok := doors[ref.Kind]; ok {
		paused, _ := x.state.Paused(door, x.state.RefOf(door, ref.ID))
		item.Paused = &paused
	}
	return item
}

// etagOf is of an entry's canonical text, so that it is the same wherever and whenever
// the entry is.
func etagOf(text json.RawMessage) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:12])
}
