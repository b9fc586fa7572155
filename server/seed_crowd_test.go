package server

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"pingpost/engine"
	"pingpost/engine/event"
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
	for i := range mostSeeds {
		if i > 0 && i%mostSeedsOf == 0 && !refused(tokens[i/mostSeedsOf-1]) {
			t.Errorf("a supplier has %d", mostSeedsOf+1)
		}
		begun = append(begun, unread(tokens[i/mostSeedsOf]))
	}
	if !refused(tokens[mostSeeds/mostSeedsOf]) {
		t.Errorf("there are %d", mostSeeds+1)
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
