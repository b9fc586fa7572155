package link

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"pingpost/cluster/clusterid"
	"pingpost/internal/certtest"
	"pingpost/internal/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// node is a node with a network.
type node struct {
	*Network
	address string
	folder  string
}

func startNode(t *testing.T, id, folder string, key byte, config *tls.Config) *node {
	t.Helper()
	registry, self, err := OpenRegistry(folder, id)
	must.Succeed(t, err)
	listener := must.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	n := must.Value(Listen(listener, Self{Identity: self, LinkKey: [32]byte{key}, Registry: registry}, config, slog.New(slog.DiscardHandler)))(t)
	t.Cleanup(func() { n.Close() })
	return &node{n, listener.Addr().String(), folder}
}

// talk sends a byte from one node to another and back.
func talk(t *testing.T, from, to *node, purpose Purpose) error {
	t.Helper()
	conn, err := from.Dial(purpose, to.self.Identity.Node, to.address, time.Second)
	if err != nil {
		return err
	}
	defer conn.Close()
	served := must.Value(to.Listener(purpose).Accept())(t)
	defer served.Close()
	must.Value(conn.Write([]byte("x")))(t)
	must.Value(io.ReadFull(served, make([]byte, 1)))(t)
	return nil
}

func copyFolder(t *testing.T, from string) string {
	t.Helper()
	to := t.TempDir()
	content := must.Value(os.ReadFile(filepath.Join(from, RegistryFile)))(t)
	must.Succeed(t, os.WriteFile(filepath.Join(to, RegistryFile), content, 0o600))
	return to
}

// TestNodesConnect: connections reach the listener of their purpose, also after restarts of the nodes.
func TestNodesConnect(t *testing.T) {
	a, b := startNode(t, "a", t.TempDir(), 1, nil), startNode(t, "b", t.TempDir(), 1, nil)
	for range 3 {
		must.Succeed(t, talk(t, a, b, Raft))
		must.Succeed(t, talk(t, b, a, Requests))
		must.Succeed(t, talk(t, a, a, Requests))
		b = startNode(t, "b", b.folder, 1, nil)
	}
}

// TestNodesThatMustNotTakePart: the other node refuses them with a reason, and some of them have to stop.
func TestNodesThatMustNotTakePart(t *testing.T) {
	for name, row := range map[string]struct {
		intruder func(b *node) *node
		reason   string
		mustStop bool
	}{
		"old copy of the data": {func(b *node) *node {
			old := copyFolder(t, b.folder)
			startNode(t, "b", b.folder, 1, nil)
			again := startNode(t, "b", b.folder, 1, nil)
			must.Succeed(t, talk(t, again, startedA, Raft))
			return startNode(t, "b", old, 1, nil)
		}, "old copy of its data", true},
		"second node with a copy": {func(b *node) *node {
			copied := copyFolder(t, b.folder)
			again := startNode(t, "b", b.folder, 1, nil)
			must.Succeed(t, talk(t, again, startedA, Raft))
			return startNode(t, "b", copied, 1, nil)
		}, "run with copies of the same data", true},
		"new node with a used id": {func(*node) *node { return startNode(t, "b", t.TempDir(), 1, nil) }, "another node had the id", true},
		"id of the node itself":   {func(*node) *node { return startNode(t, "a", t.TempDir(), 1, nil) }, `two nodes have the id "a"`, false},
		"another key":             {func(*node) *node { return startNode(t, "c", t.TempDir(), 2, nil) }, "another exchange.key", false},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := startNode(t, "a", t.TempDir(), 1, nil), startNode(t, "b", t.TempDir(), 1, nil)
			startedA = a
			must.Succeed(t, talk(t, b, a, Raft))
			intruder := row.intruder(b)
			err := talk(t, intruder, a, Raft)
			if !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), row.reason) {
				t.Errorf("the error is %v, want one with %q", err, row.reason)
			}
			if got := errors.Is(err, ErrMustStop); got != row.mustStop {
				t.Errorf("must stop: %v, want %v", got, row.mustStop)
			}
			if _, err := a.Dial(Raft, intruder.self.Identity.Node, intruder.address, time.Second); !errors.Is(err, ErrRefused) || errors.Is(err, ErrMustStop) {
				t.Errorf("in the other direction the error is %v, want a refusal that stops only the intruder", err)
			}
			if got := len(intruder.MustStop()) > 0; got != row.mustStop {
				t.Errorf("the intruder learns that it must stop: %v, want %v", got, row.mustStop)
			}
			if len(a.MustStop()) > 0 {
				t.Error("the node that refused the other one must stop")
			}
		})
	}
}

var startedA *node // of the present row

// TestWrongAddressIsFound: a node that answers at the address of another, or the node itself, gets no Raft
// connection, because its vote would count for the other.
func TestWrongAddressIsFound(t *testing.T) {
	a, b := startNode(t, "a", t.TempDir(), 1, nil), startNode(t, "b", t.TempDir(), 1, nil)
	for name, to := range map[string]*node{"another node": b, "the node itself": a} {
		if _, err := a.Dial(Raft, "c", to.address, time.Second); err == nil || !strings.Contains(err.Error(), "correct the address") {
			t.Errorf("%s answers for c: %v", name, err)
		}
	}
	if _, err := a.Dial(Raft, "a", a.address, time.Second); !errors.Is(err, ErrRefused) {
		t.Errorf("a Raft connection of a node with itself: %v", err)
	}
}

// TestNodesOfAnotherClusterAreRefused: two clusters of one exchange, for example with one backup, never mix. A
// new node joins the cluster of the first member that opens a Raft connection to it.
func TestNodesOfAnotherClusterAreRefused(t *testing.T) {
	a, b, c := startNode(t, "a", t.TempDir(), 1, nil), startNode(t, "b", t.TempDir(), 1, nil), startNode(t, "c", t.TempDir(), 1, nil)
	must.Succeed(t, clusterid.Create(a.folder))
	must.Succeed(t, clusterid.Create(c.folder))
	must.Succeed(t, talk(t, b, a, Requests)) // a new node requests a copy
	if id := must.Value(clusterid.Read(b.folder))(t); id != (clusterid.ID{}) {
		t.Errorf("a node without a Raft connection is in cluster %x", id)
	}
	must.Succeed(t, talk(t, a, b, Raft))
	if got, want := must.Value(clusterid.Read(b.folder))(t), must.Value(clusterid.Read(a.folder))(t); got != want {
		t.Errorf("the new node is in cluster %x, want %x", got, want)
	}
	for _, purpose := range []Purpose{Raft, Requests} {
		for _, to := range []*node{a, b} {
			if err := talk(t, c, to, purpose); !errors.Is(err, ErrRefused) || errors.Is(err, ErrMustStop) || !strings.Contains(err.Error(), "another cluster") {
				t.Errorf("purpose %d: a node of another cluster gets %v", purpose, err)
			}
		}
	}
}

// TestNodesWithOtherHeartbeatAreRefused: the lease needs the same timeout on all nodes. Requests do not.
func TestNodesWithOtherHeartbeatAreRefused(t *testing.T) {
	a, b := startNode(t, "a", t.TempDir(), 1, nil), startNode(t, "b", t.TempDir(), 1, nil)
	a.self.Identity.HeartbeatTimeout, b.self.Identity.HeartbeatTimeout = time.Second, time.Minute
	if err := talk(t, b, a, Raft); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "heartbeat timeout") {
		t.Errorf("the error is %v, want a refusal", err)
	}
	must.Succeed(t, talk(t, b, a, Requests))
}

// startAt starts a node whose Raft log ends at a position.
func startAt(t *testing.T, id, folder string, at Position) *node {
	t.Helper()
	registry, self, err := OpenRegistry(folder, id)
	must.Succeed(t, err)
	self.Position = at
	listener := must.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	n := must.Value(Listen(listener, Self{Identity: self, LinkKey: [32]byte{1}, Registry: registry}, nil, slog.New(slog.DiscardHandler)))(t)
	t.Cleanup(func() {
		select {
		case <-n.ended: // the test closed it
		default:
			n.Close()
		}
	})
	return &node{n, listener.Addr().String(), folder}
}

// TestOldCopySinceLastStart: a folder that was copied after the node's last start has its number of starts. The
// others still remember that the node confirmed more, also after a restart of their own.
func TestOldCopySinceLastStart(t *testing.T) {
	for name, row := range map[string]struct {
		at      Position
		refused bool
	}{
		"all that it confirmed":           {Position{100, 5, 4}, false},
		"more":                            {Position{101, 6, 6}, false},
		"an entry is missing":             {Position{99, 5, 4}, true},
		"an earlier term":                 {Position{100, 4, 4}, true},
		"a vote is missing":               {Position{100, 5, 3}, true},
		"a later leader replaced entries": {Position{95, 6, 6}, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			a, b := startAt(t, "a", dir, Position{}), startAt(t, "b", t.TempDir(), Position{100, 5, 4})
			must.Succeed(t, talk(t, a, b, Raft))
			a.self.Registry.Confirm("b", 100, 5, 0)
			a.self.Registry.Confirm("b", 90, 4, 4)
			a.self.Registry.Confirm("removed", 1000, 9, 9)
			must.Succeed(t, a.self.Registry.ForgetExcept([]string{"b"}))
			if left := a.self.Registry.confirmed.names(); !slices.Equal(left, []string{"b"}) {
				t.Errorf("the positions of %q are remembered, want those of the member", left)
			}
			must.Succeed(t, a.Close())
			a = startAt(t, "a", dir, Position{})
			b = startAt(t, "b", b.folder, row.at)
			err := talk(t, b, a, Raft)
			if refused := errors.Is(err, ErrMustStop); refused != row.refused || !refused && err != nil {
				t.Errorf("the error is %v, want a refusal: %v", err, row.refused)
			}
			if row.refused {
				must.Succeed(t, a.self.Registry.ForgetExcept(nil))
				must.Succeed(t, talk(t, startAt(t, "b", t.TempDir(), Position{}), a, Raft))
			}
		})
	}
}

// TestUnknownNodesAreRefused: only members open Raft connections. A new node may request a copy.
func TestUnknownNodesAreRefused(t *testing.T) {
	a, b, c := startNode(t, "a", t.TempDir(), 1, nil), startNode(t, "b", t.TempDir(), 1, nil), startNode(t, "c", t.TempDir(), 1, nil)
	a.AllowRaftFrom(func(id string) bool { return id == "b" })
	must.Succeed(t, talk(t, b, a, Raft))
	if err := talk(t, c, a, Raft); !errors.Is(err, ErrRefused) || errors.Is(err, ErrMustStop) || !strings.Contains(err.Error(), "no member") {
		t.Errorf("an unknown node gets %v", err)
	}
	must.Succeed(t, talk(t, c, a, Requests))
	must.Succeed(t, talk(t, a, c, Raft))
}

// TestForgottenNodeCanBeReplaced: after a node was removed, a new one can have its id.
func TestForgottenNodeCanBeReplaced(t *testing.T) {
	a, b := startNode(t, "a", t.TempDir(), 1, nil), startNode(t, "b", t.TempDir(), 1, nil)
	must.Succeed(t, talk(t, b, a, Raft))
	must.Succeed(t, a.self.Registry.ForgetExcept(nil))
	must.Succeed(t, talk(t, startNode(t, "b", t.TempDir(), 1, nil), a, Raft))
}

// TestOnlyNodesWithCertificateConnect: with TLS both ends show a certificate of the cluster's authority.
func TestOnlyNodesWithCertificateConnect(t *testing.T) {
	ours, others := tlsConfig(t, 1), tlsConfig(t, 2)
	a, b := startNode(t, "a", t.TempDir(), 1, ours), startNode(t, "b", t.TempDir(), 1, ours)
	must.Succeed(t, talk(t, a, b, Raft))
	for name, config := range map[string]*tls.Config{"of another authority": others, "without TLS": nil} {
		stranger := startNode(t, "c", t.TempDir(), 1, config)
		if err := talk(t, stranger, a, Raft); err == nil {
			t.Errorf("a node %s is accepted", name)
		}
		if _, err := a.Dial(Raft, "c", stranger.address, time.Second); err == nil {
			t.Errorf("a node %s is trusted", name)
		}
	}
}

func tlsConfig(t *testing.T, serial int64) *tls.Config {
	t.Helper()
	certificate, key, err := certtest.SelfSigned(serial, time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
	must.Succeed(t, err)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(certificate)
	return &tls.Config{
		Certificates: []tls.Certificate{must.Value(tls.X509KeyPair(certificate, key))(t)},
		RootCAs:      pool, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS13,
	}
}

// FuzzHello: a stranger's bytes never panic, and never make the node allocate more than a hello.
func FuzzHello(f *testing.F) {
	f.Add(encodeHello(&Identity{Node: "a"}, "b"))
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		hello, sender, receiver, err := decodeHello(bytes.NewReader(data))
		if err == nil && (!bytes.HasPrefix(data, hello) || !bytes.Equal(hello, encodeHello(&sender, receiver))) {
			t.Errorf("%q is read as %+v to %q", data, sender, receiver)
		}
	})
}

// silentConns opens connections to the node, from an address of this machine, that send no byte.
func silentConns(t *testing.T, to *node, from string, count int) (silent []net.Conn) {
	t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	for range count {
		conn := must.Value(dialer.Dial("tcp", to.address))(t)
		t.Cleanup(func() { conn.Close() })
		silent = append(silent, conn)
	}
	return silent
}

// countRefused waits until the node has accepted or refused the connections, and returns how many it refused.
func countRefused(t *testing.T, silent []net.Conn) int {
	t.Helper()
	var closed atomic.Int64
	var reads sync.WaitGroup
	for _, conn := range silent {
		must.Succeed(t, conn.SetReadDeadline(time.Now().Add(time.Second)))
		reads.Go(func() {
			if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
				closed.Add(1)
			}
		})
	}
	reads.Wait()
	return int(closed.Load())
}

// occupyAllPlaces opens more silent connections than a node keeps open, and waits until it has ended the oldest.
// A connection that begins earlier could be the oldest one on a busy machine.
func occupyAllPlaces(t *testing.T, node *node, from string) {
	t.Helper()
	silent := silentConns(t, node, from, 2*maxHandshakes)
	ended := 0
	for ended < maxHandshakes {
		ended = countRefused(t, silent) // waits up to a second
	}
}

// TestSilentConnectionsAreLimited: programs that connect and send no byte occupy a limited number of
// connections, for at most the time of a handshake. They keep no node from connecting, even if they have its address.
func TestSilentConnectionsAreLimited(t *testing.T) {
	a, b := startNode(t, "a", t.TempDir(), 1, nil), startNode(t, "b", t.TempDir(), 1, nil)
	silent := silentConns(t, a, "127.0.0.2", maxHandshakes)
	if got, want := countRefused(t, silent), maxHandshakes-maxOfStranger; got != want {
		t.Errorf("%d of %d silent connections from one address are refused, want %d", got, len(silent), want)
	}
	must.Succeed(t, talk(t, b, a, Requests))
	for _, from := range []string{"127.0.0.3", "127.0.0.4", "127.0.0.5", "127.0.0.6"} {
		silent = append(silent, silentConns(t, a, from, maxOfStranger)...)
	}
	if got, want := countRefused(t, silent), len(silent)-maxHandshakes; got != want {
		t.Errorf("%d of %d silent connections are refused, want %d", got, len(silent), want)
	}
	must.Succeed(t, talk(t, b, a, Requests))
	occupyAllPlaces(t, a, "127.0.0.1") // the address of b
	must.Succeed(t, talk(t, b, a, Requests))
}

// TestManyConnectionsAtOnce: each request that waits for a new leader gets its connection, also while silent
// connections of the same address occupy all places.
func TestManyConnectionsAtOnce(t *testing.T) {
	a, b := startNode(t, "a", t.TempDir(), 1, nil), startNode(t, "b", t.TempDir(), 1, nil)
	occupyAllPlaces(t, a, "127.0.0.1")
	const count = 300
	var dials, served sync.WaitGroup
	served.Go(func() {
		for range count {
			conn, err := a.Listener(Requests).Accept()
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			if _, err := io.ReadFull(conn, make([]byte, 1)); err != nil {
				t.Errorf("a connection ended after its handshake: %v", err)
			}
		}
	})
	for range count {
		dials.Go(func() {
			conn, err := b.Dial(Requests, "a", a.address, 10*time.Second)
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			if _, err := conn.Write([]byte("x")); err != nil {
				t.Error(err)
			}
		})
	}
	dials.Wait()
	if !t.Failed() {
		served.Wait()
	}
}
