package exchange

import (
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pingpost/internal/must"
	"pingpost/server/admin"
)

// firstValuesConfig has all settings that only set a first value.
const firstValuesConfig = configHead + `sandbox: true
suppliers:
  - id: sup_acme
    api_key: "${ACME_KEY}"
    oauth_clients: [{client_id: acme, client_secret: canary-secret-1, scopes: [ping]}]
    bearer_tokens: [{token: canary-token-1, scopes: [ping]}, {token: canary-token-2}]
    webhook: {url: "http://127.0.0.1:1", secret: whsec_Y2FuYXJ5}
buyers:
  - {id: buy_blue, endpoint: "http://127.0.0.1:1", auth: {bearer: canary-bearer}, funds: {balance: 50}}
  - {id: buy_key, endpoint: "http://127.0.0.1:1", auth: {api_key: canary-key}}
  - {id: buy_oauth, endpoint: "http://127.0.0.1:1", auth: {oauth: {token_url: "http://127.0.0.1:1", client_id: c, client_secret: canary-oauth}}}
suppression_lists: [{id: dnc, field: phone, file: dnc.txt}]
campaigns:
  - {id: cmp, paused: true, method: waterfall, suppression: [dnc], buyers: [{buyer: buy_blue, price: 1}]}
`

// applyResult is the answer to PUT /admin/v1/config.
type applyResult struct{ Changes, Unapplied []string }

// putConfig sends a document with the variables of the sender's environment.
func (r *testExchange) putConfig(t *testing.T, query, document string) applyResult {
	t.Helper()
	body := mustJSON(t, map[string]any{
		"document": document, "variables": map[string]string{"PASSWORD": adminPassword, "ACME_KEY": acmeKey, "OTHER_KEY": otherKey},
	})
	return decode[applyResult](t, r.mustAdmin(200, "PUT", "/admin/v1/config"+query, body, "Content-Type", admin.TypeApply))
}

// TestIgnoredInitialValuesAreReported: if another value is active, a dry run and a start say what
// changes it, without a secret.
func TestIgnoredInitialValuesAreReported(t *testing.T) {
	t.Parallel()
	first := newTestDir(t, firstValuesConfig)
	for file, text := range map[string]string{"dnc.txt": "\n", "dnc-copy.txt": "\r\n", "dnc2.txt": "\n+1" + areaCode + "0003\n"} {
		first.writeFile(t, file, "# do not call\n+1"+areaCode+"0001\n+1"+areaCode+"0002"+text)
	}
	start(t, first).stop()
	stopped, x := first.copyFiles(t), start(t, first)
	const only = ": first value only; not applied: "
	for name, row := range map[string]struct{ old, replaced, want string }{
		"an API key":         {`"${ACME_KEY}"`, `"${OTHER_KEY}"`, "suppliers[sup_acme].api_key" + only + "this key is not one of the live keys; use POST /admin/v1/suppliers/sup_acme/keys"},
		"a client's secret":  {"canary-secret-1", "canary-secret-9", "suppliers[sup_acme].oauth_clients[acme].client_secret" + only + "this secret is not one of the live secrets; use POST /admin/v1/suppliers/sup_acme/clients/acme/secrets"},
		"a client's scopes":  {"canary-secret-1, scopes: [ping]", "canary-secret-1, scopes: [ping, post]", "suppliers[sup_acme].oauth_clients[acme].scopes" + only + "they are ping; use POST /admin/v1/suppliers/sup_acme/clients/acme/secrets for a new one with others"},
		"a token's scopes":   {"canary-token-1, scopes: [ping]", "canary-token-1, scopes: [post]", "suppliers[sup_acme].bearer_tokens[0].scopes" + only + "they are ping; use POST /admin/v1/suppliers/sup_acme/tokens for a new one with others"},
		"a webhook's secret": {"whsec_Y2FuYXJ5", "whsec_Y2FuYXJ5Mg==", "suppliers[sup_acme].webhook.secret" + only + "the current secret is another one; use PUT /admin/v1/secrets/supplier/sup_acme/webhook"},
		"a buyer's token":    {"bearer: canary-bearer", "bearer: canary-bearer-9", "buyers[buy_blue].auth.bearer" + only + "the current secret is another one; use PUT /admin/v1/secrets/buyer/buy_blue/bearer"},
		"a buyer's API key":  {"api_key: canary-key", "api_key: canary-key-9", "buyers[buy_key].auth.api_key" + only + "the current secret is another one; use PUT /admin/v1/secrets/buyer/buy_key/api_key"},
		"a secret for OAuth": {"client_secret: canary-oauth", "client_secret: canary-oauth-9", "buyers[buy_oauth].auth.oauth.client_secret" + only + "the current secret is another one; use PUT /admin/v1/secrets/buyer/buy_oauth/oauth"},
		"a balance":          {"balance: 50", "balance: 51", "buyers[buy_blue].funds.balance" + only + "the account is open already; use POST /admin/v1/buyers/buy_blue/funds"},
		"a removed pause":    {"paused: true, ", "", "campaigns[cmp].paused" + only + "it is paused; use POST /admin/v1/campaigns/cmp/resume"},
		"a list's file":      {"file: dnc.txt", "file: dnc2.txt", "suppression_lists[dnc].file" + only + "the list keeps the 2 entries that it has; use PUT /admin/v1/suppression/dnc"},
		"a list's hash":      {"file: dnc.txt", "hash: md5, file: dnc.txt", "suppression_lists[dnc]" + only + "its entries were read as phone, plain, and match no lead now; use PUT /admin/v1/suppression/dnc"},
		"a removed API key":  {`    api_key: "${ACME_KEY}"` + "\n", "", "suppliers[sup_acme].api_key" + only + "it is not in this document, and its keys are still live; use DELETE /admin/v1/suppliers/sup_acme/keys/HINT"},
		"a removed client":   {"    oauth_clients: [{client_id: acme, client_secret: canary-secret-1, scopes: [ping]}]\n", "", "suppliers[sup_acme].oauth_clients[acme]" + only + "it is not in this document, and its secrets are still live; use DELETE /admin/v1/suppliers/sup_acme/clients/acme"},
		"a removed token":    {", {token: canary-token-2}", "", "suppliers[sup_acme].bearer_tokens" + only + "some are not in this document, and their tokens are still live; use DELETE /admin/v1/suppliers/sup_acme/tokens/ID"},

		"no change":              {"", "", ""},
		"another price":          {"price: 1}", "price: 2}", ""},
		"a new supplier":         {"buyers:\n", "  - {id: sup_new, api_key: new-canary-key, bearer_tokens: [{token: canary-new}]}\nbuyers:\n", ""},
		"a new token":            {"{token: canary-token-2}", "{token: canary-token-2}, {token: canary-token-3}", ""},
		"a new buyer":            {"suppression_lists:", "  - {id: buy_new, paused: true, funds: {balance: 9}, endpoint: \"http://127.0.0.1:1\", auth: {bearer: canary-new}}\nsuppression_lists:", ""},
		"another kind of secret": {"auth: {bearer: canary-bearer}", "auth: {api_key: canary-first}", ""},
		"a buyer's first pause":  {"{id: buy_key,", "{id: buy_key, paused: true,", ""},
		"a copy of the file":     {"file: dnc.txt", "file: dnc-copy.txt", ""},
		"a file that is gone":    {"file: dnc.txt", "file: dnc-gone.txt", ""},
		"a removed supplier":     {firstValuesConfig[strings.Index(firstValuesConfig, "suppliers:"):strings.Index(firstValuesConfig, "buyers:")], "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := stopped.copyFiles(t)
			changed := strings.Replace(firstValuesConfig, row.old, row.replaced, 1)
			if changed == firstValuesConfig && row.old != "" {
				t.Fatalf("%q is not in the document", row.old)
			}
			want := []string{row.want}
			if row.want == "" {
				want = nil
			}
			if result := x.putConfig(t, "?dry=1", changed); !slices.Equal(result.Unapplied, want) {
				t.Errorf("dry run reports\n%q\nwant\n%q", result.Unapplied, want)
			}
			p.writeConfig(t, changed)
			start(t, p)
			warned := p.logged.String()
			if row.want != "" && !strings.Contains(warned, row.want) || row.want == "" && strings.Contains(warned, "first value only") {
				t.Errorf("start logged %s", warned)
			}
		})
	}
}

// TestReloadAndApplyReportIgnoredValues: also after operators' changes.
func TestReloadAndApplyReportIgnoredValues(t *testing.T) {
	t.Parallel()
	p := newTestDir(t, firstValuesConfig)
	p.writeFile(t, "dnc.txt", "+1"+areaCode+"0001\n")
	x := start(t, p)
	x.mustAdmin(201, "POST", "/admin/v1/suppliers/sup_acme/keys", "")
	if result := x.putConfig(t, "?dry=1", firstValuesConfig); len(result.Unapplied) > 0 {
		t.Errorf("with two live keys: %q", result.Unapplied)
	}
	x.mustAdmin(204, "PUT", "/admin/v1/secrets/buyer/buy_blue/bearer", `{"value":"canary-rotated"}`)
	x.mustAdmin(204, "POST", "/admin/v1/buyers/buy_key/pause", "")
	x.mustAdmin(204, "POST", "/admin/v1/campaigns/cmp/resume", "")
	x.mustAdmin(200, "POST", "/admin/v1/buyers/buy_blue/funds", `{"amount": 5, "note": "wire"}`)
	keys := decode[struct{ Keys []struct{ Hint string } }](t, x.mustAdmin(200, "GET", "/admin/v1/suppliers/sup_acme/keys", ""))
	x.mustAdmin(204, "DELETE", "/admin/v1/suppliers/sup_acme/keys/"+url.PathEscape(keys.Keys[0].Hint), "")
	want := []string{"suppliers[sup_acme].api_key", "buyers[buy_blue].auth.bearer", "buyers[buy_key].paused", "campaigns[cmp].paused"}
	for name, report := range map[string]func() []string{
		"apply":  func() []string { return x.putConfig(t, "", firstValuesConfig).Unapplied },
		"diff":   func() []string { return x.putConfig(t, "?dry=1", firstValuesConfig).Unapplied },
		"reload": func() []string { return x.reloadWarnings(t) },
	} {
		var places []string
		for _, line := range report() {
			at, _, _ := strings.Cut(line, ": ")
			places = append(places, at)
		}
		if !slices.Equal(places, want) {
			t.Errorf("%s: got %q, want %q", name, places, want)
		}
	}
	// The exchange's own document has no secrets to compare, but its pauses.
	own := x.putConfig(t, "?dry=1", x.mustAdmin(200, "GET", "/admin/v1/config", "").body)
	if len(own.Unapplied) != 2 || len(own.Changes) != 0 {
		t.Errorf("the exchange's own document: %+v", own)
	}
	// A start does not compare with a damaged stored document.
	if files, _ := filepath.Glob(filepath.Join(x.dataDir(), "catalogs", "*.json")); len(files) == 1 {
		x.stop()
		must.Succeed(t, os.WriteFile(files[0], []byte("{}"), 0o600))
		start(t, p)
	}
}

// reloadWarnings reloads and returns the warnings.
func (r *testExchange) reloadWarnings(t *testing.T) (lines []string) {
	t.Helper()
	before := len(r.logged.String())
	r.mustReload()
	for line := range strings.Lines(r.logged.String()[before:]) {
		if _, value, ok := strings.Cut(line, `value="`); ok && strings.Contains(line, "level=WARN") {
			lines = append(lines, value)
		}
	}
	return lines
}
