package server

import (
	"sync"

	"github.com/valyala/fasthttp"

	"pingpost/engine"
	"pingpost/server/strictjson"
)

// room is what one request needs of memory until it is decided, kept from call
// to call. The body is read into it: the library reads it from the connection
// where it is read to, and so it is read once.
type room struct {
	credential []byte // the API key that came
	key        []byte // the idempotency key
	badKey     bool   // what came for one is none
	hops       int    // through how many exchanges a ping has come
	subject    []byte // what stands in the path where a lead's id should; the library's
	test       bool   // it says that it is a test
	badTest    bool   // what it says of that is neither yes nor no
	body       []byte
	out        []byte

	object strictjson.Object
	lead   postLead
	ingest engine.IngestRequest
	ping   engine.PingRequest
	post   engine.PostRequest
	status engine.StatusRequest
	lap    lap
}

var rooms = sync.Pool{New: func() any { return new(room) }}

func takeRoom() *room { return rooms.Get().(*room) }

// keptBody is how large a body's memory may be to be kept.
const keptBody = 256 << 10

func (r *room) giveBack() {
	r.object.Release()
	r.subject, r.status = nil, engine.StatusRequest{}
	r.lead.release()
	if cap(r.body) > keptBody {
		r.body = nil
	}
	rooms.Put(r)
}

// readHead takes from the head what the request is judged by. That is done
// before its body is read: behind a body in chunks more header lines may come,
// and the library lays them over those of the head.
func (r *room) readHead(header *fasthttp.RequestHeader) {
	credential := header.Peek("x-api-key")
	r.credential = append(r.credential[:0], credential[:min(len(credential), maxKey+1)]...)
	key, ok := idempotencyKey(header)
	r.key, r.badKey = append(r.key[:0], key...), !ok
	r.hops = hopsOf(header)
	r.test, r.badTest = testOf(header)
}
