package config

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"pingpost/config/canonical"
)

// removeVariableNames removes the names of the secrets' variables, because an export adds missing
// ones.
func removeVariableNames(canonical []byte) []byte { return variableMember.ReplaceAll(canonical, nil) }

var variableMember = regexp.MustCompile(`,"variable":"\w+"`)

func TestEquivalentDocumentsHaveSameCanonicalForm(t *testing.T) {
	want := compileText(t, base+"    suppliers: [sup_a, sup_b]\n    floor: 8\n", nil)
	for name, other := range map[string]string{
		"the order of suppliers": strings.Replace(base, "{id: sup_a}\n  - {id: sup_b}", "{id: sup_b}\n  - {id: sup_a}", 1) + "    suppliers: [sup_b, sup_a]\n    floor: 8\n",
		"notation of an amount":  base + "    suppliers: [sup_a, sup_b]\n    floor: 8.00\n",
		"defaults":               "history: 1080h\n" + base + "    suppliers: [sup_a, sup_b]\n    floor: 8e0\n    bid_timeout: 2000ms\n    caps: []\n    payout: {share: 1.0}\n",
		"JSON":                   string(want.Canonical),
		"quotes and comments":    "tenant: 'production' # ours\n" + base + "    suppliers: [sup_a, sup_b]\n    floor: 8\n",
	} {
		if got := compileText(t, other, nil).Canonical; !bytes.Equal(got, want.Canonical) {
			t.Errorf("%s: the canonical document differs\n%s\n%s", name, got, want.Canonical)
		}
	}
}

func TestCanonicalHasNoSecret(t *testing.T) {
	exchange := compileExample(t)
	exported := exchange.ExportYAML()
	for name, value := range exampleEnv {
		if bytes.Contains(exchange.Canonical, []byte(value)) || bytes.Contains(exported, []byte(value)) {
			t.Errorf("the value of %s is in the canonical document or the export", name)
		}
	}
	literal := compileText(t, "admin: {password: hunter2}\nsandbox: true\nsuppliers:\n  - {id: a, api_key: hunter2a, bearer_tokens: [{token: hunter2b}]}\n", nil)
	if text := string(literal.Canonical) + string(literal.ExportYAML()); strings.Contains(text, "hunter2") {
		t.Errorf("a literal secret is exported: %s", text)
	}
	without := compileText(t, "admin: {}\n", nil)
	if strings.Contains(string(without.Canonical), "password") {
		t.Error("the document lists a missing secret")
	}
}

// TestExportedVariablesAreUnique uses ids that give the same variable name.
func TestExportedVariablesAreUnique(t *testing.T) {
	exported := string(compileText(t, "suppliers:\n  - {id: a.b, api_key: x}\n  - {id: a-b, api_key: y}\n  - {id: \"9\", api_key: w}\n", nil).ExportYAML())
	for _, want := range []string{"${A_B_API_KEY}", "${A_B_API_KEY_2}", "${_9_API_KEY}"} {
		if strings.Count(exported, want) != 1 {
			t.Errorf("%s does not appear exactly once:\n%s", want, exported)
		}
	}
	if _, err := canonical.ExportYAML([]byte("[]")); err == nil {
		t.Error("a JSON list is exported")
	}
}
