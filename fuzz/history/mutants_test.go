//go:build unix

package history

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"pingpost/fuzz/mutant"
)

// mutantCase is a mutation that breaks a promise of the cluster, the fault that reveals it ("" for all), the
// largest number of histories until then, and parts of the findings, of which one must occur.
type mutantCase struct {
	mutation  mutant.Mutation
	fault     string
	histories int
	findings  []string
}

var mutants = []mutantCase{
	{
		mutant.Mutation{
			Name: "the leader answers before a majority has the entry", File: "cluster/leadership.go",
			Old: "\t\tl.proposed <- p\n",
			New: "\t\tcommitqueue.NotifyCommitted(entries, b.first, b.at)\n\t\tfor i := range entries {\n\t\t\tentries[i].Waiter = nil\n\t\t}\n\t\tl.proposed <- p\n",
		}, "leader isolated, then killed", 20, []string{"model: Illegal"},
	},
	{
		mutant.Mutation{
			Name: "a new leader does not wait for the entries before it", File: "cluster/roles.go",
			Old: "if err := n.raft.Barrier(barrierTimeout).Error(); err != nil || n.Err() != nil {",
			New: "if err := n.Err(); err != nil {",
		}, "", 60, []string{"model: Illegal", "log has other entries than the leader's"},
	},
	{
		mutant.Mutation{
			Name: "followers do not learn the idempotency keys", File: "exchange/cluster.go",
			Old: "\tr.exchange.state.Apply(seq, at, decoded)\n",
			New: "\tif lead, ok := decoded.(*event.LeadDecided); ok {\n\t\tlead.Idempotency = event.RequestIdempotencyKey{}\n\t}\n\tr.exchange.state.Apply(seq, at, decoded)\n",
		}, "hand-over", 20, []string{"key model: Illegal", "auction model: Illegal"},
	},
	{
		mutant.Mutation{
			Name: "a leader decides without the lease", File: "exchange/cluster.go",
			Old: "x.deciding.Load() && m.HoldsLease()\n", New: "x.deciding.Load()\n",
		}, "leader stopped", 60, []string{"lead model: Illegal", "budget model: Illegal", "auction model: Illegal"},
	},
	{
		mutant.Mutation{
			Name: "a deposed leader answers from its state", File: "exchange/cluster.go",
			Old: "\tcase x.mayDecide():\n", New: "\tcase x.cluster.leaderships.Load() > 0 && x.engine.Load() != nil:\n\t\tx.publicServer.SetEngine(x.engine.Load())\n",
		}, "hand-over", 20, []string{"lead model: Illegal", "budget model: Illegal", "auction model: Illegal"},
	},
	{
		mutant.Mutation{
			Name: "a cap ignores the requests in flight", File: "engine/state/caps.go",
			Old: "\tcase used+reserved+amount > limit.Limit:\n\t\treturn Contended,", New: "\tcase used+amount > limit.Limit:\n\t\treturn Contended,",
		}, "", 40, []string{"budget model: Illegal"},
	},
	{
		mutant.Mutation{
			Name: "two leads of a person are sold at the same time", File: "engine/state/duplicates.go",
			Old: "tryClaim(key); !taken {", New: "tryClaim(key); false && !taken {",
		}, "none", 20, []string{"person model: Illegal", "ended unexpectedly: exit status 2"}, // a panic: the claim of the key is released twice
	},
	{
		mutant.Mutation{
			Name: "two posts sell one auction", File: "engine/state/auctions.go",
			Old: "\treturn auction, true, s.tryClaimAuctionLocked(shard, owner, auctionName)\n",
			New: "\treturn auction, true, nil\n",
		}, "none", 20, []string{"auction model: Illegal"},
	},
	{
		mutant.Mutation{
			Name: "a return gives the money back twice", File: "engine/state/settle.go",
			Old: "adjustBalanceAndHeldFunds(buyer, back.Credit, 0)", New: "adjustBalanceAndHeldFunds(buyer, 2*back.Credit, 0)",
		}, "none", 20, []string{"budget model: Illegal"},
	},
}

const root = "../.."

// Each mutation must still apply. This check is cheap and part of every test run.
func TestMutationsApply(t *testing.T) {
	for i := range mutants {
		if _, err := mutant.WriteOverlay(root, t.TempDir(), mutants[i].mutation); err != nil {
			t.Error(err)
		}
	}
}

// The histories must detect each mutant. It takes minutes: make histories-mutants.
func TestHistoriesDetectMutants(t *testing.T) {
	if os.Getenv("HISTORIES_MUTANTS") == "" {
		t.Skip("it takes minutes: make histories-mutants")
	}
	for i := range mutants {
		b := &mutants[i]
		t.Run(b.mutation.Name, func(t *testing.T) {
			program := filepath.Join(t.TempDir(), "pingpost")
			if err := mutant.Build(t.Context(), root, "./cmd/pingpost", program, nil, b.mutation); err != nil {
				t.Fatal(err)
			}
			run := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestHistories$", "-test.v", "-test.timeout=0",
				"--histories", strconv.Itoa(b.histories), "--seed", strconv.Itoa(i+1), "--only", b.fault, "--violations", "1", "--program", program)
			run.Env = append(os.Environ(), "TMPDIR="+t.TempDir())
			output, err := run.CombinedOutput()
			text := string(output)
			if err == nil {
				t.Fatalf("not detected\n%s", text)
			}
			for _, want := range b.findings {
				if at := strings.Index(text, want); at >= 0 {
					t.Logf("%.1500s", text[max(0, strings.LastIndexByte(text[:at], '\n')):])
					return
				}
			}
			t.Errorf("detected, but by unexpected findings:\n%.6000s", text)
		})
	}
}
