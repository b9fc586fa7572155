package public

import (
	"bytes"

	"github.com/valyala/fasthttp"

	"pingpost/engine"
	"pingpost/server/httperror"
	"pingpost/server/request"
)

// readBody reads the request's body into r.body. After an error the connection closes with the
// answer, because the beginning of the next request is unknown. For a body over the limit the
// request's handler sends the error. So a client without a credential gets 401 and does not learn the
// limit.
func (s *Server) readBody(ctx *fasthttp.RequestCtx, r *scratch) (bad httperror.Error) {
	r.body, bad = request.ReadBody(ctx, r.body[:0], s.maxBodyBytes(r.engine, &ctx.Request.Header))
	return bad
}

// maxBodyBytes returns how many bytes the request's body may have. A batch of reports may be
// larger than a lead, but only with a token of a buyer that may report. Others get no more
// memory than for a lead.
func (s *Server) maxBodyBytes(e *engine.Engine, header *fasthttp.RequestHeader) int {
	if string(request.TargetPath(header)) == pathStatuses && e != nil && s.hasReportToken(e, header) {
		return maxBatchBodyBytes(s.opt.Body)
	}
	return s.opt.Body
}

// maxBatch is the greatest size of a batch of reports in bytes. It suffices for the largest
// number of reports with a reason each, and the event fits into one log entry.
const maxBatch = 512 << 10

// maxBatchBodyBytes returns how many bytes a batch of reports may have if the limit for a lead is
// maxLeadBytes: eight times as many, but at most maxBatch. It is never less than maxLeadBytes.
func maxBatchBodyBytes(maxLeadBytes int) int { return max(maxLeadBytes, min(8*maxLeadBytes, maxBatch)) }

// checkSizeAndMediaType returns an error if the body was not read completely or is too large
// (readErr). It also returns one if the headers say that the body is compressed or not JSON (415).
func (s *Server) checkSizeAndMediaType(ctx *fasthttp.RequestCtx, readErr httperror.Error) httperror.Error {
	if readErr.Status != 0 {
		return readErr
	}
	if !request.IsJSON(ctx.Request.Header.ContentType()) || len(ctx.Request.Header.ContentEncoding()) > 0 {
		return httperror.MediaType
	}
	return httperror.Error{}
}

// readIdempotencyKey returns the value of the header Idempotency-Key without surrounding
// quotes, or nil without the header. ok is false if the key is malformed.
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
