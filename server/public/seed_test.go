package public

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/internal/fakedata"
	"pingpost/internal/must"
	"pingpost/internal/strictjson"
	"pingpost/server/httperror"
)

const seedPath = "/v1/dev/seed"

// newSeedSandbox starts a sandbox in which acme has a static token and a full bucket.
func newSeedSandbox(t *testing.T) *testServer {
	t.Helper()
	d := newTestServer(t, sandbox)
	d.addCredential(engine.Credential{Kind: event.CredentialBearer, Owner: event.ObjectSupplier, ID: "sup_acme", Scopes: event.ScopeWebhook}, sandboxKey)
	d.clock.AdvanceTo(d.clock.Now() + int64(time.Second))
	return d
}

func (d *testServer) requestSeed(body string) *fasthttp.RequestCtx {
	d.t.Helper()
	return d.send("POST", seedPath, body, "Authorization", "Bearer "+sandboxKey, "Content-Type", httperror.TypeJSON)
}

func TestReadSeedRequest(t *testing.T) {
	for name, row := range map[string]struct {
		body string
		want string // faulty fields and their codes
	}{
		"the smallest count":        {`{"count":100,"vertical":"auto_insurance","state":"CA"}`, ""},
		"the largest count":         {`{"count":1000,"vertical":"v","state":"AE","seed":-9223372036854775808,"campaign_id":"cmp"}`, ""},
		"unknown members":           {`{"count":100,"vertical":"v","state":"CA","colour":"red"}`, ""},
		"other spellings":           {`{"count":1e2,"vertical":"v","state":"CA","seed":7.0}`, ""},
		"nulls":                     {`{"count":100,"vertical":"v","state":"CA","seed":null,"campaign_id":null}`, ""},
		"nothing":                   {`{}`, "count missing_required, vertical missing_required, state missing_required"},
		"only nulls":                {`{"count":null,"vertical":null,"state":null}`, "count missing_required, vertical missing_required, state missing_required"},
		"a count too small":         {`{"count":99,"vertical":"v","state":"CA"}`, "count out_of_range"},
		"a count too large":         {`{"count":1001,"vertical":"v","state":"CA"}`, "count out_of_range"},
		"a count over 64 bits":      {`{"count":99999999999999999999,"vertical":"v","state":"CA"}`, "count out_of_range"},
		"a count as a string":       {`{"count":"100","vertical":"v","state":"CA"}`, "count wrong_type"},
		"a fractional count":        {`{"count":100.5,"vertical":"v","state":"CA"}`, "count wrong_type"},
		"a count of true":           {`{"count":true,"vertical":"v","state":"CA"}`, "count wrong_type"},
		"a negative count":          {`{"count":-100,"vertical":"v","state":"CA"}`, "count out_of_range"},
		"a blank vertical":          {`{"count":100,"vertical":" ","state":"CA"}`, "vertical missing_required"},
		"a list of verticals":       {`{"count":100,"vertical":["v"],"state":"CA"}`, "vertical wrong_type"},
		"a long vertical":           {`{"count":100,"vertical":"` + strings.Repeat("ä", 256) + `","state":"CA"}`, "vertical too_long"},
		"the longest vertical":      {`{"count":100,"vertical":"` + strings.Repeat("ä", 255) + `","state":"CA"}`, ""},
		"an invisible space":        {`{"count":100,"vertical":"a\u200bb","state":"CA"}`, "vertical invalid_format"},
		"a vertical of two lines":   {`{"count":100,"vertical":"a\nb","state":"CA"}`, "vertical invalid_format"},
		"an unknown state":          {`{"count":100,"vertical":"v","state":"ZZ"}`, "state invalid_format"},
		"a state in lower case":     {`{"count":100,"vertical":"v","state":"ca"}`, "state invalid_format"},
		"a state as a number":       {`{"count":100,"vertical":"v","state":6}`, "state wrong_type"},
		"a seed as a string":        {`{"count":100,"vertical":"v","state":"CA","seed":"1"}`, "seed wrong_type"},
		"a fractional seed":         {`{"count":100,"vertical":"v","state":"CA","seed":0.5}`, "seed wrong_type"},
		"a large seed":              {`{"count":100,"vertical":"v","state":"CA","seed":9223372036854775808}`, "seed out_of_range"},
		"a campaign id as a number": {`{"count":100,"vertical":"v","state":"CA","campaign_id":1}`, "campaign_id wrong_type"},
		"all errors at once":        {`{"count":1,"vertical":1,"state":"?","seed":[],"campaign_id":{}}`, "count out_of_range, vertical wrong_type, state invalid_format, seed wrong_type, campaign_id wrong_type"},
	} {
		t.Run(name, func(t *testing.T) {
			var object strictjson.Object
			must.Succeed(t, object.Parse([]byte(row.body)))
			_, faults := readMadeUpLeadsRequest(&object)
			var got []string
			for _, fault := range faults {
				got = append(got, fault.Field+" "+fault.Code)
				if fault.Expected == "" {
					t.Errorf("%s: the error does not say the expected value", fault.Field)
				}
			}
			if strings.Join(got, ", ") != row.want {
				t.Errorf("%q, want %q", got, row.want)
			}
		})
	}
	var object strictjson.Object
	must.Succeed(t, object.Parse([]byte(`{"count":250,"vertical":"solar","state":"TX","campaign_id":"cmp"}`)))
	want := madeUpLeadsRequest{fakedata.LeadSeriesOptions{Count: 250, Vertical: "solar", State: market.ParseUSStateCode([]byte("TX")), Seed: 1}, "cmp"}
	if got, faults := readMadeUpLeadsRequest(&object); got != want || len(faults) > 0 {
		t.Errorf("%+v, %+v", got, faults)
	}
}

// The test checks the order of the checks, and that production does not have the path.
func TestSeedRequestErrors(t *testing.T) {
	d := newSeedSandbox(t)
	d.addCredential(engine.Credential{Kind: event.CredentialBearer, Owner: event.ObjectBuyer, ID: "buy_blue", Scopes: event.ScopePing}, "canary of a buyer")
	const good = `{"count":100,"vertical":"v","state":"CA"}`
	long := `{"pad":"` + strings.Repeat("x", 65<<10) + `"}`
	for name, row := range map[string]struct {
		method, path, token, kind, body string
		status                          int
		code                            string
	}{
		"another method":     {"GET", seedPath, "", "", "", 405, "method_not_allowed"},
		"a path below":       {"POST", seedPath + "/", sandboxKey, httperror.TypeJSON, good, 404, "not_found"},
		"no token":           {"POST", seedPath, "", "", long, 401, "unauthorized"},
		"a wrong token":      {"POST", seedPath, "canary", "", "{", 401, "unauthorized"},
		"a buyer's token":    {"POST", seedPath, "canary of a buyer", "", "{", 403, "forbidden"},
		"a large body":       {"POST", seedPath, sandboxKey, "", long, 413, "payload_too_large"},
		"another type":       {"POST", seedPath, sandboxKey, "text/plain", "{", 415, "unsupported_media_type"},
		"a truncated body":   {"POST", seedPath, sandboxKey, httperror.TypeJSON, "{", 400, "malformed_json"},
		"a duplicate member": {"POST", seedPath, sandboxKey, httperror.TypeJSON, `{"count":100,"count":100}`, 400, "malformed_json"},
		"a wrong count":      {"POST", seedPath, sandboxKey, httperror.TypeJSON, `{"count":99,"vertical":"v","state":"CA"}`, 422, "invalid_payload"},
		"an API key alone":   {"POST", seedPath, "", httperror.TypeJSON, good, 401, "unauthorized"},
		"a valid request":    {"POST", seedPath, sandboxKey, httperror.TypeJSON, good, 201, ""},
	} {
		t.Run(name, func(t *testing.T) {
			headers := []string{"Content-Type", row.kind, "X-Api-Key", supplierKey}
			if row.token != "" {
				headers = append(headers, "Authorization", "Bearer "+row.token)
			}
			ctx := d.send(row.method, row.path, row.body, headers...)
			var got struct{ Error string }
			if err := json.Unmarshal(ctx.Response.Body(), &got); err != nil || ctx.Response.StatusCode() != row.status || got.Error != row.code {
				t.Errorf("%d %.200s, want %d %s", ctx.Response.StatusCode(), ctx.Response.Body(), row.status, row.code)
			}
			if challenge := ctx.Response.Header.Peek(httperror.HeaderChallenge); (row.status == 401) != (len(challenge) > 0) {
				t.Errorf("WWW-Authenticate %q", challenge)
			}
			if allow := ctx.Response.Header.Peek("Allow"); (row.status == 405) != (string(allow) == "POST") {
				t.Errorf("Allow %q", allow)
			}
		})
	}
	production := newTestServer(t)
	for _, method := range []string{"POST", "GET"} {
		if ctx := production.send(method, seedPath, good, "Authorization", "Bearer x"); ctx.Response.StatusCode() != 404 || len(ctx.Response.Header.Peek(httperror.HeaderChallenge)) > 0 {
			t.Errorf("%s in production: got %s, want 404", method, &ctx.Response)
		}
	}
}

// The answer repeats the request and has the requested number of leads. The same request
// gets the same bytes again.
func TestSeedAnswerIsReproducible(t *testing.T) {
	d := newSeedSandbox(t)
	for body, want := range map[string]string{
		`{"count":100,"vertical":"auto_insurance","state":"CA"}`:           `{"count":100,"vertical":"auto_insurance","state":"CA","seed":1,"leads":[{"ping":{"vertical":"auto_insurance","state":"CA",`,
		`{"count":137,"vertical":"pets \"& co\"","state":"WY","seed":-42}`: `{"count":137,"vertical":"pets \"& co\"","state":"WY","seed":-42,"leads":[{"ping":{"vertical":"pets \"& co\"","state":"WY",`,
	} {
		ctx := d.requestSeed(body)
		text := string(ctx.Response.Body())
		var answer struct {
			Count   int
			Leads   []struct{ Ping, Lead map[string]any }
			Results any
		}
		if err := json.Unmarshal([]byte(text), &answer); err != nil || ctx.Response.StatusCode() != 201 || answer.Count != len(answer.Leads) || answer.Results != nil || !strings.HasPrefix(text, want) {
			t.Errorf("%d %.300s, %v", ctx.Response.StatusCode(), text, err)
		}
		for _, lead := range answer.Leads {
			if lead.Ping["auction_id"] != nil || lead.Ping["expires_at"] != nil || lead.Lead["lead_uuid"] == nil {
				t.Fatalf("%v", lead)
			}
		}
		if again := string(d.requestSeed(body).Response.Body()); again != text {
			t.Error("the repeated request got another answer")
		}
	}
	if limit := d.requestSeed(`{}`).Response.Header.Peek("X-RateLimit-Limit"); string(limit) != "100" {
		t.Errorf("X-RateLimit-Limit %s", limit)
	}
}

// Seed requests are limited by the supplier's bucket and by the number of concurrent runs.
func TestSeedRateAndRunLimits(t *testing.T) {
	d := newSeedSandbox(t)
	const intoCampaign = `{"count":100,"vertical":"v","state":"CA","campaign_id":"none"}`
	d.runs.Store(maxRuns)
	ctx := d.requestSeed(intoCampaign)
	if ctx.Response.StatusCode() != 429 || string(ctx.Response.Header.Peek("Retry-After")) != "1" || d.runs.Load() != maxRuns {
		t.Errorf("run over the limit: got %s, and %d runs", &ctx.Response, d.runs.Load())
	}
	if ctx := d.requestSeed(`{"count":100,"vertical":"v","state":"CA"}`); ctx.Response.StatusCode() != 201 {
		t.Errorf("leads without a campaign: got %s, want 201", &ctx.Response)
	}
	d.runs.Store(maxRuns - 1)
	ctx = d.requestSeed(intoCampaign)
	if ctx.Response.StatusCode() != 422 || !strings.Contains(string(ctx.Response.Body()), `{"field":"campaign_id","code":"unknown"`) || d.runs.Load() != maxRuns-1 {
		t.Errorf("unknown campaign: got %s, and %d runs", &ctx.Response, d.runs.Load())
	}
	bucket := (*d.seedLimits.buckets.Load())[(*d.suppliers.Load())[1].Ref]
	for rejected := false; !rejected; {
		bucket.limiter.SetBurst(1)
		bucket.limiter.SetLimit(1)
		for range 3 {
			rejected = rejected || d.requestSeed(`{}`).Response.StatusCode() == 429
		}
	}
}

// No lead starts after the time limit or during a shutdown, and the answer has an error
// for each such lead.
func TestSeedRunStopsAtLimitAndShutdown(t *testing.T) {
	for name, end := range map[string]func(d *testServer, run *seedRequestRun){
		"late":     func(d *testServer, run *seedRequestRun) { run.until = d.clock.Now() },
		"stopping": func(d *testServer, _ *seedRequestRun) { d.draining.Store(true) },
	} {
		d := newSeedSandbox(t)
		run := &seedRequestRun{server: d.Server, leads: make([]fakedata.Lead, 3), results: make([]madeUpLeadResult, 3), until: d.clock.Now() + int64(time.Hour)}
		end(d, run)
		run.runIngestWorker()
		if run.next.Load() != 0 || run.panicValue != nil {
			t.Errorf("%s: %d leads started, want 0", name, run.next.Load())
		}
	}
	for _, row := range []struct {
		result madeUpLeadResult
		want   string
	}{
		{madeUpLeadResult{err: engine.ErrUnavailable}, `{"error":"unavailable"}`},
		{madeUpLeadResult{err: errors.New("disk /dev/secret is full")}, `{"error":"unavailable"}`},
		{madeUpLeadResult{err: &engine.Refusal{Code: engine.KeyReused}}, `{"error":"idempotency_key_reused"}`},
		{
			madeUpLeadResult{err: &engine.Refusal{Code: engine.InvalidPayload, Fields: []market.FieldError{{Field: "rooms", Code: "missing_required", Expected: "an integer"}}}},
			`{"error":"invalid_payload","field_errors":[{"field":"rooms","code":"missing_required","expected":"an integer"}]}`,
		},
		{madeUpLeadResult{answer: engine.IngestAnswer{Reason: market.ReasonDuplicate}}, `{"id":"lead_00000000000000000000000000","status":"UNMATCHED","buyer_id":null,"reason":"duplicate"}`},
		{
			madeUpLeadResult{answer: engine.IngestAnswer{Accepted: true, Buyer: "buy", Payout: 1_500_000, Currency: market.Currency{'U', 'S', 'D'}}},
			`{"id":"lead_00000000000000000000000000","status":"ACCEPTED","buyer_id":"buy","price":{"amount":1.5,"currency":"USD"}}`,
		},
	} {
		if got := string(row.result.appendJSON(nil)); got != row.want {
			t.Errorf("%s, want %s", got, row.want)
		}
	}
}

// A panic in a worker is answered by the request's goroutine and has no other effect.
func TestSeedWorkerPanicIsContained(t *testing.T) {
	d := newSeedSandbox(t)
	run := &seedRequestRun{server: d.Server, supplier: &market.Supplier{}, order: &madeUpLeadsRequest{}, leads: make([]fakedata.Lead, 2), results: make([]madeUpLeadResult, 2), until: d.clock.Now() + int64(time.Hour)}
	run.leads[0].Fields = []fakedata.Field{{Name: "rooms", Value: 1.5}}
	run.runIngestWorker()
	if run.panicValue == nil {
		t.Error("a field of an unknown type caused no panic")
	}
}

func TestSeedLeadKeysAreUnique(t *testing.T) {
	order := madeUpLeadsRequest{fakedata.LeadSeriesOptions{Count: 100, Vertical: "v", State: market.ParseUSStateCode([]byte("CA")), Seed: 1}, "cmp"}
	longer := order
	longer.Count = 200
	if a, b := string(order.leadIdempotencyKey(7)), string(longer.leadIdempotencyKey(7)); a != b {
		t.Errorf("keys depend on the count: %q and %q", a, b)
	}
	keys := map[string]string{string(order.leadIdempotencyKey(7)): "the first request"}
	for name, change := range map[string]func(*madeUpLeadsRequest){
		"vertical": func(o *madeUpLeadsRequest) { o.Vertical = "w" }, "state": func(o *madeUpLeadsRequest) { o.State++ },
		"seed": func(o *madeUpLeadsRequest) { o.Seed++ }, "campaign": func(o *madeUpLeadsRequest) { o.campaign = "other" },
	} {
		other := order
		change(&other)
		text := string(other.leadIdempotencyKey(7))
		if keys[text] != "" {
			t.Errorf("requests with another %s and %s have the same key", name, keys[text])
		}
		keys[text] = name
		var header fasthttp.RequestHeader
		header.Set("Idempotency-Key", text)
		if _, ok := readIdempotencyKey(&header); ok {
			t.Errorf("a client could send the key %q", text)
		}
	}
	if string(order.leadIdempotencyKey(7)) == string(order.leadIdempotencyKey(8)) {
		t.Error("two leads have the same key")
	}
}
