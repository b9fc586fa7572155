package server

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
)

// TestUnreadSeeds: answers with leads are large, and who does not read them keeps
// them in memory. So one supplier has only so many on their way, and all together no
// more than so many; each is counted until it was read, or its reader is gone.
func TestUnreadSeeds(t *testing.T) {
	d := nursery(t)
	add := func(n int) (token string) {
		d.configure("sup_acme", "buy_blue", "sup_1", "sup_2")
		token = fmt.Sprint("token-of-", n)
		d.add(engine.Credential{Kind: event.CredentialBearer, Owner: event.NameSupplier, ID: fmt.Sprint("sup_", n), Scopes: event.ScopePing}, token)
		return token
	}
	tokens := []string{sandboxKey}
	for n := 1; n <= 2; n++ {
		tokens = append(tokens, add(n))
	}
	d.clock.Forward(d.clock.Now() + 1e9)
	address := listen(t, func(l net.Listener) error { return d.Serve(narrow{l}) }, d.Shutdown)
	ask := func(token string) *talk {
		k := speak(t, address)
		fmt.Fprint(k, say("POST "+seedPath, "Authorization: Bearer "+token+"\r\nContent-Type: application/json\r\n", `{"count":1000,"vertical":"auto_insurance","state":"CA"}`))
		return k
	}
	refused := func(token string) bool {
		status, header, body := ask(token).hear()
		if status == 429 && (header.Get("Retry-After") == "" || header.Get("X-RateLimit-Limit") == "" || !strings.Contains(body, header.Get(headerRequestID))) {
			t.Errorf("%v %s", header, body)
		}
		return status == 429
	}
	unread := func(token string) *talk {
		k := ask(token)
		if line, err := k.answer.ReadString('\n'); err != nil || !strings.HasPrefix(line, "HTTP/1.1 201 ") {
			t.Fatalf("%q %v", line, err)
		}
		return k
	}
	var begun []*talk
	for i := range mostOut {
		if i > 0 && i%mostOutOf == 0 && !refused(tokens[i/mostOutOf-1]) {
			t.Errorf("a supplier has %d", mostOutOf+1)
		}
		begun = append(begun, unread(tokens[i/mostOutOf]))
	}
	if !refused(tokens[mostOut/mostOutOf]) {
		t.Errorf("there are %d", mostOut+1)
	}
	begun[0].Close()
	until(t, "a place is free", func() bool { return !refused(tokens[0]) })
	for _, k := range begun[1:] {
		k.Close()
	}
	until(t, "nobody is counted", func() bool {
		d.seeds.mu.Lock()
		defer d.seeds.mu.Unlock()
		return d.seeds.all == 0 && len(d.seeds.of) == 0
	})
}

// narrow takes connections for which the system sends little ahead: what nobody
// reads stays with the server.
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
	m := trading(t, new(memoryLog))
	batch := `{"changes":[{"lead_id":"` + m.sold("cmp_auto") + `","status":"contacted"}]}`
	blue := market.Ref(1)
	for range mostOutOf {
		m.batches.enter(blue)
	}
	m.reportMany("blue", "b1", batch).mustFail(t, 429, "rate_limited")
	m.batches.leave(blue)
	for range 2 * mostOutOf {
		if a := m.reportMany("blue", "b1", batch); a.status != 200 || !strings.Contains(a.body, `"contacted"`) {
			t.Fatalf("%d %s", a.status, a.body)
		}
		until(t, "the answer is no longer counted", func() bool {
			m.batches.mu.Lock()
			defer m.batches.mu.Unlock()
			return m.batches.all == mostOutOf-1
		})
	}
	m.reportMany("blue", "b2", `{"changes":1}`).mustFail(t, 422, "invalid_payload")
	if m.batches.all != mostOutOf-1 {
		t.Errorf("what was refused is counted: %d", m.batches.all)
	}
}
