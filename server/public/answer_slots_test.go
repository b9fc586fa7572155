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

// Large answers that clients do not read are limited per supplier and in total. A slot is
// released when the answer is read or the client leaves.
func TestUnreadSeedAnswersAreLimited(t *testing.T) {
	d := newSeedSandbox(t)
	add := func(n int) (token string) {
		d.configure("sup_acme", "buy_blue", "sup_1", "sup_2")
		token = fmt.Sprint("token-of-", n)
		d.addCredential(engine.Credential{Kind: event.CredentialBearer, Owner: event.ObjectSupplier, ID: fmt.Sprint("sup_", n), Scopes: event.ScopePing}, token)
		return token
	}
	tokens := []string{sandboxKey}
	for n := 1; n <= 2; n++ {
		tokens = append(tokens, add(n))
	}
	d.clock.AdvanceTo(d.clock.Now() + 1e9)
	address := servertest.StartServer(t, func(l net.Listener) error { return d.Serve(smallBufferListener{l}) }, d.Shutdown)
	send := func(token string) *servertest.RawClientConn {
		k := servertest.Dial(t, address)
		fmt.Fprint(k, servertest.FormatRequest("POST "+seedPath, "Authorization: Bearer "+token+"\r\nContent-Type: application/json\r\n", `{"count":1000,"vertical":"auto_insurance","state":"CA"}`))
		return k
	}
	isRejected := func(token string) bool {
		status, header, body := send(token).ReadAnswer()
		if status == 429 && (header.Get("Retry-After") == "" || header.Get("X-RateLimit-Limit") == "" || !strings.Contains(body, header.Get(httperror.HeaderRequestID))) {
			t.Errorf("%v %s", header, body)
		}
		return status == 429
	}
	unread := func(token string) *servertest.RawClientConn {
		k := send(token)
		if line, err := k.Answer.ReadString('\n'); err != nil || !strings.HasPrefix(line, "HTTP/1.1 201 ") {
			t.Fatalf("%q %v", line, err)
		}
		return k
	}
	var conns []*servertest.RawClientConn
	for i := range maxAnswers {
		if i > 0 && i%maxAnswersPerOwner == 0 && !isRejected(tokens[i/maxAnswersPerOwner-1]) {
			t.Errorf("a supplier has %d unread answers, over its limit", maxAnswersPerOwner+1)
		}
		conns = append(conns, unread(tokens[i/maxAnswersPerOwner]))
	}
	if !isRejected(tokens[maxAnswers/maxAnswersPerOwner]) {
		t.Errorf("there are %d unread answers, over the total limit", maxAnswers+1)
	}
	conns[0].Close()
	servertest.WaitUntil(t, "a slot is free", func() bool { return !isRejected(tokens[0]) })
	for _, k := range conns[1:] {
		k.Close()
	}
	servertest.WaitUntil(t, "all slots are free", func() bool {
		d.seeds.mu.Lock()
		defer d.seeds.mu.Unlock()
		return d.seeds.all == 0 && len(d.seeds.perOwner) == 0
	})
}

// smallBufferListener limits the send buffers of connections, so that unread answers stay
// in the server.
type smallBufferListener struct{ net.Listener }

func (n smallBufferListener) Accept() (net.Conn, error) {
	conn, err := n.Listener.Accept()
	if tcp, ok := conn.(*net.TCPConn); ok {
		err = tcp.SetWriteBuffer(4 << 10)
	}
	return conn, err
}

// Unread answers to status batches are limited too. A batch over the limit is rejected
// with 429 before any report is applied.
func TestUnreadBatchAnswersAreLimited(t *testing.T) {
	m := newAfterSaleExchange(t, new(servertest.MemoryLog))
	batch := `{"changes":[{"lead_id":"` + m.sellLead("cmp_auto") + `","status":"contacted"}]}`
	blue := market.PermanentNumber(1)
	for range maxAnswersPerOwner {
		m.batches.acquireSlot(blue)
	}
	m.reportBatch("blue", "b1", batch).wantError(t, 429, "rate_limited")
	m.batches.releaseSlot(blue)
	for range 2 * maxAnswersPerOwner {
		if a := m.reportBatch("blue", "b1", batch); a.status != 200 || !strings.Contains(a.body, `"contacted"`) {
			t.Fatalf("%d %s", a.status, a.body)
		}
		servertest.WaitUntil(t, "the answer's slot is free", func() bool {
			m.batches.mu.Lock()
			defer m.batches.mu.Unlock()
			return m.batches.all == maxAnswersPerOwner-1
		})
	}
	m.reportBatch("blue", "b2", `{"changes":1}`).wantError(t, 422, "invalid_payload")
	if m.batches.all != maxAnswersPerOwner-1 {
		t.Errorf("rejected requests hold slots: %d slots are in use", m.batches.all)
	}
}
