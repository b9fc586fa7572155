package contract

import (
	"bytes"
	"io"
	"net/http"
	"strings"
)

// Transport is a client's, with a look at what goes over it: each exchange with an
// address that is looked at is held against the contract, and what is wrong is told.
type Transport struct {
	Base  http.RoundTripper
	Looks func(*http.Request) bool // nil: at all
	Tell  func(error)
}

// RoundTrip reads the bodies whole.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if t.Looks != nil && !t.Looks(r) {
		return t.Base.RoundTrip(r)
	}
	q := &Request{Method: r.Method, Path: r.URL.EscapedPath(), Header: r.Header.Clone()}
	if r.Body != nil {
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
	body, broken := io.ReadAll(response.Body)
	_ = response.Body.Close()
	response.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), ender{broken}))
	if broken == nil {
		if err := Own().Check(q, &Answer{response.StatusCode, response.Header, body}); err != nil {
			t.Tell(err)
		}
	}
	return response, nil
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

// IsPublic tells whether a path is one that only the public address has anything at.
func IsPublic(path string) bool {
	for _, begins := range [...]string{"/api/", "/v1/", "/oauth/", "/openapi.", "/docs"} {
		if strings.HasPrefix(path, begins) {
			return true
		}
	}
	return false
}
