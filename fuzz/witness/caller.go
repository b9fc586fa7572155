package witness

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"
)

// A Parcel is a request as a client sends it: always the same bytes under its key.
type Parcel struct {
	Path  string
	Key   string // Idempotency-Key
	Token string // of OAuth; empty: the caller's API key stands for it
	Test  bool   // nothing is taken for it
	Look  bool   // a GET, without a key
	Body  []byte
}

// An Answer is what came back.
type Answer struct {
	Status   int
	Request  string // X-Request-Id
	Replayed bool
	Text     string
}

// A Caller sends parcels and takes no failure for an answer. One goroutine uses it.
type Caller struct {
	door   *Door
	apiKey string
	client http.Client
	chance *rand.Rand // of how long it waits before it tries again
}

// NewCaller is one that finds the exchange by a door.
func NewCaller(door *Door, apiKey string, chance *rand.Rand) *Caller {
	return &Caller{door: door, apiKey: apiKey, chance: chance, client: http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{}}}
}

// Leave gives its connections back.
func (c *Caller) Leave() { c.client.CloseIdleConnections() }

// Send sends a parcel until it is answered; false: the context has ended.
func (c *Caller) Send(ctx context.Context, p *Parcel) (Answer, bool) {
	for {
		address := c.door.find(ctx)
		if address == "" {
			return Answer{}, false
		}
		a, err := c.try(ctx, address, p)
		if err == nil && a.Status != http.StatusTooManyRequests && a.Status < 500 {
			return a, true
		}
		pause := time.NewTimer(time.Duration(2+c.chance.IntN(40)) * time.Millisecond)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return Answer{}, false
		}
	}
}

func (c *Caller) try(ctx context.Context, address string, p *Parcel) (a Answer, err error) {
	method := http.MethodPost
	if p.Look {
		method = http.MethodGet
	}
	req, err := http.NewRequestWithContext(ctx, method, address+p.Path, bytes.NewReader(p.Body))
	if err != nil {
		return a, err
	}
	if p.Token == "" {
		req.Header.Set("x-api-key", c.apiKey)
	} else {
		req.Header.Set("Authorization", "Bearer "+p.Token)
	}
	if !p.Look {
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Idempotency-Key", p.Key)
	}
	if p.Test {
		req.Header.Set("X-Pingpost-Test", "1")
	}
	response, err := c.client.Do(req)
	if err != nil {
		return a, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return Answer{
		Status: response.StatusCode, Request: response.Header.Get("X-Request-Id"),
		Replayed: response.Header.Get("Idempotent-Replayed") == "true", Text: string(body),
	}, err
}

// caller is a seller, who has a token too.
type caller struct {
	*Caller
	token string
}

func (c *caller) send(ctx context.Context, o *order) (Answer, bool) { return c.Send(ctx, c.parcel(o)) }

func (c *caller) parcel(o *order) *Parcel {
	p := &Parcel{Path: cmp.Or(o.path, pathIngest), Key: o.key, Test: o.test, Look: o.look, Body: o.body}
	if !strings.HasPrefix(p.Path, "/api/") {
		p.Token = cmp.Or(o.token, c.token)
	}
	return p
}
