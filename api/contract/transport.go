package contract

import (
	"bytes"
	"io"
	"net/http"
	"strings"
)

// Transport is a client's, with a look at what goes over it: each exchange with an
// address that has a contract is held against it, and what is wrong is told.
type Transport struct {
	Base http.RoundTripper
	Else *Contract // of paths that no contract has; nil: they are not looked at
	Tell func(error)
}

// RoundTrip reads the bodies whole, but for those that are there to be streamed.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	c := Of(r.URL.Path)
	if c == nil {
		c = t.Else
	}
	if c == nil {
		return t.Base.RoundTrip(r)
	}
	q := &Request{Method: r.Method, Path: r.URL.EscapedPath(), Header: r.Header.Clone()}
	if r.Body != nil && !c.streams(q) {
		var err error
		if q.Body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		_ = r.Body.Close()
		r = r.Clone(r.Context()) // the caller's stays as it is
		r.Body = io.NopCloser(bytes.NewReader(q.Body))
	}
	response, err := t.Base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if response.Header.Get("Content-Type") == events {
		t.check(c, q, &Answer{response.StatusCode, response.Header, nil})
		return response, nil
	}
	body, broken := io.ReadAll(response.Body)
	_ = response.Body.Close()
	response.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), ender{broken}))
	if broken == nil {
		t.check(c, q, &Answer{response.StatusCode, response.Header, body})
	}
	return response, nil
}

func (t *Transport) check(c *Contract, q *Request, a *Answer) {
	if err := c.Check(q, a); err != nil {
		t.Tell(err)
	}
}

// events is the type of an answer that has no end.
const events = "text/event-stream"

// streams tells whether a request's body is one that is read as it comes: it is no
// document.
func (c *Contract) streams(q *Request) bool {
	op, _, _ := c.operation(q.Method, q.Path)
	content, _ := at(op.its, "requestBody", "content").(object)
	return len(content) == 1 && content["text/plain"] != nil
}

// ender ends a body as it has ended on the wire.
type ender struct{ err error }

func (e ender) Read([]byte) (int, error) {
	if e.err != nil {
		return 0, e.err
	}
	return 0, io.EOF
}

// CloseIdleConnections closes those of the client.
func (t *Transport) CloseIdleConnections() {
	if closer, ok := t.Base.(interface{ CloseIdleConnections() }); ok {
		closer.CloseIdleConnections()
	}
}

// Of is the contract that a path belongs to; nil: no path of either begins like that.
func Of(path string) *Contract {
	for _, begins := range [...]string{"/api/", "/v1/", "/oauth/", "/openapi.", "/docs"} {
		if strings.HasPrefix(path, begins) {
			return Own()
		}
	}
	for _, begins := range [...]string{"/admin/", "/healthz", "/readyz", "/metrics", "/debug/"} {
		if strings.HasPrefix(path, begins) {
			return Admin()
		}
	}
	return nil
}
