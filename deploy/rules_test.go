package deploy

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"testing"

	"github.com/goccy/go-yaml"

	"pingpost/internal/must"
)

const (
	rulesFile     = "prometheus-rules.yml"
	rulesTestFile = "prometheus-rules-test.yml"
)

type alert struct {
	Alert, Expr         string
	Labels, Annotations map[string]string
}

func readAlerts(t *testing.T) (found []alert) {
	t.Helper()
	var file struct{ Groups []struct{ Rules []alert } }
	readYAML(t, rulesFile, &file)
	for _, group := range file.Groups {
		found = append(found, group.Rules...)
	}
	if len(found) < 15 {
		t.Fatalf("%d alerts", len(found))
	}
	return found
}

func readYAML(t *testing.T, path string, into any) {
	t.Helper()
	text := must.Value(os.ReadFile(path))(t)
	if err := yaml.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// requireTool skips the test if a tool is missing. In CI, which installs it, the test fails.
func requireTool(t *testing.T, tool, from string) {
	t.Helper()
	if _, err := exec.LookPath(tool); err == nil {
		return
	}
	if os.Getenv("CI") != "" {
		t.Fatalf("no %s, which .ci/run installs with Debian's package %s", tool, from)
	}
	t.Skipf("no %s; Debian's package %s has it", tool, from)
}

// TestAlertsUseServedMetrics also checks that the summaries name labels of the result.
func TestAlertsUseServedMetrics(t *testing.T) {
	served, named := servedMetrics(t), regexp.MustCompile(`\$labels\.(\w+)`)
	for _, a := range readAlerts(t) {
		found, kept, _ := checkQuery(served, a.Expr)
		for _, finding := range found {
			t.Errorf("%s: %s", a.Alert, finding)
		}
		for _, label := range named.FindAllStringSubmatch(a.Annotations["summary"], -1) {
			if !kept[label[1]] {
				t.Errorf("%s: the summary names %s, which is no label of the result", a.Alert, label[1])
			}
		}
		if !kept["instance"] || !slices.Contains([]string{"critical", "warning"}, a.Labels["severity"]) {
			t.Errorf("%s: no label instance, or no severity: %v", a.Alert, a.Labels)
		}
	}
}

// TestAlertsNameRunbookEntries checks that each alert names an entry of the runbook.
func TestAlertsNameRunbookEntries(t *testing.T) {
	text := must.Value(os.ReadFile("../docs/runbook.md"))(t)
	entries := map[string]bool{}
	for _, heading := range regexp.MustCompile(`(?m)^## (.+)$`).FindAllStringSubmatch(string(text), -1) {
		entries[heading[1]] = true
	}
	for _, a := range readAlerts(t) {
		if entry := a.Annotations["runbook"]; !entries[entry] {
			t.Errorf("%s: docs/runbook.md has no entry %q", a.Alert, entry)
		}
	}
}

// TestAlertsHaveTests: the rules' tests have each alert quiet and firing.
func TestAlertsHaveTests(t *testing.T) {
	var file struct {
		Tests []struct {
			Alerts []struct {
				Name string           `yaml:"alertname"`
				Want []map[string]any `yaml:"exp_alerts"`
			} `yaml:"alert_rule_test"`
		}
	}
	readYAML(t, rulesTestFile, &file)
	quiet, fires := map[string]bool{}, map[string]bool{}
	for _, test := range file.Tests {
		for _, a := range test.Alerts {
			if len(a.Want) == 0 {
				quiet[a.Name] = true
			} else {
				fires[a.Name] = true
			}
		}
	}
	for _, a := range readAlerts(t) {
		if !quiet[a.Alert] || !fires[a.Alert] {
			t.Errorf("%s has no test in which it is quiet, or none in which it fires", a.Alert)
		}
	}
}

func TestPromtoolAcceptsRules(t *testing.T) {
	requireTool(t, "promtool", "prometheus")
	for _, args := range [][]string{{"check", "rules", rulesFile}, {"test", "rules", rulesTestFile}, {"check", "config", "prometheus.yml"}} {
		if out, err := exec.Command("promtool", args...).CombinedOutput(); err != nil {
			t.Errorf("promtool %v: %v\n%s", args, err, out)
		}
	}
}
