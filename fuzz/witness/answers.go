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

// clientRequest is a request of a supplier or buyer. Every attempt under its key sends the same
// bytes.
type clientRequest struct {
	path          string // empty: an ingest
	token         string // empty: the client's own token
	key, campaign string
	isLookup      bool   // a read; the exchange changes no state for it
	isTest        bool   // a test lead; it must consume no cap and no money
	hasRival      bool   // another lead is posted with the same bid token
	mayConflict   bool   // a status report that may be late or out of order
	chosenBuyer   string // the buyer that an ingest chooses from the availability answer
	chosenPayout  market.Money
	phone, email  string
	body          []byte
}

// answeredRequest is a request with its final answer. Every later answer under the same key
// must be equal.
type answeredRequest struct {
	*clientRequest
	Response
	parsed struct {
		Data answeredLead `json:"data"`
	}
	bid           market.Money   // the bid in a ping's answer; zero: no bid
	postRejected  bool           // the post was rejected
	offers        bidsByBuyer    // payouts that an availability answer offers, by buyer
	statusReports []statusReport // accepted status reports
}

// answeredLead is a lead as the answer shows it.
type answeredLead struct {
	ID         string         `json:"id"`
	Status     string         `json:"status"`
	BuyerID    string         `json:"buyer_id"`
	CampaignID string         `json:"campaign_id"`
	Reason     string         `json:"reason"`
	Price      currencyAmount `json:"price"`
}

func (t *answeredRequest) isAccepted() bool { return t.parsed.Data.Status == "ACCEPTED" }

// answerLog holds all answers. Entries are never removed.
type answerLog struct {
	mu           sync.Mutex
	answers      []*answeredRequest
	expiredPosts []string // keys of posts whose bid had expired
	violations   []string
}

// add records the first answer under a key. It returns nil if the answer is invalid or not
// final.
func (l *answerLog) add(o *clientRequest, a Response) *answeredRequest {
	t := &answeredRequest{clientRequest: o, Response: a}
	final, err := t.parseAnswer()
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err != nil:
		l.violations = append(l.violations, fmt.Sprintf("key %s: invalid answer with status %d: %v: %s", o.key, a.Status, err, a.Body))
		return nil
	case !final:
		l.expiredPosts = append(l.expiredPosts, o.key)
		return nil
	}
	l.answers = append(l.answers, t)
	return t
}

// parseAnswer parses the answer. final is false if the answer leaves the idempotency key unused.
func (t *answeredRequest) parseAnswer() (final bool, err error) {
	switch {
	case t.path == pathPing && t.Status == http.StatusOK:
		return true, t.parsePingAnswer()
	case t.path == pathPost && t.Status == http.StatusCreated:
		t.parsed.Data.CampaignID = t.campaign
		return true, json.Unmarshal([]byte(t.Body), &t.parsed.Data)
	case t.path == pathPost:
		return t.parseRejectedPost()
	case t.path == pathAvailability && t.Status == http.StatusOK:
		return true, t.parseAvailabilityAnswer()
	case t.isStatusReport() && t.Status == http.StatusConflict && t.mayConflict:
		return false, nil
	case t.isStatusReport() && t.Status == http.StatusOK:
		return true, t.parseStatusReports()
	case t.path == "" && t.Status == http.StatusCreated:
		return true, json.Unmarshal([]byte(t.Body), &t.parsed)
	}
	return false, errors.New("this request cannot have this answer")
}

// compareRepeat records a violation if a repeated request received another answer.
func (l *answerLog) compareRepeat(first *answeredRequest, again Response) {
	if again.Status == first.Status && again.Body == first.Body && again.RequestID == first.RequestID && again.Replayed {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.violations = append(l.violations, fmt.Sprintf("key %s: first answer %d %s (request %s), repeated request answered %d %s (request %s), replayed: %t; both must be equal",
		first.key, first.Status, first.Body, first.RequestID, again.Status, again.Body, again.RequestID, again.Replayed))
}

// answersAndViolations returns copies of the answers and the violations.
func (l *answerLog) answersAndViolations() (answers []*answeredRequest, violations []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append(answers, l.answers...), append(violations, l.violations...)
}

// count returns the number of answers.
func (l *answerLog) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.answers)
}

// expiredPostKeys returns the keys of posts whose bid had expired.
func (l *answerLog) expiredPostKeys() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.expiredPosts...)
}

// pickRandom returns a random answer, or nil if there is none.
func (l *answerLog) pickRandom(random *rand.Rand) *answeredRequest {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.answers) == 0 {
		return nil
	}
	return l.answers[random.IntN(len(l.answers))]
}
