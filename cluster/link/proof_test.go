package link

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"pingpost/internal/must"
)

// relay accepts connections, and passes the bytes of each on to an address and back. change may change them.
type relay struct {
	address string
	mu      sync.Mutex
	sent    []byte // by the dialers
}

func startRelay(t *testing.T, to string, config *tls.Config, change func([]byte)) *relay {
	t.Helper()
	listener := must.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	r := &relay{address: listener.Addr().String()}
	var conns sync.WaitGroup
	pass := func(from, to net.Conn, see func([]byte)) {
		defer conns.Done()
		defer to.Close()
		buffer := make([]byte, 4096)
		for {
			n, err := from.Read(buffer)
			see(buffer[:n])
			if _, sendErr := to.Write(buffer[:n]); err != nil || sendErr != nil {
				_, _ = to.Write([]byte{verdictAccepted, 0, 0}) // the verdict that a dialer without trust does not send
				time.Sleep(10 * time.Millisecond)              // keeps the connection open for it
				return
			}
		}
	}
	conns.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			onward, err := net.Dial("tcp", to)
			if err != nil {
				conn.Close()
				continue
			}
			if config != nil {
				client := config.Clone()
				client.ServerName = "127.0.0.1"
				conn, onward = tls.Server(conn, config), tls.Client(onward, client)
			}
			conns.Add(2)
			go pass(conn, onward, func(b []byte) {
				r.mu.Lock()
				defer r.mu.Unlock()
				r.sent = append(r.sent, b...)
				change(b)
			})
			go pass(onward, conn, func([]byte) {})
		}
	})
	t.Cleanup(func() { listener.Close(); conns.Wait() })
	return r
}

// mustServeNone checks that no connection was accepted.
func mustServeNone(t *testing.T, n *node) {
	t.Helper()
	for purpose, l := range n.purposes {
		select {
		case conn := <-l.conns:
			conn.Close()
			t.Errorf("node %q accepted a connection with purpose %d", n.self.Identity.Node, purpose)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// TestRecordedHelloProvesNothing: a program without the key repeats each byte that a node once sent. It gets an
// opening and a refusal, and no hello.
func TestRecordedHelloProvesNothing(t *testing.T) {
	a, b := startNode(t, "a", t.TempDir(), 1, nil), startNode(t, "b", t.TempDir(), 1, nil)
	between := startRelay(t, a.address, nil, func([]byte) {})
	through := *a
	through.address = between.address
	must.Succeed(t, talk(t, b, &through, Requests))
	conn := must.Value(net.Dial("tcp", a.address))(t)
	defer conn.Close()
	between.mu.Lock()
	recorded := bytes.Clone(between.sent)
	between.mu.Unlock()
	hello := len(encodeHello(&Identity{Node: "b"}, "a")) + proofSize
	must.Value(conn.Write(recorded[:openingSize+hello]))(t)
	got := must.Value(io.ReadAll(conn))(t)
	if len(got) != openingSize+1 || got[openingSize] != proofWrong {
		t.Errorf("the answer is %q, want an opening and the byte for another key", got)
	}
	mustServeNone(t, a)
}

// TestProofsOfOtherConnections: a proof is right only from the other end of this connection, for this receiver,
// with all its bytes.
func TestProofsOfOtherConnections(t *testing.T) {
	ours := tlsConfig(t, 1)
	for name, row := range map[string]struct {
		tls    *tls.Config
		dialed string
		change func([]byte)
		reason string
	}{
		"for another node": {nil, "c", func([]byte) {}, "correct the address"},
		"with a changed byte": {nil, "b", func(b []byte) {
			if len(b) > openingSize+40 {
				b[30] ^= 1
			}
		}, "another exchange.key"},
		"of two TLS connections, with a certificate": {ours, "b", func([]byte) {}, "another exchange.key"},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := startNode(t, "a", t.TempDir(), 1, row.tls), startNode(t, "b", t.TempDir(), 1, row.tls)
			must.Succeed(t, talk(t, a, b, Raft))
			between := startRelay(t, b.address, row.tls, row.change)
			if _, err := a.Dial(Raft, row.dialed, between.address, time.Second); err == nil || !strings.Contains(err.Error(), row.reason) {
				t.Errorf("the dialer gets %v, want an error with %q", err, row.reason)
			}
			mustServeNone(t, b)
		})
	}
}

// TestEchoProvesNothing: a program that sends back what it gets is no node.
func TestEchoProvesNothing(t *testing.T) {
	a := startNode(t, "a", t.TempDir(), 1, nil)
	listener := must.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		opening, hello := make([]byte, openingSize), make([]byte, len(encodeHello(&Identity{Node: "a"}, "a"))+proofSize)
		_, err1 := io.ReadFull(conn, opening)
		_, err2 := conn.Write(opening)
		_, err3 := io.ReadFull(conn, hello)
		_, err4 := conn.Write(append([]byte{proofRight}, hello...))
		if err := errors.Join(err1, err2, err3, err4); err != nil {
			t.Error(err)
		}
	}()
	if _, err := a.Dial(Requests, "a", listener.Addr().String(), time.Second); !errors.Is(err, errWrongProof) {
		t.Errorf("the error is %v, want one that names the key", err)
	}
	listener.Close()
	<-ended
}
