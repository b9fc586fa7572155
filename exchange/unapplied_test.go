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

// firsts has one of everything that a document gives the first value of.
const firsts = head + `sandbox: true
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

// answered is what PUT /admin/v1/config answers.
type answered struct{ Changes, Unapplied []string }

// putConfig sends a document with the variables of the sender's environment.
func (r *running) putConfig(t *testing.T, query, document string) answered {
	t.Helper()
	body := mustJSON(t, map[string]any{
		"document": document, "variables": map[string]string{"PASSWORD": password, "ACME_KEY": acmeKey, "OTHER_KEY": otherKey},
	})
	return decode[answered](t, r.must(200, "PUT", "/admin/v1/config"+query, body, "Content-Type", admin.TypeApply))
}

// TestWhatIsNotApplied: what a document gives as a first value, where another one
// is in force: told by diff, by apply, by a reload and by a start, with what
// changes it and without a secret.
func TestWhatIsNotApplied(t *testing.T) {
	const only = ": first value only; not applied: "
	for name, row := range map[string]struct{ old, replaced, want string }{
		"an API key":            {`"${ACME_KEY}"`, `"${OTHER_KEY}"`, "suppliers[sup_acme].api_key" + only + "this key is not one of the live keys; use POST /admin/v1/suppliers/sup_acme/keys"},
		"a client's secret":     {"canary-secret-1", "canary-secret-9", "suppliers[sup_acme].oauth_clients[acme].client_secret" + only + "this secret is not one of the live secrets; use POST /admin/v1/suppliers/sup_acme/clients/acme/secrets"},
		"a client's scopes":     {"canary-secret-1, scopes: [ping]", "canary-secret-1, scopes: [ping, post]", "suppliers[sup_acme].oauth_clients[acme].scopes" + only + "they are ping; use POST /admin/v1/suppliers/sup_acme/clients/acme/secrets for a new one with others"},
		"a token's scopes":      {"canary-token-1, scopes: [ping]", "canary-token-1, scopes: [post]", "suppliers[sup_acme].bearer_tokens[0].scopes" + only + "they are ping; use POST /admin/v1/suppliers/sup_acme/tokens for a new one with others"},
		"a webhook's secret":    {"whsec_Y2FuYXJ5", "whsec_Y2FuYXJ5Mg==", "suppliers[sup_acme].webhook.secret" + only + "the current secret is another one; use PUT /admin/v1/secrets/supplier/sup_acme/webhook"},
		"a buyer's token":       {"bearer: canary-bearer", "bearer: canary-bearer-9", "buyers[buy_blue].auth.bearer" + only + "the current secret is another one; use PUT /admin/v1/secrets/buyer/buy_blue/bearer"},
		"a buyer's API key":     {"api_key: canary-key", "api_key: canary-key-9", "buyers[buy_key].auth.api_key" + only + "the current secret is another one; use PUT /admin/v1/secrets/buyer/buy_key/api_key"},
		"a secret for OAuth":    {"client_secret: canary-oauth", "client_secret: canary-oauth-9", "buyers[buy_oauth].auth.oauth.client_secret" + only + "the current secret is another one; use PUT /admin/v1/secrets/buyer/buy_oauth/oauth"},
		"a balance":             {"balance: 50", "balance: 51", "buyers[buy_blue].funds.balance" + only + "the account is open already; use POST /admin/v1/buyers/buy_blue/funds"},
		"a pause taken back":    {"paused: true, ", "", "campaigns[cmp].paused" + only + "it is paused; use POST /admin/v1/campaigns/cmp/resume"},
		"a list's file":         {"file: dnc.txt", "file: dnc2.txt", "suppression_lists[dnc].file" + only + "the list keeps the 2 entries that it has; use PUT /admin/v1/suppression/dnc"},
		"how a list is written": {"file: dnc.txt", "hash: md5, file: dnc.txt", "suppression_lists[dnc]" + only + "its entries were read as phone, plain, and match no lead now; use PUT /admin/v1/suppression/dnc"},
		"an API key gone":       {`    api_key: "${ACME_KEY}"` + "\n", "", "suppliers[sup_acme].api_key" + only + "it is not in this document, and its keys are still live; use DELETE /admin/v1/suppliers/sup_acme/keys/HINT"},
		"a client gone":         {"    oauth_clients: [{client_id: acme, client_secret: canary-secret-1, scopes: [ping]}]\n", "", "suppliers[sup_acme].oauth_clients[acme]" + only + "it is not in this document, and its secrets are still live; use DELETE /admin/v1/suppliers/sup_acme/clients/acme"},
		"a token gone":          {", {token: canary-token-2}", "", "suppliers[sup_acme].bearer_tokens" + only + "some are not in this document, and their tokens are still live; use DELETE /admin/v1/suppliers/sup_acme/tokens/ID"},

		"nothing":                {"", "", ""},
		"another price":          {"price: 1}", "price: 2}", ""},
		"a new supplier":         {"buyers:\n", "  - {id: sup_new, api_key: new-canary-key, bearer_tokens: [{token: canary-new}]}\nbuyers:\n", ""},
		"a new token":            {"{token: canary-token-2}", "{token: canary-token-2}, {token: canary-token-3}", ""},
		"a new buyer":            {"suppression_lists:", "  - {id: buy_new, paused: true, funds: {balance: 9}, endpoint: \"http://127.0.0.1:1\", auth: {bearer: canary-new}}\nsuppression_lists:", ""},
		"another kind of secret": {"auth: {bearer: canary-bearer}", "auth: {api_key: canary-first}", ""},
		"a buyer's first pause":  {"{id: buy_key,", "{id: buy_key, paused: true,", ""},
		"a copy of the file":     {"file: dnc.txt", "file: dnc-copy.txt", ""},
		"a file that is gone":    {"file: dnc.txt", "file: dnc-gone.txt", ""},
		"a supplier gone":        {firsts[strings.Index(firsts, "suppliers:"):strings.Index(firsts, "buyers:")], "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t, firsts)
			for file, text := range map[string]string{"dnc.txt": "\n", "dnc-copy.txt": "\r\n", "dnc2.txt": "\n+1" + areaCode + "0003\n"} {
				p.beside(t, file, "# do not call\n+1"+areaCode+"0001\n+1"+areaCode+"0002"+text)
			}
			x := start(t, p)
			changed := strings.Replace(firsts, row.old, row.replaced, 1)
			if changed == firsts && row.old != "" {
				t.Fatalf("%q is not in the document", row.old)
			}
			want := []string{row.want}
			if row.want == "" {
				want = nil
			}
			if would := x.putConfig(t, "?dry=1", changed); !slices.Equal(would.Unapplied, want) {
				t.Errorf("a difference says\n%q\nwant\n%q", would.Unapplied, want)
			}
			p.write(t, changed)
			before := len(spoken.String())
			x.stop()
			start(t, p)
			warned := spoken.String()[before:]
			if row.want != "" && !strings.Contains(warned, row.want) || row.want == "" && strings.Contains(warned, "first value only") {
				t.Errorf("a start says %s", warned)
			}
		})
	}
}

// TestReloadAndApplySayIt as well, and so they do of what an operator has done.
func TestReloadAndApplySayIt(t *testing.T) {
	p := newPlace(t, firsts)
	p.beside(t, "dnc.txt", "+1"+areaCode+"0001\n")
	x := start(t, p)
	x.must(201, "POST", "/admin/v1/suppliers/sup_acme/keys", "")
	if quiet := x.putConfig(t, "?dry=1", firsts); len(quiet.Unapplied) > 0 {
		t.Errorf("with two live keys: %q", quiet.Unapplied)
	}
	x.must(204, "PUT", "/admin/v1/secrets/buyer/buy_blue/bearer", `{"value":"canary-rotated"}`)
	x.must(204, "POST", "/admin/v1/buyers/buy_key/pause", "")
	x.must(204, "POST", "/admin/v1/campaigns/cmp/resume", "")
	x.must(200, "POST", "/admin/v1/buyers/buy_blue/funds", `{"amount": 5, "note": "wire"}`)
	keys := decode[struct{ Keys []struct{ Hint string } }](t, x.must(200, "GET", "/admin/v1/suppliers/sup_acme/keys", ""))
	x.must(204, "DELETE", "/admin/v1/suppliers/sup_acme/keys/"+url.PathEscape(keys.Keys[0].Hint), "")
	want := []string{"suppliers[sup_acme].api_key", "buyers[buy_blue].auth.bearer", "buyers[buy_key].paused", "campaigns[cmp].paused"}
	for what, say := range map[string]func() []string{
		"apply":  func() []string { return x.putConfig(t, "", firsts).Unapplied },
		"diff":   func() []string { return x.putConfig(t, "?dry=1", firsts).Unapplied },
		"reload": func() []string { return x.reloadSaying(t) },
	} {
		var places []string
		for _, line := range say() {
			at, _, _ := strings.Cut(line, ": ")
			places = append(places, at)
		}
		if !slices.Equal(places, want) {
			t.Errorf("%s: %q, want %q", what, places, want)
		}
	}
	// Its own document has no secrets to compare, and the pauses all the same.
	own := x.putConfig(t, "?dry=1", x.must(200, "GET", "/admin/v1/config", "").body)
	if len(own.Unapplied) != 2 || len(own.Changes) != 0 {
		t.Errorf("its own document: %+v", own)
	}
	// A document that is damaged on the disk is not compared with.
	if files, _ := filepath.Glob(filepath.Join(x.data(), "catalogs", "*.json")); len(files) == 1 {
		x.stop()
		must.Succeed(t, os.WriteFile(files[0], []byte("{}"), 0o600))
		start(t, p)
	}
}

// reloadSaying reloads and gives what was warned of.
func (r *running) reloadSaying(t *testing.T) (lines []string) {
	t.Helper()
	before := len(spoken.String())
	r.mustReload()
	for line := range strings.Lines(spoken.String()[before:]) {
		if _, value, ok := strings.Cut(line, `value="`); ok && strings.Contains(line, "level=WARN") {
			lines = append(lines, value)
		}
	}
	return lines
}
