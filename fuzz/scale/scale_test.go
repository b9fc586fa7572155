package main

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pingpost/fuzz/mutant"
	"pingpost/internal/must"
)

func smallRun() options {
	leads := 20_000
	if testing.Short() {
		leads = 5_000
	}
	return options{
		Leads: leads, Rate: 500, Seed: 1, Partitions: 8, Skew: 1.1, Outages: 10, Outage: time.Second,
		MinDelay: 500 * time.Microsecond, MaxDelay: 5 * time.Millisecond, MaxWait: 100 * time.Millisecond, Returns: 2,
	}
}

// TestPoliciesKeepLimits runs each policy with outages. The audit must find no overrun, and each lead must have a
// result.
func TestPoliciesKeepLimits(t *testing.T) {
	seeds := uint64(3)
	if testing.Short() {
		seeds = 1
	}
	for i := range policies {
		t.Run(policies[i].name, func(t *testing.T) {
			for seed := range seeds {
				opt := smallRun()
				opt.Seed = seed
				sim := must.Value(newSimulation(opt, &policies[i]))(t)
				sim.run()
				f := &sim.figures
				if len(sim.audit.faults) > 0 || sim.audit.overrun != 0 {
					t.Errorf("seed %d: overrun %d, %q", seed, sim.audit.overrun, sim.audit.faults)
				}
				if f.sold+f.unsold+f.lostLeads != int64(opt.Leads) || f.sold == 0 || f.refusals == 0 || f.crashes == 0 {
					t.Errorf("seed %d: %d sold, %d unsold and %d lost of %d, with %d refusals and %d crashes", seed, f.sold, f.unsold, f.lostLeads, opt.Leads, f.refusals, f.crashes)
				}
				for _, p := range sim.partitions {
					if n := p.state.ReservationCount(); n != 0 || p.inFlight != 0 {
						t.Errorf("seed %d: partition %d has %d reservations and %d leads at the end", seed, p.id, n, p.inFlight)
					}
				}
			}
		})
	}
}

// TestSeedRepeatsRun: the figures of a run follow from its seed.
func TestSeedRepeatsRun(t *testing.T) {
	var reports [2]bytes.Buffer
	for i := range reports {
		sim := must.Value(newSimulation(smallRun(), must.Value(findPolicy("halving"))(t)))(t)
		sim.run()
		sim.report(&reports[i], 0)
	}
	if reports[0].String() != reports[1].String() {
		t.Errorf("two runs differ:\n%s%s", &reports[0], &reports[1])
	}
	if _, err := findPolicy("generous"); err == nil {
		t.Error("an unknown policy is accepted")
	}
}

// brokenRules are defects of the protocol. The audit must find each.
var brokenRules = []mutant.Mutation{
	{
		Name: "a recall counts grants as given back before the holder confirms", File: "fuzz/scale/recall.go",
		Old: "		if account.recalled {\n", New: "		if account.recalled {\n			p.recordGiveBack(&message{from: h, resource: r.index, window: e.window, totals: totals{0, account.appended.granted}}, func() {})\n",
	},
	{
		Name: "a holder tells the owner before its log has the give-back", File: "fuzz/scale/holder.go",
		Old: "	p.append(p.fundsEvent(r, -amount), ", New: "	p.sim.network.send(&message{kind: kindGiveBack, from: p.id, to: r.owner, resource: r.index, window: window, totals: h.appended})\n	p.append(p.fundsEvent(r, -amount), ",
	},
	{
		Name: "a holder sells while it gives back", File: "fuzz/scale/holder.go",
		Old: "	if amount > 0 {\n		p.reserveAmount(", New: "	if amount > 0 && r.limit == nil {\n		p.reserveAmount(",
	},
	{
		Name: "an owner tells the holder before its log has the grant", File: "fuzz/scale/owner.go",
		Old: "	p.append(p.transferEvent(r, -amount), ", New: "	p.sim.network.send(&message{kind: kindAnswer, from: p.id, to: holder, resource: r.index, window: e.window, totals: account.appended})\n	p.append(p.transferEvent(r, -amount), ",
	},
	{
		Name: "a doubled message counts twice", File: "fuzz/scale/holder.go",
		Old: "	amount := m.granted - h.appended.granted\n", New: "	amount := m.granted - h.confirmed().granted\n",
	},
	{
		Name: "a grant outlives its window", File: "fuzz/scale/amount.go",
		Old: "h.durableWindow == p.windowOf(r) {", New: "h.durableWindow > 0 {",
	},
	{
		Name: "a restart forgets the totals", File: "fuzz/scale/partition.go",
		Old: "		if entry.transfer != nil {\n			p.applyTransfer", New: "		if entry.transfer == nil && len(entry.data) == 1 {\n			p.applyTransfer",
	},
}

// runsOfMutants are a run with many crashes and leads in flight, and one with ends of windows and many grants.
var runsOfMutants = []string{
	"--policy halving --leads 100000 --rate 3000 --outages 160 --outage 1s",
	"--policy single --leads 150000 --rate 100 --outages 10",
}

// TestBrokenRulesAreFound builds the simulation with each defect and runs it.
func TestBrokenRulesAreFound(t *testing.T) {
	for _, m := range brokenRules {
		t.Run(m.Name, func(t *testing.T) {
			must.Value(mutant.WriteOverlay("../..", t.TempDir(), m))(t)
			if testing.Short() {
				t.Skip("long: make test-long builds and runs mutants")
			}
			binary := filepath.Join(t.TempDir(), "scale")
			must.Succeed(t, mutant.Build(t.Context(), "../..", "./fuzz/scale", binary, nil, m))
			var all string
			for _, args := range runsOfMutants {
				out, err := exec.CommandContext(t.Context(), binary, strings.Fields(args)...).CombinedOutput()
				all += string(out)
				if _, found, ok := strings.Cut(string(out), "FOUND: "); err != nil && ok {
					t.Logf("found: %.100s", found)
					return
				}
			}
			t.Fatalf("the audit finds no fault:\n%s", all)
		})
	}
}
