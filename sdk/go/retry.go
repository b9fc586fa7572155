package pingpost

import (
	"net/http"
	"strconv"
	"time"
)

// longestWait is the longest of the waits that double.
const longestWait = 16 * time.Second

// longestAsked is the longest that a Retry-After is waited for.
const longestAsked = time.Hour

// backoff is the wait after so many tries: 1, 2, 4, 8, 16 s.
func backoff(tries int) time.Duration {
	if tries > 4 {
		return longestWait
	}
	return time.Second << tries
}

// retryAfter is what the server says, in seconds or as a date. Not ok: it says nothing that
// can be read.
func retryAfter(header http.Header, now time.Time) (wait time.Duration, ok bool) {
	text := header.Get("Retry-After")
	if seconds, err := strconv.Atoi(text); err == nil {
		return time.Duration(min(seconds, 1<<30)) * time.Second, seconds >= 0
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0, false
	}
	return max(0, at.Sub(now)), true
}

// mayRetry holds for what passes by itself.
func mayRetry(status int) bool { return status >= 500 || status == http.StatusTooManyRequests }
