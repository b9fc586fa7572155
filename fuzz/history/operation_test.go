//go:build unix

package history

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"sync"
	"time"
)

// kind is the kind of an operation.
type kind string

const (
	ingest     kind = "ingest"
	returnLead kind = "return"
	topUp      kind = "top-up"
	ping       kind = "ping"
	post       kind = "post"
	lookup     kind = "lookup"
	readBudget kind = "read"
)

// request is the input of an operation. Each model reads the fields that concern it.
type request struct {
	kind    kind
	key     string // Idempotency-Key
	variant int    // of the body: two variants of a key have different bodies
	person  string
	budget  *budget
	lead    string
	auction string
	amount  int64 // of a top-up
	bit     uint64

	path, token string
	body        []byte
}

// answer is the output of an operation.
type answer struct {
	isKnown   bool // false: no clear result
	status    int
	replayed  bool
	requestID string
	text      string
	answerBody
	left int64 // of a budget that was read
}

// answerBody has the members of all answers that the models read.
type answerBody struct {
	Error  string `json:"error"`
	LeadID string `json:"id"` // of a post
	Bid    *struct {
		Token string `json:"bid_token"`
	} `json:"bid"`
	Data struct {
		ID     string `json:"id"`
		Status string `json:"status"`
		Buyer  string `json:"buyer_id"`
		Reason string `json:"reason"`
	} `json:"data"`
}

// newAnswer returns the output of an answered request. An answer 5xx or 429 is not clear.
func newAnswer(status int, header http.Header, text []byte) answer {
	a := answer{status: status, replayed: header.Get("Idempotent-Replayed") == "true", requestID: header.Get("X-Request-Id"), text: string(text)}
	err := json.Unmarshal(text, &a.answerBody)
	a.isKnown = err == nil && status < http.StatusInternalServerError && status != http.StatusTooManyRequests
	return a
}

func (a *answer) isAccepted() bool {
	return a.status == http.StatusCreated && a.Data.Status == "ACCEPTED"
}

// operation is a request with its answer, as a client saw them.
type operation struct {
	client int
	node   string
	request
	answer
	call, end int64 // nanoseconds since the begin of the history
}

// openEnd is the end of an operation without a clear result.
const openEnd = math.MaxInt64

func (o *operation) String() string {
	end, result := "open", "unknown"
	if o.isKnown {
		end = time.Duration(o.end).Round(10 * time.Microsecond).String()
		result = fmt.Sprintf("%d %s", o.status, o.text)
		if o.replayed {
			result += " (replayed)"
		}
	} else if o.status != 0 {
		result = fmt.Sprintf("unknown (%d %s)", o.status, o.Error)
	}
	return fmt.Sprintf("client %2d, node %s, %v to %s: %s -> %s", o.client, o.node, time.Duration(o.call).Round(10*time.Microsecond), end, o.describe(), result)
}

func (r *request) describe() string {
	text := string(r.kind) + " " + r.key
	if r.variant != 0 {
		text += fmt.Sprintf(" (body %d)", r.variant)
	}
	if r.lead != "" {
		text += " of " + r.lead
	}
	if r.amount != 0 {
		text += fmt.Sprintf(" of %d", r.amount)
	}
	return text
}

// recorder collects the operations of one history.
type recorder struct {
	began time.Time
	mu    sync.Mutex
	all   []operation
}

func (r *recorder) now() int64 { return int64(time.Since(r.began)) }

func (r *recorder) add(o *operation) {
	if !o.isKnown {
		o.end = openEnd
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, *o)
}
