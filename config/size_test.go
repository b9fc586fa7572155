package config

import (
	"fmt"
	"strings"
	"testing"
)

// largeDocument returns a document with campaigns of five buyers each.
func largeDocument(campaigns, buyers int) string {
	var b strings.Builder
	b.WriteString("suppliers:\n  - {id: sup_a, api_key: x}\nsuppression_lists:\n  - {id: dnc, field: phone}\nbuyers:\n")
	for i := range buyers {
		fmt.Fprintf(&b, `  - id: buy_%d
    endpoint: https://b%d.example
    auth: {bearer: "t%d"}
    states: [CA, NV, AZ]
    filters: [{field: vehicle_count, min: 1}]
    schedule: {time_zone: America/Los_Angeles, open: ["Mon-Fri 08:00-18:00"]}
    caps: [{per: day, count: 500}, {per: month, money: 20000}]
    funds: {balance: 5000, credit: 1000}
`, i, i, i)
	}
	b.WriteString("campaigns:\n")
	for i := range campaigns {
		fmt.Fprintf(&b, `  - id: cmp_%d
    vertical: v%d
    suppliers: [sup_a]
    method: ping_post
    time_zone: America/New_York
    floor: 8.00
    payout: {share: 0.80}
    suppression: [dnc]
    fields:
      - {name: homeowner, type: boolean, ping: true, to: owns_home}
      - {name: vehicle_count, type: integer, min: 0, max: 20, ping: true}
    caps: [{per: day, count: 2000}]
    buyers:
`, i, i)
		for j := range min(5, buyers) {
			fmt.Fprintf(&b, "      - {buyer: buy_%d, weight: 3, price: 12.00, caps: [{per: hour, count: 100}]}\n", (i+j*7)%buyers)
		}
	}
	return b.String()
}

func TestLargeDocumentReportsEachProblemOnce(t *testing.T) {
	text := strings.ReplaceAll(largeDocument(500, 200), "weight: 3", "weight: 0")
	if got := len(compileProblems(t, text)); got != 2500 {
		t.Errorf("%d problems, want one for each buyer of a campaign", got)
	}
}

// TestCostlyTextsAreRejected has texts that could use much time or memory.
func TestCostlyTextsAreRejected(t *testing.T) {
	n := 100_000
	if testing.Short() {
		n = 20_000
	}
	for name, text := range map[string]string{
		"open brackets":               strings.Repeat("[", n),
		"open braces":                 strings.Repeat("{a: ", n),
		"brackets in JSON":            `{"a":` + strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000) + "}",
		"dashes":                      strings.Repeat("- ", n),
		"keys of one mapping":         strings.Repeat("k: v\n", n),
		"keys without names":          strings.Repeat(":\n", n),
		"keys over lists":             strings.Repeat("k:\n- v\n", n),
		"flow keys without values":    "{" + strings.Repeat("k, ", n) + "}",
		"flow keys with empty values": "{" + strings.Repeat("k: , ", n) + "}",
		"pairs in a flow list":        "[" + strings.Repeat("k: , ", n) + "]",
		"anchors":                     "a: &a [x]\n" + strings.Repeat("b: &b [*a, *a]\n", n),
		"nested mappings":             nestedMapping(3_000),
		"question marks":              strings.Repeat("? ", n),
		"spaces":                      strings.Repeat(" ", 10*n),
		"references":                  "tenant: \"" + strings.Repeat("${A}", n) + "\"\n",
		"dollars":                     "tenant: \"" + strings.Repeat("$", n) + "\"\n",
	} {
		if compileProblems(t, text) == nil {
			t.Errorf("%s: no problem was found", name)
		}
	}
}

// nestedMapping returns a mapping that is n levels deep.
func nestedMapping(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}
