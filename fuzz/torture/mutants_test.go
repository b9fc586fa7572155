//go:build linux

package torture

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pingpost/fuzz/mutant"
)

// mutantCase is a mutation that breaks a promise, the faults that reveal it, and parts of the
// findings, of which one must occur.
type mutantCase struct {
	mutation   mutant.Mutation
	faultNames string
	span       time.Duration
	findings   []string
}

var mutants = []mutantCase{
	{
		mutant.Mutation{
			Name: "a cap is released twice", File: "engine/state/settle.go",
			Old: "\ts.caps.replaceCharges(e.Sale.Charges, e.Next.Charges)\n",
			New: "\ts.caps.replaceCharges(e.Sale.Charges, e.Next.Charges)\n\ts.caps.replaceCharges(e.Sale.Charges, nil)\n",
		}, "killed", 60 * time.Second, []string{"over the cap of"},
	},
	{
		mutant.Mutation{
			Name: "a refusal of a repeated post is final", File: "engine/delivery/delivery.go",
			Old: "if !d.inDoubt || result.Final && d.post.Intent.Trusted {", New: "if d.inDoubt = d.inDoubt && !result.Final; !d.inDoubt {",
		}, "killed", 60 * time.Second, []string{"which may have it", "which the log does not sell to it", "is held by two endpoints"},
	},
	{
		mutant.Mutation{
			Name: "an idempotency key is forgotten at replay", File: "engine/state/replay.go",
			Old: "\t\tr.state.applyLocked(w.seq, w.at, w.event)\n",
			New: "\t\tif lead, ok := w.event.(*event.LeadDecided); ok {\n\t\t\tlead.Idempotency = event.RequestIdempotencyKey{}\n\t\t}\n\t\tr.state.applyLocked(w.seq, w.at, w.event)\n",
		}, "killed", 20 * time.Second, []string{"both must be equal", "cannot have this answer", "replay: the live exchange"},
	},
	{
		mutant.Mutation{
			Name: "a repeated answer has another price", File: "engine/answer.go",
			Old: "\t\tanswer.Payout, answer.Currency = lead.Payout, lead.Currency\n",
			New: "\t\tanswer.Payout, answer.Currency = lead.Payout+10_000, lead.Currency\n",
		}, "killed", 20 * time.Second, []string{"both must be equal", "answered with the wrong payout"},
	},
	{
		mutant.Mutation{
			Name: "a replay yields another state", File: "engine/state/replay.go",
			Old: "\t\tr.state.applyLocked(w.seq, w.at, w.event)\n",
			New: "\t\tif tried, ok := w.event.(*event.PostAttemptFailed); ok {\n\t\t\ttried.Attempt++\n\t\t}\n\t\tr.state.applyLocked(w.seq, w.at, w.event)\n",
		}, "held", 30 * time.Second, []string{"replay: the live exchange"},
	},
	{
		mutant.Mutation{
			Name: "answers are sent before the fsync", File: "wal/committer.go",
			Old: notifyAfterFsync, New: notifyBeforeFsync,
		}, "EIO from an fsync", 40 * time.Second, []string{"is not in the log", "are missing or changed", "which the log does not sell to it", "webhook lead.", "which is backed up: the log is not", "the log has no lead and no auction"},
	},
	{
		mutant.Mutation{
			Name: "answers are sent before the write", File: "wal/committer.go",
			Old: "\ttook, full, err := l.writer.write(l.encoded, len(batch))\n",
			New: "\tcommitqueue.NotifyCommitted(batch, h.batch, h.at)\n\tfor i := range batch {\n\t\tbatch[i].Waiter = nil\n\t}\n\ttook, full, err := l.writer.write(l.encoded, len(batch))\n",
		}, "EIO from a write,short write", 40 * time.Second, []string{"is not in the log", "are missing or changed", "which the log does not sell to it", "which is backed up: the log is not", "the log has no lead and no auction"},
	},
	{
		mutant.Mutation{
			Name: "a failed fsync is ignored", File: "wal/committer.go",
			Old: "\t} else if b.Sync, err = l.writer.sync(); err != nil {\n\t\treturn full, err\n\t}\n",
			New: "\t} else {\n\t\tb.Sync, _ = l.writer.sync()\n\t}\n",
		}, "EIO from an fsync", 20 * time.Second, []string{"the exchange gives up"},
	},
	{
		mutant.Mutation{
			Name: "a webhook that failed is dropped", File: "engine/state/outbox_rows.go",
			Old: "\t\tcase e.Outcome == event.WebhookDelivered, e.Outcome == event.WebhookDropped:\n",
			New: "\t\tcase e.Outcome == event.WebhookDelivered, e.Outcome == event.WebhookDropped, e.Outcome == event.WebhookFailed:\n",
		}, "killed", 8 * time.Second, []string{"was never delivered"},
	},
	{
		mutant.Mutation{
			Name: "two posts sell one auction", File: "engine/state/auctions.go",
			Old: "\treturn auction, true, s.tryClaimAuctionLocked(shard, owner, auctionName)\n",
			New: "\treturn auction, true, nil\n",
		}, "killed,held", 60 * time.Second, []string{"sells two leads"},
	},
	{
		mutant.Mutation{
			Name: "a return gives the money back twice", File: "engine/state/settle.go",
			Old: "\t\ts.accounts.adjustBalanceAndHeldFunds(buyer, back.Credit, 0)\n",
			New: "\t\ts.accounts.adjustBalanceAndHeldFunds(buyer, 2*back.Credit, 0)\n",
		}, "killed", 8 * time.Second, []string{"; the log has balance", "is overdrawn"},
	},
	{
		mutant.Mutation{
			Name: "checksums are not verified", File: "wal/frame.go",
			Old: "; !isChecksumValid(b, data) {\n", New: "; false && !isChecksumValid(b, data) {\n",
		}, "torn", 40 * time.Second, []string{"were cut without a copy", "ended unexpectedly", "log, entry", "replay: the live exchange"},
	},
	{
		mutant.Mutation{
			Name: "any damage counts as a torn end", File: "wal/scan.go",
			Old: "\tif at < 0 {\n\t\td.Torn = true\n", New: "\tif at < int64(^uint64(0)>>1) {\n\t\td.Torn = true\n",
		}, "flipped", 20 * time.Second, []string{"the exchange serves from"},
	},
	{
		mutant.Mutation{
			Name: "each attempt has another key", File: "engine/delivery/delivery.go",
			Old: "\treq := &market.BuyerPostRequest{\n",
			New: "\tkey += string(rune('a' + post.Attempts%26))\n\treq := &market.BuyerPostRequest{\n",
		}, "killed,held", 30 * time.Second, []string{"leads sold twice", "is held by two endpoints"},
	},
	{
		mutant.Mutation{
			Name: "a claim on a key is never counted as ended", File: "engine/state/reservation.go",
			Old: "\t\ts.idempotency[shardIndex(&owner.key)].endClaim(owner.key)\n\t\ts.reservations.Add(-1)\n",
			New: "\t\ts.idempotency[shardIndex(&owner.key)].endClaim(owner.key)\n",
		}, "held for seconds", 20 * time.Second, []string{"reservations, expected 0"},
	},
	{
		mutant.Mutation{
			Name: "a pause ends with the process", File: "engine/state/replay.go",
			Old: "\t\tr.state.applyLocked(w.seq, w.at, w.event)\n",
			New: "\t\tif door, ok := w.event.(*event.CampaignOrBuyerPausedOrResumed); ok {\n\t\t\tdoor.Paused = false\n\t\t}\n\t\tr.state.applyLocked(w.seq, w.at, w.event)\n",
		}, "paused", 10 * time.Second, []string{"was paused (acknowledged), but entry", "replay: the live exchange"},
	},
	{
		mutant.Mutation{
			Name: "an erased person's key stays", File: "keys/leadkeys/erase.go",
			Old: "\t\t\t_, err = out.WriteAt(make([]byte, KeySize), at)\n", New: "\t\t\t_, err = out.WriteAt(key[:], at)\n",
		}, "erase", 15 * time.Second, []string{"is deleted: false"},
	},
	{
		mutant.Mutation{
			Name: "half of a person's leads are erased", File: "exchange/erase.go",
			Old: "\topen, err := r.engine.EraseContactData(r.found)\n", New: "\topen, err := r.engine.EraseContactData(r.found[:len(r.found)/2])\n",
		}, "erase", 15 * time.Second, []string{"erasure of lead"},
	},
	{
		mutant.Mutation{
			Name: "the backup reports unshipped records as backed up", File: "wal/backup/ship_once.go",
			Old: "\tif len(records) == 0 {\n\t\treturn nil\n", New: "\tif len(records) < 16<<10 {\n\t\treturn nil\n",
		}, "disk lost", 20 * time.Second, []string{"are missing or changed", "is not in the log", "restore: the copy as of entry", " and evt_"},
	},
	{
		mutant.Mutation{
			Name: "the backup has no keys of leads", File: "wal/backup/keys.go",
			Old: "\t\tinfo, err := entry.Info()\n\t\tif errors.Is(err, fs.ErrNotExist) {\n",
			New: "\t\tinfo, err := entry.Info()\n\t\tif errors.Is(err, fs.ErrNotExist) || filepath.Base(name) != name {\n",
		}, "disk lost,erase", 20 * time.Second, []string{"cannot read the lead keys", "is deleted: true", "(withheld: the person was erased"},
	},
	{
		mutant.Mutation{
			Name: "a supplier is shown the buyer's price", File: "engine/lead_view.go",
			Old: "\tview.setPriceIfSold(&lead, lead.Payout)\n", New: "\tview.setPriceIfSold(&lead, lead.Price)\n",
		}, "killed", 10 * time.Second, []string{": lookup by its supplier"},
	},
	{
		mutant.Mutation{
			Name: "a statement gives half of a return back", File: "engine/ledger/movements.go",
			Old: "\t\te.Kind, e.Amount = EntryReturn, back.Credit\n", New: "\t\te.Kind, e.Amount = EntryReturn, back.Credit/2\n",
		}, "killed", 15 * time.Second, []string{"statement of", "sales report:"},
	},
	{
		mutant.Mutation{
			Name: "an explanation has the price in the payout's place", File: "exchange/explain/lead.go",
			Old: "newAmount(c.sale.Price, c.sale.Currency), newAmount(c.sale.Payout, c.sale.Currency)\n", New: "newAmount(c.sale.Price, c.sale.Currency), newAmount(c.sale.Price, c.sale.Currency)\n",
		}, "killed", 10 * time.Second, []string{"the explanation shows price"},
	},
	{
		mutant.Mutation{
			Name: "a test lead goes to the production endpoint", File: "engine/plan.go",
			Old: "\ttest.Ping, test.Post = b.TestPing, b.TestPost\n", New: "\ttest.Ping, test.Post = b.Ping, b.Post\n",
		}, "killed", 10 * time.Second, []string{"the delivery URL", "test requests", "which the log does not sell to it"},
	},
	{
		mutant.Mutation{
			Name: "a broken-off webhook counts as delivered", File: "outbound/webhook/client.go",
			Old: "\tif result.Status >= 200 && result.Status <= 299 {\n", New: "\tif result.Status >= 200 && result.Status <= 299 || result.Fault == market.FaultBroken {\n",
		}, "killed", 30 * time.Second, []string{"was never delivered"},
	},
	{
		mutant.Mutation{
			Name: "a user is acknowledged before its event", File: "engine/access.go",
			Old: "\treturn !known, e.commit(&event.UserAccountChanged{Name: account.Name, Role: account.Role, Password: account.Password, At: e.opt.Clock.Now(), By: e.by}, nil)\n",
			New: "\tgo func() {\n\t\tfor until := e.opt.Clock.Now() + 3e8; e.opt.Clock.Now() < until; {\n\t\t}\n" +
				"\t\t_ = e.commit(&event.UserAccountChanged{Name: account.Name, Role: account.Role, Password: account.Password, At: e.opt.Clock.Now(), By: e.by}, nil)\n\t}()\n\treturn !known, nil\n",
		}, "killed", 8 * time.Second, []string{"admin edits: users/"},
	},
	{
		mutant.Mutation{
			Name: "a configuration entry is active without its event", File: "engine/configure.go",
			Old: "\tupdate.Catalog.Version++\n", New: "\tif update.Catalog.Version++; update.From == event.FromAPI {\n\t\treturn nil\n\t}\n",
		}, "killed", 8 * time.Second, []string{"admin edits: config/", "admin edits: the history of"},
	},
	{
		mutant.Mutation{
			Name: "entries from the API are lost at a start", File: "exchange/revision.go",
			Old: "\thash := x.state.CurrentConfigVersion().Overlay\n", New: "\thash := x.state.CurrentConfigVersion().Overlay[:0]\n",
		}, "killed", 8 * time.Second, []string{"admin edits: config/", "admin edits: the suppression list with"},
	},
	{
		mutant.Mutation{
			Name: "a changed user's tokens stay valid", File: "engine/state/users.go",
			Old: "\t\tif token.User == e.Name {\n", New: "\t\tif token.User == e.Name && e.At < 0 {\n",
		}, "killed", 20 * time.Second, []string{"admin edits: token"},
	},
	{
		mutant.Mutation{
			Name: "a broken-off upload counts as complete", File: "server/admin/suppression.go",
			Old: "\t\tu.broken = io.ErrUnexpectedEOF\n", New: "\t\tu.ended = true\n\t\treturn n, io.EOF\n",
		}, "killed", 20 * time.Second, []string{"admin edits: suppression/"},
	},
	{
		mutant.Mutation{
			Name: "the report repeats its last entry at a start", File: "report/follow.go",
			Old: "\tif from > 0 {\n\t\tfrom++\n", New: "\tif from > 0 {\n\t\tfrom += 0\n",
		}, "killed", 30 * time.Second, []string{"sales report:"},
	},
}

// notifyAfterFsync is the end of a commit; notifyBeforeFsync has the wrong order.
const (
	notifyAfterFsync = `	if b.Write = took; full {
		b.Write, b.Sync = 0, took
	} else if b.Sync, err = l.writer.sync(); err != nil {
		return full, err
	}
	l.at = h.at
	l.publishCommittedBatch(b)
	if l.opt.Observe != nil {
		l.opt.Observe(b)
	}
	commitqueue.NotifyCommitted(batch, h.batch, h.at)
`
	notifyBeforeFsync = `	l.at = h.at
	l.publishCommittedBatch(b)
	commitqueue.NotifyCommitted(batch, h.batch, h.at)
	for i := range batch {
		batch[i].Waiter = nil
	}
	if b.Write = took; full {
		b.Write, b.Sync = 0, took
	} else if b.Sync, err = l.writer.sync(); err != nil {
		return full, err
	}
	if l.opt.Observe != nil {
		l.opt.Observe(b)
	}
`
)

// Each mutation must still apply. This check is cheap and part of every test run, so it reports
// changes of the mutated lines at once.
func TestMutationsApply(t *testing.T) {
	for _, b := range slices.Concat(mutants, clusterMutants) {
		if _, err := mutant.WriteOverlay(root, t.TempDir(), b.mutation); err != nil {
			t.Error(err)
		}
	}
}

const root = "../.."

// The torture must detect each mutant. It takes minutes: make torture-mutants.
func TestTortureDetectsMutants(t *testing.T) {
	if os.Getenv("TORTURE_MUTANTS") == "" {
		t.Skip("it takes minutes: make torture-mutants")
	}
	for i, b := range mutants {
		runMutant(t, "TestTorture", i+1, &b)
	}
	for i, b := range clusterMutants {
		runMutant(t, "TestTortureCluster", i+1, &b)
	}
}

// runMutant builds a mutant and runs a torture test against it, which must fail with an expected finding.
func runMutant(t *testing.T, test string, seed int, b *mutantCase) {
	t.Run(b.mutation.Name, func(t *testing.T) {
		program := filepath.Join(t.TempDir(), "pingpost")
		if err := mutant.Build(t.Context(), root, "./cmd/pingpost", program, nil, b.mutation); err != nil {
			t.Fatal(err)
		}
		run := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+test+"$", "-test.v", "-test.timeout=0",
			"--minutes", fmt.Sprint(b.span.Minutes()), "--seed", strconv.Itoa(seed), "--only", b.faultNames, "--program", program)
		run.Env = append(os.Environ(), "TMPDIR="+t.TempDir())
		output, err := run.CombinedOutput()
		said := string(output)
		if err == nil {
			t.Fatalf("not detected\n%s", said)
		}
		known := false
		for _, want := range b.findings {
			known = known || strings.Contains(said, want)
		}
		if !known {
			t.Errorf("detected, but by unexpected findings:\n%.6000s", said)
		}
	})
}
