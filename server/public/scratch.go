package public

import (
	"sync"

	"github.com/valyala/fasthttp"

	"pingpost/engine"
	"pingpost/internal/strictjson"
	"pingpost/server/metrics"
)

// scratch is the pooled memory of a request until it is answered; for an ingest, until the engine
// has decided it. The body is read directly into it, so that it is copied only once.
type scratch struct {
	engine     *engine.Engine // decides about the request; nil: this node does not decide now
	credential []byte         // the API key of the request
	key        []byte         // the idempotency key
	badKey     bool           // the Idempotency-Key header is malformed
	hops       int            // exchanges that a ping has passed
	pathParam  []byte         // the path's lead id or instructions token, not yet checked, or a document's path; memory of the library
	test       bool           // the request is marked as a test
	badTest    bool           // the test header is malformed
	body       []byte         // of the request
	out        []byte         // body of the answer

	object  strictjson.Object
	lead    parsedPostLead
	ingest  engine.IngestRequest
	ping    engine.SupplierPingRequest
	post    engine.SupplierPostRequest
	status  engine.StatusReportRequest
	timings metrics.RequestTimings
}

var scratchPool = sync.Pool{New: func() any { return new(scratch) }}

func takeScratchFromPool() *scratch { return scratchPool.Get().(*scratch) }

// maxPooledBody is the size in bytes above which the memory of a body does not go back to the
// pool.
const maxPooledBody = 256 << 10

// releaseToPool empties r, but keeps its memory, and returns it to the pool. The caller must not use
// r afterwards.
func (r *scratch) releaseToPool() {
	r.object.ClearForReuse()
	r.engine, r.pathParam, r.status = nil, nil, engine.StatusReportRequest{}
	r.lead.clearForReuse()
	if cap(r.body) > maxPooledBody {
		r.body = nil
	}
	scratchPool.Put(r)
}

// copyHeadersBeforeReadingBody copies the credential, the idempotency key and other headers before the
// body is read. The trailer of a chunked body could change them later, because the library
// merges its fields into the headers.
func (r *scratch) copyHeadersBeforeReadingBody(header *fasthttp.RequestHeader) {
	credential := header.Peek("x-api-key")
	r.credential = append(r.credential[:0], credential[:min(len(credential), maxKey+1)]...)
	key, ok := readIdempotencyKey(header)
	r.key, r.badKey = append(r.key[:0], key...), !ok
	r.hops = parseHopCountOrOverLimit(header)
	r.test, r.badTest = parseTestHeader(header)
}
