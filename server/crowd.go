package server

import (
	"net"
	"net/netip"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"pingpost/engine/market"
)

// crowd bounds the connections that are open at once, in all and from one
// address. Who is too many hears so in the interface's form, and is let go.
// (The HTTP library bounds them too, but tells it in a text of its own.)
//
// Accept has one caller; connections leave from any goroutine.
type crowd struct {
	net.Listener
	most, mostFrom int
	newID          func() market.RequestID

	mu   sync.Mutex // guards open and from
	open int
	from map[netip.Prefix]int
}

func newCrowd(listener net.Listener, most, mostFrom int, newID func() market.RequestID) *crowd {
	return &crowd{Listener: listener, most: most, mostFrom: mostFrom, newID: newID, from: make(map[netip.Prefix]int)}
}

// Accept returns the next connection that there is room for.
func (c *crowd) Accept() (net.Conn, error) {
	for {
		conn, err := c.Listener.Accept()
		if err != nil {
			return nil, err
		}
		guest := &guest{Conn: conn, crowd: c, from: origin(conn)}
		if c.enter(guest.from) {
			return guest, nil
		}
		c.refuse(conn)
	}
}

func (c *crowd) enter(from netip.Prefix) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open >= c.most || c.from[from] >= c.mostFrom {
		return false
	}
	c.open++
	c.from[from]++
	return true
}

func (c *crowd) leave(from netip.Prefix) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open--
	if c.from[from]--; c.from[from] == 0 {
		delete(c.from, from)
	}
}

// refuse writes what fits any connection's empty buffer, so it does not wait.
func (c *crowd) refuse(conn net.Conn) {
	defer conn.Close()
	if conn.SetWriteDeadline(time.Now().Add(time.Second)) != nil {
		return
	}
	id := c.newID()
	body := appendFault(nil, id, faultCrowded)
	text := id.AppendTo([]byte("HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nRetry-After: " +
		retryAfterBusy + "\r\nConnection: close\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n" + headerRequestID + ": "))
	_, _ = conn.Write(append(append(text, "\r\n\r\n"...), body...))
}

// origin is whose connection it is: an address, or for IPv6 the network that
// one customer is given whole.
func origin(conn net.Conn) netip.Prefix {
	tcp, ok := conn.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return netip.Prefix{}
	}
	address := tcp.AddrPort().Addr().Unmap()
	bits := address.BitLen()
	if address.Is6() {
		bits = 64
	}
	prefix, _ := address.WithZone("").Prefix(bits)
	return prefix
}

// guest is a connection that is counted until it is closed.
type guest struct {
	net.Conn
	crowd *crowd
	from  netip.Prefix
	gone  atomic.Bool
}

// Close ends the connection and makes room for another.
func (g *guest) Close() error {
	if g.gone.CompareAndSwap(false, true) {
		g.crowd.leave(g.from)
	}
	return g.Conn.Close()
}
