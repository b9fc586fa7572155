package alert

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pingpost/engine/event"
)

func fired(subject string, channels ...string) *event.AlertOrNotificationChanged {
	return &event.AlertOrNotificationChanged{Transition: event.AlertFired, Rule: "r", Subject: subject, Value: -5, Threshold: 7, Note: "n", Channels: channels, At: 1}
}

func ended(of uint64, transition event.AlertOrNotificationTransition, channel string) *event.AlertOrNotificationChanged {
	return &event.AlertOrNotificationChanged{Transition: transition, Of: of, Channels: []string{channel}, Error: "e", At: 2}
}

func unfinished(t *Table, after uint64) string {
	var all []string
	for _, c := range t.ChangesWithUnfinishedNotifications(after) {
		for _, n := range c.Notifications {
			if n.Outcome == 0 {
				all = append(all, fmt.Sprintf("%d %s", c.Number, n.Channel))
			}
		}
	}
	return strings.Join(all, ", ")
}

func TestUnfinishedNotifications(t *testing.T) {
	var table Table
	table.ApplyChange(fired("a", "mail", "chat"))
	table.ApplyChange(fired("b"))
	table.ApplyChange(fired("c", "mail"))
	for _, step := range []struct {
		change *event.AlertOrNotificationChanged
		want   string
	}{
		{ended(1, event.NotificationSent, "chat"), "1 mail, 3 mail"},
		{ended(1, event.NotificationSent, "chat"), "1 mail, 3 mail"},
		{ended(3, event.NotificationFailed, "mail"), "1 mail"},
		{ended(99, event.NotificationSent, "mail"), "1 mail"},
		{ended(1, event.NotificationDropped, "mail"), ""},
	} {
		table.ApplyChange(step.change)
		var loaded Table
		if err := loaded.DecodeSnapshot(table.EncodeSnapshot()); err != nil {
			t.Fatal(err)
		}
		for name, at := range map[string]*Table{"live": &table, "loaded": &loaded} {
			if got := unfinished(at, 0); got != step.want {
				t.Errorf("%s: %q, want %q", name, got, step.want)
			}
		}
		if !bytes.Equal(loaded.EncodeSnapshot(), table.EncodeSnapshot()) {
			t.Errorf("a loaded table differs: %s, %s", loaded.EncodeSnapshot(), table.EncodeSnapshot())
		}
	}
	if got := unfinished(&table, 0); got != "" {
		t.Error(got)
	}
}

func TestHistoryIsLimitedAndPaged(t *testing.T) {
	var table Table
	for i := range maxHistory + 10 {
		table.ApplyChange(fired(fmt.Sprint(i)))
	}
	page := table.History(0, 3)
	if len(page) != 3 || page[0].Number != maxHistory+10 || page[2].Number != maxHistory+8 {
		t.Errorf("%+v", page)
	}
	if page = table.History(page[2].Number, 2); page[0].Number != maxHistory+7 {
		t.Errorf("%+v", page)
	}
	if page = table.History(0, 5000); len(page) != maxHistory || page[len(page)-1].Number != 11 {
		t.Errorf("%d changes", len(page))
	}
	if _, ok := table.FindChange(10); ok {
		t.Error("the table keeps a change beyond its limit")
	}
	if c, ok := table.FindChange(11); !ok || c.Subject != "10" || c.Value != -5 {
		t.Errorf("%+v", c)
	}
}

func TestEmptyTableHasNoSnapshot(t *testing.T) {
	var table Table
	if encoded := table.EncodeSnapshot(); encoded != nil {
		t.Errorf("%s", encoded)
	}
	if len(table.Settings().Rules) != 3 {
		t.Errorf("%+v", table.Settings())
	}
}

func TestSettingsSurviveSnapshot(t *testing.T) {
	var table, loaded Table
	changed := DefaultSettings()
	changed.Rules[0].Threshold = 90*One + 500_000
	changed.Channels = []Channel{{ID: "c", Sealed: []byte{1, 2}}}
	table.ApplySettings(&event.AlertSettingsChanged{Document: changed.Encode()})
	if err := loaded.DecodeSnapshot(table.EncodeSnapshot()); err != nil {
		t.Fatal(err)
	}
	if got := loaded.Settings().Encode(); !bytes.Equal(got, changed.Encode()) {
		t.Errorf("%s", got)
	}
	table.ApplySettings(&event.AlertSettingsChanged{Document: []byte("damaged")})
	if table.Settings().FindChannel("c") == nil {
		t.Error("unreadable settings replaced the present ones")
	}
}

func TestMessages(t *testing.T) {
	for _, kind := range Kinds {
		rule := &Rule{Kind: kind.Name}
		for _, transition := range []event.AlertOrNotificationTransition{event.AlertFired, event.AlertResolved} {
			m := DescribeChange(rule, "", transition, "acme", 82*One+340_000, 80*One, "note")
			text := m.Title + m.Text + m.Action + m.Link
			if m.Title == "" || m.Text == "" || m.Action == "" || !strings.HasPrefix(m.Link, "#/") || strings.ContainsAny(text, "{}") {
				t.Errorf("%s: %+v", kind.Name, m)
			}
		}
	}
	got := DescribeChange(&Rule{Kind: CapUsed}, "", event.AlertFired, "a/b", 82*One, 80*One, "41 of 50 leads")
	want := Message{
		"Buyer a/b: 82% of a cap used", "Buyer a/b has used 82% of a cap (41 of 50 leads). The alert is set at 80%.", got.Action, "#/buyers/a%2Fb",
	}
	if got != want {
		t.Errorf("%+v", got)
	}
}

func TestTotalCapNeverResets(t *testing.T) {
	for note, want := range map[string]string{
		"41 of 50 leads, cap by day, in all campaigns":   "until its period ends",
		"41 of 50 leads, cap by total, in all campaigns": "never resets",
	} {
		got := DescribeChange(&Rule{Kind: CapUsed}, "", event.AlertFired, "a", 82*One, 80*One, note).Action
		if other := "until its period ends"; !strings.Contains(got, want) || want != other && strings.Contains(got, other) {
			t.Errorf("%s: got %q, want %q", note, got, want)
		}
	}
}

func TestQuantities(t *testing.T) {
	for _, row := range []struct {
		q    Quantity
		unit Unit
		want string
	}{
		{82*One + 340_000, UnitPercent, "82.3%"},
		{82*One + 350_000, UnitPercent, "82.4%"},
		{-One - 555_000, UnitMoney, "-1.56"},
		{1234*One + 500_000, UnitMoney, "1,234.50"},
		{1_000_000 * One, UnitGB, "1,000,000 GB"},
		{1500 * One / 1000, UnitDays, "1.5 days"},
		{90*One - 1, UnitMinutes, "90 minutes"},
		{3 * One, UnitCount, "3"},
		{1_234_567, UnitGB, "1.2 GB"},
	} {
		if got := FormatQuantity(row.q, row.unit); got != row.want {
			t.Errorf("%d: %s, want %s", row.q, got, row.want)
		}
	}
	for _, row := range []struct{ part, whole, want int64 }{{1, 3, 33_333_333}, {0, 5, 0}, {7, 7, 100_000_000}, {1 << 60, 1 << 61, 50_000_000}, {5, 0, 500_000_000}} {
		if got := PercentOf(row.part, row.whole); got != Quantity(row.want) {
			t.Errorf("%d of %d: %d, want %d", row.part, row.whole, got, row.want)
		}
	}
}
