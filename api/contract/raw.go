package contract

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strings"
)

// Next reads one request off what was written to a connection. Not ok: there is none
// that net/http can read, as where a test means to send what is no request.
func Next(written *bytes.Buffer) (q *Request, ok bool) {
	whole := bufio.NewReader(bytes.NewReader(written.Bytes()))
	r, err := http.ReadRequest(whole)
	if err != nil {
		written.Reset()
		return nil, false
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		written.Reset()
		return nil, false
	}
	rest, _ := io.ReadAll(whole)
	written.Next(written.Len() - len(rest))
	path, _, _ := strings.Cut(r.RequestURI, "?")
	return &Request{Method: r.Method, Path: path, Header: r.Header, Body: body}, true
}
