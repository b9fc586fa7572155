package buyer

import (
	"sync"

	"github.com/valyala/fasthttp"
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
	a.address = append(append(append(a.address[:0], method...), ' '), a.path...)
	head := appendLine([]byte(" HTTP/1.1\r\n"), "User-Agent", "", "pingpost")
	head = appendLine(head, "Host", "", a.authority)
	if method != fasthttp.MethodGet {
		head = appendLine(head, "Content-Type", "", contentType)
	}
	head = appendLine(head, "Accept", "", accept)
	for i := range fixed {
		head = appendLine(head, fixed[i].name, "", fixed[i].value)
	}
	a.head = head
}

// appendLine appends a header line. What would end it early is blanked: nothing
// that is let in has such a character, and nothing that is may make two lines of
// one.
func appendLine(dst []byte, name, scheme, value string) []byte {
	dst = append(append(dst, name...), ": "...)
	from := len(dst)
	dst = append(append(dst, scheme...), value...)
	for i := from; i < len(dst); i++ {
		if dst[i] == '\r' || dst[i] == '\n' {
			dst[i] = ' '
		}
	}
	return append(dst, "\r\n"...)
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
