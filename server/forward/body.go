package forward

import (
	"errors"
	"io"
	"sync"

	"github.com/valyala/fasthttp"

	"pingpost/server/connection"
	"pingpost/server/request"
)

// maxKeptBody limits the size of kept bodies for all kinds.
const maxKeptBody = 256 << 10

// keptBody is the body of a request in memory, so that it can be sent again. As the request's stream it
// returns the same bytes, and the same error, as the client's connection did.
type keptBody struct {
	bytes []byte
	at    int
	err   error // of the client's connection after the bytes; io.EOF: the body is complete
}

var keptBodies = sync.Pool{New: func() any { return new(keptBody) }}

// keepBody reads the request's body into memory and puts it in the place of the connection. It returns
// nil, and reads nothing, for a chunked or larger body and for a request without one.
func keepBody(ctx *fasthttp.RequestCtx, maxKept int) *keptBody {
	stream, length := ctx.RequestBodyStream(), ctx.Request.Header.ContentLength()
	if stream == nil || length <= 0 || length > maxKept {
		return nil
	}
	b := keptBodies.Get().(*keptBody)
	b.bytes, b.at, b.err = b.bytes[:0], 0, nil
	if cap(b.bytes) < length {
		b.bytes = make([]byte, 0, length)
	}
	for b.err == nil {
		var n int
		n, b.err = stream.Read(b.bytes[len(b.bytes):length])
		if b.bytes = b.bytes[:len(b.bytes)+n]; len(b.bytes) == length {
			b.err = io.EOF
		}
	}
	ctx.Request.SetBodyStream(b, length)
	return b
}

// isComplete reports whether the whole body arrived. There is no body without b.
func (b *keptBody) isComplete(length int) bool {
	return b == nil || errors.Is(b.err, io.EOF) && len(b.bytes) == length
}

func (b *keptBody) Read(p []byte) (n int, err error) {
	n = copy(p, b.bytes[b.at:])
	if b.at += n; b.at == len(b.bytes) {
		err = b.err
	}
	return n, err
}

func (b *keptBody) rewind() {
	if b != nil {
		b.at = 0
	}
}

// release returns the memory to the pool. The request must not read it afterwards.
func (b *keptBody) release() {
	if b != nil {
		clear(b.bytes)
		keptBodies.Put(b)
	}
}

// bodyLength returns the length of the request's body. -1 means that it is chunked.
func bodyLength(ctx *fasthttp.RequestCtx) int {
	if ctx.RequestBodyStream() == nil {
		return 0
	}
	return ctx.Request.Header.ContentLength()
}

// clientBody reads a body that is passed on while it arrives. It rejects trailers, and bodies that break
// off. For a chunked one, the library reports a broken connection like the end of the body.
type clientBody struct {
	from request.TrailerRejectingReader
	left int // bytes that are missing; negative: chunked
}

func newClientBody(ctx *fasthttp.RequestCtx, length int) *clientBody {
	return &clientBody{request.TrailerRejectingReader{Ctx: ctx, Fields: request.CountChunkedHeaderFields(&ctx.Request.Header)}, length}
}

func (b *clientBody) Read(p []byte) (n int, err error) {
	n, err = b.from.Read(p)
	if b.left > 0 {
		b.left -= n
	}
	switch broken := b.left > 0 || b.left < 0 && connection.FromRequest(b.from.Ctx).HasReadFailed(); {
	case b.left == 0:
		err = io.EOF
	case errors.Is(err, io.EOF) && broken:
		err = io.ErrUnexpectedEOF
	}
	return n, err
}
