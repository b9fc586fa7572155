// Package pingpost_test keeps the shape of the whole tree: which package may
// import which, how long files and functions may be, what has to be written
// down. Here stand the rules' figures and tables and their application to the
// tree; the rules themselves are functions in the files beside this one, and
// layout_rules_test.go shows each of them fail on a tree that breaks it.
package pingpost_test

import (
	"os"
	"testing"
)

// layers is the drawing of the house, row by row. A new package outside of
// these folders needs a row of its own, and so a decision.
var layers = []layer{
	{of: "cmd/...", may: []string{"..."}},
	{of: "loadtest/...", may: []string{"..."}, mustNot: []string{"cmd/..."}},
	{of: "fuzz/...", may: []string{"..."}, mustNot: []string{"cmd/..."}},
	{of: "sdk/conformance", may: []string{"engine/market", "loadtest/refbuyer"}},
	{of: "server/...", may: []string{"server/...", "engine/...", "report", "report/columnar", "api", "api/errcode"}},
	{of: "engine", may: []string{"engine/...", "api/errcode"}},
	{of: "engine/sealtest", may: []string{"engine", "engine/market"}},
	{of: "engine/state", may: []string{"engine/event", "engine/market"}},
	{of: "engine/event", may: []string{"engine/market"}},
	{of: "engine/route", may: []string{"engine/market"}},
	{of: "engine/market", may: []string{"api/errcode"}},
	{of: "api"},
	{of: "api/errcode"},
	{of: "api/generate"},
	{of: "api/contract", may: []string{"api", "api/errcode"}},
	{of: "report", may: []string{"engine", "engine/event", "engine/market", "report/columnar", "wal"}},
	{of: "report/columnar"},
	{of: "wal"},
	{of: "wal/backup", may: []string{"wal", "wal/backup/store"}},
	{of: "wal/backup/store"},
	{of: "."},
}

// folders are those that may stand at the top.
var folders = []string{
	".ci", "api", "cmd", "deploy", "docs", "engine", "examples", "fuzz", "loadtest", "report", "sdk", "server", "wal",
}

// portsOnly is what the engine may have only by way of its ports: the network,
// the machine, chance.
var portsOnly = []string{"net/...", "os/...", "syscall", "math/rand/...", "crypto/rand"}

// clock is what reads the time or waits for it. Arithmetic on times is free.
// LoadLocation and Local belong here because they read files and the machine's
// settings: a replay elsewhere would come out differently.
var clock = []string{
	"After", "AfterFunc", "LoadLocation", "Local", "NewTicker", "NewTimer",
	"Now", "Since", "Sleep", "Tick", "Until",
}

// moneyWords are parts of names that say that a thing is money, in the singular.
var moneyWords = []string{
	"amount", "balance", "bid", "budget", "cost", "credit", "floor", "fund", "money", "payout", "price",
}

var vague = []string{"common", "helper", "helpers", "misc", "types", "util", "utils"}

var limits = sizes{median: 150, ninetieth: 350, file: 400, function: 70}

// Lines of test for each line of code: what the tree aims at, and what it may
// not fall below.
const (
	aimedRatio = 1.2
	leastRatio = 1.15
)

// apparatus is what tests are made of: several of them share it, so it stands in
// files that are not called tests, and counts as what it is.
var apparatus = []string{"fuzz/witness", "sdk/conformance"}

// secondPass is what `make test` chooses the tests of its second pass by.
const secondPass = "Alloc"

// unfinishedWords are put together here, so that this file has none of them.
var unfinishedWords = []string{"TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"}

func here(t *testing.T) *tree {
	t.Helper()
	found, err := readTree(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func report(t *testing.T, findings []string) {
	t.Helper()
	for _, f := range findings {
		t.Error(f)
	}
}

func TestLayoutLayers(t *testing.T) { report(t, wrongEdges(here(t), layers)) }

func TestLayoutEnginePorts(t *testing.T) { report(t, forbiddenImports(here(t), "engine", portsOnly)) }

func TestLayoutEngineClock(t *testing.T) { report(t, forbiddenCalls(here(t), "engine", "time", clock)) }

func TestLayoutFloatMoney(t *testing.T) { report(t, floatMoney(here(t), "engine", moneyWords)) }

func TestLayoutSizes(t *testing.T) { report(t, tooLong(here(t).measured(), limits)) }

func TestLayoutPackageComments(t *testing.T) { report(t, undocumented(here(t))) }

func TestLayoutPackageNames(t *testing.T) { report(t, vagueNames(here(t), vague)) }

func TestLayoutFolders(t *testing.T) { report(t, strangeFolders(here(t), folders)) }

func TestLayoutUnfinished(t *testing.T) { report(t, unfinished(here(t), unfinishedWords)) }

func TestLayoutPasses(t *testing.T) { report(t, neverRun(here(t), secondPass)) }

func TestLayoutTestRatio(t *testing.T) {
	ratio := testRatio(here(t))
	t.Logf("%.2f lines of test for each line of code, aimed at %.1f", ratio, aimedRatio)
	if ratio < leastRatio {
		t.Errorf("%.2f lines of test for each line of code, at least %.1f", ratio, leastRatio)
	}
}
