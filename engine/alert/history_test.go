package alert

import (
	"bytes"
	"fmt"
	"testing"

	"pingpost/engine/event"
	"pingpost/internal/must"
)

// reload returns the table that a start from its snapshot has, and checks that their snapshots are
// equal.
func reload(t *testing.T, table *Table) *Table {
	t.Helper()
	loaded := new(Table)
	must.Succeed(t, loaded.DecodeSnapshot(table.EncodeSnapshot()))
	if !bytes.Equal(loaded.EncodeSnapshot(), table.EncodeSnapshot()) {
		t.Errorf("a loaded table differs:\n%s\n%s", loaded.EncodeSnapshot(), table.EncodeSnapshot())
	}
	return loaded
}

// The history keeps each change with a notification that has not ended, also beyond its limit, and the
// newest change.
func TestUnfinishedChangesStayInHistory(t *testing.T) {
	const changes = 3 * maxHistory
	table := new(Table)
	for i := range changes {
		table.ApplyChange(fired(fmt.Sprint(i), "mail"))
		table.ApplyChange(fired(fmt.Sprint(i))) // needs no notification
	}
	table = reload(t, table)
	unfinished := table.ChangesWithUnfinishedNotifications(0)
	if len(unfinished) != changes || len(table.History(0, 10*changes)) != changes+1 {
		t.Fatalf("%d unfinished changes of %d, %d in the history", len(unfinished), changes, len(table.History(0, 10*changes)))
	}
	if rest := table.ChangesWithUnfinishedNotifications(unfinished[9].Number); len(rest) != changes-10 || rest[0].Number != unfinished[10].Number {
		t.Errorf("%d changes after the tenth", len(rest))
	}
	for i, c := range unfinished {
		table.ApplyChange(ended(c.Number, event.NotificationSent, "mail"))
		if i == changes/2 {
			table = reload(t, table)
		}
	}
	history := reload(t, table).History(0, changes)
	if len(history) != maxHistory || history[0].Number != unfinished[changes-1].Number+1 {
		t.Errorf("%d changes in the history, the newest is %d", len(history), history[0].Number)
	}
}

// Notifications that never end do not grow the table without limit.
func TestHistoryIsBounded(t *testing.T) {
	table := new(Table)
	for i := range maxUnfinished + 10 {
		table.ApplyChange(fired(fmt.Sprint(i%7), "mail"))
	}
	if found := table.ChangesWithUnfinishedNotifications(0); len(found) != maxUnfinished || found[0].Number != 11 {
		t.Errorf("%d changes from %d", len(found), found[0].Number)
	}
}

// Text that is no UTF-8, in records of earlier programs, gives one state: live and after a start from a
// snapshot.
func TestInvalidTextIsReplaced(t *testing.T) {
	table := new(Table)
	invalid := "a\xff\xfe\uFFFDb<\u2028"
	change := fired(invalid, invalid)
	change.Rule, change.Note = invalid, invalid
	table.ApplyChange(change)
	end := ended(1, event.NotificationFailed, invalid)
	end.Error = invalid
	reload(t, table).ApplyChange(end)
	table.ApplyChange(end)
	loaded := reload(t, table)
	for _, of := range []*Table{table, loaded} {
		c, _ := of.FindChange(1)
		if want := "a\uFFFD\uFFFDb<\u2028"; c.Note != want || c.Notifications[0].Error != want || of.FiringAlerts()[0].Subject != want {
			t.Errorf("%+v", c)
		}
	}
}

// Unreadable settings change neither the live table nor the one after a start.
func TestUnreadableSettingsAreIgnored(t *testing.T) {
	changed := DefaultSettings()
	changed.Rules[0].Threshold = 91 * One
	for name, before := range map[string][]byte{"after changed ones": changed.Encode(), "after the default": nil} {
		table := new(Table)
		if before != nil {
			table.ApplySettings(&event.AlertSettingsChanged{Document: before})
		}
		want := table.Settings().Encode()
		table.ApplySettings(&event.AlertSettingsChanged{Document: []byte(`{"rules":7}`)})
		if live, started := table.Settings().Encode(), reload(t, table).Settings().Encode(); !bytes.Equal(live, want) || !bytes.Equal(started, want) {
			t.Errorf("%s: live %s, after a start %s", name, live, started)
		}
	}
}

func TestCloneSharesNothing(t *testing.T) {
	settings := &Settings{
		Rules: []Rule{{ID: "r", Channels: []string{"c"}}}, Silences: []Silence{{ID: "s"}},
		Channels: []Channel{{ID: "c", To: []string{"a@example.com"}, Sealed: []byte{1}}, {ID: "d"}},
	}
	before := settings.Encode()
	clone := settings.Clone()
	if !bytes.Equal(clone.Encode(), before) {
		t.Errorf("%s", clone.Encode())
	}
	clone.Rules[0].Channels[0], clone.Channels[0].To[0], clone.Channels[0].Sealed[0], clone.Silences[0].ID = "x", "x", 9, "x"
	if !bytes.Equal(settings.Encode(), before) {
		t.Errorf("a change of the copy changed the settings: %s", settings.Encode())
	}
}

// A change whose rule is gone, or has an unknown kind, is described by its transition.
func TestDescribeWithoutKind(t *testing.T) {
	unknown := &Rule{ID: "r", Kind: "of a newer release"}
	for _, test := range []struct {
		rule       *Rule
		transition event.AlertOrNotificationTransition
		subject    string
		want       Message
	}{
		{nil, event.AlertFired, "acme", Message{"Alert fired: acme", "An alert about acme fired at the value 82; its threshold was 80 (note). Its rule was removed since.", actionWithoutRule, "#/alerts"}},
		{nil, event.AlertAnnounced, "acme", Message{"Alert fired: acme", "An alert about acme fired at the value 82; its threshold was 80 (note). Its rule was removed since.", actionWithoutRule, "#/alerts"}},
		{nil, event.AlertResolved, "", Message{"Resolved: alert about the exchange", "The alert about the exchange ended at the value 82 (note). Its rule was removed since.", "Nothing. The alert has ended.", "#/alerts"}},
		{unknown, event.AlertFired, "acme", Message{"Alert fired: acme", `An alert about acme fired at the value 82; its threshold was 80 (note). This version does not know the kind "of a newer release" of its rule.`, "Upgrade the exchange to the version that added the rule, or remove the rule.", "#/alerts"}},
	} {
		if got := DescribeChange(test.rule, "", test.transition, test.subject, 82*One, 80*One, "note"); got != test.want {
			t.Errorf("%+v", got)
		}
	}
	if got := DescribeChange(nil, "", event.AlertFired, "a", One, One, ""); got.Text != "An alert about a fired at the value 1; its threshold was 1. Its rule was removed since." {
		t.Error(got.Text)
	}
}
