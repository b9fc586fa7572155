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

// activeEntrySet are the configuration entries (buyers, campaigns and others) that are active
// now. base has only those from the file or a sent document; the others came from the API.
type activeEntrySet struct {
	*activeConfig
	all  canonical.Entries
	base canonical.Entries
	file string // name of the file that base came from, or sentDocumentName
}

func (x *Exchange) loadActiveEntries() (*activeEntrySet, error) {
	now := x.active.Load()
	if now == nil || x.Ready() != nil {
		return nil, errNotReady
	}
	s := &activeEntrySet{activeConfig: now, file: x.sourceName(now)}
	var err error
	if s.all, err = canonical.ParseEntries(now.canonical); err == nil {
		s.base, err = canonical.ParseEntries(now.base)
	}
	return s, err
}

// ConfigEntries returns the active configuration entries of one kind, such as all buyers.
func (x *Exchange) ConfigEntries(kind canonical.Collection) ([]admin.ConfigEntry, error) {
	s, err := x.loadActiveEntries()
	if err != nil {
		return nil, err
	}
	items := make([]admin.ConfigEntry, 0, len(s.all[kind]))
	for _, entry := range s.all[kind] {
		items = append(items, *x.findConfigEntry(s, canonical.EntryRef{Kind: kind, ID: entry.ID}))
	}
	return items, nil
}

// ConfigEntry returns the active configuration entry that ref names, or a not-found error.
func (x *Exchange) ConfigEntry(ref canonical.EntryRef) (*admin.ConfigEntry, error) {
	s, err := x.loadActiveEntries()
	if err != nil {
		return nil, err
	}
	if item := x.findConfigEntry(s, ref); item != nil {
		return item, nil
	}
	return nil, noSuchEntryError(ref)
}

func noSuchEntryError(ref canonical.EntryRef) error {
	return fmt.Errorf("%w: the configuration has no %s", engine.ErrNotFound, ref)
}

// findConfigEntry returns the entry that ref names in the form of the admin API, or nil if it
// does not exist.
func (x *Exchange) findConfigEntry(s *activeEntrySet, ref canonical.EntryRef) *admin.ConfigEntry {
	text := s.all.FindJSON(ref)
	if text == nil {
		return nil
	}
	item := &admin.ConfigEntry{ID: ref.ID, Owner: "api", ETag: etagOf(text), Document: text}
	if s.base.FindJSON(ref) != nil {
		item.Owner, item.File = "file", s.file
	}
	pausable := map[canonical.Collection]event.ConfigObjectKind{canonical.Buyers: event.ObjectBuyer, canonical.Campaigns: event.ObjectCampaign}
	if kind, ok := pausable[ref.Kind]; ok {
		paused, _ := x.state.PauseStatus(kind, x.state.RefOf(kind, ref.ID))
		item.Paused = &paused
	}
	return item
}

// etagOf returns the ETag of a configuration entry: a hash of its canonical text. Equal entries
// have equal ETags.
func etagOf(canonicalJSON json.RawMessage) string {
	sum := sha256.Sum256(canonicalJSON)
	return hex.EncodeToString(sum[:12])
}
