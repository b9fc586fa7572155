package engine

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// Answer is the answer to an ingest.
type Answer struct {
	Lead     market.LeadID
	Request  market.RequestID // of the first call with this key
	Accepted bool
	Reason   market.Reason // if it is not accepted
	Buyer    string
	Campaign string
	Payout   market.Money
	Currency market.Currency
	Test     bool // of a test lead
	Replayed bool
}

// answerOf returns the answer that a lead's supplier got. It reads only the state, so it is
// equal after a restart. The lead must have an answer.
func (e *Engine) answerOf(lead *state.Lead) Answer {
	answer := Answer{
		Lead: lead.ID, Request: lead.Request, Replayed: true,
		Campaign: e.state.NameOf(event.ObjectCampaign, lead.Campaign), Test: lead.IsTest(),
	}
	switch lead.Answer {
	case state.AnswerAccepted:
		answer.Accepted = true
		answer.Buyer = e.state.NameOf(event.ObjectBuyer, lead.Buyer)
		answer.Payout, answer.Currency = lead.Payout, lead.Currency
	case state.AnswerUnmatched:
		answer.Reason = lead.Reason
	default:
		panic("BUG: a repeat read a lead without an answer")
	}
	return answer
}
