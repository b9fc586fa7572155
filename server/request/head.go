package request

import (
	"bytes"
	"errors"
	"net"

	"github.com/valyala/fasthttp"

	"pingpost/server/connection"
	"pingpost/server/httperror"
)

// checkTargetVersionAndHeaders rejects a head that can be read in two ways: a length beside chunks, an unknown
// transfer coding, a folded line, a header name with a space. Proxies disagree about these,
// and a second request could hide between two readings. (The library rejects the others:
// two lengths, or lengths that are not numbers.)
//
// It also rejects a repeated header that must be single, an unsupported HTTP version, an
// invalid request target, and a line that ends in a bare line feed.
func checkTargetVersionAndHeaders(header *fasthttp.RequestHeader) httperror.Error {
	if bad := checkTarget(header.RequestURI()); bad.Status != 0 {
		return bad
	}
	if version := header.Protocol(); !bytes.Equal(version, http11) && !bytes.Equal(version, http10) {
		return httperror.Version
	}
	var length, coding bool
	var given [len(singleHeaders)]bool
	raw := header.RawHeaders()
	for len(raw) > 0 {
		line := raw
		if end := bytes.IndexByte(raw, '\n'); end >= 0 {
			if end == 0 || raw[end-1] != '\r' {
				return httperror.BareLineFeed
			}
			line, raw = raw[:end], raw[end+1:]
		} else {
			raw = nil
		}
		name := line[:max(0, bytes.IndexByte(line, ':'))]
		if len(name) == 0 {
			if len(bytes.TrimSpace(line)) > 0 {
				return httperror.Framing
			}
			continue
		}
		switch {
		case bytes.IndexByte(name, ' ') >= 0, bytes.IndexByte(name, '\t') >= 0:
			return httperror.Framing
		case len(name) == len(contentLength) && bytes.EqualFold(name, contentLength):
			length = true
		case len(name) == len(transferEncoding) && bytes.EqualFold(name, transferEncoding):
			coding = true
		}
		for i, single := range singleHeaders {
			if len(name) != len(single) || !bytes.EqualFold(name, single) {
				continue
			}
			if given[i] {
				return httperror.RepeatedHeader
			}
			given[i] = true
		}
	}
	if coding && (length || header.ContentLength() != chunkedLength) {
		return httperror.Framing
	}
	return httperror.Error{}
}

var (
	transferEncoding = []byte("transfer-encoding")
	contentLength    = []byte("content-length")
	http10           = []byte("HTTP/1.0")
	http11           = []byte("HTTP/1.1")

	// singleHeaders must not be repeated: readers disagree on whether the first or the last
	// one counts.
	singleHeaders = [...][]byte{[]byte("x-api-key"), []byte("idempotency-key"), []byte("authorization")}
)

// chunkedLength is the content length that the HTTP library reports for a chunked body.
const chunkedLength = -1

// ErrorOfFailedRead returns the API error for a request that could not be read to its end
// because of err.
func ErrorOfFailedRead(err error) httperror.Error {
	var small *fasthttp.ErrSmallBuffer
	var network net.Error
	switch {
	case errors.As(err, &small):
		return httperror.HeaderTooLarge
	case errors.As(err, &network) && network.Timeout():
		return httperror.RequestTimeout
	case errors.Is(err, connection.ErrBareLineFeed):
		return httperror.BareLineFeed
	case errors.Is(err, connection.ErrTrailer):
		return httperror.Trailer
	}
	return httperror.Framing
}

// CheckHead returns an error for an invalid target, an unsupported HTTP version, a repeated
// credential or key, and a request head that a proxy could read differently than this server. It also
// considers line ends that the HTTP library no longer has.
func CheckHead(ctx *fasthttp.RequestCtx) httperror.Error {
	if connection.FromRequest(ctx).MayHaveBareLineFeed(&ctx.Request.Header) {
		return httperror.BareLineFeed
	}
	return checkTargetVersionAndHeaders(&ctx.Request.Header)
}
