package server

import (
	"bytes"
	"errors"
	"net"

	"github.com/valyala/fasthttp"
)

// judgeHead tells whether the head can be read in two ways: a length given
// beside chunks, a coding that is no coding, a line that goes on in the next, a
// name with a space in it. Proxies disagree about these, and a second request
// could hide between two readings. (The library refuses the rest: two lengths,
// or lengths that are no numbers.)
//
// With it goes the rest that a head is refused for: a header line twice that may
// stand there once, and a version of HTTP that is not spoken here.
func judgeHead(header *fasthttp.RequestHeader) fault {
	if version := header.Protocol(); !bytes.Equal(version, http11) && !bytes.Equal(version, http10) {
		return faultVersion
	}
	var length, coding bool
	var given [len(singles)]bool
	raw := header.RawHeaders()
	for len(raw) > 0 {
		line := raw
		if end := bytes.IndexByte(raw, '\n'); end >= 0 {
			line, raw = raw[:end], raw[end+1:]
		} else {
			raw = nil
		}
		name := line[:max(0, bytes.IndexByte(line, ':'))]
		if len(name) == 0 {
			if len(bytes.TrimSpace(line)) > 0 {
				return faultFraming
			}
			continue
		}
		switch {
		case bytes.IndexByte(name, ' ') >= 0, bytes.IndexByte(name, '\t') >= 0:
			return faultFraming
		case len(name) == len(contentLength) && bytes.EqualFold(name, contentLength):
			length = true
		case len(name) == len(transferEncoding) && bytes.EqualFold(name, transferEncoding):
			coding = true
		}
		for i, single := range singles {
			if len(name) != len(single) || !bytes.EqualFold(name, single) {
				continue
			}
			if given[i] {
				return faultRepeated
			}
			given[i] = true
		}
	}
	if coding && (length || header.ContentLength() != chunks) {
		return faultFraming
	}
	return fault{}
}

var (
	transferEncoding = []byte("transfer-encoding")
	contentLength    = []byte("content-length")
	http10           = []byte("HTTP/1.0")
	http11           = []byte("HTTP/1.1")

	// singles are header lines of which the first and the last must not be two.
	singles = [...][]byte{[]byte("x-api-key"), []byte("idempotency-key"), []byte("authorization")}
)

// chunks is how the library notes a body in chunks in place of its length.
const chunks = -1

// unread is what is told of a request that could not be read to its end.
func unread(err error) fault {
	var small *fasthttp.ErrSmallBuffer
	var network net.Error
	switch {
	case errors.As(err, &small):
		return faultHeader
	case errors.As(err, &network) && network.Timeout():
		return faultSlow
	}
	return faultFraming
}
