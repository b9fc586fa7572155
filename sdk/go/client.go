package pingpost

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// Client sends requests to an exchange. It may be used by many goroutines at once; there
// should be one for each credential.
type Client struct {
	options Options
	tokens  *tokens // nil without an OAuth client
}

// New makes a client. It sends nothing yet. Its error is a [*UsageError].
func New(options Options) (*Client, error) {
	o, err := options.complete()
	if err != nil {
		return nil, err
	}
	c := &Client{options: o}
	if o.ClientID != "" {
		c.tokens = &tokens{fetch: c.fetchToken, now: time.Now}
	}
	return c, nil
}

// Format shows no secret, whatever the verb.
func (c *Client) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "&pingpost.Client{BaseURL: %q}", c.options.BaseURL)
}

// CallOption changes one call.
type CallOption func(*call)

// WithIdempotencyKey sends the call under this key in place of one that is made for it: 1 to
// 255 visible ASCII characters.
func WithIdempotencyKey(key string) CallOption { return func(c *call) { c.given = key } }

// AsTest has the call be a test: it reaches test endpoints, counts nowhere and is not paid.
func AsTest() CallOption { return func(c *call) { c.test = true } }

// WithTimeout bounds each try of this call.
func WithTimeout(d time.Duration) CallOption { return func(c *call) { c.timeout = d } }

// Meta is what an answer says beside its body.
type Meta struct {
	Status         int
	RequestID      string
	Replayed       bool   // the answer is that to an earlier request under the same key
	IdempotencyKey string // what the request was sent under; "" where it had none
	Limit          *Limit // nil where the answer has none
}

// Limit is where the caller stands with the rate that it may ask at.
type Limit struct {
	Limit, Remaining int
	Reset            time.Time
}

// Answer is what a call came to.
type Answer[T any] struct {
	Body T
	Meta Meta
}

// by is who a call is sent as.
type by int

const (
	byKey    by = iota // the API key
	byToken            // an access token, or a static one
	byNobody           // the body says who
)

// call is one request, over all its tries.
type call struct {
	method, url string
	as          by
	takesKey    bool
	body        []byte // nil where it has none

	given   string // the caller's idempotency key
	key     string // the one that is sent
	test    bool
	timeout time.Duration
}

// invoke makes a call with a body, or without where in is nil, and reads its answer.
func invoke[T any](ctx context.Context, c *Client, what call, in any, options []CallOption) (*Answer[T], error) {
	what.timeout = c.options.Timeout
	for _, option := range options {
		option(&what)
	}
	if err := c.complete(&what, in); err != nil {
		return nil, err
	}
	answer := &Answer[T]{}
	meta, err := c.send(ctx, &what, &answer.Body)
	if err != nil {
		return nil, err
	}
	answer.Meta = meta
	return answer, nil
}

func (c *Client) complete(what *call, in any) error {
	switch {
	case what.as == byKey && c.options.APIKey == "":
		return &UsageError{"this call needs an APIKey, which the client does not have"}
	case what.as == byToken && c.options.APIKey != "":
		return &UsageError{"this call needs a ClientID with its ClientSecret, or a Token; the client has an APIKey"}
	case what.timeout <= 0:
		return &UsageError{"the timeout is not above 0"}
	}
	if what.takesKey {
		if what.key = what.given; what.key == "" {
			what.key = newKey()
		}
	}
	if in == nil {
		return nil
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(in); err != nil {
		return &UsageError{"the request is no JSON: " + err.Error()}
	}
	what.body = bytes.TrimRight(text.Bytes(), "\n")
	return nil
}

// newKey is a UUID of version 4.
func newKey() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// send tries the call until there is an answer that no further try would change.
func (c *Client) send(ctx context.Context, what *call, into any) (Meta, error) {
	renewed := false
	for tries := 0; ; {
		bearer, err := c.bearer(ctx, what)
		if err != nil {
			return Meta{}, err
		}
		status, header, body, err := c.try(ctx, what, bearer)
		if err == nil && status >= 200 && status < 300 {
			if err = json.Unmarshal(body, into); err == nil {
				return metaOf(status, header, what.key), nil
			}
			err = &TransportError{Err: fmt.Errorf("the answer of status %d cannot be read", status), IdempotencyKey: what.key}
		} else if err == nil {
			err = readError(status, header, body, what.key)
			if status == http.StatusUnauthorized && what.as == byToken && c.tokens != nil && !renewed {
				renewed = true
				c.tokens.refused(bearer)
				continue
			}
			if !mayRetry(status) {
				return Meta{}, err
			}
		}
		if ctx.Err() != nil || tries >= c.options.MaxRetries {
			return Meta{}, err
		}
		wait := backoff(tries)
		if said, ok := retryAfter(header, time.Now()); ok {
			wait = min(said, longestAsked)
		}
		if c.options.Sleep(ctx, wait) != nil {
			return Meta{}, err
		}
		tries++
	}
}

// bearer is the token that the call is sent with, "" where it goes without one.
func (c *Client) bearer(ctx context.Context, what *call) (string, error) {
	switch {
	case what.as != byToken:
		return "", nil
	case c.tokens == nil:
		return c.options.Token, nil
	}
	return c.tokens.get(ctx, what.key)
}

// largestAnswer is more than any answer has.
const largestAnswer = 64 << 20

// try sends the call once and reads the whole answer. Its error is a [*TransportError] or a
// [*TimeoutError].
func (c *Client) try(ctx context.Context, what *call, bearer string) (int, http.Header, []byte, error) {
	within, cancel := context.WithTimeout(ctx, what.timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(within, what.method, what.url, bytes.NewReader(what.body))
	if err != nil {
		return 0, nil, nil, &TransportError{Err: err, IdempotencyKey: what.key}
	}
	// Without GetBody the transport does not send anything again by itself, behind our back and
	// without a wait, which it would for a request that has an Idempotency-Key.
	req.GetBody = nil
	c.dress(req, what, bearer)
	answer, err := c.options.HTTPClient.Do(req)
	var body []byte
	if err == nil {
		body, err = io.ReadAll(io.LimitReader(answer.Body, largestAnswer))
		_ = answer.Body.Close()
	}
	switch {
	case err == nil:
		return answer.StatusCode, answer.Header, body, nil
	case within.Err() == context.DeadlineExceeded && ctx.Err() == nil:
		return 0, nil, nil, &TimeoutError{After: what.timeout, IdempotencyKey: what.key}
	}
	return 0, nil, nil, &TransportError{Err: err, IdempotencyKey: what.key}
}

func (c *Client) dress(req *http.Request, what *call, bearer string) {
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", c.options.UserAgent)
	if what.body != nil {
		req.Header.Set("Content-Type", "application/json")
	} else {
		req.Body, req.ContentLength = http.NoBody, 0
	}
	if what.key != "" {
		req.Header.Set("Idempotency-Key", what.key)
	}
	if what.test {
		req.Header.Set("X-Pingpost-Test", "1")
	}
	if what.as == byKey {
		req.Header.Set("X-Api-Key", c.options.APIKey)
	}
	if bearer != "" {
		req.Header.Set("Authorization", "Bearer "+bearer)
	}
}

func metaOf(status int, header http.Header, key string) Meta {
	m := Meta{
		Status: status, RequestID: header.Get("X-Request-Id"), IdempotencyKey: key,
		Replayed: header.Get("Idempotent-Replayed") == "true",
	}
	limit, err := strconv.Atoi(header.Get("X-RateLimit-Limit"))
	remaining, err2 := strconv.Atoi(header.Get("X-RateLimit-Remaining"))
	reset, err3 := strconv.ParseInt(header.Get("X-RateLimit-Reset"), 10, 64)
	if err == nil && err2 == nil && err3 == nil {
		m.Limit = &Limit{Limit: limit, Remaining: remaining, Reset: time.Unix(reset, 0)}
	}
	return m
}
