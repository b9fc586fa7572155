package config

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"pingpost/config/canonical"
)

// unnamed is a canonical document without the names of its secrets' variables: an export
// names one for each secret that has none.
func unnamed(canonical []byte) []byte { return variableMember.ReplaceAll(canonical, nil) }

var variableMember = regexp.MustCompile(`,"variable":"\w+"`)

// Documents that mean the same have the same bytes.
func TestCanonicalForgetsWhatMeansNothing(t *testing.T) {
	one := compiled(t, base+"    suppliers: [sup_a, sup_b]\n    floor: 8\n", nil)
	for name, other := range map[string]string{
		"the order of suppliers":   strings.Replace(base, "{id: sup_a}\n  - {id: sup_b}", "{id: sup_b}\n  - {id: sup_a}", 1) + "    suppliers: [sup_b, sup_a]\n    floor: 8\n",
		"how an amount is written": base + "    suppliers: [sup_a, sup_b]\n    floor: 8.00\n",
		"defaults":                 "history: 1080h\n" + base + "    suppliers: [sup_a, sup_b]\n    floor: 8e0\n    bid_timeout: 2000ms\n    caps: []\n    payout: {share: 1.0}\n",
		"JSON":                     string(one.Canonical),
		"quotes and comments":      "tenant: 'production' # ours\n" + base + "    suppliers: [sup_a, sup_b]\n    floor: 8\n",
	} {
		if got := compiled(t, other, nil).Canonical; !bytes.Equal(got, one.Canonical) {
			t.Errorf("%s: canonical differs\n%s\n%s", name, got, one.Canonical)
		}
	}
}

func TestCanonicalHasNoSecret(t *testing.T) {
	exchange := example(t)
	exported := exchange.ExportYAML()
	for name, value := range exampleEnv {
		if bytes.Contains(exchange.Canonical, []byte(value)) || bytes.Contains(exported, []byte(value)) {
			t.Errorf("%s is told", name)
		}
	}
	literal := compiled(t, "admin: {password: hunter2}\nsandbox: true\nsuppliers:\n  - {id: a, api_key: hunter2a, bearer_tokens: [{token: hunter2b}]}\n", nil)
	if text := string(literal.Canonical) + string(literal.ExportYAML()); strings.Contains(text, "hunter2") {
		t.Errorf("a literal secret is told: %s", text)
	}
	without := compiled(t, "admin: {}\n", nil)
	if strings.Contains(string(without.Canonical), "password") {
		t.Error("a secret that is not there seems to be")
	}
}

// Two places never share a variable, however alike their ids.
func TestExportedVariablesAreUnique(t *testing.T) {
	exported := string(compiled(t, "suppliers:\n  - {id: a.b, api_key: x}\n  - {id: a-b, api_key: y}\n  - {id: \"9\", api_key: w}\n", nil).ExportYAML())
	for _, want := range []string{"${A_B_API_KEY}", "${A_B_API_KEY_2}", "${_9_API_KEY}"} {
		if strings.Count(exported, want) != 1 {
			t.Errorf("%s is not there once:\n%s", want, exported)
		}
	}
	if _, err := canonical.ExportYAML([]byte("[]")); err == nil {
		t.Error("a list was exported")
	}
}
