package pingpost_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// tidy is a small tree that keeps every rule. The tests below break it, one
// rule at a time.
func tidy() map[string]string {
	return map[string]string{
		"go.mod":                      "module pingpost\n\ngo 1.26\n",
		"doc.go":                      "// Package pingpost is the root, with nothing in it but rules.\npackage pingpost\n",
		"cmd/pingpost/main.go":        "// Command pingpost runs the exchange of leads.\npackage main\n\nimport (\n\t_ \"pingpost/server\"\n\t_ \"pingpost/wal\"\n)\n",
		"server/server.go":            "// Package server answers requests over HTTP, and only that.\npackage server\n\nimport (\n\t_ \"net\"\n\t_ \"pingpost/engine\"\n\t_ \"time\"\n)\n",
		"engine/engine.go":            "// Package engine has the verbs of the exchange, one a file.\npackage engine\n\nimport _ \"pingpost/engine/market\"\n",
		"engine/engine_test.go":       "package engine_test\n\nimport (\n\t_ \"os\"\n\t\"time\"\n\n\t_ \"pingpost/wal\"\n)\n\nvar price float64\nvar _ = time.Now\n",
		"engine/market/lead.go":       "// Package market has the nouns of the field and their rules.\npackage market\n\nimport \"time\"\n\ntype Money int64\n\nvar Day = 24 * time.Hour\n",
		"wal/wal.go":                  "// Package wal keeps bytes durably and knows nothing of leads.\npackage wal\n\nimport _ \"os\"\n",
		"wal/frame.go":                "package wal\n",
		"wal/reader.go":               "package wal\n",
		"wal/segment.go":              "package wal\n",
		"wal/lock.go":                 "package wal\n",
		"sdk/go/go.mod":               "module example.com/client\n",
		"sdk/go/util/client.go":       "package util\n",
		"bin/tools/x.go":              "not Go at all",
		"engine/testdata/broken.go":   "not Go either",
		".git/hooks/readme.md":        "TO" + "DO",
		"engine/market/lead_test.go":  "package market\n",
		"server/dashboard/dist/x.js":  "XX" + "X",
		"server/dashboard/package.md": "XX" + "XX is no word of ours",
	}
}

func planted(t *testing.T, files map[string]string) *tree {
	t.Helper()
	found, err := readTree(mapFS(files))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func mapFS(files map[string]string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

// rules are the rules as the tree is held to them, by name.
var rules = map[string]func(*tree) []string{
	"layers":   func(t *tree) []string { return wrongEdges(t, layers) },
	"ports":    func(t *tree) []string { return forbiddenImports(t, "engine", portsOnly) },
	"clock":    func(t *tree) []string { return forbiddenCalls(t, "engine", "time", clock) },
	"money":    func(t *tree) []string { return floatMoney(t, "engine", moneyWords) },
	"sizes":    func(t *tree) []string { return tooLong(t.measured(), limits) },
	"comments": undocumented,
	"names":    func(t *tree) []string { return vagueNames(t, vague) },
	"folders":  func(t *tree) []string { return strangeFolders(t, folders) },
	"words":    func(t *tree) []string { return unfinished(t, unfinishedWords) },
	"passes":   func(t *tree) []string { return neverRun(t, secondPass) },
}

func TestRulesHoldInATidyTree(t *testing.T) {
	for name, rule := range rules {
		if found := rule(planted(t, tidy())); len(found) > 0 {
			t.Errorf("%s: %q", name, found)
		}
	}
}

// TestRulesSeeWhatBreaksThem plants one file in the tidy tree. The rule named
// must find it, once, at the place given, and no other rule may.
func TestRulesSeeWhatBreaksThem(t *testing.T) {
	inEngine := func(rest string) string { return "package market\n\n" + rest }
	tests := []struct {
		what, rule, path, text, finding string
	}{
		{"market looks up to the engine", "layers", "engine/market/a.go", "package market\n\nimport _ \"pingpost/engine\"\n", "engine/market/a.go:3: engine/market must not import engine"},
		{"the log knows of leads", "layers", "wal/a.go", "package wal\n\nimport _ \"pingpost/engine/market\"\n", "must not import engine/market"},
		{"the server opens the log", "layers", "server/a.go", "package server\n\nimport _ \"pingpost/wal\"\n", "server must not import wal"},
		{"a folder below the server, likewise", "layers", "server/buyer/a.go", "// Package buyer speaks to the buyers' endpoints.\npackage buyer\n\nimport _ \"pingpost/wal\"\n", "server/buyer must not import wal"},
		{"route looks at state", "layers", "engine/route/a.go", "// Package route says which buyer gets the lead.\npackage route\n\nimport _ \"pingpost/engine/state\"\n", "must not import engine/state"},
		{"the engine looks up to the server", "layers", "engine/a.go", "package engine\n\nimport _ \"pingpost/server\"\n", "engine must not import server"},
		{"load imports the program", "layers", "loadtest/a.go", "// Package loadtest sends load and measures it.\npackage loadtest\n\nimport _ \"pingpost/cmd/pingpost\"\n", "must not import cmd/pingpost"},
		{"a package nobody placed", "layers", "engine/clever/a.go", "// Package clever is a new thing below the engine.\npackage clever\n", "engine/clever has no row"},
		{"the network", "ports", "engine/market/a.go", inEngine("import _ \"net\"\n"), "net is not for code under engine"},
		{"a part of it", "ports", "engine/market/a.go", inEngine("import _ \"net/http\"\n"), "net/http"},
		{"files", "ports", "engine/a.go", "package engine\n\nimport _ \"os\"\n", "engine/a.go:3: os is"},
		{"chance", "ports", "engine/market/a.go", inEngine("import _ \"math/rand/v2\"\n"), "math/rand/v2"},
		{"secret chance", "ports", "engine/market/a.go", inEngine("import _ \"crypto/rand\"\n"), "crypto/rand"},
		{"the clock read", "clock", "engine/market/a.go", inEngine("import \"time\"\n\nvar x = time.Now()\n"), "a.go:5: time.Now"},
		{"the clock handed on", "clock", "engine/market/a.go", inEngine("import \"time\"\n\nvar x = time.Since\n"), "time.Since"},
		{"by another name", "clock", "engine/market/a.go", inEngine("import t \"time\"\n\nfunc f() { t.Sleep(1) }\n"), "time.Sleep"},
		{"by none", "clock", "engine/market/a.go", inEngine("import . \"time\"\n\nvar x = Now()\n"), "a dot import of time"},
		{"a timer", "clock", "engine/a.go", "package engine\n\nimport \"time\"\n\nvar x = time.NewTimer(1)\n", "time.NewTimer"},
		{"a field", "money", "engine/market/a.go", inEngine("type A struct {\n\tB int\n\tBidAmount float64\n}\n"), "a.go:5: money in a float"},
		{"a pointer in a slice", "money", "engine/market/a.go", inEngine("var prices []*float32\n"), "a.go:3"},
		{"a parameter", "money", "engine/market/a.go", inEngine("func f(floor float64) {}\n"), "a.go:3"},
		{"a result", "money", "engine/market/a.go", inEngine("func payoutOf(x int) float64 { return 0 }\n"), "a.go:3"},
		{"a type", "money", "engine/market/a.go", inEngine("type Balance float64\n"), "a.go:3"},
		{"a conversion", "money", "engine/market/a.go", inEngine("func f(m Money) bool { return float64(m.Price()) > 1 }\n"), "a.go:3"},
		{"a constant", "money", "engine/market/a.go", inEngine("const maxBid = 9.5\n"), "a.go:3"},
		{"an assignment", "money", "engine/market/a.go", inEngine("func f() { cost := 0.25; _ = cost }\n"), "a.go:3"},
		{"digits read as a float", "money", "engine/market/a.go", inEngine("func f() { amount, _ := strconv.ParseFloat(s, 64) }\n"), "a.go:3"},
		{"a long file", "sizes", "wal/a.go", "package wal\n" + strings.Repeat("\n", 400), "wal/a.go: 401 lines, at most 400"},
		{"a long function", "sizes", "wal/a.go", "package wal\n\n// f is long.\nfunc f() {" + strings.Repeat("\n", 70) + "}\n", "wal/a.go:4: f has 71 lines, at most 70"},
		{"a long literal", "sizes", "wal/a.go", "package wal\n\nvar f = func() {" + strings.Repeat("\n", 70) + "}\n", "a function literal has 71 lines"},
		{"no comment", "comments", "server/webhook/a.go", "package webhook\n", "server/webhook: no package comment"},
		{"a comment that is the name", "comments", "server/webhook/a.go", "// Package webhook is webhooks.\npackage webhook\n", "server/webhook: no package comment"},
		{"a comment apart from its package", "comments", "server/webhook/a.go", "// Package webhook drains the outbox, in order.\n\npackage webhook\n", "server/webhook: no package comment"},
		{"a program without one", "comments", "cmd/tool/main.go", "package main\n", "cmd/tool: no package comment"},
		{"a vague folder", "names", "server/util/a.go", "// Package wire has the shapes of requests and answers.\npackage wire\n", `server/util: a package "util"`},
		{"a vague package", "names", "server/wire/a.go", "// Package helpers has the shapes of requests.\npackage helpers\n", `server/wire: a package "helpers"`},
		{"a new house beside the house", "folders", "pkg/readme.md", "", "pkg: no such folder"},
		{"a test that no pass runs", "passes", "wal/a_test.go", withoutDetector + "\npackage wal\n\nfunc TestMemory() {}\n\nfunc TestAllocations() {}\n", "wal/a_test.go:5: TestMemory"},
		{"a promise in a comment", "words", "wal/a.go", "package wal\n\n// TO" + "DO: all of it.\n", "wal/a.go:3: TO" + "DO"},
		{"a promise in a string", "words", "wal/a.go", "package wal\n\nvar x = \"FIX" + "ME\"\n", "wal/a.go:3"},
		{"a promise beside the code of no currency", "words", "wal/a.go", "package wal\n\nvar x = \"XX" + "X\" // XX" + "X\n", "wal/a.go:3"},
		{"a promise in a document", "words", "api/openapi.yaml", "info: {title: HA" + "CK}\n", "api/openapi.yaml:1"},
		{"a promise in the CI", "words", ".ci/run", "# XX" + "X\n", ".ci/run:1"},
	}
	for _, test := range tests {
		t.Run(test.rule+"/"+test.what, func(t *testing.T) {
			files := tidy()
			files[test.path] = test.text
			broken := planted(t, files)
			for name, rule := range rules {
				found := rule(broken)
				if name != test.rule && len(found) > 0 {
					t.Errorf("%s finds something too: %q", name, found)
				}
				if name == test.rule && (len(found) != 1 || !strings.Contains(found[0], test.finding)) {
					t.Errorf("found %q, want one with %q", found, test.finding)
				}
			}
		})
	}
}

// TestRulesLeaveAlone plants what looks like a breach and is none.
func TestRulesLeaveAlone(t *testing.T) {
	innocent := map[string]string{
		"a variable called like the package": "import \"time\"\n\nvar _ time.Time\n\nfunc f(time interface{ Now() int }) int { return time.Now() }\n",
		"a method called like the clock's":   "import _ \"time\"\n\nfunc f(c interface{ Now() int }) int { return c.Now() }\n",
		"a name that contains a bid":         "var forbidden, resold float64\n",
		"a float beside money":               "type Bid struct{ Score float64 }\n",
		"the code of no currency":            "var none = \"XX" + "X\"\n",
		"a long name, wrapped":               "func f(\n\ta, b int,\n) {\n}\n",
	}
	for what, text := range innocent {
		files := tidy()
		files["engine/market/a.go"] = "package market\n\n" + text
		for name, rule := range rules {
			if found := rule(planted(t, files)); len(found) > 0 {
				t.Errorf("%s: %s: %q", what, name, found)
			}
		}
	}
}

func TestTreeMustBeOne(t *testing.T) {
	for what, change := range map[string]func(map[string]string){
		"nothing":              func(files map[string]string) { clear(files) },
		"no go.mod":            func(files map[string]string) { delete(files, "go.mod") },
		"a go.mod of no name":  func(files map[string]string) { files["go.mod"] = "go 1.26\n" },
		"a file that is no Go": func(files map[string]string) { files["wal/a.go"] = "package" },
		"only the root and tests": func(files map[string]string) {
			for name := range files {
				if strings.Contains(name, "/") && !strings.HasSuffix(name, "_test.go") {
					delete(files, name)
				}
			}
		},
	} {
		files := tidy()
		change(files)
		if _, err := readTree(mapFS(files)); err == nil {
			t.Errorf("%s: taken for a tree", what)
		}
	}
}

func TestSizesOfMany(t *testing.T) {
	tests := []struct {
		lengths []int
		finding string
	}{
		{[]int{10, 150, 350}, ""},
		{[]int{10, 151, 350}, "median file has 151"},
		{[]int{1, 1, 1, 1, 1, 1, 1, 1, 350, 400}, ""},
		{[]int{1, 1, 1, 1, 1, 1, 1, 1, 351, 400}, "one file in ten has 351"},
	}
	for _, test := range tests {
		files := tidy()
		for name := range files {
			if strings.HasSuffix(name, ".go") {
				delete(files, name)
			}
		}
		for i, n := range test.lengths {
			files[fmt.Sprintf("wal/%d.go", i)] = "package wal" + strings.Repeat("\n", n)
		}
		found := strings.Join(tooLong(planted(t, files).measured(), limits), "; ")
		if !strings.Contains(found, test.finding) || (test.finding == "") != (found == "") {
			t.Errorf("%v: found %q, want %q", test.lengths, found, test.finding)
		}
	}
}

func TestPercentile(t *testing.T) {
	ten := []int{10, 9, 8, 7, 6, 5, 4, 3, 2, 1}
	for p, want := range map[int]int{1: 1, 50: 5, 51: 6, 90: 9, 100: 10} {
		if got := percentile(ten, p); got != want {
			t.Errorf("%d of a hundred: %d, want %d", p, got, want)
		}
	}
	if !slices.IsSortedFunc(ten, func(a, b int) int { return b - a }) {
		t.Error("the caller's slice was sorted")
	}
}

func TestRatioLeavesTheRootOut(t *testing.T) {
	files := map[string]string{
		"go.mod":         "module pingpost\n",
		"doc.go":         "package pingpost\n",
		"layout_test.go": "package pingpost" + strings.Repeat("\n", 1000),
		"wal/wal.go":     "package wal\n\n\n\n",
		"wal/a_test.go":  "package wal\n\n",
	}
	if got := testRatio(planted(t, files)); got != 0.5 {
		t.Errorf("ratio %v, want 0.5", got)
	}
	delete(files, "wal/a_test.go")
	files["fuzz/witness/supplier.go"] = "package witness\n\n"
	if got := testRatio(planted(t, files)); got != 0.5 {
		t.Errorf("ratio %v where apparatus is the only test, want 0.5", got)
	}
	delete(files, "fuzz/witness/supplier.go")
	if got := testRatio(planted(t, files)); got != 0 {
		t.Errorf("ratio %v without tests, want 0", got)
	}
}
