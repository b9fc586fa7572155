package exchange

import (
	"net/http"
	"strings"
	"testing"
)

// TestWarningsAreTold: the findings of validate stand in the log of a start, and in the
// answers to a document and to an entry, dry or not. What can never work is refused.
func TestWarningsAreTold(t *testing.T) {
	config := recorded + "  - {id: cmp_empty, vertical: none, method: waterfall, floor: 5}\n"
	p := newPlace(t, config)
	x, said := listens(t, p)
	if text := said.String(); !strings.Contains(text, "campaigns[") || !strings.Contains(text, "has no entry") {
		t.Errorf("the start said %s", text)
	}
	type told struct{ Warnings []string }
	for _, dry := range []string{"?dry=1", ""} {
		got := decode[told](t, x.must(200, http.MethodPut, "/admin/v1/config"+dry, config))
		if !strings.Contains(strings.Join(got.Warnings, "\n"), "buyers: has no entry") || !strings.HasPrefix(got.Warnings[0], "document:") {
			t.Errorf("%q: %q", dry, got.Warnings)
		}
		a := x.operate(http.MethodPut, configAt+"campaigns/cmp_made?dry=1", `{"method":"waterfall","vertical":"made","buyers":[{"buyer":"buy_blue"}]}`, "If-None-Match", "*")
		got = decode[told](t, a)
		if len(got.Warnings) != 1 || !strings.HasPrefix(got.Warnings[0], "buyers[0].price: is missing or 0") {
			t.Errorf("an entry: %q", got.Warnings)
		}
	}
	never := strings.Replace(config, "floor: 5", "floor: 5, buyers: [{buyer: buy_blue, price: 4}]", 1)
	x.operate(http.MethodPut, "/admin/v1/config?dry=1", never).mustHave(t, 422, "below the campaign's floor")
	missing := config + "suppression_lists: [{id: gone, field: phone, file: gone.txt}]\n"
	for _, dry := range []string{"?dry=1", ""} {
		if a := x.operate(http.MethodPut, "/admin/v1/config"+dry, missing); a.status != 422 || !strings.Contains(a.body, "suppression_lists[0].file") {
			t.Errorf("a missing file, %q: %d %s", dry, a.status, a.body)
		}
	}
}
