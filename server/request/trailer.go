package request

import (
	"errors"
	"io"

	"github.com/valyala/fasthttp"

	"pingpost/server/connection"
)

// CountChunkedHeaderFields returns the number of header fields of a chunked request, or 0 for others.
// Call it before reading the body: checkTrailer compares the number afterwards.
func CountChunkedHeaderFields(header *fasthttp.RequestHeader) int {
	if header.ContentLength() != chunkedLength {
		return 0
	}
	return header.Len()
}

// checkTrailer returns an error if a chunked body ended with trailer fields or with a bare line
// feed. The library merges trailer fields into the header, so there are then more header fields
// than before the body (fieldsBeforeBody).
func checkTrailer(ctx *fasthttp.RequestCtx, fieldsBeforeBody int) error {
	header := &ctx.Request.Header
	if header.ContentLength() != chunkedLength {
		return nil
	}
	if header.Len() != fieldsBeforeBody || connection.FromRequest(ctx).HasBareLineFeedAfterLastChunk() {
		return connection.ErrTrailer
	}
	return nil
}

// TrailerCheckedBody reads the body of a request for a streaming handler. At the end of the body it
// returns an error if the trailer is invalid.
type TrailerCheckedBody struct {
	Ctx    *fasthttp.RequestCtx
	Fields int // from CountChunkedHeaderFields
}

func (b TrailerCheckedBody) Read(p []byte) (int, error) {
	n, err := b.Ctx.RequestBodyStream().Read(p)
	if errors.Is(err, io.EOF) {
		if bad := checkTrailer(b.Ctx, b.Fields); bad != nil {
			err = bad
		}
	}
	return n, err
}
