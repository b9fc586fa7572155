package buyer

import (
	"strings"
	"testing"

	"pingpost/engine/market"
	"pingpost/outbound/dial/dialtest"
)

// newAdapterConfig returns an adapter protocol whose answers are JSON of another form than the contract's.
func newAdapterConfig(change func(*market.AdapterProtocol)) *market.AdapterProtocol {
	d := &market.AdapterProtocol{
		Method: "POST", ContentType: "application/json",
		Answer: market.BuyerAnswerValuePaths{
			Format: "json", Accepted: "data.status", Yes: "taken\n1\n", No: "declined\n",
			Price: "data.price", Currency: "data.currency", Token: "data.token", ID: "data.id", Reason: "data.why",
		},
	}
	if change != nil {
		change(d)
	}
	return d
}

func pingIn(d *market.AdapterProtocol, url string) *market.BuyerPingRequest {
	p := pingTo(url, longTimeout)
	p.Endpoint.AdapterProtocol = d
	return p
}

func postIn(d *market.AdapterProtocol, url string) *market.BuyerPostRequest {
	p := postTo(url, longTimeout)
	p.Endpoint.AdapterProtocol = d
	return p
}

// A request has the method, headers and key header of its adapter protocol, and none of the contract's.
func TestAdapterRequests(t *testing.T) {
	rows := []struct {
		name         string
		change       func(*market.AdapterProtocol)
		line, body   string
		header, none string // lines of headers; names that must not be there
	}{
		{"plain", nil, "POST /v1/ping?a=1 HTTP/1.1", "x=1&y=2", "Content-Type: application/json\nAccept: application/json\n", "Idempotency-Key X-Pingpost-Hops"},
		{"by PUT", func(d *market.AdapterProtocol) { d.Method = "PUT" }, "PUT /v1/ping?a=1 HTTP/1.1", "x=1&y=2", "", ""},
		{"by GET", func(d *market.AdapterProtocol) { d.Method = "GET" }, "GET /v1/ping?a=1&x=1&y=2 HTTP/1.1", "", "", "Content-Length Content-Type"},
		{"another type", func(d *market.AdapterProtocol) { d.ContentType, d.Answer.Format = "text/xml; charset=utf-8", "xml" }, "POST /v1/ping?a=1 HTTP/1.1", "x=1&y=2", "Content-Type: text/xml; charset=utf-8\nAccept: application/xml, text/xml\n", ""},
		{"fixed headers", func(d *market.AdapterProtocol) { d.Headers = "SOAPAction: \"urn:x\"\nx-version: 2: b\n" }, "POST /v1/ping?a=1 HTTP/1.1", "x=1&y=2", "SOAPAction: \"urn:x\"\nx-version: 2: b\n", ""},
		{"the key", func(d *market.AdapterProtocol) { d.KeyHeader = "X-Request-Key" }, "POST /v1/ping?a=1 HTTP/1.1", "x=1&y=2", "X-Request-Key: ping-1\n", "Idempotency-Key"},
		{"the contract's key header", func(d *market.AdapterProtocol) { d.KeyHeader = "Idempotency-Key" }, "POST /v1/ping?a=1 HTTP/1.1", "x=1&y=2", "Idempotency-Key: ping-1\n", ""},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			buyer := listen(t, answers("204 No Content", ""))
			client := newClient(t, func(o *Options) { o.Secrets = func(string) (string, bool) { return "s3cret", true } })
			p := pingIn(newAdapterConfig(row.change), buyer.ping()+"?a=1")
			p.Body = []byte("x=1&y=2")
			p.Endpoint.Credential, p.Endpoint.Header = "blue", "X-Key"
			if got := verdict(client.Ping(p)); got != "no_bid" {
				t.Fatal(got)
			}
			got := buyer.Requests()[0]
			head, _, _ := strings.Cut(got.Raw, "\r\n\r\n")
			head = strings.ReplaceAll(head, "\r\n", "\n") + "\n"
			if !strings.HasPrefix(head, row.line+"\n") || got.Body != row.body {
				t.Errorf("%s%s", head, got.Body)
			}
			for line := range strings.Lines(row.header + "X-Key: s3cret\nX-Request-Id: " + market.RequestID{1}.String() + "\n") {
				if strings.Count(head, "\n"+line) != 1 {
					t.Errorf("header %q is not there exactly once:\n%s", line, head)
				}
			}
			for _, name := range strings.Fields(row.none) {
				if got.Header.Get(name) != "" {
					t.Errorf("header %s was sent:\n%s", name, head)
				}
			}
		})
	}
}

// The adapter protocol of a logged intent can be older than a rule of the configuration. The client checks
// it again.
func TestInvalidAdapterIsNotSent(t *testing.T) {
	rows := map[string]func(*market.AdapterProtocol){
		"no method":                   func(d *market.AdapterProtocol) { d.Method = "" },
		"another method":              func(d *market.AdapterProtocol) { d.Method = "DELETE" },
		"a method of two lines":       func(d *market.AdapterProtocol) { d.Method = "POST / HTTP/1.1\r\nHost: a\r\n\r\n" },
		"no content type":             func(d *market.AdapterProtocol) { d.ContentType = "" },
		"a content type of two lines": func(d *market.AdapterProtocol) { d.ContentType = "a/b\r\nX: 1" },
		"half a header":               func(d *market.AdapterProtocol) { d.Headers = "X-A\n" },
		"an invalid header name":      func(d *market.AdapterProtocol) { d.Headers = "X A: 1\n" },
		"a header of two lines":       func(d *market.AdapterProtocol) { d.Headers = "X-A: 1\r\nX-B: 2\n" },
		"a fixed Content-Length":      func(d *market.AdapterProtocol) { d.Headers = "content-length: 1\n" },
		"a fixed Transfer-Encoding":   func(d *market.AdapterProtocol) { d.Headers = "Transfer-Encoding: chunked\n" },
		"a fixed Host":                func(d *market.AdapterProtocol) { d.Headers = "Host: evil.example\n" },
		"a fixed key":                 func(d *market.AdapterProtocol) { d.Headers = "Idempotency-Key: 1\n" },
		"the credential's header":     func(d *market.AdapterProtocol) { d.Headers = "x-key: mine\n" },
		"the key as the credential":   func(d *market.AdapterProtocol) { d.KeyHeader = "X-Key" },
		"the key as a length":         func(d *market.AdapterProtocol) { d.KeyHeader = "Content-Length" },
		"no answer format":            func(d *market.AdapterProtocol) { d.Answer.Format = "" },
		"no value for yes":            func(d *market.AdapterProtocol) { d.Answer.Yes = "" },
	}
	for name, change := range rows {
		t.Run(name, func(t *testing.T) {
			buyer := listen(t, answers("200 OK", `{}`))
			client := newClient(t, func(o *Options) { o.Secrets = func(string) (string, bool) { return "s3cret", true } })
			p := postIn(newAdapterConfig(change), buyer.post())
			p.Endpoint.Credential, p.Endpoint.Header = "blue", "X-Key"
			got := withoutElapsed(client.Post(p))
			if want := (market.BuyerPostResult{Verdict: market.VerdictNotSent, Fault: market.FaultEndpoint}); got != want || len(buyer.Requests()) != 0 {
				t.Errorf("%+v, %d requests", got, len(buyer.Requests()))
			}
		})
	}
}

// Endpoints with the same address and different adapter protocols have different entries.
func TestAdapterHasOwnAccount(t *testing.T) {
	buyer := listen(t, answers("200 OK", `{"data":{"status":"1"},"status":"2"}`))
	client := newClient(t, nil)
	for _, row := range []struct {
		protocol *market.AdapterProtocol
		want     market.PostAttemptVerdict
	}{
		{newAdapterConfig(nil), accepted},
		{newAdapterConfig(func(d *market.AdapterProtocol) { d.Answer.Accepted = "status" }), unknown},
		{newAdapterConfig(func(d *market.AdapterProtocol) { d.Answer.Accepted, d.Answer.No = "status", "" }), refused},
		{nil, accepted},
		{newAdapterConfig(nil), accepted},
	} {
		if got := client.Post(postIn(row.protocol, buyer.post())); got.Verdict != row.want {
			t.Errorf("%+v, want %s", got, row.want)
		}
	}
}

// After a kept connection broke, the client sends a ping again, but never a post.
func TestAdapterResendsOnlyPings(t *testing.T) {
	idempotent := newAdapterConfig(func(d *market.AdapterProtocol) { d.Idempotent = true })
	bid := `{"data":{"status":"taken","price":1,"token":"t"}}`
	type call func(c *Client, e *endpoint) string
	post := func(d *market.AdapterProtocol) call {
		return func(c *Client, e *endpoint) string { return c.Post(postIn(d, e.post())).Verdict.String() }
	}
	ping := func(c *Client, e *endpoint) string { return verdict(c.Ping(pingIn(newAdapterConfig(nil), e.ping()))) }
	rows := []struct {
		name         string
		before, call call // before opens the kept connection
		sent         int
		want         string
	}{
		{"a post to a buyer with idempotent posts", post(idempotent), post(idempotent), 1, "unknown"},
		{"a post to another buyer", post(idempotent), post(newAdapterConfig(nil)), 1, "unknown"},
		{"a ping", ping, ping, 2, "bid 1 t"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			buyer := listen(t, answers("200 OK", bid), dialtest.WriteAndClose(""), answers("200 OK", bid))
			client := newClient(t, nil)
			row.before(client, buyer)
			if got := row.call(client, buyer); got != row.want {
				t.Errorf("%s, want %s", got, row.want)
			}
			if sent := len(buyer.Requests()) - 1; sent != row.sent {
				t.Errorf("sent %d times, want %d", sent, row.sent)
			}
		})
	}
}
