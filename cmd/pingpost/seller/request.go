package seller

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"iter"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"pingpost/internal/timer"
)

// leadSender sends the lines (leads) of a file to an exchange at a given rate, with a fixed
// number of workers. If all workers are busy, a line waits. Its latency counts from the time
// when it was due.
type leadSender struct {
	url         string
	apiKey      string
	rate        float64 // a second; 0: no limit
	keyed       bool    // each line has an idempotency key
	concurrency int     // requests under way at once
	client      *http.Client
}

// sendPauses are the pauses between the attempts of a line.
var sendPauses = [...]time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second}

const (
	// sendTimeout is above an exchange's longest time for an answer.
	sendTimeout = 30 * time.Second
	// maxAnswer limits the part of an answer that is read, in bytes.
	maxAnswer = 1 << 20
	// maxPause limits the pause of a Retry-After.
	maxPause = time.Minute
)

func newLeadSender(exchangeURL, apiKey string, concurrency int, transport *http.Transport) *leadSender {
	transport.MaxIdleConns, transport.MaxIdleConnsPerHost = concurrency, concurrency
	transport.IdleConnTimeout = 10 * time.Second // below any exchange's own, so that few connections are stale
	return &leadSender{
		url: strings.TrimRight(exchangeURL, "/") + "/api/v1/ingest", apiKey: apiKey, keyed: true, concurrency: concurrency,
		client: &http.Client{Transport: transport, Timeout: sendTimeout},
	}
}

// scheduledLine is a line of the input with the time at which it had to be sent.
type scheduledLine struct {
	numberedLine
	due time.Time
}

// sendLines sends all lines and returns how long that took. It calls onResult with each result,
// one after another. When the context ends it starts no further line and repeats no attempt,
// but it waits for attempts in progress.
func (s *leadSender) sendLines(ctx context.Context, lines iter.Seq[numberedLine], onResult func(*lineSendResult)) (elapsed time.Duration) {
	start := time.Now()
	turns, answers := make(chan scheduledLine), make(chan *lineSendResult)
	var workers sync.WaitGroup
	for range s.concurrency {
		workers.Go(func() {
			for t := range turns {
				answers <- s.sendWithRetries(ctx, &t)
			}
		})
	}
	go func() {
		s.scheduleLines(ctx, lines, turns)
		close(turns)
		workers.Wait()
		close(answers)
	}()
	for a := range answers {
		onResult(a)
	}
	s.client.CloseIdleConnections()
	return time.Since(start)
}

// scheduleLines hands each line to a free worker (dueLines) when the line is due by the rate.
func (s *leadSender) scheduleLines(ctx context.Context, lines iter.Seq[numberedLine], dueLines chan<- scheduledLine) {
	start := time.Now()
	given := 0
	for l := range lines {
		due := time.Now()
		if s.rate > 0 {
			due = start.Add(time.Duration(float64(given) / s.rate * float64(time.Second)))
			if !timer.WaitUntil(ctx, due) {
				return
			}
		}
		given++
		select {
		case dueLines <- scheduledLine{l, due}:
		case <-ctx.Done():
			return
		}
	}
}

// sendWithRetries sends a line until it has a final answer, the last attempt was made, another attempt
// is unsafe (isSafeToRetry), or the context ends.
func (s *leadSender) sendWithRetries(ctx context.Context, line *scheduledLine) *lineSendResult {
	key := ""
	if s.keyed {
		key = deriveIdempotencyKey(&line.numberedLine)
	}
	for tries := 1; ; tries++ {
		a := s.sendAttempt(line.text, key)
		a.line, a.tries, a.took = line.number, tries, time.Since(line.due)
		if a.isFinal() || tries > len(sendPauses) || !s.isSafeToRetry(a) {
			return a
		}
		pause := sendPauses[tries-1]
		if a.retryAfter >= 0 {
			pause = min(a.retryAfter, maxPause)
		}
		if !timer.WaitUntil(ctx, time.Now().Add(pause)) {
			return a
		}
	}
}

// isSafeToRetry reports whether another attempt, after the previous result, cannot create a second
// lead.
func (s *leadSender) isSafeToRetry(previous *lineSendResult) bool {
	return s.keyed || previous.status == http.StatusTooManyRequests || previous.unreached
}

// sendAttempt sends one request with a line's text. It does not stop with the command's
// context, because the exchange may already have the request.
func (s *leadSender) sendAttempt(leadText []byte, idempotencyKey string) *lineSendResult {
	a := &lineSendResult{retryAfter: -1}
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, s.url, bytes.NewReader(leadText))
	if err != nil {
		a.err = err
		return a
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("x-api-key", s.apiKey)
	if idempotencyKey != "" {
		req.Header.Set("Idempotency-Key", idempotencyKey)
	}
	res, err := s.client.Do(req)
	if err != nil {
		var dial *net.OpError
		a.err, a.unreached = err, errors.As(err, &dial) && dial.Op == "dial"
		return a
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		a.err = err
		return a
	}
	a.parseResponse(res, body)
	return a
}

// deriveIdempotencyKey returns a line's idempotency key, made from its text and number. Sending
// the same file again therefore uses the same keys.
func deriveIdempotencyKey(line *numberedLine) string {
	h := sha256.New()
	h.Write(strconv.AppendInt(nil, int64(line.number), 10))
	h.Write([]byte{'\n'})
	h.Write(line.text)
	return "send_" + hex.EncodeToString(h.Sum(nil)[:16])
}
