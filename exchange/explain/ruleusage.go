package explain

import (
	"pingpost/engine/event"
	"pingpost/engine/exclusion"
	"pingpost/engine/market"
)

// capUsagesAtDecisionAndLastChange returns the use of a cap at the decision, and at the decision's last
// change if there was one. An unknown use is nil. The sale that the buyer refused at that change does
// not count, because the engine treats its charges as free.
func (r *ruleFinder) capUsagesAtDecisionAndLastChange(limit *market.Cap) (usages []*exclusion.CapUsage) {
	if r.caps == nil {
		for i, batch := range r.batches {
			decided := r.decision.Instants[0]
			if i > 0 {
				decided = batch
			}
			r.caps = append(r.caps, r.explainer.capUsagesBefore(r.capsOfCampaignAndFullSets(), batch, decided))
		}
	}
	for i, all := range r.caps {
		usage, known := all[limit.Ref]
		if !known {
			usages = append(usages, nil)
			continue
		}
		if i > 0 {
			usage.Used -= chargeInWindow(r.refused, limit.Ref, usage.From)
		}
		usages = append(usages, &usage)
	}
	return usages
}

// chargeInWindow returns the amount that a sale charged to the cap in the window, or 0. sale may be
// nil. The sale of a test lead charges nothing.
func chargeInWindow(sale *event.Sale, limit market.PermanentNumber, window int64) int64 {
	if sale == nil || sale.Test {
		return 0
	}
	for i := range sale.Charges {
		if sale.Charges[i].Cap == limit && sale.Charges[i].Window == window {
			return sale.Charges[i].Amount
		}
	}
	return 0
}

// capsOfCampaignAndFullSets returns the caps of the campaign, of all filter sets with a full cap, and
// of their buyers, each once.
func (r *ruleFinder) capsOfCampaignAndFullSets() (caps []*market.Cap) {
	seen := make(map[market.PermanentNumber]bool)
	add := func(limits []*market.Cap) {
		for _, limit := range limits {
			if !seen[limit.Ref] {
				seen[limit.Ref] = true
				caps = append(caps, limit)
			}
		}
	}
	add(r.decision.Campaign.Caps)
	for _, set := range r.filterSetsWith(market.OutcomeCapped) {
		add(set.Buyer.Caps)
		add(set.Caps)
	}
	return caps
}

// funds returns the money of a buyer at the decision, and at the decision's last change if there was
// one. Unknown funds are nil. The refused sale is not in it: a campaign has each
// buyer once, so another buyer refused.
func (r *ruleFinder) funds(buyer *market.Buyer) (fundsAtDecisionAndLastChange []*exclusion.Funds) {
	if r.accounts == nil {
		sets := r.filterSetsWith(market.OutcomeNoFunds)
		buyers := make([]market.PermanentNumber, 0, len(sets))
		for _, set := range sets {
			buyers = append(buyers, set.Buyer.Ref)
		}
		for _, batch := range r.batches {
			r.accounts = append(r.accounts, r.explainer.fundsBefore(buyers, batch))
		}
	}
	for _, all := range r.accounts {
		if at, known := all[buyer.Ref]; known {
			fundsAtDecisionAndLastChange = append(fundsAtDecisionAndLastChange, &at)
		} else {
			fundsAtDecisionAndLastChange = append(fundsAtDecisionAndLastChange, nil)
		}
	}
	return fundsAtDecisionAndLastChange
}
