package metrics

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

// Route is a path of the API as the metrics name it. Several paths may share one.
type Route uint8

const (
	RouteNone Route = iota
	RouteIngest
	RoutePing
	RoutePost
	RoutePingForAllBids
	RouteToken
	RouteSeed
	RouteStatus
	RouteStatuses
	RouteLead
	RouteSuppliersLead
	RouteDocument
	RouteInstructions
	RouteAdmin
	Routes
)

var RouteNames = [Routes]string{"other", "/api/v1/ingest", "/v1/ping", "/v1/post", "/api/v1/ping", "/oauth/token", "/v1/dev/seed", "/v1/leads/{id}/status", "/v1/leads/status", "/v1/leads/{id}", "/api/v1/leads/{id}", "documents", "/instructions/{token}", "admin"}

// statuses are the HTTP statuses that have a counter of their own. All others share one
// counter.
var statuses = [...]int{200, 201, 204, 400, 401, 403, 404, 405, 408, 409, 410, 413, 415, 422, 429, 431, 500, 502, 503, 504, 505}

// Meter counts the exchange's requests, leads and auctions for Prometheus and the overview. It
// creates most counters at the start, so that counting formats no text. It also logs error answers
// and failing posts and webhooks. It implements engine.Observer.
type Meter struct {
	set              *metrics.Set
	requests         [Routes][len(statuses) + 1]*metrics.Counter
	seconds          [Routes]*metrics.PrometheusHistogram
	phases           phaseHistograms
	accepted         *metrics.Counter
	sold             atomic.Uint64 // accepted leads that their buyers confirmed
	tests            *metrics.Counter
	reasons          [reasons]*metrics.Counter
	posts            [verdicts]*metrics.Counter
	postTime         *metrics.PrometheusHistogram
	auctions         *metrics.PrometheusHistogram
	faults           *metrics.Counter
	wrongCredentials *metrics.Counter
	failedHandshakes *metrics.Counter // of TLS
	reportFault      func(what string, err error)

	failures  *rate.Limiter // limits log lines about 5xx answers of the public API
	hooks     webhookMeter
	campaigns countersByName[campaignMeter]
	buyers    countersByName[buyerMeter]
	endpoints countersByName[LogThrottle] // of suppliers' webhooks
	logger    atomic.Pointer[slog.Logger]

	// Only the overview shows these.
	asked                     atomic.Uint64 // pings to buyers
	auctionTimes, ingestTimes durationHistogram
}

// NewMeter returns a meter. It calls onFault with each internal fault that ReportFault receives.
func NewMeter(onFault func(what string, err error)) *Meter {
	set := metrics.NewSet()
	m := &Meter{set: set, reportFault: onFault, failures: newPublicAPI5xxLogLimiter()}
	m.SetLogger(slog.New(slog.DiscardHandler))
	m.campaigns.newOne = func(id string) *campaignMeter { return &campaignMeter{set: set, id: id} }
	m.endpoints.newOne = func(string) *LogThrottle { return new(LogThrottle) }
	m.buyers.newOne = func(id string) *buyerMeter { return newBuyerMeter(set, id) }
	for r := range Routes {
		for i := range m.requests[r] {
			m.requests[r][i] = set.NewCounter(fmt.Sprintf(`pingpost_requests_total{path=%q,status=%q}`, RouteNames[r], statusLabelOrOther(i)))
		}
		m.seconds[r] = set.NewPrometheusHistogramExt(fmt.Sprintf(`pingpost_request_seconds{path=%q}`, RouteNames[r]), buckets)
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
	m.hooks = newWebhookMeter(set)
	m.phases.register(set)
	set.RegisterMetricsWriter(writeRuntimeAndStartTimeMetrics)
	m.faults = set.NewCounter(`pingpost_faults_total`)
	m.wrongCredentials = set.NewCounter(`pingpost_wrong_credentials_total`)
	m.failedHandshakes = set.NewCounter(`pingpost_tls_handshake_failures_total`)
	return m
}

// SetLogger sets the logger for all messages of the meter: about error answers, failing posts and
// webhooks, and deliveries with an unknown result. Before this call the meter logs no messages.
func (m *Meter) SetLogger(logger *slog.Logger) { m.logger.Store(logger) }

// buckets are the upper bounds of the buckets of the Prometheus histograms, in seconds. The
// histograms of phases have histogramBounds instead.
var buckets = []float64{0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10}

func statusLabelOrOther(statusIndex int) string {
	if statusIndex < len(statuses) {
		return strconv.Itoa(statuses[statusIndex])
	}
	return "other"
}

// CountAnswerAndLogError counts an HTTP answer by route and status, and its duration in nanoseconds
// (elapsedNanos). It logs an answer of 4xx or 5xx (see logErrorAnswer).
func (m *Meter) CountAnswerAndLogError(route Route, answer *fasthttp.Response, elapsedNanos int64) {
	status, i := answer.StatusCode(), 0
	for i < len(statuses) && statuses[i] != status {
		i++
	}
	m.requests[route][i].Inc()
	m.seconds[route].Update(float64(elapsedNanos) / 1e9)
	if status >= fasthttp.StatusBadRequest {
		m.logErrorAnswer(route, answer, elapsedNanos)
	}
}

// LeadDecided counts a lead of an ingest or a post as accepted, as unsold by reason, or as a test lead. An
// accepted lead is also a sale, unless its buyer has not confirmed it yet. The engine calls it.
func (m *Meter) LeadDecided(_ *market.Campaign, _ *market.Supplier, a *engine.IngestAnswer) {
	switch {
	case a.Test:
		m.tests.Inc()
	case a.Accepted:
		m.accepted.Inc()
		if !a.Unsettled {
			m.SaleSettled(a.Buyer)
		}
	default:
		m.reasons[a.Reason].Inc()
	}
}

// SaleSettled counts a sale that LeadDecided did not count, because the buyer had not confirmed it then. The
// engine calls it.
func (m *Meter) SaleSettled(buyer string) {
	m.sold.Add(1)
	m.buyers.getOrCreate(buyer).sales.Add(1)
}

// PostAttempted counts an attempt to post a lead to a buyer, and its duration. The engine calls
// it.
func (m *Meter) PostAttempted(buyer string, result *market.BuyerPostResult) {
	m.posts[result.Verdict].Inc()
	m.postTime.Update(result.Elapsed.Seconds())
	m.buyers.getOrCreate(buyer).countPost(buyer, result, m.logger.Load())
}

// WarnOfUnconfirmedDelivery logs a delivery with an unknown result, because it waits for an operator's
// decision. There is one line per delivery. They cannot be too many, because a buyer with a
// thousand such deliveries receives no more leads.
func (m *Meter) WarnOfUnconfirmedDelivery(lead market.LeadID, buyer string) {
	m.logger.Load().Warn("it is unknown whether a buyer has received a lead; ask the buyer, then confirm, release or resend the delivery",
		"lead_id", lead.String(), "buyer_id", buyer)
}

// ReportFault counts and reports an internal fault. The end of a leadership in a cluster is none.
func (m *Meter) ReportFault(what string, err error) {
	if engine.IsEndOfLeadership(err) {
		return
	}
	m.faults.Inc()
	m.reportFault(what, err)
}

// CountWrongCredential counts a request whose credential is wrong.
func (m *Meter) CountWrongCredential() { m.wrongCredentials.Inc() }

// CountFailedHandshake counts a TLS handshake that failed.
func (m *Meter) CountFailedHandshake() { m.failedHandshakes.Inc() }

// ReportAcceptError reports as an internal fault that a listener cannot accept connections for
// now.
func (m *Meter) ReportAcceptError(err error) {
	m.ReportFault("connections cannot be accepted at present; if the limit of open files is the cause, raise it (ulimit -n) or lower limits.connections", err)
}

// AddGauge adds a metric with this name. read computes its value each time that the metrics are
// read.
func (m *Meter) AddGauge(name string, read func() float64) { m.set.NewGauge(name, read) }

// AddHistogram adds and returns a histogram of durations in seconds with this name.
func (m *Meter) AddHistogram(name string) *metrics.PrometheusHistogram {
	return m.set.NewPrometheusHistogramExt(name, buckets)
}

// WriteMetrics writes all metrics in the text format of Prometheus.
func (m *Meter) WriteMetrics(w io.Writer) { m.set.WritePrometheus(w) }
