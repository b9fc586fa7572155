package buyer

import (
	"sync"

	"github.com/valyala/fasthttp"

	"pingpost/outbound/dial"
)

// writeHead makes ready what every request of the account begins with: the
// request line, up to the query that a GET carries its form in, and the headers
// that never change. Host and path go out as configured.
func (a *account) writeHead() {
	method, accept, contentType := fasthttp.MethodPost, "application/json", "application/json"
	var fixed []header
	if d := a.dialect; d != nil {
		method, accept, contentType, fixed = d.method, d.accept, d.contentType, d.headers
	}
	a.address = append(append(append(a.address[:0], method...), ' '), a.Path...)
	head := dial.AppendHeader([]byte(" HTTP/1.1\r\n"), "User-Agent", "", "pingpost")
	head = dial.AppendHeader(head, "Host", "", a.Authority)
	if method != fasthttp.MethodGet {
		head = dial.AppendHeader(head, "Content-Type", "", contentType)
	}
	head = dial.AppendHeader(head, "Accept", "", accept)
	for i := range fixed {
		head = dial.AppendHeader(head, fixed[i].name, "", fixed[i].value)
	}
	a.head = head
}

// letter is the memory that a request is composed in.
type letter struct{ text []byte }

var letters = sync.Pool{New: func() any { return new(letter) }}

// keptLetter is how large a letter may be to be kept.
const keptLetter = 64 << 10

func (l *letter) giveBack() {
	if cap(l.text) > keptLetter {
		l.text = nil
	}
	letters.Put(l)
}
