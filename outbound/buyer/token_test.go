package buyer

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pingpost/engine/market"
	"pingpost/internal/must"
	"pingpost/outbound/dial/dialtest"
)

// oauthTo returns a ping of an OAuth client.
func oauthTo(buyer *endpoint, tokens string) *market.BuyerPingRequest {
	p := pingTo(buyer.ping(), longTimeout)
	p.Endpoint.Credential, p.Endpoint.Header, p.Endpoint.Scheme = "blue/oauth", "Authorization", "Bearer "
	p.Endpoint.OAuth = &market.OutboundOAuthClient{TokenURL: tokens, ClientID: `x"1`, Scope: "ping post"}
	return p
}

func tokenURL(e *endpoint) string { return "http://" + e.Address + "/oauth/token?tenant=1" }

// newTokenClient returns a client with the secret of an OAuth client. It appends the
// reported token failures to failures.
func newTokenClient(t *testing.T, failures *[]string) *Client {
	return newClient(t, func(o *Options) {
		o.Secrets = func(name string) (string, bool) { return `s3"cret`, name == "blue/oauth" }
		o.OnTokenFailure = func(secret string, fault market.OutboundRequestFault, status int) {
			*failures = append(*failures, fmt.Sprint(secret, " ", fault, " ", status))
		}
	})
}

var noBid = answers("200 OK", `{"auction_id":"auc_1","bid":null}`)

func TestTokenIsFetchedAndSent(t *testing.T) {
	var failures []string
	buyer := listen(t, noBid, noBid, answers("201 Created", `{}`))
	tokens := listen(t, answers("200 OK", `{"access_token":"t1","token_type":"bearer","expires_in":3600,"scope":"ping post"}`))
	client := newTokenClient(t, &failures)
	for range 2 {
		if got := client.Ping(oauthTo(buyer, tokenURL(tokens))); got.Outcome != market.OutcomeNoBid {
			t.Fatalf("%+v", got)
		}
	}
	post := postTo(buyer.post(), longTimeout)
	post.Endpoint = oauthTo(buyer, tokenURL(tokens)).Endpoint
	post.Endpoint.URL = buyer.post()
	if got := client.Post(post); got.Verdict != accepted {
		t.Fatalf("%+v", got)
	}

	fetches := tokens.Requests()
	if len(fetches) != 1 {
		t.Fatalf("%d token requests, want 1", len(fetches))
	}
	if want := `{"grant_type":"client_credentials","client_id":"x\"1","client_secret":"s3\"cret","scope":"ping post"}`; fetches[0].Body != want {
		t.Errorf("token request: got %s", fetches[0].Body)
	}
	if fetches[0].Target != "/oauth/token?tenant=1" || fetches[0].Header.Get("Content-Type") != "application/json" || fetches[0].Header.Get("Authorization") != "" || fetches[0].Header.Get("Idempotency-Key") != "" {
		t.Errorf("token request: got %+v", fetches[0])
	}
	for _, r := range buyer.Requests() {
		if r.Header.Get("Authorization") != "Bearer t1" {
			t.Errorf("%s: Authorization: %s", r.Target, r.Header.Get("Authorization"))
		}
	}
	if failures != nil {
		t.Error(failures)
	}
}

// The table lists answers of a token endpoint, and whether the client sends the ping.
func TestTokenAnswers(t *testing.T) {
	rows := []struct {
		name     string
		reply    reply
		wantAuth string
		failure  string
	}{
		{"all members", answers("200 OK", `{"access_token":"t1","token_type":"Bearer","expires_in":3600}`), "Bearer t1", ""},
		{"no type", answers("200 OK", `{"access_token":"t1"}`), "Bearer t1", ""},
		{"another type", answers("200 OK", `{"access_token":"t1","token_type":"mac"}`), "", "malformed 200"},
		{"a type that is a number", answers("200 OK", `{"access_token":"t1","token_type":1}`), "", "malformed 200"},
		{"no token", answers("200 OK", `{"token_type":"Bearer"}`), "", "malformed 200"},
		{"an empty token", answers("200 OK", `{"access_token":"","token_type":"Bearer"}`), "", "malformed 200"},
		{"a token that is a number", answers("200 OK", `{"access_token":1,"token_type":"Bearer"}`), "", "malformed 200"},
		{"a token with a line end", answers("200 OK", `{"access_token":"a\r\nX-Admin: 1","token_type":"Bearer"}`), "", "malformed 200"},
		{"a token too long", answers("200 OK", `{"access_token":"`+strings.Repeat("t", maxToken+1)+`"}`), "", "malformed 200"},
		{"no JSON", answers("200 OK", `access_token=t1&token_type=bearer`), "", "unreadable 200"},
		{"an empty body", answers("200 OK", ``), "", "unreadable 200"},
		{"too much", answers("200 OK", big), "", "too_large 200"},
		{"a wrong secret", answers("401 Unauthorized", `{"error":"invalid_client"}`), "", "credential 401"},
		{"a redirect", answers("302 Found", ``, "Location: /elsewhere"), "", "credential 302"},
		{"201", answers("201 Created", `{"access_token":"t1"}`), "", "credential 201"},
		{"down", answers("503 Service Unavailable", ``), "", "credential 503"},
		{"closes the connection", dialtest.WriteAndClose(""), "", "broken 0"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			var failures []string
			buyer, tokens := listen(t, noBid), listen(t, row.reply)
			client := newTokenClient(t, &failures)
			got := client.Ping(oauthTo(buyer, tokenURL(tokens)))
			var presented, failure string
			if requests := buyer.Requests(); len(requests) > 0 {
				presented = requests[0].Header.Get("Authorization")
			}
			if len(failures) > 0 {
				failure = strings.TrimPrefix(failures[0], "blue/oauth ")
			}
			if presented != row.wantAuth || failure != row.failure {
				t.Errorf("presented %q, reported %q; want %q, %q", presented, failures, row.wantAuth, row.failure)
			}
			if row.wantAuth == "" && verdict(got) != "error credential" {
				t.Errorf("%s", verdict(got))
			}
			post := postTo(buyer.post(), longTimeout)
			post.Endpoint = oauthTo(buyer, tokenURL(tokens)).Endpoint
			want := market.BuyerPostResult{Verdict: market.VerdictNotSent, Fault: market.FaultCredential}
			if got := withoutElapsed(client.Post(post)); row.wantAuth == "" && got != want {
				t.Errorf("a post: %+v", got)
			}
		})
	}
}

// The rules for buyers' addresses apply to token endpoints too.
func TestTokenEndpointAddresses(t *testing.T) {
	rows := []struct{ url, failure string }{
		{"http://198.41.0.4/token", "blue/oauth forbidden 0"},
		{"https://10.0.0.1/token", "blue/oauth forbidden 0"},
		{"https://169.254.169.254/token", "blue/oauth forbidden 0"},
		{"http://" + dialtest.UnusedAddress(t) + "/token", "blue/oauth connect 0"},
		{"ftp://127.0.0.1/token", "blue/oauth endpoint 0"},
	}
	for _, row := range rows {
		var failures []string
		buyer := listen(t, noBid)
		client := newTokenClient(t, &failures)
		p := oauthTo(buyer, row.url)
		if got := client.Ping(p); verdict(got) != "error credential" || len(buyer.Requests()) != 0 {
			t.Errorf("%s: %s, %d requests", row.url, verdict(got), len(buyer.Requests()))
		}
		if len(failures) != 1 || failures[0] != row.failure {
			t.Errorf("%s: reported %q", row.url, failures)
		}
	}
	var failures []string
	tokens := listen(t, noBid)
	p := oauthTo(tokens, tokenURL(tokens))
	p.Endpoint.Credential = "lost"
	if got := newTokenClient(t, &failures).Ping(p); verdict(got) != "error credential" || len(tokens.Requests()) != 0 {
		t.Errorf("an unknown secret: %s", verdict(got))
	}
}

// A 401 renews the token once, for a ping and for a post.
func Test401RenewsTokenOnce(t *testing.T) {
	unauthorized := answers("401 Unauthorized", `{"error":"unauthorized"}`)
	ping := func(c *Client, p *market.BuyerPingRequest) string { return verdict(c.Ping(p)) }
	post := func(c *Client, p *market.BuyerPingRequest) string {
		r := postTo(p.Endpoint.URL, longTimeout)
		r.Endpoint = p.Endpoint
		return deliver(c, r).Verdict.String()
	}
	rows := []struct {
		name    string
		call    func(*Client, *market.BuyerPingRequest) string
		replies []reply
		want    string
		sent    string
	}{
		{"ping", ping, []reply{unauthorized, noBid}, "no_bid", "t1 t2"},
		{"post", post, []reply{unauthorized, answers("201 Created", `{}`)}, "accepted", "t1 t2"},
		{"ping, new token rejected too", ping, []reply{unauthorized}, "error unauthorized", "t1 t2"},
		{"post, new token rejected too", post, []reply{unauthorized}, "refused", "t1 t2"},
		{"403 renews no token", ping, []reply{answers("403 Forbidden", `{"error":"insufficient_scope"}`)}, "error insufficient_scope", "t1"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			var failures []string
			buyer := listen(t, row.replies...)
			tokens := listen(t, answers("200 OK", `{"access_token":"t1"}`), answers("200 OK", `{"access_token":"t2"}`))
			if got := row.call(newTokenClient(t, &failures), oauthTo(buyer, tokenURL(tokens))); got != row.want {
				t.Errorf("%s, want %s", got, row.want)
			}
			var sent []string
			for _, r := range buyer.Requests() {
				sent = append(sent, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
			}
			if got := strings.Join(sent, " "); got != row.sent {
				t.Errorf("sent %s, want %s", got, row.sent)
			}
		})
	}
}

// A slow token endpoint delays a call until its deadline, and no request is sent.
func TestSlowTokenEndpointEndsAtDeadline(t *testing.T) {
	buyer, tokens := listen(t, noBid), listen(t, dialtest.WriteAndHang(""))
	p := oauthTo(buyer, tokenURL(tokens))
	p.Deadline = time.Now().Add(shortTimeout)
	client := newClient(t, func(o *Options) { o.Secrets = func(string) (string, bool) { return "s", true } })
	if got := client.Ping(p); verdict(got) != "timeout credential" || len(buyer.Requests()) != 0 {
		t.Errorf("%s, %d requests", verdict(got), len(buyer.Requests()))
	}
}

func TestTokenLifetimes(t *testing.T) {
	rows := map[string]time.Duration{
		`{}`:                       5 * time.Minute,
		`{"expires_in":null}`:      5 * time.Minute,
		`{"expires_in":3600}`:      time.Hour,
		`{"expires_in":"3600"}`:    time.Hour,
		`{"expires_in":3600.5}`:    time.Hour + 500*time.Millisecond,
		`{"expires_in":1}`:         time.Second,
		`{"expires_in":0}`:         5 * time.Minute,
		`{"expires_in":-1}`:        5 * time.Minute,
		`{"expires_in":"soon"}`:    5 * time.Minute,
		`{"expires_in":"NaN"}`:     5 * time.Minute,
		`{"expires_in":[60]}`:      5 * time.Minute,
		`{"expires_in":1e300}`:     24 * time.Hour,
		`{"expires_in":315360000}`: 24 * time.Hour,
	}
	for text, want := range rows {
		var a parsedJSONAnswer
		must.Succeed(t, a.body.Parse([]byte(text)))
		if got := a.tokenLifetime(); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}
