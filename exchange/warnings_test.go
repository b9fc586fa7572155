package exchange

import (
	"net/http"
	"strings"
	"testing"
)

// TestConfigurationWarningsAreReported: in the log of a start, and in the answers to a document and
// an entry, also in a dry run. A configuration that cannot work is rejected.
func TestConfigurationWarningsAreReported(t *testing.T) {
	t.Parallel()
	config := baseConfig + "  - {id: cmp_empty, vertical: none, method: waterfall, floor: 5}\n"
	p := newTestDir(t, config)
	x, output := startWithLog(t, p)
	if text := output.String(); !strings.Contains(text, "campaigns[") || !strings.Contains(text, "has no entry") {
		t.Errorf("start logged %s", text)
	}
	type result struct{ Warnings []string }
	for _, dry := range []string{"?dry=1", ""} {
		got := decode[result](t, x.mustAdmin(200, http.MethodPut, "/admin/v1/config"+dry, config))
		if !strings.Contains(strings.Join(got.Warnings, "\n"), "buyers: has no entry") || !strings.HasPrefix(got.Warnings[0], "document:") {
			t.Errorf("query %q: warnings %q", dry, got.Warnings)
		}
		a := x.adminRequest(http.MethodPut, configURL+"campaigns/cmp_made?dry=1", `{"method":"waterfall","vertical":"made","buyers":[{"buyer":"buy_blue"}]}`, "If-None-Match", "*")
		got = decode[result](t, a)
		if len(got.Warnings) != 1 || !strings.HasPrefix(got.Warnings[0], "buyers[0].price: is missing or 0") {
			t.Errorf("warnings of an entry: %q", got.Warnings)
		}
	}
	unsellable := strings.Replace(config, "floor: 5", "floor: 5, buyers: [{buyer: buy_blue, price: 4}]", 1)
	x.adminRequest(http.MethodPut, "/admin/v1/config?dry=1", unsellable).mustHave(t, 422, "below the campaign's floor")
	missing := config + "suppression_lists: [{id: gone, field: phone, file: gone.txt}]\n"
	for _, dry := range []string{"?dry=1", ""} {
		if a := x.adminRequest(http.MethodPut, "/admin/v1/config"+dry, missing); a.status != 422 || !strings.Contains(a.body, "suppression_lists[0].file") {
			t.Errorf("a missing file, %q: %d %s", dry, a.status, a.body)
		}
	}
}
