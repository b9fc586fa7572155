package layout_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"pingpost/internal/must"
)

// validRepository returns a small tree that keeps every rule. The tests below break one rule at a
// time.
func validRepository() map[string]string {
	return map[string]string{
		"go.mod":                          "module pingpost\n\ngo 1.26\n",
		"cmd/pingpost/main.go":            "// Command pingpost runs the exchange of leads.\npackage main\n\nimport (\n\t_ \"pingpost/server\"\n\t_ \"pingpost/wal\"\n)\n",
		"server/server.go":                "// Package server answers requests over HTTP, and only that.\npackage server\n\nimport (\n\t_ \"net\"\n\t_ \"pingpost/engine\"\n\t_ \"time\"\n)\n",
		"engine/engine.go":                "// Package engine has the verbs of the exchange, one a file.\npackage engine\n\nimport _ \"pingpost/engine/market\"\n",
		"engine/engine_test.go":           "package engine_test\n\nimport (\n\t_ \"os\"\n\t\"time\"\n\n\t_ \"pingpost/wal\"\n)\n\nvar price float64\nvar _ = time.Now\n",
		"engine/market/lead.go":           "// Package market has the nouns of the field and their rules.\npackage market\n\nimport \"time\"\n\ntype Money int64\n\nvar Day = 24 * time.Hour\n",
		"wal/wal.go":                      "// Package wal keeps bytes durably without knowledge of leads.\npackage wal\n\nimport _ \"os\"\n",
		"wal/frame.go":                    "package wal\n",
		"wal/reader.go":                   "package wal\n",
		"wal/segment.go":                  "package wal\n",
		"wal/lock.go":                     "package wal\n",
		"sdk/go/go.mod":                   "module example.com/client\n",
		"sdk/go/util/client.go":           "package util\n",
		"bin/tools/x.go":                  "not Go at all",
		"engine/testdata/broken.go":       "not Go either",
		".git/hooks/readme.md":            "TO" + "DO",
		"engine/market/lead_test.go":      "package market\n",
		"wal/bubble_test.go":              "package wal\n\nimport (\n\t\"testing/synctest\"\n\t\"time\"\n)\n\nfunc f() { <-time.After(2 * time.Second) }\n",
		"server/dashboard/dist/x.js":      "XX" + "X",
		"server/dashboard/package.md":     "XX" + "XX is not one of the words",
		"server/dashboard/src/a.ts":       "import { b } from './part/b';\nimport './a.css';\n",
		"server/dashboard/src/part/b.tsx": "import type { C } from '../c';\n",
		"server/dashboard/src/c/index.ts": "export type C = 'what nobody';\n",
	}
}

func treeOf(t *testing.T, files map[string]string) *tree {
	t.Helper()
	return must.Value(readTree(mapFS(files)))(t)
}

func mapFS(files map[string]string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

// TestRulesFindViolations adds one file to the tidy tree. The named rule must find it once,
// at the given place, and no other rule may. The rule "none" stands for allowed files.
func TestRulesFindViolations(t *testing.T) {
	inEngine := func(rest string) string { return "package market\n\n" + rest }
	tests := []struct {
		breach, rule, path, text, finding string
	}{
		{"nothing new", "none", "wal/lock.go", "package wal\n", ""},
		{"the code of no currency", "none", "engine/market/a.go", inEngine("var none = \"XX" + "X\"\n"), ""},
		{"a long name, wrapped", "none", "engine/market/a.go", inEngine("func f(\n\ta, b int,\n) {\n}\n"), ""},
		{"market imports the engine", "layers", "engine/market/a.go", "package market\n\nimport _ \"pingpost/engine\"\n", "engine/market/a.go:3: engine/market must not import engine"},
		{"the log imports the market", "layers", "wal/a.go", "package wal\n\nimport _ \"pingpost/engine/market\"\n", "must not import engine/market"},
		{"the server imports the log", "layers", "server/a.go", "package server\n\nimport _ \"pingpost/wal\"\n", "server must not import wal"},
		{"a package of outbound imports the log", "layers", "outbound/buyer/a.go", "// Package buyer speaks to the buyers' endpoints.\npackage buyer\n\nimport _ \"pingpost/wal\"\n", "outbound/buyer must not import wal"},
		{"selection imports state", "layers", "engine/selection/a.go", "// Package route says which buyer gets the lead.\npackage route\n\nimport _ \"pingpost/engine/state\"\n", "must not import engine/state"},
		{"the engine imports the server", "layers", "engine/a.go", "package engine\n\nimport _ \"pingpost/server\"\n", "engine must not import server"},
		{"load imports the program", "layers", "loadtest/a.go", "// Package loadtest sends load and measures it.\npackage loadtest\n\nimport _ \"pingpost/cmd/pingpost\"\n", "must not import cmd/pingpost"},
		{"a package without a row", "layers", "engine/clever/a.go", "// Package clever is a new thing below the engine.\npackage clever\n", "engine/clever has no row"},
		{"a float type", "floats", "engine/market/a.go", inEngine("type A struct {\n\tB int\n\tBidAmount float64\n}\n"), "a.go:5: 1 floats"},
		{"a constant", "floats", "engine/a.go", "package engine\n\nconst maxBid = 9.5\n", "a.go:3"},
		{"digits read as a float", "floats", "engine/market/a.go", inEngine("func f() { amount, _ := strconv.ParseFloat(s, 64) }\n"), "a.go:3"},
		{"one float more than allowed", "floats", "engine/market/lead.go", "// Package market has the nouns of the field and their rules.\n" + inEngine("func f(a float64, b float64, c float64) float32\n"), "lead.go:4: 4 floats in this file, at most 3"},
		{"a long file", "sizes", "wal/a.go", "package wal\n" + strings.Repeat("\n", 400), "wal/a.go: 401 lines, at most 400"},
		{"a long function", "sizes", "wal/a.go", "package wal\n\n// f is long.\nfunc f() {" + strings.Repeat("\n", 70) + "}\n", "wal/a.go:4: f has 71 lines, at most 70"},
		{"a long literal", "sizes", "wal/a.go", "package wal\n\nvar f = func() {" + strings.Repeat("\n", 70) + "}\n", "a function literal has 71 lines"},
		{"no comment", "comments", "outbound/webhook/a.go", "package webhook\n", "outbound/webhook: no package comment"},
		{"a comment that repeats the name", "comments", "outbound/webhook/a.go", "// Package webhook is webhooks.\npackage webhook\n", "outbound/webhook: no package comment"},
		{"a comment apart from its package", "comments", "outbound/webhook/a.go", "// Package webhook drains the outbox, in order.\n\npackage webhook\n", "outbound/webhook: no package comment"},
		{"a program without one", "comments", "cmd/tool/main.go", "package main\n", "cmd/tool: no package comment"},
		{"a function's comment with an old name", "misnamed", "wal/a.go", "package wal\n\n// old cuts the log. new is better.\nfunc new() {}\n", "wal/a.go:4: the comment does not begin with new"},
		{"a type's comment with an old name", "misnamed", "wal/a.go", "package wal\n\n// Tail is the end\n// of the log.\ntype Head struct{}\n", "wal/a.go:5: the comment does not begin with Head"},
		{"a vague folder", "names", "server/util/a.go", "// Package wire has the shapes of requests and answers.\npackage wire\n", `server/util: the package name "util"`},
		{"a vague package", "names", "server/wire/a.go", "// Package helpers has the shapes of requests.\npackage helpers\n", `server/wire: the package name "helpers"`},
		{"a folder at the root", "folders", "pkg/readme.md", "", "pkg: the root must not have this folder"},
		{"a test that no pass runs", "passes", "wal/a_test.go", withoutDetector + "\npackage wal\n\nfunc TestMemory() {}\n\nfunc TestAllocations() {}\n", "wal/a_test.go:5: no pass of `make test` runs TestMemory"},
		{"a wait of zero in a package with bubbles", "timers", "wal/a_test.go", "package wal\n\nimport \"time\"\n\nfunc f() { <-time.After(0) }\n", "wal/a_test.go:5: time.After"},
		{"a wait that may be over", "timers", "wal/a.go", "package wal\n\nimport \"time\"\n\nfunc f(d time.Duration) { <-time.After(d) }\n", "wal/a.go:5: time.After"},
		{"a channel for a later receive", "timers", "wal/a.go", "package wal\n\nimport t \"time\"\n\nvar c = t.After(t.Second)\n", "wal/a.go:5: time.After"},
		{"a timer", "timers", "wal/a.go", "package wal\n\nimport \"time\"\n\nvar x = time.NewTimer(time.Second)\n", "wal/a.go:5: time.NewTimer"},
		{"a ticker", "timers", "wal/a_test.go", "package wal\n\nimport \"time\"\n\nvar x = time.NewTicker(time.Second)\n", "wal/a_test.go:5: time.NewTicker"},
		{"a promise in a comment", "words", "wal/a.go", "package wal\n\n// TO" + "DO: all of it.\n", "wal/a.go:3: TO" + "DO"},
		{"a promise in a string", "words", "wal/a.go", "package wal\n\nvar x = \"FIX" + "ME\"\n", "wal/a.go:3"},
		{"a promise after the code of no currency", "words", "wal/a.go", "package wal\n\nvar x = \"XX" + "X\" // XX" + "X\n", "wal/a.go:3"},
		{"a promise in a document", "words", "api/openapi.yaml", "info: {title: HA" + "CK}\n", "api/openapi.yaml:1"},
		{"an import back", "circles", "server/dashboard/src/c/index.ts", "import { a } from '../a';\n", "3 files import each other in a circle: server/dashboard/src/a.ts, "},
		{"a re-export of itself over two lines", "circles", "server/dashboard/src/d.ts", "export {\n  d,\n} from './d';\n", "1 files import each other in a circle: server/dashboard/src/d.ts"},
		{"a roundabout comment", "prose", "wal/a.go", "package wal\n\n// What stands here was told by nobody.\n", "Go comments: more than 2.7"},
		{"a roundabout remark", "prose", "wal/a.go", "package wal\n\nvar x = 1 /* what it comes to */\n", "what/who clause"},
		{"a roundabout test", "prose", "wal/a_test.go", "package wal\n\n// What stands here was told by nobody.\n", "Comments of tests: more than 3.0"},
		{"a roundabout document", "prose", "docs/a.md", "A `kind` is kept by whoever has it.\n", "Markdown: more than 1.1"},
		{"a promise in the CI", "words", ".ci/run", "# XX" + "X\n", ".ci/run:1"},
	}
	for _, test := range tests {
		t.Run(test.rule+"/"+test.breach, func(t *testing.T) {
			files := validRepository()
			files[test.path] = test.text
			broken := treeOf(t, files)
			for name, rule := range rules {
				found := rule(broken)
				if name != test.rule && len(found) > 0 {
					t.Errorf("the rule %s finds %q", name, found)
				}
				if name == test.rule && (len(found) != 1 || !strings.Contains(found[0], test.finding)) {
					t.Errorf("found %q, want one with %q", found, test.finding)
				}
			}
		})
	}
}

// TestOversizedFolders adds files to a folder up to a limit and above it.
func TestOversizedFolders(t *testing.T) {
	files := validRepository()
	add := func(finding string, names ...string) {
		t.Helper()
		for _, name := range names {
			files["wal/"+name+".go"] = "package wal\n"
		}
		if found := strings.Join(oversizedFolders(treeOf(t, files)), ""); found != finding {
			t.Errorf("with %v: found %q, want %q", names, found, finding)
		}
	}
	add("", "wal_test", "frame_test", "part_a", "part_b", "part_c_test", "part")
	add("wal/part_: 4 Go files with this prefix, at most 3: make them a package", "part_c")
	delete(files, "wal/part_c.go")
	for i := range maxFiles - 8 {
		add("", string(rune('A'+i))+"x")
	}
	add("wal: 31 Go files without tests, at most 30: divide the package", "last")
}

// TestMeasureProse counts words and constructions of a text with a known result.
func TestMeasureProse(t *testing.T) {
	files := map[string]string{
		"go.mod":              "module pingpost\n",
		"wal/a.go":            "//go:build what\n\n// Package wal is what nobody was told.\npackage wal // who\n\nvar x = \"nobody\" //nolint:what\n",
		"wal/a_test.go":       "package wal // what\n",
		"wal/b.go":            "// Code generated by what. DO NOT EDIT.\n\npackage wal\n",
		"sdk/go/model/m.go":   "package model // what\n",
		"CHANGELOG.md":        "what\n",
		"README.md":           "It stands, `whoever` runs:\n\n```\nwhat\n```\n",
		"testdata/what.md":    "what\n",
		"docs/generated/a.md": "what\n",
	}
	measured := measureProse(treeOf(t, files))
	for kind, want := range map[string]prose{"Go comments": {8, [4]int{2, 1, 1}}, "Comments of tests": {1, [4]int{1}}, "Markdown": {4, [4]int{3: 1}}} {
		if *measured[kind] != want {
			t.Errorf("%s: got %+v, want %+v", kind, *measured[kind], want)
		}
	}
}

func TestReadTreeRejects(t *testing.T) {
	for name, change := range map[string]func(map[string]string){
		"no file":               func(files map[string]string) { clear(files) },
		"no go.mod":             func(files map[string]string) { delete(files, "go.mod") },
		"go.mod without module": func(files map[string]string) { files["go.mod"] = "go 1.26\n" },
		"a broken Go file":      func(files map[string]string) { files["wal/a.go"] = "package" },
		"only the root and tests": func(files map[string]string) {
			for name := range files {
				if strings.Contains(name, "/") && !strings.HasSuffix(name, "_test.go") {
					delete(files, name)
				}
			}
		},
	} {
		files := validRepository()
		change(files)
		if _, err := readTree(mapFS(files)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
