//go:build unix

package docs_test

import (
	"os"
	"strings"
	"testing"
	"time"
)

// fence returns a page in which ”' is replaced with the mark of a fence.
func fence(text string) string { return strings.ReplaceAll(text, "'''", "```") }

// TestFaults: the check finds all faults that are visible without running a page, and no others.
func TestFaults(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"good": {"Save this as `a.yaml`:\n\n'''yaml a.yaml\na: 1\n'''\n\n'''sh\ncat a.yaml\n'''\n\n'''text\na: 1\n'''\n", ""},

		"a fence without words": {"'''\nls\n'''\n", `line 1: this test has no rule for a block of ""`},
		"an unknown language":   {"'''mermaid\na\n'''\n", `"mermaid"`},
		"code without a name":   {"'''go\npackage main\n'''\n", `this test has no rule for a block of "go"`},
		"a path for a name":     {"`../a.go`\n\n'''go ../a.go\n'''\n\n'''sh needs=go\ngo run ../a.go\n'''\n", `"go ../a.go"`},
		"too many words":        {"'''sh a b c\nls\n'''\n", `"sh a b c"`},
		"an unknown need":       {"'''sh needs=perl\nls\n'''\n", `"sh needs=perl"`},
		"a file without its name above": {
			"Save this:\n\n'''yaml a.yaml\na: 1\n'''\n\n'''sh\ncat a.yaml\n'''\n", "line 3: the paragraph above does not name",
		},
		"an unused file":                       {"`a.yaml`\n\n'''yaml a.yaml\na: 1\n'''\n\n'''sh\nls\n'''\n", "no later command uses"},
		"a file with only an earlier use":      {"'''sh\ncat a.yaml\n'''\n\n`a.yaml`\n\n'''yaml a.yaml\na: 1\n'''\n", "no later command uses"},
		"an answer without commands":           {"'''json\n{}\n'''\n", "no commands right before"},
		"a second output":                      {"'''sh\nls\n'''\n\n'''text\na\n'''\n\n'''text\na\n'''\n", "line 9: no commands right before"},
		"a missing need":                       {"'''sh\nX=1 node a.mjs\n'''\n", "line 1: this needs node"},
		"a missing need of pip":                {"'''sh\nvenv/bin/pip install x\n'''\n", "this needs python"},
		"an unknown port":                      {"'''sh\ncurl http://127.0.0.1:7000/\n'''\n", "port 7000"},
		"a default address":                    {"'''sh\npingpost ping --url http://127.0.0.1:8080 a=1 |\n pingpost post -\n'''\n", "pingpost post names no address"},
		"a default address in a configuration": {"`a.yaml`\n\n'''yaml a.yaml\nlisten: 127.0.0.1:8080\ncampaigns: []\n'''\n\n'''sh\ncat a.yaml\n'''\n", "the configuration names no address"},
		"an indented fence":                    {"- a\n  '''sh\n  ls\n  '''\n", "line 2: this looks like code"},
		"an indented block":                    {"a\n\n    ls\n", "line 3: this looks like code"},
		"another kind of fence":                {"~~~sh\nls\n~~~\n", "looks like code"},
		"a block in HTML":                      {"<pre>ls</pre>\n", "looks like code"},
		"an open fence":                        {"'''sh\nls\n", "line 1: this looks like code"},
	} {
		p := parse("line", fence(c.text))
		found := strings.ReplaceAll(strings.Join(p.faults(), "\n"), "line:", "line ")
		if (found == "") != (c.want == "") || !strings.Contains(found, c.want) {
			t.Errorf("%s: found %q, want %q", name, found, c.want)
		}
	}
}

// TestWrongPagesFail: a page with a wrong command, answer or program fails in that block.
func TestWrongPagesFail(t *testing.T) {
	for name, c := range map[string]struct{ text, at, want string }{
		"a correct page":                  {"'''sh\nx=1\n(sleep 1000; true) &\n'''\n\n'''sh\necho \"a $x c\"; echo d >&2\n'''\n\n'''text\na … c\nd\n'''\n", "", ""},
		"a command that fails":            {"'''sh\nfalse\ntrue\n'''\n\n'''sh\ntrue\n'''\n", ":1", "a command failed"},
		"a failing part of a pipe":        {"'''sh\nfalse | true\n'''\n", ":1", "a command failed"},
		"a missing command":               {"'''sh\nnosuchcommand\n'''\n", ":1", "nosuchcommand: command not found"},
		"an unset variable":               {"'''sh\necho $nobody\n'''\n", ":1", "unbound"},
		"a shell that exits":              {"'''sh\nexit 0\n'''\n\n'''sh\ntrue\n'''\n", ":1", "a command failed"},
		"another output":                  {"'''sh\necho a\n'''\n\n'''text\nb\n'''\n", ":5", "the output differs"},
		"more output":                     {"'''sh\necho a; echo b\n'''\n\n'''text\na\n'''\n", ":5", "the output differs"},
		"less output":                     {"'''sh\necho a\n'''\n\n'''text\na\n…\nb\n'''\n", ":5", "the output differs"},
		"another answer":                  {"'''sh\necho '{\"a\": 1}'\n'''\n\n'''json\n{\"a\": 2}\n'''\n", ":5", "the answer.a is 1, want 2"},
		"a member too many":               {"'''sh\necho '{\"a\": 1, \"b\": 1}'\n'''\n\n'''json\n{\"a\": 1}\n'''\n", ":5", "has a member b"},
		"a member too few":                {"'''sh\necho '{}'\n'''\n\n'''json\n{\"a\": \"…\"}\n'''\n", ":5", "has no a"},
		"null for a value":                {"'''sh\necho '{\"a\": null}'\n'''\n\n'''json\n{\"a\": \"…\"}\n'''\n", ":5", "is <nil>"},
		"another beginning":               {"'''sh\necho '[\"lead_1\"]'\n'''\n\n'''json\n[\"auc_…\"]\n'''\n", ":5", "the answer[0] is lead_1, want auc_…"},
		"a shorter list":                  {"'''sh\necho '[1]'\n'''\n\n'''json\n[1, 2, \"…\"]\n'''\n", ":5", "has 1 items"},
		"no JSON":                         {"'''sh\necho no\n'''\n\n'''json\n{}\n'''\n", ":5", "the output is no JSON"},
		"no JSON on the page":             {"'''sh\necho {}\n'''\n\n'''json\n{…}\n'''\n", ":5", "the page has invalid JSON here"},
		"one answer for two":              {"'''sh\necho {} {}\n'''\n\n'''json\n{}\n'''\n", ":5", "the output has 2 values"},
		"a failing program":               {"`a.sh`\n\n'''sh a.sh\nexit 3\n'''\n\n'''sh\nbash a.sh\n'''\n", ":7", "exit status 3"},
		"a port without a listener":       {"'''sh\ncurl -sS http://127.0.0.1:8080/\n'''\n", ":1", "onnect"},
		"a failure after a skipped block": {"'''sh needs=php\nfalse\n'''\n\n'''text\nb\n'''\n\n'''sh\nfalse\n'''\n", ":9", "a command failed"},
	} {
		t.Run(name, func(t *testing.T) {
			p := parse("page", fence(c.text))
			if found := p.faults(); len(found) > 0 {
				t.Fatalf("the page has faults: %q", found)
			}
			outcomes := runPage(p, newShell(t, t.TempDir(), os.Environ()), newPorts(t), map[string]string{"php": "not installed"})
			last := outcomes[len(outcomes)-1]
			if (last.failure == "") != (c.want == "") || !strings.Contains(last.failure, c.want) || c.at != "" && last.at != "page"+c.at {
				t.Errorf("%+v\nwant %s: %q", last, c.at, c.want)
			}
		})
	}
}

// TestHangingBlock: a block that does not end fails, and its processes are killed.
func TestHangingBlock(t *testing.T) {
	s := newShell(t, t.TempDir(), os.Environ())
	if _, err := s.run("sleep 1000\n", 100*time.Millisecond); err == nil || !strings.Contains(err.Error(), "did not end") {
		t.Error(err)
	}
}
