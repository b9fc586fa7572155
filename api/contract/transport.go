package contract

import (
	"bytes"
	"io"
	"net/http"
	"strings"
)

// Transport checks the traffic of a client. It reports each finding.
type Transport struct {
	Base     http.RoundTripper
	Fallback *Contract // contract of paths that belong to neither document; nil: no check
	Report   func(error)
}

// RoundTrip sends the request and checks it and its answer. It reads both bodies whole, except
// streamed ones. It does not check an answer that breaks off.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	c := ForPath(r.URL.Path)
	if c == nil {
		c = t.Fallback
	}
	if c == nil {
		return t.Base.RoundTrip(r)
	}
	request := &Request{Method: r.Method, Path: r.URL.EscapedPath(), Header: r.Header.Clone()}
	if r.Body != nil && !c.isStreamed(request) {
		var err error
		if request.Body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		_ = r.Body.Close()
		r = r.Clone(r.Context()) // the caller's request stays unchanged
		r.Body = io.NopCloser(bytes.NewReader(request.Body))
	}
	response, err := t.Base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if response.Header.Get("Content-Type") == eventStreamType {
		t.check(c, request, &Answer{response.StatusCode, response.Header, nil})
		return response, nil
	}
	body, broken := io.ReadAll(response.Body)
	_ = response.Body.Close()
	response.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), endOfBody{broken}))
	if broken == nil {
		t.check(c, request, &Answer{response.StatusCode, response.Header, body})
	}
	return response, nil
}

func (t *Transport) check(c *Contract, request *Request, answer *Answer) {
	if err := c.CheckTraffic(request, answer); err != nil {
		t.Report(err)
	}
}

// eventStreamType is the media type of an endless answer.
const eventStreamType = "text/event-stream"

// isStreamed reports whether the request's body is a stream, not a JSON document.
func (c *Contract) isStreamed(request *Request) bool {
	op, _, _ := c.findOperation(request.Method, request.Path)
	content, _ := at(op.value, "requestBody", "content").(object)
	return len(content) == 1 && content["text/plain"] != nil
}

// endOfBody is a body that ends with the error of the original one.
type endOfBody struct{ err error }

func (e endOfBody) Read([]byte) (int, error) {
	if e.err != nil {
		return 0, e.err
	}
	return 0, io.EOF
}

// CloseIdleConnections closes the client's idle connections.
func (t *Transport) CloseIdleConnections() {
	if closer, ok := t.Base.(interface{ CloseIdleConnections() }); ok {
		closer.CloseIdleConnections()
	}
}

// ForPath returns the contract of a path, or nil if it belongs to neither.
func ForPath(path string) *Contract {
	for _, begins := range [...]string{"/api/", "/v1/", "/oauth/", "/openapi.", "/docs"} {
		if strings.HasPrefix(path, begins) {
			return Public()
		}
	}
	for _, begins := range [...]string{"/admin/", "/healthz", "/readyz", "/metrics", "/leader", "/debug/"} {
		if strings.HasPrefix(path, begins) {
			return Admin()
		}
	}
	return nil
}
