package deploy

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pingpost/internal/must"
)

// dashboard holds the tested members of a Grafana dashboard.
type dashboard struct {
	UID, Title string
	Panels     []panel
	Templating struct {
		List []struct {
			Name, Type string
			Query      json.RawMessage
			Datasource source
		}
	}
	Annotations struct {
		List []struct {
			Expr       string
			Datasource source
		}
	}
}

type source struct{ Type, UID string }

type panel struct {
	ID                       int
	Type, Title, Description string
	Datasource               source
	GridPos                  struct{ X, Y, W, H int }
	Targets                  []struct {
		RefID, Expr, LegendFormat string
		Datasource                source
	}
	FieldConfig struct{ Defaults struct{ Unit string } }
}

const dashboardFile = "grafana-dashboard.json"

func readDashboard(t *testing.T) (d dashboard) {
	t.Helper()
	text := must.Value(os.ReadFile(dashboardFile))(t)
	must.Succeed(t, json.Unmarshal(text, &d))
	if d.UID == "" || d.Title == "" || len(d.Panels) < 40 {
		t.Fatalf("%q, %q, %d panels", d.UID, d.Title, len(d.Panels))
	}
	return d
}

var (
	legendLabel      = regexp.MustCompile(`\{\{\s*(\w+)\s*\}\}`)
	labelValues      = regexp.MustCompile(`^label_values\((.+), (\w+)\)$`)
	exchangeSelector = `{job=~"$job",instance=~"$instance"`
)

// TestDashboardShowsServedMetrics: a running exchange serves every metric, label and value of
// the dashboard, and the dashboard shows every served metric.
func TestDashboardShowsServedMetrics(t *testing.T) {
	served, d := servedMetrics(t), readDashboard(t)
	shown := map[string]bool{}
	check := func(where, expr string) map[string]bool {
		found, kept, names := checkQuery(served, expr)
		for _, finding := range found {
			t.Errorf("%s: %s\n\t%s", where, finding, expr)
		}
		for _, name := range names {
			shown[name] = true
		}
		if strings.Count(expr, exchangeSelector) != len(names) {
			t.Errorf("%s: not every metric selects the chosen exchange by %s}\n\t%s", where, exchangeSelector, expr)
		}
		return kept
	}
	for _, p := range d.Panels {
		for _, target := range p.Targets {
			kept := check(p.Title, target.Expr)
			for _, label := range legendLabel.FindAllStringSubmatch(target.LegendFormat, -1) {
				if !kept[label[1]] {
					t.Errorf("%s: the legend names %s, which is no label of the query's result: %s", p.Title, label[1], target.Expr)
				}
			}
		}
	}
	for _, a := range d.Annotations.List {
		check("annotation", a.Expr)
	}
	// One of a histogram's three metrics is enough.
	histogram := regexp.MustCompile(`_(bucket|sum|count)$`)
	family := map[string]bool{}
	for name := range shown {
		family[histogram.ReplaceAllString(name, "")] = true
	}
	for name := range served {
		if !family[histogram.ReplaceAllString(name, "")] {
			t.Errorf("no panel shows %s", name)
		}
	}
}

// TestDashboardVariablesAreServed: the dashboard's variables have values in the served metrics.
func TestDashboardVariablesAreServed(t *testing.T) {
	served, d := servedMetrics(t), readDashboard(t)
	names := map[string]bool{}
	for _, v := range d.Templating.List {
		names[v.Name] = true
		if v.Type != "query" {
			continue
		}
		var variable struct{ Query string }
		if err := json.Unmarshal(v.Query, &variable); err != nil {
			t.Errorf("%s: %v", v.Name, err)
			continue
		}
		form := labelValues.FindStringSubmatch(variable.Query)
		if form == nil {
			t.Errorf("%s: %q is not of the form label_values(metric, label)", v.Name, variable.Query)
			continue
		}
		found, kept, _ := checkQuery(served, "count_over_time("+form[1]+"[5m])")
		found = slices.DeleteFunc(found, func(f string) bool { return strings.Contains(f, "use a counter only") })
		if len(found) > 0 || !kept[form[2]] {
			t.Errorf("%s: %s: %q, labels %v", v.Name, variable.Query, found, kept)
		}
	}
	text := must.Value(os.ReadFile(dashboardFile))(t)
	for _, used := range regexp.MustCompile(`\$\{?(\w+)`).FindAllStringSubmatch(string(text), -1) {
		if name := used[1]; !names[name] && !strings.HasPrefix(name, "__") {
			t.Errorf("$%s is used, but the dashboard has no such variable", name)
		}
	}
}

// TestDashboardIsImportable: the dashboard has no fixed data source. Its panels are complete,
// have descriptions, and do not overlap.
func TestDashboardIsImportable(t *testing.T) {
	d := readDashboard(t)
	chosen := source{"prometheus", "${datasource}"}
	for _, a := range d.Annotations.List {
		if a.Datasource != chosen {
			t.Errorf("an annotation has a fixed data source: %+v", a.Datasource)
		}
	}
	for _, v := range d.Templating.List {
		if v.Type == "query" && v.Datasource != chosen {
			t.Errorf("variable %s has a fixed data source: %+v", v.Name, v.Datasource)
		}
	}
	ids, cells := map[int]bool{}, map[string]string{}
	for _, p := range d.Panels {
		if ids[p.ID] || p.ID == 0 || p.Title == "" {
			t.Errorf("panel %d, %q: duplicate id, or no title", p.ID, p.Title)
		}
		ids[p.ID] = true
		g := p.GridPos
		if g.W < 1 || g.H < 1 || g.X < 0 || g.X+g.W > 24 {
			t.Errorf("%s is outside of the 24 columns: %+v", p.Title, g)
		}
		for x := g.X; x < g.X+g.W; x++ {
			for y := g.Y; y < g.Y+g.H; y++ {
				cell := fmt.Sprint(x, ",", y)
				if cells[cell] != "" {
					t.Fatalf("%s overlaps %s", p.Title, cells[cell])
				}
				cells[cell] = p.Title
			}
		}
		if p.Type == "row" {
			continue
		}
		if p.Description == "" || p.FieldConfig.Defaults.Unit == "" || p.Datasource != chosen || len(p.Targets) == 0 {
			t.Errorf("%s: no description, no unit, no query, or a fixed data source: %+v", p.Title, p.Datasource)
		}
		refs := map[string]bool{}
		for _, target := range p.Targets {
			if refs[target.RefID] || target.Datasource != chosen {
				t.Errorf("%s: query %q exists twice, or has a fixed data source", p.Title, target.RefID)
			}
			refs[target.RefID] = true
		}
	}
}
