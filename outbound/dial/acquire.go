package dial

import (
	"errors"
	"time"

	"github.com/valyala/fasthttp"
)

// acquireInterval is the longest time for which one call waits for a free connection of the
// pool, before it asks again.
const acquireInterval = 20 * time.Millisecond

// acquireConnWithin takes a connection from the pool, or lets the pool open one. The whole call
// takes at most maxTotalTime. If all connections are in use it waits for at most maxWaitIfAllInUse.
// acquireFromPool is the pool's method. The function is generic because the pool does not export its
// connection type.
//
// It waits in short intervals and asks again after each. One long wait could miss a connection:
// the pool looks for a free one, releases its lock, and only then queues the caller. A
// connection returned in between wakes no caller, and another return may never happen.
func acquireConnWithin[C any](acquireFromPool func(time.Duration, bool) (C, error), maxTotalTime, maxWaitIfAllInUse time.Duration) (conn C, err error) {
	began := time.Now()
	for {
		waited := time.Since(began)
		if waited >= maxTotalTime {
			return conn, fasthttp.ErrTimeout
		}
		conn, err = acquireFromPool(maxTotalTime-waited, false)
		if !errors.Is(err, fasthttp.ErrNoFreeConns) || time.Since(began) >= maxWaitIfAllInUse {
			return conn, err
		}
	}
}
