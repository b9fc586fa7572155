package alert

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"pingpost/engine/event"
)

// maxHistory is the number of changes that the table keeps. Older ones are in the log only.
const maxHistory = 1000

// Key identifies an alert: a rule and one of its subjects.
type Key struct{ Rule, Subject string }

// Change is an alert that fired, was announced or resolved, with the notifications about it.
type Change struct {
	Number        uint64                `json:"number"` // in the history, from 1
	Transition    event.AlertTransition `json:"transition"`
	Rule          string                `json:"rule"`
	Subject       string                `json:"subject"`
	Value         Quantity              `json:"-"`
	Threshold     Quantity              `json:"-"`
	Note          string                `json:"note"`
	At            int64                 `json:"at"`
	Notifications []Notification        `json:"notifications"`
}

// Notification is the state of the notification of a change to one channel.
type Notification struct {
	Channel string                `json:"channel"`
	Outcome event.AlertTransition `json:"outcome"` // zero: not finished
	Error   string                `json:"error"`
	At      int64                 `json:"at"`
}

// Firing is an alert that fires.
type Firing struct {
	Key
	Since     int64    // Unix nanoseconds
	Value     Quantity // when it fired
	Threshold Quantity
	Note      string
	Announced bool // at least one channel got or gets a notification
}

// Table is the part of the state that alerts have: the settings, the alerts that fire, and the
// history. Apply changes it; all methods are safe for concurrent use. Its zero value is the state of
// a log without events of alerts, and then Hash is 0.
type Table struct {
	settings atomic.Pointer[Settings] // nil: the default

	mu       sync.Mutex // guards the following fields
	document []byte     // of the settings; empty: the default
	firing   map[Key]Firing
	history  []Change // oldest first, at most maxHistory
	last     uint64   // number of the newest change
}

// Settings returns the current settings. The caller must not change them.
func (t *Table) Settings() *Settings {
	if settings := t.settings.Load(); settings != nil {
		return settings
	}
	return defaultSettings
}

var defaultSettings = Default()

// ApplySettings replaces the settings by the event's document. A document that this program cannot
// read, for example because of a bug in an earlier one, leaves the settings unchanged.
func (t *Table) ApplySettings(e *event.AlertSettingsChanged) {
	document := bytes.Clone(e.Document)
	t.mu.Lock()
	t.document = document
	t.mu.Unlock()
	if settings, err := ParseSettings(document); err == nil {
		t.settings.Store(settings)
	}
}

// ApplyChange applies a change of an alert, or the end of a notification.
func (t *Table) ApplyChange(e *event.AlertChanged) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e.Transition >= event.NotificationSent {
		t.finishNotificationLocked(e)
		return
	}
	key := Key{strings.Clone(e.Rule), strings.Clone(e.Subject)}
	t.last++
	change := Change{
		Number: t.last, Transition: e.Transition, Rule: key.Rule, Subject: key.Subject, Value: Quantity(e.Value), Threshold: Quantity(e.Threshold),
		Note: strings.Clone(e.Note), At: e.At,
	}
	for _, channel := range e.Channels {
		change.Notifications = append(change.Notifications, Notification{Channel: strings.Clone(channel)})
	}
	t.history = append(t.history, change)
	if surplus := len(t.history) - maxHistory; surplus > 0 {
		t.history = slices.Delete(t.history, 0, surplus)
	}
	t.setFiringLocked(key, &change)
}

// setFiringLocked updates the alerts that fire after a change. The caller holds t.mu.
func (t *Table) setFiringLocked(key Key, change *Change) {
	if t.firing == nil {
		t.firing = make(map[Key]Firing)
	}
	switch change.Transition {
	case event.AlertFired:
		t.firing[key] = Firing{Key: key, Since: change.At, Value: change.Value, Threshold: change.Threshold, Note: change.Note, Announced: len(change.Notifications) > 0}
	case event.AlertAnnounced:
		if firing, ok := t.firing[key]; ok {
			firing.Announced = true
			t.firing[key] = firing
		}
	case event.AlertResolved:
		delete(t.firing, key)
	}
}

// finishNotificationLocked records how a notification ended. The caller holds t.mu.
func (t *Table) finishNotificationLocked(e *event.AlertChanged) {
	at, found := t.indexOfLocked(e.Of)
	if !found {
		return // the history no longer has the change
	}
	notifications := slices.Clone(t.history[at].Notifications) // readers may hold the old list
	for i := range notifications {
		if slices.Contains(e.Channels, notifications[i].Channel) && notifications[i].Outcome == 0 {
			notifications[i].Outcome, notifications[i].Error, notifications[i].At = e.Transition, strings.Clone(e.Error), e.At
		}
	}
	t.history[at].Notifications = notifications
}

// Firing returns the alerts that fire, sorted by rule and subject.
func (t *Table) Firing() []Firing {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.SortedFunc(maps.Values(t.firing), func(a, b Firing) int { return compareKeys(a.Key, b.Key) })
}

func compareKeys(a, b Key) int {
	if c := strings.Compare(a.Rule, b.Rule); c != 0 {
		return c
	}
	return strings.Compare(a.Subject, b.Subject)
}

// FiringCount returns the number of alerts that fire.
func (t *Table) FiringCount() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.firing)
}

// History returns at most limit changes with a number below before, newest first. before 0 stands
// for the end of the history.
func (t *Table) History(before uint64, limit int) (newestFirst []Change) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := len(t.history) - 1; i >= 0 && len(newestFirst) < limit; i-- {
		if before == 0 || t.history[i].Number < before {
			newestFirst = append(newestFirst, t.history[i])
		}
	}
	return newestFirst
}

// Unfinished returns the changes with a number above after that have a notification without an
// outcome, oldest first.
func (t *Table) Unfinished(after uint64) (changes []Change) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.history {
		if c := &t.history[i]; c.Number > after && slices.ContainsFunc(c.Notifications, func(n Notification) bool { return n.Outcome == 0 }) {
			changes = append(changes, *c)
		}
	}
	return changes
}

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
		Firing
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
	t.last, t.firing = all.Last, make(map[Key]Firing)
	for i := range all.Firing {
		firing := all.Firing[i].Firing
		firing.Value, firing.Threshold = Quantity(all.Firing[i].Value), Quantity(all.Firing[i].Threshold)
		t.firing[firing.Key] = firing
	}
	for i := range all.History {
		change := all.History[i].Change
		change.Value, change.Threshold = Quantity(all.History[i].RawValue), Quantity(all.History[i].RawThreshold)
		t.history = append(t.history, change)
	}
	return nil
}

// FindChange returns the change with this number, or false if the history no longer has it.
func (t *Table) FindChange(number uint64) (change Change, found bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	at, found := t.indexOfLocked(number)
	if !found {
		return Change{}, false
	}
	return t.history[at], true
}

func (t *Table) indexOfLocked(number uint64) (at int, found bool) {
	return slices.BinarySearchFunc(t.history, number, func(c Change, number uint64) int { return cmp.Compare(c.Number, number) })
}
