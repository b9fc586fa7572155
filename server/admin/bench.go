package admin

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine"
	"pingpost/engine/exclusion"
	"pingpost/engine/market"
	"pingpost/internal/strictjson"
	"pingpost/server/admin/payload"
	"pingpost/server/httperror"
	"pingpost/server/request"
	"pingpost/server/testlead"
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
	DryRun   bool            `json:"dry_run"`
}

// ingestOrDryRunTestLead sends an operator's test lead through the exchange as if its supplier had sent
// it (POST bench). It answers with the answer that the supplier would get. With dry_run it records no
// lead, and answers with the decision and the outcome of each filter set.
func (a *Admin) ingestOrDryRunTestLead(ctx *fasthttp.RequestCtx, e *engine.Engine) (answer any, err error) {
	var sent testLeadRequest
	if err := payload.DecodeJSONBody(ctx, &sent); err != nil {
		return nil, err
	}
	supplier, faults := sent.validate(e)
	if len(faults) > 0 {
		return nil, payload.NewInvalidFieldsError(faults)
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
	request := engine.IngestRequest{
		Supplier: supplier, Members: object.Members(), Body: body, Test: true, Request: id, Received: a.exchange.Now(),
	}
	if sent.DryRun {
		run, err := e.DryRunTestLead(&request)
		return newDryRunAnswer(ctx, id, run, err)
	}
	decided, err := e.Ingest(&request)
	return newTestLeadAnswer(ctx, id, &decided, err)
}

// validate checks the operator's input. It returns the supplier in whose name the lead is sent,
// or the errors of the fields.
func (b *testLeadRequest) validate(e *engine.Engine) (supplier *market.Supplier, faults payload.FieldErrors) {
	faults.AddIf(b.Campaign == "", "campaign", errcode.FieldMissingRequired, "the id of a campaign")
	if catalog := e.ActiveCatalogOrNil(); catalog != nil {
		supplier = catalog.Suppliers[market.SupplierID(b.Supplier)]
	}
	faults.AddIf(b.Supplier == "", "supplier", errcode.FieldMissingRequired, "the id of a supplier")
	faults.AddIf(b.Supplier != "" && supplier == nil, "supplier", errcode.FieldUnknown, "the id of a supplier that is configured")
	faults.AddIf(len(b.Lead) == 0 || b.Lead[0] != '{', "lead", errcode.FieldMissingRequired, "the lead's members, as an ingest has them, but for flo_campaign_id and flo_supplier_id")
	faults.AddIf(b.DryRun && b.acceptsBid(), "lead", errcode.FieldNotAllowedValue, "no flo_ping_id and no flo_buyer_id: a dry run cannot accept a bid")
	faults.AddIf(len(b.Consent) > 0 && b.Consent[0] != '{' && string(b.Consent) != "null", "consent", errcode.FieldWrongType, "an object with members such as tcpa_consent and consent_cert_url")
	return supplier, faults
}

// acceptsBid reports whether the lead accepts the bid of an earlier ping.
func (b *testLeadRequest) acceptsBid() bool {
	var named struct {
		Ping  json.RawMessage `json:"flo_ping_id"`
		Buyer json.RawMessage `json:"flo_buyer_id"`
	}
	return json.Unmarshal(b.Lead, &named) == nil && (named.Ping != nil || named.Buyer != nil)
}

// buildIngestBody returns the JSON body that the supplier would send to the ingest path.
func (b *testLeadRequest) buildIngestBody() []byte {
	members := map[string]json.RawMessage{}
	for _, object := range []json.RawMessage{b.Lead, b.Consent} {
		if len(object) > 0 {
			_ = json.Unmarshal(object, &members) // already parsed as an object
		}
	}
	members["flo_campaign_id"], members["flo_supplier_id"] = payload.EncodeJSON(b.Campaign), payload.EncodeJSON(b.Supplier)
	return payload.EncodeJSON(members)
}

// testLeadAnswer is the answer to POST bench: the status and body that the supplier would get,
// and the lead's id.
type testLeadAnswer struct {
	Status int             `json:"status"`
	Answer json.RawMessage `json:"answer"` // the body that the supplier would get
	Lead   *string         `json:"lead"`
	DryRun *dryRunAnswer   `json:"dry_run,omitempty"`
}

// newTestLeadAnswer wraps the answer that the supplier would get, success or rejection, in an
// answer for the operator. If the engine failed, it returns an error.
func newTestLeadAnswer(ctx *fasthttp.RequestCtx, id market.RequestID, supplierAnswer *engine.IngestAnswer, engineErr error) (answer any, failed error) {
	if engineErr == nil {
		lead := supplierAnswer.Lead.String()
		return testLeadAnswer{Status: fasthttp.StatusCreated, Answer: wire.AppendIngestAnswer(nil, supplierAnswer), Lead: &lead}, nil
	}
	return newRefusedLeadAnswer(ctx, id, engineErr)
}

// newRefusedLeadAnswer returns the answer that a supplier would get for a lead that the engine
// refuses. If the engine failed, it returns an error.
func newRefusedLeadAnswer(ctx *fasthttp.RequestCtx, id market.RequestID, engineErr error) (answer any, failed error) {
	httperror.WriteEngineErrorOrUnavailable(ctx, id, engineErr)
	refused := testLeadAnswer{Status: ctx.Response.StatusCode(), Answer: bytes.Clone(ctx.Response.Body())}
	ctx.Response.Reset()
	if refused.Status >= fasthttp.StatusInternalServerError {
		return nil, httperror.Unavailable // the engine made no decision
	}
	return refused, nil
}

// exampleLeadAnswer is the answer to GET bench/example.
type exampleLeadAnswer struct {
	Campaign       string           `json:"campaign"`
	Supplier       *string          `json:"supplier"`
	Lead           json.RawMessage  `json:"lead"`
	Eligible       []market.BuyerID `json:"eligible_buyers"` // by state and filters
	Contradictions []string         `json:"contradictions"`  // the rules that no lead can meet
}

// getExampleLead answers GET bench/example with a made-up lead for the campaign in the query. If
// possible, the lead passes the rules and filters of the campaign and of a buyer. An operator can
// send it with POST bench.
func (a *Admin) getExampleLead(ctx *fasthttp.RequestCtx, e *engine.Engine) (answer any, err error) {
	catalog := e.ActiveCatalogOrNil()
	if catalog == nil {
		return nil, httperror.Unavailable
	}
	c := catalog.Campaigns[market.CampaignID(ctx.QueryArgs().Peek("campaign"))]
	if c == nil {
		return nil, payload.NewInvalidFieldError("campaign", errcode.FieldUnknown, "the id of a campaign that is configured")
	}
	example := testlead.MakeExample(c, rand.Int64())
	return exampleLeadAnswer{
		Campaign: string(c.ID), Supplier: payload.NullIfEmpty(testlead.FindAcceptedSupplierID(catalog, c)), Lead: testlead.AppendObject(nil, example.Members),
		Eligible: append([]market.BuyerID{}, example.Eligible...), Contradictions: append([]string{}, example.Contradictions...),
	}, nil
}

// dryRunAnswer is the decision of a dry run.
type dryRunAnswer struct {
	Decision   string               `json:"decision"` // sold, pinged or unsold
	Buyer      *string              `json:"buyer_id"`
	Reason     *string              `json:"reason"`
	Rule       *exclusion.UnmetRule `json:"rule"`
	Candidates []dryRunCandidate    `json:"candidates"`
}

// dryRunCandidate is the decision about one filter set. Its members are those of an explanation's
// candidate.
type dryRunCandidate struct {
	Buyer     market.BuyerID       `json:"buyer_id"`
	Seat      int                  `json:"seat"`
	Set       string               `json:"filter_set,omitempty"`
	Outcome   string               `json:"outcome"`
	WouldPing bool                 `json:"asked"`
	Rule      *exclusion.UnmetRule `json:"rule"`
}

// isTestLeadDryRun reports whether the body of POST bench asks for a dry run. An invalid body does not.
func isTestLeadDryRun(ctx *fasthttp.RequestCtx) bool {
	var sent testLeadRequest
	return payload.DecodeJSONBody(ctx, &sent) == nil && sent.DryRun
}

// newDryRunAnswer returns the answer to a dry run. Its status is that of the test lead; its body is
// empty, because the answer to a test lead has the id of a recorded lead.
func newDryRunAnswer(ctx *fasthttp.RequestCtx, id market.RequestID, run *engine.DryRunDecision, engineErr error) (answer any, failed error) {
	if engineErr != nil {
		return newRefusedLeadAnswer(ctx, id, engineErr)
	}
	d := &dryRunAnswer{
		Decision: "unsold", Buyer: payload.NullIfEmpty(string(run.Buyer)), Reason: payload.NullIfEmpty(run.Reason.String()),
		Rule: run.Rule, Candidates: []dryRunCandidate{},
	}
	switch {
	case run.Buyer != "":
		d.Decision = "sold"
	case run.Reason == market.ReasonNone:
		d.Decision = "pinged"
	}
	for i := range run.FilterSets {
		set := &run.FilterSets[i]
		d.Candidates = append(d.Candidates, dryRunCandidate{Buyer: set.Buyer, Seat: i, Set: set.ID, Outcome: set.Outcome.String(), WouldPing: set.WouldPing, Rule: set.Rule})
	}
	return testLeadAnswer{Status: fasthttp.StatusCreated, Answer: json.RawMessage("{}"), DryRun: d}, nil
}
