package server

import (
	"bytes"
	"errors"
	"net"

	"github.com/valyala/fasthttp"
)

// misframed tells whether the head can be read in two ways: a length given
// beside chunks, a coding that is no coding, a line that goes on in the next, a
// name with a space in it. Proxies disagree about these, and a second request
// could hide between two readings. (The library refuses the rest: two lengths,
// or lengths that are no numbers.)
func misframed(header *fasthttp.RequestHeader) bool {
	var length, coding bool
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
				return true
			}
			continue
		}
		switch {
		case bytes.IndexByte(name, ' ') >= 0, bytes.IndexByte(name, '\t') >= 0:
			return true
		case len(name) == len(contentLength) && bytes.EqualFold(name, contentLength):
			length = true
		case len(name) == len(transferEncoding) && bytes.EqualFold(name, transferEncoding):
			coding = true
		}
	}
	return coding && (length || header.ContentLength() != chunks)
}

var (
	transferEncoding = []byte("transfer-encoding")
	contentLength    = []byte("content-length")
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
