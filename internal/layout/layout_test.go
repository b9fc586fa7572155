package layout_test

import (
	"os"
	"sync"
	"testing"

	"pingpost/internal/must"
)

// layers is the table of the dependency directions. A new package outside these folders
// needs a row.
var layers = []layer{
	{of: "cmd/...", may: []string{"..."}},
	{of: "loadtest/...", may: []string{"..."}, mustNot: []string{"cmd/..."}},
	{of: "fuzz/...", may: []string{"..."}, mustNot: []string{"cmd/..."}},
	{of: "sdk/conformance", may: []string{"engine/market/...", "loadtest/refbuyer"}},
	{of: "exchange/...", may: []string{"..."}, mustNot: []string{"cmd/...", "loadtest/...", "fuzz/..."}},
	{of: "server/servertest", may: []string{"server/...", "engine/...", "api", "api/contract", "internal/must"}},
	{of: "server/...", may: []string{"server/...", "config/...", "engine/...", "keys/...", "outbound/webhook/signature", "report/...", "api", "api/errcode", "internal/..."}},
	{of: "config/syntax", may: []string{"engine/market/escape"}},
	{of: "config/schema", may: []string{"config/syntax", "engine/market/..."}},
	{of: "config/canonical", may: []string{"config/schema", "config/syntax"}},
	{of: "config", may: []string{"config/...", "engine/event", "engine/market/...", "keys/passphrase", "outbound/webhook/signature"}},
	{of: "outbound/...", may: []string{"outbound/...", "engine/...", "api/errcode", "internal/..."}},
	{of: "keys/...", may: []string{"keys/...", "engine/event", "engine/market/...", "internal/durable"}},
	{of: "internal/...", may: []string{"engine", "engine/market/...", "engine/timing", "internal/timer"}},
	{of: "engine", may: []string{"engine/...", "api/errcode"}},
	{of: "engine/alert", may: []string{"engine/event", "engine/market"}},
	{of: "engine/auction", may: []string{"engine/bitset", "engine/event", "engine/market/...", "engine/selection"}},
	{of: "engine/delivery", may: []string{"engine/event", "engine/market/...", "engine/redaction", "engine/state", "engine/timing"}},
	{of: "engine/exclusion", may: []string{"engine/event", "engine/market/...", "engine/redaction", "engine/selection"}},
	{of: "engine/keyedmutex"},
	{of: "engine/numbering", may: []string{"engine/event", "engine/market", "engine/state"}},
	{of: "engine/pastauction", may: []string{"engine/event", "engine/market"}},
	{of: "engine/redaction", may: []string{"engine/market/format"}},
	{of: "engine/timing", may: []string{"engine/auction", "engine/market"}},
	{of: "engine/webhook", may: []string{"engine/event", "engine/market/...", "engine/state"}},
	{of: "engine/ledger", may: []string{"engine/event", "engine/market/...", "engine/state"}},
	{of: "engine/sealtest", may: []string{"engine", "engine/market"}},
	{of: "engine/savedreport", may: []string{"engine/event", "engine/market/calendar"}},
	{of: "engine/state/coldtest"},
	{of: "engine/state", may: []string{"engine/alert", "engine/event", "engine/market/...", "engine/savedreport"}},
	{of: "engine/event", may: []string{"engine/bitset", "engine/market/..."}},
	{of: "engine/selection", may: []string{"engine/bitset", "engine/market/..."}},
	{of: "engine/market/adapter", may: []string{"engine/market", "engine/market/escape", "engine/market/format"}},
	{of: "engine/market", may: []string{"api/errcode", "engine/bitset", "engine/market/calendar", "engine/market/escape", "engine/market/fingerprint", "engine/market/format", "engine/market/valuelist", "engine/market/zipcode"}},
	{of: "engine/market/calendar", may: []string{"engine/market/format"}},
	{of: "engine/market/escape", may: []string{"engine/market/format"}},
	{of: "engine/market/fingerprint"},
	{of: "engine/market/leadtest", may: []string{"engine/market"}},
	{of: "engine/market/valuelist", may: []string{"engine/bitset", "engine/market/format"}},
	{of: "engine/market/zipcode"},
	{of: "engine/market/format", may: []string{"api/errcode"}},
	{of: "engine/bitset"},
	{of: "deploy/image"},
	{of: "api"},
	{of: "api/errcode"},
	{of: "api/generate"},
	{of: "api/contract", may: []string{"api", "api/errcode"}},
	{of: "report", may: []string{"engine/ledger", "engine/event", "engine/market/...", "internal/timer", "report/...", "wal"}},
	{of: "report/catchup", may: []string{"internal/timer"}},
	{of: "report/projection", may: []string{"engine/ledger", "engine/event", "engine/market/...", "report/histogram"}},
	{of: "report/cpuwait"},
	{of: "report/histogram"},
	{of: "report/columnar"},
	{of: "cluster", may: []string{"cluster/clusterid", "internal/durable", "wal", "wal/commitqueue"}},
	{of: "cluster/clusterid", may: []string{"internal/durable"}},
	{of: "cluster/datacopy", may: []string{"cluster/clusterid", "internal/durable", "wal"}},
	{of: "cluster/link", may: []string{"cluster/clusterid", "internal/durable"}},
	{of: "wal", may: []string{"internal/durable", "internal/timer", "wal/commitqueue"}},
	{of: "wal/commitqueue"},
	{of: "wal/backup", may: []string{"internal/durable", "internal/timer", "wal", "wal/backup/store"}},
	{of: "wal/rowfile", may: []string{"internal/durable", "internal/timer", "wal"}},
	{of: "wal/backup/store", may: []string{"internal/durable"}},
}

// folders lists the folders that the root may have.
var folders = []string{
	".ci", "api", "cluster", "cmd", "config", "deploy", "docs", "engine", "examples", "exchange", "fuzz", "internal", "keys", "loadtest",
	"outbound", "report", "sdk", "server", "wal",
}

// floats is the number of float types, literals and parsers in each file under engine. They
// hold numbers of leads' fields. Money is never a float: use market.Money.
var floats = map[string]int{
	"engine/market/compile.go": 1, "engine/market/filter.go": 8, "engine/market/filter_index.go": 4, "engine/market/filter_spec.go": 5, "engine/market/format/number.go": 2, "engine/market/lead.go": 3,
	"engine/market/money.go": 12, "engine/market/rule.go": 3, "engine/market/sample.go": 4, "engine/exclusion/lead.go": 1,
	"engine/market/valuelist/index.go": 3, "engine/market/valuelist/list.go": 5, "engine/market/zipcode/zipcode.go": 7,
}

var vague = []string{"common", "helper", "helpers", "misc", "types", "util", "utils"}

// secondPass is the pattern of -run in the pass of `make test` without the race detector.
const secondPass = "Alloc"

// dueTimersExempt lists files whose channel timers only one goroutine of a bubble test
// receives from, with the reason.
var dueTimersExempt = map[string]string{
	"cmd/pingpost/child/child.go":  "real processes only",
	"internal/timer/timer_test.go": "the reproduction of the crash, which only an environment variable starts",
	"internal/timer/timer.go":      "the replacements themselves",
	"loadtest/trial/run.go":        "one goroutine receives, once a second",
	"server/admin/search.go":       "received on the spot, after a constant time",
	"internal/clock/clock.go":      "the exchange's real clock; its bubble tests have one goroutine",
	"server/certificate/watch.go":  "one goroutine receives, every five seconds",
	"server/admin/stream.go":       "one goroutine receives, at a constant pace",
	"server/public/server.go":      "shutdown of real servers",
	"server/metrics/history.go":    "one goroutine receives, every five seconds",
	"outbound/webhook/loop.go":     "one goroutine receives, from a timer that is reset to 1 ns or more just before",
}

// unfinishedWords are concatenated, so that this file does not contain them.
var unfinishedWords = []string{"TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"}

// proseLimits are the limits of roundabout constructions per 1,000 words, by kind of text. A
// change that lowers a measure lowers its limit.
var proseLimits = map[string]float64{"Go comments": 2.7, "Comments of tests": 3, "Markdown": 1.1}

// firstCommit is the last commit before the rule on subjects. Older subjects break it.
const firstCommit = "adcea973149ba005cb7cc876133a28949cb20335"

// repository reads this repository once for all rules.
var repository = sync.OnceValues(func() (*tree, error) { return readTree(os.DirFS("../..")) })

// readRepository skips short tests: make check applies the rules, without the slow race
// detector.
func readRepository(t *testing.T) *tree {
	t.Helper()
	if testing.Short() {
		t.Skip("make check applies the rules to this repository")
	}
	return must.Value(repository())(t)
}

func reportFindings(t *testing.T, findings []string) {
	t.Helper()
	for _, f := range findings {
		t.Error(f)
	}
}

// rules are the rules by name. Each returns its findings in a tree.
var rules = map[string]func(*tree) []string{
	"layers":   func(t *tree) []string { return forbiddenImports(t, layers) },
	"floats":   func(t *tree) []string { return newFloats(t, floats) },
	"sizes":    tooLong,
	"comments": undocumented,
	"misnamed": misnamed,
	"names":    func(t *tree) []string { return vagueNames(t, vague) },
	"folders":  func(t *tree) []string { return unlistedFolders(t, folders) },
	"words":    func(t *tree) []string { return unfinished(t, unfinishedWords) },
	"timers":   func(t *tree) []string { return dueTimers(t, dueTimersExempt) },
	"passes":   func(t *tree) []string { return testsWithoutPass(t, secondPass) },
	"files":    oversizedFolders,
	"circles":  func(t *tree) []string { return importCircles(t, "server/dashboard/src") },
	"prose":    roundaboutProse,
}

func TestLayoutRules(t *testing.T) {
	for name, rule := range rules {
		t.Run(name, func(t *testing.T) { reportFindings(t, rule(readRepository(t))) })
	}
}
