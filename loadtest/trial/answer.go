package trial

import (
	"encoding/json"
	"fmt"
	"strings"

	"pingpost/engine/market"
	"pingpost/loadtest/load"
)

// Outcome is the outcome of a request.
type Outcome uint8

// A lead with a buyer, and a ping with a bid, are Sold.
const (
	Sold    Outcome = iota
	Unsold          // decided, without a buyer
	Open            // not decided in time; a buyer may still get the lead
	Refused         // 429 or 503; the client may retry
	Failed          // unexpected answer
	Broken          // no answer
	outcomeCount
)

var outcomeNames = [outcomeCount]string{"sold", "unsold", "open", "refused", "failed", "broken"}

// String returns the outcome's name.
func (e Outcome) String() string { return outcomeNames[e] }

// parsedAnswer is an answer after parsing.
type parsedAnswer struct {
	end          Outcome
	reason       string // reason code of the exchange, if not sold
	noRetryAfter bool   // refused without Retry-After
	sale         Sale   // set if sold, except for a ping
	token        string // bid token
}

// connectionError returns the result for a request without an answer.
func connectionError(err error) parsedAnswer {
	text := err.Error()
	if i := strings.LastIndex(text, ": "); i >= 0 {
		text = text[i+2:]
	}
	return parsedAnswer{end: Broken, reason: text}
}

// answerBody has the members that the test reads from any answer.
type answerBody struct {
	Data     *leadBody `json:"data"` // of an ingest answer
	leadBody           // of a post answer

	Bid *struct {
		Token string `json:"bid_token"`
	} `json:"bid"`
	RejectReason string `json:"reject_reason"`
	Error        string `json:"error"`
}

type leadBody struct {
	ID     string `json:"id"`
	Status string `json:"status"`
	Buyer  string `json:"buyer_id"`
	Reason string `json:"reason"`
	Price  struct {
		Amount market.Money `json:"amount"`
	} `json:"price"`
}

// parseAnswer returns the outcome of a request of this kind.
func parseAnswer(kind timedKind, a *load.Answer) parsedAnswer {
	var s answerBody
	if err := json.Unmarshal(a.Body, &s); err != nil {
		return parsedAnswer{end: Failed, reason: fmt.Sprintf("HTTP %d without JSON", a.Status)}
	}
	switch {
	case a.Status == 429 || a.Status == 503:
		return parsedAnswer{end: Refused, reason: s.Error, noRetryAfter: len(a.Header("Retry-After")) == 0}
	case kind == timedPing && a.Status == 200 && s.Bid != nil:
		return parsedAnswer{token: s.Bid.Token}
	case kind == timedPing && a.Status == 200 && s.RejectReason != "":
		return parsedAnswer{end: Unsold, reason: s.RejectReason}
	case kind == timedIngest && a.Status == 201 && s.Data != nil && s.Data.Status == "UNMATCHED":
		return parsedAnswer{end: Unsold, reason: s.Data.Reason}
	case kind == timedIngest && a.Status == 201 && s.Data != nil:
		return s.Data.outcome()
	case kind == timedPost && a.Status == 201:
		return s.outcome()
	case kind == timedPost && (a.Status == 410 || a.Status == 422 && s.Error == "post_rejected"):
		return parsedAnswer{end: Unsold, reason: s.Error}
	case kind == timedPost && (a.Status == 502 || a.Status == 504):
		return parsedAnswer{end: Open, reason: s.Error}
	}
	return parsedAnswer{end: Failed, reason: fmt.Sprintf("HTTP %d %s", a.Status, s.Error)}
}

func (s *leadBody) outcome() parsedAnswer {
	if s.Status != "ACCEPTED" || s.ID == "" || s.Buyer == "" {
		return parsedAnswer{end: Failed, reason: "HTTP 201 without a buyer"}
	}
	return parsedAnswer{sale: Sale{Lead: s.ID, Buyer: s.Buyer, Money: s.Price.Amount}}
}
