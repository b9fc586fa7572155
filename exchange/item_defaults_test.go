package exchange

import (
	"encoding/json"
	"reflect"
	"testing"

	"pingpost/internal/must"
)

// TestDocumentedDefaultsApply: a missing key of an entry has its value in GET config/defaults.
func TestDocumentedDefaultsApply(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, baseConfig))
	defaults := decode[map[string]map[string]any](t, x.mustAdmin(200, "GET", "/admin/v1/config/defaults", ""))
	for _, row := range []struct{ kind, id, body string }{
		{"suppliers", "sup_new", `{"id":"sup_new"}`},
		{"buyers", "buy_new", `{"id":"buy_new"}`},
		{"suppression_lists", "list_new", `{"id":"list_new","field":"phone"}`},
		{"campaigns", "cmp_new", `{"id":"cmp_new","method":"waterfall"}`},
	} {
		at := row.kind + "/" + row.id
		x.putEntry(at, row.body)
		document := decode[struct{ Document map[string]any }](t, x.mustAdmin(200, "GET", configURL+at, "")).Document
		given := make(map[string]any)
		must.Succeed(t, json.Unmarshal([]byte(row.body), &given))
		given["name"] = row.id
		for key, value := range document {
			if given[key] == nil && !reflect.DeepEqual(defaults[row.kind][key], value) {
				t.Errorf("%s.%s is %v, documented default %v", row.kind, key, value, defaults[row.kind][key])
			}
		}
	}
	campaign := must.Value(json.Marshal(defaults["campaigns"]))(t)
	var terms struct {
		Payout              struct{ Share float64 }
		Duplicates, Returns struct{ Window string }
	}
	if err := json.Unmarshal(campaign, &terms); err != nil || terms.Payout.Share != 1 || terms.Duplicates.Window != "30d" || terms.Returns.Window != "14d" {
		t.Errorf("unexpected defaults of a campaign: %v: %s", err, campaign)
	}
}
