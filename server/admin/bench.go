package admin

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine"
	"pingpost/engine/market"
	"pingpost/engine/market/escape"
	"pingpost/internal/fakedata"
	"pingpost/internal/strictjson"
	"pingpost/server/httperror"
	"pingpost/server/request"
	"pingpost/server/wire"
)

// maxBench is the number of test leads from operators that may run at the same time.
const maxBench = 8

var errTooManyBenches = httperror.New(503, errcode.Unavailable, "Too many test leads are running. Send this request again after the time in Retry-After.")

// operatorTestLead is the body of POST bench, by which an operator sends a test lead through a
// campaign.
type operatorTestLead struct {
	Campaign string          `json:"campaign"`
	Supplier string          `json:"supplier"`
	Lead     json.RawMessage `json:"lead"`
	Consent  json.RawMessage `json:"consent"`
}

// ingestTestLead sends an operator's test lead through the exchange as if its supplier had sent
// it (POST bench). It answers with the answer that the supplier would get.
func (a *Admin) ingestTestLead(ctx *fasthttp.RequestCtx, e *engine.Engine) (answer any, err error) {
	var sent operatorTestLead
	if err := readJSON(ctx, &sent); err != nil {
		return nil, err
	}
	supplier, faults := sent.validate(e)
	if len(faults) > 0 {
		return nil, invalidFields(faults)
	}
	select {
	case a.benches <- struct{}{}:
		defer func() { <-a.benches }()
	default:
		return nil, errTooManyBenches
	}
	var object strictjson.Object
	body := sent.ingestBody()
	if err := object.Parse(body); err != nil {
		return nil, request.MalformedJSON(request.DescribeJSONError(err))
	}
	id := e.NewRequestID()
	decided, err := e.Ingest(&engine.IngestRequest{
		Supplier: supplier, Members: object.Members(), Body: body, Test: true, Request: id, Received: a.operator.Now(),
	})
	return wrapTestLeadAnswer(ctx, id, &decided, err)
}

// validate checks the operator's input. It returns the supplier in whose name the lead is sent,
// or the errors of the fields.
func (b *operatorTestLead) validate(e *engine.Engine) (supplier *market.Supplier, faults fieldFaults) {
	faults.addIf(b.Campaign == "", "campaign", errcode.FieldMissingRequired, "the id of a campaign")
	if catalog := e.Catalog(); catalog != nil {
		supplier = catalog.Suppliers[market.SupplierID(b.Supplier)]
	}
	faults.addIf(b.Supplier == "", "supplier", errcode.FieldMissingRequired, "the id of a supplier")
	faults.addIf(b.Supplier != "" && supplier == nil, "supplier", errcode.FieldUnknown, "the id of a supplier that is configured")
	faults.addIf(len(b.Lead) == 0 || b.Lead[0] != '{', "lead", errcode.FieldMissingRequired, "the lead's members, as an ingest has them, but for flo_campaign_id and flo_supplier_id")
	faults.addIf(len(b.Consent) > 0 && b.Consent[0] != '{' && string(b.Consent) != "null", "consent", errcode.FieldWrongType, "an object with members such as tcpa_consent and consent_cert_url")
	return supplier, faults
}

// ingestBody returns the JSON body that the supplier would send to the ingest path.
func (b *operatorTestLead) ingestBody() []byte {
	members := map[string]json.RawMessage{}
	for _, object := range []json.RawMessage{b.Lead, b.Consent} {
		if len(object) > 0 {
			_ = json.Unmarshal(object, &members) // already parsed as an object
		}
	}
	members["flo_campaign_id"], members["flo_supplier_id"] = encodeJSON(b.Campaign), encodeJSON(b.Supplier)
	return encodeJSON(members)
}

// testLeadAnswer is the answer to POST bench: the status and body that the supplier would get,
// and the lead's id.
type testLeadAnswer struct {
	Status int             `json:"status"`
	Answer json.RawMessage `json:"answer"` // the supplier would receive it
	Lead   *string         `json:"lead"`
}

// wrapTestLeadAnswer wraps the answer that the supplier would get, success or rejection, in an
// answer for the operator. If the engine failed, it returns an error.
func wrapTestLeadAnswer(ctx *fasthttp.RequestCtx, id market.RequestID, decided *engine.Answer, err error) (answer any, failed error) {
	if err == nil {
		lead := decided.Lead.String()
		return testLeadAnswer{fasthttp.StatusCreated, wire.AppendIngestAnswer(nil, decided), &lead}, nil
	}
	httperror.WriteEngineError(ctx, id, err)
	refused := testLeadAnswer{Status: ctx.Response.StatusCode(), Answer: bytes.Clone(ctx.Response.Body())}
	ctx.Response.Reset()
	if refused.Status >= fasthttp.StatusInternalServerError {
		return nil, httperror.Unavailable // the engine made no decision
	}
	return refused, nil
}

// getExampleLead answers GET bench/example with a made-up lead for the campaign in the query.
// The lead passes the campaign's filters, and a buyer accepts its state. An operator can send
// it with POST bench.
func (a *Admin) getExampleLead(ctx *fasthttp.RequestCtx, e *engine.Engine) (answer any, err error) {
	catalog := e.Catalog()
	if catalog == nil {
		return nil, httperror.Unavailable
	}
	c := catalog.Campaigns[market.CampaignID(ctx.QueryArgs().Peek("campaign"))]
	if c == nil {
		return nil, invalidField("campaign", errcode.FieldUnknown, "the id of a campaign that is configured")
	}
	return struct {
		Campaign string          `json:"campaign"`
		Supplier *string         `json:"supplier"`
		Lead     json.RawMessage `json:"lead"`
	}{string(c.ID), nullIfEmpty(findAcceptedSupplier(catalog, c)), appendExampleLead(nil, c)}, nil
}

// findAcceptedSupplier returns the id of a supplier that may send leads to the campaign c, or
// "".
func findAcceptedSupplier(catalog *market.Catalog, c *market.Campaign) string {
	for _, id := range slices.Sorted(maps.Keys(catalog.Suppliers)) {
		if c.AcceptsSupplier(id) {
			return string(id)
		}
	}
	return ""
}

// appendExampleLead appends a made-up lead that fits the campaign c. It drops members that the
// campaign or its filters would reject, and adds members that they require.
func appendExampleLead(body []byte, c *market.Campaign) []byte {
	made := fakedata.MakeLeads(fakedata.Request{Count: 1, Vertical: c.Vertical, State: findSellableState(c), Seed: rand.Int64()})
	var object strictjson.Object
	var lead market.Lead
	lead.Reset(c.Mapping.SlotCount())
	if err := object.Parse(made[0].AppendIngest(nil, string(c.ID), "")); err != nil {
		panic("BUG: a lead was made that is no JSON object: " + err.Error())
	}
	wrong := map[string]bool{}
	for _, fault := range c.Mapping.FillFromIngest(&lead, object.Members(), nil) {
		wrong[fault.Field] = true
	}
	for i := range c.Filters {
		if f := &c.Filters[i]; !f.Accepts(&lead) {
			wrong[c.Mapping.ArrivalName(f.Slot())], wrong[c.Mapping.BuyerName(f.Slot())] = true, true
		}
	}
	first := true
	add := func(name string, value []byte) {
		if !first {
			body = append(body, ',')
		}
		first = false
		body = append(append(escape.AppendJSONString(body, []byte(name)), ':'), value...)
	}
	body = append(body, '{')
	for _, m := range object.Members() {
		name := string(m.Name)
		if !strings.HasPrefix(name, "flo_") && !wrong[name] {
			add(name, memberValueJSON(&m))
		}
	}
	for slot := range c.Mapping.SlotCount() {
		name := c.Mapping.ArrivalName(market.Slot(slot))
		if !wrong[name] {
			continue
		}
		if value := c.Mapping.ExampleJSON(market.Slot(slot), c.Filters); value != nil {
			add(name, value)
		}
	}
	return append(body, '}')
}

// memberValueJSON returns the value of a parsed member as JSON text again.
func memberValueJSON(m *market.Member) []byte {
	if m.Kind == market.JSONString {
		return escape.AppendJSONString(nil, m.Text)
	}
	return m.Text
}

// findSellableState returns a US state that the campaign c and one of its buyers accept, or
// California if there is no such state.
func findSellableState(c *market.Campaign) market.USState {
	places := fakedata.Places()
	for i := range places {
		state := market.ParseUSState([]byte(places[i].State))
		if !c.AcceptsState(places[i].State) {
			continue
		}
		for j := range c.FilterSets {
			if c.FilterSets[j].States.Has(state) {
				return state
			}
		}
	}
	return market.ParseUSState([]byte("CA"))
}
