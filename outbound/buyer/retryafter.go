package buyer

import (
	"net/http"
	"strconv"
	"time"
)

const (
	unsaidRetry  = time.Second    // where a 429 does not say when: the first step of the interface's backoff
	longestRetry = 24 * time.Hour // what is waited for at most
)

// retryAfter reads the header in either of its forms (RFC 9110, 10.2.3):
// seconds, or a date in the buyer's opinion of the time. A date that has passed
// means at once.
func retryAfter(value []byte, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(string(value), 10, 64); err == nil {
		return time.Duration(min(seconds, uint64(longestRetry/time.Second))) * time.Second
	}
	date, err := http.ParseTime(string(value))
	if err != nil {
		return unsaidRetry
	}
	return min(max(date.Sub(now), 0), longestRetry)
}
