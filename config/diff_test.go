package config

import (
	"strings"
	"testing"

	"pingpost/config/canonical"
)

func diffOf(t *testing.T, before, after string) string {
	t.Helper()
	var lines []string
	for _, change := range canonical.Diff(compileText(t, before, nil).Canonical, compileText(t, after, nil).Canonical) {
		lines = append(lines, change.String())
	}
	return strings.Join(lines, "\n")
}

func TestDiff(t *testing.T) {
	for _, c := range []struct{ name, before, after, want string }{
		{"no change", base, base, ""},
		{"a changed value", base, base + "    floor: 9.5\n", "~ campaigns[cmp].floor: 0 -> 9.5"},
		{"an added cap", base, base + "    caps: [{per: day, count: 5}]\n", `+ campaigns[cmp].caps[0]: {"per":"day","count":5}`},
		{"a removed cap", base + "    caps: [{per: day, count: 5}]\n", base, `- campaigns[cmp].caps[0]: {"per":"day","count":5}`},
		{"a cap's limit", base + "    caps: [{per: day, count: 5}]\n", base + "    caps: [{per: day, count: 6}]\n", "~ campaigns[cmp].caps[0].count: 5 -> 6"},
		{"an added set", base, base + "    suppliers: [sup_b]\n", `+ campaigns[cmp].suppliers: ["sup_b"]`},
		{"a larger set", base + "    suppliers: [sup_b]\n", base + "    suppliers: [sup_b, sup_a]\n", `~ campaigns[cmp].suppliers: ["sup_b"] -> ["sup_a","sup_b"]`},
		{"a removed list", base, strings.Replace(base, "  - {id: dnc, field: phone}\n", "", 1), `- suppression_lists[dnc]: {"id":"dnc","field":"phone","hash":"plain"}`},
		{"a buyer before another", base, strings.Replace(base, "  - {id: buy_a,", "  - {id: aaa}\n  - {id: buy_a, ping_rate: 7,", 1), `~ buyers[buy_a].ping_rate: 100 -> 7
+ buyers[aaa]: {"id":"aaa","name":"aaa","paused":false,"ping_rate":100,"max_connections":1200,"time_zone":"UTC","post_timeout":"10s"}`},
		{"an added secret", base, "admin: {password: hunter2}\n" + base, `+ admin.password: {"set":true} (at the next start)`},
		{"a changed secret", "admin: {password: a}\n", "admin: {password: b}\n", ""},
		{
			"the order of fields",
			base + "    fields: [{name: x, type: string}, {name: y, type: string}]\n",
			base + "    fields: [{name: y, type: string}, {name: x, type: string}]\n",
			"~ campaigns[cmp].fields (order): x y -> y x",
		},
		{"a setting in a group", "limits: {body: 64KiB}\n", "limits: {body: 65KiB}\n", `~ limits.body: "64KiB" -> "65KiB" (at the next start)`},
		{"a list of settings", base, base + "trusted_networks: [10.0.0.0/8]\n", `+ trusted_networks: ["10.0.0.0/8"] (at the next start)`},
		{"a setting", "history: 40d\n", "history: 41d\n", `~ history: "40d" -> "41d" (at the next start)`},
	} {
		if got := diffOf(t, c.before, c.after); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestDiffWithEmptyDocument(t *testing.T) {
	changes := canonical.Diff(nil, compileExample(t).Canonical)
	if len(changes) == 0 {
		t.Fatal("no change")
	}
	for _, change := range changes {
		if change.Sign != '+' || change.Old != "" || change.New == "" {
			t.Errorf("%v", change)
		}
	}
	for _, change := range canonical.Diff(compileExample(t).Canonical, nil) {
		if change.Sign != '-' || change.New != "" {
			t.Errorf("%v", change)
		}
	}
}
