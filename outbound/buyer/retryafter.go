package buyer

import (
	"net/http"
	"strconv"
	"time"
)

const (
	defaultRetry = time.Second    // without a valid header: the first step of the contract's backoff
	maxRetry     = 24 * time.Hour // the longest wait
)

// parseRetryAfterOrOneSecond returns how long the header Retry-After asks to wait, at most 24 hours. The
// header has seconds, or a date by the buyer's clock (RFC 9110, 10.2.3). A missing or invalid
// header means one second, and a date in the past means no wait.
func parseRetryAfterOrOneSecond(headerValue []byte, now time.Time) (wait time.Duration) {
	if seconds, err := strconv.ParseUint(string(headerValue), 10, 64); err == nil {
		return time.Duration(min(seconds, uint64(maxRetry/time.Second))) * time.Second
	}
	date, err := http.ParseTime(string(headerValue))
	if err != nil {
		return defaultRetry
	}
	return min(max(date.Sub(now), 0), maxRetry)
}
