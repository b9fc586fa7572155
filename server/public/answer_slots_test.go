package public

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/server/httperror"
	"pingpost/server/servertest"
)

// TestUnreadSeeds checks the limits of large answers that clients do not read, per supplier
// and in total. A slot is released when the answer is read or the client leaves.
func TestUnreadSeeds(t *testing.T) {
	d := nursery(t)
	add := func(n int) (token string) {
		d.configure("sup_acme", "buy_blue", "sup_1", "sup_2")
		token = fmt.Sprint("token-of-", n)
		d.add(engine.Credential{Kind: event.CredentialBearer, Owner: event.ObjectSupplier, ID: fmt.Sprint("sup_", n), Scopes: event.ScopePing}, token)
		return token
	}
	tokens := []string{sandboxKey}
	for n := 1; n <= 2; n++ {
		tokens = append(tokens, add(n))
	}
	d.clock.AdvanceTo(d.clock.Now() + 1e9)
	address := servertest.StartServer(t, func(l net.Listener) error { return d.Serve(narrow{l}) }, d.Shutdown)
	ask := func(token string) *servertest.Conn {
		k := servertest.Dial(t, address)
		fmt.Fprint(k, servertest.FormatRequest("POST "+seedPath, "Authorization: Bearer "+token+"\r\nContent-Type: application/json\r\n", `{"count":1000,"vertical":"auto_insurance","state":"CA"}`))
		return k
	}
	refused := func(token string) bool {
		status, header, body := ask(token).ReadAnswer()
		if status == 429 && (header.Get("Retry-After") == "" || header.Get("X-RateLimit-Limit") == "" || !strings.Contains(body, header.Get(httperror.HeaderRequestID))) {
			t.Errorf("%v %s", header, body)
		}
		return status == 429
	}
	unread := func(token string) *servertest.Conn {
		k := ask(token)
		if line, err := k.Answer.ReadString('\n'); err != nil || !strings.HasPrefix(line, "HTTP/1.1 201 ") {
			t.Fatalf("%q %v", line, err)
		}
		return k
	}
	var begun []*servertest.Conn
	for i := range maxAnswers {
		if i > 0 && i%maxAnswersPerOwner == 0 && !refused(tokens[i/maxAnswersPerOwner-1]) {
			t.Errorf("a supplier has %d", maxAnswersPerOwner+1)
		}
		begun = append(begun, unread(tokens[i/maxAnswersPerOwner]))
	}
	if !refused(tokens[maxAnswers/maxAnswersPerOwner]) {
		t.Errorf("there are %d", maxAnswers+1)
	}
	begun[0].Close()
	servertest.WaitUntil(t, "a place is free", func() bool { return !refused(tokens[0]) })
	for _, k := range begun[1:] {
		k.Close()
	}
	servertest.WaitUntil(t, "nobody is counted", func() bool {
		d.seeds.mu.Lock()
		defer d.seeds.mu.Unlock()
		return d.seeds.all == 0 && len(d.seeds.perOwner) == 0
	})
}

// narrow limits the send buffers of connections, so that unread answers stay in the server.
type narrow struct{ net.Listener }

func (n narrow) Accept() (net.Conn, error) {
	conn, err := n.Listener.Accept()
	if tcp, ok := conn.(*net.TCPConn); ok {
		err = tcp.SetWriteBuffer(4 << 10)
	}
	return conn, err
}

// TestUnreadBatches: the answers to batches of reports are counted in the same way: one
// too many is 429 before anything is reported, and one that was read is counted no
// more.
func TestUnreadBatches(t *testing.T) {
	m := trading(t, new(servertest.MemoryLog))
	batch := `{"changes":[{"lead_id":"` + m.sold("cmp_auto") + `","status":"contacted"}]}`
	blue := market.PermanentNumber(1)
	for range maxAnswersPerOwner {
		m.batches.acquireSlot(blue)
	}
	m.reportMany("blue", "b1", batch).mustFail(t, 429, "rate_limited")
	m.batches.releaseSlot(blue)
	for range 2 * maxAnswersPerOwner {
		if a := m.reportMany("blue", "b1", batch); a.status != 200 || !strings.Contains(a.body, `"contacted"`) {
			t.Fatalf("%d %s", a.status, a.body)
		}
		servertest.WaitUntil(t, "the answer is no longer counted", func() bool {
			m.batches.mu.Lock()
			defer m.batches.mu.Unlock()
			return m.batches.all == maxAnswersPerOwner-1
		})
	}
	m.reportMany("blue", "b2", `{"changes":1}`).mustFail(t, 422, "invalid_payload")
	if m.batches.all != maxAnswersPerOwner-1 {
		t.Errorf("what was refused is counted: %d", m.batches.all)
	}
}
