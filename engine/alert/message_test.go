package alert

import (
	"strings"
	"testing"

	"pingpost/engine/event"
)

// An alert that ends without a recovery must not say that its value is good again.
func TestTitleSaysWhyAlertEnded(t *testing.T) {
	for _, kind := range []KindName{BackupAge, BuyerBalance, WebhookFailing} {
		rule := &Rule{ID: "r", Kind: kind}
		for _, row := range []struct {
			rule         *Rule
			note, prefix string
		}{
			{rule, noteRuleOff, "Rule removed or turned off: "},
			{rule, noteSubjectGone, "No longer configured or measured: "},
			{rule, "5 of 9", "Resolved: "},
			{rule, "", "Resolved: "},
			{nil, noteRuleOff, "Rule removed or turned off: "},
			{nil, "", "Resolved: "},
		} {
			m := DescribeChange(row.rule, "", event.AlertResolved, "x", 7*One, 5*One, row.note)
			if !strings.HasPrefix(m.Title, row.prefix) || !strings.Contains(m.Text, row.note) || strings.ContainsAny(m.Title+m.Text, "{}") {
				t.Errorf("%s with the note %q: %+v", kind, row.note, m)
			}
		}
	}
}

// The texts about an alert name its measure and unit also after its rule was removed.
func TestChangeOfRemovedRuleNamesItsMeasure(t *testing.T) {
	table := new(Table)
	settings := DefaultSettings()
	settings.Rules = []Rule{{ID: "d", Kind: DiskFree}}
	table.ApplySettings(&event.AlertSettingsChanged{Document: settings.Encode()})
	table.ApplyChange(&event.AlertOrNotificationChanged{Transition: event.AlertFired, Rule: "d", Value: 78_386_032, Threshold: 1_000_000 * int64(One)})
	table = reload(t, table) // a snapshot has no kinds
	settings.Rules = nil
	table.ApplySettings(&event.AlertSettingsChanged{Document: settings.Encode()})
	f := table.FiringAlerts()[0]
	got := DescribeChange(nil, f.Kind, event.AlertFired, "", f.Value, f.Threshold, f.Note)
	want := Message{"78.4 GB of disk space free", "The data directory's disk has 78.4 GB free. The alert is set at 1,000,000 GB. Its rule was removed since.", actionWithoutRule, "#/system"}
	if got != want {
		t.Errorf("%+v", got)
	}
	table.ApplyChange(&event.AlertOrNotificationChanged{Transition: event.AlertResolved, Rule: "d", Value: 78_386_032, Note: noteRuleOff})
	if c, _ := table.FindChange(2); c.Kind != DiskFree {
		t.Errorf("the end of the alert has the kind %q", c.Kind)
	}
}
