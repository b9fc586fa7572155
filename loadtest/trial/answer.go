package trial

import (
	"encoding/json"
	"fmt"
	"strings"

	"pingpost/engine/market"
	"pingpost/loadtest/load"
)

// End is what a request came to.
type End uint8

// The ends. A lead that has a buyer, and a ping that has a bid, are sold.
const (
	Sold    End = iota
	Unsold      // decided, and nobody bought
	Open        // not decided in time: a buyer may yet have it
	Refused     // 429 or 503: to come again
	Failed      // answered what it should not be
	Broken      // no answer
	Ends
)

var endNames = [Ends]string{"sold", "unsold", "open", "refused", "failed", "broken"}

// String is the end's name.
func (e End) String() string { return endNames[e] }

// verdict is an answer that was understood.
type verdict struct {
	end    End
	reason string // of what was not sold: the exchange's own word
	rude   bool   // a refusal that does not say when to come again
	sale   Sale   // of what is sold, but for a ping
	token  string // of a bid
}

// broken is the verdict of no answer.
func broken(err error) verdict {
	text := err.Error()
	if i := strings.LastIndex(text, ": "); i >= 0 {
		text = text[i+2:]
	}
	return verdict{end: Broken, reason: text}
}

// said is all that is read of any answer.
type said struct {
	Data *sold `json:"data"` // of an ingest's
	sold       // of a post's

	Bid *struct {
		Token string `json:"bid_token"`
	} `json:"bid"`
	RejectReason string `json:"reject_reason"`
	Error        string `json:"error"`
}

type sold struct {
	ID     string `json:"id"`
	Status string `json:"status"`
	Buyer  string `json:"buyer_id"`
	Reason string `json:"reason"`
	Price  struct {
		Amount market.Money `json:"amount"`
	} `json:"price"`
}

// judge understands an answer to a request of a kind.
func judge(timed timed, a *load.Answer) verdict {
	var s said
	if err := json.Unmarshal(a.Body, &s); err != nil {
		return verdict{end: Failed, reason: fmt.Sprintf("HTTP %d without JSON", a.Status)}
	}
	switch {
	case a.Status == 429 || a.Status == 503:
		return verdict{end: Refused, reason: s.Error, rude: len(a.Header("Retry-After")) == 0}
	case timed == timedPing && a.Status == 200 && s.Bid != nil:
		return verdict{token: s.Bid.Token}
	case timed == timedPing && a.Status == 200 && s.RejectReason != "":
		return verdict{end: Unsold, reason: s.RejectReason}
	case timed == timedIngest && a.Status == 201 && s.Data != nil && s.Data.Status == "UNMATCHED":
		return verdict{end: Unsold, reason: s.Data.Reason}
	case timed == timedIngest && a.Status == 201 && s.Data != nil:
		return s.Data.verdict()
	case timed == timedPost && a.Status == 201:
		return s.verdict()
	case timed == timedPost && (a.Status == 410 || a.Status == 422 && s.Error == "post_rejected"):
		return verdict{end: Unsold, reason: s.Error}
	case timed == timedPost && (a.Status == 502 || a.Status == 504):
		return verdict{end: Open, reason: s.Error}
	}
	return verdict{end: Failed, reason: fmt.Sprintf("HTTP %d %s", a.Status, s.Error)}
}

func (s *sold) verdict() verdict {
	if s.Status != "ACCEPTED" || s.ID == "" || s.Buyer == "" {
		return verdict{end: Failed, reason: "HTTP 201 without a buyer"}
	}
	return verdict{sale: Sale{Lead: s.ID, Buyer: s.Buyer, Money: s.Price.Amount}}
}
