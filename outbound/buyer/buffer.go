package buyer

import (
	"sync"

	"github.com/valyala/fasthttp"

	"pingpost/outbound/dial"
)

// encodeConstantHead encodes once the parts that are equal in all requests of the buyer endpoint:
// the request line, without a GET's query, and the constant headers. Host and path are sent exactly
// as configured.
func (a *buyerEndpoint) encodeConstantHead() {
	method, accept, contentType := fasthttp.MethodPost, "application/json", "application/json"
	var fixed []fixedHeader
	if d := a.protocol; d != nil {
		method, accept, contentType, fixed = d.method, d.accept, d.contentType, d.headers
	}
	a.requestLine = append(append(append(a.requestLine[:0], method...), ' '), a.Path...)
	head := dial.AppendHeader([]byte(" HTTP/1.1\r\n"), "User-Agent", "", "pingpost")
	head = dial.AppendHeader(head, "Host", "", a.Authority)
	if method != fasthttp.MethodGet {
		head = dial.AppendHeader(head, "Content-Type", "", contentType)
	}
	head = dial.AppendHeader(head, "Accept", "", accept)
	for i := range fixed {
		head = dial.AppendHeader(head, fixed[i].name, "", fixed[i].value)
	}
	a.fixedHeaders = head
}

// requestBuffer is the memory in which a request is encoded. A pool reuses it.
type requestBuffer struct{ text []byte }

var requestBuffers = sync.Pool{New: func() any { return new(requestBuffer) }}

// maxKeptBuffer is the size in bytes above which a requestBuffer does not go back to its pool.
const maxKeptBuffer = 64 << 10

func (l *requestBuffer) releaseToPool() {
	if cap(l.text) > maxKeptBuffer {
		l.text = nil
	}
	requestBuffers.Put(l)
}
