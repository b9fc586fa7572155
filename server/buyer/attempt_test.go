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
	"pingpost/server/dial/dialtest"
)

// TestRequest is what a buyer gets to see.
func TestRequest(t *testing.T) {
	buyer := listen(t, answers("201 Created", `{}`))
	client := newClient(t, func(o *Options) {
		o.Secrets = func(name string) (string, bool) { return "s3cret", name == "blue" }
	})
	p := leadTo("http://"+buyer.Address+"/a//b/../post?x=%20", ample)
	p.Endpoint.Credential, p.Endpoint.Header, p.Endpoint.Scheme = "blue", "Authorization", "Bearer "
	if got := client.Post(p); got.Verdict != accepted {
		t.Fatalf("got %+v", got)
	}
	p.Endpoint.Header, p.Endpoint.Scheme, p.Key, p.RequestID = "x-api-key", "", "", market.RequestID{}
	if got := client.Post(p); got.Verdict != accepted {
		t.Fatalf("got %+v", got)
	}

	requests := buyer.Got()
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

// TestResend is when an attempt sends its bytes a second time, and what the two
// answers come to together. The first reply of each row is to an earlier lead,
// so that there is a kept connection.
func TestResend(t *testing.T) {
	taken := answers("201 Created", `{"lead_id":"b1"}`)
	silence := dialtest.BreaksOff("") // reads the request, and closes: to the caller it looks like a stale connection
	rows := []struct {
		name    string
		key     string
		replies []reply
		want    market.PostResult
		sent    int // of the lead in question
	}{
		{"stale", "key-1", []reply{silence, taken}, market.PostResult{Verdict: accepted, Status: 201, BuyerLeadID: "b1"}, 2},
		{"stale, by a reset", "key-1", []reply{dialtest.Resets(""), taken}, market.PostResult{Verdict: accepted, Status: 201, BuyerLeadID: "b1"}, 2},
		{"stale, without a key", "", []reply{silence, taken}, market.PostResult{Verdict: unknown, Fault: market.FaultBroken}, 1},
		{"only once", "key-1", []reply{silence, silence, taken}, market.PostResult{Verdict: unknown, Fault: market.FaultBroken}, 2},
		{"not after the first byte of an answer", "key-1", []reply{dialtest.BreaksOff("H"), taken}, market.PostResult{Verdict: unknown, Fault: market.FaultBroken}, 1},
		{"refused by the second", "key-1", []reply{silence, answers("422 Unprocessable Content", `{"error":"post_rejected"}`)}, market.PostResult{Verdict: refused, Status: 422, Code: "post_rejected", Final: true}, 2},
		{"a conflict may be with the first", "key-1", []reply{silence, answers("409 Conflict", `{"error":"already_sold"}`)}, market.PostResult{Verdict: unknown, Status: 409, Code: "already_sold"}, 2},
		{"so may a reused key", "key-1", []reply{silence, answers("422 Unprocessable Content", `{"error":"idempotency_key_reused"}`)}, market.PostResult{Verdict: unknown, Status: 422, Code: "idempotency_key_reused"}, 2},
		{"a limit says nothing of the first", "key-1", []reply{silence, answers("429 Too Many Requests", ``, "Retry-After: 2")}, market.PostResult{Verdict: unknown, Status: 429, RetryAfter: 2 * time.Second}, 2},
		{"nor does a credential", "key-1", []reply{silence, answers("401 Unauthorized", ``)}, market.PostResult{Verdict: unknown, Status: 401}, 2},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			buyer := listen(t, append([]reply{taken}, row.replies...)...)
			client := newClient(t, nil)
			if got := client.Post(leadTo(buyer.post(), ample)); got.Verdict != accepted {
				t.Fatalf("an earlier lead: %+v", got)
			}
			p := leadTo(buyer.post(), ample)
			p.Key = row.key
			if got := withoutElapsed(client.Post(p)); got != row.want {
				t.Errorf("\n got %+v\nwant %+v", got, row.want)
			}
			requests := buyer.Got()[1:]
			if len(requests) != row.sent {
				t.Fatalf("sent %d times, want %d", len(requests), row.sent)
			}
			if len(requests) == 2 && (requests[0].Body != requests[1].Body || requests[1].Header.Get("Idempotency-Key") != row.key) {
				t.Errorf("the second sending is another: %+v", requests)
			}
		})
	}
}

// TestStale is the everyday case: the buyer ends an idle connection, and is
// there for a new one; or is there no longer.
func TestStale(t *testing.T) {
	buyer := listen(t, answers("201 Created", `{"lead_id":"b1"}`))
	client := newClient(t, nil)
	for i := range 3 {
		if got := client.Post(leadTo(buyer.post(), ample)); got.Verdict != accepted {
			t.Fatalf("post %d: %+v", i, got)
		}
		buyer.HangUp()
	}

	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	leaving := serveOn(t, ln, answers("201 Created", `{}`), dialtest.BreaksOff(""))
	if got := client.Post(leadTo(leaving.post(), ample)); got.Verdict != accepted {
		t.Fatalf("got %+v", got)
	}
	_ = ln.Close()
	got := withoutElapsed(client.Post(leadTo(leaving.post(), ample)))
	if want := (market.PostResult{Verdict: unknown, Fault: market.FaultConnect}); got != want {
		t.Errorf("the second sending did not arrive, the first one did:\n got %+v\nwant %+v", got, want)
	}
}

// TestStaleTogether: idle connections age together, so the second sending goes
// over a new one. A timeout says nothing of the others.
func TestStaleTogether(t *testing.T) {
	client := newClient(t, nil)
	buyer := listen(t, append(dialtest.Together(3), answers("201 Created", `{}`))...)
	warm(t, client, buyer, 3)
	buyer.HangUp()
	if got := client.Post(leadTo(buyer.post(), ample)); got.Verdict != accepted {
		t.Errorf("got %+v", got)
	}

	slow := listen(t, append(dialtest.Together(3), dialtest.Hangs(""))...)
	warm(t, client, slow, 3)
	if got := client.Post(leadTo(slow.post(), soon)); got.Verdict != unknown || got.Fault != market.FaultTimeout {
		t.Errorf("got %+v", got)
	}
	if idle := slow.idleOf(client); idle != 2 {
		t.Errorf("%d idle connections, want the 2 others", idle)
	}
}

// TestConnectionClose: a connection that the buyer gives up is not kept, though
// it is open still.
func TestConnectionClose(t *testing.T) {
	client := newClient(t, nil)
	buyer := listen(t, answers("201 Created", `{}`, "Connection: close"))
	if got := client.Post(leadTo(buyer.post(), ample)); got.Verdict != accepted {
		t.Errorf("got %+v", got)
	}
	if idle := buyer.idleOf(client); idle != 0 {
		t.Errorf("%d idle connections", idle)
	}
}

// TestUnasked: bytes after an answer belong to nobody, and must not become the
// answer to the next lead.
func TestUnasked(t *testing.T) {
	extra := dialtest.Message("201 Created", `{"lead_id":"b1"}`) + dialtest.Message("201 Created", `{"lead_id":"not yours"}`)
	buyer := listen(t, func(c net.Conn) bool {
		_, err := c.Write([]byte(extra))
		return err == nil
	})
	client := newClient(t, nil)
	for i := range 3 {
		if got := client.Post(leadTo(buyer.post(), ample)); got.BuyerLeadID != "b1" {
			t.Errorf("post %d: got %+v", i, got)
		}
	}
	if requests := buyer.Got(); requests[2].Conn != 2 {
		t.Errorf("a connection with bytes left on it was kept: %d", requests[2].Conn)
	}
}

// TestRotation: a 401 is worth a second try where the secret was rotated since
// it was read, and only there.
func TestRotation(t *testing.T) {
	no, yes := answers("401 Unauthorized", `{"error":"unauthorized"}`), answers("201 Created", `{}`)
	rows := []struct {
		name    string
		secrets []string // as they are read, the last one for ever
		replies []reply
		sent    []string
		verdict market.Verdict
	}{
		{"unchanged", []string{"old"}, []reply{no}, []string{"old"}, refused},
		{"rotated", []string{"old", "new"}, []reply{no, yes}, []string{"old", "new"}, accepted},
		{"rotated twice", []string{"old", "new", "new", "newer"}, []reply{no}, []string{"old", "new"}, refused},
		{"removed", []string{"old", "", ""}, []reply{no, yes}, []string{"old"}, market.VerdictUnreached},
		{"unprintable", []string{"a\r\nX-Admin: 1"}, []reply{yes}, nil, market.VerdictUnreached},
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
			p := leadTo(buyer.post(), ample)
			p.Endpoint.Credential, p.Endpoint.Header = "blue", "x-api-key"
			if got := client.Post(p); got.Verdict != row.verdict {
				t.Errorf("got %+v, want %v", got, row.verdict)
			}
			var sent []string
			for _, r := range buyer.Got() {
				sent = append(sent, r.Header.Get("X-Api-Key"))
			}
			if !slices.Equal(sent, row.sent) {
				t.Errorf("sent %q, want %q", sent, row.sent)
			}
		})
	}
}

// TestHangingEndpoint: an endpoint that takes requests and answers none costs
// its callers their deadline, and leaves nothing behind.
func TestHangingEndpoint(t *testing.T) {
	const callers, conns = 40, 4
	buyer := listen(t, dialtest.Hangs(""))
	client := newClient(t, func(o *Options) {
		o.MaxConnsPerBuyer = conns
		o.ConnWait = soon / 4
	})
	before := runtime.NumGoroutine()
	counts := map[market.Verdict]int{}
	var mu sync.Mutex
	var posting sync.WaitGroup
	for i := range callers {
		posting.Go(func() {
			p := leadTo(buyer.post(), soon)
			p.Key = strconv.Itoa(i)
			got := client.Post(p)
			mu.Lock()
			defer mu.Unlock()
			counts[got.Verdict]++
		})
	}
	posting.Wait()
	// What arrived is unknown. What is unknown may still be on its way to be read.
	if counts[unknown] < len(buyer.Got()) || counts[unknown]+counts[market.VerdictUnreached] != callers {
		t.Errorf("%d requests arrived; verdicts: %v", len(buyer.Got()), counts)
	}
	if counts[unknown] == 0 || counts[unknown] == callers {
		t.Errorf("%d connections allowed, and %d requests of %d got one", conns, counts[unknown], callers)
	}
	// What remains for a moment: fasthttp's cleaner, the endpoint's own goroutines.
	for end := time.Now().Add(ample); runtime.NumGoroutine() > before+conns; {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines before, %d after", before, runtime.NumGoroutine())
		}
		runtime.Gosched()
		time.Sleep(time.Millisecond)
	}
}

// TestWaitForConnection: a burst over the limit waits for its turn.
func TestWaitForConnection(t *testing.T) {
	buyer := listen(t, answers("201 Created", `{}`))
	client := newClient(t, func(o *Options) {
		o.MaxConnsPerBuyer = 2
		o.ConnWait = ample
	})
	var posting sync.WaitGroup
	for range 50 {
		posting.Go(func() {
			if got := client.Post(leadTo(buyer.post(), ample)); got.Verdict != accepted {
				t.Errorf("got %+v", got)
			}
		})
	}
	posting.Wait()
	for _, r := range buyer.Got() {
		if r.Conn > 1 {
			t.Fatalf("connection %d was opened, 2 are allowed", r.Conn)
		}
	}
}

// TestClose: nothing stays open behind a closed client.
func TestClose(t *testing.T) {
	release := make(chan struct{})
	whole := answers("201 Created", `{}`)
	buyer := listen(t, whole, func(c net.Conn) bool {
		<-release
		return whole(c)
	})
	client := newClient(t, nil)
	client.Post(leadTo(buyer.post(), ample))
	late := make(chan market.PostResult)
	go func() { late <- client.Post(leadTo(buyer.post(), ample)) }()
	for len(buyer.Got()) < 2 {
		time.Sleep(time.Millisecond)
	}
	client.Close()
	close(release)
	if got := <-late; got.Verdict != accepted {
		t.Errorf("an attempt in flight: %+v", got)
	}
	target, _ := client.hosts.Find(buyer.post())
	if all, _ := target.Connections(); all != 0 {
		t.Errorf("%d connections are open", all)
	}
}

// TestNobodyWaitsForAFreeConnection: whoever asks for a connection in the instant
// in which the last one is given back gets it, and does not wait for another to
// be given back, which may never be.
func TestNobodyWaitsForAFreeConnection(t *testing.T) {
	buyer := listen(t, answers("201 Created", `{}`))
	client := newClient(t, func(o *Options) {
		o.MaxConnsPerBuyer = 1
		o.ConnWait = ample
	})
	for range 4000 {
		var posting sync.WaitGroup
		for range 2 {
			posting.Go(func() {
				if got := client.Post(leadTo(buyer.post(), ample)); got.Verdict != accepted {
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
