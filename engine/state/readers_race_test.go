package state

import (
	"bytes"
	"errors"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state/coldtest"
)

// All queries run at once while events are applied. The race detector finds conflicts, and the
// hash shows that no query changed the state.
func TestConcurrentReadersAndApply(t *testing.T) {
	x := newBusyExchange()
	live := New()
	replay(live, x.log, 10)
	lead := market.LeadID{}
	x.EachUnfinishedPost(func(p *UnfinishedPost) { lead = p.Lead })
	var last *bytes.Buffer // written by the only goroutine that makes snapshots
	var lastFiles []ColdFile
	queries := map[string]func(){
		"Lead": func() {
			_, _, err := live.Lead(lead)
			if err = errors.Join(err, live.LoadLeadIntoMemory(lead, 0)); err != nil {
				t.Error(err)
			}
		},
		"Post": func() {
			if post := live.UnfinishedPost(lead); post != nil {
				_ = post.contentHash()
			}
		},
		"Posts":    func() { live.EachUnfinishedPost(func(p *UnfinishedPost) { _ = p.Attempts }) },
		"Position": func() { live.Position(); live.FoundedEvent(); live.CurrentConfigVersion() },
		"Hash":     func() { live.Hash() },
		"Snapshot": func() {
			var file bytes.Buffer
			cold := coldtest.New(ColdRowShape())
			move := &RowMove{DecidedBefore: math.MaxInt64, To: cold}
			_, _, err := live.WriteSnapshot(&file, move)
			cold.Metadata = move.FileMeta()
			last, lastFiles = &file, append([]ColdFile{cold}, live.ColdFiles()...)
			if err = errors.Join(err, live.ForgetMovedRows(lastFiles, 0)); err != nil {
				t.Error(err)
			}
			if len(lastFiles) > 3 {
				live.SetColdFiles([]ColdFile{mergeColdFiles(t, lastFiles, 0)})
			}
		},
		"Leads":     func() { live.LeadCountWithExpired() },
		"registers": func() { live.CapRefsByKey(); live.RefOf(2, "red"); live.NameOf(2, 1); live.CountPermanentNumbers(2) },
		"availability": func() {
			live.BuyerAvailabilityVersion(1)
			live.AddCampaignOfBuyer(market.PermanentNumber(1+live.CountPermanentNumbers(2)%5), 1)
			live.IsCapFull(x.capsByBuyer[1][0], dollar, monday)
			live.LacksFunds(x.buyers[0], dollar)
			live.PauseStatus(2, 1)
		},
		"accounts": func() { live.AppliedBuyerFunds(1) },
		"credentials": func() {
			live.CredentialByHash([32]byte{1})
			live.CredentialsOf(1, 1, 1)
			live.HasCredentialEverExisted(&event.CredentialAddedOrRevoked{Credential: 1, Owner: 1, OwnerRef: 1})
			live.SealedSecret("a")
			live.SuppressionListFile(1)
		},
		"reservations": func() {
			var h RequestReservations
			live.ReserveRotationTurn(&h, 1, 7, []int32{1, 2, 3})
			live.ReserveAllCaps(&h, x.capsByBuyer[1], dollar, nil, monday)
			live.ReserveFunds(&h, x.buyers[0], dollar)
			live.ReleaseAll(&h)
		},
		"claims": func() {
			var h RequestReservations
			live.mustClaimDuplicateKeys(&h, []market.DuplicateKey{{7, 15: 1}, {8, 15: 1}}, monday)
			live.mustClaimIdempotencyKey(&h, [16]byte{5, 15: 1}, 1, monday)
			live.ReleaseAll(&h)
		},
		"webhooks": func() {
			for _, supplier := range live.SuppliersWithPendingWebhooks() {
				live.NextWebhookDueTime(supplier)
				live.OutboxStatus(supplier)
				live.ListDeadLetters(supplier, 0, 10)
				if h, ok := live.ClaimDueWebhook(supplier, 1<<62); ok {
					live.FindWebhook(h.Lead, h.Type)
					live.UnclaimWebhook(h)
				}
			}
			select {
			case <-live.WebhookMayBeDue():
			default:
			}
		},
		"months": func() { live.MonthlySaleCounts(1, 1, market.StartOfUTCMonth(monday)) },
		"auctions": func() {
			var h RequestReservations
			live.FindAuction([16]byte{1, 15: 1}, monday)
			live.AuctionCountWithExpired()
			live.ClaimNewAuctionName(&h, [16]byte{99, 15: 1}, monday)
			live.ReleaseAll(&h)
			live.ClaimAuctionForSale(&h, [16]byte{1, 15: 1}, monday)
			live.ReleaseAll(&h)
		},
	}
	var done atomic.Bool
	var all sync.WaitGroup
	for _, query := range queries {
		all.Go(func() {
			for !done.Load() {
				query()
				runtime.Gosched()
			}
		})
	}
	for seq := uint64(11); seq <= x.seq; seq++ {
		replay(live, x.log, seq)
		runtime.Gosched()
	}
	done.Store(true)
	all.Wait()
	_, wantHash := x.Hash()
	if _, hash := live.Hash(); hash != wantHash {
		t.Error("queries have changed the state")
	}
	if err := live.CheckColdRows(); err != nil {
		t.Error(err)
	}
	restored := New()
	restored.SetColdFiles(lastFiles)
	if _, err := restored.LoadSnapshot(last); err != nil {
		t.Fatal(err)
	}
	replay(restored, x.log, x.seq)
	if _, hash := restored.Hash(); hash != wantHash {
		t.Error("the last snapshot and the later log give a different state")
	}
	if n := live.ReservationCount(); n != 0 {
		t.Errorf("%d reservations are left, want 0", n)
	}
}
