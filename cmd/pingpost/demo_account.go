package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"pingpost/cmd/pingpost/exchange"
	"pingpost/engine/market"
	"pingpost/loadtest/leads"
	"pingpost/loadtest/refbuyer"
)

// account is what became of the demonstration's leads, from the answers alone,
// beside what the other side says.
type account struct {
	set   *demoSet
	took  time.Duration
	total *tally

	campaigns map[string]*tally
	sold      map[string]int          // by buyer
	payout    map[string]market.Money // by buyer
	leadIDs   map[string]bool
	first     map[int]string // first answers, by line
	repeated  int            // leads that were sent again
	again     int            // of these, how many were answered as before
	wrong     []string       // answers that do not fit their leads

	deals    *deals
	ingested []string                // ids of leads that were sold in an auction of their own
	posted   []string                // and of those that were posted at a bid
	shown    []*exchange.Explanation // some of these auctions

	stats   map[string]refbuyer.Stats // of those with an endpoint
	unknown map[string]int            // deliveries whose fate is not known
	pending int
	vault   market.Money // what is left of buy_vault's funds
	told    told
}

func newAccount(set *demoSet) *account {
	return &account{
		set: set, total: newTally(), campaigns: map[string]*tally{}, sold: map[string]int{},
		payout: map[string]market.Money{}, leadIDs: map[string]bool{}, first: map[int]string{},
		stats: map[string]refbuyer.Stats{}, unknown: map[string]int{}, deals: newDeals(),
	}
}

// add takes an answer down and checks that it fits its lead.
func (a *account) add(got *answer) {
	lead := &a.set.leads[got.line-1]
	a.total.add(got)
	campaign := a.campaigns[lead.Campaign]
	if campaign == nil {
		campaign = newTally()
		a.campaigns[lead.Campaign] = campaign
	}
	campaign.add(got)
	if !got.final() {
		return
	}
	if got.line <= demoAgain {
		a.first[got.line] = string(got.body)
	}
	if problem := misfit(lead, got); problem != "" {
		a.wrong = append(a.wrong, fmt.Sprintf("lead %d: %s", got.line, problem))
	}
	if got.status/100 != 2 {
		return
	}
	if a.leadIDs[got.lead.ID] {
		a.wrong = append(a.wrong, fmt.Sprintf("lead %d: its id was given before", got.line))
	}
	a.leadIDs[got.lead.ID] = true
	if got.lead.Status == statusAccepted {
		a.sold[got.lead.Buyer]++
		a.payout[got.lead.Buyer] += got.lead.Price.Amount
		if lead.Campaign == demoAuctions {
			a.ingested = append(a.ingested, got.lead.ID)
		}
	}
}

// repeat takes down the answer to a lead that was sent again. An answer about a
// lead is the first one to the byte; what was refused is refused anew, under
// another request id.
func (a *account) repeat(got *answer) {
	a.repeated++
	first := a.first[got.line]
	if got.status == 201 && got.replayed && string(got.body) == first || got.status/100 == 4 && a.set.leads[got.line-1].Mistake != leads.None {
		a.again++
	}
}

// misfit says what is wrong with an answer, if anything: a mistake must be
// refused for what it is, and nothing else may be refused.
func misfit(lead *leads.Lead, got *answer) string {
	if lead.Mistake == leads.None {
		if got.status != 201 {
			return fmt.Sprintf("a good lead was refused with %d %s", got.status, got.fault.Error)
		}
		if got.lead.Campaign != lead.Campaign {
			return "it was answered for another campaign"
		}
		return ""
	}
	want := lead.Mistake.Refusal()
	if got.status != want.Status || got.fault.Error != want.Error {
		return fmt.Sprintf("a lead with a mistake was to be refused with %d %s", want.Status, want.Error)
	}
	if want.Code == "" {
		return ""
	}
	for _, field := range got.fault.FieldErrors {
		if field.Code == want.Code && (want.Field == "" || field.Field == want.Field) {
			return ""
		}
	}
	return fmt.Sprintf("the refusal does not say %s of %s", want.Code, want.Field)
}

// gather waits until no delivery is open any more, and asks everyone else for
// their counts.
func (a *account) gather(ctx context.Context, x *demoExchange) error {
	if err := a.settle(ctx, x); err != nil {
		return err
	}
	for _, b := range a.set.buyers {
		if b.args == nil {
			continue
		}
		var stats refbuyer.Stats
		if err := x.ask(ctx, b.URL+"/stats", &stats); err != nil {
			return fmt.Errorf("%s does not say what it bought: %w", b.ID, err)
		}
		a.stats[b.ID] = stats
	}
	var funds struct{ Balance market.Money }
	if err := x.ask(ctx, x.private+"/admin/v1/buyers/buy_vault/funds", &funds); err != nil {
		return err
	}
	a.vault = funds.Balance
	if err := a.hear(ctx, x); err != nil {
		return err
	}
	return a.explain(ctx, x)
}

// longestSettling is longer than all the tries of a post together.
const longestSettling = 90 * time.Second

func (a *account) settle(ctx context.Context, x *demoExchange) error {
	for limit := time.Now().Add(longestSettling); ; {
		var open struct {
			Deliveries []struct {
				State string `json:"state"`
				Buyer string `json:"buyer_id"`
			} `json:"deliveries"`
		}
		if err := x.ask(ctx, x.private+"/admin/v1/deliveries", &open); err != nil {
			return err
		}
		a.pending = 0
		clear(a.unknown)
		for _, d := range open.Deliveries {
			if d.State == "unknown" {
				a.unknown[d.Buyer]++
			} else {
				a.pending++
			}
		}
		if a.pending == 0 || time.Now().After(limit) {
			return nil
		}
		if !pauseUntil(ctx, time.Now().Add(100*time.Millisecond)) {
			return errors.New("interrupted while deliveries were open")
		}
	}
}
