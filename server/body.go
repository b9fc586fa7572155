package server

import (
	"bytes"
	"errors"
	"io"
	"slices"

	"github.com/valyala/fasthttp"
)

// drained is how much of a body over the limit is read and thrown away, so that
// its sender is done sending and hears the refusal. What is longer is cut off.
const drained = 1 << 20

// readBody reads the body into r. Where something is wrong with it the
// connection ends after the answer: nobody knows where a next request would
// begin. A body over the limit is a fault that the route is told of, so that a
// stranger is told 401 and not how much is allowed.
func (s *Server) readBody(ctx *fasthttp.RequestCtx, r *room) (bad fault) {
	r.body, bad = readBody(ctx, r.body[:0], s.bodyLimit(&ctx.Request.Header))
	return bad
}

// bodyLimit is how large the body of a request may be. A batch may be larger than a
// lead, but only from those who may report: what a stranger sends is refused all the
// same, and until then has memory for a lead at most.
func (s *Server) bodyLimit(header *fasthttp.RequestHeader) int {
	if string(exactPath(header)) == pathStatuses && s.mayReport(header) {
		return batchLimit(s.opt.Body)
	}
	return s.opt.Body
}

// mostBatch is a batch of reports with room for words in each; the fact of one that
// large fits an entry of the log.
const mostBatch = 512 << 10

// batchLimit is how large a batch of reports may be where a lead may have so many
// bytes.
func batchLimit(lead int) int { return max(lead, min(8*lead, mostBatch)) }

// readBody appends the body to memory.
func readBody(ctx *fasthttp.RequestCtx, memory []byte, limit int) ([]byte, fault) {
	stream := ctx.RequestBodyStream()
	if stream == nil {
		return memory, fault{}
	}
	length := ctx.Request.Header.ContentLength()
	if length > limit {
		return memory, tooLarge(ctx, stream)
	}
	memory = slices.Grow(memory, max(length, leastBody)+1)
	for {
		if len(memory) == cap(memory) {
			memory = slices.Grow(memory, cap(memory))
		}
		n, err := stream.Read(memory[len(memory):cap(memory)])
		memory = memory[:len(memory)+n]
		switch {
		case len(memory) > limit:
			return memory, tooLarge(ctx, stream)
		case err == nil:
		case errors.Is(err, io.EOF) && (length < 0 || len(memory) == length):
			return memory, fault{}
		default:
			ctx.SetConnectionClose()
			return memory, unread(err)
		}
	}
}

// leastBody is room for an ordinary lead.
const leastBody = 1 << 10

func tooLarge(ctx *fasthttp.RequestCtx, stream io.Reader) fault {
	_, _ = io.CopyN(io.Discard, stream, drained)
	ctx.SetConnectionClose()
	return faultTooLarge
}

// checkBody makes the checks of a body that come before its text: 413, 415.
func (s *Server) checkBody(ctx *fasthttp.RequestCtx, read fault) fault {
	if read.status != 0 {
		return read
	}
	if !isJSON(ctx.Request.Header.ContentType()) || len(ctx.Request.Header.ContentEncoding()) > 0 {
		return faultMediaType
	}
	return fault{}
}

// isJSON takes application/json with or without parameters, such as a charset.
func isJSON(contentType []byte) bool { return isOfType(contentType, typeJSON) }

func isOfType(contentType []byte, want string) bool {
	kind, _, _ := bytes.Cut(contentType, []byte{';'})
	return bytes.EqualFold(bytes.TrimSpace(kind), []byte(want))
}

// idempotencyKey reads the header; quotes around a key are not part of it. Not
// ok: it is there and is no key.
func idempotencyKey(header *fasthttp.RequestHeader) (key []byte, ok bool) {
	key = bytes.TrimSpace(header.Peek("Idempotency-Key"))
	if len(key) == 0 {
		return nil, true
	}
	if len(key) >= 2 && key[0] == '"' && key[len(key)-1] == '"' {
		key = key[1 : len(key)-1]
	}
	if len(key) == 0 || len(key) > 255 {
		return nil, false
	}
	for _, c := range key {
		if c < '!' || c > '~' {
			return nil, false
		}
	}
	return key, true
}
