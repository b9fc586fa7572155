package request

import (
	"errors"
	"io"

	"github.com/valyala/fasthttp"

	"pingpost/server/connection"
)

// CountHeaderFields counts the header fields of a chunked request. Call it before reading
// the body.
func CountHeaderFields(header *fasthttp.RequestHeader) int {
	if header.ContentLength() != chunkedLength {
		return 0
	}
	return header.Len()
}

// checkTrailer rejects the trailer of a chunked body that was read to its end: trailer
// fields, which the library adds to the header fields, and a bare line feed.
func checkTrailer(ctx *fasthttp.RequestCtx, fields int) error {
	header := &ctx.Request.Header
	if header.ContentLength() != chunkedLength {
		return nil
	}
	if header.Len() != fields || connection.FromRequest(ctx).HasBareTrailer() {
		return connection.ErrTrailer
	}
	return nil
}

// CheckedBody reads the body of a request. It ends with an error if the trailer is
// rejected.
type CheckedBody struct {
	Ctx    *fasthttp.RequestCtx
	Fields int // from CountHeaderFields
}

func (b CheckedBody) Read(p []byte) (int, error) {
	n, err := b.Ctx.RequestBodyStream().Read(p)
	if errors.Is(err, io.EOF) {
		if bad := checkTrailer(b.Ctx, b.Fields); bad != nil {
			err = bad
		}
	}
	return n, err
}
