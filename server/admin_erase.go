package server

import (
	"strconv"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine/market"
)

// Eraser makes sure that nobody can know any more who a person was. The error is
// engine.ErrNotFound where history has no lead of an id. After another error some
// leads may be erased; the same may be asked again, and does no harm.
type Eraser interface {
	Erase(who *Erasure) (Erased, error)
}

// Erasure is who is to be erased: by one of the first three. The phone number is in E.164's
// form.
type Erasure struct {
	Lead         market.LeadID
	Phone, Email string
	By           string // the operator who wants it
}

// Erased is what became of it.
type Erased struct {
	Leads int    // that nobody can be known by any more
	Left  []Left // that could not be erased, the first of them
	Total int    // how many those are
}

// Left is a lead that could not be erased.
type Left struct {
	Lead market.LeadID
	Why  LeftWhy
}

// LeftWhy is why a lead could not be erased, as the interface says it.
type LeftWhy string

const (
	LeftUnderWay   LeftWhy = "under_way"  // it is being delivered: to be erased again in a minute
	LeftUnsealed   LeftWhy = "unsealed"   // an earlier program logged it without sealing it: it goes with the log's history
	LeftUnreadable LeftWhy = "unreadable" // its key cannot be read, so whose it is is not known
)

const maxLeft = 1000

// Leave notes a lead that could not be erased.
func (e *Erased) Leave(lead market.LeadID, why LeftWhy) {
	if e.Total++; len(e.Left) < maxLeft {
		e.Left = append(e.Left, Left{lead, why})
	}
}

var faultErasing = fault{503, errcode.Unavailable, "Another person is being looked for in the log. Ask again after the time in Retry-After."}

// erasing answers an operator who has a person erased. It takes as long as reading the
// log does, and half a minute more where a lead is being delivered.
func (a *Admin) erasing() fasthttp.RequestHandler {
	place := make(chan struct{}, 1)
	return func(ctx *fasthttp.RequestCtx) {
		if a.engineOr503(ctx) == nil {
			return
		}
		who, wrong, ok := a.erasure(ctx)
		if !ok {
			return
		}
		if wrong != nil {
			a.fail(ctx, faultPayload, *wrong)
			return
		}
		select {
		case place <- struct{}{}:
			defer func() { <-place }()
		default:
			a.fail(ctx, faultErasing)
			return
		}
		came, err := a.operator.Erase(who)
		if err != nil {
			a.failWith(ctx, err)
			return
		}
		ctx.SetContentType(typeJSON)
		ctx.Response.Header.Set("Cache-Control", "no-store")
		ctx.SetBody(appendErased(nil, &came))
	}
}

// erasure reads who is meant; not ok: it was answered already. What is wrong is told
// without the value: it is a person's.
func (a *Admin) erasure(ctx *fasthttp.RequestCtx) (who *Erasure, wrong *market.FieldError, ok bool) {
	var body struct {
		Lead  string `json:"lead"`
		Phone string `json:"phone"`
		Email string `json:"email"`
	}
	if !a.document(ctx, &body) {
		return nil, nil, false
	}
	given := 0
	for _, value := range [...]string{body.Lead, body.Phone, body.Email} {
		if value != "" {
			given++
		}
	}
	if given != 1 {
		return nil, &market.FieldError{Field: "lead", Code: errcode.FieldMissingRequired, Expected: "the id of a lead, or in its place a phone, or an email"}, true
	}
	who = &Erasure{By: actorOf(ctx)}
	bad := func(field, expected string) (*Erasure, *market.FieldError, bool) {
		return nil, &market.FieldError{Field: field, Code: errcode.FieldInvalidFormat, Expected: expected}, true
	}
	switch {
	case body.Lead != "":
		if who.Lead, ok = market.ParseLeadID(body.Lead); !ok {
			return bad("lead", "the id of a lead (lead_…)")
		}
	case body.Phone != "":
		phone, ok := market.ParsePhone(nil, []byte(body.Phone))
		if !ok {
			return bad("phone", "a phone number, with + and the country's code unless it is a US one")
		}
		who.Phone = string(phone)
	default:
		email, ok := market.ParseEmail(nil, []byte(body.Email))
		if !ok {
			return bad("email", "an e-mail address")
		}
		who.Email = string(email)
	}
	return who, nil, true
}

func appendErased(body []byte, came *Erased) []byte {
	body = strconv.AppendInt(append(body, `{"erased":`...), int64(came.Leads), 10)
	body = strconv.AppendInt(append(body, `,"left":`...), int64(came.Total), 10)
	body = append(body, `,"left_leads":[`...)
	for i, left := range came.Left {
		if i > 0 {
			body = append(body, ',')
		}
		body = left.Lead.AppendTo(append(body, `{"lead_id":"`...))
		body = append(append(append(body, `","reason":"`...), left.Why...), `"}`...)
	}
	return append(body, "]}\n"...)
}
