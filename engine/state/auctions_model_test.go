package state

import (
	"testing"

	"pgregory.net/rapid"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// auctionModel is what the table of auctions is, kept as plain maps, with the
// requests that are at work with one and the posts that are open.
type auctionModel struct {
	*world
	rows   map[[16]byte]AuctionRow
	claims map[[16]byte]*atWork
	busy   []*atWork
	open   []event.Sale // of posts that are on their way, with whose they are
	leads  []market.LeadID
	waits  map[<-chan struct{}]*atWork // what each that waits waits for
}

// atWork is a request that has claimed a name: for a new auction, or for a sale.
type atWork struct {
	hold RequestReservations
	name [16]byte
	sale bool
	done bool
}

func (m *auctionModel) find(name [16]byte) (AuctionRow, bool) {
	row, ok := m.rows[name]
	if !ok || row.Keep <= unixSecondsRoundedDown(m.at) {
		return AuctionRow{}, false
	}
	return row, true
}

// begin lets a request ask for a name, and tells what the model expected.
func (m *auctionModel) begin(t *rapid.T, name [16]byte, sale bool) {
	request := &atWork{name: name, sale: sale}
	want, known := m.find(name)
	holder := m.claims[name]
	var row AuctionRow
	var found bool
	var wait <-chan struct{}
	mayClaim := !known
	if sale {
		row, found, wait = m.ClaimAuctionForSale(&request.hold, name, m.at)
		mayClaim = known && !want.IsSoldOrBeingPosted()
		if row != want {
			t.Fatalf("%x is %+v, want %+v", name, row, want)
		}
	} else {
		found, wait = m.ClaimAuctionName(&request.hold, name, m.at)
	}
	if found != known || (wait != nil) != (mayClaim && holder != nil) {
		t.Fatalf("%x for sale %t: found %t, wait %v; known %t, at work with it %+v", name, sale, found, wait, known, holder)
	}
	switch {
	case wait != nil:
		m.waits[wait] = holder
	case mayClaim:
		m.claims[name] = request
		m.busy = append(m.busy, request)
	}
}

// end logs what a request was about, or lets it go.
func (m *auctionModel) end(t *rapid.T) {
	if len(m.busy) == 0 {
		return
	}
	i := rapid.IntRange(0, len(m.busy)-1).Draw(t, "request")
	request := m.busy[i]
	m.busy = append(m.busy[:i], m.busy[i+1:]...)
	switch logged := rapid.Bool().Draw(t, "logged"); {
	case logged && request.sale:
		lead, sale := market.LeadID(m.id()), event.Sale{Buyer: 3, Ping: request.name}
		m.fact(&event.LeadDecided{Lead: lead, Campaign: 1, Keep: m.at + day, Sale: sale, Post: way})
		m.open, m.leads = append(m.open, sale), append(m.leads, lead)
		if row, ok := m.rows[request.name]; ok {
			row.Lead = lead
			m.rows[request.name] = row
		}
	case logged:
		keep := m.at + int64(rapid.IntRange(1, 4).Draw(t, "hours"))*hour
		m.fact(&event.PingAuctionCompleted{Auction: m.id(), Name: request.name, Keep: keep})
		m.rows[request.name] = AuctionRow{Name: request.name, Seq: m.seq, Keep: unixSecondsRoundedUp(keep)}
	}
	m.ReleaseAfterApply(&request.hold)
	delete(m.claims, request.name)
	request.done = true
}

// settle lets something become of an open post.
func (m *auctionModel) settle(t *rapid.T) {
	if len(m.open) == 0 {
		return
	}
	i := rapid.IntRange(0, len(m.open)-1).Draw(t, "post")
	lead, sale := m.leads[i], m.open[i]
	how := rapid.SampledFrom([]event.PostSettlement{
		event.SettledDelivered, event.SettledRefused, event.SettledPending, event.SettledUnknown,
		event.SettledConfirmed, event.SettledReleased, event.SettledResent,
	}).Draw(t, "settlement")
	m.fact(&event.PostSettled{Lead: lead, Campaign: 1, Settlement: how, Sale: sale})
	if how.EndsPost() {
		m.open, m.leads = append(m.open[:i], m.open[i+1:]...), append(m.leads[:i], m.leads[i+1:]...)
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
		if closed(wait) != holder.done {
			t.Fatalf("woken %t, though what it waits for has ended: %t", closed(wait), holder.done)
		}
	}
	if got := m.ReservationCount(); got != int64(len(m.busy)) {
		t.Fatalf("%d reservations, %d requests at work", got, len(m.busy))
	}
}

// Requests that are at work side by side, auctions that run out, posts that come
// back in any order: every name has at most one owner, and what facts say of it
// is what a map would.
func TestAuctionsAreAMapWithOneAtWork(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &auctionModel{
			world: newWorld(), rows: map[[16]byte]AuctionRow{}, claims: map[[16]byte]*atWork{}, waits: map[<-chan struct{}]*atWork{},
		}
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			switch step := rapid.IntRange(0, 11).Draw(t, "step"); {
			case step < 6:
				name := [16]byte{9, 15: byte(rapid.IntRange(0, 5).Draw(t, "name"))}
				m.begin(t, name, step < 3)
			case step < 9:
				m.end(t)
			case step < 11:
				m.settle(t)
			default:
				m.at += hour
			}
			m.check(t)
		}
		again := New()
		replay(again, m.log, m.seq)
		_, live := m.Hash()
		if _, hash := again.Hash(); hash != live {
			t.Fatal("replayed, it is another state")
		}
	})
}
