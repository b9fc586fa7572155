package engine

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// Answer is what a supplier is told of a lead.
type Answer struct {
	Lead     market.LeadID
	Request  market.RequestID // of the call that was answered first
	Accepted bool
	Reason   market.Reason // where it is not accepted
	Buyer    string
	Campaign string
	Payout   market.Money
	Currency market.Currency
	Test     bool // of a test lead
	Replayed bool
}

// answerOf is the answer that a lead's supplier was given, from memory alone,
// so that it is the same over restarts. The lead must have been answered.
func (e *Engine) answerOf(lead *state.Lead) Answer {
	answer := Answer{
		Lead: lead.ID, Request: lead.Request, Replayed: true,
		Campaign: e.state.NameOf(event.NameCampaign, lead.Campaign), Test: lead.IsTest(),
	}
	switch lead.Answer {
	case state.AnswerAccepted:
		answer.Accepted = true
		answer.Buyer = e.state.NameOf(event.NameBuyer, lead.Buyer)
		answer.Payout, answer.Currency = lead.Payout, lead.Currency
	case state.AnswerUnmatched:
		answer.Reason = lead.Reason
	default:
		panic("BUG: a lead was replayed before it was answered")
	}
	return answer
}
