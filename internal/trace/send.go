package trace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"pingpost/internal/timer"
)

const (
	// sendTimeout limits one attempt to send a batch.
	sendTimeout = 10 * time.Second
	// maxRetryAfter limits the Retry-After that a collector can ask for.
	maxRetryAfter = 30 * time.Second
	// warnInterval is the shortest time between two log messages about lost traces.
	warnInterval = time.Minute
	// maxResponse limits the part of a response that is read to keep its connection.
	maxResponse = 64 << 10
)

// newClient returns the HTTP client for the collector. It follows no redirects, because the
// configured headers may contain a credential.
func newClient() *http.Client {
	return &http.Client{
		Transport:     &http.Transport{MaxIdleConns: 1, IdleConnTimeout: time.Minute},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       sendTimeout,
	}
}

// run sends queued requests in batches until Close, and then the remaining ones. It runs in its
// own goroutine.
func (t *Tracer) run() {
	defer close(t.ended)
	tick := time.NewTicker(t.interval)
	defer tick.Stop()
	var body []byte
	for stopped := false; !stopped; {
		select {
		case <-t.queue.full:
		case <-tick.C:
		case <-t.stop:
			stopped = true
		}
		for batch := t.queue.removeBatch(); batch != nil; batch = t.queue.removeBatch() {
			body = t.encoder.encode(body[:0], batch)
			t.sendWithRetries(body, uint64(len(batch)))
		}
	}
}

// sendWithRetries sends one encoded batch to the collector. After a temporary failure it retries,
// with the pauses in t.pauses, until Close ends the sending. It counts the batch's traces as
// exported or dropped.
func (t *Tracer) sendWithRetries(body []byte, traces uint64) {
	for attempt := 0; ; attempt++ {
		retryAfter, retry, err := t.sendOnce(body)
		if err == nil {
			t.exported.Add(traces)
			return
		}
		if !retry || attempt == len(t.pauses) || !timer.WaitUntil(t.ctx, time.Now().Add(max(t.pauses[attempt], retryAfter))) {
			t.dropped.Add(traces)
			t.warnOfLostTraces(err)
			return
		}
	}
}

// sendOnce sends the body to the collector once. After an error, retry says whether another attempt
// may succeed. retryAfter is the pause that the collector asked for, at most maxRetryAfter.
func (t *Tracer) sendOnce(body []byte) (retryAfter time.Duration, retry bool, err error) {
	ctx, cancel := context.WithTimeout(t.ctx, sendTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, t.address, bytes.NewReader(body))
	if err != nil {
		return 0, false, err
	}
	for name, values := range t.opt.Headers {
		request.Header[name] = values
	}
	request.Header.Set("Content-Type", "application/x-protobuf")
	request.Header.Set("User-Agent", "pingpost")
	response, err := t.client.Do(request)
	if err != nil {
		return 0, t.ctx.Err() == nil, err
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, maxResponse))
	switch response.StatusCode {
	case http.StatusOK, http.StatusAccepted, http.StatusNoContent:
		return 0, false, nil
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		retry = true
	}
	seconds, _ := strconv.ParseUint(response.Header.Get("Retry-After"), 10, 16)
	return min(maxRetryAfter, time.Duration(seconds)*time.Second), retry, fmt.Errorf("the collector answered with status %d", response.StatusCode)
}

// withoutAddress removes the collector's address from an error before it is logged, because the
// address may contain a secret.
func withoutAddress(err error) error {
	var at *url.Error
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// warnOfLostTraces logs, at most once a minute, that a batch of traces was lost, and why. Traces
// that did not fit into the queue are only counted.
func (t *Tracer) warnOfLostTraces(err error) {
	if now := time.Now(); now.Sub(t.warned) >= warnInterval {
		t.warned = now
		t.opt.Logger.Warn("traces are lost: the collector at traces.endpoint does not accept them; requests are not affected",
			"dropped", t.dropped.Load(), "error", withoutAddress(err))
	}
}
