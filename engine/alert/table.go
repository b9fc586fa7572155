package alert

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"pingpost/engine/event"
)

const (
	// maxHistory is the number of changes that the table keeps. Older ones are in the log only. It keeps
	// more while their notifications have not ended, so that none is lost.
	maxHistory = 1000
	// maxUnfinished bounds the table if notifications do not end. The queues of all channels together
	// hold fewer, so it evicts none that waits.
	maxUnfinished = 25_000
)

// Key identifies an alert: a rule and one of its subjects.
type Key struct{ Rule, Subject string }

// Change is an alert that fired, was announced or resolved, with the notifications about it.
type Change struct {
	Number        uint64                              `json:"number"` // in the history, from 1
	Transition    event.AlertOrNotificationTransition `json:"transition"`
	Rule          string                              `json:"rule"`
	Kind          KindName                            `json:"-"` // of the rule at that time, or after a start from a snapshot the present one's; empty: unknown
	Subject       string                              `json:"subject"`
	Value         Quantity                            `json:"-"`
	Threshold     Quantity                            `json:"-"`
	Note          string                              `json:"note"`
	At            int64                               `json:"at"`
	Notifications []Notification                      `json:"notifications"`
}

// Notification says whether one channel was notified of an alert's change.
type Notification struct {
	Channel string                              `json:"channel"`
	Outcome event.AlertOrNotificationTransition `json:"outcome"` // zero: not finished
	Error   string                              `json:"error"`
	At      int64                               `json:"at"`
}

// FiringAlert is an alert that fires.
type FiringAlert struct {
	Key
	Kind      KindName `json:"-"` // as in Change
	Since     int64    // Unix nanoseconds
	Value     Quantity // when it fired
	Threshold Quantity
	Note      string
	Announced bool // at least one channel got or gets a notification
}

// Table is the part of the state that alerts have: the settings, the alerts that fire, and the history.
// ApplySettings and ApplyChange change it; all methods are safe for concurrent use. Its zero value is
// the state of a log without events of alerts, and EncodeSnapshot is then empty.
type Table struct {
	settings atomic.Pointer[Settings] // nil: the default

	mu       sync.Mutex // guards the following fields
	document []byte     // of the settings; empty: the default
	firing   map[Key]FiringAlert
	history  []Change // oldest first
	waiting  int      // changes in history with an unfinished notification
	last     uint64   // number of the newest change
}

// Settings returns the current settings. The caller must not change them.
func (t *Table) Settings() *Settings {
	if settings := t.settings.Load(); settings != nil {
		return settings
	}
	return defaultSettings
}

var defaultSettings = DefaultSettings()

// ApplySettings replaces the settings by the event's document. It ignores a document that this program
// cannot read, for example because of a bug in an earlier program, and keeps the previous settings. A
// snapshot therefore always contains the settings in use.
func (t *Table) ApplySettings(e *event.AlertSettingsChanged) {
	settings, err := ParseSettings(e.Document)
	if err != nil {
		return
	}
	t.mu.Lock()
	t.document = bytes.Clone(e.Document)
	t.mu.Unlock()
	t.settings.Store(settings)
}

// ApplyChange applies a change of an alert, or the end of a notification.
func (t *Table) ApplyChange(e *event.AlertOrNotificationChanged) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e.Transition >= event.NotificationSent {
		t.finishNotificationLocked(e)
		return
	}
	key := Key{copyText(e.Rule), copyText(e.Subject)}
	t.last++
	kind := t.firing[key].Kind
	if rule := t.Settings().FindRule(key.Rule); rule != nil {
		kind = rule.Kind
	}
	change := Change{
		Kind:   kind,
		Number: t.last, Transition: e.Transition, Rule: key.Rule, Subject: key.Subject, Value: Quantity(e.Value), Threshold: Quantity(e.Threshold),
		Note: copyText(e.Note), At: e.At,
	}
	for _, channel := range e.Channels {
		change.Notifications = append(change.Notifications, Notification{Channel: copyText(channel)})
	}
	t.history = append(t.history, change)
	if change.isUnfinished() {
		t.waiting++
	}
	t.evictOneIfFullLocked()
	t.updateFiringLocked(key, &change)
}

// copyText returns a copy of a text, with U+FFFD in place of bytes that are no UTF-8: a snapshot cannot
// contain them.
func copyText(text string) string { return strings.Clone(strings.ToValidUTF8(text, "\uFFFD")) }

// evictOneIfFullLocked removes one change if the history has more than maxHistory: the oldest without
// unfinished notifications. If all older changes are unfinished, it keeps them, but above maxUnfinished
// it removes the oldest. It never removes the newest change. The caller holds t.mu.
func (t *Table) evictOneIfFullLocked() {
	if len(t.history) <= maxHistory {
		return
	}
	older, olderUnfinished := t.history[:len(t.history)-1], t.waiting
	if t.history[len(older)].isUnfinished() {
		olderUnfinished--
	}
	at := -1
	if olderUnfinished < len(older) { // else the search would visit thousands of changes for each new one
		at = slices.IndexFunc(older, func(c Change) bool { return !c.isUnfinished() })
	}
	if at < 0 {
		if t.waiting <= maxUnfinished {
			return
		}
		at = 0
		t.waiting--
	}
	t.history = slices.Delete(t.history, at, at+1)
}

// isUnfinished reports whether a notification of the change has no outcome.
func (c *Change) isUnfinished() bool {
	return slices.ContainsFunc(c.Notifications, func(n Notification) bool { return n.Outcome == 0 })
}

// updateFiringLocked updates the alerts that fire after a change. The caller holds t.mu.
func (t *Table) updateFiringLocked(key Key, change *Change) {
	if t.firing == nil {
		t.firing = make(map[Key]FiringAlert)
	}
	switch change.Transition {
	case event.AlertFired:
		t.firing[key] = FiringAlert{Key: key, Kind: change.Kind, Since: change.At, Value: change.Value, Threshold: change.Threshold, Note: change.Note, Announced: len(change.Notifications) > 0}
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
func (t *Table) finishNotificationLocked(e *event.AlertOrNotificationChanged) {
	at, found := t.indexOfLocked(e.Of)
	if !found {
		return // the history no longer has the change
	}
	if !t.history[at].isUnfinished() {
		return
	}
	notifications := slices.Clone(t.history[at].Notifications) // readers may hold the old list
	for i := range notifications {
		isEnded := func(channel string) bool { return copyText(channel) == notifications[i].Channel }
		if notifications[i].Outcome == 0 && slices.ContainsFunc(e.Channels, isEnded) {
			notifications[i].Outcome, notifications[i].Error, notifications[i].At = e.Transition, copyText(e.Error), e.At
		}
	}
	t.history[at].Notifications = notifications
	if !t.history[at].isUnfinished() {
		t.waiting--
		t.evictOneIfFullLocked()
	}
}

// FiringAlerts returns the alerts that fire, sorted by rule and subject.
func (t *Table) FiringAlerts() []FiringAlert {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.SortedFunc(maps.Values(t.firing), func(a, b FiringAlert) int { return compareKeys(a.Key, b.Key) })
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

// ChangesWithUnfinishedNotifications returns the changes with a number above after that have a notification
// without an outcome, oldest first.
func (t *Table) ChangesWithUnfinishedNotifications(after uint64) (changes []Change) {
	t.mu.Lock()
	defer t.mu.Unlock()
	first, _ := t.indexOfLocked(after + 1)
	for i := first; i < len(t.history); i++ {
		if c := &t.history[i]; c.isUnfinished() {
			changes = append(changes, *c)
		}
	}
	return changes
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
