package state

import (
	"bytes"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// Everything that may be asked while facts are applied is asked, all at once. It
// is the race detector that judges, and in the end the hash.
func TestReadersBesideApply(t *testing.T) {
	w := rich()
	live := New()
	replay(live, w.log, 10)
	lead := market.LeadID{}
	w.EachUnfinishedPost(func(p *UnfinishedPost) { lead = p.Lead })
	var last *bytes.Buffer // written by the one goroutine that takes snapshots
	ask := map[string]func(){
		"Lead": func() { live.Lead(lead) },
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
			if _, _, err := live.WriteSnapshot(&file); err == nil {
				last = &file
			}
		},
		"Leads":     func() { live.LeadCount() },
		"registers": func() { live.CapRefsByKey(); live.RefOf(2, "red"); live.NameOf(2, 1); live.CountNumberedNames(2) },
		"doors": func() {
			live.AvailabilityVersion()
			live.IsCapFull(w.limits[1][0], dollar, monday)
			live.LacksFunds(w.buyers[0], dollar)
			live.PauseStatus(2, 1)
		},
		"accounts": func() { live.BuyerFunds(1) },
		"access": func() {
			live.CredentialByHash([32]byte{1})
			live.CredentialsOf(1, 1, 1)
			live.HasCredentialEverExisted(&event.CredentialAddedOrRevoked{Credential: 1, Owner: 1, OwnerRef: 1})
			live.SealedSecret("a")
			live.SuppressionListFile(1)
		},
		"room": func() {
			var h RequestReservations
			live.ReserveRotationTurn(&h, 1, 7, []int32{1, 2, 3})
			live.ReserveAllCaps(&h, w.limits[1], dollar, nil, monday)
			live.ReserveFunds(&h, w.buyers[0], dollar)
			live.ReleaseAll(&h)
		},
		"claims": func() {
			var h RequestReservations
			live.ClaimAllDuplicateKeys(&h, []market.DuplicateKey{{7, 15: 1}, {8, 15: 1}}, monday)
			live.ClaimIdempotencyKey(&h, [16]byte{5, 15: 1}, 1, monday)
			live.ReleaseAll(&h)
		},
		"hooks": func() {
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
			case <-live.WebhooksChanged():
			default:
			}
		},
		"months": func() { live.MonthlySaleCounts(1, 1, market.StartOfUTCMonth(monday)) },
		"auctions": func() {
			var h RequestReservations
			live.FindAuction([16]byte{1, 15: 1}, monday)
			live.AuctionCount()
			live.ClaimAuctionName(&h, [16]byte{99, 15: 1}, monday)
			live.ReleaseAll(&h)
			live.ClaimAuctionForSale(&h, [16]byte{1, 15: 1}, monday)
			live.ReleaseAll(&h)
		},
	}
	var done atomic.Bool
	var all sync.WaitGroup
	for _, question := range ask {
		all.Go(func() {
			for !done.Load() {
				question()
				runtime.Gosched()
			}
		})
	}
	for seq := uint64(11); seq <= w.seq; seq++ {
		replay(live, w.log, seq)
		runtime.Gosched()
	}
	done.Store(true)
	all.Wait()
	_, right := w.Hash()
	if _, hash := live.Hash(); hash != right {
		t.Error("questions have changed the state")
	}
	again := New()
	if _, err := again.LoadSnapshot(last); err != nil {
		t.Fatal(err)
	}
	replay(again, w.log, w.seq)
	if _, hash := again.Hash(); hash != right {
		t.Error("the last snapshot and the rest of the log are another state")
	}
	if n := live.ReservationCount(); n != 0 {
		t.Errorf("%d reservations are out", n)
	}
}
