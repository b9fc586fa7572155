package main

import (
	"encoding/json"
	"fmt"
	"os"
)

// figureName names a value of the table for programs that read it.
type figureName string

// loadtest/capacity.sh reads these values. Times are microseconds of CPU.
const (
	figureIngest       figureName = "ingest_us"         // for a lead, by number of connections
	figureIngestBytes  figureName = "ingest_log_bytes"  // for a lead
	figurePosted       figureName = "posted_us"         // for a lead that is posted to a buyer
	figurePostedBytes  figureName = "posted_log_bytes"  // for a lead that is posted to a buyer
	figureAuction      figureName = "auction_us"        // for an auction, by number of buyers
	figureAuctionBytes figureName = "auction_log_bytes" // for an auction, by number of buyers
	figureCommitter    figureName = "committer_leads"   // leads a second of the committer alone
	figureReplay       figureName = "replay_leads"      // leads a second
	figureMemory       figureName = "memory_bytes"      // for a lead
	figurePingMemory   figureName = "ping_memory_bytes" // for a ping with a campaign

	figureNoCampaignMemory figureName = "no_campaign_memory_bytes" // for a ping without a campaign
)

// withSize returns the name for one size of the measurement.
func (f figureName) withSize(n int) figureName { return figureName(fmt.Sprintf("%s_%d", f, n)) }

// figures are the named values of a table and the machine that they describe.
type figures struct {
	Machine []string               `json:"machine"`
	Values  map[figureName]float64 `json:"values"`
}

func (t *table) figures() *figures {
	f := &figures{Machine: t.machine, Values: map[figureName]float64{}}
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
