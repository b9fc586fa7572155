package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestReportCommand: a lead that a running exchange has sold is in its report, and is so
// again after that was built anew.
func TestReportCommand(t *testing.T) {
	s := serve(t, "-c", configuration(t, served+"report: {keep: 400d}\n"))
	public, admin := s.addresses("production")
	sendOne(t, public)
	for _, said := range []string{"", "The exchange is rebuilding the report.\n"} {
		if said != "" && mustRun(t, "report", "rebuild", "--admin", admin) != said {
			t.Error("a rebuild does not say so")
		}
		untilReported(t, admin, reportShowCmd{}, "currency,leads,", "\r\nUSD,1,")
		untilReported(t, admin, reportShowCmd{By: []string{"hour", "supplier"}, Zone: "Asia/Kolkata"}, "hour,supplier_id,currency,leads,", "+05:30,")
	}
}

// untilReported asks until the answer begins with one text and has another in it: a
// report is some tenths of a second behind, and says so where it is built anew.
func untilReported(t *testing.T, admin string, ask reportShowCmd, begins, has string) {
	t.Helper()
	ask.adminFlags, ask.Format = adminFlags{Admin: admin, Password: adminPassword}, "csv"
	for begun := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		var answer bytes.Buffer
		err := ask.Run(&answer)
		if err == nil && strings.HasPrefix(answer.String(), begins) && strings.Contains(answer.String(), has) {
			return
		}
		if time.Since(begun) > time.Minute {
			t.Fatalf("waited in vain for the lead: %v %q", err, answer.String())
		}
	}
}

// TestReportAsks: what is sent.
func TestReportAsks(t *testing.T) {
	var asked string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.Method + " " + r.URL.String()
		_, _ = io.WriteString(w, "rows\n")
	}))
	defer server.Close()
	flags := adminFlags{Admin: server.URL}
	for _, row := range []struct {
		cmd  reportShowCmd
		want string
	}{
		{reportShowCmd{Format: "csv"}, "GET /admin/v1/report?format=csv"},
		{reportShowCmd{Format: "ndjson", By: []string{"day", "buyer"}, Zone: "Asia/Kolkata"}, "GET /admin/v1/report?by=day%2Cbuyer&format=ndjson&zone=Asia%2FKolkata"},
		{reportShowCmd{Format: "parquet", By: []string{"hour"}}, "GET /admin/v1/report?by=hour&format=parquet"},
		{reportShowCmd{Format: "csv", From: "2026-11-01", To: "2026-12-01", Supplier: "a", Buyer: "b", Campaign: "c"}, "GET /admin/v1/report?buyer=b&campaign=c&format=csv&from=2026-11-01&supplier=a&to=2026-12-01"},
		{reportShowCmd{Format: "csv", Source: "s t", State: "CA", Reason: "no_bid"}, "GET /admin/v1/report?format=csv&reason=no_bid&source=s+t&state=CA"},
	} {
		var out bytes.Buffer
		row.cmd.adminFlags = flags
		if err := row.cmd.Run(&out); err != nil || asked != row.want || out.String() != "rows\n" {
			t.Errorf("%s, %v, %q", asked, err, out.String())
		}
	}
}
