package crash

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"

	"pingpost/engine/market"
)

// order is a lead as a supplier sends it: always the same bytes under the key.
type order struct {
	key, campaign string
	phone, email  string
	body          []byte
}

// answer is what came back.
type answer struct {
	status   int
	request  string // X-Request-Id
	replayed bool
	text     string
}

// told is an answer that counts: a lead that was acknowledged.
type told struct {
	*order
	answer
	said struct {
		Data struct {
			ID         string `json:"id"`
			Status     string `json:"status"`
			BuyerID    string `json:"buyer_id"`
			CampaignID string `json:"campaign_id"`
			Reason     string `json:"reason"`
			Price      struct {
				Amount   market.Money `json:"amount"`
				Currency string       `json:"currency"`
			} `json:"price"`
		} `json:"data"`
	}
}

func (t *told) accepted() bool { return t.said.Data.Status == "ACCEPTED" }

// ledger is what the suppliers were told. Nothing is ever taken out of it.
type ledger struct {
	mu       sync.Mutex
	told     []*told
	breaches []string
	lost     int // answers that only a second sending brought
}

// enter takes the first answer under a key.
func (l *ledger) enter(o *order, a answer) {
	t := &told{order: o, answer: a}
	err := json.Unmarshal([]byte(a.text), &t.said)
	l.mu.Lock()
	defer l.mu.Unlock()
	if a.status != http.StatusCreated || err != nil {
		l.breaches = append(l.breaches, fmt.Sprintf("key %s: status %d, %v: %s", o.key, a.status, err, a.text))
		return
	}
	if a.replayed {
		l.lost++
	}
	l.told = append(l.told, t)
}

// compare takes a later answer under the same key.
func (l *ledger) compare(first *told, again answer) {
	if again.status == first.status && again.text == first.text && again.request == first.request && again.replayed {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.breaches = append(l.breaches, fmt.Sprintf("key %s was told %d %s (%s), and when it asked again %d %s (%s), replayed: %t",
		first.key, first.status, first.text, first.request, again.status, again.text, again.request, again.replayed))
}

// page is a copy of all that was told so far.
func (l *ledger) page() (answers []*told, breaches []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append(answers, l.told...), append(breaches, l.breaches...)
}

// pick is some acknowledged lead, or nil where there is none.
func (l *ledger) pick(chance *rand.Rand) *told {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.told) == 0 {
		return nil
	}
	return l.told[chance.IntN(len(l.told))]
}
