package public

import (
	"bytes"

	"github.com/valyala/fasthttp"

	"pingpost/server/httperror"
	"pingpost/server/request"
)

// readBody reads the body into the scratch memory. After an error the connection closes
// with the answer, because the start of the next request is unknown. The handler reports a
// body over the limit, so that a client without a credential receives 401 and does not
// learn the limit.
func (s *Server) readBody(ctx *fasthttp.RequestCtx, r *scratch) (bad httperror.Error) {
	r.body, bad = request.ReadBody(ctx, r.body[:0], s.bodyLimit(&ctx.Request.Header))
	return bad
}

// bodyLimit returns the most bytes of a request's body. A batch may be larger than a lead,
// but only from a buyer who may report. A client without a credential is rejected anyway,
// and gets memory for a lead at most.
func (s *Server) bodyLimit(header *fasthttp.RequestHeader) int {
	if string(request.TargetPath(header)) == pathStatuses && s.hasReportToken(header) {
		return batchBodyLimit(s.opt.Body)
	}
	return s.opt.Body
}

// maxBatch is enough for a batch of reports with a reason each. Its log record fits into
// one log entry.
const maxBatch = 512 << 10

// batchBodyLimit returns the most bytes of a batch of reports, given the most bytes of a lead.
func batchBodyLimit(lead int) int { return max(lead, min(8*lead, maxBatch)) }

// checkSizeAndMediaType makes the checks of a body that precede its content: 413, 415.
func (s *Server) checkSizeAndMediaType(ctx *fasthttp.RequestCtx, readErr httperror.Error) httperror.Error {
	if readErr.Status != 0 {
		return readErr
	}
	if !request.IsJSON(ctx.Request.Header.ContentType()) || len(ctx.Request.Header.ContentEncoding()) > 0 {
		return httperror.MediaType
	}
	return httperror.Error{}
}

// readIdempotencyKey reads the header without quotes around the key. It returns false if the
// key is malformed.
func readIdempotencyKey(header *fasthttp.RequestHeader) (key []byte, ok bool) {
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
