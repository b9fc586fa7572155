package pingpost

import (
	"context"
	"errors"
	"sync"
	"time"

	"pingpost/sdk/go/model"
)

// tokenSource keeps an OAuth client's access token.
//
// It fetches one token at a time, for all waiting callers. A caller that stops waiting does not
// end the fetch. A token is renewed after nine tenths of its lifetime and after a refusal. Only
// the refused token is discarded, because another caller may have fetched a new one in the
// meantime.
type tokenSource struct {
	fetch func(context.Context) (*model.TokenResponse, error)
	now   func() time.Time

	mu      sync.Mutex
	token   string
	renewAt time.Time
	flight  *tokenFetch
}

// tokenFetch is a fetch in progress. Its result is valid once done is closed.
type tokenFetch struct {
	done  chan struct{}
	token string
	err   error
}

// get returns a valid token. An error contains the key of the call that needed it.
func (t *tokenSource) get(ctx context.Context, key string) (string, error) {
	t.mu.Lock()
	if t.token != "" && t.now().Before(t.renewAt) {
		defer t.mu.Unlock()
		return t.token, nil
	}
	if t.flight == nil {
		t.flight = &tokenFetch{done: make(chan struct{})}
		go t.fly(context.WithoutCancel(ctx), t.flight)
	}
	f := t.flight
	t.mu.Unlock()
	select {
	case <-f.done:
		return f.token, withKey(f.err, key)
	case <-ctx.Done():
		return "", &TransportError{Err: ctx.Err(), IdempotencyKey: key}
	}
}

func (t *tokenSource) fly(ctx context.Context, f *tokenFetch) {
	began := t.now()
	got, err := t.fetch(ctx)
	t.mu.Lock()
	defer t.mu.Unlock()
	if f.err = err; err == nil {
		f.token = got.AccessToken
		t.token = got.AccessToken
		t.renewAt = began.Add(time.Duration(got.ExpiresIn) * time.Second / 10 * 9)
	}
	t.flight = nil
	close(f.done)
}

// forget discards a refused token.
func (t *tokenSource) forget(token string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.token == token {
		t.token = ""
	}
}

// withKey returns the error with another call's key. Several callers may share the error.
func withKey(err error, key string) error {
	var api *APIError
	var transport *TransportError
	var timeout *TimeoutError
	switch {
	case errors.As(err, &api):
		own := *api
		own.IdempotencyKey = key
		return &own
	case errors.As(err, &transport):
		return &TransportError{Err: transport.Err, IdempotencyKey: key}
	case errors.As(err, &timeout):
		return &TimeoutError{After: timeout.After, IdempotencyKey: key}
	}
	return err
}
