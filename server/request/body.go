package request

import (
	"errors"
	"io"
	"slices"

	"github.com/valyala/fasthttp"

	"pingpost/server/connection"
	"pingpost/server/httperror"
)

// ReadBody reads the request's body, appends it to buffer and returns the result. A body over
// maxBytes is an error. After an error the connection closes with the answer, because the
// beginning of the next request is unknown.
func ReadBody(ctx *fasthttp.RequestCtx, buffer []byte, maxBytes int) ([]byte, httperror.Error) {
	stream := ctx.RequestBodyStream()
	if stream == nil {
		return buffer, httperror.Error{}
	}
	length := ctx.Request.Header.ContentLength()
	if length > maxBytes {
		return buffer, drainPartOfTooLargeBody(ctx, stream)
	}
	fields := CountChunkedHeaderFields(&ctx.Request.Header)
	buffer = slices.Grow(buffer, max(length, minBuffer)+1)
	for {
		if len(buffer) == cap(buffer) {
			buffer = slices.Grow(buffer, cap(buffer))
		}
		n, err := stream.Read(buffer[len(buffer):cap(buffer)])
		buffer = buffer[:len(buffer)+n]
		ended := errors.Is(err, io.EOF) && (length < 0 || len(buffer) == length)
		if ended {
			err = checkBodyHasNoTrailer(ctx, fields)
		}
		switch {
		case len(buffer) > maxBytes:
			return buffer, drainPartOfTooLargeBody(ctx, stream)
		case ended && err == nil:
			return buffer, httperror.Error{}
		case err == nil:
		default:
			bad := ErrorOfFailedRead(err)
			connection.CloseAfterAnswerDrainUnlessTimeout(ctx, bad)
			return buffer, bad
		}
	}
}

// minBuffer is the smallest initial buffer for a body, in bytes. It suffices for an ordinary lead
// of unknown length.
const minBuffer = 1 << 10

// drainPartOfTooLargeBody reads and drops some of a body that is too large, so that the client
// finishes sending and reads the answer. The connection closes after the answer.
func drainPartOfTooLargeBody(ctx *fasthttp.RequestCtx, stream io.Reader) httperror.Error {
	_, _ = io.CopyN(io.Discard, stream, connection.MaxDrain)
	ctx.SetConnectionClose()
	return httperror.BodyTooLarge
}
