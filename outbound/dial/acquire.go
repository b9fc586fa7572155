package dial

import (
	"errors"
	"time"

	"github.com/valyala/fasthttp"
)

// acquireInterval is the longest single wait for a pooled connection.
const acquireInterval = 20 * time.Millisecond

// acquireConnWithin takes a connection from the pool, or lets the pool open one, within the
// time left. It is generic because the pool's connection type is not exported.
//
// If all connections are in use it waits for at most maxWait, in intervals, and tries
// again after each. One long wait could miss a connection: the pool looks for a free one,
// releases its lock, and then queues the caller. A connection returned in between wakes no
// caller, and another return may never happen.
func acquireConnWithin[C any](acquire func(time.Duration, bool) (C, error), left, maxWait time.Duration) (conn C, err error) {
	began := time.Now()
	for {
		waited := time.Since(began)
		if waited >= left {
			return conn, fasthttp.ErrTimeout
		}
		conn, err = acquire(left-waited, false)
		if !errors.Is(err, fasthttp.ErrNoFreeConns) || time.Since(began) >= maxWait {
			return conn, err
		}
	}
}
