package httperror

import (
	"crypto/rand"
	"time"

	"pingpost/engine/market"
)

// NewRequestID returns a random request id. The admin API also answers before there is an
// engine, which has its own generator.
func NewRequestID() market.RequestID {
	var random [10]byte
	_, _ = rand.Read(random[:])
	return market.RequestID(market.ComposeID(time.Now().UnixMilli(), random))
}
