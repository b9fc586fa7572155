package buyer

import (
	"strings"
	"testing"

	"pingpost/engine/market"
	"pingpost/engine/market/escape"
)

const keyName = "buyer/old/secret/key"

// postWithSecrets returns a post in an adapter protocol with a secret in its address, headers and body.
func postWithSecrets(e *endpoint) *market.BuyerPostRequest {
	placeholder := func(how escape.SecretEscaping) string {
		return string(escape.AppendSecretPlaceholder(nil, how, keyName))
	}
	p := postIn(newAdapterConfig(func(d *market.AdapterProtocol) { d.Headers = "X-Old: k=" + placeholder(escape.None) + "\n" }),
		e.post()+"/"+placeholder(escape.URL)+"?key="+placeholder(escape.URL))
	p.Body = []byte(`{"key":"` + placeholder(escape.JSON) + `","first_name":"{{secret \"key\"}}","last_name":"\u001aj` + keyName + `\u001a"}`)
	return p
}

// The client replaces each placeholder by the current secret, so a retry of the same
// logged bytes has the rotated secret.
func TestSecretsReplacePlaceholders(t *testing.T) {
	buyer := listen(t, answers("200 OK", `{"data":{"status":"taken"}}`))
	secret := `a&b "c\d</e> +%`
	client := newClient(t, func(o *Options) { o.Secrets = func(name string) (string, bool) { return secret, name == keyName } })
	logged := string(postWithSecrets(buyer).Body)
	for _, row := range []struct{ secret, target, header, body string }{
		{secret, "/v1/post/a%26b%20%22c%5Cd%3C%2Fe%3E%20%2B%25?key=a%26b%20%22c%5Cd%3C%2Fe%3E%20%2B%25", `k=a&b "c\d</e> +%`, `{"key":"a&b \"c\\d</e> +%",`},
		{"rotated", "/v1/post/rotated?key=rotated", "k=rotated", `{"key":"rotated",`},
	} {
		secret = row.secret
		p := postWithSecrets(buyer)
		if got := client.Post(p); got.Verdict != market.VerdictAccepted {
			t.Fatalf("%+v", got)
		}
		requests := buyer.Requests()
		sent := requests[len(requests)-1]
		const lead = `"first_name":"{{secret \"key\"}}","last_name":"\u001aj` + keyName + `\u001a"}`
		if sent.Target != row.target || sent.Header.Get("X-Old") != row.header || sent.Body != row.body+lead {
			t.Errorf("sent %s\n%s\n%s", sent.Target, sent.Header.Get("X-Old"), sent.Body)
		}
		if string(p.Body) != logged {
			t.Errorf("the logged bytes changed: %q", p.Body)
		}
	}
}

// A missing or invalid secret fails the request before it is sent.
func TestMissingSecretSendsNothing(t *testing.T) {
	for name, secret := range map[string]string{"missing": "", "two lines": "a\r\nX-Admin: 1", "too long": strings.Repeat("x", maxSecret+1)} {
		t.Run(name, func(t *testing.T) {
			buyer := listen(t, noBid)
			client := newClient(t, func(o *Options) { o.Secrets = func(string) (string, bool) { return secret, secret != "" } })
			p := postWithSecrets(buyer)
			want := market.BuyerPostResult{Verdict: market.VerdictNotSent, Fault: market.FaultCredential}
			if got := withoutElapsed(client.Post(p)); got != want || len(buyer.Requests()) != 0 {
				t.Errorf("%+v, %d requests", got, len(buyer.Requests()))
			}
			ping := pingIn(p.Endpoint.AdapterProtocol, p.Endpoint.URL)
			ping.Body = p.Body
			if got := client.Ping(ping); verdict(got) != "error credential" || len(buyer.Requests()) != 0 {
				t.Errorf("%s, %d requests", verdict(got), len(buyer.Requests()))
			}
		})
	}
}

// Without an adapter protocol, the client sends the body's bytes unchanged and reads no secret.
func TestContractBodyIsSentUnchanged(t *testing.T) {
	buyer := listen(t, answers("201 Created", `{}`))
	client := newClient(t, func(o *Options) {
		o.Secrets = func(name string) (string, bool) { t.Errorf("the client read the secret %s", name); return "s", true }
	})
	p := postTo(buyer.post(), longTimeout)
	p.Body = []byte("{\"a\":\"\x1aj" + keyName + "\x1a\"}")
	client.Post(p)
	if got := buyer.Requests(); len(got) != 1 || got[0].Body != string(p.Body) {
		t.Errorf("%+v", got)
	}
}

// The client removes the sent credential, a secret or a token, from the results of answers.
func TestEchoedCredentialIsRedacted(t *testing.T) {
	const credential = "Canary-credential"
	tokens := listen(t, answers("200 OK", `{"access_token":"`+credential+`"}`))
	for name, oauth := range map[string]*market.OutboundOAuthClient{"fixed": nil, "a token": {TokenURL: tokenURL(tokens), ClientID: "c"}} {
		t.Run(name, func(t *testing.T) {
			buyer := listen(t,
				answers("422 Unprocessable Entity", `{"error":"x-canary-credential"}`),
				answers("201 Created", `{"buyer_lead_id":"`+credential+`"}`),
				answers("200 OK", `{"auction_id":"auc_1","bid":null,"reject_reason":"canary-credential"}`),
				answers("200 OK", `{"auction_id":"auc_1","bid":null,"reject_reason":"full"}`))
			client := newClient(t, func(o *Options) { o.Secrets = func(string) (string, bool) { return credential, true } })
			setCredential := func(e *market.OutboundEndpoint) {
				e.Credential, e.Header, e.Scheme, e.OAuth = "blue", "Authorization", "Bearer ", oauth
			}
			for range 2 {
				p := postTo(buyer.post(), longTimeout)
				setCredential(&p.Endpoint)
				if got := client.Post(p); got.Status == 0 || got.Code != "" || got.BuyerLeadID != "" {
					t.Errorf("%+v", got)
				}
			}
			for _, want := range []string{"no_bid", "no_bid full"} {
				p := pingTo(buyer.ping(), longTimeout)
				setCredential(&p.Endpoint)
				if got := verdict(client.Ping(p)); got != want {
					t.Errorf("%s, want %s", got, want)
				}
			}
			for _, got := range buyer.Requests() {
				if got.Header.Get("Authorization") != "Bearer "+credential {
					t.Errorf("%v", got.Header)
				}
			}
		})
	}
}
