package buyer

import (
	"net"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pingpost/engine/market"
	"pingpost/outbound/dial"
	"pingpost/outbound/dial/dialtest"
)

// The buyer receives the address and body unchanged, and exactly these headers.
func TestPostRequestHeadersAndBody(t *testing.T) {
	buyer := listen(t, answers("201 Created", `{}`))
	client := newClient(t, func(o *Options) {
		o.Secrets = func(name string) (string, bool) { return "s3cret", name == "blue" }
	})
	p := postTo("http://"+buyer.Address+"/a//b/../post?x=%20", longTimeout)
	p.Endpoint.Credential, p.Endpoint.Header, p.Endpoint.Scheme = "blue", "Authorization", "Bearer "
	if got := client.Post(p); got.Verdict != accepted {
		t.Fatalf("got %+v", got)
	}
	p.Endpoint.Header, p.Endpoint.Scheme, p.IdempotencyKey, p.RequestID = "x-api-key", "", "", market.RequestID{}
	if got := client.Post(p); got.Verdict != accepted {
		t.Fatalf("got %+v", got)
	}

	requests := buyer.Requests()
	first, second := requests[0], requests[1]
	if first.Target != "/a//b/../post?x=%20" || first.Host != buyer.Address {
		t.Errorf("address was rewritten: %s %s", first.Host, first.Target)
	}
	if first.Body != string(p.Body) || second.Body != string(p.Body) {
		t.Errorf("body: %q, %q", first.Body, second.Body)
	}
	rows := []struct{ header, first, second string }{
		{"Content-Type", "application/json", "application/json"},
		{"Accept", "application/json", "application/json"},
		{"User-Agent", "pingpost", "pingpost"},
		{"Authorization", "Bearer s3cret", ""},
		{"X-Api-Key", "", "s3cret"},
		{"Idempotency-Key", "key-1", ""},
		{"X-Request-Id", market.RequestID{1}.String(), ""},
		{"Accept-Encoding", "", ""},
		{"Connection", "", ""},
	}
	for _, row := range rows {
		if a, b := first.Header.Get(row.header), second.Header.Get(row.header); a != row.first || b != row.second {
			t.Errorf("%s: got %q and %q, want %q and %q", row.header, a, b, row.first, row.second)
		}
	}
	if !strings.Contains(second.Raw, "\r\nx-api-key: s3cret\r\n") {
		t.Errorf("the header's name was rewritten: %q", second.Raw)
	}
	if first.Conn != second.Conn {
		t.Error("the connection was not kept")
	}
}

// The client sends a post over a reused connection only once, even if the connection fails.
func TestPostIsSentOnce(t *testing.T) {
	accept := answers("201 Created", `{"lead_id":"b1"}`)
	for name, first := range map[string]reply{
		"closed without a byte": dialtest.WriteAndClose(""), // reads the request, and closes
		"reset":                 dialtest.WriteAndReset(""),
		"half a status line":    dialtest.WriteAndClose("HTTP/1.1 2"),
		"a body cut short":      dialtest.WriteAndClose("HTTP/1.1 201 Created\r\nContent-Length: 20\r\n\r\n{\"lead"),
	} {
		t.Run(name, func(t *testing.T) {
			buyer := listen(t, accept, first, accept)
			client := newClient(t, nil)
			if got := client.Post(postTo(buyer.post(), longTimeout)); got.Verdict != accepted {
				t.Fatalf("first post: got %+v, want accepted", got)
			}
			got := client.Post(postTo(buyer.post(), longTimeout))
			if got.Verdict != unknown || got.Fault != market.FaultBroken {
				t.Errorf("got %+v", got)
			}
			if sent := len(buyer.Requests()) - 1; sent != 1 {
				t.Errorf("sent %d requests, want 1", sent)
			}
		})
	}
}

// deliver posts a lead as the engine does: it makes a second attempt if the first one
// renewed the credential.
func deliver(client *Client, p *market.BuyerPostRequest) market.BuyerPostResult {
	first := client.Post(p)
	if !first.CredentialRenewed {
		return first
	}
	again := *p
	again.CredentialRenewed = true
	return client.Post(&again)
}

// Idle connections close together, so the second send uses a new connection.
func TestPostUsesNewConnAfterIdleConnsClosed(t *testing.T) {
	client := newClient(t, nil)
	buyer := listen(t, append(dialtest.AnswerOnceAllArrived(3), answers("201 Created", `{}`))...)
	openIdleConns(t, client, buyer, 3)
	buyer.CloseConns()
	if got := client.Post(postTo(buyer.post(), longTimeout)); got.Verdict != accepted {
		t.Errorf("got %+v", got)
	}

	slow := listen(t, append(dialtest.AnswerOnceAllArrived(3), dialtest.WriteAndHang(""))...)
	openIdleConns(t, client, slow, 3)
	if got := client.Post(postTo(slow.post(), shortTimeout)); got.Verdict != unknown || got.Fault != market.FaultTimeout {
		t.Errorf("got %+v", got)
	}
	if idle := slow.idleOf(client); idle != 2 {
		t.Errorf("%d idle connections, want the 2 others", idle)
	}
}

// The client renews the secret after a 401 only if it was rotated since it was read.
func Test401RenewsOnlyRotatedSecret(t *testing.T) {
	unauthorized, created := answers("401 Unauthorized", `{"error":"unauthorized"}`), answers("201 Created", `{}`)
	rows := []struct {
		name    string
		secrets []string // the result of each read; the last one repeats
		replies []reply
		sent    []string
		verdict market.PostAttemptVerdict
	}{
		{"unchanged", []string{"old"}, []reply{unauthorized}, []string{"old"}, refused},
		{"rotated", []string{"old", "new"}, []reply{unauthorized, created}, []string{"old", "new"}, accepted},
		{"rotated twice", []string{"old", "new", "new", "newer"}, []reply{unauthorized}, []string{"old", "new"}, refused},
		{"replaced by an empty one", []string{"old", ""}, []reply{unauthorized, created}, []string{"old"}, refused},
		{"replaced by an unprintable one", []string{"old", "a\r\nX-Admin: 1"}, []reply{unauthorized, created}, []string{"old"}, refused},
		{"unprintable", []string{"a\r\nX-Admin: 1"}, []reply{created}, nil, market.VerdictNotSent},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			buyer := listen(t, row.replies...)
			reads := 0
			client := newClient(t, func(o *Options) {
				o.Secrets = func(string) (string, bool) {
					reads++
					return row.secrets[min(reads, len(row.secrets))-1], true
				}
			})
			p := postTo(buyer.post(), longTimeout)
			p.Endpoint.Credential, p.Endpoint.Header = "blue", "x-api-key"
			if got := deliver(client, p); got.Verdict != row.verdict || got.CredentialRenewed {
				t.Errorf("got %+v, want %v", got, row.verdict)
			}
			var sent []string
			for _, r := range buyer.Requests() {
				sent = append(sent, r.Header.Get("X-Api-Key"))
			}
			if !slices.Equal(sent, row.sent) {
				t.Errorf("sent %q, want %q", sent, row.sent)
			}
		})
	}
}

// An endpoint that accepts requests and never answers delays only its own requests.
func TestHangingEndpointLimitsWaitAndGoroutines(t *testing.T) {
	const callers, conns = 40, 4
	buyer := listen(t, dialtest.WriteAndHang(""))
	client := newClient(t, func(o *Options) {
		o.MaxConnsPerBuyer = conns
		o.ConnWait = shortTimeout / 4
	})
	before := runtime.NumGoroutine()
	counts := map[market.PostAttemptVerdict]int{}
	var mu sync.Mutex
	var posting sync.WaitGroup
	for i := range callers {
		posting.Go(func() {
			p := postTo(buyer.post(), shortTimeout)
			p.IdempotencyKey = strconv.Itoa(i)
			got := client.Post(p)
			mu.Lock()
			defer mu.Unlock()
			counts[got.Verdict]++
		})
	}
	posting.Wait()
	// Each request that arrived is unknown. The endpoint may not have read all of them yet.
	if counts[unknown] < len(buyer.Requests()) || counts[unknown]+counts[market.VerdictNotSent] != callers {
		t.Errorf("%d requests arrived, but the verdicts are %v", len(buyer.Requests()), counts)
	}
	if counts[unknown] == 0 || counts[unknown] == callers {
		t.Errorf("limit of %d connections: %d of %d requests got one, want some", conns, counts[unknown], callers)
	}
	// fasthttp's cleaner and the endpoint's goroutines may still run for a moment.
	for end := time.Now().Add(longTimeout); runtime.NumGoroutine() > before+conns; {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines before, %d after", before, runtime.NumGoroutine())
		}
		runtime.Gosched()
		time.Sleep(time.Millisecond)
	}
}

// A closed client keeps no connection.
func TestCloseEndsConnsAfterAttempts(t *testing.T) {
	release := make(chan struct{})
	whole := answers("201 Created", `{}`)
	buyer := listen(t, whole, func(c net.Conn) bool {
		<-release
		return whole(c)
	})
	client := newClient(t, nil)
	client.Post(postTo(buyer.post(), longTimeout))
	late := make(chan market.BuyerPostResult)
	go func() { late <- client.Post(postTo(buyer.post(), longTimeout)) }()
	for len(buyer.Requests()) < 2 {
		time.Sleep(time.Millisecond)
	}
	client.Close()
	close(release)
	if got := <-late; got.Verdict != accepted {
		t.Errorf("attempt in flight: got %+v, want accepted", got)
	}
	target, _ := client.hosts.FindOrCreateTarget(dial.ConnOwner{}, buyer.post())
	if all, _ := target.CountConnsToHost(); all != 0 {
		t.Errorf("%d connections are open after Close, want 0", all)
	}
}

// A request that asks for a connection while the last one is returned gets that one. It
// does not wait for the next return.
func TestFreedConnIsNotMissed(t *testing.T) {
	buyer := listen(t, answers("201 Created", `{}`))
	client := newClient(t, func(o *Options) {
		o.MaxConnsPerBuyer = 1
		o.ConnWait = longTimeout
	})
	for range 4000 {
		var posting sync.WaitGroup
		for range 2 {
			posting.Go(func() {
				if got := client.Post(postTo(buyer.post(), longTimeout)); got.Verdict != accepted {
					t.Errorf("got %+v", got)
				}
			})
		}
		posting.Wait()
		if t.Failed() {
			return
		}
	}
}
