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

// testLeadRequest is the body of POST bench, by which an operator sends a test lead through a
// campaign.
type testLeadRequest struct {
	Campaign string          `json:"campaign"`
	Supplier string          `json:"supplier"`
	Lead     json.RawMessage `json:"lead"`
	Consent  json.RawMessage `json:"consent"`
}

// ingestTestLead sends an operator's test lead through the exchange as if its supplier had sent
// it (POST bench). It answers with the answer that the supplier would get.
func (a *Admin) ingestTestLead(ctx *fasthttp.RequestCtx, e *engine.Engine) (answer any, err error) {
	var sent testLeadRequest
	if err := decodeJSONBody(ctx, &sent); err != nil {
		return nil, err
	}
	supplier, faults := sent.validate(e)
	if len(faults) > 0 {
		return nil, newInvalidFieldsError(faults)
	}
	select {
	case a.benches <- struct{}{}:
		defer func() { <-a.benches }()
	default:
		return nil, errTooManyBenches
	}
	var object strictjson.Object
	body := sent.buildIngestBody()
	if err := object.Parse(body); err != nil {
		return nil, request.NewMalformedJSONError(request.DescribeJSONError(err))
	}
	id := e.NewRequestID()
	decided, err := e.Ingest(&engine.IngestRequest{
		Supplier: supplier, Members: object.Members(), Body: body, Test: true, Request: id, Received: a.operator.Now(),
	})
	return newTestLeadAnswer(ctx, id, &decided, err)
}

// validate checks the operator's input. It returns the supplier in whose name the lead is sent,
// or the errors of the fields.
func (b *testLeadRequest) validate(e *engine.Engine) (supplier *market.Supplier, faults fieldErrors) {
	faults.addErrorIf(b.Campaign == "", "campaign", errcode.FieldMissingRequired, "the id of a campaign")
	if catalog := e.ActiveCatalog(); catalog != nil {
		supplier = catalog.Suppliers[market.SupplierID(b.Supplier)]
	}
	faults.addErrorIf(b.Supplier == "", "supplier", errcode.FieldMissingRequired, "the id of a supplier")
	faults.addErrorIf(b.Supplier != "" && supplier == nil, "supplier", errcode.FieldUnknown, "the id of a supplier that is configured")
	faults.addErrorIf(len(b.Lead) == 0 || b.Lead[0] != '{', "lead", errcode.FieldMissingRequired, "the lead's members, as an ingest has them, but for flo_campaign_id and flo_supplier_id")
	faults.addErrorIf(len(b.Consent) > 0 && b.Consent[0] != '{' && string(b.Consent) != "null", "consent", errcode.FieldWrongType, "an object with members such as tcpa_consent and consent_cert_url")
	return supplier, faults
}

// buildIngestBody returns the JSON body that the supplier would send to the ingest path.
func (b *testLeadRequest) buildIngestBody() []byte {
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
	Answer json.RawMessage `json:"answer"` // the body that the supplier would get
	Lead   *string         `json:"lead"`
}

// newTestLeadAnswer wraps the answer that the supplier would get, success or rejection, in an
// answer for the operator. If the engine failed, it returns an error.
func newTestLeadAnswer(ctx *fasthttp.RequestCtx, id market.RequestID, supplierAnswer *engine.IngestAnswer, engineErr error) (answer any, failed error) {
	if engineErr == nil {
		lead := supplierAnswer.Lead.String()
		return testLeadAnswer{fasthttp.StatusCreated, wire.AppendIngestAnswer(nil, supplierAnswer), &lead}, nil
	}
	httperror.WriteEngineError(ctx, id, engineErr)
	refused := testLeadAnswer{Status: ctx.Response.StatusCode(), Answer: bytes.Clone(ctx.Response.Body())}
	ctx.Response.Reset()
	if refused.Status >= fasthttp.StatusInternalServerError {
		return nil, httperror.Unavailable // the engine made no decision
	}
	return refused, nil
}

// getExampleLead answers GET bench/example with a made-up lead for the campaign in the query. If
// possible, the lead passes the campaign's filters, and a buyer accepts its state. An operator can
// send it with POST bench.
func (a *Admin) getExampleLead(ctx *fasthttp.RequestCtx, e *engine.Engine) (answer any, err error) {
	catalog := e.ActiveCatalog()
	if catalog == nil {
		return nil, httperror.Unavailable
	}
	c := catalog.Campaigns[market.CampaignID(ctx.QueryArgs().Peek("campaign"))]
	if c == nil {
		return nil, newInvalidFieldError("campaign", errcode.FieldUnknown, "the id of a campaign that is configured")
	}
	return struct {
		Campaign string          `json:"campaign"`
		Supplier *string         `json:"supplier"`
		Lead     json.RawMessage `json:"lead"`
	}{string(c.ID), nullIfEmpty(findSupplierAllowedInCampaign(catalog, c)), appendExampleLead(nil, c)}, nil
}

// findSupplierAllowedInCampaign returns the id of a supplier that may send leads to the campaign, or
// "".
func findSupplierAllowedInCampaign(catalog *market.Catalog, campaign *market.Campaign) (supplierID string) {
	for _, id := range slices.Sorted(maps.Keys(catalog.Suppliers)) {
		if campaign.AcceptsSupplier(id) {
			return string(id)
		}
	}
	return ""
}

// appendExampleLead appends a made-up lead that fits the campaign. It drops members that the
// campaign or its filters would reject, and adds members that they require.
func appendExampleLead(body []byte, campaign *market.Campaign) []byte {
	made := fakedata.MakeLeads(fakedata.Request{Count: 1, Vertical: campaign.Vertical, State: findSellableState(campaign), Seed: rand.Int64()})
	var object strictjson.Object
	var lead market.Lead
	lead.Reset(campaign.Mapping.SlotCount())
	if err := object.Parse(made[0].AppendIngest(nil, string(campaign.ID), "")); err != nil {
		panic("BUG: a made-up lead is not a valid JSON object: " + err.Error())
	}
	wrong := map[string]bool{}
	for _, fault := range campaign.Mapping.FillLeadFromIngest(&lead, object.Members(), nil) {
		wrong[fault.Field] = true
	}
	for i := range campaign.Filters {
		if f := &campaign.Filters[i]; !f.Accepts(&lead) {
			wrong[campaign.Mapping.ArrivalName(f.FieldSlot())], wrong[campaign.Mapping.FieldNameForBuyers(f.FieldSlot())] = true, true
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
			add(name, encodeMemberValue(&m))
		}
	}
	for slot := range campaign.Mapping.SlotCount() {
		name := campaign.Mapping.ArrivalName(market.FieldSlot(slot))
		if !wrong[name] {
			continue
		}
		if value := campaign.Mapping.ExampleValueJSON(market.FieldSlot(slot), campaign.Filters); value != nil {
			add(name, value)
		}
	}
	return append(body, '}')
}

// encodeMemberValue returns the value of a parsed member as JSON text again.
func encodeMemberValue(m *market.JSONMember) []byte {
	if m.Kind == market.JSONString {
		return escape.AppendJSONString(nil, m.Text)
	}
	return m.Text
}

// findSellableState returns a US state that the campaign and one of its buyers accept, or
// California if there is no such state.
func findSellableState(campaign *market.Campaign) market.USState {
	places := fakedata.AllUSStateData()
	for i := range places {
		state := market.ParseUSState([]byte(places[i].State))
		if !campaign.FiltersAcceptState(places[i].State) {
			continue
		}
		for j := range campaign.FilterSets {
			if campaign.FilterSets[j].States.Has(state) {
				return state
			}
		}
	}
	return market.ParseUSState([]byte("CA"))
}
