package refbuyer

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"pingpost/internal/must"
)

var acme = OAuth{"acme", "s3cret"}

// TestStockClient: a standard OAuth client gets a token and pings with it, for every
// placement of its credentials and for unusual characters in them.
func TestStockClient(t *testing.T) {
	for _, client := range []OAuth{acme, {"ac me&co", "a:b%20/+=é"}} {
		for _, style := range []oauth2.AuthStyle{oauth2.AuthStyleInHeader, oauth2.AuthStyleInParams, oauth2.AuthStyleAutoDetect} {
			b, base := start(t, Options{Bid: Fixed(1), OAuth: client})
			config := clientcredentials.Config{ClientID: client.Client, ClientSecret: client.Secret, TokenURL: base + "/oauth/token", Scopes: []string{"ping"}, AuthStyle: style}
			http := config.Client(context.WithValue(context.Background(), oauth2.HTTPClient, http.DefaultClient))
			for i := range 3 {
				if status := pingBy(t, http, base, fmt.Sprint("k", i)); status != 200 {
					t.Fatalf("%v: %d", client, status)
				}
			}
			if s := b.Stats(); s.Tokens != 1 || s.Bids != 3 || s.Unauthorized != 0 {
				t.Errorf("%v: stats %+v", client, s)
			}
			_ = b.Close()
		}
	}
}

func pingBy(t *testing.T, client *http.Client, base, key string) int {
	t.Helper()
	r := must.Value(http.NewRequest(http.MethodPost, base+"/v1/ping", strings.NewReader(pingOf("auc_1"))))(t)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Idempotency-Key", key)
	response, err := client.Do(r)
	must.Succeed(t, err)
	_ = response.Body.Close()
	return response.StatusCode
}

func TestTokenRequests(t *testing.T) {
	b, base := start(t, Options{OAuth: acme, TokenLifetime: 90 * time.Second})
	form := func(pairs ...string) string {
		values := url.Values{}
		for i := 0; i < len(pairs); i += 2 {
			values.Add(pairs[i], pairs[i+1])
		}
		return values.Encode()
	}
	const asForm, asJSON = "application/x-www-form-urlencoded", "application/json"
	const basicAcme = "Basic YWNtZTpzM2NyZXQ=" // acme:s3cret
	rows := []struct {
		name, kind, authorization, body string
		status                          int
		want                            string // the scope, or the error
	}{
		{"JSON", asJSON, "", `{"grant_type":"client_credentials","client_id":"acme","client_secret":"s3cret","scope":"post ping"}`, 200, "ping post"},
		{"JSON with a charset", asJSON + "; charset=utf-8", "", `{"grant_type":"client_credentials","client_id":"acme","client_secret":"s3cret","scope":"webhook"}`, 200, "webhook"},
		{"no scope", asJSON, "", `{"grant_type":"client_credentials","client_id":"acme","client_secret":"s3cret"}`, 200, "ping post"},
		{"a form", asForm, "", form("grant_type", "client_credentials", "client_id", "acme", "client_secret", "s3cret", "scope", "ping"), 200, "ping"},
		{"Basic and a form", asForm, basicAcme, form("grant_type", "client_credentials"), 200, "ping post"},
		{"Basic and JSON", asJSON, "basic" + basicAcme[5:], `{"grant_type":"client_credentials"}`, 200, "ping post"},
		{"another secret", asJSON, "", `{"grant_type":"client_credentials","client_id":"acme","client_secret":"s3cre"}`, 401, "invalid_client"},
		{"another client", asJSON, "", `{"grant_type":"client_credentials","client_id":"acmee","client_secret":"s3cret"}`, 401, "invalid_client"},
		{"nobody", asJSON, "", `{}`, 401, "invalid_client"},
		{"bad Basic beside good JSON", asJSON, "Basic x", `{"grant_type":"client_credentials","client_id":"acme","client_secret":"s3cret"}`, 401, "invalid_client"},
		{"Basic that is no form", asForm, "Basic YWNtZTolenp6", form("grant_type", "client_credentials"), 401, "invalid_client"},
		{"another grant", asForm, basicAcme, form("grant_type", "password"), 400, "unsupported_grant_type"},
		{"no grant", asForm, basicAcme, ``, 400, "unsupported_grant_type"},
		{"all scopes", asForm, basicAcme, form("grant_type", "client_credentials", "scope", "webhook  post ping post"), 200, "ping post webhook"},
		{"scopes with a comma", asForm, basicAcme, form("grant_type", "client_credentials", "scope", "ping,post"), 400, "invalid_scope"},
		{"a scope of ours", asForm, basicAcme, form("grant_type", "client_credentials", "scope", "ping admin"), 400, "invalid_scope"},
		{"twice", asForm, basicAcme, form("grant_type", "client_credentials", "grant_type", "client_credentials"), 400, "invalid_request"},
		{"no form", asForm, basicAcme, `%zz`, 400, "invalid_request"},
		{"no JSON", asJSON, basicAcme, `{`, 400, "invalid_request"},
		{"wrong types", asJSON, basicAcme, `{"grant_type":1}`, 400, "invalid_request"},
		{"plain text", "text/plain", basicAcme, form("grant_type", "client_credentials"), 400, "invalid_request"},
	}
	good := int64(0)
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			status, text, header := send(t, "POST", base+"/oauth/token", row.body, "Content-Type", row.kind, "Authorization", row.authorization)
			var got struct {
				granted
				oauthRefusal
			}
			if err := json.Unmarshal([]byte(text), &got); err != nil || status != row.status || header.Get("Cache-Control") != "no-store" {
				t.Fatalf("%d %s %v", status, text, header)
			}
			if status == 200 {
				good++
				if got.Scope != row.want || got.Type != "Bearer" || got.ExpiresIn != 90 || len(got.Token) < 20 {
					t.Errorf("got %s", text)
				}
				return
			}
			if got.Error != row.want || got.Message == "" || got.Description != got.Message || got.RequestID == "" || got.RequestID != header.Get("X-Request-Id") {
				t.Errorf("got %s", text)
			}
			if (status == 401) != (header.Get("WWW-Authenticate") == "Basic") {
				t.Errorf("%d with %v", status, header)
			}
		})
	}
	if s := b.Stats(); s.Tokens != good || s.Invalid != int64(len(rows))-good || s.Unauthorized != 5 {
		t.Errorf("stats %+v", s)
	}
	if status, _, header := send(t, "GET", base+"/oauth/token", ""); status != 405 || header.Get("Allow") != "POST" {
		t.Errorf("GET: %d", status)
	}
}

// TestAccess checks credentials over a socket.
func TestAccess(t *testing.T) {
	b, base := start(t, Options{Bid: Fixed(1), Token: "static", OAuth: acme, TokenLifetime: time.Minute})
	var at atomic.Int64
	b.now = func() time.Time { return noon.Add(time.Duration(at.Load())) }
	pinging, posting := b.access.issue(scopePing, b.now()), b.access.issue(scopePost|scopeWebhook, b.now())
	try := func(name, path, authorization string, want int) {
		t.Helper()
		body := map[string]string{"/v1/ping": pingOf("auc_1"), "/v1/post": lead("l1")}[path]
		status, text, header := send(t, "POST", base+path, body, "Idempotency-Key", "k1", "Authorization", authorization)
		if status != want || status == 403 && !strings.Contains(text, "insufficient_scope") || (status == 401) != (header.Get("WWW-Authenticate") == "Bearer") {
			t.Errorf("%s: %d %s, want %d", name, status, text, want)
		}
	}
	try("nobody", "/v1/ping", "", 401)
	try("an empty token", "/v1/ping", "Bearer ", 401)
	try("a token of nobody", "/v1/ping", "Bearer tok_x", 401)
	try("the client's own secret", "/v1/ping", "Bearer s3cret", 401)
	try("the static token", "/v1/ping", "Bearer static", 200)
	try("the static token", "/v1/post", "bearer static", 201)
	try("to ping", "/v1/ping", "Bearer "+pinging, 200)
	try("to ping, not to post", "/v1/post", "Bearer "+pinging, 403)
	try("to post", "/v1/post", "Bearer "+posting, 201)
	try("to post, not to ping", "/v1/ping", "Bearer "+posting, 403)
	at.Store(int64(time.Minute - 1))
	try("in its last nanosecond", "/v1/ping", "Bearer "+pinging, 200)
	at.Store(int64(time.Minute))
	try("expired", "/v1/ping", "Bearer "+pinging, 401)
	try("the static one, for ever", "/v1/ping", "Bearer static", 200)
}

// TestExpireEarly: such a token works for a while and then never again. The same tokens
// fail under the same seed.
func TestExpireEarly(t *testing.T) {
	uses := func(seed chance, rate float64) (all []int, early int) {
		a := &access{lifetime: time.Hour, early: rate, chance: seed, known: map[string]*accessToken{}}
		for range 50 {
			token, n := []byte("Bearer "+a.issue(scopePing, noon)), 0
			for n <= mostUses && a.checkHeader(token, scopePing, noon) == admitted {
				n++
			}
			if n <= mostUses {
				early++
			}
			if n < leastUses || n <= mostUses && a.checkHeader(token, scopePing, noon) != refused {
				t.Errorf("a token of %d uses, or one that came back", n)
			}
			all = append(all, n)
		}
		return all, early
	}
	half, some := uses(1, 0.5)
	again, _ := uses(1, 0.5)
	other, _ := uses(2, 0.5)
	_, all := uses(1, 1)
	if _, none := uses(1, 0); none != 0 || all != 50 || some < 10 || some > 40 {
		t.Errorf("%d, %d and %d of 50 tokens expire early, of shares 0, 0.5 and 1", none, some, all)
	}
	if !slices.Equal(half, again) || slices.Equal(half, other) {
		t.Error("the seed does not decide")
	}
}

// TestTokensForgotten: only the newest tokens use memory.
func TestTokensForgotten(t *testing.T) {
	a := &access{lifetime: time.Hour, known: map[string]*accessToken{}}
	first := a.issue(scopePing, noon)
	var last string
	for range maxTokens {
		last = a.issue(scopePing, noon)
	}
	if len(a.known) != maxTokens || a.issued() != maxTokens+1 {
		t.Errorf("%d of %d tokens are known", len(a.known), a.issued())
	}
	if a.checkHeader([]byte("Bearer "+first), scopePing, noon) != refused || a.checkHeader([]byte("Bearer "+last), scopePing, noon) != admitted {
		t.Error("another than the oldest was forgotten")
	}
}
