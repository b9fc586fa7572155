package server

import (
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"sync"
	"syscall"
	"time"

	"pingpost/engine/market"
)

// crowd bounds the connections that are open at once, in all and from one
// address. Who is too many from one address hears so in the interface's form,
// and is let go. (The HTTP library bounds them too, but tells it in a text of
// its own.)
//
// A connection is a stranger until a good credential has come over it. Where
// the house is full a newcomer takes the place of a stranger that has been idle
// for long; only where every guest is known the newcomer is sent away. So those
// who have no credential may fill the house, but cannot keep it. A place kept
// for each supplier was rejected: a connection says whose it is only after it
// has been let in.
//
// A trusted proxy brings many over few addresses, and is counted in all alone.
//
// Accept has one caller; connections leave from any goroutine.
type crowd struct {
	net.Listener
	most, mostFrom int
	newID          func() market.RequestID
	tell           func(error) // hears why connections are not accepted for a while
	told           time.Time   // when it last did; Accept's alone

	seal     *tls.Config           // nil: connections are plain
	unsealed func()                // hears of a handshake that failed
	trusts   func(netip.Addr) bool // of a proxy, which is as many as it brings; nil: there are none

	accepts  chan struct{} // closed when Accept is called first, or never will be
	accepted sync.Once

	mu        sync.Mutex // guards the rest
	open      int
	from      map[netip.Prefix]int
	strangers map[*guest]struct{}
}

func newCrowd(listener net.Listener, most, mostFrom int, newID func() market.RequestID, tell func(error)) *crowd {
	return &crowd{
		Listener: listener, most: most, mostFrom: mostFrom, newID: newID, tell: tell,
		from: make(map[netip.Prefix]int), strangers: make(map[*guest]struct{}), accepts: make(chan struct{}),
	}
}

// The pause after an error that passes by itself.
const (
	leastPause = 5 * time.Millisecond
	mostPause  = time.Second
	tellEvery  = time.Minute
)

// Accept returns the next connection that there is room for. An error is final:
// what may pass by itself is waited for.
func (c *crowd) Accept() (net.Conn, error) {
	c.begun()
	pause := leastPause
	for {
		conn, err := c.Listener.Accept()
		if err != nil {
			if !passing(err) {
				return nil, err
			}
			if now := time.Now(); now.Sub(c.told) >= tellEvery {
				c.told = now
				c.tell(err)
			}
			c.evict()
			time.Sleep(pause)
			pause = min(2*pause, mostPause)
			continue
		}
		pause = leastPause
		guest := newGuest(conn, c)
		in, evicted := c.enter(guest)
		if evicted != nil {
			_ = evicted.Conn.Close()
		}
		if in {
			return c.sealed(guest), nil
		}
		c.refuse(conn)
	}
}

// begun notes that the library has the listener, and closes it when it is shut down.
func (c *crowd) begun() { c.accepted.Do(func() { close(c.accepts) }) }

// passing tells whether Accept may succeed later: the system has run out of
// something, or the error was that of the one connection.
func passing(err error) bool {
	for _, one := range [...]error{
		syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED, syscall.ECONNRESET,
		syscall.EPROTO, syscall.EPERM, syscall.ENETDOWN, syscall.ENETUNREACH, syscall.EHOSTUNREACH, syscall.ETIMEDOUT,
	} {
		if errors.Is(err, one) {
			return true
		}
	}
	return false
}

// enter counts a guest in. The one that was evicted for it is counted out, and
// is the caller's to close.
func (c *crowd) enter(g *guest) (in bool, evicted *guest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.from[g.from] >= c.mostFrom && !(c.trusts != nil && c.trusts(g.from.Addr())) {
		return false, nil
	}
	if c.open >= c.most {
		if evicted = c.evictLocked(); evicted == nil {
			return false, nil
		}
	}
	c.open++
	c.from[g.from]++
	c.strangers[g] = struct{}{}
	return true, evicted
}

func (c *crowd) leave(g *guest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leaveLocked(g)
}

func (c *crowd) leaveLocked(g *guest) {
	c.open--
	if c.from[g.from]--; c.from[g.from] == 0 {
		delete(c.from, g.from)
	}
	delete(c.strangers, g)
}

// evict makes room where the system has none.
func (c *crowd) evict() {
	c.mu.Lock()
	evicted := c.evictLocked()
	c.mu.Unlock()
	if evicted != nil {
		_ = evicted.Conn.Close()
	}
}

// sampled bounds how many strangers are looked at to find an idle one.
const sampled = 64

// evictLocked counts out the stranger that has been idle longest, among some of
// them taken at random where they are many; nil where there is none.
func (c *crowd) evictLocked() (idlest *guest) {
	seen := 0
	for g := range c.strangers {
		if idlest == nil || g.used.Load() < idlest.used.Load() {
			idlest = g
		}
		if seen++; seen == sampled {
			break
		}
	}
	if idlest == nil || !idlest.gone.CompareAndSwap(false, true) {
		return nil
	}
	c.leaveLocked(idlest)
	return idlest
}

// hush closes the connections over which nothing has come yet: who leaves is not
// kept waiting for a request that may never be sent.
func (c *crowd) hush() {
	var silent []*guest
	c.mu.Lock()
	for g := range c.strangers {
		if !g.spoke.Load() {
			silent = append(silent, g)
		}
	}
	c.mu.Unlock()
	for _, g := range silent {
		_ = g.Close()
	}
}

// packed tells whether more than half of the places are taken.
func (c *crowd) packed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return 2*c.open > c.most
}

// refuse writes what fits any connection's empty buffer, so it does not wait.
func (c *crowd) refuse(conn net.Conn) {
	defer conn.Close()
	if c.seal != nil { // before a handshake there is no word that would be understood
		return
	}
	if conn.SetWriteDeadline(time.Now().Add(time.Second)) != nil {
		return
	}
	_, _ = conn.Write(rawAnswer("503 Service Unavailable", "Retry-After: "+retryAfterBusy+"\r\n", c.newID(), faultCrowded))
}
