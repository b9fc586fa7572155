package deploy

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// scrapeLabels are the labels that Prometheus adds to all metrics.
var scrapeLabels = []string{"instance", "job"}

// nameLabel is the label with a metric's name.
const nameLabel = "__name__"

// unnamedCounters are counters without a counter's suffix.
var unnamedCounters = []string{"pingpost_log_sequence"}

// queryCheck checks an expression against the served metrics.
type queryCheck struct {
	served   series
	findings []string
	names    []string // names of its metrics
	rated    bool     // inside rate or increase
}

// checkQuery parses an expression and returns its faults, the labels of its result, and its
// metrics. It replaces Grafana's durations.
func checkQuery(served series, text string) (found []string, kept map[string]bool, names []string) {
	for _, duration := range []string{"$__rate_interval", "$__range", "$__interval"} {
		text = strings.ReplaceAll(text, duration, "5m")
	}
	expr, err := parser.NewParser(parser.Options{}).ParseExpr(text)
	if err != nil {
		return []string{err.Error()}, nil, nil
	}
	q := &queryCheck{served: served}
	kept = q.labels(expr)
	return q.findings, kept, q.names
}

func (q *queryCheck) report(format string, args ...any) {
	q.findings = append(q.findings, fmt.Sprintf(format, args...))
}

// labels returns the labels of an expression's result.
func (q *queryCheck) labels(e parser.Expr) map[string]bool {
	switch e := e.(type) {
	case *parser.VectorSelector:
		return q.selectorLabels(e)
	case *parser.MatrixSelector:
		return q.labels(e.VectorSelector)
	case *parser.SubqueryExpr:
		return q.labels(e.Expr)
	case *parser.ParenExpr:
		return q.labels(e.Expr)
	case *parser.UnaryExpr:
		return q.labels(e.Expr)
	case *parser.AggregateExpr:
		return q.aggregateLabels(e)
	case *parser.Call:
		return q.callLabels(e)
	case *parser.BinaryExpr:
		return q.binaryLabels(e)
	case *parser.NumberLiteral:
		return nil
	}
	q.report("this test does not support %s", e)
	return nil
}

func (q *queryCheck) selectorLabels(e *parser.VectorSelector) map[string]bool {
	has, known := q.served[e.Name]
	if !known && e.Name != "up" {
		q.report("no exchange serves %s", e.Name)
		return nil
	}
	q.names = append(q.names, e.Name)
	grows := isCounter(e.Name)
	if grows != q.rated && !slices.Contains(unnamedCounters, e.Name) {
		q.report("%s: use a counter only in rate and increase, and nothing else there", e.Name)
	}
	kept := map[string]bool{}
	for _, label := range append(slices.Collect(maps.Keys(has)), scrapeLabels...) {
		kept[label] = true
	}
	for _, m := range e.LabelMatchers {
		if m.Name == nameLabel || slices.Contains(scrapeLabels, m.Name) {
			continue
		}
		values := slices.Collect(maps.Keys(has[m.Name]))
		switch {
		case !kept[m.Name]:
			q.report("%s has no label %s", e.Name, m.Name)
		case !strings.Contains(m.Value, "$") && !slices.ContainsFunc(values, m.Matches):
			q.report("%s{%s} never matches", e.Name, m)
		case !strings.Contains(m.Value, "$") && (m.Type == labels.MatchNotEqual || m.Type == labels.MatchNotRegexp) && !slices.ContainsFunc(values, func(v string) bool { return !m.Matches(v) }):
			q.report("%s{%s} always matches", e.Name, m)
		}
	}
	return kept
}

func isCounter(name string) bool {
	return slices.ContainsFunc([]string{"_total", "_bucket", "_count", "_sum"}, func(end string) bool { return strings.HasSuffix(name, end) })
}

func (q *queryCheck) aggregateLabels(e *parser.AggregateExpr) map[string]bool {
	inner := q.labels(e.Expr)
	kept := map[string]bool{}
	if e.Without {
		maps.Copy(kept, inner)
	}
	for _, label := range e.Grouping {
		if !inner[label] {
			q.report("%s: the inner result has no label %s", e, label)
		}
		if e.Without {
			delete(kept, label)
		} else {
			kept[label] = true
		}
	}
	return kept
}

func (q *queryCheck) callLabels(e *parser.Call) map[string]bool {
	outer := q.rated // an expression around a rate concerns its result
	q.rated = slices.Contains([]string{"rate", "increase"}, e.Func.Name)
	kept := map[string]bool{}
	for _, arg := range e.Args {
		maps.Copy(kept, q.labels(arg))
	}
	q.rated = outer
	if e.Func.Name == "histogram_quantile" {
		if !kept["le"] {
			q.report("%s: a quantile needs the label le", e)
		}
		delete(kept, "le")
	}
	return kept
}

func (q *queryCheck) binaryLabels(e *parser.BinaryExpr) map[string]bool {
	left, right := q.labels(e.LHS), q.labels(e.RHS)
	switch {
	case e.VectorMatching == nil: // one of them is a number
		kept := maps.Clone(right)
		if kept == nil {
			return left
		}
		maps.Copy(kept, left)
		return kept
	case e.Op == parser.LOR:
		return left
	case e.VectorMatching.On:
		for _, label := range e.VectorMatching.MatchingLabels {
			if !left[label] || !right[label] {
				q.report("%s: one side has no label %s", e, label)
			}
		}
		return left
	}
	for _, label := range e.VectorMatching.MatchingLabels { // ignored labels
		delete(right, label)
	}
	for label := range left {
		if !right[label] && !slices.Contains(e.VectorMatching.MatchingLabels, label) {
			q.report("%s: the right side has no label %s, so nothing matches", e, label)
		}
	}
	return left
}

// TestCheckQuery: checkQuery finds each mistake and accepts correct queries.
func TestCheckQuery(t *testing.T) {
	served := series{
		"a_total":   {"path": {"/x": true, "/y": true}, "status": {"200": true}},
		"b_bucket":  {"le": {"1": true}, "buyer": {"blue": true}},
		"c_seconds": {},
	}
	for text, want := range map[string]string{
		`sum by (path) (rate(a_total{job="x",path=~"/.*"}[5m]))`:                         "",
		`histogram_quantile(0.9, sum by (le, buyer) (rate(b_bucket[$__rate_interval])))`: "",
		`rate(a_total{status="200"}[5m]) / 3 > 1 and on (job) up == 1`:                   "",
		`a_total{path="$path"}`:              "use a counter only",
		`rate(c_seconds[5m])`:                "nothing else there",
		`sum(d)`:                             "no exchange serves d",
		`sum(rate(a_total[5m])`:              "unclosed left parenthesis",
		`rate(a_total{buyer="blue"}[5m])`:    "has no label buyer",
		`rate(a_total{path="/z"}[5m])`:       "never matches",
		`rate(a_total{path!="/z"}[5m])`:      "always matches",
		`sum by (buyer) (rate(a_total[5m]))`: "inner result has no label buyer",
		`histogram_quantile(0.9, sum by (buyer) (rate(b_bucket[5m])))`:               "needs the label le",
		`sum by (path) (rate(a_total[5m])) / on (path) c_seconds`:                    "one side has no label path",
		`sum by (path) (rate(a_total[5m])) / c_seconds`:                              "has no label path, so",
		`sum by (job) (rate(a_total[5m])) / ignoring (instance) c_seconds`:           "",
		`max without (path) (rate(a_total[5m])) + sum by (path) (rate(a_total[5m]))`: "has no label",
		`absent("x")`: "expected type",
	} {
		found, _, _ := checkQuery(served, text)
		if all := strings.Join(found, "; "); (want == "") != (all == "") || !strings.Contains(all, want) {
			t.Errorf("%s: %q, want %q", text, all, want)
		}
	}
}
