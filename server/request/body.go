package request

import (
	"errors"
	"io"
	"slices"

	"github.com/valyala/fasthttp"

	"pingpost/server/connection"
	"pingpost/server/httperror"
)

// ReadBody reads the request's body, appends it to memory and returns the result. A body over
// limit bytes is an error. After an error the connection closes with the answer, because the
// beginning of the next request is unknown.
func ReadBody(ctx *fasthttp.RequestCtx, memory []byte, limit int) ([]byte, httperror.Error) {
	stream := ctx.RequestBodyStream()
	if stream == nil {
		return memory, httperror.Error{}
	}
	length := ctx.Request.Header.ContentLength()
	if length > limit {
		return memory, drainTooLargeBody(ctx, stream)
	}
	fields := CountHeaderFields(&ctx.Request.Header)
	memory = slices.Grow(memory, max(length, minBuffer)+1)
	for {
		if len(memory) == cap(memory) {
			memory = slices.Grow(memory, cap(memory))
		}
		n, err := stream.Read(memory[len(memory):cap(memory)])
		memory = memory[:len(memory)+n]
		ended := errors.Is(err, io.EOF) && (length < 0 || len(memory) == length)
		if ended {
			err = checkTrailer(ctx, fields)
		}
		switch {
		case len(memory) > limit:
			return memory, drainTooLargeBody(ctx, stream)
		case ended && err == nil:
			return memory, httperror.Error{}
		case err == nil:
		default:
			bad := ErrorOfFailedRead(err)
			connection.CloseAfterAnswer(ctx, bad)
			return memory, bad
		}
	}
}

// minBuffer is the initial buffer for a body of unknown length, in bytes. It suffices for an
// ordinary lead.
const minBuffer = 1 << 10

// drainTooLargeBody reads and drops some of a body that is too large, so that the client
// finishes sending and reads the answer. The connection closes after the answer.
func drainTooLargeBody(ctx *fasthttp.RequestCtx, stream io.Reader) httperror.Error {
	_, _ = io.CopyN(io.Discard, stream, connection.MaxDrain)
	ctx.SetConnectionClose()
	return httperror.BodyTooLarge
}
