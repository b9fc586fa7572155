package forward

import (
	"bufio"
	"errors"
	"net"
	"slices"
	"sync"
	"time"
)

const (
	// idleTime is how long a connection is kept unused. The other end keeps it much longer, so that
	// it does not close a connection over which a request is just being sent.
	idleTime = 30 * time.Second
	// maxConns limits the open connections to other nodes.
	maxConns = 4096
	// dialPause is the pause after a failed dial. Held requests would otherwise dial all the time.
	dialPause = 20 * time.Millisecond
	// dialTime is the longest wait for a connection to the leader before the next look for a new one. A lost
	// machine never answers.
	dialTime = 250 * time.Millisecond
	// answerBuffer is the size of the read buffer, which must hold the head of an answer.
	answerBuffer = 16 << 10
)

var (
	errTooManyConns = errors.New("too many connections to other nodes are open")
	errDialTime     = errors.New("the node did not accept a connection in time")
	errDialPause    = errors.New("the node accepted no connection a moment ago")
)

// nodeKey names a node and its address.
type nodeKey struct{ id, address string }

// nodeConns has the connections to other nodes that no request uses now.
type nodeConns struct {
	dial func(id, address string, timeout time.Duration) (net.Conn, error)
	open chan struct{} // has an element for each open connection

	mu     sync.Mutex // guards the rest
	idle   map[nodeKey][]*nodeConn
	failed map[nodeKey]time.Time // of the last failed dial
	closed bool
}

// nodeConn is a connection to another node. One request uses it at a time.
type nodeConn struct {
	net.Conn
	to      nodeKey
	conns   *nodeConns
	reader  *bufio.Reader
	watched chan struct{} // closed when watch ends
	alive   bool          // of watch: the other end has not closed it and has sent nothing
	closing sync.Once
}

func (c *nodeConns) init(dial func(id, address string, timeout time.Duration) (net.Conn, error)) {
	c.dial, c.open = dial, make(chan struct{}, maxConns)
	c.idle, c.failed = make(map[nodeKey][]*nodeConn), make(map[nodeKey]time.Time)
}

// takeIdle returns a connection that is kept, and that the other end has not closed. It returns nil if
// there is none.
func (c *nodeConns) takeIdle(to nodeKey) *nodeConn {
	for {
		c.mu.Lock()
		kept := c.idle[to]
		if len(kept) == 0 {
			c.mu.Unlock()
			return nil
		}
		conn := kept[len(kept)-1]
		c.idle[to] = kept[:len(kept)-1]
		c.mu.Unlock()
		err := conn.SetReadDeadline(time.Unix(1, 0)) // ends watch
		<-conn.watched
		if err == nil && conn.alive && conn.SetReadDeadline(time.Time{}) == nil {
			return conn
		}
		conn.close()
	}
}

// dialNew opens a connection. It gives up after the time limit; the connection is then
// kept for a later request.
func (c *nodeConns) dialNew(to nodeKey, limit time.Duration) (*nodeConn, error) {
	c.mu.Lock()
	paused := time.Since(c.failed[to]) < dialPause
	c.mu.Unlock()
	if paused {
		return nil, errDialPause
	}
	select {
	case c.open <- struct{}{}:
	default:
		return nil, errTooManyConns
	}
	dialed := make(chan error) // unbuffered, so that the goroutine notices when no request waits
	var conn *nodeConn
	gone := make(chan struct{})
	go func() {
		raw, err := c.dial(to.id, to.address, max(limit, dialPause))
		if err != nil {
			<-c.open
			c.mu.Lock()
			c.failed[to] = time.Now()
			c.mu.Unlock()
		} else {
			conn = &nodeConn{Conn: raw, to: to, conns: c, reader: bufio.NewReaderSize(raw, answerBuffer)}
		}
		select {
		case dialed <- err:
		case <-gone:
			if err == nil {
				conn.keep()
			}
		}
	}()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case err := <-dialed:
		return conn, err
	case <-timer.C:
	}
	close(gone)
	return nil, errDialTime
}

// keep keeps the connection for the next request. The last answer must have been read to its end.
func (c *nodeConn) keep() {
	if c.reader.Buffered() > 0 || c.SetReadDeadline(time.Now().Add(idleTime)) != nil {
		c.close()
		return
	}
	c.watched, c.alive = make(chan struct{}), false
	c.conns.mu.Lock()
	closed := c.conns.closed
	if !closed {
		c.conns.idle[c.to] = append(c.conns.idle[c.to], c)
	}
	c.conns.mu.Unlock()
	if closed {
		c.close()
		return
	}
	go c.watch()
}

// watch reads from the idle connection, to notice when the other end closes it. It ends when a request
// takes the connection. After any other end it closes the connection.
func (c *nodeConn) watch() {
	_, err := c.reader.Peek(1)
	var timeout net.Error
	c.alive = errors.As(err, &timeout) && timeout.Timeout()
	close(c.watched)
	c.conns.mu.Lock()
	kept := c.conns.idle[c.to]
	i := slices.Index(kept, c)
	if i >= 0 {
		c.conns.idle[c.to] = slices.Delete(kept, i, i+1)
	}
	c.conns.mu.Unlock()
	if i >= 0 {
		c.close()
	}
}

func (c *nodeConn) close() {
	c.closing.Do(func() {
		_ = c.Conn.Close() // it is useless already
		<-c.conns.open
	})
}

// closeIdle closes all connections that no request uses, and keeps no more.
func (c *nodeConns) closeIdle() {
	c.mu.Lock()
	idle := c.idle
	c.idle, c.closed = make(map[nodeKey][]*nodeConn), true
	c.mu.Unlock()
	for _, kept := range idle {
		for _, conn := range kept {
			conn.close()
		}
	}
}
