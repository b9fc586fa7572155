package link

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"time"
)

// Network opens and accepts connections between nodes. Accepted connections go to the listener of their
// purpose.
type Network struct {
	self     Self
	tls      *tls.Config // nil only between addresses of one machine
	listener net.Listener
	logger   *slog.Logger
	purposes map[Purpose]*purposeListener
	mustStop chan error
	// refusals are those of ends that have the exchange's key. A flood of other failed handshakes cannot hide them.
	refusals, failures refusalLog
	ended              chan struct{}
	conns              sync.WaitGroup

	mu    sync.Mutex
	open  map[net.Conn]openHandshake
	nodes map[netip.Addr]struct{}  // addresses of nodes
	dials map[string]chan struct{} // by the id of the other node: see beginDial
}

// Listen serves the listener. config holds the certificate that the node shows to the others, and the
// authority that signed theirs; nil disables TLS. Close ends it.
func Listen(listener net.Listener, self Self, config *tls.Config, logger *slog.Logger) (*Network, error) {
	if len(self.Identity.Node) == 0 || len(self.Identity.Node) > maxIDLength {
		return nil, fmt.Errorf("the id of a node must have 1 to %d bytes, not %d", maxIDLength, len(self.Identity.Node))
	}
	n := &Network{
		self: self, tls: config, listener: listener, logger: logger, mustStop: make(chan error, 1), refusals: newRefusalLog(), failures: newRefusalLog(), ended: make(chan struct{}),
		open: map[net.Conn]openHandshake{}, dials: map[string]chan struct{}{}, nodes: map[netip.Addr]struct{}{}, purposes: map[Purpose]*purposeListener{},
	}
	for _, purpose := range []Purpose{Raft, Requests} {
		n.purposes[purpose] = &purposeListener{network: n, conns: make(chan net.Conn)}
	}
	n.conns.Add(2)
	go n.acceptLoop()
	go n.saveLoop()
	return n, nil
}

// Listener returns the listener for connections with the purpose. Closing it has no effect.
func (n *Network) Listener(purpose Purpose) net.Listener { return n.purposes[purpose] }

// AllowRaftFrom refuses Raft connections from now on, except those of nodes for which mayOpenRaft returns true. It
// is cluster.Node.MayOpenRaft. A new node may open other connections, to request a copy of the data.
func (n *Network) AllowRaftFrom(mayOpenRaft func(node string) bool) {
	n.self.Registry.mu.Lock()
	defer n.self.Registry.mu.Unlock()
	n.self.Registry.allowRaft = mayOpenRaft
}

// MustStop returns a channel that receives an error if another node found that this one must not take part.
func (n *Network) MustStop() <-chan error { return n.mustStop }

// Dial opens a connection to the node with this id. It returns an error if another node answers. The timeout is that
// of the TCP connection; the handshake has handshakeRounds times as long, at most handshakeTime.
func (n *Network) Dial(purpose Purpose, id, address string, timeout time.Duration) (net.Conn, error) {
	if purpose == Requests {
		end, err := n.beginDial(id, timeout)
		if err != nil {
			return nil, err
		}
		defer end()
	}
	conn, err := net.DialTimeout("tcp", address, timeout)
	if err != nil {
		return nil, err
	}
	n.rememberNode(addressOf(conn)) // the address is that of a member or in the configuration
	if n.tls != nil {
		config := n.tls.Clone()
		if config.ServerName, _, err = net.SplitHostPort(address); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
		conn = tls.Client(conn, config)
	}
	if err := n.self.handshakeAsDialer(conn, purpose, id, min(handshakeTime, handshakeRounds*timeout)); err != nil {
		n.reportMustStop(err)
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

func (n *Network) reportMustStop(err error) {
	if errors.Is(err, ErrMustStop) {
		select {
		case n.mustStop <- err:
		default:
		}
	}
}

func (n *Network) acceptLoop() {
	defer n.conns.Done()
	for {
		conn, err := n.listener.Accept()
		if err != nil {
			select {
			case <-n.ended:
				return
			default:
			}
			n.logger.Warn("cannot accept a connection of another node; trying again", "error", err)
			time.Sleep(100 * time.Millisecond)
			continue
		}
		if n.tls != nil {
			conn = tls.Server(conn, n.tls)
		}
		n.conns.Add(1)
		go n.handshake(conn)
	}
}

func addressOf(conn net.Conn) netip.Addr {
	at, _ := netip.ParseAddrPort(conn.RemoteAddr().String())
	return at.Addr().Unmap()
}

func (n *Network) rememberNode(address netip.Addr) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.nodes[address] = struct{}{}
}

// handshake performs the handshake of an accepted connection and passes it to its listener.
func (n *Network) handshake(conn net.Conn) {
	defer n.conns.Done()
	n.beginHandshake(conn)
	purpose, err := n.self.handshakeAsAcceptor(conn, func() { n.markProven(conn) })
	n.mu.Lock()
	delete(n.open, conn)
	n.mu.Unlock()
	if err == nil {
		n.rememberNode(addressOf(conn))
	}
	to := n.purposes[purpose]
	if err == nil && to == nil {
		err = fmt.Errorf("the other node wants the unknown purpose %d; it may have a newer program", purpose)
	}
	if err != nil {
		n.reportMustStop(err)
		log := &n.failures
		if errors.Is(err, ErrRefused) && !errors.Is(err, errWrongProof) {
			log = &n.refusals
		}
		log.log(n.logger, conn, err)
		_ = conn.Close() // it is useless already
		return
	}
	select {
	case to.conns <- conn:
	case <-n.ended:
		_ = conn.Close() // it is useless already
	}
}

// Close ends the network and its listeners. Open connections stay open.
func (n *Network) Close() error {
	close(n.ended)
	err := n.listener.Close()
	n.mu.Lock()
	for conn := range n.open {
		_ = conn.Close() // its handshake has to end
	}
	n.mu.Unlock()
	n.conns.Wait()
	return err
}

// purposeListener is the listener for connections with one purpose.
type purposeListener struct {
	network *Network
	conns   chan net.Conn // after their handshakes
}

// Accept returns the next connection.
func (l *purposeListener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.network.ended:
		return nil, net.ErrClosed
	}
}

// Close has no effect: Network.Close ends all listeners.
func (l *purposeListener) Close() error { return nil }

// Addr returns the network's address.
func (l *purposeListener) Addr() net.Addr { return l.network.listener.Addr() }
