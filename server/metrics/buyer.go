package metrics

import (
	"fmt"
	"log/slog"
	"sync/atomic"

	"github.com/VictoriaMetrics/metrics"
	"github.com/valyala/fasthttp"

	"pingpost/engine/market"
)

// buyerMeter counts the pings, posts and sales to one buyer, for the metrics and the overview.
type buyerMeter struct {
	posts    [verdicts]*metrics.Counter
	pingTime *metrics.PrometheusHistogram
	failures LogThrottle

	// Only the overview shows these.
	asked, bids, wins, timeouts, errors, failed, sales atomic.Uint64
	pings                                              durationHistogram
}

const verdicts = market.VerdictBusy + 1

func newBuyerMeter(set *metrics.Set, buyerID string) *buyerMeter {
	b := &buyerMeter{pingTime: set.NewPrometheusHistogramExt(fmt.Sprintf(`pingpost_ping_seconds{buyer=%q}`, buyerID), buckets)}
	for verdict := market.VerdictAccepted; verdict < verdicts; verdict++ {
		b.posts[verdict] = set.NewCounter(fmt.Sprintf(`pingpost_buyer_post_attempts_total{buyer=%q,verdict=%q}`, buyerID, verdict))
	}
	return b
}

// countPost counts an attempt to post to the buyer buyerID. It logs failed attempts at most once a
// minute, because thousands per second may fail in the same way.
func (b *buyerMeter) countPost(buyerID string, result *market.BuyerPostResult, logger *slog.Logger) {
	b.posts[result.Verdict].Inc()
	if !isTechnicalPostFailure(result) {
		return
	}
	b.failed.Add(1)
	if failures, tell := b.failures.CountEvent(); tell {
		logger.Warn("posts to a buyer fail", "buyer_id", buyerID, "failures", failures, "verdict", result.Verdict.String(),
			"fault", result.Fault.String(), "status", result.Status, "code", result.Code)
	}
}

// isTechnicalPostFailure reports whether an attempt to post failed because of a fault between the
// exchange and the buyer. A rejected credential or an unknown path is such a fault. A rejected
// lead is not.
func isTechnicalPostFailure(result *market.BuyerPostResult) bool {
	switch result.Verdict {
	case market.VerdictNotSent, market.VerdictUnknown:
		return true
	case market.VerdictRefused:
		switch status := result.Status; status {
		case fasthttp.StatusUnauthorized, fasthttp.StatusForbidden, fasthttp.StatusNotFound,
			fasthttp.StatusMethodNotAllowed, fasthttp.StatusUnsupportedMediaType:
			return true
		default:
			return status >= 300 && status <= 399
		}
	}
	return false
}
