package public

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"pingpost/engine/market"
	"pingpost/server/httperror"
	"pingpost/server/servertest"
)

// unusedLeadID is the id of a lead that does not exist.
const unusedLeadID = "lead_0000000000000000000000000z"

func TestStatusReport(t *testing.T) {
	m := newAfterSaleExchange(t, new(servertest.MemoryLog))
	lead := m.sellLead("cmp_auto")
	first := m.report("blue", lead, "k1", `{"status":"contacted","reason":"by phone","occurred_at":"2026-01-31T09:30:00Z"}`)
	first.wantBody(t, `{"lead_id":"`+lead+`","status":"contacted"}`)
	if first.header.Get("X-RateLimit-Limit") != "100" || first.header.Get("X-RateLimit-Remaining") == "" || first.header.Get("X-RateLimit-Reset") == "" {
		t.Errorf("%v", first.header)
	}
	m.report("blue", lead, "k2", `{"status":"contacted"}`).wantBody(t, first.body)
	m.report("blue", lead, "k3", `{"status":"sold","unknown":"member"}`).wantBody(t, `{"lead_id":"`+lead+`","status":"sold"}`)
	m.report("blue", lead, "k4", `{"status":"returned","reason":"duplicate"}`).wantBody(t, `{"lead_id":"`+lead+`","status":"returned"}`)
	pending := m.sellLead("cmp_hand")
	m.report("red", pending, "k1", `{"status":"returned","reason":"any"}`).wantBody(t, `{"lead_id":"`+pending+`","status":"ACCEPTED","return":"waiting"}`)
}

// The rows are the errors of a report in the order of the checks. Each request also has the
// errors of the rows after it.
func TestStatusReportErrorOrder(t *testing.T) {
	m := newAfterSaleExchange(t, new(servertest.MemoryLog))
	lead, foreign := m.sellLead("cmp_auto"), m.sellLead("cmp_hand")
	m.report("blue", lead, "used", `{"status":"sold"}`).wantBody(t, `{"lead_id":"`+lead+`","status":"sold"}`)
	entries := m.log.EntryCount()
	worst := `{"status":"contacted"`
	for _, step := range []struct {
		what         string
		client       string
		method, path string
		body         string
		key          string
		kind         string
		status       int
		code, fields string
	}{
		{"an unknown path", "", "PUT", "/v1/leads/" + lead + "/status/", worst, "", "text/plain", 404, "not_found", ""},
		{"a path without a lead", "", "PUT", "/v1/leads//status", worst, "", "text/plain", 404, "not_found", ""},
		{"a wrong method", "", "PUT", "/v1/leads/" + foreign + "/status", worst, "", "text/plain", 405, "method_not_allowed", ""},
		{"no token", "", "POST", "/v1/leads/" + foreign + "/status", worst, "", "text/plain", 401, "unauthorized", ""},
		{"an unknown token", "pp_nothing", "POST", "/v1/leads/" + foreign + "/status", worst, "", "text/plain", 401, "unauthorized", ""},
		{"a supplier's token", "acme", "POST", "/v1/leads/" + foreign + "/status", worst, "", "text/plain", 403, "forbidden", ""},
		{"a token without the scope", "mute", "POST", "/v1/leads/" + foreign + "/status", worst, "", "text/plain", 403, "insufficient_scope", ""},
		{"too large", "blue", "POST", "/v1/leads/" + foreign + "/status", worst + strings.Repeat(" ", 64<<10), "", "text/plain", 413, "payload_too_large", ""},
		{"no JSON", "blue", "POST", "/v1/leads/" + foreign + "/status", worst, "", "text/plain", 415, "unsupported_media_type", ""},
		{"not one object", "blue", "POST", "/v1/leads/" + foreign + "/status", worst, "", contentTypeJSON, 400, "malformed_json", ""},
		{"another body under a used key", "blue", "POST", "/v1/leads/" + lead + "/status", `{"status":"gone"}`, "used", contentTypeJSON, 422, "idempotency_key_reused", ""},
		{"another lead under a used key", "blue", "POST", "/v1/leads/" + foreign + "/status", `{"status":"sold"}`, "used", contentTypeJSON, 422, "idempotency_key_reused", ""},
		{"a lead of another buyer", "blue", "POST", "/v1/leads/" + foreign + "/status", `{"status":"gone"}`, "", contentTypeJSON, 404, "not_found", ""},
		{"an unknown lead", "blue", "POST", "/v1/leads/" + unusedLeadID + "/status", `{"status":"gone"}`, "", contentTypeJSON, 404, "not_found", ""},
		{"an invalid lead id", "blue", "POST", "/v1/leads/17/status", `{"status":"gone"}`, "", contentTypeJSON, 404, "not_found", ""},
		{"no key, unknown status", "blue", "POST", "/v1/leads/" + lead + "/status", `{"status":"gone"}`, "", contentTypeJSON, 422, "invalid_payload", "Idempotency-Key missing_required, status not_allowed_value"},
		{"a key with a space", "blue", "POST", "/v1/leads/" + lead + "/status", `{}`, "a b", contentTypeJSON, 422, "invalid_payload", "Idempotency-Key invalid_format, status missing_required"},
		{"a reason that is not listed", "blue", "POST", "/v1/leads/" + lead + "/status", `{"status":"returned","reason":"no mood","occurred_at":1}`, "k", contentTypeJSON, 422, "invalid_payload", "occurred_at wrong_type, reason not_allowed_value"},
		{"a backward transition", "blue", "POST", "/v1/leads/" + lead + "/status", `{"status":"contacted"}`, "k", contentTypeJSON, 409, "invalid_transition", ""},
	} {
		lines := []string{"Content-Type", step.kind}
		if step.key != "" {
			lines = append(lines, "Idempotency-Key", step.key)
		}
		a := m.send(step.client, step.method, step.path, step.body, lines...)
		if got := a.wantError(t, step.status, step.code); got != step.fields {
			t.Errorf("%s: %s, want %s", step.what, got, step.fields)
		}
		if step.status == 405 && a.header.Get("Allow") != "POST" {
			t.Errorf("%s: Allow %s", step.what, a.header.Get("Allow"))
		}
		if challenge := a.header.Get("WWW-Authenticate"); (challenge != "") != (step.status == 401 || step.code == "insufficient_scope") {
			t.Errorf("%s: WWW-Authenticate %q", step.what, challenge)
		}
	}
	if m.log.EntryCount() != entries {
		t.Errorf("rejected reports logged %d events", m.log.EntryCount()-entries)
	}
	m.report("blue", lead, "k", `{"status":"returned","reason":"duplicate"}`).wantBody(t, `{"lead_id":"`+lead+`","status":"returned"}`)
}

// The error of an invalid transition names its cause.
func TestInvalidTransitionNamesCause(t *testing.T) {
	m := newAfterSaleExchange(t, new(servertest.MemoryLog))
	late, pending := m.sellLead("cmp_auto"), m.sellLead("cmp_hand")
	m.report("red", pending, "k1", `{"status":"returned","reason":"any"}`)
	m.advance(14 * 24 * time.Hour)
	for client := range m.tokens {
		m.tokens[client] = m.requestToken(client, "")
	}
	for _, row := range []struct{ client, lead, body, says string }{
		{"blue", late, `{"status":"returned","reason":"duplicate"}`, "time"},
		{"red", pending, `{"status":"sold"}`, "waits"},
	} {
		a := m.report(row.client, row.lead, "k2", row.body)
		a.wantError(t, 409, "invalid_transition")
		if !strings.Contains(a.body, row.says) {
			t.Errorf("%s does not say %q", a.body, row.says)
		}
	}
}

// A repeated report gets the bytes and the request id of the first answer, also after a
// restart.
func TestStatusReportIsReplayed(t *testing.T) {
	m := newAfterSaleExchange(t, new(servertest.MemoryLog))
	lead, other := m.sellLead("cmp_auto"), m.sellLead("cmp_auto")
	one := `{"status":"contacted"}`
	many := `{"changes":[{"lead_id":"` + other + `","status":"sold"},{"lead_id":"` + lead + `","status":"lost"},{"lead_id":"` + other + `","status":"sold"},7,{"lead_id":"no \u0041 \" id","status":"sold"},{"lead_id":"` + unusedLeadID + `","status":"sold"}]}`
	first, firstBatch := m.report("blue", lead, "k1", one), m.reportBatch("blue", "k1", many)
	if first.status != 200 || firstBatch.status != 200 || first.header.Get(httperror.HeaderRequestID) == firstBatch.header.Get(httperror.HeaderRequestID) {
		t.Fatalf("%d %s, %d %s", first.status, first.body, firstBatch.status, firstBatch.body)
	}
	checkReplays := func(m *afterSaleExchange) {
		t.Helper()
		entries := m.log.EntryCount()
		m.report("blue", lead, "k1", one).wantReplayOf(t, first)
		m.report("blue", lead, `"k1"`, one).wantReplayOf(t, first)
		m.reportBatch("blue", "k1", many).wantReplayOf(t, firstBatch)
		m.report("blue", lead, "k1", one+" ").wantError(t, 422, "idempotency_key_reused")
		m.reportBatch("blue", "k1", many+" ").wantError(t, 422, "idempotency_key_reused")
		if m.log.EntryCount() != entries {
			t.Error("a replay was logged")
		}
	}
	checkReplays(m)
	m.report("blue", lead, "k2", `{"status":"returned","reason":"duplicate"}`)
	m.report("blue", other, "k2", `{"status":"returned","reason":"duplicate"}`)
	checkReplays(m)
	restarted := newAfterSaleExchange(t, m.log)
	checkReplays(restarted)
}

func TestStatusBatchResults(t *testing.T) {
	m := newAfterSaleExchange(t, new(servertest.MemoryLog))
	mine, sold, foreign := m.sellLead("cmp_auto"), m.sellLead("cmp_auto"), m.sellLead("cmp_hand")
	m.report("blue", sold, "k", `{"status":"sold"}`)
	escaped := func(id string) string { return fmt.Sprintf(`\u%04x%s`, id[0], id[1:]) } // each report must keep its own decoded text
	body := `{"changes":[
		{"lead_id":"` + escaped(foreign) + `","status":"sold"},
		{"lead_id":"` + escaped(mine) + `","status":"qualified","occurred_at":"2026-01-31T09:30:00+02:00"},
		{"lead_id":"` + sold + `","status":"contacted"},
		{"lead_id":"` + sold + `","status":"returned"},
		{"status":"sold"}]}`
	notFound := `"error":"not_found","message":"There is no lead of this id, or it is not yours."}`
	m.reportBatch("blue", "k", body).wantBody(t, `{"results":[`+
		`{"lead_id":"`+foreign+`",`+notFound+`,`+
		`{"lead_id":"`+mine+`","status":"qualified"},`+
		`{"lead_id":"`+sold+`","error":"invalid_transition","message":"The lead has come further than this status, or was returned. Reports go forward only."},`+
		`{"lead_id":"`+sold+`","error":"invalid_payload","message":"`+httperror.InvalidPayload.Message+`","field_errors":[`+
		`{"field":"reason","code":"missing_required","expected":"why the lead is returned"},`+
		`{"field":"lead_id","code":"not_allowed_value","expected":"each lead once; send what follows in a request of its own"}]},`+
		`{"lead_id":null,"error":"invalid_payload","message":"`+httperror.InvalidPayload.Message+`","field_errors":[{"field":"lead_id","code":"missing_required","expected":"the lead's id"}]}]}`)
}

// A batch may have 1,000 reports, and its body may be larger than that of a lead.
func TestStatusBatchLimits(t *testing.T) {
	m := newAfterSaleExchange(t, new(servertest.MemoryLog))
	leads := make([]string, 1000)
	for i := range leads {
		leads[i] = m.sellLead("cmp_auto")
	}
	batch := func(n int, note string) string {
		var changes []string
		for i := range n {
			changes = append(changes, fmt.Sprintf(`{"lead_id":%q,"status":"returned","reason":"duplicate","occurred_at":"2026-01-31T09:30:00.123456Z","note":%q}`, leads[i%len(leads)], note))
		}
		return `{"changes":[` + strings.Join(changes, ",") + `]}`
	}
	for _, row := range []struct{ what, body, fault string }{
		{"none", `{"changes":[]}`, "changes out_of_range"},
		{"1001 reports", batch(1001, ""), "changes out_of_range"},
		{"100,001 reports", `{"changes":[` + strings.Repeat("1,", 100_000) + `1]}`, "changes out_of_range"},
		{"no member", `{}`, "changes missing_required"},
		{"null", `{"changes":null}`, "changes missing_required"},
		{"an object", `{"changes":{"0":{}}}`, "changes wrong_type"},
	} {
		if got := m.reportBatch("blue", "k", row.body).wantError(t, 422, "invalid_payload"); got != row.fault {
			t.Errorf("%s: %s", row.what, got)
		}
	}
	large := m.reportBatch("blue", "k", batch(1000, strings.Repeat("w", 400)))
	if large.wantError(t, 413, "payload_too_large"); !strings.Contains(large.body, "batch") {
		t.Error(large.body)
	}
	m.reportBatch("", "k", batch(1000, strings.Repeat("w", 400))).wantError(t, 401, "unauthorized")
	m.reportBatch("acme", "k", batch(1000, "")).wantError(t, 403, "forbidden")
	m.reportBatch("blue", "k", `{"changes":[{"lead_id":"a","lead_id":"b"}]}`).wantError(t, 400, "malformed_json")
	a := m.reportBatch("blue", "k", batch(1000, strings.Repeat("w", 200)))
	if n := strings.Count(a.body, `"status":"returned"`); a.status != 200 || n != 1000 || strings.Contains(a.body, "error") {
		t.Errorf("got %d with %d returned leads, %.300s", a.status, n, a.body)
	}
	for i, lead := range leads {
		if !strings.Contains(a.body, lead) {
			t.Fatalf("lead %d is not in the answer", i)
		}
	}
	m.reportBatch("blue", "k", batch(1000, strings.Repeat("w", 200))).wantReplayOf(t, a)
	if a := m.send("blue", http.MethodGet, "/v1/leads/status", ""); a.status != 405 || a.header.Get("Allow") != "POST" {
		t.Errorf("%d %s, Allow %s", a.status, a.body, a.header.Get("Allow"))
	}
}

// drainBucket takes all tokens of a bucket for an hour.
func (m *afterSaleExchange) drainBucket(of *tokenBucketsByOwner, owner market.PermanentNumber) {
	later := time.Unix(0, m.clock.Now()).Add(time.Hour)
	for ok := true; ok; {
		ok, _ = (*of.buckets.Load())[owner].takeTokens(1, later)
	}
}

// Lookups and reports of one owner share a limit, which does not affect others.
func TestLeadRequestsShareRateLimit(t *testing.T) {
	m := newAfterSaleExchange(t, new(servertest.MemoryLog))
	lead := m.sellLead("cmp_auto")
	catalog := m.engine.Load().ActiveCatalogOrNil()
	m.drainBucket(&m.lookupAndReportLimits.buyers, catalog.Buyers["buy_blue"].Ref)
	m.drainBucket(&m.lookupAndReportLimits.suppliers, catalog.Suppliers["sup_acme"].Ref)
	for what, a := range map[string]*apiAnswer{
		"a report":            m.report("blue", "no lead", "", "no JSON"),
		"a batch":             m.reportBatch("blue", "", "no JSON"),
		"a buyer's lookup":    m.send("blue", http.MethodGet, "/v1/leads/17", ""),
		"a seller's lookup":   m.send("acme", http.MethodGet, "/v1/leads/"+lead, ""),
		"a supplier's lookup": m.send("key of acme", http.MethodGet, "/api/v1/leads/"+lead, ""),
	} {
		a.wantError(t, 429, "rate_limited")
		if a.header.Get("Retry-After") == "" || a.header.Get("X-RateLimit-Limit") != "100" || a.header.Get("X-RateLimit-Remaining") != "0" {
			t.Errorf("%s: %v", what, a.header)
		}
	}
	m.report("red", unusedLeadID, "k", `{"status":"sold"}`).wantError(t, 404, "not_found")
	m.send("other", http.MethodGet, "/v1/leads/"+lead, "").wantError(t, 404, "not_found")
}
