package buyer

import (
	"sync"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine/market"
	"pingpost/internal/strictjson"
	"pingpost/outbound/dial"
)

const (
	maxLeadID = 128 // bytes of a buyer's id of a lead
	maxCode   = 64  // bytes of an error code

	statusTooEarly = 425 // RFC 8470
)

// answerPool holds what answers are parsed into. Whoever took one has it alone, and releases it
// before the response that it points into.
var answerPool = sync.Pool{New: func() any { return new(answer) }}

// answer is the body of a buyer's answer. Names are taken exactly; and, where it
// is to a post, values of whatever kind they come in: a buyer that adds to the
// contract, or gives an id as a number, is still understood. A bid is held to
// the contract.
type answer struct {
	whole strictjson.Object
	data  strictjson.Object
}

func (a *answer) release() {
	a.whole.Release()
	a.data.Release()
	answerPool.Put(a)
}

// judge says what one trip came to. The status alone decides, except for 200
// and 201: only a whole JSON object in them is an acceptance, since only that
// was made by a program that speaks the contract and not by something in front
// of it.
//
// In a dialect any 2xx is read, by the dialect's own rules.
func (c *Client) judge(a *account, t dial.Result, response *fasthttp.Response) market.PostResult {
	r := market.PostResult{Status: t.Status, Fault: t.Fault}
	if t.Status == 0 {
		r.Verdict = market.VerdictUnknown
		if !t.Sent {
			r.Verdict = market.VerdictNotSent
		}
		return r
	}
	if a != nil && a.dialect != nil {
		return c.judgeDialect(&a.dialect.reading, r, response)
	}
	body, _ := answerPool.Get().(*answer)
	defer body.release()
	readable := t.Fault == market.FaultNone && body.whole.Parse(response.Body()) == nil
	if t.Status == fasthttp.StatusOK || t.Status == fasthttp.StatusCreated {
		return judgeTaken(r, body, readable)
	}
	_, r.Code = body.refusal()
	return c.judgeStatus(r, response)
}

// judgeDialect is judge for an endpoint that does not speak the contract.
func (c *Client) judgeDialect(rules *reading, r market.PostResult, response *fasthttp.Response) market.PostResult {
	whole := r.Fault == market.FaultNone
	if r.Status >= 200 && r.Status <= 299 {
		return rules.judgeTaken(r, response.Body(), whole)
	}
	if whole {
		r.Code = rules.codeOf(response.Body())
	}
	return c.judgeStatus(r, response)
}

// judgeStatus judges an answer by its status, where that is not one that its
// body decides.
func (c *Client) judgeStatus(r market.PostResult, response *fasthttp.Response) market.PostResult {
	switch status := r.Status; {
	case status == fasthttp.StatusTooManyRequests:
		r.Verdict, r.RetryAfter = market.VerdictBusy, retryAfter(response.Header.Peek("Retry-After"), c.options.Now())
	case status >= 300 && status <= 499 && status != fasthttp.StatusRequestTimeout:
		r.Verdict = market.VerdictRefused
		// A code that did not arrive may be the one that settles nothing.
		r.Final = finalStatus(status) && r.Fault == market.FaultNone && r.Code != reusedKey
	default:
		r.Verdict = market.VerdictUnknown
	}
	return r
}

// judgeTaken reads a 200 or 201.
func judgeTaken(r market.PostResult, body *answer, readable bool) market.PostResult {
	if !readable {
		r.Verdict = market.VerdictUnknown
		if r.Fault == market.FaultNone {
			r.Fault = market.FaultUnreadable
		}
		return r
	}
	if refused, code := body.refusal(); refused {
		r.Verdict, r.Code, r.Final = market.VerdictRefused, code, code != reusedKey
		return r
	}
	r.Verdict, r.BuyerLeadID = market.VerdictAccepted, body.leadID()
	return r
}

// reusedKey is a buyer's word that it has met the key with another body.
const reusedKey = errcode.IdempotencyKeyReused

// finalStatus tells whether a refusal by this status still counts where an
// earlier sending may have arrived. Those that do not speak of the credential,
// of the key, or of a lead that was taken before.
func finalStatus(status int) bool {
	switch status {
	case fasthttp.StatusUnauthorized, fasthttp.StatusForbidden, fasthttp.StatusConflict,
		fasthttp.StatusGone, statusTooEarly:
		return false
	}
	return status >= 400
}

// refusal tells whether the answer carries an error or a reason to reject, and
// its code where that is text. Members that are null, false or "" are there for
// form's sake: many programs write them into every answer.
func (a *answer) refusal() (refused bool, code string) {
	for _, name := range [...]string{"error", "reject_reason"} {
		m, ok := a.whole.Lookup(name)
		if !ok || forForm(m) {
			continue
		}
		refused = true
		if code == "" {
			code = codeIn(scalar(m))
		}
	}
	return refused, code
}

func forForm(m market.Member) bool {
	switch m.Kind {
	case market.JSONNull:
		return true
	case market.JSONBoolean:
		return string(m.Text) == "false"
	case market.JSONString:
		return len(m.Text) == 0
	}
	return false
}

// leadID is the buyer's id of the lead: the first one that is usable.
func (a *answer) leadID() string {
	for _, name := range [...]string{"lead_id", "id", "buyer_lead_id"} {
		if id := usableID(&a.whole, name); id != "" {
			return id
		}
	}
	if m, ok := a.whole.Lookup("data"); ok && a.whole.Sub(m, &a.data) {
		return usableID(&a.data, "id")
	}
	return ""
}

func usableID(object *strictjson.Object, name string) string {
	m, _ := object.Lookup(name)
	if id := scalar(m); len(id) <= maxLeadID && isID(id) {
		return id
	}
	return ""
}

// scalar is the text of a string, or a number as it is written; else empty.
func scalar(m market.Member) string {
	if m.Kind != market.JSONString && m.Kind != market.JSONNumber {
		return ""
	}
	return string(m.Text)
}

// codeIn is the text where it is a code that a program made. What a person may
// have written, and may have written of a person, is dropped: codes are logged.
func codeIn(text string) string {
	if len(text) > maxCode || text == "" || text[0] < 'a' || text[0] > 'z' {
		return ""
	}
	for i := range len(text) {
		switch c := text[i]; {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '_', c == '.', c == '-':
		default:
			return ""
		}
	}
	return text
}

// isID tells whether the text may be an id and is no address: visible ASCII
// without an @.
func isID(text string) bool {
	for i := range len(text) {
		if c := text[i]; c <= ' ' || c > '~' || c == '@' {
			return false
		}
	}
	return true
}
