package alerting

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"pingpost/engine/alert"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
	"pingpost/report"
	"pingpost/server/admin/alerts"
	"pingpost/server/metrics"
)

// Sources are the parts of the exchange that the rules measure.
type Sources struct {
	State   *state.State
	Catalog func() *market.Catalog // nil: no configuration is active
	Counts  func() metrics.TradeCounts
	Report  func() *report.Report // nil: the report is off
	// BackupLag returns the age of the oldest data that the backup lacks. hasBackup is false if no
	// backup is configured.
	BackupLag func() (lag time.Duration, lastError string, hasBackup bool)
	DiskFree  func() uint64 // bytes
}

// measurer measures the values of rules. It serves one evaluation at a time.
type measurer struct {
	sources Sources
	counts  lastHourLeadAndBuyerCounts
	reports throttledReportCache
	now     int64
	catalog *market.Catalog
}

// beginEvaluation prepares an evaluation at nowUnixNanos. It returns false if no configuration is active.
func (m *measurer) beginEvaluation(nowUnixNanos int64) (hasActiveConfig bool) {
	m.now, m.catalog = nowUnixNanos, m.sources.Catalog()
	m.counts.add(nowUnixNanos, m.sources.Counts())
	return m.catalog != nil
}

// measure returns the values of a rule, as alert.Measure does. ok is false if the report cannot answer,
// the kind of the rule is unknown, or ctx has ended.
func (m *measurer) measure(ctx context.Context, rule *alert.Rule) (samples []alert.Sample, ok bool) {
	if ctx.Err() != nil {
		return nil, false
	}
	switch rule.Kind {
	case alert.CapUsed:
		return m.highestCapUseOfBuyers(), true
	case alert.BuyerBalance:
		return m.buyerSpendableFunds(), true
	case alert.BuyerDaysLeft:
		return m.buyerDaysLeft(ctx)
	case alert.BuyerFailures:
		return m.buyerRates(rule, func(c *metrics.BuyerCounts) (part, whole uint64) { return c.Failures, c.Requests }, "failed"), true
	case alert.AcceptRate:
		return m.buyerRates(rule, func(c *metrics.BuyerCounts) (part, whole uint64) { return c.Accepted, c.Decisions }, "accepted"), true
	case alert.SoldRate:
		return m.soldRate(rule), true
	case alert.CampaignSoldRate:
		return m.campaignSoldRates(ctx, rule)
	case alert.WebhookFailing:
		return m.samplesOfWebhookSuppliers(m.failingMinutes), true
	case alert.WebhookDeadLetters:
		return m.samplesOfWebhookSuppliers(func(s state.OutboxStatus) alert.Sample {
			return alert.Sample{Value: alert.Quantity(s.Dead) * alert.One}
		}), true
	case alert.BackupAge:
		return m.backupLagIfConfigured(), true
	case alert.DiskFree:
		const perGB = 1_000_000_000 / int64(alert.One)
		return []alert.Sample{{Value: alert.Quantity(int64(m.sources.DiskFree()) / perGB)}}, true
	}
	return nil, false
}

// highestCapUseOfBuyers returns each buyer's cap with the highest use: of its own caps, and of its caps
// in campaigns.
func (m *measurer) highestCapUseOfBuyers() (samples []alert.Sample) {
	highest := make(map[market.BuyerID]alert.Sample)
	add := func(buyer market.BuyerID, caps []*market.Cap, where string) {
		for _, limit := range caps {
			if limit.Limit <= 0 {
				continue
			}
			used := m.sources.State.CapUsage(limit, m.now).Used
			sample := alert.Sample{Subject: string(buyer), Value: alert.PercentOf(used, limit.Limit), Note: describeCapUse(limit, used, where)}
			if before, ok := highest[buyer]; !ok || sample.Value > before.Value {
				highest[buyer] = sample
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(m.catalog.Buyers)) {
		add(id, m.catalog.Buyers[id].Caps, "in all campaigns")
	}
	for _, id := range slices.Sorted(maps.Keys(m.catalog.Campaigns)) {
		c := m.catalog.Campaigns[id]
		for i := range c.FilterSets {
			set, where := &c.FilterSets[i], "in campaign "+string(id)
			if set.ID != "" {
				where += ", filter set " + set.ID
			}
			add(set.Buyer.ID, set.CapsAt(m.now), where)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(highest)) {
		samples = append(samples, highest[id])
	}
	return samples
}

func describeCapUse(limit *market.Cap, used int64, where string) string {
	if limit.Unit == market.UnitMoney {
		return fmt.Sprintf("%s of %s, cap by %s, %s", market.Money(used), market.Money(limit.Limit), limit.Period, where)
	}
	return fmt.Sprintf("%d of %d leads, cap by %s, %s", used, limit.Limit, limit.Period, where)
}

// spendable returns the money that the buyer can still spend: balance and credit, without the money
// that is held for posts. It uses BuyerBalance, because AppliedBuyerFunds blocks the committer.
func (m *measurer) spendable(b *market.Buyer) market.Money {
	balance, held := m.sources.State.BuyerBalance(b.Ref)
	return balance - held + b.Credit
}

// forFundedBuyers returns a sample of each buyer with an account.
func (m *measurer) forFundedBuyers(sampleOf func(*market.Buyer) alert.Sample) (samples []alert.Sample) {
	for _, id := range slices.Sorted(maps.Keys(m.catalog.Buyers)) {
		if b := m.catalog.Buyers[id]; b.Funded {
			sample := sampleOf(b)
			sample.Subject = string(id)
			samples = append(samples, sample)
		}
	}
	return samples
}

func (m *measurer) buyerSpendableFunds() []alert.Sample {
	return m.forFundedBuyers(func(b *market.Buyer) alert.Sample {
		sample := alert.Sample{Value: m.spendable(b)}
		if b.Credit > 0 {
			sample.Note = fmt.Sprintf(", with a credit of %s", b.Credit)
		}
		return sample
	})
}

// maxDaysLeft is the value for a buyer that spends almost no money.
const maxDaysLeft = 365 * alert.One

func (m *measurer) buyerDaysLeft(ctx context.Context) (samples []alert.Sample, ok bool) {
	spent, ok := m.reports.sums(ctx, m.sources.Report(), report.ByBuyer, 24*time.Hour, m.now)
	if !ok {
		return nil, false
	}
	return m.forFundedBuyers(func(b *market.Buyer) alert.Sample {
		day := spent[string(b.ID)].revenue
		if day <= 0 {
			return alert.Sample{Quiet: true}
		}
		left := max(m.spendable(b), 0)
		days := maxDaysLeft
		if left/365 < day {
			days = alert.PercentOf(int64(left), int64(day)) / 100
		}
		return alert.Sample{Value: days, Note: fmt.Sprintf("%s left, %s spent in 24 hours", left, day)}
	}), true
}

// newRateSample returns the share of part in whole, or a sample without a value if there were too few
// requests. isComplete says that the counts are of the whole window.
func newRateSample(rule *alert.Rule, part, whole uint64, isComplete bool, verb, noun string) alert.Sample {
	if whole < uint64(max(rule.Minimum, 1)) {
		return alert.Sample{Quiet: isComplete, Unknown: !isComplete}
	}
	return alert.Sample{
		Value: alert.PercentOf(int64(part), int64(whole)),
		Note:  fmt.Sprintf("%d of %d %s %s in %s", part, whole, noun, verb, alert.FormatWindow(rule.Window)),
	}
}

func (m *measurer) buyerRates(rule *alert.Rule, partAndWhole func(*metrics.BuyerCounts) (part, whole uint64), verb string) (samples []alert.Sample) {
	now, before, isComplete := m.counts.newestAndWindowStart(m.now, rule.Window)
	for _, id := range slices.Sorted(maps.Keys(m.catalog.Buyers)) {
		earlier, later := before.Buyers[string(id)], now.Buyers[string(id)]
		partNow, wholeNow := partAndWhole(&later)
		partBefore, wholeBefore := partAndWhole(&earlier)
		whole := wholeNow - wholeBefore
		// The counters are read one after the other, so the part may be ahead of the whole.
		sample := newRateSample(rule, min(partNow-partBefore, whole), whole, isComplete, verb, "requests")
		sample.Subject = string(id)
		samples = append(samples, sample)
	}
	return samples
}

func (m *measurer) soldRate(rule *alert.Rule) []alert.Sample {
	now, before, isComplete := m.counts.newestAndWindowStart(m.now, rule.Window)
	leads := now.Leads - before.Leads
	// The sale of a lead from before the window can settle in it.
	return []alert.Sample{newRateSample(rule, min(now.Sold-before.Sold, leads), leads, isComplete, "sold", "leads")}
}

func (m *measurer) campaignSoldRates(ctx context.Context, rule *alert.Rule) (samples []alert.Sample, ok bool) {
	found, ok := m.reports.sums(ctx, m.sources.Report(), report.ByCampaign, time.Duration(rule.Window)*time.Second, m.now)
	if !ok {
		return nil, false
	}
	for _, id := range slices.Sorted(maps.Keys(m.catalog.Campaigns)) {
		sums := found[string(id)]
		sample := newRateSample(rule, uint64(max(sums.sales, 0)), uint64(max(sums.leads, 0)), true, "sold", "leads")
		sample.Subject = string(id)
		samples = append(samples, sample)
	}
	return samples, true
}

// samplesOfWebhookSuppliers returns a sample of each supplier with a webhook or dead letters.
func (m *measurer) samplesOfWebhookSuppliers(sampleOf func(state.OutboxStatus) alert.Sample) (samples []alert.Sample) {
	for _, id := range slices.Sorted(maps.Keys(m.catalog.Suppliers)) {
		status := m.sources.State.OutboxStatus(m.sources.State.RefOf(event.ObjectSupplier, string(id)))
		if m.catalog.Suppliers[id].Webhooks != nil || status != (state.OutboxStatus{}) {
			sample := sampleOf(status)
			sample.Subject = string(id)
			samples = append(samples, sample)
		}
	}
	return samples
}

func (m *measurer) failingMinutes(status state.OutboxStatus) (sample alert.Sample) {
	if status.FailingSince > 0 {
		sample.Value = minutes(time.Duration(m.now - status.FailingSince))
	}
	if status.Off {
		sample.Note = "; the webhooks are switched off"
	}
	return sample
}

func (m *measurer) backupLagIfConfigured() []alert.Sample {
	lag, lastError, hasBackup := m.sources.BackupLag()
	if !hasBackup {
		return nil
	}
	sample := alert.Sample{Value: minutes(lag)}
	if lastError != "" {
		sample.Note = "; last error: " + alerts.RemoveUnprintableAndCut(lastError, maxErrorLength)
	}
	return []alert.Sample{sample}
}

func minutes(d time.Duration) alert.Quantity {
	return alert.Quantity(max(d, 0) / time.Millisecond * 1000 / 60)
}
