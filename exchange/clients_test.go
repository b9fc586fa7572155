package exchange

import (
	"errors"
	"io"
	"net/url"
	"slices"
	"strings"
	"testing"

	"pingpost/engine/event"
	"pingpost/internal/must"
	"pingpost/server/admin"
	"pingpost/wal"
)

// forEachLogEntry calls visit with each log entry and its event, in order.
func forEachLogEntry(t testing.TB, dir string, visit func(entry wal.Entry, fact event.Event)) {
	t.Helper()
	reader := must.Value(wal.NewReader(dir, 0))(t)
	defer reader.Close()
	for {
		entry, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		must.Succeed(t, err)
		fact := must.Value(new(event.Decoder).Decode(entry.Data))(t)
		visit(entry, fact)
	}
}

// logAsJSON returns the events of a log as log dump prints them.
func logAsJSON(t testing.TB, dir string) (lines []string) {
	t.Helper()
	forEachLogEntry(t, dir, func(_ wal.Entry, fact event.Event) { lines = append(lines, event.DescribeAsJSON(fact)) })
	return lines
}

// clientEntry is an OAuth client in the list of the admin API.
type clientEntry struct {
	ID      string `json:"client_id"`
	Secrets []struct {
		Hint, Since string
		Scopes      []string
	}
}

func (r *testExchange) listClients(owner string) []clientEntry {
	r.t.Helper()
	return decode[struct{ Clients []clientEntry }](r.t, r.mustAdmin(200, "GET", "/admin/v1/"+owner+"/clients", "")).Clients
}

// createClientSecret creates a secret for an OAuth client and checks the answer.
func (r *testExchange) createClientSecret(owner, id, body string) (secret, hint string) {
	r.t.Helper()
	known := slices.ContainsFunc(r.listClients(owner), func(c clientEntry) bool { return c.ID == id })
	a := r.mustAdmin(201, "POST", "/admin/v1/"+owner+"/clients/"+url.PathEscape(id)+"/secrets", body)
	created := decode[struct {
		ID        string `json:"client_id"`
		NewClient *bool  `json:"new_client"`
		Secret    string `json:"client_secret"`
		Hint      string
		Scopes    []string
	}](r.t, a)
	if created.NewClient == nil || *created.NewClient == known {
		r.t.Errorf("client %s existed: %t, but the answer is %s", id, known, a.body)
	}
	if created.ID != id || len(created.Secret) < 40 || !strings.HasPrefix(created.Secret, created.Hint) || created.Hint == "" || len(created.Scopes) == 0 || a.header.Get("Cache-Control") != "no-store" {
		r.t.Fatalf("incomplete answer with a new secret: %v %s", a.header, a.body)
	}
	return created.Secret, created.Hint
}

// endOldestSecret ends the older one of two valid secrets of a client.
func (r *testExchange) endOldestSecret(owner, id string) {
	r.t.Helper()
	for _, c := range r.listClients(owner) {
		if c.ID == id && len(c.Secrets) == 2 {
			r.mustAdmin(204, "DELETE", "/admin/v1/"+owner+"/clients/"+url.PathEscape(id)+"/secrets/"+c.Secrets[0].Hint, "")
		}
	}
}

func (r *testExchange) checkClientSecrets(id string, secrets map[string]bool) {
	r.t.Helper()
	for secret, want := range secrets {
		if got := r.acceptsSecret(id, secret); got != want {
			r.t.Errorf("client %s: secret %.12s… is valid: %v, want %v", id, secret, got, want)
		}
	}
}

func (r *testExchange) checkTokens(tokens map[string]bool) {
	r.t.Helper()
	for token, want := range tokens {
		if got := r.acceptsToken(token); got != want {
			r.t.Errorf("token %.12s… is valid: %v, want %v", token, got, want)
		}
	}
}

func TestClientSecretRotation(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, oauthConfig))
	second, secondHint := x.createClientSecret("suppliers/sup_acme", "acme", "")
	older, newer := x.mustToken("acme", acmeSecret), x.mustToken("acme", second)
	x.checkClientSecrets("acme", map[string]bool{acmeSecret: true, second: true})
	if listed := x.listClients("suppliers/sup_acme"); len(listed) != 1 || len(listed[0].Secrets) != 2 || listed[0].Secrets[1].Hint != secondHint || listed[0].Secrets[0].Since == "" {
		t.Errorf("unexpected secrets of the client: %+v", listed)
	}
	if _, hints := x.mustRequireConfirmation("/admin/v1/suppliers/sup_acme/clients/acme/secrets", `{"scopes":["ping"]}`); hints != admin.SecretPrefixHint(acmeSecret)+" "+secondHint+" " {
		t.Errorf("confirmation lists the secrets %s", hints)
	}
	third, thirdHint := x.createClientSecret("suppliers/sup_acme", "acme", replacesBody(admin.SecretPrefixHint(acmeSecret)))
	x.checkClientSecrets("acme", map[string]bool{acmeSecret: false, second: true, third: true})
	x.checkTokens(map[string]bool{older: false, newer: true})
	x = x.restart()
	x.checkClientSecrets("acme", map[string]bool{acmeSecret: false, second: true, third: true})
	x.checkTokens(map[string]bool{older: false, newer: true})

	x.mustAdmin(204, "DELETE", "/admin/v1/suppliers/sup_acme/clients/acme/secrets/"+secondHint, "")
	x.checkTokens(map[string]bool{older: false, newer: false})
	x.mustAdmin(404, "DELETE", "/admin/v1/suppliers/sup_acme/clients/acme/secrets/"+secondHint, "").mustFail(t, 404, "not_found")
	x.mustAdmin(404, "DELETE", "/admin/v1/suppliers/sup_other/clients/acme/secrets/"+thirdHint, "").mustFail(t, 404, "not_found")
	x.mustAdmin(404, "DELETE", "/admin/v1/suppliers/sup_acme/clients/acme2/secrets/"+thirdHint, "").mustFail(t, 404, "not_found")
	x.checkClientSecrets("acme", map[string]bool{acmeSecret: false, second: false, third: true})
	x.mustReload()
	x = start(t, x.copyFiles(t))
	x.checkClientSecrets("acme", map[string]bool{acmeSecret: false, second: false, third: true})
	x.checkTokens(map[string]bool{older: false, newer: false})
}

// TestRevokedClientLosesSecretsAndTokens: its secrets and tokens become invalid at once and stay
// so. Other clients keep theirs.
func TestRevokedClientLosesSecretsAndTokens(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, oauthConfig))
	second, _ := x.createClientSecret("suppliers/sup_acme", "acme", "")
	other, _ := x.createClientSecret("suppliers/sup_acme", "acme2", "")
	blue := x.mustToken(blueID, blueSecret)
	tokens := map[string]bool{
		x.mustToken("acme", acmeSecret): false, x.mustToken("acme", second): false, x.mustToken("acme2", other): true, blue: true,
	}
	x.mustAdmin(204, "DELETE", "/admin/v1/suppliers/sup_acme/clients/acme", "")
	check := func() {
		t.Helper()
		x.checkTokens(tokens)
		x.checkClientSecrets("acme", map[string]bool{acmeSecret: false, second: false})
		x.checkClientSecrets("acme2", map[string]bool{other: true})
		x.checkKeys(map[string]bool{acmeKey: true})
	}
	check()
	x.mustAdmin(404, "DELETE", "/admin/v1/suppliers/sup_acme/clients/acme", "").mustFail(t, 404, "not_found")
	x.mustReload()
	check()
	x = x.restart()
	check()
	x.mustAdmin(204, "DELETE", "/admin/v1/buyers/buy_blue/clients/"+url.PathEscape(blueID), "")
	x.checkClientSecrets(blueID, map[string]bool{blueSecret: false})
	tokens[blue] = false
	third, _ := x.createClientSecret("suppliers/sup_acme", "acme", "") // revoked secrets stay invalid
	check()
	x.checkClientSecrets("acme", map[string]bool{third: true})
}

// TestFileSetsOnlyFirstClientSecret: a changed or removed secret in the file has no effect. A
// client that is new in the file gets its secret.
func TestFileSetsOnlyFirstClientSecret(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, oauthConfig))
	token := x.mustToken("acme", acmeSecret)
	x.reloadWith(strings.Replace(oauthConfig, `{client_id: acme, client_secret: "`+acmeSecret+`"}`,
		`{client_id: acme, client_secret: canary-changed, scopes: [webhook]}, {client_id: acme2, client_secret: canary-of-two, scopes: [post]}`, 1))
	check := func() {
		t.Helper()
		x.checkClientSecrets("acme", map[string]bool{acmeSecret: true, "canary-changed": false, "canary-of-two": false})
		x.checkClientSecrets("acme2", map[string]bool{"canary-of-two": true, acmeSecret: false})
		x.checkTokens(map[string]bool{token: true})
		x.requestToken("acme", acmeSecret, "webhook").mustFailOAuth(t, 400, "invalid_scope")
		if a := x.requestToken("acme2", "canary-of-two", ""); !strings.Contains(a.body, `"scope":"post"`) {
			t.Errorf("unexpected scope of the new client: %v", a.body)
		}
	}
	check()
	x = x.restart()
	check()
	x.writeConfig(t, strings.Replace(oauthConfig, "    oauth_clients: [{client_id: acme, client_secret: \""+acmeSecret+"\"}]\n", "", 1))
	x = x.restart() // a client that the file no longer has stays
	check()
}

func TestCreateClientSecrets(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, oauthConfig))
	scope := func(id, secret string) string {
		return decode[struct{ Scope string }](t, x.requestToken(id, secret, "")).Scope
	}
	for _, row := range []struct{ owner, id, body, want string }{
		{"suppliers/sup_other", "other", "", "ping post"},
		{"suppliers/sup_other", "other", `{"scopes":["webhook","ping"]}`, "ping webhook"},
		{"suppliers/sup_other", "other", `{}`, "ping webhook"},
		{"suppliers/sup_other", "other", `{"scopes":null}`, "ping webhook"},
		{"buyers/buy_blue", "green", "", "webhook"},
		{"buyers/buy_blue", blueID, "", "post webhook"},
		{"buyers/buy_blue", `a"b\c/d?e=f#g`, "", "webhook"},
		{"buyers/buy_blue", strings.Repeat("x", 128), "", "webhook"},
	} {
		x.endOldestSecret(row.owner, row.id)
		secret, _ := x.createClientSecret(row.owner, row.id, row.body)
		if got := scope(row.id, secret); got != row.want {
			t.Errorf("client %s created with %s: got scope %q, want %q", row.id, row.body, got, row.want)
		}
	}
	for _, row := range []struct {
		owner, id, body string
		status          int
		code            string
	}{
		{"suppliers/sup_none", "a", "", 404, "not_found"},
		{"buyers/sup_acme", "a", "", 404, "not_found"},
		{"suppliers/sup_other", "acme", "", 409, "invalid_transition"},
		{"buyers/buy_blue", "acme", "", 409, "invalid_transition"},
		{"suppliers/sup_other", "a:b", "", 422, "invalid_payload"},
		{"suppliers/sup_other", "a b", "", 422, "invalid_payload"},
		{"suppliers/sup_other", "é", "", 422, "invalid_payload"},
		{"suppliers/sup_other", strings.Repeat("x", 129), "", 422, "invalid_payload"},
		{"suppliers/sup_other", "a", `{"scopes":[]}`, 422, "invalid_payload"},
		{"suppliers/sup_other", "a", `{"scopes":["ping","admin"]}`, 422, "invalid_payload"},
		{"suppliers/sup_other", "a", `{"scopes":"ping"}`, 422, "invalid_payload"},
		{"suppliers/sup_other", "a", `{"scopes":`, 400, "malformed_json"},
	} {
		x.adminRequest("POST", "/admin/v1/"+row.owner+"/clients/"+url.PathEscape(row.id)+"/secrets", row.body).mustFail(t, row.status, row.code)
	}
	x.adminRequest("GET", "/admin/v1/suppliers/sup_none/clients", "").mustFail(t, 404, "not_found")
	if listed := x.listClients("suppliers/sup_other"); len(listed) != 1 || listed[0].ID != "other" || len(listed[0].Secrets) != 2 {
		t.Errorf("unexpected clients of sup_other: %+v", listed)
	}
	if listed := x.listClients("buyers/buy_blue"); len(listed) != 4 || listed[0].ID != blueID || len(listed[0].Secrets) != 2 || len(listed[0].Secrets[0].Scopes) != 2 {
		t.Errorf("unexpected clients of buy_blue: %+v", listed)
	}
	// A revoked client's name may have another owner.
	x.mustAdmin(204, "DELETE", "/admin/v1/suppliers/sup_acme/clients/acme", "")
	secret, _ := x.createClientSecret("suppliers/sup_other", "acme", "")
	x.checkClientSecrets("acme", map[string]bool{secret: true, acmeSecret: false})
}

// sandboxConfig is a sandbox with two static tokens that have the same hint.
func sandboxConfig() string {
	return "sandbox: true\n" + strings.Replace(oauthConfig, "    ingest_rate",
		"    bearer_tokens: [{token: canary-static-token-1, scopes: [ping]}, {token: canary-static-token-2}]\n    ingest_rate", 1)
}

type staticToken struct {
	ID, Hint, Since, Token string
	Scopes                 []string
}

func (r *testExchange) listStaticTokens(owner string) []staticToken {
	r.t.Helper()
	return decode[struct{ Tokens []staticToken }](r.t, r.mustAdmin(200, "GET", "/admin/v1/"+owner+"/tokens", "")).Tokens
}

// staticTokenScopes returns the owner and scopes of a static token, or "" if it is invalid.
func (r *testExchange) staticTokenScopes(token string) string {
	r.t.Helper()
	c, ok := r.state.CredentialByHash(r.tokens.HashStaticBearerToken([]byte(token)))
	if !ok || c.Kind != event.CredentialBearer {
		return ""
	}
	return r.state.NameOf(c.Owner, c.Ref) + ": " + c.Scopes.String()
}

func TestSandboxStaticTokens(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, sandboxConfig()))
	created := decode[staticToken](t, x.mustAdmin(201, "POST", "/admin/v1/suppliers/sup_acme/tokens", `{"scopes":["post"]}`))
	all := decode[staticToken](t, x.mustAdmin(201, "POST", "/admin/v1/buyers/buy_blue/tokens", ""))
	wants := map[string]string{
		"canary-static-token-1": "sup_acme: ping", "canary-static-token-2": "sup_acme: ping post webhook",
		created.Token: "sup_acme: post", all.Token: "buy_blue: ping post webhook", "canary-static-token-3": "",
	}
	check := func() {
		t.Helper()
		for token, want := range wants {
			if got := x.staticTokenScopes(token); got != want {
				t.Errorf("token %.12s… has the scopes %q, want %q", token, got, want)
			}
		}
	}
	check()
	listed := x.listStaticTokens("suppliers/sup_acme")
	ids := map[string]bool{}
	for _, one := range listed {
		ids[one.ID] = true
		if one.Token != "" || one.Since == "" || len(one.Scopes) == 0 {
			t.Errorf("incomplete token in the list: %+v", one)
		}
	}
	if len(ids) != 3 || !ids[created.ID] || !strings.HasPrefix(created.Token, created.Hint) || len(created.Token) < 40 {
		t.Errorf("tokens %+v, want 3 with the new one, %s", listed, created.ID)
	}
	x.mustAdmin(204, "DELETE", "/admin/v1/suppliers/sup_acme/tokens/"+created.ID, "")
	x.mustAdmin(404, "DELETE", "/admin/v1/suppliers/sup_acme/tokens/"+created.ID, "").mustFail(t, 404, "not_found")
	x.mustAdmin(404, "DELETE", "/admin/v1/suppliers/sup_acme/tokens/"+all.ID, "").mustFail(t, 404, "not_found")
	for _, one := range x.listStaticTokens("suppliers/sup_acme") {
		if len(one.Scopes) == 1 {
			x.mustAdmin(204, "DELETE", "/admin/v1/suppliers/sup_acme/tokens/"+one.ID, "")
		}
	}
	wants[created.Token], wants["canary-static-token-1"] = "", ""
	check()
	x.reloadWith(strings.Replace(sandboxConfig(), "canary-static-token-2", "canary-static-token-3", 1))
	wants["canary-static-token-3"] = "sup_acme: ping post webhook" // tokens are independent of each other
	check()
	x = x.restart()
	check()
	x = start(t, x.copyFiles(t))
	check()
}

func TestStaticTokensNeedSandbox(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, oauthConfig))
	x.adminRequest("GET", "/admin/v1/suppliers/sup_acme/tokens", "").mustFail(t, 404, "not_found")
	x.adminRequest("POST", "/admin/v1/suppliers/sup_acme/tokens", "").mustFail(t, 404, "not_found")
	x.adminRequest("DELETE", "/admin/v1/suppliers/sup_acme/tokens/0", "").mustFail(t, 404, "not_found")
}
