package report

import (
	"encoding/xml"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// shape is an element of a drawing.
type shape struct {
	name  string
	attrs map[string]string
	text  string
}

// shapes parses a drawing.
func shapes(t *testing.T, svg string) (all []shape) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := d.Token()
		if err != nil {
			return all
		}
		switch token := token.(type) {
		case xml.StartElement:
			s := shape{name: token.Name.Local, attrs: map[string]string{}}
			for _, a := range token.Attr {
				s.attrs[a.Name.Local] = a.Value
			}
			all = append(all, s)
		case xml.CharData:
			if len(all) > 0 {
				all[len(all)-1].text += string(token)
			}
		}
	}
}

func of(all []shape, class string) (some []shape) {
	for _, s := range all {
		if slices.Contains(strings.Fields(s.attrs["class"]), class) {
			some = append(some, s)
		}
	}
	return some
}

// places returns the points of a path.
func places(t *testing.T, path string) (points [][2]float64) {
	t.Helper()
	for _, step := range strings.FieldsFunc(path, func(c rune) bool { return c == 'M' || c == 'L' || c == 'Z' }) {
		x, y, _ := strings.Cut(step, " ")
		px, err := strconv.ParseFloat(x, 64)
		py, wrong := strconv.ParseFloat(y, 64)
		if err != nil || wrong != nil {
			t.Fatalf("%q is no point", step)
		}
		points = append(points, [2]float64{px, py})
	}
	return points
}

func plain(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// TestCurvePoints: the first value is on the left, the highest on top, and a missing value
// leaves a gap.
func TestCurvePoints(t *testing.T) {
	c := &chart{
		label: "a & b", x: scale{most: 4}, y: linearScale(100, plain),
		series: []series{{"p50", "c1", [][2]float64{{0, 0}, {1, 100}, {2, math.NaN()}, {3, 50}, {4, 50}}}},
	}
	drawn := shapes(t, string(c.draw()))
	if drawn[0].attrs["aria-label"] != "a & b" {
		t.Errorf("it is said to show %q", drawn[0].attrs["aria-label"])
	}
	path := of(drawn, "curve")[0].attrs["d"]
	if strings.Count(path, "M") != 2 {
		t.Errorf("a value is missing, and there is no gap: %s", path)
	}
	points := places(t, path)
	middle := (top + high - at) / 2
	want := [][2]float64{
		{left, high - at}, {left + (wide-left-right)/4, top}, {left + (wide-left-right)*3/4, middle}, {wide - right, middle},
	}
	for i := range want {
		if math.Abs(points[i][0]-want[i][0]) > 0.1 || math.Abs(points[i][1]-want[i][1]) > 0.1 {
			t.Errorf("point %d is at %v, want %v", i, points[i], want[i])
		}
	}
	var labels []string
	for _, s := range of(drawn, "tick") {
		labels = append(labels, s.text)
	}
	if got := strings.Join(labels, " "); got != "0 20 40 60 80 100" {
		t.Errorf("the axis has %s", got)
	}
}

// TestLayersAreStacked: each layer has the area of its values, and the sum is on top.
func TestLayersAreStacked(t *testing.T) {
	c := &chart{
		x: scale{most: 2}, y: linearScale(10, plain), layered: true,
		series: []series{
			{"sold", "good", [][2]float64{{0, 4}, {1, 6}, {2, math.NaN()}}},
			{"refused", "c3", [][2]float64{{0, 1}, {1, 4}, {2, 2}}},
		},
	}
	layers := of(shapes(t, string(c.draw())), "layer")
	if len(layers) != 2 {
		t.Fatalf("%d layers", len(layers))
	}
	heights := func(s shape) (list []float64) {
		for _, p := range places(t, s.attrs["d"]) {
			list = append(list, math.Round((high-at-p[1])/(high-top-at)*c.y.most*10)/10)
		}
		return list
	}
	// The path runs along the top from the left and back along the bottom.
	if got := heights(layers[0]); !slices.Equal(got, []float64{4, 6, 0, 0, 0, 0}) {
		t.Errorf("the lower is %v", got)
	}
	if got := heights(layers[1]); !slices.Equal(got, []float64{5, 10, 2, 0, 6, 4}) {
		t.Errorf("the upper is %v", got)
	}
}

// TestPhasesAreMarked: each phase is at its place, with its name if it fits.
func TestPhasesAreMarked(t *testing.T) {
	d := overTime(found())
	drawn := shapes(t, string(d.SVG))
	bands := of(drawn, "band")
	if len(bands) != 3 || len(of(drawn, "quiet")) != 1 {
		t.Errorf("%d bands", len(bands))
	}
	var names []string
	for _, s := range of(drawn, "bandname") {
		names = append(names, s.text)
	}
	if got := strings.Join(names, "|"); !strings.HasPrefix(got, "warm-up|before|") {
		t.Errorf("they are called %s", got)
	}
	for name, fits := range map[string]bool{"before": true, "a phase with a very long name": false} {
		if got := nameIfFits(name, 100); (got == name) != fits {
			t.Errorf("%s in 100 is %q", name, got)
		}
	}
}

// TestRatesShowOnlyOutcomesThatOccurred: without refusals, the chart does not list them.
func TestRatesShowOnlyOutcomesThatOccurred(t *testing.T) {
	names := func(d drawing) (list []string) {
		for _, e := range d.Legend {
			list = append(list, e.Name)
		}
		return list
	}
	r := found()
	if got := names(rates(r)); !slices.Equal(got, []string{"sold", "refused, to come again"}) {
		t.Errorf("%v", got)
	}
	r.Seconds[1].Errors, r.Seconds[0].Unsold = 3, 1
	if got := names(rates(r)); !slices.Equal(got, []string{"sold", "without a buyer", "refused, to come again", "errors"}) {
		t.Errorf("%v", got)
	}
	if got := names(overTime(r)); !slices.Equal(got, []string{"max", "p99", "p50"}) {
		t.Errorf("%v", got)
	}
	if got := names(percentiles(r)); !slices.Equal(got, []string{"sale"}) { // no ping was sent
		t.Errorf("%v", got)
	}
}

// TestTheLastPercentileIsOnThePage: the maximum of a thousand values is drawn where one of
// two thousand would be, not at infinity.
func TestTheLastPercentileIsOnThePage(t *testing.T) {
	drawn := shapes(t, string(percentiles(found()).SVG))
	points := places(t, of(drawn, "curve")[0].attrs["d"])
	last := points[len(points)-1]
	if math.Abs(last[0]-(wide-right)) > 0.1 || last[1] < top-0.1 {
		t.Errorf("it lies at %v", last)
	}
	var labels []string
	for _, s := range of(drawn, "tick") {
		labels = append(labels, s.text)
	}
	all := strings.Join(labels, "|")
	if !strings.Contains(all, "0|90 %|99 %|99.9 %|50 %") || strings.Contains(all, "99.99 %") {
		t.Errorf("the axes have %s", all)
	}
}

// TestStagesOverTime: a path without requests, or with one second only, has no curve.
func TestStagesOverTime(t *testing.T) {
	r := found()
	d, shown := stagesOver(r, "/v1/ping")
	if !shown || len(d.Legend) != 5 || d.Title != "/v1/ping" {
		t.Errorf("%v %+v", shown, d.Legend)
	}
	if layers := of(shapes(t, string(d.SVG)), "layer"); len(layers) != 5 {
		t.Errorf("%d layers", len(layers))
	}
	if _, shown := stagesOver(r, "/v1/post"); shown {
		t.Error("phases of posts, and there were none")
	}
	for i := range r.Stages {
		r.Stages[i].Means = r.Stages[i].Means[:1]
	}
	if _, shown := stagesOver(r, "/v1/ping"); shown {
		t.Error("a curve of one second")
	}
}
