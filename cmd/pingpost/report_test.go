package main

import (
	"bytes"
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
