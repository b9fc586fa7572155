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

// TestOmittedAuthIsAWarning: a buyer that had auth and is sent without it loses its credential. The
// answer warns of it, also in a dry run. A buyer without an address gets no requests, and auth
// that omits only its secret keeps it.
func TestOmittedAuthIsAWarning(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, baseConfig))
	type result struct{ Warnings []string }
	const at, bearer = configURL + "buyers/buy_red", `"auth":{"bearer":{"set":true}}`
	x.mustAdmin(200, "PUT", at, `{"endpoint":"https://red.example","auth":{"bearer":"a-canary-bearer"}}`, "If-None-Match", "*")
	put := func(document, query string) []string {
		return decode[result](t, x.mustAdmin(200, "PUT", at+query, document, "If-Match", x.configEntry("buyers/buy_red").ETag)).Warnings
	}
	for _, row := range []struct {
		name, document string
		warns          bool
	}{
		{"without auth", `{"endpoint":"https://red.example"}`, true},
		{"only a test address", `{"test_endpoint":"https://red.example"}`, true},
		{"without an address", `{}`, false},
		{"auth with its secret", `{"endpoint":"https://red.example",` + bearer + `}`, false},
		{"auth without a value", `{"endpoint":"https://red.example","auth":{}}`, false},
	} {
		got := put(row.document, "?dry=1")
		if row.warns != (len(got) == 1) || row.warns && !strings.HasPrefix(got[0], "auth: is missing") {
			t.Errorf("%s: warnings %q", row.name, got)
		}
	}
	export := strings.Replace(baseConfig, "buyers:\n", "buyers:\n  - {id: buy_red, endpoint: \"https://red.example\"}\n", 1)
	for _, document := range []string{export, baseConfig} {
		got := decode[result](t, x.mustAdmin(200, "PUT", "/admin/v1/config?dry=1", document)).Warnings
		if warns := document == export; warns != (len(got) == 1) || warns && !strings.HasPrefix(got[0], "document: buyers[buy_red].auth: is missing") {
			t.Errorf("a document: warnings %q", got)
		}
	}
	if got := put(`{"endpoint":"https://red.example"}`, ""); len(got) != 1 {
		t.Errorf("a change: warnings %q", got)
	}
	if got := put(`{"endpoint":"https://red.example","name":"without a credential before too"}`, ""); len(got) != 0 {
		t.Errorf("a later change: warnings %q", got)
	}
	if got := put(`{"endpoint":"https://red.example",`+bearer+`}`, ""); len(got) != 0 {
		t.Errorf("auth again, with the stored secret: warnings %q", got)
	}
}

// TestReloadWithoutAuthIsAWarning: a file that no longer has a buyer's auth takes effect, and the
// exchange's log says so once.
func TestReloadWithoutAuthIsAWarning(t *testing.T) {
	t.Parallel()
	const warning = "is missing: requests to the buyer will carry no credential"
	file := func(auth string) string {
		return strings.Replace(baseConfig, "buyers:\n", "buyers:\n  - {id: buy_red, endpoint: \"https://red.example\""+auth+"}\n", 1)
	}
	x := start(t, newTestDir(t, file(`, auth: {bearer: "a-canary-bearer"}`)))
	x.reloadWith(file(`, auth: {bearer: "a-canary-bearer"}`))
	if strings.Contains(x.logged.String(), warning) {
		t.Errorf("the log warns of a buyer with auth: %s", x.logged.String())
	}
	for range 2 {
		x.reloadWith(file(""))
	}
	if n := strings.Count(x.logged.String(), warning); n != 1 {
		t.Errorf("the log has %d warnings, want 1: %s", n, x.logged.String())
	}
}
