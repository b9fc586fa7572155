package server

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine"
	"pingpost/engine/market"
	"pingpost/server/strictjson"
)

// maxBench is how many test leads of operators are under way at once.
const maxBench = 8

var faultBench = fault{503, errcode.Unavailable, "Other test leads are under way. Send this one again after the time in Retry-After."}

// benchLead is what an operator sends to see what becomes of it.
type benchLead struct {
	Campaign string          `json:"campaign"`
	Supplier string          `json:"supplier"`
	Lead     json.RawMessage `json:"lead"`
	Consent  json.RawMessage `json:"consent"`
}

// bench sends a test lead through ingest, as its supplier would: POST bench. It answers
// what that one would be answered.
func (a *Admin) bench(ctx *fasthttp.RequestCtx) {
	var sent benchLead
	e := a.engineOr503(ctx)
	if e == nil || !a.document(ctx, &sent) {
		return
	}
	supplier, faults := sent.judge(e)
	if len(faults) > 0 {
		a.fail(ctx, faultPayload, faults...)
		return
	}
	select {
	case a.benches <- struct{}{}:
		defer func() { <-a.benches }()
	default:
		a.fail(ctx, faultBench)
		return
	}
	var object strictjson.Object
	body := sent.ingest()
	if err := object.Parse(body); err != nil {
		a.fail(ctx, malformed(explain(err)))
		return
	}
	id := e.NewRequestID()
	answer, err := e.Ingest(&engine.IngestRequest{
		Supplier: supplier, Members: object.Members(), Body: body, Test: true, Request: id, Received: a.operator.Now(),
	})
	a.answerBench(ctx, id, &answer, err)
}

// judge finds whose lead it is, and what makes it none.
func (b *benchLead) judge(e *engine.Engine) (supplier *market.Supplier, faults []market.FieldError) {
	wrong := func(field, code, expected string) {
		faults = append(faults, market.FieldError{Field: field, Code: code, Expected: expected})
	}
	if b.Campaign == "" {
		wrong("campaign", errcode.FieldMissingRequired, "the id of a campaign")
	}
	if catalog := e.Catalog(); catalog != nil {
		supplier = catalog.Suppliers[market.SupplierID(b.Supplier)]
	}
	switch {
	case b.Supplier == "":
		wrong("supplier", errcode.FieldMissingRequired, "the id of a supplier")
	case supplier == nil:
		wrong("supplier", errcode.FieldUnknown, "the id of a supplier that is configured")
	}
	if len(b.Lead) == 0 || b.Lead[0] != '{' {
		wrong("lead", errcode.FieldMissingRequired, "the lead's members, as an ingest has them, but for flo_campaign_id and flo_supplier_id")
	}
	if len(b.Consent) > 0 && b.Consent[0] != '{' && string(b.Consent) != "null" {
		wrong("consent", errcode.FieldWrongType, "an object with members such as tcpa_consent and consent_cert_url")
	}
	return supplier, faults
}

// ingest is the body that its supplier would send.
func (b *benchLead) ingest() []byte {
	body := market.AppendJSONString([]byte(`{"flo_campaign_id":`), []byte(b.Campaign))
	body = market.AppendJSONString(append(body, `,"flo_supplier_id":`...), []byte(b.Supplier))
	members := map[string]json.RawMessage{}
	for _, object := range []json.RawMessage{b.Lead, b.Consent} {
		if len(object) > 0 {
			_ = json.Unmarshal(object, &members) // it was read as an object before
		}
	}
	delete(members, "flo_campaign_id")
	delete(members, "flo_supplier_id")
	for _, name := range slices.Sorted(maps.Keys(members)) {
		body = append(market.AppendJSONString(append(body, ','), []byte(name)), ':')
		body = append(body, members[name]...)
	}
	return append(body, '}')
}

// answerBench tells what the supplier would be told, and of which lead.
func (a *Admin) answerBench(ctx *fasthttp.RequestCtx, id market.RequestID, answer *engine.Answer, err error) {
	if err == nil {
		body := appendAnswer([]byte(`{"status":201,"answer":`), answer)
		body = append(answer.Lead.AppendTo(append(body, `,"lead":"`...)), `"}`...)
		ctx.SetContentType(typeJSON)
		ctx.SetBody(append(body, '\n'))
		return
	}
	failWith(ctx, id, err)
	if ctx.Response.StatusCode() >= fasthttp.StatusInternalServerError {
		return // nothing was decided
	}
	told := ctx.Response.Body()
	body := strconv.AppendInt([]byte(`{"status":`), int64(ctx.Response.StatusCode()), 10)
	body = append(append(append(body, `,"answer":`...), told...), `,"lead":null}`...)
	ctx.Response.Reset()
	ctx.SetContentType(typeJSON)
	ctx.SetBody(append(body, '\n'))
}
