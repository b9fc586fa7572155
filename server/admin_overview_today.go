package server

import (
	"context"
	"errors"
	"io"
	"time"

	"pingpost/engine/market"
	"pingpost/report"
)

// today keeps what the report says of the running day, in UTC. It is asked seldom: what
// it takes is a small share of the time at most.
type today struct {
	day  time.Time
	next time.Time // when it is asked again
	rows []overviewDay
}

const (
	todayEvery = 5 * time.Second
	todayShare = 20          // it is at rest for so many times as long as it took
	todayTakes = time.Second // at most
)

// sums are those of the day that now is of; none where there is no report, or it cannot
// answer.
func (t *today) sums(from *report.Report, now time.Time) []overviewDay {
	now = now.UTC()
	day := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, time.UTC)
	if !day.Equal(t.day) {
		*t = today{day: day, rows: []overviewDay{}}
	}
	if from == nil || now.Before(t.next) {
		return t.rows
	}
	began := time.Now()
	if found, err := daySums(from, day); err == nil {
		t.rows = found
	}
	t.next = now.Add(max(todayEvery, todayShare*time.Since(began)))
	return t.rows
}

func daySums(from *report.Report, day time.Time) ([]overviewDay, error) {
	ctx, cancel := context.WithTimeout(context.Background(), todayTakes)
	defer cancel()
	answer, err := from.Ask(ctx, report.Question{From: day.UnixNano(), To: day.AddDate(0, 0, 1).UnixNano(), Since: true})
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
			Currency: row.Currency, Leads: row.Count("leads"), Sold: row.Count("sales"),
			Revenue: money(row.Count("revenue")), Payout: money(row.Count("payout")), Margin: row.Margin().AppendJSON(nil),
		})
	}
}

func money(millionths int64) []byte { return market.Money(millionths).AppendJSON(nil) }
