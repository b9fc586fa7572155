package buyer

import (
	"strings"
	"sync"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine/market"
	"pingpost/engine/market/format"
	"pingpost/internal/strictjson"
	"pingpost/outbound/dial"
)

const (
	maxLeadID = 128 // limit of a buyer's lead id, in bytes

	statusTooEarly = 425 // RFC 8470
)

// answerPool reuses the memory of parsed answers. A caller returns an answer to the pool before
// it releases the HTTP response, because the answer points into the response.
var answerPool = sync.Pool{New: func() any { return new(parsedJSONAnswer) }}

// parsedJSONAnswer is the parsed JSON body of an answer from a buyer or a token endpoint. Member names
// must match exactly. In an answer to a post, values may have other types than the contract requires. So a
// buyer with numeric ids is still understood. A bid must follow the contract.
type parsedJSONAnswer struct {
	body   strictjson.Object
	nested strictjson.Object
}

func (a *parsedJSONAnswer) releaseToPool() {
	a.body.ClearForReuse()
	a.nested.ClearForReuse()
	answerPool.Put(a)
}

// judgePost returns the verdict on an attempt to post a lead: accepted, refused, busy, unknown
// or not sent. The HTTP status alone decides, except for 200 and 201. These are an acceptance
// only with a complete JSON object as body, without an error or a reject reason. Such a body proves
// that the buyer's program answered, and not a proxy in front of it.
//
// If the buyer endpoint has an adapter protocol, the adapter protocol's rules decide for every 2xx status.
func (c *Client) judgePost(a *buyerEndpoint, sendResult dial.SendResult, response *fasthttp.Response) market.BuyerPostResult {
	r := market.BuyerPostResult{Status: sendResult.Status, Fault: sendResult.Fault}
	if sendResult.Status == 0 {
		r.Verdict = market.VerdictUnknown
		if !sendResult.Sent {
			r.Verdict = market.VerdictNotSent
		}
		return r
	}
	if a != nil && a.protocol != nil {
		return c.judgePostByAdapter(a.protocol, r, response)
	}
	parsed, _ := answerPool.Get().(*parsedJSONAnswer)
	defer parsed.releaseToPool()
	readable := sendResult.Fault == market.FaultNone && parsed.body.Parse(response.Body()) == nil
	if sendResult.Status == fasthttp.StatusOK || sendResult.Status == fasthttp.StatusCreated {
		return judgePostByBody(r, parsed, readable)
	}
	said := parsed.rejection()
	r.Code = said.code
	return c.judgePostByStatus(r, response, said.keyReused)
}

// judgePostByAdapter completes the result of a post to an endpoint that uses the adapter protocol d
// instead of the contract. The adapter protocol's rules decide about a 2xx; other statuses decide by
// themselves.
func (c *Client) judgePostByAdapter(d *validatedAdapter, result market.BuyerPostResult, response *fasthttp.Response) market.BuyerPostResult {
	whole := result.Fault == market.FaultNone
	if result.Status >= 200 && result.Status <= 299 {
		return d.judgePostFrom2xxBody(result, response.Body(), whole)
	}
	if whole {
		result.Code = d.readRejectionCode(response.Body())
	}
	return c.judgePostByStatus(result, response, result.Code == codeReusedKey)
}

// judgePostByStatus sets the verdict by the HTTP status alone, for statuses that mean the same
// with every body. keyReused says that the body has the code codeReusedKey.
func (c *Client) judgePostByStatus(result market.BuyerPostResult, response *fasthttp.Response, keyReused bool) market.BuyerPostResult {
	switch status := result.Status; {
	case status == fasthttp.StatusTooManyRequests:
		result.Verdict, result.RetryAfter = market.VerdictBusy, parseRetryAfterOrOneSecond(response.Header.Peek("Retry-After"), c.options.Now())
	case status >= 300 && status <= 499 && status != fasthttp.StatusRequestTimeout:
		result.Verdict = market.VerdictRefused
		// A missing code could be codeReusedKey, after which the refusal is not final.
		result.Final = isFinalRefusalStatus(status) && result.Fault == market.FaultNone && !keyReused
	default:
		result.Verdict = market.VerdictUnknown
	}
	return result
}

// judgePostByBody sets the verdict on a post that was answered with 200 or 201. readable is false
// if the body is incomplete or no JSON object; it is then unknown whether the buyer has the
// lead.
func judgePostByBody(result market.BuyerPostResult, parsed *parsedJSONAnswer, readable bool) market.BuyerPostResult {
	if !readable {
		result.Verdict = market.VerdictUnknown
		if result.Fault == market.FaultNone {
			result.Fault = market.FaultUnreadable
		}
		return result
	}
	if said := parsed.rejection(); said.present {
		result.Verdict, result.Code, result.Final = market.VerdictRefused, said.code, !said.keyReused
		return result
	}
	result.Verdict, result.BuyerLeadID, result.Code = market.VerdictAccepted, parsed.buyerLeadID(), parsed.codeOfDoubtfulAcceptance()
	return result
}

// codeReusedKey is the error code by which a buyer says that it got another request with the
// same idempotency key before.
const codeReusedKey = errcode.IdempotencyKeyReused

// isFinalRefusalStatus reports whether a rejection with this HTTP status proves that the buyer does
// not have the lead, even after an earlier attempt. Redirects, and statuses about the credential,
// the idempotency key or an already accepted lead, prove no such thing.
func isFinalRefusalStatus(status int) bool {
	switch status {
	case fasthttp.StatusUnauthorized, fasthttp.StatusForbidden, fasthttp.StatusConflict,
		fasthttp.StatusGone, statusTooEarly:
		return false
	}
	return status >= 400
}

// answerRejection is the rejection in an answer's body.
type answerRejection struct {
	present   bool
	code      string // of reject_reason, else of error; "" if neither has the form of a code
	keyReused bool   // one of the members has the code codeReusedKey
}

// rejection returns the error or the reject reason of the answer. The code of reject_reason comes
// first, because error is often a general word such as "rejected". It ignores members that are null,
// false or "", because many programs write them into every answer.
func (a *parsedJSONAnswer) rejection() (found answerRejection) {
	for _, name := range [...]string{"reject_reason", "error"} {
		m, ok := a.body.Lookup(name)
		if !ok || isNullFalseOrEmptyText(m) {
			continue
		}
		code := errorCodeOrEmpty(stringOrNumberText(m))
		found.present, found.keyReused = true, found.keyReused || code == codeReusedKey
		if found.code == "" {
			found.code = code
		}
	}
	return found
}

func isNullFalseOrEmptyText(m market.JSONMember) bool {
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

// codeOfDoubtfulAcceptance returns a code if the body of an acceptance looks like a rejection: its
// status is a word such as "rejected", or accepted or success is false. Otherwise it returns "". The
// contract does not define these members, so they change no verdict. The code is for the explanation
// of the lead, and has no text of the buyer.
func (a *parsedJSONAnswer) codeOfDoubtfulAcceptance() (codeOrEmpty string) {
	if m, ok := a.body.Lookup("status"); ok && m.Kind == market.JSONString {
		for _, word := range wordsOfRejection {
			if strings.EqualFold(string(m.Text), word) {
				return "status_" + word
			}
		}
	}
	for _, name := range [...]string{"accepted", "success"} {
		if m, ok := a.body.Lookup(name); ok && m.Kind == market.JSONBoolean && string(m.Text) == "false" {
			return name + "_false"
		}
	}
	return ""
}

// wordsOfRejection are the statuses by which other programs reject a lead.
var wordsOfRejection = [...]string{"rejected", "refused", "declined", "denied", "failed", "error", "invalid", "duplicate", "unsold"}

// buyerLeadID returns the id that the buyer gave the lead, or "". Buyers use different members for
// it, so it takes the first valid one.
func (a *parsedJSONAnswer) buyerLeadID() (idOrEmpty string) {
	for _, name := range [...]string{"lead_id", "id", "buyer_lead_id"} {
		if id := validBuyerLeadIDOfMember(&a.body, name); id != "" {
			return id
		}
	}
	if m, ok := a.body.Lookup("data"); ok && a.body.ParseMember(m, &a.nested) {
		return validBuyerLeadIDOfMember(&a.nested, "id")
	}
	return ""
}

func validBuyerLeadIDOfMember(object *strictjson.Object, name string) (idOrEmpty string) {
	m, _ := object.Lookup(name)
	if id := stringOrNumberText(m); len(id) <= maxLeadID && isVisibleASCIIWithoutAt(id) {
		return id
	}
	return ""
}

// stringOrNumberText returns the text of a JSON string or number. For other types it returns
// "".
func stringOrNumberText(m market.JSONMember) (textOrEmpty string) {
	if m.Kind != market.JSONString && m.Kind != market.JSONNumber {
		return ""
	}
	return string(m.Text)
}

// errorCodeOrEmpty returns the text if it has the form of an error code, such as "invalid_zip",
// and "" otherwise. Codes are logged, and free text could name a person.
func errorCodeOrEmpty(text string) string {
	if !format.IsReasonCode(text) {
		return ""
	}
	return text
}

// isVisibleASCIIWithoutAt reports whether a text from a buyer may be an id: visible ASCII characters
// without @. An e-mail address must not be logged as an id.
func isVisibleASCIIWithoutAt(text string) bool {
	for i := range len(text) {
		if c := text[i]; c <= ' ' || c > '~' || c == '@' {
			return false
		}
	}
	return true
}
