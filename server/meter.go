package server

import (
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"sync/atomic"

	"github.com/VictoriaMetrics/metrics"
	"github.com/valyala/fasthttp"
	"golang.org/x/time/rate"

	"pingpost/engine"
	"pingpost/engine/market"
)

// route is a path family, as metrics label it.
type route uint8

const (
	routeNone route = iota
	routeIngest
	routePing
	routePost
	routeAvailability
	routeToken
	routeSeed
	routeStatus
	routeStatuses
	routeLead
	routeSuppliersLead
	routeDocument
	routeAdmin
	routes
)

var routeNames = [routes]string{"other", "/api/v1/ingest", "/v1/ping", "/v1/post", "/api/v1/ping", "/oauth/token", "/v1/dev/seed", "/v1/leads/{id}/status", "/v1/leads/status", "/v1/leads/{id}", "/api/v1/leads/{id}", "documents", "admin"}

// statuses are those that are counted one by one; the others are counted together.
var statuses = [...]int{200, 201, 204, 400, 401, 403, 404, 405, 408, 409, 410, 413, 415, 422, 429, 431, 500, 502, 503, 504, 505}

// Meter counts for Prometheus. All handles are made at the start: labels are
// bounded, and nothing is formatted while serving. It is the engine's Note.
type Meter struct {
	set      *metrics.Set
	requests [routes][len(statuses) + 1]*metrics.Counter
	seconds  [routes]*metrics.PrometheusHistogram
	laps     lapMeter
	accepted *metrics.Counter
	tests    *metrics.Counter
	reasons  [reasons]*metrics.Counter
	posts    [verdicts]*metrics.Counter
	postTime *metrics.PrometheusHistogram
	auctions *metrics.PrometheusHistogram
	faults   *metrics.Counter
	guesses  *metrics.Counter // wrong credentials
	unsealed *metrics.Counter // handshakes of TLS that failed
	fault    func(what string, err error)

	failures  *rate.Limiter // that the log tells of
	hooks     hookMeter
	campaigns family[campaignMeter]
	buyers    family[buyerMeter]
	endpoints family[rarely] // of suppliers
	logger    atomic.Pointer[slog.Logger]

	// Of these only the overview tells.
	sales, unsold, asked  atomic.Uint64 // leads that sellers posted; buyers that were asked
	auctionLap, ingestLap lapHistogram
}

// NewMeter returns a meter; fault is told what the engine could not do.
func NewMeter(set *metrics.Set, fault func(what string, err error)) *Meter {
	m := &Meter{set: set, fault: fault, failures: newFailures()}
	m.tellTo(slog.New(slog.DiscardHandler))
	m.campaigns.newOne = func(id string) *campaignMeter { return &campaignMeter{set: set, id: id} }
	m.endpoints.newOne = func(string) *rarely { return new(rarely) }
	m.buyers.newOne = func(id string) *buyerMeter { return newBuyerMeter(set, id) }
	for r := range routes {
		for i := range m.requests[r] {
			m.requests[r][i] = set.NewCounter(fmt.Sprintf(`pingpost_requests_total{path=%q,status=%q}`, routeNames[r], statusLabel(i)))
		}
		m.seconds[r] = set.NewPrometheusHistogramExt(fmt.Sprintf(`pingpost_request_seconds{path=%q}`, routeNames[r]), buckets)
	}
	m.accepted = set.NewCounter(`pingpost_leads_total{status="ACCEPTED",reason=""}`)
	m.tests = set.NewCounter(`pingpost_test_leads_total`)
	for reason := market.ReasonNoBuyer; reason < reasons; reason++ {
		m.reasons[reason] = set.NewCounter(fmt.Sprintf(`pingpost_leads_total{status="UNMATCHED",reason=%q}`, reason))
	}
	for verdict := market.VerdictAccepted; verdict < verdicts; verdict++ {
		m.posts[verdict] = set.NewCounter(fmt.Sprintf(`pingpost_post_attempts_total{verdict=%q}`, verdict))
	}
	m.postTime = set.NewPrometheusHistogramExt(`pingpost_post_attempt_seconds`, buckets)
	m.auctions = set.NewPrometheusHistogramExt(`pingpost_auction_seconds`, buckets)
	m.hooks = newHookMeter(set)
	m.laps.show(set)
	set.RegisterMetricsWriter(printProcess)
	m.faults = set.NewCounter(`pingpost_faults_total`)
	m.guesses = set.NewCounter(`pingpost_wrong_credentials_total`)
	m.unsealed = set.NewCounter(`pingpost_tls_handshake_failures_total`)
	return m
}

// tellTo says where buyers that fail are told of; New does. Before it is said,
// nowhere.
func (m *Meter) tellTo(logger *slog.Logger) { m.logger.Store(logger) }

// buckets are the histograms' upper bounds, in seconds.
var buckets = []float64{0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10}

func statusLabel(i int) string {
	if i < len(statuses) {
		return strconv.Itoa(statuses[i])
	}
	return "other"
}

// request counts an answer, and tells of one that is an error.
func (m *Meter) request(r route, answer *fasthttp.Response, elapsed int64) {
	status, i := answer.StatusCode(), 0
	for i < len(statuses) && statuses[i] != status {
		i++
	}
	m.requests[r][i].Inc()
	m.seconds[r].Update(float64(elapsed) / 1e9)
	if status >= fasthttp.StatusBadRequest {
		m.refused(r, answer, elapsed)
	}
}

// Decided counts a lead that was answered; test leads apart, whatever came of them.
func (m *Meter) Decided(_ *market.Campaign, _ *market.Supplier, a *engine.Answer) {
	switch {
	case a.Test:
		m.tests.Inc()
	case a.Accepted:
		m.accepted.Inc()
	default:
		m.reasons[a.Reason].Inc()
	}
}

// Posted counts an attempt to post.
func (m *Meter) Posted(buyer string, result *market.PostResult) {
	m.posts[result.Verdict].Inc()
	m.postTime.Update(result.Elapsed.Seconds())
	m.buyers.of(buyer).posted(buyer, result, m.logger.Load())
}

// Unknown tells of a delivery that waits for an operator. One line each: a buyer
// that has a thousand of them is sent no more.
func (m *Meter) Unknown(lead market.LeadID, buyer string) {
	m.logger.Load().Warn("nobody knows whether a buyer has a lead; ask it, then confirm, release or resend the delivery",
		"lead_id", lead.String(), "buyer_id", buyer)
}

// Fault counts what should not happen, and tells it on.
func (m *Meter) Fault(what string, err error) {
	m.faults.Inc()
	m.fault(what, err)
}

// notAccepted tells that connections wait outside for now.
func (m *Meter) notAccepted(err error) {
	m.Fault("connections cannot be accepted for now; where the limit of open files is the cause, raise it (ulimit -n) or lower limits.connections", err)
}

// Gauge adds a figure that is read when it is asked for.
func (m *Meter) Gauge(name string, read func() float64) { m.set.NewGauge(name, read) }

// Histogram adds a histogram of seconds.
func (m *Meter) Histogram(name string) *metrics.PrometheusHistogram {
	return m.set.NewPrometheusHistogramExt(name, buckets)
}

// Print writes all figures in Prometheus's text form.
func (m *Meter) Print(w io.Writer) { m.set.WritePrometheus(w) }
