package exchange

import (
	"errors"
	"io"
	"net/url"
	"strings"
	"testing"

	"pingpost/engine/event"
	"pingpost/internal/must"
	"pingpost/server/admin"
	"pingpost/wal"
)

// forEachFact passes the entries of a log and their events, in order.
func forEachFact(t testing.TB, dir string, visit func(entry wal.Entry, fact event.Event)) {
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

// described is a log as it is shown to a person.
func described(t testing.TB, dir string) (lines []string) {
	t.Helper()
	forEachFact(t, dir, func(_ wal.Entry, fact event.Event) { lines = append(lines, event.DescribeAsJSON(fact)) })
	return lines
}

// client is one as the operator is shown it.
type client struct {
	ID      string `json:"client_id"`
	Secrets []struct {
		Hint, Since string
		Scopes      []string
	}
}

func (r *running) clients(owner string) []client {
	r.t.Helper()
	return decode[struct{ Clients []client }](r.t, r.must(200, "GET", "/admin/v1/"+owner+"/clients", "")).Clients
}

// newSecret makes one for a client, and sees that it is shown as it should be.
func (r *running) newSecret(owner, id, body string) (secret, hint string) {
	r.t.Helper()
	a := r.must(201, "POST", "/admin/v1/"+owner+"/clients/"+url.PathEscape(id)+"/secrets", body)
	made := decode[struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
		Hint   string
		Scopes []string
	}](r.t, a)
	if made.ID != id || len(made.Secret) < 40 || !strings.HasPrefix(made.Secret, made.Hint) || made.Hint == "" || len(made.Scopes) == 0 || a.header.Get("Cache-Control") != "no-store" {
		r.t.Fatalf("%v %s", a.header, a.body)
	}
	return made.Secret, made.Hint
}

// endOldest ends the older one of two live secrets of a client.
func (r *running) endOldest(owner, id string) {
	r.t.Helper()
	for _, c := range r.clients(owner) {
		if c.ID == id && len(c.Secrets) == 2 {
			r.must(204, "DELETE", "/admin/v1/"+owner+"/clients/"+url.PathEscape(id)+"/secrets/"+c.Secrets[0].Hint, "")
		}
	}
}

func (r *running) wantKnown(id string, secrets map[string]bool) {
	r.t.Helper()
	for secret, want := range secrets {
		if got := r.knows(id, secret); got != want {
			r.t.Errorf("%s with the secret that begins with %.12s is known: %v, want %v", id, secret, got, want)
		}
	}
}

func (r *running) wantGood(tokens map[string]bool) {
	r.t.Helper()
	for token, want := range tokens {
		if got := r.good(token); got != want {
			r.t.Errorf("the token that begins with %.12s is good: %v, want %v", token, got, want)
		}
	}
}

func TestClientRotation(t *testing.T) {
	x := start(t, newPlace(t, traded))
	second, secondHint := x.newSecret("suppliers/sup_acme", "acme", "")
	older, newer := x.token("acme", acmeSecret), x.token("acme", second)
	x.wantKnown("acme", map[string]bool{acmeSecret: true, second: true})
	if listed := x.clients("suppliers/sup_acme"); len(listed) != 1 || len(listed[0].Secrets) != 2 || listed[0].Secrets[1].Hint != secondHint || listed[0].Secrets[0].Since == "" {
		t.Errorf("%+v", listed)
	}
	if _, hints := x.mustAsk("/admin/v1/suppliers/sup_acme/clients/acme/secrets", `{"scopes":["ping"]}`); hints != admin.KeyHint(acmeSecret)+" "+secondHint+" " {
		t.Errorf("asked with the secrets %s", hints)
	}
	third, thirdHint := x.newSecret("suppliers/sup_acme", "acme", replacing(admin.KeyHint(acmeSecret)))
	x.wantKnown("acme", map[string]bool{acmeSecret: false, second: true, third: true})
	x.wantGood(map[string]bool{older: false, newer: true})
	x = x.again()
	x.wantKnown("acme", map[string]bool{acmeSecret: false, second: true, third: true})
	x.wantGood(map[string]bool{older: false, newer: true})

	x.must(204, "DELETE", "/admin/v1/suppliers/sup_acme/clients/acme/secrets/"+secondHint, "")
	x.wantGood(map[string]bool{older: false, newer: false})
	x.must(404, "DELETE", "/admin/v1/suppliers/sup_acme/clients/acme/secrets/"+secondHint, "").mustFail(t, 404, "not_found")
	x.must(404, "DELETE", "/admin/v1/suppliers/sup_other/clients/acme/secrets/"+thirdHint, "").mustFail(t, 404, "not_found")
	x.must(404, "DELETE", "/admin/v1/suppliers/sup_acme/clients/acme2/secrets/"+thirdHint, "").mustFail(t, 404, "not_found")
	x.wantKnown("acme", map[string]bool{acmeSecret: false, second: false, third: true})
	x.mustReload()
	x = start(t, x.copy(t))
	x.wantKnown("acme", map[string]bool{acmeSecret: false, second: false, third: true})
	x.wantGood(map[string]bool{older: false, newer: false})
}

// TestClientRevoked: all of its secrets and tokens end at once, for good, and
// nobody else's do.
func TestClientRevoked(t *testing.T) {
	x := start(t, newPlace(t, traded))
	second, _ := x.newSecret("suppliers/sup_acme", "acme", "")
	other, _ := x.newSecret("suppliers/sup_acme", "acme2", "")
	blue := x.token(blueID, blueSecret)
	tokens := map[string]bool{
		x.token("acme", acmeSecret): false, x.token("acme", second): false, x.token("acme2", other): true, blue: true,
	}
	x.must(204, "DELETE", "/admin/v1/suppliers/sup_acme/clients/acme", "")
	check := func() {
		t.Helper()
		x.wantGood(tokens)
		x.wantKnown("acme", map[string]bool{acmeSecret: false, second: false})
		x.wantKnown("acme2", map[string]bool{other: true})
		x.wantOpen(map[string]bool{acmeKey: true})
	}
	check()
	x.must(404, "DELETE", "/admin/v1/suppliers/sup_acme/clients/acme", "").mustFail(t, 404, "not_found")
	x.mustReload()
	check()
	x = x.again()
	check()
	x.must(204, "DELETE", "/admin/v1/buyers/buy_blue/clients/"+url.PathEscape(blueID), "")
	x.wantKnown(blueID, map[string]bool{blueSecret: false})
	tokens[blue] = false
	third, _ := x.newSecret("suppliers/sup_acme", "acme", "") // as new: the old ones stay dead
	check()
	x.wantKnown("acme", map[string]bool{third: true})
}

// TestFirstSecretsOnly: what the file says of a client is its first value and no
// more; a client that is new in the file gets its own.
func TestFirstSecretsOnly(t *testing.T) {
	x := start(t, newPlace(t, traded))
	token := x.token("acme", acmeSecret)
	x.reloadWith(strings.Replace(traded, `{client_id: acme, client_secret: "`+acmeSecret+`"}`,
		`{client_id: acme, client_secret: canary-changed, scopes: [webhook]}, {client_id: acme2, client_secret: canary-of-two, scopes: [post]}`, 1))
	check := func() {
		t.Helper()
		x.wantKnown("acme", map[string]bool{acmeSecret: true, "canary-changed": false, "canary-of-two": false})
		x.wantKnown("acme2", map[string]bool{"canary-of-two": true, acmeSecret: false})
		x.wantGood(map[string]bool{token: true})
		x.grant("acme", acmeSecret, "webhook").mustRefuse(t, 400, "invalid_scope")
		if a := x.grant("acme2", "canary-of-two", ""); !strings.Contains(a.body, `"scope":"post"`) {
			t.Error(a.body)
		}
	}
	check()
	x = x.again()
	check()
	x.write(t, strings.Replace(traded, "    oauth_clients: [{client_id: acme, client_secret: \""+acmeSecret+"\"}]\n", "", 1))
	x = x.again() // the file takes nothing back
	check()
}

func TestClientsAreMadeAsAsked(t *testing.T) {
	x := start(t, newPlace(t, traded))
	scope := func(id, secret string) string {
		return decode[struct{ Scope string }](t, x.grant(id, secret, "")).Scope
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
		x.endOldest(row.owner, row.id)
		secret, _ := x.newSecret(row.owner, row.id, row.body)
		if got := scope(row.id, secret); got != row.want {
			t.Errorf("%s %s: scope %q, want %q", row.id, row.body, got, row.want)
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
		x.operate("POST", "/admin/v1/"+row.owner+"/clients/"+url.PathEscape(row.id)+"/secrets", row.body).mustFail(t, row.status, row.code)
	}
	x.operate("GET", "/admin/v1/suppliers/sup_none/clients", "").mustFail(t, 404, "not_found")
	if listed := x.clients("suppliers/sup_other"); len(listed) != 1 || listed[0].ID != "other" || len(listed[0].Secrets) != 2 {
		t.Errorf("%+v", listed)
	}
	if listed := x.clients("buyers/buy_blue"); len(listed) != 4 || listed[0].ID != blueID || len(listed[0].Secrets) != 2 || len(listed[0].Secrets[0].Scopes) != 2 {
		t.Errorf("%+v", listed)
	}
	// A name is free again when its owner's client is revoked.
	x.must(204, "DELETE", "/admin/v1/suppliers/sup_acme/clients/acme", "")
	secret, _ := x.newSecret("suppliers/sup_other", "acme", "")
	x.wantKnown("acme", map[string]bool{secret: true, acmeSecret: false})
}

// sandboxed is a sandbox with two static tokens that begin alike.
func sandboxed() string {
	return "sandbox: true\n" + strings.Replace(traded, "    ingest_rate",
		"    bearer_tokens: [{token: canary-static-token-1, scopes: [ping]}, {token: canary-static-token-2}]\n    ingest_rate", 1)
}

type static struct {
	ID, Hint, Since, Token string
	Scopes                 []string
}

func (r *running) statics(owner string) []static {
	r.t.Helper()
	return decode[struct{ Tokens []static }](r.t, r.must(200, "GET", "/admin/v1/"+owner+"/tokens", "")).Tokens
}

// holds tells what a static token opens; empty where it opens nothing.
func (r *running) holds(token string) string {
	r.t.Helper()
	c, ok := r.state.CredentialByHash(r.tokens.HashBearer([]byte(token)))
	if !ok || c.Kind != event.CredentialBearer {
		return ""
	}
	return r.state.NameOf(c.Owner, c.Ref) + ": " + c.Scopes.String()
}

func TestSandboxTokens(t *testing.T) {
	x := start(t, newPlace(t, sandboxed()))
	made := decode[static](t, x.must(201, "POST", "/admin/v1/suppliers/sup_acme/tokens", `{"scopes":["post"]}`))
	all := decode[static](t, x.must(201, "POST", "/admin/v1/buyers/buy_blue/tokens", ""))
	wants := map[string]string{
		"canary-static-token-1": "sup_acme: ping", "canary-static-token-2": "sup_acme: ping post webhook",
		made.Token: "sup_acme: post", all.Token: "buy_blue: ping post webhook", "canary-static-token-3": "",
	}
	check := func() {
		t.Helper()
		for token, want := range wants {
			if got := x.holds(token); got != want {
				t.Errorf("the token that begins with %.12s opens %q, want %q", token, got, want)
			}
		}
	}
	check()
	listed := x.statics("suppliers/sup_acme")
	ids := map[string]bool{}
	for _, one := range listed {
		ids[one.ID] = true
		if one.Token != "" || one.Since == "" || len(one.Scopes) == 0 {
			t.Errorf("listed as %+v", one)
		}
	}
	if len(ids) != 3 || !ids[made.ID] || !strings.HasPrefix(made.Token, made.Hint) || len(made.Token) < 40 {
		t.Errorf("%+v, made %s", listed, made.ID)
	}
	x.must(204, "DELETE", "/admin/v1/suppliers/sup_acme/tokens/"+made.ID, "")
	x.must(404, "DELETE", "/admin/v1/suppliers/sup_acme/tokens/"+made.ID, "").mustFail(t, 404, "not_found")
	x.must(404, "DELETE", "/admin/v1/suppliers/sup_acme/tokens/"+all.ID, "").mustFail(t, 404, "not_found")
	for _, one := range x.statics("suppliers/sup_acme") {
		if len(one.Scopes) == 1 {
			x.must(204, "DELETE", "/admin/v1/suppliers/sup_acme/tokens/"+one.ID, "")
		}
	}
	wants[made.Token], wants["canary-static-token-1"] = "", ""
	check()
	x.reloadWith(strings.Replace(sandboxed(), "canary-static-token-2", "canary-static-token-3", 1))
	wants["canary-static-token-3"] = "sup_acme: ping post webhook" // each token in the file is a value of its own
	check()
	x = x.again()
	check()
	x = start(t, x.copy(t))
	check()
}

func TestStaticTokensAreForSandboxes(t *testing.T) {
	x := start(t, newPlace(t, traded))
	x.operate("GET", "/admin/v1/suppliers/sup_acme/tokens", "").mustFail(t, 404, "not_found")
	x.operate("POST", "/admin/v1/suppliers/sup_acme/tokens", "").mustFail(t, 404, "not_found")
	x.operate("DELETE", "/admin/v1/suppliers/sup_acme/tokens/0", "").mustFail(t, 404, "not_found")
}
