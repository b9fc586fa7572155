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
)

const (
	// patience is what one try to hand a batch over may take.
	patience = 10 * time.Second
	// longestAsked is how long a collector may put a batch off.
	longestAsked = 30 * time.Second
	// tellEvery is how often the log is told that traces are lost.
	tellEvery = time.Minute
	// mostRead is how much of an answer is read, so that its connection can be kept.
	mostRead = 64 << 10
)

// newClient follows nobody elsewhere: the headers may be a credential.
func newClient() *http.Client {
	return &http.Client{
		Transport:     &http.Transport{MaxIdleConns: 1, IdleConnTimeout: time.Minute},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       patience,
	}
}

// run sends what waits, until Close and a last time after it.
func (t *Tracer) run() {
	defer close(t.ended)
	tick := time.NewTicker(t.looks)
	defer tick.Stop()
	var body []byte
	for over := false; !over; {
		select {
		case <-t.queue.full:
		case <-tick.C:
		case <-t.stop:
			over = true
		}
		for batch := t.queue.take(); batch != nil; batch = t.queue.take() {
			body = t.encoder.encode(body[:0], batch)
			t.send(body, uint64(len(batch)))
		}
	}
}

// send hands a batch over, in as many tries as there are pauses and one more, and counts
// what becomes of it.
func (t *Tracer) send(body []byte, traces uint64) {
	for try := 0; ; try++ {
		asked, again, err := t.try(body)
		if err == nil {
			t.exported.Add(traces)
			return
		}
		if !again || try == len(t.pauses) || !t.rest(max(t.pauses[try], asked)) {
			t.dropped.Add(traces)
			t.tell(err)
			return
		}
	}
}

// rest waits before the next try; false: there is no time left for one.
func (t *Tracer) rest(pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-t.ctx.Done():
		return false
	}
}

// try sends a batch once. Where it fails, again says whether the same may be taken
// later, and asked what pause the collector wants.
func (t *Tracer) try(body []byte) (asked time.Duration, again bool, err error) {
	ctx, cancel := context.WithTimeout(t.ctx, patience)
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
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, mostRead))
	switch response.StatusCode {
	case http.StatusOK, http.StatusAccepted, http.StatusNoContent:
		return 0, false, nil
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		again = true
	}
	seconds, _ := strconv.ParseUint(response.Header.Get("Retry-After"), 10, 16)
	return min(longestAsked, time.Duration(seconds)*time.Second), again, fmt.Errorf("the collector answers %d", response.StatusCode)
}

// withoutAddress is an error of the client less the address, in which a secret may stand.
func withoutAddress(err error) error {
	var at *url.Error
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// tell tells the log that traces are lost, but not each time.
func (t *Tracer) tell(err error) {
	if now := time.Now(); now.Sub(t.told) >= tellEvery {
		t.told = now
		t.opt.Logger.Warn("traces are lost: the collector at traces.endpoint does not take them; requests are not held up by it",
			"dropped", t.dropped.Load(), "error", withoutAddress(err))
	}
}
