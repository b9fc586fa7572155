package state

import (
	"testing"

	"pgregory.net/rapid"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// auctionModel implements the table of auctions with maps, with the requests that have claimed a
// name and the open posts.
type auctionModel struct {
	*testExchange
	rows      map[[16]byte]AuctionRow
	claims    map[[16]byte]*claimRequest
	requests  []*claimRequest
	openSales []event.Sale // of open posts
	openLeads []market.LeadID
	waits     map[<-chan struct{}]*claimRequest // the request that each channel waits for
}

// claimRequest is a request that has claimed a name: for a new auction, or for a sale.
type claimRequest struct {
	reservations RequestReservations
	name         [16]byte
	sale         bool
	done         bool
}

func (m *auctionModel) find(name [16]byte) (AuctionRow, bool) {
	row, ok := m.rows[name]
	if !ok || row.Keep <= unixSecondsRoundedDown(m.at) {
		return AuctionRow{}, false
	}
	return row, true
}

// claim starts a request for a name and compares its result with the model's.
func (m *auctionModel) claim(t *rapid.T, name [16]byte, sale bool) {
	request := &claimRequest{name: name, sale: sale}
	want, known := m.find(name)
	holder := m.claims[name]
	var row AuctionRow
	var found bool
	var wait <-chan struct{}
	mayClaim := !known
	if sale {
		row, found, wait = m.ClaimAuctionForSale(&request.reservations, name, m.at)
		mayClaim = known && !want.IsSoldOrBeingPosted()
		if row != want {
			t.Fatalf("%x is %+v, want %+v", name, row, want)
		}
	} else {
		found, wait = m.ClaimNewAuctionName(&request.reservations, name, m.at)
	}
	if found != known || (wait != nil) != (mayClaim && holder != nil) {
		t.Fatalf("%x for sale %t: found %t, wait %v; model: known %t, claimed by %+v", name, sale, found, wait, known, holder)
	}
	switch {
	case wait != nil:
		m.waits[wait] = holder
	case mayClaim:
		m.claims[name] = request
		m.requests = append(m.requests, request)
	}
}

// endRequest logs a request's event or not, and ends its claim.
func (m *auctionModel) endRequest(t *rapid.T) {
	if len(m.requests) == 0 {
		return
	}
	i := rapid.IntRange(0, len(m.requests)-1).Draw(t, "request")
	request := m.requests[i]
	m.requests = append(m.requests[:i], m.requests[i+1:]...)
	switch logged := rapid.Bool().Draw(t, "logged"); {
	case logged && request.sale:
		lead, sale := market.LeadID(m.newID()), event.Sale{Buyer: 3, Ping: request.name}
		m.logAndApply(&event.LeadDecided{Lead: lead, Campaign: 1, Keep: m.at + day, Sale: sale, Post: intent})
		m.openSales, m.openLeads = append(m.openSales, sale), append(m.openLeads, lead)
		if row, ok := m.rows[request.name]; ok {
			row.Lead = lead
			m.rows[request.name] = row
		}
	case logged:
		keep := m.at + int64(rapid.IntRange(1, 4).Draw(t, "hours"))*hour
		m.logAndApply(&event.PingAuctionCompleted{Auction: m.newID(), Name: request.name, Keep: keep})
		m.rows[request.name] = AuctionRow{Name: request.name, Seq: m.seq, Keep: unixSecondsRoundedUp(keep)}
	}
	m.ReleaseAllAfterApply(&request.reservations)
	delete(m.claims, request.name)
	request.done = true
}

// settlePost settles an open post in a random way.
func (m *auctionModel) settlePost(t *rapid.T) {
	if len(m.openSales) == 0 {
		return
	}
	i := rapid.IntRange(0, len(m.openSales)-1).Draw(t, "post")
	lead, sale := m.openLeads[i], m.openSales[i]
	how := rapid.SampledFrom([]event.PostSettlement{
		event.SettledDelivered, event.SettledRefused, event.SettledPending, event.SettledUnknown,
		event.SettledConfirmed, event.SettledReleased, event.SettledResent,
	}).Draw(t, "settlement")
	m.logAndApply(&event.PostSettled{Lead: lead, Campaign: 1, Settlement: how, Sale: sale})
	if how.EndsPost() {
		m.openSales, m.openLeads = append(m.openSales[:i], m.openSales[i+1:]...), append(m.openLeads[:i], m.openLeads[i+1:]...)
	}
	row := m.rows[sale.Ping]
	if (how == event.SettledRefused || how == event.SettledReleased) && row.Lead == lead {
		row.Lead = market.LeadID{}
		m.rows[sale.Ping] = row
	}
}

func (m *auctionModel) check(t *rapid.T) {
	for name := range byte(6) {
		name := [16]byte{9, 15: name}
		want, known := m.find(name)
		if got, found := m.FindAuction(name, m.at); found != known || got != want {
			t.Fatalf("%x is %+v, %t; want %+v, %t", name, got, found, want, known)
		}
	}
	for wait, holder := range m.waits {
		if isClosed(wait) != holder.done {
			t.Fatalf("wait over: %t, awaited request ended: %t", isClosed(wait), holder.done)
		}
	}
	if got := m.ReservationCount(); got != int64(len(m.requests)) {
		t.Fatalf("%d reservations, want %d", got, len(m.requests))
	}
}

// Requests run concurrently, auctions expire, and posts are settled in any order. Every name has
// at most one claim, and the table equals a map.
func TestAuctionsMatchModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &auctionModel{
			testExchange: newTestExchange(), rows: map[[16]byte]AuctionRow{}, claims: map[[16]byte]*claimRequest{}, waits: map[<-chan struct{}]*claimRequest{},
		}
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			switch step := rapid.IntRange(0, 11).Draw(t, "step"); {
			case step < 6:
				name := [16]byte{9, 15: byte(rapid.IntRange(0, 5).Draw(t, "name"))}
				m.claim(t, name, step < 3)
			case step < 9:
				m.endRequest(t)
			case step < 11:
				m.settlePost(t)
			default:
				m.at += hour
			}
			m.check(t)
		}
		restored := New()
		replay(restored, m.log, m.seq)
		_, live := m.Hash()
		if _, hash := restored.Hash(); hash != live {
			t.Fatal("the replayed state differs")
		}
	})
}
