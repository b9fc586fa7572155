package witness

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"

	"pingpost/engine/market"
)

// order is a request as a supplier sends it: always the same bytes under the key.
type order struct {
	path          string // empty: of an ingest
	token         string // empty: the caller's own
	key, campaign string
	look          bool   // nothing is sent, and nothing changes
	test          bool   // nothing is taken for it
	rival         bool   // another lead is posted at the same bid
	foreign       bool   // a post for a bid that is none to it
	clashes       bool   // a report that may come at the wrong time, or too late
	chosen        string // the buyer whose bid an ingest takes up
	promised      market.Money
	phone, email  string
	body          []byte
}

// told is an answer that counts: what it says is never to be said otherwise.
type told struct {
	*order
	Answer
	said struct {
		Data lead `json:"data"`
	}
	bid     market.Money // that a ping was told; zero: none
	refused bool         // a post that was
	offers  bids         // that a supplier may choose from: payouts
	reports []reportOf   // that were taken
}

// lead is one that was acknowledged.
type lead struct {
	ID         string `json:"id"`
	Status     string `json:"status"`
	BuyerID    string `json:"buyer_id"`
	CampaignID string `json:"campaign_id"`
	Reason     string `json:"reason"`
	Price      struct {
		Amount   market.Money `json:"amount"`
		Currency string       `json:"currency"`
	} `json:"price"`
}

func (t *told) accepted() bool { return t.said.Data.Status == "ACCEPTED" }

// ledger is what the suppliers were told. Nothing is ever taken out of it.
type ledger struct {
	mu       sync.Mutex
	told     []*told
	expired  []string // keys of posts that came too late
	breaches []string
	lost     int // answers that only a second sending brought
	foreign  int // posts that were told that their bid is none to them
}

// enter takes the first answer under a key, and tells what it was.
func (l *ledger) enter(o *order, a Answer) *told {
	t := &told{order: o, Answer: a}
	final, err := t.read()
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err != nil:
		l.breaches = append(l.breaches, fmt.Sprintf("key %s: status %d, %v: %s", o.key, a.Status, err, a.Text))
		return nil
	case !final && o.foreign:
		l.foreign++
		return nil
	case !final:
		l.expired = append(l.expired, o.key)
		return nil
	case a.Replayed:
		l.lost++
	}
	l.told = append(l.told, t)
	return t
}

// read takes an answer apart. One that is not final uses up no key.
func (t *told) read() (final bool, err error) {
	switch {
	case t.path == pathPing && t.Status == http.StatusOK:
		return true, t.readPing()
	case t.path == pathPost && t.Status == http.StatusCreated && !t.foreign:
		t.said.Data.CampaignID = t.campaign
		return true, json.Unmarshal([]byte(t.Text), &t.said.Data)
	case t.path == pathPost:
		return t.readRefusal()
	case t.path == pathAsk && t.Status == http.StatusOK:
		return true, t.readOffers()
	case t.isReport() && t.Status == http.StatusConflict && t.clashes:
		return false, nil
	case t.isReport() && t.Status == http.StatusOK:
		return true, t.readReport()
	case t.path == "" && t.Status == http.StatusCreated:
		return true, json.Unmarshal([]byte(t.Text), &t.said)
	}
	return false, errors.New("no answer to such a request")
}

// compare takes a later answer under the same key.
func (l *ledger) compare(first *told, again Answer) {
	if again.Status == first.Status && again.Text == first.Text && again.Request == first.Request && again.Replayed {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.breaches = append(l.breaches, fmt.Sprintf("key %s was told %d %s (%s), and when it asked again %d %s (%s), replayed: %t",
		first.key, first.Status, first.Text, first.Request, again.Status, again.Text, again.Request, again.Replayed))
}

// page is a copy of all that was told so far.
func (l *ledger) page() (answers []*told, breaches []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append(answers, l.told...), append(breaches, l.breaches...)
}

// count is how many were entered.
func (l *ledger) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.told)
}

// tooLate lists the posts that were told so.
func (l *ledger) tooLate() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.expired...)
}

// pick is some answer that was given, or nil where there is none.
func (l *ledger) pick(chance *rand.Rand) *told {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.told) == 0 {
		return nil
	}
	return l.told[chance.IntN(len(l.told))]
}
