package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"pingpost/cmd/pingpost/client"
)

// TestReportCommand: a sold lead is in the report, also after a rebuild.
func TestReportCommand(t *testing.T) {
	t.Parallel()
	s := startServe(t, "-c", writeConfig(t, testConfig+"report: {keep: 400d}\n"))
	public, admin := s.addresses("production")
	sellLead(t, public)
	for _, want := range []string{"", "The exchange is rebuilding the report.\n"} {
		if want != "" && mustRun(t, "report", "rebuild", "--admin", admin) != want {
			t.Error("report rebuild does not report the rebuild")
		}
		waitForReport(t, admin, reportShowCmd{}, "currency,revenue,", "\r\nUSD,12.05,")
		waitForReport(t, admin, reportShowCmd{By: []string{"hour", "supplier"}, Zone: "Asia/Kolkata"}, "hour,supplier_id,currency,revenue,", "+05:30,")
	}
}

// waitForReport repeats the command until its output has the prefix and the text. A report
// lags by some tenths of a second, and fails during a rebuild.
func waitForReport(t *testing.T, admin string, command reportShowCmd, wantPrefix, wantText string) {
	t.Helper()
	command.AdminFlags, command.Format = client.AdminFlags{Admin: admin, Password: adminPassword}, "csv"
	for started := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		var answer bytes.Buffer
		err := command.Run(&answer)
		if err == nil && strings.HasPrefix(answer.String(), wantPrefix) && strings.Contains(answer.String(), wantText) {
			return
		}
		if time.Since(started) > time.Minute {
			t.Fatalf("the report lacks the lead: %v %q", err, answer.String())
		}
	}
}
