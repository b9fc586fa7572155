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
			m := DescribeChange(row.rule, event.AlertResolved, "x", 7*One, 5*One, row.note)
			if !strings.HasPrefix(m.Title, row.prefix) || !strings.Contains(m.Text, row.note) || strings.ContainsAny(m.Title+m.Text, "{}") {
				t.Errorf("%s with the note %q: %+v", kind, row.note, m)
			}
		}
	}
}
