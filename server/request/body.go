package request

import (
	"errors"
	"io"
	"slices"

	"github.com/valyala/fasthttp"

	"pingpost/server/connection"
	"pingpost/server/httperror"
)

// ReadBody appends the body to memory. After an error it closes the connection, because the
// start of the next request is unknown.
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
			connection.CloseUnread(ctx, bad)
			return memory, bad
		}
	}
}

// minBuffer is enough for an ordinary lead.
const minBuffer = 1 << 10

// drainTooLargeBody reads a limited part of the rest, so that the client can read the answer,
// and closes the connection after it.
func drainTooLargeBody(ctx *fasthttp.RequestCtx, stream io.Reader) httperror.Error {
	_, _ = io.CopyN(io.Discard, stream, connection.MaxDrain)
	ctx.SetConnectionClose()
	return httperror.BodyTooLarge
}
