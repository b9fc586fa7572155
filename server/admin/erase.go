package admin

import (
	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine"
	"pingpost/engine/market"
	"pingpost/engine/market/format"
	"pingpost/server/admin/payload"
	"pingpost/server/httperror"
)

// Eraser erases the contact data of a person for good. The exchange implements it. The error is
// engine.ErrNotFound if the log has no lead with the given id. After another error some leads
// may be erased; the operator can safely repeat the request.
type Eraser interface {
	EraseContactData(erasure *ErasureRequest) (ErasureResult, error)
}

// ErasureRequest is a request to erase a person, identified by a lead id, a phone number (E.164) or an
// e-mail address. Exactly one of the three is set.
type ErasureRequest struct {
	Lead         market.LeadID
	Phone, Email string
	By           string // the operator
}

// ErasureResult is the result of an erasure: how many leads it erased, and which matching leads it
// could not erase.
type ErasureResult struct {
	Leads          int            `json:"erased"`
	NotErasedCount int            `json:"left"`       // number of leads that could not be erased
	NotErased      []UnerasedLead `json:"left_leads"` // the first of them
}

// UnerasedLead is a lead that matches an erasure but could not be erased, with the reason.
type UnerasedLead struct {
	Lead   string          `json:"lead_id"`
	Reason NotErasedReason `json:"reason"`
}

// NotErasedReason says why a lead could not be erased.
type NotErasedReason string

const (
	NotErasedUnderWay   NotErasedReason = "under_way"  // a delivery is under way; erase it again in a minute
	NotErasedUnsealed   NotErasedReason = "unsealed"   // an earlier version logged it unencrypted; it disappears with the log's history
	NotErasedUnreadable NotErasedReason = "unreadable" // its key cannot be read, so the person is unknown
)

const maxNotErased = 1000

// AddUnerasedLead records a lead that could not be erased. It counts all of them and lists the
// first maxNotErased.
func (e *ErasureResult) AddUnerasedLead(lead market.LeadID, reason NotErasedReason) {
	if e.NotErasedCount++; len(e.NotErased) < maxNotErased {
		e.NotErased = append(e.NotErased, UnerasedLead{lead.String(), reason})
	}
}

var errEraseUnderWay = httperror.New(503, errcode.Unavailable, "Another erasure is running. Send this request again after the time in Retry-After.")

// erasePersonHandler returns the handler that erases a person, one request at a time. A request takes
// as long as reading the log, and half a minute more if a matching lead is being delivered.
func (a *Admin) erasePersonHandler() fasthttp.RequestHandler {
	running := make(chan struct{}, 1)
	return a.withEngine(func(ctx *fasthttp.RequestCtx, _ *engine.Engine) (answer any, err error) {
		who, err := readErasureRequest(ctx)
		if err != nil {
			return nil, err
		}
		select {
		case running <- struct{}{}:
			defer func() { <-running }()
		default:
			return nil, errEraseUnderWay
		}
		came, err := a.exchange.EraseContactData(who)
		if err != nil {
			return nil, err
		}
		came.NotErased = append([]UnerasedLead{}, came.NotErased...)
		ctx.Response.Header.Set("Cache-Control", "no-store")
		return came, nil
	})
}

// readErasureRequest parses the request's body. Its error does not quote the value, which is personal.
func readErasureRequest(ctx *fasthttp.RequestCtx) (erasure *ErasureRequest, err error) {
	var body struct {
		Lead  string `json:"lead"`
		Phone string `json:"phone"`
		Email string `json:"email"`
	}
	if err := payload.DecodeJSONBody(ctx, &body); err != nil {
		return nil, err
	}
	given := 0
	for _, value := range [...]string{body.Lead, body.Phone, body.Email} {
		if value != "" {
			given++
		}
	}
	if given != 1 {
		return nil, payload.NewInvalidFieldError("lead", errcode.FieldMissingRequired, "the id of a lead, or in its place a phone, or an email")
	}
	erasure = &ErasureRequest{By: callerNameOf(ctx)}
	bad := func(field, expected string) (*ErasureRequest, error) {
		return nil, payload.NewInvalidFieldError(field, errcode.FieldInvalidFormat, expected)
	}
	var ok bool
	switch {
	case body.Lead != "":
		if erasure.Lead, ok = market.ParseLeadID(body.Lead); !ok {
			return bad("lead", "the id of a lead (lead_…)")
		}
	case body.Phone != "":
		phone, ok := format.AppendPhoneAsE164(nil, []byte(body.Phone))
		if !ok {
			return bad("phone", "a phone number, with + and the country's code unless it is a US one")
		}
		erasure.Phone = string(phone)
	default:
		email, ok := format.AppendEmailWithLowerDomain(nil, []byte(body.Email))
		if !ok {
			return bad("email", "an e-mail address")
		}
		erasure.Email = string(email)
	}
	return erasure, nil
}
