package admin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/report"
	"pingpost/server/admin/payload"
	"pingpost/server/httperror"
	"pingpost/server/metrics"
)

// ProcessStatusReporter returns facts about the running exchange. The exchange implements it. It is
// called only after the engine exists.
type ProcessStatusReporter interface {
	ProcessStatus() ProcessStatus
	// Now returns the exchange's time, in Unix nanoseconds.
	Now() int64
}

// ProcessStatus has the facts about the running exchange that the overview shows.
type ProcessStatus struct {
	Tenant, Version string
	Since           time.Time
	Seq             uint64 // last durable log entry
	DiskFree        uint64
	Zone            *time.Location // in which days begin in reports; nil: UTC
}

// zone returns the time zone in which days begin in reports and in periods of requests.
func (s *ProcessStatus) zone() *time.Location {
	if s.Zone == nil {
		return time.UTC
	}
	return s.Zone
}

var errTooManyStreams = httperror.New(503, errcode.Unavailable, "Too many event streams are open. Close a dashboard page, or try again after the time in Retry-After.")

// overviewCache builds the dashboard's overview at most about once a second, however many
// clients ask for it.
type overviewCache struct {
	admin *Admin
	watch *metrics.MeterHistory
	today todaySumsCache

	mu     sync.Mutex
	at     time.Time
	cached []byte
}

// overviewMaxAge is how long an overview is reused. It is less than a second, so that each
// event of the live stream, sent once a second, has a new overview.
const overviewMaxAge = 900 * time.Millisecond

// freshOverviewJSONOrNil returns the overview as JSON, at most overviewMaxAge old. It returns nil
// while the exchange starts or stops.
func (o *overviewCache) freshOverviewJSONOrNil(now time.Time) []byte {
	e := o.admin.exchange.EngineWhileReady()
	if e == nil {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.cached == nil || now.Sub(o.at) >= overviewMaxAge || now.Before(o.at) {
		o.cached, o.at = append(payload.EncodeJSON(o.buildOverview(now, e)), '\n'), now
	}
	return o.cached
}

// overviewEventOrNil returns the overview as a server-sent event, or nil to end all streams. If
// building it panics, it reports a fault and returns nil.
func (o *overviewCache) overviewEventOrNil() (event []byte) {
	defer func() {
		if cause := recover(); cause != nil {
			event = nil
			o.admin.meter.ReportFault("cannot build the overview", fmt.Errorf("%v", cause))
		}
	}()
	document := o.freshOverviewJSONOrNil(time.Now())
	if document == nil {
		return nil
	}
	return formatServerSentEvent("overview", document)
}

func (o *overviewCache) buildOverview(now time.Time, e *engine.Engine) *overview {
	g, s := o.watch.ReadNowAndEarlier(now), o.admin.exchange.ProcessStatus()
	span := g.Now.At.Sub(g.TenSecondsAgo.At)
	hooks := e.State().OutboxTotals()
	all := &overview{
		At: payload.FormatTimeToSeconds(now.UnixNano()), TimeZone: s.zone().String(), Tenant: s.Tenant, Version: s.Version, Sandbox: o.admin.exchange.IsSandbox(),
		Uptime: int64(now.Sub(s.Since) / time.Second), Ready: o.admin.exchange.Ready() == nil,
		Rates: overviewRates{
			Leads: metrics.RatePerSecond(g.Now.Leads, g.TenSecondsAgo.Leads, span), Pings: metrics.RatePerSecond(g.Now.Pings, g.TenSecondsAgo.Pings, span),
			Posts: metrics.RatePerSecond(g.Now.Posts, g.TenSecondsAgo.Posts, span), Sold: metrics.RatePerSecond(g.Now.Sold, g.TenSecondsAgo.Sold, span),
		},
		Latency: lastMinuteLatency(&g), Series: []overviewInterval{}, Buyers: o.collectBusiestBuyersFirst(e, &g),
		Webhooks: overviewWebhooks{hooks.Pending, hooks.Dead}, Returns: e.State().PendingReturnCount(), Unknown: e.State().CountUnknownDeliveriesExceptTests(),
		Backup: o.admin.exchange.BackupStatus(), Log: overviewLog{s.Seq}, DiskFree: s.DiskFree,
	}
	all.Alerts.Firing = e.State().Alerts().FiringCount()
	if service := o.admin.exchange.Alerts(); service != nil {
		for _, health := range service.HealthByChannel() {
			all.Alerts.Queued += health.Queued
			if health.FailingSince != nil {
				all.Alerts.Failing++
			}
		}
	}
	if leads := g.Now.Leads - g.TenMinutesAgo.Leads; leads > 0 {
		share := roundToThousandths(min(1, float64(g.Now.Sold-g.TenMinutesAgo.Sold)/float64(leads)))
		all.SellThrough = &share
	}
	for _, s := range g.Intervals {
		all.Series = append(all.Series, overviewInterval{payload.FormatTimeToSeconds(s.At.UnixNano()), s.Leads, s.Sold, s.Pings})
	}
	kept := o.admin.exchange.Report()
	all.Today = o.today.cachedOrQueriedDaySums(kept, now.In(s.zone()))
	if all.Report.Kept = kept != nil; kept != nil {
		lag := roundToThousandths(kept.ProgressStatus().Lag.Seconds())
		all.Report.Lag = &lag
	}
	return all
}

// getOverview answers GET overview with the figures that the dashboard's start page shows.
func (a *Admin) getOverview(ctx *fasthttp.RequestCtx) (answer any, err error) {
	document := a.overviews.freshOverviewJSONOrNil(time.Now())
	if document == nil {
		return nil, httperror.Unavailable
	}
	ctx.Response.Header.Set("Cache-Control", "no-store")
	return payload.EncodedJSON(document), nil
}

// streamOverview answers GET live with a stream of server-sent events: the overview now, and a
// new one every second.
func (a *Admin) streamOverview(ctx *fasthttp.RequestCtx) (answer any, err error) {
	first := a.live.makeEvent()
	if first == nil {
		return nil, httperror.Unavailable
	}
	who := principalFrom(ctx)
	s := a.live.addSubscriberOrNil(ctx.Conn(), who.name, first, func() bool { return a.isStillValid(a.exchange.EngineWhileReady(), &who) })
	if s == nil {
		return nil, errTooManyStreams
	}
	return s, nil
}

// overview has the figures of the dashboard's start page, in JSON.
type overview struct {
	At          string             `json:"at"`
	TimeZone    string             `json:"time_zone"`
	Tenant      string             `json:"tenant"`
	Version     string             `json:"version"`
	Sandbox     bool               `json:"sandbox"`
	Uptime      int64              `json:"uptime_s"`
	Ready       bool               `json:"ready"`
	Rates       overviewRates      `json:"rates"`
	Today       []overviewDay      `json:"today"`
	SellThrough *float64           `json:"sell_through"`
	Latency     overviewLatency    `json:"latency"`
	Series      []overviewInterval `json:"series"`
	Buyers      []overviewBuyer    `json:"buyers"`
	Webhooks    overviewWebhooks   `json:"webhooks"`
	Returns     int                `json:"returns_waiting"`
	Unknown     int                `json:"deliveries_unknown"`
	Alerts      overviewAlerts     `json:"alerts"`
	Report      overviewReport     `json:"report"`
	Backup      BackupStatus       `json:"backup"`
	Log         overviewLog        `json:"log"`
	DiskFree    uint64             `json:"disk_free_bytes"`
}

type (
	overviewRates struct {
		Leads float64 `json:"leads_s"`
		Pings float64 `json:"pings_s"`
		Posts float64 `json:"posts_s"`
		Sold  float64 `json:"sold_s"`
	}
	overviewDay struct {
		Currency string       `json:"currency"`
		Leads    int64        `json:"leads"`
		Sold     int64        `json:"sold"`
		Revenue  market.Money `json:"revenue"`
		Payout   market.Money `json:"payout"`
		Margin   market.Money `json:"margin"`
	}
	overviewLatency struct {
		AuctionMedian *float64 `json:"auction_p50_ms"`
		AuctionSlow   *float64 `json:"auction_p99_ms"`
		IngestMedian  *float64 `json:"ingest_p50_ms"`
		IngestSlow    *float64 `json:"ingest_p99_ms"`
		CommitSlow    *float64 `json:"commit_p99_ms"`
	}
	overviewInterval struct {
		At    string `json:"at"`
		Leads uint64 `json:"leads"`
		Sold  uint64 `json:"sold"`
		Pings uint64 `json:"pings"`
	}
	overviewBuyer struct {
		ID       string   `json:"id"`
		Name     string   `json:"name"`
		Paused   bool     `json:"paused"`
		Health   string   `json:"health"`
		Asked    uint64   `json:"asked"`
		Bids     uint64   `json:"bids"`
		Wins     uint64   `json:"wins"`
		Posts    uint64   `json:"posts"`
		Sales    uint64   `json:"sales"`
		Timeouts uint64   `json:"timeouts"`
		Median   *float64 `json:"p50_ms"`
		Slow     *float64 `json:"p99_ms"`
	}
	overviewWebhooks struct {
		Waiting int `json:"waiting"`
		Dead    int `json:"dead"`
	}
	overviewAlerts struct {
		Firing  int `json:"firing"`
		Queued  int `json:"notifications_queued"`
		Failing int `json:"channels_failing"`
	}
	overviewReport struct {
		Kept bool     `json:"kept"`
		Lag  *float64 `json:"lag_s"`
	}
	overviewLog struct {
		Seq uint64 `json:"seq"`
	}
)

// lastMinuteLatency returns how long auctions, ingests and log commits took in the last minute:
// medians and 99th percentiles.
func lastMinuteLatency(summary *metrics.MeterReadingsNowAndEarlier) overviewLatency {
	auction, ingest, commit := summary.Now.Auction.IncreaseSince(&summary.MinuteAgo.Auction), summary.Now.Ingest.IncreaseSince(&summary.MinuteAgo.Ingest), summary.Now.Commit.IncreaseSince(&summary.MinuteAgo.Commit)
	return overviewLatency{
		AuctionMedian: quantileMillisecondsOrNil(&auction, 0.5), AuctionSlow: quantileMillisecondsOrNil(&auction, 0.99),
		IngestMedian: quantileMillisecondsOrNil(&ingest, 0.5), IngestSlow: quantileMillisecondsOrNil(&ingest, 0.99), CommitSlow: quantileMillisecondsOrNil(&commit, 0.99),
	}
}

// quantileMillisecondsOrNil returns a quantile of the recorded times in milliseconds, such as the
// median for quantile 0.5. It returns nil if no times were recorded.
func quantileMillisecondsOrNil(c *metrics.HistogramCounts, quantile float64) *float64 {
	at, ok := c.Quantile(quantile)
	if !ok {
		return nil
	}
	at = roundToThousandths(at)
	return &at
}

func roundToThousandths(x float64) float64 { return math.Round(x*1000) / 1000 }

// maxOverviewBuyers is the greatest number of buyers in an overview. Those with the most pings,
// posts and sales come first.
const maxOverviewBuyers = 200

// collectBusiestBuyersFirst returns the configured buyers, busy or not, with their counts of the last
// ten minutes, the busiest first, at most maxOverviewBuyers.
func (o *overviewCache) collectBusiestBuyersFirst(e *engine.Engine, summary *metrics.MeterReadingsNowAndEarlier) []overviewBuyer {
	all := []overviewBuyer{}
	catalog := e.ActiveCatalogOrNil()
	if catalog == nil {
		return all
	}
	for id, buyer := range catalog.Buyers {
		now, then := summary.BuyersNow[string(id)], summary.BuyersTenMinutesAgo[string(id)]
		all = append(all, newOverviewBuyer(e, buyer, now.IncreaseSince(&then)))
	}
	slices.SortFunc(all, func(x, y overviewBuyer) int {
		return cmp.Or(cmp.Compare(y.Asked+y.Posts+y.Sales, x.Asked+x.Posts+x.Sales), cmp.Compare(x.ID, y.ID))
	})
	return all[:min(len(all), maxOverviewBuyers)]
}

func newOverviewBuyer(e *engine.Engine, buyer *market.Buyer, recent metrics.BuyerReading) overviewBuyer {
	paused, _ := e.State().PauseStatus(event.ObjectBuyer, buyer.Ref)
	return overviewBuyer{
		ID: string(buyer.ID), Name: buyer.Name, Paused: paused, Health: metrics.RateBuyerHealth(&recent),
		Asked: recent.Asked, Bids: recent.Bids, Wins: recent.Wins, Posts: recent.Posts, Sales: recent.Sales, Timeouts: recent.Timeouts,
		Median: quantileMillisecondsOrNil(&recent.Pings, 0.5), Slow: quantileMillisecondsOrNil(&recent.Pings, 0.99),
	}
}

// todaySumsCache caches the current day's sums of leads and revenue. It pauses after each
// query of the report for twenty times the query's duration, and at least todayEvery, so that the
// queries take a small share of the time.
type todaySumsCache struct {
	day  payload.Bounds
	next time.Time // time of the next query
	rows []overviewDay
}

const (
	todayEvery   = 5 * time.Second // shortest pause after a query
	todayRest    = 20              // pause after a query, as a multiple of its duration
	todayTimeout = time.Second     // longest duration of a query
)

// cachedOrQueriedDaySums returns the sums of the day that contains now, in now's zone, and queries the
// report if they are too old. After a failed query it returns the day's earlier sums. They are empty if
// there are no earlier ones or the exchange has no report.
func (t *todaySumsCache) cachedOrQueriedDaySums(from *report.Report, now time.Time) []overviewDay {
	day, _ := payload.NamedPeriod("today", now, now.Location())
	if day != t.day {
		*t = todaySumsCache{day: day, rows: []overviewDay{}}
	}
	if from == nil || now.Before(t.next) {
		return t.rows
	}
	began := time.Now()
	if found, err := queryDaySums(from, day); err == nil {
		t.rows = found
	}
	t.next = now.Add(max(todayEvery, todayRest*time.Since(began)))
	return t.rows
}

func queryDaySums(from *report.Report, day payload.Bounds) ([]overviewDay, error) {
	ctx, cancel := context.WithTimeout(context.Background(), todayTimeout)
	defer cancel()
	answer, err := from.Ask(ctx, report.Question{From: day.From, To: day.To, Since: true})
	if err != nil {
		return nil, err
	}
	defer answer.Close()
	found := []overviewDay{}
	for {
		row, err := answer.Next()
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		if err != nil {
			return nil, err
		}
		found = append(found, overviewDay{
			Currency: row.Currency, Leads: row.MeasureNamed("leads"), Sold: row.MeasureNamed("sales"),
			Revenue: market.Money(row.MeasureNamed("revenue")), Payout: market.Money(row.MeasureNamed("payout")), Margin: row.Margin(),
		})
	}
}
