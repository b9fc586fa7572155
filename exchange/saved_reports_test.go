package exchange

import (
	"encoding/base64"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"strings"
	"testing"
	"time"

	"pingpost/engine/savedreport"
	"pingpost/exchange/reportmail"
	"pingpost/internal/must"
	"pingpost/outbound/mail/mailtest"
)

const savedReports = "/admin/v1/saved-reports"

// salesReport is a saved report by source that is sent at 08:00, with the given members in addition.
func salesReport(more string) string {
	return `{"name":"Sales by source","query":{"by":["source"],"filters":{"buyer":"buy_blue"},"period":"yesterday","totals":true},
		"schedule":{"frequency":"daily","time":"08:00","recipients":["boss@example.com","desk@example.com"]}` + more + `}`
}

// startWithMailServer starts an exchange with a report, a channel of alerts at an SMTP server, and the
// saved report of salesReport. It returns the saved report's id.
func startWithMailServer(t *testing.T, server *mailtest.Server) (x *testExchange, id string) {
	t.Helper()
	x = start(t, newTestDir(t, reportConfig(baseConfig)))
	x.addChannel("mail", emailChannel(server))
	saved := decode[struct{ ID string }](t, x.mustAdmin(201, "POST", savedReports, salesReport("")))
	return x, saved.ID
}

// advanceToMorning sets the clock to 08:00 of a later day, and queues the reports that are due.
func (r *testExchange) advanceToMorning(days int) {
	r.t.Helper()
	year, month, day := time.Unix(0, r.clock.Now()).UTC().Date()
	r.clock.AdvanceTo(time.Date(year, month, day+days, 8, 0, 0, 0, time.UTC).UnixNano())
	r.reportMail.service.Load().QueueDueMails(r.clock.Now())
}

// savedReportStatus is the state of the first saved report.
type savedReportStatus struct {
	ETag string
	Mail struct {
		Next      *string `json:"next_at"`
		LastSent  *string `json:"last_sent_at"`
		Waiting   bool
		Failing   *string `json:"failing_since"`
		LastError *string `json:"last_error"`
	}
}

func (r *testExchange) savedReportStatus() savedReportStatus {
	r.t.Helper()
	return decode[struct {
		Reports []savedReportStatus `json:"saved_reports"`
	}](r.t, r.mustAdmin(200, "GET", savedReports, "")).Reports[0]
}

func (r *testExchange) waitUntilReportSent() {
	r.t.Helper()
	eventually(r.t, "the report is sent", func() bool { return r.savedReportStatus().Mail.LastSent != nil })
}

// readMail is a message with its plain text, its HTML and its attached file.
type readMail struct{ subject, text, html, file, fileName string }

// parseMail reads a message.
func parseMail(t *testing.T, data string) (m readMail) {
	t.Helper()
	letter := must.Value(mail.ReadMessage(strings.NewReader(data)))(t)
	m.subject = must.Value(new(mime.WordDecoder).DecodeHeader(letter.Header.Get("Subject")))(t)
	var read func(header, encoding, name string, body io.Reader)
	read = func(header, encoding, name string, body io.Reader) {
		kind, parameters, err := mime.ParseMediaType(header)
		must.Succeed(t, err)
		if strings.HasPrefix(kind, "multipart/") {
			for parts := multipart.NewReader(body, parameters["boundary"]); ; {
				part, err := parts.NextRawPart()
				if err == io.EOF {
					return
				}
				must.Succeed(t, err)
				read(part.Header.Get("Content-Type"), part.Header.Get("Content-Transfer-Encoding"), part.FileName(), part)
			}
		}
		if encoding == "quoted-printable" {
			body = quotedprintable.NewReader(body)
		}
		if encoding == "base64" {
			body = base64.NewDecoder(base64.StdEncoding, body)
		}
		content := string(must.Value(io.ReadAll(body))(t))
		switch kind {
		case "text/plain":
			m.text = content
		case "text/html":
			m.html = content
		default:
			m.file, m.fileName = content, name
		}
	}
	read(letter.Header.Get("Content-Type"), letter.Header.Get("Content-Transfer-Encoding"), "", letter.Body)
	return m
}

// A report is sent with its totals and its file at the moment of its schedule, once, also over
// restarts. After an outage only the latest moment is sent.
func TestScheduledReportIsSentOnce(t *testing.T) {
	t.Parallel()
	server := mailtest.Start(t, mailtest.Options{})
	x, _ := startWithMailServer(t, server)
	for i, source := range []string{`"=cmd|calc"`, `"=cmd|calc"`, `"<b>Züri</b>"`} {
		x.mustSell(leadBody(i, "source", source, "state", `"CA"`))
	}
	x.waitForReport("by=source&buyer=buy_blue", func(rows []map[string]string) bool { return len(rows) == 2 })
	x.advanceToMorning(1)
	x.waitUntilReportSent()
	message := server.WaitForMessages(1)[0]
	if len(message.To) != 2 || !strings.Contains(message.From, "alerts@example.com") {
		t.Errorf("from %s to %s", message.From, message.To)
	}
	got := parseMail(t, message.Data)
	subject, text, html, file, name := got.subject, got.text, got.html, got.file, got.fileName
	if !strings.HasPrefix(subject, "[production] Sales by source, 20") || !strings.HasPrefix(name, "sales-by-source-20") || !strings.HasSuffix(name, ".csv") {
		t.Errorf("subject %q, file %q", subject, name)
	}
	for _, part := range []string{"only buyer buy_blue", "Source", "=cmd|calc", "Total", "36.15", "24.1"} {
		if !strings.Contains(text, part) || part != "=cmd|calc" && !strings.Contains(html, part) {
			t.Errorf("no %q in the e-mail:\n%s\n%s", part, text, html)
		}
	}
	for _, part := range []string{text, html} {
		if !strings.Contains(part, "Console: http://"+x.AdminAddress()+"/#/reports/saved") {
			t.Errorf("no link to the console in the e-mail:\n%s", part)
		}
	}
	if strings.Contains(html, "<b>") || !strings.Contains(html, "&lt;b&gt;Züri") {
		t.Errorf("a source is not escaped: %s", html)
	}
	if !strings.HasPrefix(file, "row,source,currency,revenue") || !strings.Contains(file, "row,'=cmd|calc,USD,24.1") || !strings.Contains(file, "total,,USD,36.15") {
		t.Errorf("file:\n%s", file)
	}

	x.stop()
	x = startAcceptingClock(t, x.testDir)
	x.reportMail.service.Load().QueueDueMails(x.clock.Now())
	x.advanceToMorning(5)
	eventually(t, "the latest moment is sent", func() bool { return len(server.Messages()) > 1 })
	x.reportMail.service.Load().QueueDueMails(x.clock.Now())
	eventually(t, "the second e-mail is recorded", func() bool { return !x.savedReportStatus().Mail.Waiting })
	x.stop() // afterwards no alert can log one more event
	seq, hash := x.state.Hash()
	if messages := server.Messages(); len(messages) != 2 {
		t.Errorf("%d e-mails, want 2", len(messages))
	}
	if got, want := replayedStateHash(t, x.testDir), fmt.Sprintf("%d %016x\n", seq, hash); got != want {
		t.Errorf("replayed state %s, want %s", got, want)
	}
}

// A moment that was not sent before a crash is sent afterwards. The e-mail is shown as waiting meanwhile,
// and the stop does not wait for the server.
func TestUnsentReportIsSentAfterCrash(t *testing.T) {
	t.Parallel()
	server := mailtest.Start(t, mailtest.Options{Hang: "DATA"})
	x, _ := startWithMailServer(t, server)
	x.advanceToMorning(1)
	eventually(t, "the e-mail waits", func() bool { return x.savedReportStatus().Mail.Waiting })
	crashed := startAcceptingClock(t, x.copyFiles(t))
	working := mailtest.Start(t, mailtest.Options{})
	etag := crashed.mustAdmin(200, "GET", "/admin/v1/alerts/channels/mail", "").header.Get("ETag")
	crashed.mustAdmin(200, "PUT", "/admin/v1/alerts/channels/mail", emailChannel(working), "If-Match", etag)
	crashed.clock.AdvanceTo(x.clock.Now())
	crashed.reportMail.service.Load().QueueDueMails(crashed.clock.Now())
	crashed.waitUntilReportSent()
	began := time.Now()
	x.stop()
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("the stop waited for the server: %s", took)
	}
}

// A server that refuses shows in the status. Without a channel, the error names the remedy.
func TestFailingReportIsShown(t *testing.T) {
	t.Parallel()
	server := mailtest.Start(t, mailtest.Options{Refuse: "RCPT"})
	x, id := startWithMailServer(t, server)
	x.advanceToMorning(1)
	eventually(t, "the status has the error", func() bool {
		m := x.savedReportStatus().Mail
		return m.Waiting && m.Failing != nil && m.LastError != nil && strings.Contains(*m.LastError, "550")
	})
	x.waitForReport("", func([]map[string]string) bool { return true })
	x.mustAdmin(200, "POST", savedReports+"/"+id+"/send", "").mustHave(t, 200, `"sent":false`, "550")
	etag := x.mustAdmin(200, "GET", "/admin/v1/alerts/channels/mail", "").header.Get("ETag")
	x.mustAdmin(204, "DELETE", "/admin/v1/alerts/channels/mail", "", "If-Match", etag)
	x.mustAdmin(200, "POST", savedReports+"/"+id+"/send", "").mustHave(t, 200, `"sent":false`, "there is no e-mail channel")
	x.mustAdmin(200, "GET", savedReports, "").mustHave(t, 200, `"channel":null`)
	if strings.Contains(x.logged.String(), "@example.com") || !strings.Contains(x.logged.String(), "a report was not sent") {
		t.Error("the process's log has an address, or lacks the failure")
	}
}

// A report is sent on request, to the given recipients or to those of the schedule.
func TestReportIsSentOnRequest(t *testing.T) {
	t.Parallel()
	server := mailtest.Start(t, mailtest.Options{})
	x, id := startWithMailServer(t, server)
	x.waitForReport("", func([]map[string]string) bool { return true })
	x.mustAdmin(200, "POST", savedReports+"/"+id+"/send", "").mustHave(t, 200, `"sent":true`, `"error":null`)
	x.mustAdmin(200, "POST", savedReports+"/"+id+"/send", `{"recipients":["one@example.com"]}`).mustHave(t, 200, `"sent":true`)
	messages := server.WaitForMessages(2)
	if len(messages[0].To) != 2 || len(messages[1].To) != 1 || !strings.Contains(messages[1].To[0], "one@example.com") {
		t.Errorf("%v and %v", messages[0].To, messages[1].To)
	}
	if got := parseMail(t, messages[0].Data); !strings.Contains(got.text, "No lead in this period.") {
		t.Error(got.text)
	}
	if status := x.savedReportStatus(); status.Mail.LastSent == nil || status.Mail.Next == nil {
		t.Errorf("%+v", status.Mail)
	}
	x.adminRequest("POST", savedReports+"/"+id+"/send", `{"recipients":["one"]}`).mustHave(t, 422, `"recipients[0]"`)
	x.mustAdmin(404, "POST", savedReports+"/report_x/send", "")
	log := strings.Join(logAsJSON(t, x.dataDir()), "\n")
	for _, part := range []string{`"document_bytes":`, `"outcome":"sent","requested":true`} {
		if !strings.Contains(log, part) {
			t.Errorf("the log has no %s", part)
		}
	}
	if strings.Contains(x.logged.String(), "@example.com") {
		t.Error("the process's log has an address")
	}
}

// A file above the limit is left out, and the text says so. The totals count all rows.
func TestLargeFileIsLeftOut(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, reportConfig(baseConfig)))
	for i := range 60 {
		x.mustSell(leadBody(i, "source", fmt.Sprintf("%q", fmt.Sprint("source-", i))))
	}
	x.waitForReport("by=source", func(rows []map[string]string) bool { return len(rows) == 60 })
	entry := savedreport.Entry{ID: "report_1", SavedReport: savedreport.SavedReport{Name: "Sources", Query: savedreport.Query{By: []string{"source"}, Period: "today"}}}
	for limit, isAttached := range map[int]bool{1000: false, 0: true} {
		composer := reportmail.Composer{Report: x.Report, Zone: time.UTC, MaxAttachment: limit}
		message := must.Value(composer.Compose(t.Context(), &entry, x.clock.Now()))(t)
		if (message.Attachment != nil) != isAttached || strings.Contains(message.Text, "so it is not attached") == isAttached {
			t.Errorf("limit %d: attached %t:\n%s", limit, message.Attachment != nil, message.Text)
		}
		if !strings.Contains(message.Text, "first 50 of 60 rows") || !strings.Contains(message.Text, "723") || strings.Count(message.Text, "\nsource-") != 50 {
			t.Error(message.Text)
		}
		if strings.Contains(message.Text+message.HTML, "Console:") { // the composer has no address of the console
			t.Error(message.Text)
		}
	}
}

// The API checks a report's members and versions, and limits their number.
func TestSavedReportsAPI(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, reportConfig(baseConfig)))
	created := x.mustAdmin(201, "POST", savedReports, salesReport(""))
	saved := decode[struct{ ID, ETag string }](t, created)
	at := savedReports + "/" + saved.ID
	if created.header.Get("ETag") != `"`+saved.ETag+`"` {
		t.Errorf("ETag %s, want %s", created.header.Get("ETag"), saved.ETag)
	}
	x.mustAdmin(409, "POST", savedReports, strings.Replace(salesReport(""), "Sales", "SALES", 1))
	x.mustAdmin(422, "PUT", at, salesReport(""))
	weekly := `{"name":"Weekly","query":{"by":["day","buyer"],"period":"last_week","columns":["day","revenue"]},"schedule":{"frequency":"weekly","weekday":"monday","time":"07:30","recipients":["a@example.com"]}}`
	changed := decode[struct{ ETag string }](t, x.mustAdmin(200, "PUT", at, weekly, "If-Match", saved.ETag))
	x.mustAdmin(409, "PUT", at, weekly, "If-Match", saved.ETag)
	x.mustAdmin(404, "PUT", savedReports+"/report_x", weekly, "If-Match", saved.ETag)
	x.mustAdmin(200, "GET", savedReports, "").mustHave(t, 200, `"name":"Weekly"`, `"weekday":"monday"`, `"filters":{}`, `"totals":false`, `"columns":["day","revenue"]`)
	x.mustAdmin(409, "DELETE", at, "", "If-Match", saved.ETag)
	x.mustAdmin(204, "DELETE", at, "", "If-Match", changed.ETag)
	x.mustAdmin(404, "DELETE", at, "", "If-Match", changed.ETag)

	for bad, field := range map[string]string{
		`{"name":" ","query":{"period":"today"}}`:                              "name",
		`{"name":"a\nb","query":{"period":"today"}}`:                           "name",
		`{"name":"a","query":{}}`:                                              "query.period",
		`{"name":"a","query":{"period":"ever"}}`:                               "query.period",
		`{"name":"a","query":{"period":"today","by":["x"]}}`:                   "query.by[0]",
		`{"name":"a","query":{"period":"today","by":["day","hour"]}}`:          "query.by",
		`{"name":"a","query":{"period":"today","columns":["x"]}}`:              "query.columns",
		`{"name":"a","query":{"period":"today","filters":{"day":"x"}}}`:        "query.filters.day",
		`{"name":"a","query":{"period":"today","filters":{"source":"a\nb"}}}`:  "query.filters.source",
		`{"name":"a","query":{"period":"today"},"schedule":{"frequency":"x"}}`: "schedule.frequency",
	} {
		x.adminRequest("POST", savedReports, bad).mustHave(t, 422, `"`+field+`"`)
	}
	for bad, field := range map[string]string{
		`"frequency":"daily","time":"8:00","recipients":["a@b.c"]`:                     "schedule.time",
		`"frequency":"daily","time":"08:00","recipients":[]`:                           "schedule.recipients",
		`"frequency":"daily","time":"08:00","recipients":["a@b.c","x"]`:                "schedule.recipients[1]",
		`"frequency":"daily","time":"08:00","weekday":"monday","recipients":["a@b.c"]`: "schedule.weekday",
		`"frequency":"weekly","time":"08:00","recipients":["a@b.c"]`:                   "schedule.weekday",
		`"frequency":"monthly","time":"08:00","day":32,"recipients":["a@b.c"]`:         "schedule.day",
		`"frequency":"daily","time":"08:00","day":1,"recipients":["a@b.c"]`:            "schedule.day",
	} {
		x.adminRequest("POST", savedReports, `{"name":"a","query":{"period":"today"},"schedule":{`+bad+`}}`).mustHave(t, 422, `"`+field+`"`)
	}
	for i := range savedreport.MaxReports {
		x.mustAdmin(201, "POST", savedReports, fmt.Sprintf(`{"name":"r%d","query":{"period":"today"}}`, i))
	}
	x.mustAdmin(409, "POST", savedReports, `{"name":"one too many","query":{"period":"today"}}`)
}

// The audit log has each change of a saved report, before and after, and each e-mail on request.
func TestAuditLogShowsSavedReports(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, reportConfig(baseConfig)))
	document := `{"name":"%s","query":{"by":["day"],"period":"today"},"schedule":{"frequency":"daily","time":"08:00","recipients":["a@example.com"]}}`
	saved := decode[struct{ ID, ETag string }](t, x.mustAdmin(201, "POST", savedReports, fmt.Sprintf(document, "one")))
	at := savedReports + "/" + saved.ID
	changed := decode[struct{ ETag string }](t, x.mustAdmin(200, "PUT", at, fmt.Sprintf(document, "two"), "If-Match", saved.ETag))
	x.mustAdmin(200, "POST", at+"/send", "")
	x.mustAdmin(204, "DELETE", at, "", "If-Match", changed.ETag)
	by := "operator shared_password 127.0.0.1 "
	entries, _ := x.audit("")
	for i, want := range []string{
		by + `DELETE /admin/v1/saved-reports/{id} saved_report ` + saved.ID + ` done 204 null {"name":"two"`,
		by + `POST /admin/v1/saved-reports/{id}/send saved_report ` + saved.ID + ` done 200 null `,
		by + `PUT /admin/v1/saved-reports/{id} saved_report ` + saved.ID + ` done 200 null {"name":"one"`,
		by + `POST /admin/v1/saved-reports saved_report - done 201 {"name":"one","query":`,
	} {
		if got := entries[i].String(); !strings.HasPrefix(got, want) {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
}
