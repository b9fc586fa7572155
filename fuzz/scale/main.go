// Command scale simulates an exchange that is divided into partitions by campaign, and measures how well
// they share the caps and funds of buyers by grants. docs/design/scale.md describes the protocol and has
// the figures.
//
// Each partition has the engine's real state: cap counters, accounts, reservations, events and their
// encoding, replay. The grants, the messages, the logs, the clocks, the campaigns and the demand are models
// in virtual time. An audit adds up all logs exactly.
package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/alecthomas/kong"
)

type options struct {
	Leads      int           `default:"1000000" help:"Leads of a run."`
	Rate       int           `default:"100" help:"Leads per second of virtual time."`
	Seed       uint64        `default:"1" help:"Repeats a run."`
	Partitions int           `default:"8" help:"Partitions. The policy static divides by 8."`
	Skew       float64       `default:"1.1" help:"Exponent of the Zipf distribution of the demand over campaigns."`
	Policy     string        `default:"" help:"Only this policy: static, single, fixed, halving, demand or demand-early."`
	Outages    int           `default:"20" help:"Times when a partition is cut off or crashes."`
	Outage     time.Duration `default:"30s" help:"Duration of an outage."`
	MinDelay   time.Duration `default:"500us" help:"Shortest delay of a message."`
	MaxDelay   time.Duration `default:"5ms" help:"Longest delay of a message."`
	MaxWait    time.Duration `default:"100ms" help:"Time that a lead waits for a grant at most."`
	Returns    int           `default:"2" help:"Percentage of sold leads that are returned."`
}

func main() {
	var opt options
	kong.Parse(&opt, kong.Name("scale"), kong.Description("Simulates partitions that share caps by grants."))
	found, err := opt.runPolicies(os.Stdout)
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
	}
	if err != nil || found {
		os.Exit(1)
	}
}

// runPolicies simulates each selected policy and writes a report. It returns whether the audit found a fault.
func (o *options) runPolicies(out io.Writer) (found bool, err error) {
	selected := policies
	if o.Policy != "" {
		p, err := findPolicy(o.Policy)
		if err != nil {
			return false, err
		}
		selected = []policy{*p}
	}
	for i := range selected {
		begun := time.Now()
		sim, err := newSimulation(*o, &selected[i])
		if err != nil {
			return false, err
		}
		sim.run()
		sim.report(out, time.Since(begun))
		found = found || len(sim.audit.faults) > 0
	}
	return found, nil
}
