package witness

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"
)

// Request is a request of a client. All attempts under its key send the same bytes.
type Request struct {
	Path     string
	Key      string // Idempotency-Key header
	Token    string // OAuth token; empty: the client's API key is used
	IsTest   bool   // sends X-Pingpost-Test
	IsLookup bool   // a GET without a key
	Body     []byte
}

// Response is the answer to a Request.
type Response struct {
	Status    int
	RequestID string // X-Request-Id header
	Replayed  bool
	Body      string
}

// Client sends requests and repeats each until it is answered. Only one goroutine may use it.
type Client struct {
	locator *Locator
	apiKey  string
	client  http.Client
	random  *rand.Rand // draws the wait before the next attempt
}

// NewClient returns a client that sends to the address of the locator.
func NewClient(locator *Locator, apiKey string, random *rand.Rand) *Client {
	timeout := cmp.Or(locator.patience, 30*time.Second)
	return &Client{locator: locator, apiKey: apiKey, random: random, client: http.Client{Timeout: timeout, Transport: &http.Transport{}}}
}

// Close closes idle connections.
func (c *Client) Close() { c.client.CloseIdleConnections() }

// Send repeats the request until the answer is neither 429 nor 5xx. It returns false when the
// context ends.
func (c *Client) Send(ctx context.Context, p *Request) (Response, bool) {
	for {
		address := c.locator.await(ctx)
		if address == "" {
			return Response{}, false
		}
		a, err := c.sendAttempt(ctx, address, p)
		c.locator.countAttempt(attemptResult(&a, err))
		if err == nil && a.Status != http.StatusTooManyRequests && a.Status < 500 {
			return a, true
		}
		pause := time.NewTimer(time.Duration(2+c.random.IntN(40)) * time.Millisecond)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return Response{}, false
		}
	}
}

// attemptResult returns the result of an attempt for counters.
func attemptResult(a *Response, err error) string {
	var timeout interface{ Timeout() bool }
	switch {
	case err == nil && a.Status < 500:
		return "answered"
	case err == nil:
		var said struct{ Message string }
		_ = json.Unmarshal([]byte(a.Body), &said)
		message, _, _ := strings.Cut(said.Message, ".")
		return fmt.Sprintf("%d (%.60s)", a.Status, message)
	case errors.As(err, &timeout) && timeout.Timeout():
		return "no answer in time"
	}
	return "no connection or answer"
}

func (c *Client) sendAttempt(ctx context.Context, address string, p *Request) (a Response, err error) {
	method := http.MethodPost
	if p.IsLookup {
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
	if !p.IsLookup {
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Idempotency-Key", p.Key)
	}
	if p.IsTest {
		req.Header.Set("X-Pingpost-Test", "1")
	}
	response, err := c.client.Do(req)
	if err != nil {
		return a, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return Response{
		Status: response.StatusCode, RequestID: response.Header.Get("X-Request-Id"),
		Replayed: response.Header.Get("Idempotent-Replayed") == "true", Body: string(body),
	}, err
}

// sellerClient is a client with an OAuth token for ping and post.
type sellerClient struct {
	*Client
	token string
}

func (c *sellerClient) send(ctx context.Context, o *clientRequest) (Response, bool) {
	return c.Send(ctx, c.httpRequest(o))
}

func (c *sellerClient) httpRequest(o *clientRequest) *Request {
	p := &Request{Path: cmp.Or(o.path, pathIngest), Key: o.key, IsTest: o.isTest, IsLookup: o.isLookup, Body: o.body}
	if !strings.HasPrefix(p.Path, "/api/") {
		p.Token = cmp.Or(o.token, c.token)
	}
	return p
}
