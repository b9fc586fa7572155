//go:build !race

package market

import (
	"testing"
	"time"

	"pingpost/engine/bitset"
	"pingpost/engine/market/calendar"
	"pingpost/engine/market/fingerprint"
)

func TestHotPathDoesNotAllocate(t *testing.T) {
	l := personWith("+12025550143", "Jane@example.com")
	l.Values[SlotState] = text("CA")
	l.Values[SlotQualityScore] = number("0.5")
	foreign := personWith("+442071838750", "")
	low := "0.25"
	state := filterOn(t, SlotState, FilterSpec{In: []string{"CA", "NV"}, NotIn: []string{"TX"}})
	score := filterOn(t, SlotQualityScore, FilterSpec{Min: &low, In: []string{"0.50"}})
	index, lead := newLargeIndex(t, 1000)
	fields := conditionFields(t)
	var conditions []Filter
	for _, spec := range []FilterSpec{
		{Field: "zip", Prefix: []string{"1", "752"}, NotPrefix: []string{"753"}, Near: &NearSpec{ZIP: "75201", Miles: &low}},
		{Field: "source", Matches: `[A-Z]{2}\d+`},
		{Field: "born", MinAge: pointerTo(18), From: "1900-01-01"},
	} {
		f, err := NewFilter(spec, fields)
		if err != nil {
			t.Fatal(err)
		}
		conditions = append(conditions, f)
	}
	conditionIndex, passing := NewFilterIndex([][]Filter{conditions}), &Lead{Values: make([]FieldValue, fields.SlotCount())}
	passing.Values[SlotZip], passing.Values[SlotSource], passing.Values[conditions[2].slot] = text("75201-1234"), text("AB12"), text("1980-02-29")
	passing.SetDecisionTime(time.Now().UnixNano(), time.UTC)
	eligible := bitset.New(1000)
	table := fingerprint.NewFingerprintTable([]uint64{7, 42, 1 << 60})
	either := DuplicateRule{Phone: true, Email: true, Window: 1}
	both := DuplicateRule{Phone: true, Email: true, All: true, Window: 1}
	zone, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	schedule, err := calendar.ParseWeeklySchedule(zone, []string{"Mon-Fri 08:00-18:00"})
	if err != nil {
		t.Fatal(err)
	}
	withClosedDays, err := calendar.ParseWeeklySchedule(zone, []string{"Mon-Fri 08:00-18:00"}, "2026-12-25", "01-01")
	if err != nil {
		t.Fatal(err)
	}
	modified := &FilterSet{Price: 1, Modifiers: []Modifier{{During: schedule, Price: 2 * UnchangedFactor}}}
	payout := PayoutRule{Share: 800_000}
	buf := make([]byte, 0, 64)
	probes := make([]uint64, 0, 3)
	keys := make([]DuplicateKey, 0, 2)
	at := time.Now().UnixNano()

	for name, step := range map[string]func(){
		"Filter.Accepts":               func() { state.Accepts(l); score.Accepts(l) },
		"FilterIndex.ClearFailingSets": func() { eligible.ResetToAllBelow(1000); index.ClearFailingSets(lead, eligible); eligible.NextFrom(0) },
		"Filter.Accepts, other conditions": func() {
			for i := range conditions {
				if !conditions[i].Accepts(passing) {
					t.Errorf("%v excludes the lead", conditions[i].Conditions())
				}
			}
		},
		"FilterIndex, other conditions": func() {
			one := eligible[:1]
			one.ResetToAllBelow(1)
			if conditionIndex.ClearFailingSets(passing, one); !one.Has(0) {
				t.Error("the index excludes the lead")
			}
		},
		"FingerprintTable.Has": func() { table.Has(42) },
		"phone fingerprints": func() {
			probes = (&SuppressionListDefinition{Field: ListPhone, Hash: HashPlain}).AppendLeadFingerprints(l, &testKey, probes[:0])
		},
		"foreign phone fingerprints": func() {
			probes = (&SuppressionListDefinition{Field: ListPhone, Hash: HashMD5}).AppendLeadFingerprints(foreign, &testKey, probes[:0])
		},
		"email fingerprints": func() {
			probes = (&SuppressionListDefinition{Field: ListEmail, Hash: HashSHA256}).AppendLeadFingerprints(l, &testKey, probes[:0])
		},
		"duplicate keys, any":      func() { keys = either.AppendDuplicateKeys(l, DuplicateScope{number: 1}, &testKey, keys[:0]) },
		"duplicate keys, all":      func() { keys = both.AppendDuplicateKeys(l, DuplicateScope{number: 1}, &testKey, keys[:0]) },
		"Money.AppendJSON":         func() { buf = Money(12_340_000).AppendJSON(buf[:0]) },
		"ParseBidAmount":           func() { buf = append(buf[:0], "12.3456789"...); _, _ = ParseBidAmount(buf) },
		"PayoutRule.AmountAtPrice": func() { payout.AmountAtPrice(12_340_000) },
		"WeeklySchedule.IsOpenAt":  func() { schedule.IsOpenAt(at) },
		"closed days":              func() { withClosedDays.IsOpenAt(at) },
		"FilterSet.PriceAt":        func() { modified.PriceAt(at) },
		"LeadID.AppendTo":          func() { buf = LeadID{1}.AppendAsText(buf[:0]) },
		"ParseLeadID":              func() { ParseLeadID("lead_01hf7yat00041061050r3gg28a") },
		"Cap.AmountUsedBySale":     func() { (&Cap{Unit: UnitMoney}).AmountUsedBySale(12_340_000) },
	} {
		if n := testing.AllocsPerRun(100, step); n != 0 {
			t.Errorf("%s: %v allocations, want 0", name, n)
		}
	}
}
