package request

import (
	"errors"
	"io"

	"github.com/valyala/fasthttp"

	"pingpost/server/connection"
)

// CountChunkedHeaderFields returns the number of header fields of a chunked request, or 0 for others.
// Call it before reading the body: checkBodyHasNoTrailer compares the number afterwards.
func CountChunkedHeaderFields(header *fasthttp.RequestHeader) int {
	if header.ContentLength() != chunkedLength {
		return 0
	}
	return header.Len()
}

// checkBodyHasNoTrailer returns an error if a chunked body ended with trailer fields or with a bare line
// feed. The library merges trailer fields into the header, so there are then more header fields
// than before the body (headerFieldsBeforeBody).
func checkBodyHasNoTrailer(ctx *fasthttp.RequestCtx, headerFieldsBeforeBody int) error {
	header := &ctx.Request.Header
	if header.ContentLength() != chunkedLength {
		return nil
	}
	if header.Len() != headerFieldsBeforeBody || connection.FromRequest(ctx).MayHaveBareLineFeedAfterLastChunk() {
		return connection.ErrTrailer
	}
	return nil
}

// TrailerRejectingReader reads the body of a request for a streaming handler. At the end of the body it
// returns an error if there are trailer fields or a bare line feed.
type TrailerRejectingReader struct {
	Ctx    *fasthttp.RequestCtx
	Fields int // from CountChunkedHeaderFields
}

func (b TrailerRejectingReader) Read(p []byte) (int, error) {
	n, err := b.Ctx.RequestBodyStream().Read(p)
	if errors.Is(err, io.EOF) {
		if bad := checkBodyHasNoTrailer(b.Ctx, b.Fields); bad != nil {
			err = bad
		}
	}
	return n, err
}
