package config

import (
	"fmt"
	"strings"
	"testing"
)

// campaignsWithDuplicates returns a document with one valid campaign for each text under duplicates.
func campaignsWithDuplicates(duplicates ...string) string {
	text := "suppliers: [{id: sup_a}]\nbuyers: [{id: buy_a, endpoint: \"https://a.example\"}]\ncampaigns:\n"
	for i, keys := range duplicates {
		text += fmt.Sprintf("  - {id: c%d, method: waterfall, buyers: [{buyer: buy_a, price: 1}], duplicates: {%s}}\n", i, keys)
	}
	return text
}

func TestDuplicateGroupWarnings(t *testing.T) {
	const differ, alone = "but has other fields or another match", "no other campaign has this group"
	for name, row := range map[string]struct {
		duplicates []string
		want       []string // path and part of each warning
	}{
		"one group":               {[]string{"scope: group, group: a", "scope: group, group: a, window: 1d"}, nil},
		"fields in another order": {[]string{"scope: group, group: a", "scope: group, group: a, fields: [email, phone]"}, nil},
		"other fields":            {[]string{"scope: group, group: a", "scope: group, group: a, fields: [email]"}, []string{"campaigns[1].duplicates: shares its check with campaigns[0], " + differ}},
		"another match":           {[]string{"scope: exchange", "scope: campaign", "scope: exchange, match: all"}, []string{"campaigns[2].duplicates: shares its check with campaigns[0], " + differ}},
		"other groups":            {[]string{"scope: group, group: b", "scope: group, group: a, match: all"}, []string{"campaigns[0].duplicates.group: " + alone, "campaigns[1].duplicates.group: " + alone}},
		"one without a window":    {[]string{"scope: group, group: a", "scope: group, group: a, window: 0s"}, []string{"campaigns[0].duplicates.group: " + alone}},
		"one of the exchange":     {[]string{"scope: exchange", "scope: buyer"}, nil},
	} {
		warnings := compileText(t, campaignsWithDuplicates(row.duplicates...), nil).Warnings
		if len(warnings) != len(row.want) {
			t.Errorf("%s: %v, want %q", name, warnings, row.want)
			continue
		}
		for i, want := range row.want {
			if got := warnings[i].Error(); warnings[i].Line == 0 || !strings.Contains(got, want) {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
	}
}

func TestInvalidDuplicateGroups(t *testing.T) {
	checkProblems(t, []invalidDocument{
		{"unknown scope", campaignsWithDuplicates("scope: all"), "campaigns[0].duplicates.scope", "use campaign, buyer, group, exchange"},
		{"no group", campaignsWithDuplicates("scope: group"), "campaigns[0].duplicates.group", "is missing"},
		{"no id", campaignsWithDuplicates("scope: group, group: a b"), "campaigns[0].duplicates.group", "is not an id"},
		{"a group without the scope", campaignsWithDuplicates("group: a"), "campaigns[0].duplicates.group", "set it, or remove group"},
		{"a group of the exchange", campaignsWithDuplicates("scope: exchange, group: a"), "campaigns[0].duplicates.group", "set it, or remove group"},
	})
}
