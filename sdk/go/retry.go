package pingpost

import (
	"net/http"
	"strconv"
	"time"
)

// maxBackoff is the longest of the doubling waits.
const maxBackoff = 16 * time.Second

// maxRetryAfter is the longest Retry-After that a client waits for.
const maxRetryAfter = time.Hour

// backoff returns the wait after so many attempts: 1, 2, 4, 8, 16 s.
func backoff(tries int) time.Duration {
	if tries > 4 {
		return maxBackoff
	}
	return time.Second << tries
}

// retryAfter returns the wait of a Retry-After header in seconds or as a date. ok is false if
// the header is missing or unreadable.
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

// isRetryable reports whether the status is temporary.
func isRetryable(status int) bool { return status >= 500 || status == http.StatusTooManyRequests }
