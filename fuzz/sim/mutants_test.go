package sim

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"testing"
	"time"

	"pingpost/fuzz/mutant"
	"pingpost/internal/must"
)

// mutants are faults that the simulation must detect. Every test run uses the first few.
var mutants = []mutant.Mutation{
	{
		Name: "a refused post gives back its caps twice", File: "engine/state/settle.go",
		Old: "	s.caps.replaceCharges(e.Sale.Charges, e.Next.Charges)\n",
		New: "	s.caps.replaceCharges(e.Sale.Charges, e.Next.Charges)\n	s.caps.replaceCharges(e.Sale.Charges, nil)\n",
	},
	{
		Name: "a day's window begins 24 hours after the one before", File: "engine/market/calendar/period.go",
		Old: "return startOfDay(first, zone), startOfDay(p.firstDayOfNextPeriod(first), zone)",
		New: "began := startOfDay(first-20, zone) + 20*secondsInDay*int64(time.Second)\n		return began, began + int64(p.firstDayOfNextPeriod(first)-first)*secondsInDay*int64(time.Second)",
	},
	{
		Name: "duplicates are forgotten by a snapshot", File: "engine/state/snapshot.go",
		Old: "s.duplicates[in.shard].loadRows(", New: "new(duplicateShard).loadRows(",
	},
	{
		Name: "a window is still open at its end", File: "engine/state/caps.go",
		Old: "if nowUnixNanos < c.start || nowUnixNanos >= c.end {", New: "if nowUnixNanos < c.start || nowUnixNanos > c.end {",
	},
	{
		Name: "a key is forgotten too early", File: "engine/call.go",
		Old: "use.ExpiresAt = in.now + int64(in.engine.opt.Idempotency)", New: "use.ExpiresAt = in.now + int64(in.engine.opt.Idempotency) - 3_600_000_000_000",
	},
	{
		Name: "a key is forgotten too late", File: "engine/call.go",
		Old: "use.ExpiresAt = in.now + int64(in.engine.opt.Idempotency)", New: "use.ExpiresAt = in.now + int64(in.engine.opt.Idempotency) + 3_600_000_000_000",
	},
	{
		Name: "the key of a cold lead is forgotten", File: "engine/state/idempotency.go",
		Old: "if used.Kind == 0 && wait == nil {", New: "if used.Kind == 0 && wait == nil && len(s.ColdFiles()) > 99 {",
	},
	{
		Name: "a duplicate of a cold lead is not recognized", File: "engine/state/duplicates.go",
		Old: "	if found {\n		result, earlierLead, claimEnded = Full, lead, nil\n	}\n", New: "	_, _ = lead, found\n",
	},
	{
		Name: "a change of a cold lead is lost in a replay", File: "engine/state/settle.go",
		Old: "			s.loadColdLeadForApply(c.Lead, seq)\n", New: "",
	},
	{
		Name: "the floor is held against the payout", File: "engine/selection/check_bid.go",
		Old: "if bid.Amount < t.Floor {", New: "if payout, ok := t.Payout.AmountAtPrice(bid.Amount); ok && payout < t.Floor {",
	},
	{
		Name: "equal bids have no tie-break", File: "engine/selection/rank.go",
		Old: "		cmp.Compare(o.Priority, other.Priority),\n", New: "		cmp.Compare(len(o.Buyer)+int(o.Buyer[1])%7, len(other.Buyer)+int(other.Buyer[1])%7),\n",
	},
	{
		Name: "a return gives caps back to the window of now", File: "engine/state/caps.go",
		Old: "	case windowStartUnixNanos == c.window:\n		c.used += amount\n", New: "	case windowStartUnixNanos == c.window || amount < 0 && windowStartUnixNanos < c.window:\n		c.used += amount\n",
	},
	{
		Name: "a turn is in no fact", File: "engine/sale.go",
		Old: "	in.record.Sale.Turn = turn\n", New: "	_ = turn\n",
	},
	{
		Name: "a share is rounded up", File: "engine/market/money.go",
		Old: "quotient, _ := bits.Div64(high, low, moneyUnit)",
		New: "quotient, rest := bits.Div64(high, low, moneyUnit)\n	quotient += (rest + moneyUnit - 1) / moneyUnit",
	},
	{
		Name: "a closed day is open", File: "engine/market/calendar/closed_day.go",
		Old: "	if s.isClosedOn(today) {\n		return false, tomorrow\n	}\n", New: "",
	},
	{
		Name: "a modifier does not change a limit", File: "engine/selection/price_and_caps.go",
		Old: "m.ModifiedCaps(set.Caps)", New: "set.Caps",
	},
	{
		Name: "a modifier does not end the cached availability", File: "engine/plan.go",
		Old: "	unavailable.Until = min(unavailable.Until, until)\n	price :=", New: "	_ = until\n	price :=",
	},
	{
		Name: "a crash leaves no doubt", File: "engine/delivery/deliveries.go",
		Old: "		d.inDoubt, d.unsendable = true, ", New: "		d.unsendable = ",
	},
	{
		Name: "a repeat goes to a buyer that takes it for a second lead", File: "engine/delivery/deliveries.go",
		Old: "d.unsendable || !post.Intent.Repeatable\n", New: "d.unsendable\n",
	},
	{
		Name: "a refused repeat ends the sale", File: "engine/delivery/delivery.go",
		Old: "result.Final && d.post.Intent.Trusted {", New: "result.Final {",
	},
	{
		Name: "a lead in doubt goes to the next buyer", File: "engine/delivery/delivery.go",
		Old: "return !d.inDoubt && !d.promised }", New: "return !d.promised }",
	},
	{
		Name: "a refusal after a crash leaves the lead a duplicate", File: "engine/state/settle.go",
		Old: "		s.removeDuplicateValuesOfLead(e.Sale.Duplicates, e.Lead, seq)\n", New: "",
	},
	{
		Name: "an event that fails is tried again too soon", File: "engine/webhook/schedule.go",
		Old: "return pause - pause/10 +", New: "return pause - pause/5 +",
	},
	{
		Name: "a buyer's credit does not count", File: "engine/state/reservation.go",
		Old: "s.accounts.reserveFunds(buyer.Ref, price, buyer.Credit)", New: "s.accounts.reserveFunds(buyer.Ref, price, 0)",
	},
	{
		Name: "what requests in flight have reserved is free", File: "engine/state/caps.go",
		Old: "	case used+reserved+amount > limit.Limit:\n", New: "	case used+0*reserved+amount > limit.Limit:\n",
	},
	{
		Name: "a door that a cap shut is not looked at again", File: "engine/state/caps.go",
		Old: "		availabilityMayChange = true\n", New: "		availabilityMayChange = false\n",
	},
	{
		Name: "a start leaves the keys of those who were erased", File: "engine/operate.go",
		Old: "	if len(erased) == 0 {\n", New: "	if len(erased) >= 0 {\n",
	},
	{
		Name: "a lead in delivery is erased", File: "engine/operate.go",
		Old: "post != nil && !post.Exhausted {\n", New: "post != nil && post.Decided == 0 {\n",
	},
	{
		Name: "a key is dropped before that is a fact", File: "engine/operate.go",
		Old: "	if len(record.Slots) > 0 {\n", New: "	if len(record.Slots) > 0 {\n		_ = e.opt.Sealer.EraseKeys(slots)\n",
	},
	{
		Name: "some of a person's leads keep their keys", File: "engine/operate.go",
		Old: "	return skippedInDelivery, e.opt.Sealer.EraseKeys(slots)\n", New: "	return skippedInDelivery, e.opt.Sealer.EraseKeys(slots[:min(1, len(slots))])\n",
	},
	{
		Name: "a snapshot forgets who was erased", File: "engine/state/key_slots.go",
		Old: "	encodeOrDecodeList(c, &l.erased, func", New: "	encodeOrDecodeList(c, new([]uint64), func",
	},
	{
		Name: "memory keeps what was to be sent of who was erased", File: "engine/state/key_slots.go",
		Old: "func(p *UnfinishedPost) { p.Body = nil }", New: "func(*UnfinishedPost) {}",
	},
	{
		Name: "an erasure ends an unconfirmed delivery", File: "engine/state/key_slots.go",
		Old: "			shard.replacePostByEditedCopy(e.Leads[i], func(p *UnfinishedPost) { p.Body = nil })\n", New: "			delete(shard.posts, e.Leads[i])\n",
	},
	{
		Name: "who was erased is sent again", File: "engine/operate.go",
		Old: "!sendable && operatorDecision == event.SettledResent {", New: "!sendable && operatorDecision == event.SettledPending {",
	},
}

// kept is the number of mutants in every test run.
const kept = 2

// The simulation must fail on each mutant.
func TestMutants(t *testing.T) {
	if os.Getenv("SIM_SEED") != "" || os.Getenv("SIM_MUTANT") != "" {
		t.Skip("SIM_SEED or SIM_MUTANT selects one simulation")
	}
	all := os.Getenv("SIM_MUTANTS") != ""
	for i, m := range mutants {
		t.Run(m.Name, func(t *testing.T) {
			dir := t.TempDir()
			overlay := must.Value(mutant.WriteOverlay("../..", dir, m))(t)
			if i >= kept && !all {
				return // the mutation applies
			}
			if testing.Short() {
				t.Skip("long: make test-long builds and runs mutants")
			}
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
			defer cancel()
			test := exec.CommandContext(ctx, "go", "test", "-count=1", "-failfast", "-run", "^(TestSimulation|TestConcurrentRequests)$", "-overlay", overlay, ".")
			test.Env = append(os.Environ(), "SIM_MUTANT=yes", "SIM_SECONDS=240", "SIM_DAYS=45", "SIM_SHRINK=1", "SIM_FIRST=1")
			said, err := test.CombinedOutput()
			if err == nil || !bytes.Contains(said, []byte("the shortest history")) && !bytes.Contains(said, []byte("TestConcurrentRequests/")) {
				t.Fatalf("nothing was found: %v\n%s", err, said)
			}
			if _, short, ok := bytes.Cut(said, []byte("// step")); ok {
				said = short
			}
			t.Logf("found: %.600s", said)
		})
	}
}
