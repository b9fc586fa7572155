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

// Client sends requests to an exchange. It is safe for concurrent use. Use one client for each
// credential.
type Client struct {
	options Options
	tokens  *tokenSource // nil without an OAuth client
}

// New returns a client. It sends no request yet. Its error is a [*UsageError].
func New(options Options) (*Client, error) {
	o, err := options.withDefaults()
	if err != nil {
		return nil, err
	}
	c := &Client{options: o}
	if o.ClientID != "" {
		c.tokens = &tokenSource{fetch: c.fetchToken, now: time.Now}
	}
	return c, nil
}

// Format prints the client without secrets, for every verb.
func (c *Client) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "&pingpost.Client{BaseURL: %q}", c.options.BaseURL)
}

// CallOption changes one call.
type CallOption func(*call)

// WithIdempotencyKey sends the call with this key instead of a generated one: 1 to 255 visible
// ASCII characters.
func WithIdempotencyKey(key string) CallOption { return func(c *call) { c.givenKey = key } }

// AsTest makes the call a test: it reaches test endpoints, counts in no cap, and costs nothing.
func AsTest() CallOption { return func(c *call) { c.test = true } }

// WithTimeout limits each attempt of this call.
func WithTimeout(d time.Duration) CallOption { return func(c *call) { c.timeout = d } }

// Meta holds the properties of an answer besides its body.
type Meta struct {
	Status         int
	RequestID      string
	Replayed       bool   // the answer belongs to an earlier request with the same key
	IdempotencyKey string // key of the request, or ""
	Limit          *Limit // nil if the answer has no rate limit headers
}

// Limit is the state of the caller's rate limit.
type Limit struct {
	Limit, Remaining int
	Reset            time.Time
}

// Answer is the result of a call.
type Answer[T any] struct {
	Body T
	Meta Meta
}

// credentialKind is the kind of credential that a call uses.
type credentialKind int

const (
	withAPIKey        credentialKind = iota // the API key
	withToken                               // an access token or a static token
	withoutCredential                       // the body contains the credential
)

// call is one request with all its attempts.
type call struct {
	method, url string
	as          credentialKind
	takesKey    bool
	body        []byte // nil without a body

	givenKey string // the caller's idempotency key
	key      string // the sent idempotency key
	test     bool
	timeout  time.Duration
}

// callJSON sends a call, with in as its body unless nil, and decodes the answer.
func callJSON[T any](ctx context.Context, c *Client, what call, in any, options []CallOption) (*Answer[T], error) {
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
	case what.as == withAPIKey && c.options.APIKey == "":
		return &UsageError{"this call needs an APIKey, which the client does not have"}
	case what.as == withToken && c.options.APIKey != "":
		return &UsageError{"this call needs a ClientID with its ClientSecret, or a Token; the client has an APIKey"}
	case what.timeout <= 0:
		return &UsageError{"the timeout is not above 0"}
	}
	if what.takesKey {
		if what.key = what.givenKey; what.key == "" {
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

// newKey returns a random UUID (version 4).
func newKey() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// send repeats the call until the answer is final.
func (c *Client) send(ctx context.Context, what *call, into any) (Meta, error) {
	renewed := false
	for tries := 0; ; {
		bearer, err := c.bearerToken(ctx, what)
		if err != nil {
			return Meta{}, err
		}
		status, header, body, err := c.sendOnce(ctx, what, bearer)
		if err == nil && status >= 200 && status < 300 {
			if err = json.Unmarshal(body, into); err == nil {
				return metaOf(status, header, what.key), nil
			}
			err = &TransportError{Err: fmt.Errorf("cannot decode the answer with status %d", status), IdempotencyKey: what.key}
		} else if err == nil {
			err = readError(status, header, body, what.key)
			if status == http.StatusUnauthorized && what.as == withToken && c.tokens != nil && !renewed {
				renewed = true
				c.tokens.forget(bearer)
				continue
			}
			if !isRetryable(status) {
				return Meta{}, err
			}
		}
		if ctx.Err() != nil || tries >= c.options.MaxRetries {
			return Meta{}, err
		}
		wait := backoff(tries)
		if requested, ok := retryAfter(header, time.Now()); ok {
			wait = min(requested, maxRetryAfter)
		}
		if c.options.Sleep(ctx, wait) != nil {
			return Meta{}, err
		}
		tries++
	}
}

// bearerToken returns the token of the call, or "".
func (c *Client) bearerToken(ctx context.Context, what *call) (string, error) {
	switch {
	case what.as != withToken:
		return "", nil
	case c.tokens == nil:
		return c.options.Token, nil
	}
	return c.tokens.get(ctx, what.key)
}

// maxAnswerSize is larger than any answer.
const maxAnswerSize = 64 << 20

// sendOnce sends the call once and reads the whole answer. Its error is a [*TransportError] or
// a [*TimeoutError].
func (c *Client) sendOnce(ctx context.Context, what *call, bearer string) (int, http.Header, []byte, error) {
	within, cancel := context.WithTimeout(ctx, what.timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(within, what.method, what.url, bytes.NewReader(what.body))
	if err != nil {
		return 0, nil, nil, &TransportError{Err: err, IdempotencyKey: what.key}
	}
	// Without GetBody, the transport does not repeat a request on its own. It would do so at
	// once for requests with an Idempotency-Key.
	req.GetBody = nil
	c.setHeaders(req, what, bearer)
	answer, err := c.options.HTTPClient.Do(req)
	var body []byte
	if err == nil {
		body, err = io.ReadAll(io.LimitReader(answer.Body, maxAnswerSize))
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

func (c *Client) setHeaders(req *http.Request, what *call, bearer string) {
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
	if what.as == withAPIKey {
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
