package trial

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"pingpost/engine/market"
	"pingpost/loadtest/refbuyer"
	"pingpost/loadtest/refreceiver"
)

// Account is what the three sides say together: the answers that were heard, the
// buyers, and the exchange's own count.
type Account struct {
	Sold       int            `json:"sold"`      // leads that the answers say are sold
	Twice      int            `json:"twice"`     // of these, how often one was told a second time
	Unsettled  int            `json:"unsettled"` // requests that a buyer may have a lead of, although nobody was told so
	Buyers     []BuyerAccount `json:"buyers"`
	NotAsked   int            `json:"not_asked"` // leads of the sold, whose buyers cannot be asked
	Hooks      *HookAccount   `json:"hooks"`
	Wrong      []string       `json:"wrong"`       // what does not fit
	NotChecked []string       `json:"not_checked"` // what could not be looked at
}

// BuyerAccount is one buyer that was asked.
type BuyerAccount struct {
	ID          string       `json:"id"`
	Sold        int          `json:"sold"` // leads, as told here and as it says
	Taken       int          `json:"taken"`
	Lost        int          `json:"lost"`   // told here, and unknown to it
	Beyond      int          `json:"beyond"` // it has, and nobody was told
	Money       market.Money `json:"money"`  // likewise
	Owes        market.Money `json:"owes"`
	Pings       int64        `json:"pings"`
	Bids        int64        `json:"bids"`
	PeakPings   int64        `json:"peak_pings"`
	Posts       int64        `json:"posts"`
	DoubleSold  int64        `json:"double_sold"`
	ContactSeen int64        `json:"contact_seen"`
}

// HookAccount is the receiver of webhooks.
type HookAccount struct {
	Owed    int           `json:"owed"` // leads of which the supplier is to hear
	Heard   int           `json:"heard"`
	Repeats int64         `json:"repeats"`
	Within  time.Duration `json:"within"` // after the last answer, all were heard
}

// books are what the buyers had before.
type books struct {
	target *Target
	before map[string]bought
}

// bought is what a buyer says of itself.
type bought struct {
	refbuyer.Stats
	leads map[string]bool
}

func openBooks(ctx context.Context, target *Target) (*books, error) {
	b := &books{target: target, before: map[string]bought{}}
	for id, url := range target.Buyers {
		has, err := askBuyer(ctx, url)
		if err != nil {
			return nil, fmt.Errorf("buyer %s: %w", id, err)
		}
		b.before[id] = has
	}
	return b, nil
}

func askBuyer(ctx context.Context, url string) (b bought, err error) {
	url = strings.TrimRight(url, "/")
	var stats struct {
		refbuyer.Stats
		Revenue json.Number `json:"revenue"` // of many leads, and so beyond what one may cost
	}
	if err := ask(ctx, url+"/stats", func(d *json.Decoder) error { return d.Decode(&stats) }); err != nil {
		return b, err
	}
	b.Stats = stats.Stats
	if b.Revenue, err = total(stats.Revenue.String()); err != nil {
		return b, err
	}
	b.leads = map[string]bool{}
	err = ask(ctx, url+"/leads", func(d *json.Decoder) error {
		for d.More() {
			var lead refbuyer.Lead
			if err := d.Decode(&lead); err != nil {
				return err
			}
			b.leads[lead.LeadUUID] = true
		}
		return nil
	})
	return b, err
}

// total reads a sum of money, which has no upper limit but that of its type.
func total(digits string) (market.Money, error) {
	whole, fraction, _ := strings.Cut(digits, ".")
	sum, err := strconv.ParseInt(whole+(fraction + "000000")[:6], 10, 64)
	if err != nil || whole == "" || len(fraction) > 6 {
		return 0, fmt.Errorf("revenue %q is no amount", digits)
	}
	return market.Money(sum), nil
}

func ask(ctx context.Context, url string, read func(*json.Decoder) error) error {
	body, err := get(ctx, url)
	if err != nil {
		return err
	}
	defer body.Close()
	return read(json.NewDecoder(body))
}

// close compares what everybody says at the end. That somebody says nothing is what
// does not fit; the rest of the result is told all the same.
func (b *books) close(ctx context.Context, r *record, w *watch, hooks time.Duration) *Account {
	a := &Account{Sold: len(r.sales)}
	for what := range r.reasons {
		for _, end := range [...]End{Open, Broken, Failed} {
			for _, n := range r.reasons[what][end] {
				a.Unsettled += n
			}
		}
	}
	told, money := map[string]map[string]bool{}, map[string]market.Money{}
	all := map[string]bool{}
	for _, sale := range r.sales {
		if all[sale.Lead] {
			a.Twice++
		}
		all[sale.Lead] = true
		if told[sale.Buyer] == nil {
			told[sale.Buyer] = map[string]bool{}
		}
		told[sale.Buyer][sale.Lead] = true
		money[sale.Buyer] += sale.Money
	}
	if a.Twice > 0 {
		a.wrong("%d leads were told to be sold a second time", a.Twice)
	}
	taken := map[string]string{}
	for _, id := range slices.Sorted(maps.Keys(b.target.Buyers)) {
		after, err := askBuyer(ctx, b.target.Buyers[id])
		if err != nil {
			a.wrong("buyer %s does not say what it has: %v", id, err)
			delete(told, id)
			continue
		}
		a.buyer(id, b.before[id], after, told[id], money[id], taken, b.target.Whole)
		delete(told, id)
	}
	for _, leads := range told {
		a.NotAsked += len(leads)
	}
	a.beyond()
	a.ownCount(w)
	if r.rude > 0 {
		a.wrong("%d refusals with 429 or 503 were without Retry-After", r.rude)
	}
	if b.target.Receiver != "" && hooks > 0 {
		if err := a.hooks(ctx, b.target.Receiver, all, r, hooks); err != nil {
			a.wrong("the receiver of webhooks does not say what it heard: %v", err)
		}
	}
	return a
}

func (a *Account) wrong(format string, args ...any) {
	a.Wrong = append(a.Wrong, fmt.Sprintf(format, args...))
}

// buyer compares one buyer. taken gathers who has which lead.
func (a *Account) buyer(id string, before, after bought, told map[string]bool, money market.Money, taken map[string]string, whole bool) {
	row := BuyerAccount{
		ID: id, Sold: len(told), Money: money,
		Taken: int(after.Accepted - before.Accepted), Owes: after.Revenue - before.Revenue,
		Pings: after.Pings - before.Pings, Bids: after.Bids - before.Bids, PeakPings: after.PeakPings, Posts: after.Posts - before.Posts,
		DoubleSold: after.DoubleSold - before.DoubleSold, ContactSeen: after.ContactSeen - before.ContactSeen,
	}
	for lead := range told {
		if !after.leads[lead] {
			row.Lost++
		}
	}
	for lead := range after.leads {
		if before.leads[lead] {
			continue
		}
		if !told[lead] {
			row.Beyond++
		}
		if other, twice := taken[lead]; twice {
			a.wrong("lead %s was sold to %s and to %s", lead, other, id)
		}
		taken[lead] = id
	}
	if after.Forgotten > 0 {
		a.NotChecked = append(a.NotChecked, fmt.Sprintf("%s has forgotten %d posts, so not every lead could be looked for", id, after.Forgotten))
	}
	if row.Lost > 0 && after.Forgotten == 0 {
		a.wrong("%s does not have %d leads that were told to be sold to it", id, row.Lost)
	}
	if row.DoubleSold > 0 {
		a.wrong("%s was sold %d leads twice", id, row.DoubleSold)
	}
	if row.ContactSeen > 0 {
		a.wrong("%s was pinged %d times with a person", id, row.ContactSeen)
	}
	switch {
	case whole && row.Beyond == 0 && row.Money != row.Owes:
		a.wrong("%s owes %s for its leads, and %s was told", id, row.Owes, row.Money)
	case whole && row.Money > row.Owes:
		a.wrong("%s owes %s for its leads, less than the %s that was told", id, row.Owes, row.Money)
	}
	a.Buyers = append(a.Buyers, row)
}

// beyond looks at leads that buyers have and nobody was told of: there may be as
// many as requests without an answer.
func (a *Account) beyond() {
	sum := 0
	for i := range a.Buyers {
		sum += a.Buyers[i].Beyond
	}
	if sum > a.Unsettled {
		a.wrong("buyers have %d leads that nobody was told to be sold; %d requests are without an answer", sum, a.Unsettled)
	}
}

// ownCount compares with the exchange's count of decisions. What was not answered
// may be in it or not.
func (a *Account) ownCount(w *watch) {
	accepted, known := w.grown(`pingpost_leads_total{status="ACCEPTED",reason=""}`)
	if !known {
		a.NotChecked = append(a.NotChecked, "the exchange's own count, without its operators' address")
		return
	}
	if beyond := int(accepted) - a.Sold; beyond < 0 || beyond > a.Unsettled {
		a.wrong("the exchange counts %.0f accepted leads, and %d were told to be", accepted, a.Sold)
	}
	if faults, _ := w.grown("pingpost_faults_total"); faults > 0 {
		a.wrong("the exchange counts %.0f faults: see its log", faults)
	}
	open := w.last().values["pingpost_open_deliveries"]
	if open > 0 {
		a.wrong("%.0f deliveries are still under way", open)
	}
}

// hooks waits until the receiver has heard of every lead, and holds what it heard
// against what was told.
func (a *Account) hooks(ctx context.Context, url string, all map[string]bool, r *record, within time.Duration) error {
	h := &HookAccount{Owed: len(all)}
	for _, n := range r.reasons[timedIngest][Unsold] {
		h.Owed += n
	}
	h.Owed += r.reasons[timedPost][Unsold]["post_rejected"]
	a.Hooks = h
	began := time.Now()
	var stats refreceiver.Stats
	for {
		if err := ask(ctx, url+"/stats", func(d *json.Decoder) error { return d.Decode(&stats) }); err != nil {
			return err
		}
		h.Heard, h.Repeats, h.Within = int(stats.Distinct), stats.Repeats, time.Since(began)
		if h.Heard >= h.Owed || h.Within > within {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	posted := map[string]bool{}
	err := ask(ctx, url+"/events", func(d *json.Decoder) error {
		for d.More() {
			var e refreceiver.Event
			if err := d.Decode(&e); err != nil {
				return err
			}
			posted[e.Lead] = posted[e.Lead] || e.Type == "lead.posted"
		}
		return nil
	})
	if err != nil {
		return err
	}
	missing := 0
	for lead := range all {
		if !posted[lead] {
			missing++
		}
	}
	if stats.BadSignatures+stats.Invalid+stats.Changed > 0 {
		a.wrong("of the webhooks %d had a bad signature, %d were no event, %d came again with another body", stats.BadSignatures, stats.Invalid, stats.Changed)
	}
	if missing > 0 {
		a.wrong("of %d sold leads no webhook was heard within %s", missing, within)
	}
	if h.Heard > h.Owed+a.Unsettled {
		a.wrong("%d webhooks were heard, and %d are owed", h.Heard, h.Owed)
	}
	return nil
}

// byName sorts buyers as people count: buy_2 before buy_10.
func byName(x, y BuyerAccount) int {
	return cmp.Or(cmp.Compare(len(x.ID), len(y.ID)), cmp.Compare(x.ID, y.ID))
}
