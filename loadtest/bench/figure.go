package main

import (
	"encoding/json"
	"fmt"
	"os"
)

// figure names a value of the table for programs that go on from it.
type figure string

// What loadtest/capacity reads. Times are microseconds of a processor.
const (
	figureIngest       figure = "ingest_us"         // a lead, by the number of connections
	figureIngestBytes  figure = "ingest_log_bytes"  // of a lead
	figurePosted       figure = "posted_us"         // a lead that is posted to a buyer
	figurePostedBytes  figure = "posted_log_bytes"  // of it
	figureAuction      figure = "auction_us"        // an auction, by the number of buyers asked
	figureAuctionBytes figure = "auction_log_bytes" // of it
	figureCommitter    figure = "committer_leads"   // a second, of the committer alone
	figureReplay       figure = "replay_leads"      // a second
	figureMemory       figure = "memory_bytes"      // of a lead that is held
	figurePingMemory   figure = "ping_memory_bytes" // of a ping with a campaign

	figureNoCampaignMemory figure = "no_campaign_memory_bytes" // of a ping without one
)

// of is the figure for one size of what it is measured with.
func (f figure) of(n int) figure { return figure(fmt.Sprintf("%s_%d", f, n)) }

// figures are the values of a table that have names, with the machine they are of.
type figures struct {
	Machine []string           `json:"machine"`
	Values  map[figure]float64 `json:"values"`
}

func (t *table) figures() *figures {
	f := &figures{Machine: t.machine, Values: map[figure]float64{}}
	for i := range t.rows {
		if name := t.rows[i].figure; name != "" {
			f.Values[name] = t.rows[i].value
		}
	}
	return f
}

func (f *figures) write(path string) error {
	text, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}
