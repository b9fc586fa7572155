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

// noLead is an unused lead id.
const noLead = "lead_0000000000000000000000000z"

func TestReport(t *testing.T) {
	m := trading(t, new(servertest.MemoryLog))
	lead := m.sold("cmp_auto")
	first := m.report("blue", lead, "k1", `{"status":"contacted","reason":"by phone","occurred_at":"2026-01-31T09:30:00Z"}`)
	first.mustBe(t, `{"lead_id":"`+lead+`","status":"contacted"}`)
	if first.header.Get("X-RateLimit-Limit") != "100" || first.header.Get("X-RateLimit-Remaining") == "" || first.header.Get("X-RateLimit-Reset") == "" {
		t.Errorf("%v", first.header)
	}
	m.report("blue", lead, "k2", `{"status":"contacted"}`).mustBe(t, first.body)
	m.report("blue", lead, "k3", `{"status":"sold","of":"what we do not know"}`).mustBe(t, `{"lead_id":"`+lead+`","status":"sold"}`)
	m.report("blue", lead, "k4", `{"status":"returned","reason":"duplicate"}`).mustBe(t, `{"lead_id":"`+lead+`","status":"returned"}`)
	waits := m.sold("cmp_hand")
	m.report("red", waits, "k1", `{"status":"returned","reason":"any"}`).mustBe(t, `{"lead_id":"`+waits+`","status":"ACCEPTED","return":"waiting"}`)
}

// All errors of a report in the order of the checks: each request also has all later
// errors.
func TestReportFaultsInOrder(t *testing.T) {
	m := trading(t, new(servertest.MemoryLog))
	lead, theirs := m.sold("cmp_auto"), m.sold("cmp_hand")
	m.report("blue", lead, "used", `{"status":"sold"}`).mustBe(t, `{"lead_id":"`+lead+`","status":"sold"}`)
	entries := m.log.Size()
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
		{"a path that there is not", "", "PUT", "/v1/leads/" + lead + "/status/", worst, "", "text/plain", 404, "not_found", ""},
		{"a path without a lead", "", "PUT", "/v1/leads//status", worst, "", "text/plain", 404, "not_found", ""},
		{"a wrong method", "", "PUT", "/v1/leads/" + theirs + "/status", worst, "", "text/plain", 405, "method_not_allowed", ""},
		{"no token", "", "POST", "/v1/leads/" + theirs + "/status", worst, "", "text/plain", 401, "unauthorized", ""},
		{"a token that is none", "pp_nothing", "POST", "/v1/leads/" + theirs + "/status", worst, "", "text/plain", 401, "unauthorized", ""},
		{"a supplier's", "acme", "POST", "/v1/leads/" + theirs + "/status", worst, "", "text/plain", 403, "forbidden", ""},
		{"without the scope", "mute", "POST", "/v1/leads/" + theirs + "/status", worst, "", "text/plain", 403, "insufficient_scope", ""},
		{"too large", "blue", "POST", "/v1/leads/" + theirs + "/status", worst + strings.Repeat(" ", 64<<10), "", "text/plain", 413, "payload_too_large", ""},
		{"no JSON", "blue", "POST", "/v1/leads/" + theirs + "/status", worst, "", "text/plain", 415, "unsupported_media_type", ""},
		{"not one object", "blue", "POST", "/v1/leads/" + theirs + "/status", worst, "", asJSON, 400, "malformed_json", ""},
		{"another body under a used key", "blue", "POST", "/v1/leads/" + lead + "/status", `{"status":"gone"}`, "used", asJSON, 422, "idempotency_key_reused", ""},
		{"another lead under it", "blue", "POST", "/v1/leads/" + theirs + "/status", `{"status":"sold"}`, "used", asJSON, 422, "idempotency_key_reused", ""},
		{"a lead of another buyer", "blue", "POST", "/v1/leads/" + theirs + "/status", `{"status":"gone"}`, "", asJSON, 404, "not_found", ""},
		{"a lead that there is not", "blue", "POST", "/v1/leads/" + noLead + "/status", `{"status":"gone"}`, "", asJSON, 404, "not_found", ""},
		{"no lead's id", "blue", "POST", "/v1/leads/17/status", `{"status":"gone"}`, "", asJSON, 404, "not_found", ""},
		{"no key, no known status", "blue", "POST", "/v1/leads/" + lead + "/status", `{"status":"gone"}`, "", asJSON, 422, "invalid_payload", "Idempotency-Key missing_required, status not_allowed_value"},
		{"a key with a space", "blue", "POST", "/v1/leads/" + lead + "/status", `{}`, "a b", asJSON, 422, "invalid_payload", "Idempotency-Key invalid_format, status missing_required"},
		{"a reason that is not listed", "blue", "POST", "/v1/leads/" + lead + "/status", `{"status":"returned","reason":"no mood","occurred_at":1}`, "k", asJSON, 422, "invalid_payload", "occurred_at wrong_type, reason not_allowed_value"},
		{"back", "blue", "POST", "/v1/leads/" + lead + "/status", `{"status":"contacted"}`, "k", asJSON, 409, "invalid_transition", ""},
	} {
		lines := []string{"Content-Type", step.kind}
		if step.key != "" {
			lines = append(lines, "Idempotency-Key", step.key)
		}
		a := m.send(step.client, step.method, step.path, step.body, lines...)
		if got := a.mustFail(t, step.status, step.code); got != step.fields {
			t.Errorf("%s: %s, want %s", step.what, got, step.fields)
		}
		if step.status == 405 && a.header.Get("Allow") != "POST" {
			t.Errorf("%s: Allow %s", step.what, a.header.Get("Allow"))
		}
		if challenge := a.header.Get("WWW-Authenticate"); (challenge != "") != (step.status == 401 || step.code == "insufficient_scope") {
			t.Errorf("%s: WWW-Authenticate %q", step.what, challenge)
		}
	}
	if m.log.Size() != entries {
		t.Errorf("%d facts were logged", m.log.Size()-entries)
	}
	m.report("blue", lead, "k", `{"status":"returned","reason":"duplicate"}`).mustBe(t, `{"lead_id":"`+lead+`","status":"returned"}`)
}

// What is in the way is said.
func TestReportOutOfOrder(t *testing.T) {
	m := trading(t, new(servertest.MemoryLog))
	late, waits := m.sold("cmp_auto"), m.sold("cmp_hand")
	m.report("red", waits, "k1", `{"status":"returned","reason":"any"}`)
	m.wait(14 * 24 * time.Hour)
	for client := range m.tokens {
		m.tokens[client] = m.token(client, "")
	}
	for _, row := range []struct{ client, lead, body, says string }{
		{"blue", late, `{"status":"returned","reason":"duplicate"}`, "time"},
		{"red", waits, `{"status":"sold"}`, "waits"},
	} {
		a := m.report(row.client, row.lead, "k2", row.body)
		a.mustFail(t, 409, "invalid_transition")
		if !strings.Contains(a.body, row.says) {
			t.Errorf("%s does not say %q", a.body, row.says)
		}
	}
}

// A report's answer comes back to the byte, after a restart as well, with the
// first request's id.
func TestReportsAreReplayed(t *testing.T) {
	m := trading(t, new(servertest.MemoryLog))
	lead, other := m.sold("cmp_auto"), m.sold("cmp_auto")
	one := `{"status":"contacted"}`
	many := `{"changes":[{"lead_id":"` + other + `","status":"sold"},{"lead_id":"` + lead + `","status":"lost"},{"lead_id":"` + other + `","status":"sold"},7,{"lead_id":"no \u0041 \" id","status":"sold"},{"lead_id":"` + noLead + `","status":"sold"}]}`
	first, firsts := m.report("blue", lead, "k1", one), m.reportMany("blue", "k1", many)
	if first.status != 200 || firsts.status != 200 || first.header.Get(httperror.HeaderRequestID) == firsts.header.Get(httperror.HeaderRequestID) {
		t.Fatalf("%d %s, %d %s", first.status, first.body, firsts.status, firsts.body)
	}
	again := func(m *aftermarket) {
		t.Helper()
		entries := m.log.Size()
		m.report("blue", lead, "k1", one).isReplayOf(t, first)
		m.report("blue", lead, `"k1"`, one).isReplayOf(t, first)
		m.reportMany("blue", "k1", many).isReplayOf(t, firsts)
		m.report("blue", lead, "k1", one+" ").mustFail(t, 422, "idempotency_key_reused")
		m.reportMany("blue", "k1", many+" ").mustFail(t, 422, "idempotency_key_reused")
		if m.log.Size() != entries {
			t.Error("a replay was logged")
		}
	}
	again(m)
	m.report("blue", lead, "k2", `{"status":"returned","reason":"duplicate"}`)
	m.report("blue", other, "k2", `{"status":"returned","reason":"duplicate"}`)
	again(m)
	next := trading(t, m.log)
	again(next)
}

func TestReportMany(t *testing.T) {
	m := trading(t, new(servertest.MemoryLog))
	mine, back, theirs := m.sold("cmp_auto"), m.sold("cmp_auto"), m.sold("cmp_hand")
	m.report("blue", back, "k", `{"status":"sold"}`)
	escaped := func(id string) string { return fmt.Sprintf(`\u%04x%s`, id[0], id[1:]) } // each report keeps its own unescaped texts
	body := `{"changes":[
		{"lead_id":"` + escaped(theirs) + `","status":"sold"},
		{"lead_id":"` + escaped(mine) + `","status":"qualified","occurred_at":"2026-01-31T09:30:00+02:00"},
		{"lead_id":"` + back + `","status":"contacted"},
		{"lead_id":"` + back + `","status":"returned"},
		{"status":"sold"}]}`
	notFound := `"error":"not_found","message":"There is no lead of this id, or it is not yours."}`
	m.reportMany("blue", "k", body).mustBe(t, `{"results":[`+
		`{"lead_id":"`+theirs+`",`+notFound+`,`+
		`{"lead_id":"`+mine+`","status":"qualified"},`+
		`{"lead_id":"`+back+`","error":"invalid_transition","message":"The lead has come further than this status, or was returned. Reports go forward only."},`+
		`{"lead_id":"`+back+`","error":"invalid_payload","message":"`+httperror.InvalidPayload.Message+`","field_errors":[`+
		`{"field":"reason","code":"missing_required","expected":"why the lead is returned"},`+
		`{"field":"lead_id","code":"not_allowed_value","expected":"each lead once; send what follows in a request of its own"}]},`+
		`{"lead_id":null,"error":"invalid_payload","message":"`+httperror.InvalidPayload.Message+`","field_errors":[{"field":"lead_id","code":"missing_required","expected":"the lead's id"}]}]}`)
}

// A batch may have a thousand reports with something in each, which is more than a
// lead's body may be; and no more than that.
func TestReportAThousand(t *testing.T) {
	m := trading(t, new(servertest.MemoryLog))
	leads := make([]string, 1000)
	for i := range leads {
		leads[i] = m.sold("cmp_auto")
	}
	batch := func(n int, words string) string {
		var changes []string
		for i := range n {
			changes = append(changes, fmt.Sprintf(`{"lead_id":%q,"status":"returned","reason":"duplicate","occurred_at":"2026-01-31T09:30:00.123456Z","note":%q}`, leads[i%len(leads)], words))
		}
		return `{"changes":[` + strings.Join(changes, ",") + `]}`
	}
	for _, row := range []struct{ what, body, fault string }{
		{"none", `{"changes":[]}`, "changes out_of_range"},
		{"one too many", batch(1001, ""), "changes out_of_range"},
		{"far too many", `{"changes":[` + strings.Repeat("1,", 100_000) + `1]}`, "changes out_of_range"},
		{"nothing at all", `{}`, "changes missing_required"},
		{"null", `{"changes":null}`, "changes missing_required"},
		{"an object", `{"changes":{"0":{}}}`, "changes wrong_type"},
	} {
		if got := m.reportMany("blue", "k", row.body).mustFail(t, 422, "invalid_payload"); got != row.fault {
			t.Errorf("%s: %s", row.what, got)
		}
	}
	large := m.reportMany("blue", "k", batch(1000, strings.Repeat("w", 400)))
	if large.mustFail(t, 413, "payload_too_large"); !strings.Contains(large.body, "batch") {
		t.Error(large.body)
	}
	m.reportMany("", "k", batch(1000, strings.Repeat("w", 400))).mustFail(t, 401, "unauthorized")
	m.reportMany("acme", "k", batch(1000, "")).mustFail(t, 403, "forbidden")
	m.reportMany("blue", "k", `{"changes":[{"lead_id":"a","lead_id":"b"}]}`).mustFail(t, 400, "malformed_json")
	a := m.reportMany("blue", "k", batch(1000, strings.Repeat("w", 200)))
	if n := strings.Count(a.body, `"status":"returned"`); a.status != 200 || n != 1000 || strings.Contains(a.body, "error") {
		t.Errorf("%d, %d taken, %.300s", a.status, n, a.body)
	}
	for i, lead := range leads {
		if !strings.Contains(a.body, lead) {
			t.Fatalf("lead %d is not in the answer", i)
		}
	}
	m.reportMany("blue", "k", batch(1000, strings.Repeat("w", 200))).isReplayOf(t, a)
	if a := m.send("blue", http.MethodGet, "/v1/leads/status", ""); a.status != 405 || a.header.Get("Allow") != "POST" {
		t.Errorf("%d %s, Allow %s", a.status, a.body, a.header.Get("Allow"))
	}
}

// empty takes all tokens of a bucket for an hour.
func (m *aftermarket) empty(of *tokenBucketsByOwner, owner market.PermanentNumber) {
	later := time.Unix(0, m.clock.Now()).Add(time.Hour)
	for ok := true; ok; {
		ok, _ = (*of.buckets.Load())[owner].takeTokens(1, later)
	}
}

// Lookups and reports of one owner share a limit, which does not affect others.
func TestLeadRequestsAreLimited(t *testing.T) {
	m := trading(t, new(servertest.MemoryLog))
	lead := m.sold("cmp_auto")
	catalog := m.engine.ActiveCatalog()
	m.empty(&m.leadLimits.buyers, catalog.Buyers["buy_blue"].Ref)
	m.empty(&m.leadLimits.suppliers, catalog.Suppliers["sup_acme"].Ref)
	for what, a := range map[string]*heard{
		"a report":                m.report("blue", "no lead", "", "no JSON"),
		"many":                    m.reportMany("blue", "", "no JSON"),
		"a buyer's look":          m.send("blue", http.MethodGet, "/v1/leads/17", ""),
		"a seller's":              m.send("acme", http.MethodGet, "/v1/leads/"+lead, ""),
		"a supplier's by its key": m.send("key of acme", http.MethodGet, "/api/v1/leads/"+lead, ""),
	} {
		a.mustFail(t, 429, "rate_limited")
		if a.header.Get("Retry-After") == "" || a.header.Get("X-RateLimit-Limit") != "100" || a.header.Get("X-RateLimit-Remaining") != "0" {
			t.Errorf("%s: %v", what, a.header)
		}
	}
	m.report("red", noLead, "k", `{"status":"sold"}`).mustFail(t, 404, "not_found")
	m.send("other", http.MethodGet, "/v1/leads/"+lead, "").mustFail(t, 404, "not_found")
}
