package exchange

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pingpost/internal/must"
)

// auditEntry is an entry of the audit log.
type auditEntry struct {
	ID, At, Credential, Operation, Outcome string
	Actor, Role, Address, Target, Ended    *string
	TargetKind                             *string `json:"target_kind"`
	Status                                 *int
	Request, Before, After, Result         json.RawMessage
}

// audit returns one page of the audit log, once the report has all log entries.
func (r *testExchange) audit(query string) (entries []auditEntry, next *string) {
	r.t.Helper()
	r.waitForAllLogEntries()
	page := decode[struct {
		Entries []auditEntry
		Next    *string
	}](r.t, r.mustAdmin(200, "GET", "/admin/v1/audit"+query, ""))
	return page.Entries, page.Next
}

// waitForAllLogEntries waits for the report where the test reads its files, or an answer without the
// member complete.
func (r *testExchange) waitForAllLogEntries() {
	r.t.Helper()
	eventually(r.t, "the report has all log entries", func() bool { return r.Report().WaitBrieflyForNewestEntries(r.t.Context(), 0) })
}

func (e *auditEntry) String() string {
	text := func(s *string) string {
		if s == nil {
			return "-"
		}
		return *s
	}
	status := 0
	if e.Status != nil {
		status = *e.Status
	}
	return fmt.Sprintf("%s %s %s %s %s %s %s %d %s %s %s %s", text(e.Actor), e.Credential, text(e.Address), e.Operation, text(e.TargetKind), text(e.Target), e.Outcome, status,
		e.Request, e.Before, e.After, e.Result)
}

// startAudited starts an exchange on which operators act, and returns the expected entries of the audit
// log, oldest first.
func startAudited(t *testing.T) (x *testExchange, want []string) {
	t.Helper()
	x = start(t, newTestDir(t, reportConfig(strings.Replace(baseConfig, "states: [CA, NV]", "states: [CA, NV], funds: {balance: 100}", 1))))
	x.mustAdmin(204, "POST", "/admin/v1/campaigns/cmp/pause", "")
	x.mustAdmin(200, "POST", "/admin/v1/buyers/buy_blue/funds", `{"amount":5.5,"note":"=wire"}`)
	x.mustAdmin(201, "PUT", "/admin/v1/users/ann", `{"role":"viewer","password":"a canary of a password"}`)
	x.putEntry("buyers/buy_red", `{"name":"Red","states":["NV"]}`)
	x.removeEntry("buyers/buy_red")
	x.adminRequest("POST", "/admin/v1/campaigns/none/pause", "").mustFail(t, 404, "not_found")
	x.adminRequest("PUT", "/admin/v1/secrets/buyer/buy_blue/bearer", `{"value":"canary"}`).mustFail(t, 404, "not_found")
	x.mustAdmin(201, "POST", "/admin/v1/suppliers/sup_other/keys", "{}")
	x.mustAdmin(200, "PUT", "/admin/v1/config?dry=1", configWithPrice("13"))
	x.reloadWith(reportConfig(strings.Replace(configWithPrice("13"), "states: [CA, NV]", "states: [CA, NV], funds: {balance: 100}", 1)))
	by := "operator shared_password 127.0.0.1 "
	return x, []string{
		`- none - start configuration exchange.yaml done 200 null null null {"changes":[`,
		by + `POST /admin/v1/campaigns/{id}/pause campaign cmp done 204 null {"paused":false} {"paused":true} null`,
		by + `POST /admin/v1/buyers/{id}/funds buyer buy_blue done 200 {"amount":5.5,"note":"=wire"} {"balance":100,"credentials":[],"paused":false} {"balance":105.5,"credentials":[],"paused":false} null`,
		by + `PUT /admin/v1/users/{name} user ann done 201 {"role":"viewer"} null {"changed":`,
		by + `PUT /admin/v1/config/buyers/{id} buyer buy_red done 200 null null {"id":"buy_red","name":"Red"`,
		by + `DELETE /admin/v1/config/buyers/{id} buyer buy_red done 200 null {"id":"buy_red","name":"Red"`,
		by + `POST /admin/v1/campaigns/{id}/pause campaign none failed 404 null null null null`,
		by + `PUT /admin/v1/secrets/{name:*} secret buyer/buy_blue/bearer failed 404 null {"stored":false} null null`,
		by + `POST /admin/v1/suppliers/{id}/keys supplier sup_other done 201 null {"credentials":["api_key other-"]} {"credentials":["api_key other-","api_key key_`,
		`- none - reload configuration exchange.yaml done 200 null null null {"changes":["~ campaigns[cmp].buyers[buy_blue].price: 12.05 -> 13"]}`,
	}
}

// TestAuditLogHasOperatorActions: each action has its entry with operator, credential, address, target,
// outcome, and the target before and after. A restart and a rebuild of the report keep them.
func TestAuditLogHasOperatorActions(t *testing.T) {
	t.Parallel()
	x, want := startAudited(t)
	check := func() {
		t.Helper()
		entries, next := x.audit("")
		if len(entries) != len(want) || next != nil {
			t.Fatalf("%d entries, next %v, want %d", len(entries), next, len(want))
		}
		for i := range want {
			if got := entries[len(entries)-1-i].String(); !strings.HasPrefix(got, want[i]) {
				t.Errorf("entry %d is\n%s\nwant\n%s", i, got, want[i])
			}
		}
	}
	check()
	checkNoFileContains(t, x.dataDir(), "canary")
	x.mustAdmin(202, "POST", "/admin/v1/report/rebuild", "")
	want = append(want, `operator shared_password 127.0.0.1 POST /admin/v1/report/rebuild report - done 202`)
	eventually(t, "the report was rebuilt", func() bool { return x.Report().ProgressStatus().Rebuilds == 1 })
	check()
	x = x.restart()
	check()
}

// TestAuditLogOfSettings: a start applies all settings of the file, and a reload only some.
func TestAuditLogOfSettings(t *testing.T) {
	t.Parallel()
	const later = "(at the next start)"
	x := start(t, newTestDir(t, reportConfig(baseConfig)))
	entries, _ := x.audit("?operation=start")
	if got := entries[0].String(); !strings.Contains(got, `"+ history: `) || strings.Contains(got, later) {
		t.Errorf("the start is recorded as %s", got)
	}
	x.reloadWith(reportConfig(baseConfig) + "history: 500d\n")
	entries, _ = x.audit("?operation=reload")
	if got := entries[0].String(); !strings.Contains(got, `\"500d\" `+later) {
		t.Errorf("the reload is recorded as %s", got)
	}
}

// TestAuditLogShowsAlertsAndInvitations: the entries have the changed rule, the channel without its
// secret, and the role of an invitation.
func TestAuditLogShowsAlertsAndInvitations(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, reportConfig(baseConfig)))
	rule := x.mustAdmin(201, "PUT", "/admin/v1/alerts/rules/disk", `{"kind":"disk_free","threshold":5,"for_s":0}`, "If-None-Match", "*")
	x.mustAdmin(204, "DELETE", "/admin/v1/alerts/rules/disk", "", "If-Match", rule.header.Get("ETag"))
	secret := x.addChannel("ops", `{"kind":"webhook","url":"https://example.com/hook"}`).body
	x.mustAdmin(201, "POST", "/admin/v1/invitations", `{"name":"eve","role":"admin"}`)
	by, disk := "operator shared_password 127.0.0.1 ", `{"id":"disk","name":"Free disk space","kind":"disk_free","threshold":5,"resolve_threshold":5,"for_s":0,`
	entries, _ := x.audit("")
	for i, want := range []string{
		by + `POST /admin/v1/invitations invitation - done 201 {"name":"eve","role":"admin"} null null {"expires_at":"`,
		by + `PUT /admin/v1/alerts/channels/{id} alert_channel ops done 201 null null {"id":"ops","name":"ops","kind":"webhook","off":false,"url":"https://example.com/…"} null`,
		by + `DELETE /admin/v1/alerts/rules/{id} alert_rule disk done 204 null ` + disk,
		by + `PUT /admin/v1/alerts/rules/{id} alert_rule disk done 201 null null ` + disk,
	} {
		if got := entries[i].String(); !strings.HasPrefix(got, want) {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
	_, after, _ := strings.Cut(secret, `"secret":"`)
	key, _, _ := strings.Cut(after, `"`)
	if key == "" || strings.Contains(fmt.Sprint(logAsJSON(t, x.dataDir())), key) {
		t.Error("the log has the channel's secret, or the answer has none")
	}
}

// TestAuditLogSearch: each parameter, pages, and invalid parameters.
func TestAuditLogSearch(t *testing.T) {
	t.Parallel()
	x, _ := startAudited(t)
	for query, want := range map[string]int{
		"actor=operator": 8, "actor=nobody": 0, "target_kind=buyer": 3, "target_kind=buyer&target=buy_red": 2, "credential=shared_password": 8, "credential=none": 2,
		"outcome=failed": 2, "outcome=unknown": 0, "outcome=done": 8, "q=WIRE": 1, "q=%25": 0, "q=BUY_RED": 2,
		"from=2020-01-01": 10, "to=2020-01-01": 0, "from=2199-01-01": 0, "to=2199-01-01&limit=500": 10,
	} {
		if got, _ := x.audit("?" + query); len(got) != want {
			t.Errorf("%s: %d entries, want %d", query, len(got), want)
		}
	}
	all, _ := x.audit("")
	var paged []string
	for after, pages := "", 0; ; pages++ {
		page, next := x.audit("?limit=4" + after)
		for i := range page {
			paged = append(paged, page[i].ID)
		}
		if next == nil {
			if pages != 2 {
				t.Errorf("%d pages, want 3", pages+1)
			}
			break
		}
		after = "&after=" + *next
	}
	for i := range all {
		if len(paged) != len(all) || paged[i] != all[i].ID {
			t.Fatalf("entry %d of the pages is another one: %v", i, paged)
		}
	}
	for _, query := range []string{"limit=0", "limit=501", "after=x", "outcome=x", "credential=x", "format=parquet", "format=x", "from=x", "from=2026-01-02&to=2026-01-01", "q=" + strings.Repeat("x", 201)} {
		x.adminRequest("GET", "/admin/v1/audit?"+query, "").mustFail(t, 422, "invalid_payload")
	}
}

// TestAuditLogExport: CSV and NDJSON have all entries, over several pages. A spreadsheet reads no cell as
// a formula.
func TestAuditLogExport(t *testing.T) {
	t.Parallel()
	x, _ := startAudited(t)
	for range 60 {
		x.adminRequest("POST", "/admin/v1/buyers/%3DHYPERLINK(1)/pause", "").mustFail(t, 404, "not_found")
	}
	x.waitForAllLogEntries()
	a := x.mustAdmin(200, "GET", "/admin/v1/audit?format=csv", "")
	rows := must.Value(csv.NewReader(strings.NewReader(a.body)).ReadAll())(t)
	if len(rows) != 71 || a.header.Get("Content-Type") != "text/csv; charset=utf-8" || rows[0][3] != "actor" || rows[1][10] != "'=HYPERLINK(1)" {
		t.Errorf("%d rows, %s, %q", len(rows), a.header.Get("Content-Type"), rows[:2])
	}
	for _, row := range rows {
		for _, cell := range row {
			if cell != "" && strings.ContainsAny(cell[:1], "=+-@\t\r") {
				t.Errorf("a spreadsheet reads the cell %q as a formula", cell)
			}
		}
	}
	a = x.mustAdmin(200, "GET", "/admin/v1/audit?format=ndjson&target_kind=buyer", "")
	lines := strings.Split(strings.TrimSpace(a.body), "\n")
	if len(lines) != 63 || a.header.Get("Content-Type") != "application/x-ndjson" {
		t.Errorf("%d lines, want 63", len(lines))
	}
	for _, line := range lines {
		if e := (auditEntry{}); json.Unmarshal([]byte(line), &e) != nil || e.ID == "" {
			t.Errorf("invalid line %s", line)
		}
	}
}

// TestAuditLogHasAppliedDocumentsAndTakenSides: pingpost apply sends a document, and pingpost config take
// takes the file's side of a drift. The entries of both have the changes.
func TestAuditLogHasAppliedDocumentsAndTakenSides(t *testing.T) {
	t.Parallel()
	seeded := strings.NewReplacer("provisioning: enforce", "provisioning: seed", "report: {keep: 0s}", "report: {keep: 400d}")
	x := start(t, newTestDir(t, seeded.Replace(baseConfig)))
	x.mustAdmin(200, "PUT", "/admin/v1/config", seeded.Replace(configWithPrice("13")))
	x.writeConfig(t, seeded.Replace(configWithPrice("14")))
	x.mustAdmin(200, "POST", "/admin/v1/config/drift", `{"side":"file"}`)
	entries, _ := x.audit("?target_kind=configuration&limit=2")
	for i, want := range []string{
		`operator shared_password 127.0.0.1 POST /admin/v1/config/drift configuration - done 200 {"side":"file"} null null {"changes":["~ campaigns[cmp].buyers[buy_blue].price: 13 -> 14"],"unapplied":[`,
		`operator shared_password 127.0.0.1 PUT /admin/v1/config configuration - done 200 null null null {"changes":["~ campaigns[cmp].buyers[buy_blue].price: 12.05 -> 13"],"unapplied":[`,
	} {
		if got := entries[i].String(); !strings.HasPrefix(got, want) {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
}

// TestAuditLogHasLongAnswers: the client gets a long answer compressed; the record has its text.
func TestAuditLogHasLongAnswers(t *testing.T) {
	t.Parallel()
	seeded := strings.NewReplacer("provisioning: enforce", "provisioning: seed", "report: {keep: 0s}", "report: {keep: 400d}")
	x := start(t, newTestDir(t, seeded.Replace(baseConfig)))
	var buyers strings.Builder
	buyers.WriteString("buyers:\n")
	for n := range 50 {
		fmt.Fprintf(&buyers, "  - {id: buy_%d, states: [CA]}\n", n)
	}
	x.mustAdmin(200, "PUT", "/admin/v1/config", strings.Replace(seeded.Replace(baseConfig), "buyers:\n", buyers.String(), 1))
	entries, _ := x.audit("?target_kind=configuration&limit=1")
	if got := entries[0].String(); strings.Count(got, "buy_") < 20 {
		t.Errorf("the record lacks the changes: %s", got)
	}
}
