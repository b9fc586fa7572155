package trial

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"pingpost/engine/market"
	"pingpost/loadtest/refbuyer"
	"pingpost/loadtest/refreceiver"
)

// Account compares three sources: the answers to the client, the buyers, and the
// exchange's metrics.
type Account struct {
	Sold       int             `json:"sold"`      // leads that are sold according to the answers
	Repeated   int             `json:"twice"`     // repeated lead ids among these
	Unanswered int             `json:"unsettled"` // requests whose lead a buyer may have, although the client received no confirmation
	Buyers     []BuyerAccount  `json:"buyers"`
	NotAsked   int             `json:"not_asked"` // sold leads of buyers that cannot be queried
	Webhooks   *WebhookAccount `json:"hooks"`
	Mismatches []string        `json:"wrong"`       // mismatches between the sources
	Unchecked  []string        `json:"not_checked"` // checks that were not possible
}

// BuyerAccount compares one buyer.
type BuyerAccount struct {
	ID          string       `json:"id"`
	Sold        int          `json:"sold"` // leads according to the client, and according to the buyer
	Taken       int          `json:"taken"`
	Missing     int          `json:"lost"`   // sold according to the client, but unknown to the buyer
	Unreported  int          `json:"beyond"` // known to the buyer, but not confirmed to the client
	Money       market.Money `json:"money"`  // money according to the client, and according to the buyer
	Owes        market.Money `json:"owes"`
	Pings       int64        `json:"pings"`
	Bids        int64        `json:"bids"`
	PeakPings   int64        `json:"peak_pings"`
	Posts       int64        `json:"posts"`
	DoubleSold  int64        `json:"double_sold"`
	ContactSeen int64        `json:"contact_seen"`
}

// WebhookAccount compares the webhooks of the receiver.
type WebhookAccount struct {
	Expected int           `json:"owed"` // leads that require a webhook
	Received int           `json:"heard"`
	Repeats  int64         `json:"repeats"`
	Within   time.Duration `json:"within"` // time from the last answer until all were received
}

// reconciler keeps the state of the buyers before the test.
type reconciler struct {
	target *Target
	before map[string]buyerState
}

// buyerState is the state of a buyer.
type buyerState struct {
	refbuyer.Stats
	leads map[string]bool
}

func newReconciler(ctx context.Context, target *Target) (*reconciler, error) {
	b := &reconciler{target: target, before: map[string]buyerState{}}
	for id, url := range target.Buyers {
		has, err := fetchBuyer(ctx, url)
		if err != nil {
			return nil, fmt.Errorf("buyer %s: %w", id, err)
		}
		b.before[id] = has
	}
	return b, nil
}

func fetchBuyer(ctx context.Context, url string) (b buyerState, err error) {
	stats, leads, err := refbuyer.FetchAccount(ctx, url)
	b = buyerState{Stats: stats, leads: map[string]bool{}}
	for _, lead := range leads {
		b.leads[lead.LeadUUID] = true
	}
	return b, err
}

// reconcile compares all sources at the end. A source that does not answer is a mismatch;
// the other checks still run.
func (b *reconciler) reconcile(ctx context.Context, r *recorder, w *metricsWatch, hooks time.Duration) *Account {
	a := &Account{Sold: len(r.sales)}
	for what := range r.reasons {
		for _, end := range [...]Outcome{Open, Broken, Failed} {
			for _, n := range r.reasons[what][end] {
				a.Unanswered += n
			}
		}
	}
	sold, money := map[string]map[string]bool{}, map[string]market.Money{}
	all := map[string]bool{}
	for _, sale := range r.sales {
		if all[sale.Lead] {
			a.Repeated++
		}
		all[sale.Lead] = true
		if sold[sale.Buyer] == nil {
			sold[sale.Buyer] = map[string]bool{}
		}
		sold[sale.Buyer][sale.Lead] = true
		money[sale.Buyer] += sale.Money
	}
	if a.Repeated > 0 {
		a.addMismatch("the answers report %d leads as sold twice", a.Repeated)
	}
	owners := map[string]string{}
	for _, id := range slices.Sorted(maps.Keys(b.target.Buyers)) {
		after, err := fetchBuyer(ctx, b.target.Buyers[id])
		if err != nil {
			a.addMismatch("cannot read the leads of buyer %s: %v", id, err)
			delete(sold, id)
			continue
		}
		a.compareBuyer(id, b.before[id], after, sold[id], money[id], owners, b.target.Whole)
		delete(sold, id)
	}
	for _, leads := range sold {
		a.NotAsked += len(leads)
	}
	a.checkUnreported()
	a.checkMetrics(w)
	if r.noRetryAfter > 0 {
		a.addMismatch("%d refusals with 429 or 503 had no Retry-After", r.noRetryAfter)
	}
	if b.target.Receiver != "" && hooks > 0 {
		if err := a.checkWebhooks(ctx, b.target.Receiver, all, r, hooks); err != nil {
			a.addMismatch("cannot read the events of the webhook receiver: %v", err)
		}
	}
	return a
}

func (a *Account) addMismatch(format string, args ...any) {
	a.Mismatches = append(a.Mismatches, fmt.Sprintf(format, args...))
}

// compareBuyer compares one buyer. owners maps each lead to its buyer.
func (a *Account) compareBuyer(id string, before, after buyerState, sold map[string]bool, money market.Money, owners map[string]string, whole bool) {
	row := BuyerAccount{
		ID: id, Sold: len(sold), Money: money,
		Taken: int(after.Accepted - before.Accepted), Owes: after.Revenue - before.Revenue,
		Pings: after.Pings - before.Pings, Bids: after.Bids - before.Bids, PeakPings: after.PeakPings, Posts: after.Posts - before.Posts,
		DoubleSold: after.DoubleSold - before.DoubleSold, ContactSeen: after.ContactSeen - before.ContactSeen,
	}
	for lead := range sold {
		if !after.leads[lead] {
			row.Missing++
		}
	}
	for lead := range after.leads {
		if before.leads[lead] {
			continue
		}
		if !sold[lead] {
			row.Unreported++
		}
		if other, twice := owners[lead]; twice {
			a.addMismatch("lead %s was sold to %s and to %s", lead, other, id)
		}
		owners[lead] = id
	}
	if after.Forgotten > 0 {
		a.Unchecked = append(a.Unchecked, fmt.Sprintf("leads of %s: it has forgotten %d posts, so some leads may be missing in its list", id, after.Forgotten))
	}
	if row.Missing > 0 && after.Forgotten == 0 {
		a.addMismatch("%s does not have %d leads that were sold to it", id, row.Missing)
	}
	if row.DoubleSold > 0 {
		a.addMismatch("%s received %d leads twice", id, row.DoubleSold)
	}
	if row.ContactSeen > 0 {
		a.addMismatch("%s received %d pings with contact data", id, row.ContactSeen)
	}
	switch {
	case whole && row.Unreported == 0 && row.Money != row.Owes:
		a.addMismatch("%s owes %s for its leads, but the answers add up to %s", id, row.Owes, row.Money)
	case whole && row.Money > row.Owes:
		a.addMismatch("%s owes %s for its leads, less than the %s of the answers", id, row.Owes, row.Money)
	}
	a.Buyers = append(a.Buyers, row)
}

// checkUnreported compares the leads that were not confirmed with the number of
// unanswered requests.
func (a *Account) checkUnreported() {
	sum := 0
	for i := range a.Buyers {
		sum += a.Buyers[i].Unreported
	}
	if sum > a.Unanswered {
		a.addMismatch("buyers have %d leads that the client does not know as sold; only %d requests have no answer", sum, a.Unanswered)
	}
}

// checkMetrics compares the exchange's count of accepted leads. Unanswered requests may
// be included or not.
func (a *Account) checkMetrics(w *metricsWatch) {
	accepted, known := w.increase(`pingpost_leads_total{status="ACCEPTED",reason=""}`)
	if !known {
		a.Unchecked = append(a.Unchecked, "the exchange's metrics (the admin address is not known)")
		return
	}
	if beyond := int(accepted) - a.Sold; beyond < 0 || beyond > a.Unanswered {
		a.addMismatch("the exchange counts %.0f accepted leads, the client %d", accepted, a.Sold)
	}
	if faults, _ := w.increase("pingpost_faults_total"); faults > 0 {
		a.addMismatch("the exchange counts %.0f faults: see its log", faults)
	}
	open := w.last().values["pingpost_open_deliveries"]
	if open > 0 {
		a.addMismatch("%.0f deliveries are still open", open)
	}
}

// checkWebhooks waits until the receiver has a webhook for each lead, and compares them
// with the client's answers.
func (a *Account) checkWebhooks(ctx context.Context, url string, all map[string]bool, r *recorder, within time.Duration) error {
	h := &WebhookAccount{Expected: len(all)}
	for _, n := range r.reasons[timedIngest][Unsold] {
		h.Expected += n
	}
	h.Expected += r.reasons[timedPost][Unsold]["post_rejected"]
	a.Webhooks = h
	began := time.Now()
	var stats refreceiver.Stats
	for {
		if err := refbuyer.FetchJSON(ctx, url+"/stats", func(d *json.Decoder) error { return d.Decode(&stats) }); err != nil {
			return err
		}
		h.Received, h.Repeats, h.Within = int(stats.Distinct), stats.Repeats, time.Since(began)
		if h.Received >= h.Expected || h.Within > within {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	posted := map[string]bool{}
	err := refbuyer.FetchJSON(ctx, url+"/events", func(d *json.Decoder) error {
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
		a.addMismatch("webhooks: %d with a wrong signature, %d invalid, %d repeated with another body", stats.BadSignatures, stats.Invalid, stats.Changed)
	}
	if missing > 0 {
		a.addMismatch("%d sold leads have no webhook after %s", missing, within)
	}
	if h.Received > h.Expected+a.Unanswered {
		a.addMismatch("the receiver has %d webhooks, more than the %d expected", h.Received, h.Expected)
	}
	return nil
}

// byName sorts buyers by length and then by name: buy_2 before buy_10.
func byName(x, y BuyerAccount) int {
	return cmp.Or(cmp.Compare(len(x.ID), len(y.ID)), cmp.Compare(x.ID, y.ID))
}
