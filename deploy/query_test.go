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

// added are labels that Prometheus gives to whatever it scrapes.
var added = []string{"instance", "job"}

// nameLabel is the label that a metric's name is, to Prometheus.
const nameLabel = "__name__"

// counts are metrics that only grow and are not called so.
var counts = []string{"pingpost_log_sequence"}

// query is an expression that is held against what is served.
type query struct {
	served   series
	findings []string
	names    []string // of the metrics it is about
	rated    bool     // inside of what counters are for
}

// judge reads an expression, says what is wrong with it, and which labels its result
// has. Where Grafana puts in a duration, one stands in for it.
func judge(served series, text string) (found []string, kept map[string]bool, names []string) {
	for _, duration := range []string{"$__rate_interval", "$__range", "$__interval"} {
		text = strings.ReplaceAll(text, duration, "5m")
	}
	expr, err := parser.NewParser(parser.Options{}).ParseExpr(text)
	if err != nil {
		return []string{err.Error()}, nil, nil
	}
	q := &query{served: served}
	kept = q.labels(expr)
	return q.findings, kept, q.names
}

func (q *query) wrong(format string, args ...any) {
	q.findings = append(q.findings, fmt.Sprintf(format, args...))
}

// labels are those that an expression's result has.
func (q *query) labels(e parser.Expr) map[string]bool {
	switch e := e.(type) {
	case *parser.VectorSelector:
		return q.selected(e)
	case *parser.MatrixSelector:
		return q.labels(e.VectorSelector)
	case *parser.SubqueryExpr:
		return q.labels(e.Expr)
	case *parser.ParenExpr:
		return q.labels(e.Expr)
	case *parser.UnaryExpr:
		return q.labels(e.Expr)
	case *parser.AggregateExpr:
		return q.aggregated(e)
	case *parser.Call:
		return q.called(e)
	case *parser.BinaryExpr:
		return q.joined(e)
	case *parser.NumberLiteral:
		return nil
	}
	q.wrong("%s is nothing that is looked into: teach the test to", e)
	return nil
}

func (q *query) selected(e *parser.VectorSelector) map[string]bool {
	has, known := q.served[e.Name]
	if !known && e.Name != "up" {
		q.wrong("no exchange serves %s", e.Name)
		return nil
	}
	q.names = append(q.names, e.Name)
	grows := counter(e.Name)
	if grows != q.rated && !slices.Contains(counts, e.Name) {
		q.wrong("%s: a counter is of use in rate and increase, and nothing else is", e.Name)
	}
	kept := map[string]bool{}
	for _, label := range append(slices.Collect(maps.Keys(has)), added...) {
		kept[label] = true
	}
	for _, m := range e.LabelMatchers {
		if m.Name == nameLabel || slices.Contains(added, m.Name) {
			continue
		}
		values := slices.Collect(maps.Keys(has[m.Name]))
		switch {
		case !kept[m.Name]:
			q.wrong("%s has no label %s", e.Name, m.Name)
		case !strings.Contains(m.Value, "$") && !slices.ContainsFunc(values, m.Matches):
			q.wrong("%s{%s} is never so", e.Name, m)
		case !strings.Contains(m.Value, "$") && (m.Type == labels.MatchNotEqual || m.Type == labels.MatchNotRegexp) && !slices.ContainsFunc(values, func(v string) bool { return !m.Matches(v) }):
			q.wrong("%s{%s} is always so", e.Name, m)
		}
	}
	return kept
}

func counter(name string) bool {
	return slices.ContainsFunc([]string{"_total", "_bucket", "_count", "_sum"}, func(end string) bool { return strings.HasSuffix(name, end) })
}

func (q *query) aggregated(e *parser.AggregateExpr) map[string]bool {
	inner := q.labels(e.Expr)
	kept := map[string]bool{}
	if e.Without {
		maps.Copy(kept, inner)
	}
	for _, label := range e.Grouping {
		if !inner[label] {
			q.wrong("%s: there is no label %s in it", e, label)
		}
		if e.Without {
			delete(kept, label)
		} else {
			kept[label] = true
		}
	}
	return kept
}

func (q *query) called(e *parser.Call) map[string]bool {
	outer := q.rated // what stands around a rate is about its result
	q.rated = slices.Contains([]string{"rate", "increase"}, e.Func.Name)
	kept := map[string]bool{}
	for _, arg := range e.Args {
		maps.Copy(kept, q.labels(arg))
	}
	q.rated = outer
	if e.Func.Name == "histogram_quantile" {
		if !kept["le"] {
			q.wrong("%s: a quantile needs the label le", e)
		}
		delete(kept, "le")
	}
	return kept
}

func (q *query) joined(e *parser.BinaryExpr) map[string]bool {
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
				q.wrong("%s: one side has no label %s", e, label)
			}
		}
		return left
	}
	for _, label := range e.VectorMatching.MatchingLabels { // which are ignored
		delete(right, label)
	}
	for label := range left {
		if !right[label] && !slices.Contains(e.VectorMatching.MatchingLabels, label) {
			q.wrong("%s: the right side has no label %s, so nothing fits together", e, label)
		}
	}
	return left
}

// TestQueriesAreJudged: each mistake is seen, and what is none is not.
func TestQueriesAreJudged(t *testing.T) {
	served := series{
		"a_total":   {"path": {"/x": true, "/y": true}, "status": {"200": true}},
		"b_bucket":  {"le": {"1": true}, "buyer": {"blue": true}},
		"c_seconds": {},
	}
	for text, want := range map[string]string{
		`sum by (path) (rate(a_total{job="x",path=~"/.*"}[5m]))`:                         "",
		`histogram_quantile(0.9, sum by (le, buyer) (rate(b_bucket[$__rate_interval])))`: "",
		`rate(a_total{status="200"}[5m]) / 3 > 1 and on (job) up == 1`:                   "",
		`a_total{path="$path"}`:              "a counter is of use",
		`rate(c_seconds[5m])`:                "nothing else is",
		`sum(d)`:                             "no exchange serves d",
		`sum(rate(a_total[5m])`:              "unclosed left parenthesis",
		`rate(a_total{buyer="blue"}[5m])`:    "has no label buyer",
		`rate(a_total{path="/z"}[5m])`:       "never so",
		`rate(a_total{path!="/z"}[5m])`:      "always so",
		`sum by (buyer) (rate(a_total[5m]))`: "no label buyer in it",
		`histogram_quantile(0.9, sum by (buyer) (rate(b_bucket[5m])))`:               "needs the label le",
		`sum by (path) (rate(a_total[5m])) / on (path) c_seconds`:                    "one side has no label path",
		`sum by (path) (rate(a_total[5m])) / c_seconds`:                              "has no label path, so",
		`sum by (job) (rate(a_total[5m])) / ignoring (instance) c_seconds`:           "",
		`max without (path) (rate(a_total[5m])) + sum by (path) (rate(a_total[5m]))`: "has no label",
		`absent("x")`: "expected type",
	} {
		found, _, _ := judge(served, text)
		if all := strings.Join(found, "; "); (want == "") != (all == "") || !strings.Contains(all, want) {
			t.Errorf("%s: %q, want %q", text, all, want)
		}
	}
}
