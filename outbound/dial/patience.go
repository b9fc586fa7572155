package dial

import (
	"errors"
	"time"

	"github.com/valyala/fasthttp"
)

// stretch is how long a connection is waited for at a time.
const stretch = 20 * time.Millisecond

// inStretches takes a connection from the pool, or has it make one, within the
// time left. (The pool's connections have a type without a name outside.)
//
// Where all are in use it waits no longer than wait, in stretches, and asks anew
// after each. The pool looks for a free connection and queues for one after, and
// gives its lock up in between: one that comes back in that instant is nobody's,
// and who queues then waits for another to come back, which may never happen.
func inStretches[C any](acquire func(time.Duration, bool) (C, error), left, wait time.Duration) (conn C, err error) {
	began := time.Now()
	for {
		waited := time.Since(began)
		if waited >= left {
			return conn, fasthttp.ErrTimeout
		}
		conn, err = acquire(left-waited, false)
		if !errors.Is(err, fasthttp.ErrNoFreeConns) || time.Since(began) >= wait {
			return conn, err
		}
	}
}
