package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"pingpost/engine/event"
	moneyledger "pingpost/engine/ledger"
	"pingpost/engine/market"
	"pingpost/fuzz/witness"
	"pingpost/wal"
)

// SQLite maps the sales report into memory, so strace cannot record its writes. That is not
// needed: the only promise about this file is that the exchange repairs it from the log. So the
// exchange that starts after a power loss keeps a report, and is started again on a damaged
// copy of it.

// enableReport makes the folder's exchange keep a report.
func enableReport(config string) string {
	return strings.Replace(config, `"keep": "0s"`, `"keep": "90d"`, 1)
}

// reportDamages are the possible damages of a non-empty file. Changed bytes are not among them,
// because a power loss changes none.
var reportDamages = []func(random *rand.Rand, text []byte) []byte{
	func(*rand.Rand, []byte) []byte { return nil },
	func(random *rand.Rand, text []byte) []byte { return text[:random.IntN(len(text))] },
	func(random *rand.Rand, text []byte) []byte { // pages that were never written
		for range 1 + len(text)/4096/8 {
			at := random.IntN(len(text)) / 4096 * 4096
			clear(text[at:min(at+4096, len(text))])
		}
		return text
	},
}

// damageReport damages all files of a folder's report in one way.
func damageReport(folder string, random *rand.Rand) error {
	names, err := filepath.Glob(filepath.Join(dataDir(folder), "report", "*"))
	if err != nil || len(names) == 0 {
		return errors.Join(err, errors.New("the exchange served without writing a sales report"))
	}
	damage := reportDamages[random.IntN(len(reportDamages))]
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if len(text) == 0 {
			continue
		}
		if err := os.WriteFile(name, damage(random, text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// checkReportRepair starts the program on a damaged report. The report must show the same sums
// again.
func (r *recording) checkReportRepair(ctx context.Context, p lossPoint, folder string) error {
	if err := damageReport(folder, rand.New(rand.NewPCG(p.seed, 2))); err != nil {
		return err
	}
	server, err := startProcess(ctx, r.program, folder, "", backupFlags(folder)...) // it may log entries, which the backup must have
	if err != nil {
		return err
	}
	if err := server.awaitServing(); err != nil {
		return err
	}
	return errors.Join(server.checkReport(ctx, folder), server.stop(syscall.SIGTERM))
}

// checkReport waits until the report has reached the log's current position and matches the
// ledger. The exchange detects a damaged file while it serves, so a first answer may be wrong.
func (p *process) checkReport(ctx context.Context, folder string) error {
	text, err := p.adminCall(ctx, http.MethodGet, "/admin/v1/hash", "")
	var now struct{ Seq uint64 }
	if err := errors.Join(err, json.Unmarshal(text, &now)); err != nil {
		return err
	}
	for deadline := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		reported, err := witness.ReadReport(ctx, p.admin, "buyer")
		if err == nil && reported.Seq < now.Seq {
			err = fmt.Errorf("the report covers entries up to %d, but the log had %d", reported.Seq, now.Seq)
		}
		if err == nil {
			err = compareWithLedger(reported, dataDir(folder))
		}
		if err == nil {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the sales report did not become correct in time: %w", err)
		}
	}
}

// compareWithLedger compares the buyers' sales, revenue and credit in the report with the ledger
// of the log.
func compareWithLedger(s *witness.SalesReport, dir string) error {
	reader, err := wal.NewReader(dir, 1)
	if err != nil {
		return err
	}
	defer reader.Close()
	names, want := map[market.PermanentNumber]string{}, map[string]witness.ReportRow{}
	var decoder event.Decoder
	var moved []moneyledger.Entry
	_, err = readAllEntries(reader, func(entry wal.Entry) error {
		if entry.Seq > s.Seq {
			return nil
		}
		fact, err := decoder.Decode(entry.Data)
		if err != nil {
			return err
		}
		if given, ok := fact.(*event.ConfigObjectNumbersAssigned); ok {
			for _, n := range given.Names {
				if n.Kind == event.ObjectBuyer {
					names[n.Ref] = strings.Clone(n.ID)
				}
			}
		}
		for ref, id := range names {
			sum := want[id]
			moved = moneyledger.Party{Kind: event.ObjectBuyer, Ref: ref}.AppendEntriesOfEvent(moved[:0], fact)
			for i := range moved {
				switch moved[i].Kind {
				case moneyledger.EntrySale:
					sum.Sales, sum.Revenue = sum.Sales+1, sum.Revenue-moved[i].Amount
				case moneyledger.EntryReturn:
					sum.Credit += moved[i].Amount
				}
			}
			if sum.Buyer = id; len(moved) > 0 {
				want[id] = sum
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for id, sum := range want {
		if got := ledgerColumns(s.Rows[id]); got != sum {
			return fmt.Errorf("sales report: buyer %s has %+v as of entry %d, but the ledger has %+v", id, got, s.Seq, sum)
		}
	}
	for id, got := range s.Rows {
		if _, there := want[id]; !there && got != (witness.ReportRow{Buyer: id}) {
			return fmt.Errorf("sales report: buyer %q has %+v as of entry %d, but the ledger has no payments", id, got, s.Seq)
		}
	}
	return nil
}

// ledgerColumns returns the columns of a row that compareWithLedger computes.
func ledgerColumns(row witness.ReportRow) witness.ReportRow {
	return witness.ReportRow{Buyer: row.Buyer, Sales: row.Sales, Revenue: row.Revenue, Credit: row.Credit}
}
