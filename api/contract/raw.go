package contract

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strings"
)

// ReadRequest reads one request from the bytes written to a connection, and removes it from them. If
// net/http cannot read one, for example because a test sends malformed bytes, ok is false and
// ReadRequest removes all bytes.
func ReadRequest(written *bytes.Buffer) (request *Request, ok bool) {
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
