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
	w.Posts(func(p *Post) { lead = p.Lead })
	var last *bytes.Buffer // written by the one goroutine that takes snapshots
	ask := map[string]func(){
		"Lead": func() { live.Lead(lead) },
		"Post": func() {
			if post := live.Post(lead); post != nil {
				_ = post.digest()
			}
		},
		"Posts":    func() { live.Posts(func(p *Post) { _ = p.Attempts }) },
		"Position": func() { live.Position(); live.Founded(); live.Catalog() },
		"Hash":     func() { live.Hash() },
		"Snapshot": func() {
			var file bytes.Buffer
			if _, _, err := live.WriteSnapshot(&file); err == nil {
				last = &file
			}
		},
		"Leads":     func() { live.Leads() },
		"registers": func() { live.CapRefs(); live.RefOf(2, "red"); live.NameOf(2, 1); live.Names(2) },
		"doors": func() {
			live.DoorVersion()
			live.CapFull(w.limits[1][0], dollar, monday)
			live.FundsShort(w.buyers[0], dollar)
			live.Paused(2, 1)
		},
		"accounts": func() { live.Balance(1); live.Opened(1) },
		"access": func() {
			live.Credential([32]byte{1})
			live.CredentialsOf(1, 1, 1)
			live.HadCredential(&event.CredentialSet{Credential: 1, Owner: 1, OwnerRef: 1})
			live.Secret("a")
			live.List(1)
		},
		"room": func() {
			var h Hold
			live.TakeTurn(&h, 1, 7, []int32{1, 2, 3})
			live.TakeCaps(&h, w.limits[1], dollar, nil, monday)
			live.TakeFunds(&h, w.buyers[0], dollar)
			live.Release(&h)
		},
		"claims": func() {
			var h Hold
			live.ClaimDups(&h, []market.DupKey{{7, 15: 1}, {8, 15: 1}}, monday)
			live.ClaimKey(&h, [16]byte{5, 15: 1}, 1, monday)
			live.Release(&h)
		},
		"hooks": func() {
			for _, supplier := range live.HookSuppliers() {
				live.NextHook(supplier)
				live.HookStanding(supplier)
				live.DeadHooks(supplier, 0, 10)
				if h, ok := live.TakeHook(supplier, 1<<62); ok {
					live.Hook(h.Lead, h.Type)
					live.ReturnHook(h)
				}
			}
			select {
			case <-live.HooksChanged():
			default:
			}
		},
		"months": func() { live.Month(1, 1, market.MonthOf(monday)) },
		"auctions": func() {
			var h Hold
			live.Auction([16]byte{1, 15: 1}, monday)
			live.Auctions()
			live.ClaimName(&h, [16]byte{99, 15: 1}, monday)
			live.Release(&h)
			live.ClaimPing(&h, [16]byte{1, 15: 1}, monday)
			live.Release(&h)
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
	if _, err := again.Load(last); err != nil {
		t.Fatal(err)
	}
	replay(again, w.log, w.seq)
	if _, hash := again.Hash(); hash != right {
		t.Error("the last snapshot and the rest of the log are another state")
	}
	if n := live.Reservations(); n != 0 {
		t.Errorf("%d reservations are out", n)
	}
}
