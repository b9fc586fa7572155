package alert

import (
	"encoding/json"
	"maps"
	"slices"

	"pingpost/engine/event"
)

// snapshot is the table in a snapshot of the state.
type snapshot struct {
	Document []byte           `json:"document,omitempty"`
	Firing   []snapshotFiring `json:"firing,omitempty"`
	History  []snapshotChange `json:"history,omitempty"`
	Last     uint64           `json:"last,omitempty"`
}

// snapshotFiring and snapshotChange have amounts as whole numbers: the JSON of a Quantity cannot be
// negative.
type (
	snapshotFiring struct {
		FiringAlert
		Value, Threshold int64
	}
	snapshotChange struct {
		Change
		RawValue     int64 `json:"value"`
		RawThreshold int64 `json:"threshold"`
	}
)

// EncodeSnapshot returns the table for a snapshot of the state. It is empty for an empty table.
func (t *Table) EncodeSnapshot() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.document) == 0 && t.last == 0 {
		return nil
	}
	all := snapshot{Document: t.document, Last: t.last}
	for _, key := range slices.SortedFunc(maps.Keys(t.firing), compareKeys) {
		firing := t.firing[key]
		all.Firing = append(all.Firing, snapshotFiring{firing, int64(firing.Value), int64(firing.Threshold)})
	}
	for i := range t.history {
		all.History = append(all.History, snapshotChange{t.history[i], int64(t.history[i].Value), int64(t.history[i].Threshold)})
	}
	text, err := json.Marshal(all)
	if err != nil {
		panic("BUG: cannot encode the alerts of a snapshot: " + err.Error())
	}
	return text
}

// kindOfPresentRule returns the kind of a rule in the settings; empty if it was removed.
func (t *Table) kindOfPresentRule(id string) KindName {
	if rule := t.Settings().FindRule(id); rule != nil {
		return rule.Kind
	}
	return ""
}

// DecodeSnapshot fills an empty table with the result of EncodeSnapshot.
func (t *Table) DecodeSnapshot(encoded []byte) error {
	if len(encoded) == 0 {
		return nil
	}
	var all snapshot
	if err := json.Unmarshal(encoded, &all); err != nil {
		return err
	}
	if len(all.Document) > 0 {
		t.ApplySettings(&event.AlertSettingsChanged{Document: all.Document})
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last, t.firing = all.Last, make(map[Key]FiringAlert)
	for i := range all.Firing {
		firing := all.Firing[i].FiringAlert
		firing.Value, firing.Threshold = Quantity(all.Firing[i].Value), Quantity(all.Firing[i].Threshold)
		firing.Kind = t.kindOfPresentRule(firing.Rule)
		t.firing[firing.Key] = firing
	}
	for i := range all.History {
		change := all.History[i].Change
		change.Value, change.Threshold = Quantity(all.History[i].RawValue), Quantity(all.History[i].RawThreshold)
		change.Kind = t.kindOfPresentRule(change.Rule)
		t.history = append(t.history, change)
		if change.isUnfinished() {
			t.waiting++
		}
	}
	return nil
}
