package httperror

import (
	"crypto/rand"
	"time"

	"pingpost/engine/market"
)

// NewRequestID returns a new random request id. The admin API uses it, because it also answers
// while there is no engine with its own generator.
func NewRequestID() market.RequestID { return NewRequestIDAt(time.Now().UnixNano()) }

// NewRequestIDAt returns a new random request id with the time unixNanos.
func NewRequestIDAt(unixNanos int64) market.RequestID {
	var random [10]byte
	_, _ = rand.Read(random[:])
	return market.RequestID(market.ComposeID(unixNanos/int64(time.Millisecond), random))
}
