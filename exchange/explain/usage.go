package explain

import (
	"errors"
	"io"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/exclusion"
	"pingpost/engine/ledger"
	"pingpost/engine/market"
	"pingpost/engine/selection"
)

// The log records neither the use of the caps nor the balances at a decision, because a decision
// about a thousand buyers would then take a thousand values. So they are reconstructed: from the
// present value, minus the movements since the decision. A cap whose window has ended has no present
// value; its charges are added up from the begin of the window.
//
// Invariants:
//   - A value is valid before the batch in which the decision became durable. A decision cannot
//     depend on an event of its own batch.
//   - A value is unknown, never a guess, if the log is too short or the search reached its limit.

// pastCap is a cap in the window that contained a decision.
type pastCap struct {
	window int64 // start of the window, Unix nanoseconds
	used   int64
	last   uint64 // the entry to which the present value belongs
	ended  bool   // the window has ended: used counts charges before the decision
}

// capUsagesBefore returns the use of the caps before the log's batch of a decision, by the number of
// the cap. decidedNanos is the instant whose windows count. A cap whose use is unknown is missing.
func (e *Explainer) capUsagesBefore(caps []*market.Cap, batchNanos, decidedNanos int64) map[market.PermanentNumber]exclusion.CapUsage {
	usages := make(map[market.PermanentNumber]exclusion.CapUsage, len(caps))
	past := make(map[market.PermanentNumber]*pastCap, len(caps))
	present, endedSince := false, int64(noTimeLimit)
	last := uint64(0)
	for i, now := range e.State.AppliedCapUsages(caps) {
		from, until := caps[i].Period.WindowContaining(decidedNanos, caps[i].Zone)
		usages[caps[i].Ref] = exclusion.CapUsage{From: from, Until: until}
		c := &pastCap{window: from, last: now.Seq}
		switch {
		case now.Window == from:
			c.used, present, last = now.Used, true, max(last, now.Seq)
		case now.Window > from:
			c.ended, endedSince = true, min(endedSince, from)
		}
		past[caps[i].Ref] = c
	}
	complete := !present || e.eachEventBetween(batchNanos, noTimeLimit, last, false, func(seq uint64, _ int64, ev event.Event) {
		forEachCapCharge(ev, func(charge *event.CapCharge, sign int64) {
			if c := past[charge.Cap]; c != nil && !c.ended && charge.Window == c.window && seq <= c.last {
				c.used -= sign * charge.Amount
			}
		})
	})
	completeEnded := endedSince == noTimeLimit || e.eachEventBetween(endedSince, batchNanos, 0, false, func(_ uint64, _ int64, ev event.Event) {
		forEachCapCharge(ev, func(charge *event.CapCharge, sign int64) {
			if c := past[charge.Cap]; c != nil && c.ended && charge.Window == c.window {
				c.used += sign * charge.Amount
			}
		})
	})
	for ref, c := range past {
		if usage := usages[ref]; c.ended && completeEnded || !c.ended && complete {
			usage.Used = c.used
			usages[ref] = usage
		} else {
			delete(usages, ref)
		}
	}
	return usages
}

// forEachCapCharge calls visit with each charge of a cap in the event, with sign 1, and with each
// charge that the event gives back, with sign -1. The rules must be those of package state.
func forEachCapCharge(ev event.Event, visit func(charge *event.CapCharge, sign int64)) {
	each := func(charges []event.CapCharge, sign int64) {
		for i := range charges {
			visit(&charges[i], sign)
		}
	}
	switch ev := ev.(type) {
	case *event.LeadDecided:
		if ev.Sale.Buyer != 0 && !ev.Sale.Test {
			each(ev.Sale.Charges, 1)
		}
	case *event.PostSettled:
		if !ev.Sale.Test && (ev.Settlement == event.SettledRefused || ev.Settlement == event.SettledReleased) {
			each(ev.Sale.Charges, -1)
			each(ev.Next.Charges, 1)
		}
	case *event.LeadStatusChangesDecided:
		for i := range ev.Changes {
			if c := &ev.Changes[i]; c.Result == event.ChangeDone && c.Return.Month != 0 {
				each(c.Return.Charges, -1)
			}
		}
	}
}

// fundsBefore returns the money of the buyers before the log's batch of a decision, by the buyer's
// number. It is empty if the log does not have all movements since.
func (e *Explainer) fundsBefore(buyers []market.PermanentNumber, batchNanos int64) map[market.PermanentNumber]exclusion.Funds {
	type account struct {
		funds exclusion.Funds
		last  uint64
	}
	accounts, last := make(map[market.PermanentNumber]*account, len(buyers)), uint64(0)
	for _, buyer := range buyers {
		now := e.State.AppliedBuyerFunds(buyer)
		accounts[buyer] = &account{exclusion.Funds{Balance: now.Balance, Held: now.Held}, now.Seq}
		last = max(last, now.Seq)
	}
	var entries []ledger.Entry
	complete := e.eachEventBetween(batchNanos, noTimeLimit, last, false, func(seq uint64, _ int64, ev event.Event) {
		for _, buyer := range buyersWithMovedFunds(ev) {
			a := accounts[buyer]
			if a == nil || seq > a.last {
				continue
			}
			entries = ledger.Party{Kind: event.ObjectBuyer, Ref: buyer}.AppendEntriesOfEvent(entries[:0], ev)
			for i := range entries {
				a.funds.Balance -= entries[i].Amount
				a.funds.Held -= entries[i].Held
			}
		}
	})
	found := make(map[market.PermanentNumber]exclusion.Funds, len(buyers))
	for buyer, a := range accounts {
		if complete {
			found[buyer] = a.funds
		}
	}
	return found
}

// buyersWithMovedFunds returns the buyers whose money an event may move, each once.
func buyersWithMovedFunds(ev event.Event) []market.PermanentNumber {
	switch ev := ev.(type) {
	case *event.BuyerFundsAdjusted:
		return []market.PermanentNumber{ev.Buyer}
	case *event.LeadDecided:
		return []market.PermanentNumber{ev.Sale.Buyer}
	case *event.PostSettled:
		if ev.Next.Buyer == ev.Sale.Buyer {
			return []market.PermanentNumber{ev.Sale.Buyer}
		}
		return []market.PermanentNumber{ev.Sale.Buyer, ev.Next.Buyer}
	case *event.LeadStatusChangesDecided:
		return []market.PermanentNumber{ev.Buyer}
	}
	return nil
}

// healthMemory is the time after which an answer no longer matters for a buyer's health: ten
// half-lives of the score.
const healthMemory = 5 * time.Minute

// pingHealthBefore returns the health of all buyers that were pinged in the minutes before this
// instant, by their recorded answers. known is false if the log does not have all of them.
func (e *Explainer) pingHealthBefore(atNanos int64) (healthByBuyer map[market.PermanentNumber]*selection.BuyerPingHealth, known bool) {
	healthByBuyer = make(map[market.PermanentNumber]*selection.BuyerPingHealth)
	count := func(bids []event.Bid, began int64) {
		for i := range bids {
			bid := &bids[i]
			if began+bid.Elapsed > atNanos {
				continue
			}
			outcome := bid.Outcome
			if outcome == market.OutcomeCapped || outcome == market.OutcomeNoFunds {
				outcome = market.OutcomeNone // the bid itself was valid
			}
			if healthByBuyer[bid.Buyer] == nil {
				healthByBuyer[bid.Buyer] = new(selection.BuyerPingHealth)
			}
			healthByBuyer[bid.Buyer].RecordOutcome(outcome, began+bid.Elapsed)
		}
	}
	known = e.eachEventBetween(atNanos-int64(healthMemory), atNanos, 0, true, func(_ uint64, _ int64, ev event.Event) {
		switch ev := ev.(type) {
		case *event.PingAuctionCompleted:
			if !ev.Test {
				count(ev.Bids, ev.Began)
			}
		case *event.LeadDecided:
			if !ev.Sale.Test {
				count(ev.Auction.Bids, ev.Auction.Began)
			}
		}
	})
	return healthByBuyer, known
}

// eachEventBetween calls visit with every event of the log whose time is fromNanos or later and before
// untilNanos, up to the entry lastSeq; 0 means no last entry. complete is false if the log does not
// go back so far, cannot be read, or is longer than searchLimits allow. Only decodeBids gives the events
// their bids. visit must not keep the event.
func (e *Explainer) eachEventBetween(fromNanos, untilNanos int64, lastSeq uint64, decodeBids bool, visit func(seq uint64, atNanos int64, ev event.Event)) (complete bool) {
	reader, err := e.Log.NewReaderFromSegmentBefore(fromNanos)
	if err != nil {
		return false
	}
	defer reader.Close()
	decoder := event.Decoder{ForReplay: !decodeBids}
	for n := 0; ; n++ {
		next, err := reader.Next()
		switch {
		case errors.Is(err, io.EOF):
			return true
		case err != nil || n >= e.limits.entries || reader.RecordBytesRead() > e.limits.bytes:
			return false
		case n == 0 && next.Seq > 1 && next.At >= fromNanos:
			return false // the log begins later
		case next.At >= untilNanos || lastSeq != 0 && next.Seq > lastSeq:
			return true
		case next.At < fromNanos:
			continue
		}
		ev, err := decoder.Decode(next.Data)
		if err != nil {
			return false
		}
		visit(next.Seq, next.At, ev)
	}
}
