package pingpost

import (
	"context"
	"errors"
	"sync"
	"time"

	"pingpost/sdk/go/model"
)

// tokens keeps an OAuth client's access token.
//
// There is one fetch at a time, however many wait for it. It belongs to none of them: one
// who gives up waiting does not end it for the others. A token is fetched anew at nine tenths of
// its time, and after it was refused: only the one that was refused is forgotten, since by the
// time a caller hears of the refusal another may have been fetched.
type tokens struct {
	fetch func(context.Context) (*model.TokenResponse, error)
	now   func() time.Time

	mu      sync.Mutex
	token   string
	renewAt time.Time
	flight  *flight
}

// flight is a fetch that is under way. What it came to may be read once it is over.
type flight struct {
	over  chan struct{}
	token string
	err   error
}

// get is a token that is good, as far as can be known. An error has the key of the call
// that it was wanted for.
func (t *tokens) get(ctx context.Context, key string) (string, error) {
	t.mu.Lock()
	if t.token != "" && t.now().Before(t.renewAt) {
		defer t.mu.Unlock()
		return t.token, nil
	}
	if t.flight == nil {
		t.flight = &flight{over: make(chan struct{})}
		go t.fly(context.WithoutCancel(ctx), t.flight)
	}
	f := t.flight
	t.mu.Unlock()
	select {
	case <-f.over:
		return f.token, keyed(f.err, key)
	case <-ctx.Done():
		return "", &TransportError{Err: ctx.Err(), IdempotencyKey: key}
	}
}

func (t *tokens) fly(ctx context.Context, f *flight) {
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
	close(f.over)
}

// refused forgets a token that the exchange did not take.
func (t *tokens) refused(token string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.token == token {
		t.token = ""
	}
}

// keyed is the same error for the call of another key. Several may have got the one error.
func keyed(err error, key string) error {
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
