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

// sender brings lines to an exchange. Lines come in their turn, at the rate,
// and are shared out among so many workers; when all are busy the turn waits,
// but the clock by which latency is counted does not.
type sender struct {
	url    string
	apiKey string
	rate   float64 // a second; 0: no limit
	keyed  bool    // each line has an idempotency key
	width  int     // requests under way at once
	client *http.Client
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

func newSender(base, apiKey string, width int, way *http.Transport) *sender {
	way.MaxIdleConns, way.MaxIdleConnsPerHost = width, width
	way.IdleConnTimeout = 10 * time.Second // below any exchange's own, so that few connections are stale
	return &sender{
		url: strings.TrimRight(base, "/") + "/api/v1/ingest", apiKey: apiKey, keyed: true, width: width,
		client: &http.Client{Transport: way, Timeout: sendTimeout},
	}
}

// dueLine is a line that is due.
type dueLine struct {
	line
	due time.Time
}

// send sends all lines and returns how long that took. It calls done for each,
// one after another. After the end of the context it starts no further line and repeats no
// attempt, but it waits for attempts in progress.
func (s *sender) send(ctx context.Context, lines iter.Seq[line], done func(*answer)) time.Duration {
	began := time.Now()
	turns, answers := make(chan dueLine), make(chan *answer)
	var workers sync.WaitGroup
	for range s.width {
		workers.Go(func() {
			for t := range turns {
				answers <- s.bring(ctx, &t)
			}
		})
	}
	go func() {
		s.pace(ctx, lines, turns)
		close(turns)
		workers.Wait()
		close(answers)
	}()
	for a := range answers {
		done(a)
	}
	s.client.CloseIdleConnections()
	return time.Since(began)
}

// pace gives each line its turn.
func (s *sender) pace(ctx context.Context, lines iter.Seq[line], turns chan<- dueLine) {
	began := time.Now()
	given := 0
	for l := range lines {
		due := time.Now()
		if s.rate > 0 {
			due = began.Add(time.Duration(float64(given) / s.rate * float64(time.Second)))
			if !timer.WaitUntil(ctx, due) {
				return
			}
		}
		given++
		select {
		case turns <- dueLine{l, due}:
		case <-ctx.Done():
			return
		}
	}
}

// bring sends a line until it has a final answer.
func (s *sender) bring(ctx context.Context, t *dueLine) *answer {
	key := ""
	if s.keyed {
		key = lineKey(&t.line)
	}
	for tries := 1; ; tries++ {
		a := s.try(t.text, key)
		a.line, a.tries, a.took = t.number, tries, time.Since(t.due)
		if a.isFinal() || tries > len(sendPauses) || !s.mayRepeat(a) {
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

// mayRepeat reports whether another attempt cannot create a second lead.
func (s *sender) mayRepeat(a *answer) bool {
	return s.keyed || a.status == http.StatusTooManyRequests || a.unreached
}

// try makes one request. It does not end with the sender's context, because the exchange may
// already have the request.
func (s *sender) try(text []byte, key string) *answer {
	a := &answer{retryAfter: -1}
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, s.url, bytes.NewReader(text))
	if err != nil {
		a.err = err
		return a
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("x-api-key", s.apiKey)
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
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
	a.read(res, body)
	return a
}

// lineKey is the same whenever the same file is sent.
func lineKey(l *line) string {
	h := sha256.New()
	h.Write(strconv.AppendInt(nil, int64(l.number), 10))
	h.Write([]byte{'\n'})
	h.Write(l.text)
	return "send_" + hex.EncodeToString(h.Sum(nil)[:16])
}

func trimLine(text []byte) []byte { return bytes.TrimSpace(text) }
