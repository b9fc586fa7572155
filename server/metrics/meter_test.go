package metrics

import (
	"errors"
	"fmt"
	"testing"

	"github.com/valyala/fasthttp"

	"pingpost/engine"
	"pingpost/engine/market"
	"pingpost/server/servertest"
)

// TestEachReasonAndVerdictHasCounter checks that each reason and verdict of the engine has
// a counter.
func TestEachReasonAndVerdictHasCounter(t *testing.T) {
	var reports []string
	m := NewMeter(func(what string, err error) { reports = append(reports, what+": "+err.Error()) })
	for reason := market.ReasonNoBuyer; reason <= market.ReasonLoop; reason++ {
		m.LeadDecided(nil, nil, &engine.IngestAnswer{Reason: reason})
	}
	m.LeadDecided(nil, nil, &engine.IngestAnswer{Accepted: true})
	for verdict := market.VerdictAccepted; verdict <= market.VerdictBusy; verdict++ {
		m.PostAttempted("buyer", &market.BuyerPostResult{Verdict: verdict})
	}
	m.ReportFault("what", errors.New("why"))
	m.ReportFault("the next leader does it", fmt.Errorf("webhook: %w", engine.ErrNotLeader))
	m.ReportFault("the next leader does it", fmt.Errorf("webhook: %w", engine.ErrLeadershipLost))
	for on, status := range map[Route]int{RouteIngest: 201, RouteNone: 777} {
		var answer fasthttp.Response
		answer.SetStatusCode(status)
		m.CountAnswerAndLogError(on, &answer, 1e6)
	}
	servertest.RequireMetrics(
		t, m,
		`pingpost_leads_total{status="UNMATCHED",reason="duplicate"} 1`, `pingpost_leads_total{status="ACCEPTED",reason=""} 1`,
		`pingpost_post_attempts_total{verdict="busy"} 1`, `pingpost_faults_total 1`,
		`pingpost_requests_total{path="/api/v1/ingest",status="201"} 1`, `pingpost_requests_total{path="other",status="other"} 1`,
	)
	if len(reports) != 1 || reports[0] != "what: why" {
		t.Errorf("reported %v, want one fault", reports)
	}
}
