package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"time"

	"pingpost/loadtest/load"
	"pingpost/loadtest/trial"
)

//go:embed report.html
var page string

var pageTemplate = template.Must(template.New("report").Funcs(template.FuncMap{
	"short": load.FormatDuration,
	"rate":  func(v float64) string { return fmt.Sprintf("%.4g", v) },
	"when":  func(t time.Time) string { return t.UTC().Format("2 January 2006, 15:04 UTC") },
	"width": func(share float64) template.CSS { return template.CSS(fmt.Sprintf("width:%.2f%%", share*100)) },
}).Parse(page))

// view is the data of the page.
type view struct {
	*trial.Result
	Tiles  []tile
	Charts []drawing
	Stages []stagesView
	Ended  []tile
	Short  string // summary of the limits
}

// tile is a named figure.
type tile struct {
	Name, Value string
	Bad         bool
}

// stagesView is the phases of one path.
type stagesView struct {
	Path   string
	Stages []stageView
	Over   *drawing
}

type stageView struct {
	trial.Stage
	Color string
	Share float64 // of the total
}

// HTML returns the result as a page.
func HTML(r *trial.Result) ([]byte, error) {
	v := view{Result: r, Tiles: tiles(r), Charts: []drawing{overTime(r), percentiles(r), rates(r)}}
	for _, path := range []string{"/api/v1/ingest", "/v1/ping", "/v1/post"} {
		if s := stagesOf(r, path); len(s) > 0 {
			v.Stages = append(v.Stages, viewOf(r, path, s))
		}
	}
	for _, end := range endOrder {
		if n := r.Ends[end]; n > 0 {
			v.Ended = append(v.Ended, tile{Name: end, Value: fmt.Sprint(n)})
		}
	}
	missed := 0
	for _, l := range r.Limits {
		if !l.Held {
			missed++
		}
	}
	v.Short = fmt.Sprintf("all %d limits held", len(r.Limits))
	if missed > 0 {
		v.Short = fmt.Sprintf("%d of %d limits not held", missed, len(r.Limits))
	}
	if r.Interrupted {
		v.Short += ", interrupted"
	}
	var out bytes.Buffer
	err := pageTemplate.Execute(&out, &v)
	return out.Bytes(), err
}

func viewOf(r *trial.Result, path string, stages []trial.Stage) stagesView {
	v := stagesView{Path: path}
	var sum time.Duration
	for _, s := range stages {
		sum += s.Mean
	}
	for i, s := range stages {
		v.Stages = append(v.Stages, stageView{s, colors[i%len(colors)], float64(s.Mean) / float64(max(1, sum))})
	}
	if over, shown := stagesOver(r, path); shown {
		v.Over = &over
	}
	return v
}

// tiles returns the main figures.
func tiles(r *trial.Result) (all []tile) {
	measured := 0
	for _, n := range r.Ends {
		measured += n
	}
	var lasted time.Duration
	for _, p := range r.Phases {
		lasted += p.To - p.From
	}
	all = append(all, tile{Name: "arrivals a second", Value: fmt.Sprintf("%.4g", float64(measured)/max(lasted.Seconds(), 1e-9))})
	if n := len(r.Latencies); n > 0 {
		whole := r.Latencies[n-1] // the sale, if measured
		for _, x := range []struct {
			name string
			took time.Duration
		}{{"p50", whole.P50}, {"p99", whole.P99}, {"max", whole.Max}} {
			all = append(all, tile{Name: x.name + " of " + whole.Of, Value: load.FormatDuration(x.took)})
		}
	}
	errors := r.Ends["failed"] + r.Ends["broken"]
	return append(all,
		tile{Name: "leads sold, warm-up included", Value: fmt.Sprint(r.Account.Sold)},
		tile{Name: "errors", Value: fmt.Sprint(errors), Bad: errors > 0},
		tile{Name: "mismatches", Value: fmt.Sprint(len(r.Account.Mismatches)), Bad: len(r.Account.Mismatches) > 0})
}
