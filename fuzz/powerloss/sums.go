package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"pingpost/engine/event"
	moneyledger "pingpost/engine/ledger"
	"pingpost/engine/market"
	"pingpost/wal"
)

// The report is a file that SQLite maps into memory, so what is written to it cannot be
// recorded. It need not be: of that file nothing is promised but that its loss is mended
// out of the log. So a program that is started after a loss of power keeps a report, and
// is started once more on that report, torn in some way.

// withReport has a folder's exchange keep a report.
func withReport(config string) string {
	return strings.Replace(config, `"keep": "0s"`, `"keep": "90d"`, 1)
}

// damages are what may have become of a file that is not empty. Bytes that are others are
// not among them: that is no loss of power.
var damages = []func(chance *rand.Rand, text []byte) []byte{
	func(*rand.Rand, []byte) []byte { return nil },
	func(chance *rand.Rand, text []byte) []byte { return text[:chance.IntN(len(text))] },
	func(chance *rand.Rand, text []byte) []byte { // pages that were never written
		for range 1 + len(text)/4096/8 {
			at := chance.IntN(len(text)) / 4096 * 4096
			clear(text[at:min(at+4096, len(text))])
		}
		return text
	},
}

// tear damages a folder's report, all of its files in one way.
func tear(folder string, chance *rand.Rand) error {
	names, err := filepath.Glob(filepath.Join(dataIn(folder), "report", "*"))
	if err != nil || len(names) == 0 {
		return errors.Join(err, errors.New("the exchange has served, and left no report"))
	}
	damage := damages[chance.IntN(len(damages))]
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if len(text) == 0 {
			continue
		}
		if err := os.WriteFile(name, damage(chance, text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// mendsReport starts the program on a torn report: it comes to the same sums.
func (r *recording) mendsReport(ctx context.Context, p point, folder string) error {
	if err := tear(folder, rand.New(rand.NewPCG(p.seed, 2))); err != nil {
		return err
	}
	server, err := begin(ctx, r.program, folder, "")
	if err != nil {
		return err
	}
	if err := server.ready(); err != nil {
		return err
	}
	return errors.Join(server.sumsUp(ctx, folder), server.end(syscall.SIGTERM))
}

// summed is what a report says of a buyer.
type summed struct {
	Buyer   string       `json:"buyer_id"`
	Sales   int          `json:"sales"`
	Revenue market.Money `json:"revenue"`
	Credit  market.Money `json:"credit"`
}

// sums is a report, and the entry that it is as of.
type sums struct {
	entry  uint64
	buyers map[string]summed
}

// sumsUp waits until the report has come to where the log was just now, and says what the
// ledger does. That a file is damaged is found out beside all else, so a first answer may
// be wrong.
func (p *process) sumsUp(ctx context.Context, folder string) error {
	text, err := p.admit(ctx, http.MethodGet, "hash", "")
	var now struct{ Seq uint64 }
	if err := errors.Join(err, json.Unmarshal(text, &now)); err != nil {
		return err
	}
	for deadline := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		told, err := p.askSums(ctx)
		if err == nil && told.entry < now.Seq {
			err = fmt.Errorf("it is of entry %d, and there were %d", told.entry, now.Seq)
		}
		if err == nil {
			err = told.hold(dataIn(folder))
		}
		if err == nil {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the report never came to be right: %w", err)
		}
	}
}

func (p *process) askSums(ctx context.Context) (*sums, error) {
	day := func(from int) string { return time.Now().UTC().AddDate(0, 0, from).Format(time.DateOnly) }
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.admin+"/admin/v1/report?by=buyer&format=ndjson&from="+day(-3)+"&to="+day(3), nil)
	if err != nil {
		return nil, err
	}
	request.SetBasicAuth("operator", adminPassword)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the report was answered %d %s, %w", response.StatusCode, text, err)
	}
	told := &sums{buyers: map[string]summed{}}
	if told.entry, err = strconv.ParseUint(response.Header.Get("X-Report-Entry"), 10, 64); err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		var row summed
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			return nil, fmt.Errorf("a row of the report: %w: %s", err, line)
		}
		told.buyers[row.Buyer] = row
	}
	return told, nil
}

// hold sees that a report says what the ledger does, by the log.
func (s *sums) hold(dir string) error {
	reader, err := wal.NewReader(dir, 1)
	if err != nil {
		return err
	}
	defer reader.Close()
	names, want := map[market.Ref]string{}, map[string]summed{}
	var decoder event.Decoder
	var moved []moneyledger.Entry
	_, err = readAll(reader, func(entry wal.Entry) error {
		if entry.Seq > s.entry {
			return nil
		}
		fact, err := decoder.Decode(entry.Data)
		if err != nil {
			return err
		}
		if given, ok := fact.(*event.NamesGiven); ok {
			for _, n := range given.Names {
				if n.Kind == event.NameBuyer {
					names[n.Ref] = strings.Clone(n.ID)
				}
			}
		}
		for ref, id := range names {
			sum := want[id]
			moved = moneyledger.Party{Kind: event.NameBuyer, Ref: ref}.Movements(moved[:0], fact)
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
		if got := s.buyers[id]; got != sum {
			return fmt.Errorf("the report says of %s %+v as of entry %d, and the ledger %+v", id, got, s.entry, sum)
		}
	}
	for id, got := range s.buyers {
		if _, there := want[id]; !there && got != (summed{Buyer: id}) {
			return fmt.Errorf("the report says of %q %+v as of entry %d, and the ledger nothing", id, got, s.entry)
		}
	}
	return nil
}
