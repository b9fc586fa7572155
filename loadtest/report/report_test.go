package report

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"pingpost/internal/must"
	"pingpost/loadtest/trial"
)

const ms = time.Millisecond

// found returns a result in which every part has data.
func found() *trial.Result {
	curve := []trial.Point{{Percentile: 0, Took: 9 * ms}, {Percentile: 50, Took: 12 * ms}, {Percentile: 99, Took: 31 * ms}, {Percentile: 100, Took: 480 * ms}}
	sale := trial.Latency{Of: "sale", Count: 1000, Mean: 13 * ms, P50: 12 * ms, P90: 20 * ms, P99: 31 * ms, P999: 400 * ms, Max: 480 * ms, Curve: curve}
	r := &trial.Result{
		Scenario: "burst", About: "ten times the <rate> for a second", Seed: 7, Began: time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC), Lasted: 4 * time.Second,
		Offered: 1100, Sent: 1090, Ends: map[string]int{"sold": 980, "refused": 20},
		Reasons:   []trial.Reason{{Request: "ping", End: "refused", Word: "rate_limited", Count: 20}},
		Latencies: []trial.Latency{{Of: "ping"}, sale},
		Phases: []trial.Phase{
			{Name: "before", From: time.Second, To: 3 * time.Second, Rate: 100, Latencies: []trial.Latency{sale}},
			{Name: "burst & more", From: 3 * time.Second, To: 4 * time.Second, Rate: 1000, Apart: true, Latencies: []trial.Latency{sale}},
		},
		Seconds: []trial.Second{
			{Sold: 50, P50: 10 * ms, P99: 12 * ms, Max: 14 * ms}, {}, {Sold: 100, Refused: 20, P50: 12 * ms, P99: 31 * ms, Max: 480 * ms},
		},
		Syncs:     &trial.Syncs{Count: 1200, Mean: 800 * time.Microsecond, Each: 1.5},
		Generator: trial.Generator{P50: 50 * time.Microsecond, P99: ms, Max: 3 * ms, InFlight: 2000},
		Account: &trial.Account{
			Sold: 1000, NotAsked: 3, Mismatches: []string{"buy_1 does not have 1 leads"}, Unchecked: []string{"the weather"},
			Buyers:   []trial.BuyerAccount{{ID: "buy_1", Sold: 997, Taken: 996, Missing: 1, Money: 7_500_000, Owes: 7_000_000}},
			Webhooks: &trial.WebhookAccount{Expected: 1000, Received: 1000, Within: 300 * ms},
		},
		Limits: []trial.Limit{{What: "p99 of sale", Got: "31ms", Most: "60ms", Held: true}, {What: "mismatches", Got: "1", Most: "0"}},
	}
	for _, name := range []string{"decode", "decide", "commit", "buyer", "answer"} {
		r.Stages = append(r.Stages, trial.Stage{Path: "/v1/ping", Name: name, Count: 5, Mean: 2 * ms, P50: ms, P99: 5 * ms, Means: []time.Duration{ms, -1, 3 * ms}})
	}
	return r
}

var spaces = regexp.MustCompile(` +`)

func TestTableContent(t *testing.T) {
	text := spaces.ReplaceAllString(Table(found()), " ")
	for _, want := range []string{
		"burst: ten times the <rate> for a second\n1090 of 1100 arrivals in 4s, seed 7\n",
		" sale 1000 13ms 12ms 20ms 31ms 400ms 480ms\n", "before sale", "980 sold, 20 refused of the measured arrivals\n",
		" 20 times: ping refused: rate_limited\n", "p50 50µs, p99 1ms, at most 3ms; 0 arrivals found all 2000 connections busy",
		"/v1/ping 2ms (5ms) 2ms (5ms)", "1200 fsyncs of 800µs on average, 1.5 entries each",
		"1000 leads sold, 3 of them to buyers without an account to check", "997 996 1 7.5 7\n",
		"1000 of 1000 expected webhooks received, the last 300ms after", "not checked: the weather\n", "mismatch: buy_1 does not have 1 leads\n",
		"held p99 of sale: 31ms, at most 60ms\n", "NOT HELD mismatches: 1, at most 0\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
	many := found()
	for range 30 {
		many.Account.Buyers = append(many.Account.Buyers, trial.BuyerAccount{ID: "another"})
	}
	many.Interrupted = true
	if text := Table(many); !strings.Contains(text, "and 11 more buyers\n") || !strings.Contains(text, "seed 7, interrupted\n") {
		t.Error(text)
	}
}

func TestMissed(t *testing.T) {
	r := found()
	if got := Missed(r); got != "not held: mismatches: 1, at most 0\nmismatch: buy_1 does not have 1 leads\n" {
		t.Errorf("%q", got)
	}
	r.Interrupted, r.Account.Mismatches, r.Limits = true, nil, nil
	if got := Missed(r); got != "not held: the test was interrupted\n" {
		t.Errorf("%q", got)
	}
}

// Refusals explains the answers 503 unavailable, and no other ones.
func TestRefusals(t *testing.T) {
	r := found()
	if text := Refusals(r); text != "" || strings.Contains(Table(r), "too busy") {
		t.Errorf("an explanation without such refusals: %q", text)
	}
	r.Reasons = append(r.Reasons,
		trial.Reason{Request: "ingest", End: "refused", Word: "unavailable", Count: 20},
		trial.Reason{Request: "ping", End: "refused", Word: "unavailable", Count: 1},
		trial.Reason{Request: "post", End: "failed", Word: "unavailable", Count: 5})
	for _, text := range []string{Refusals(r), Table(r)} {
		if !strings.Contains(text, "21 requests were refused (503 unavailable)") || !strings.Contains(text, "sends them again. This breaks no promise") {
			t.Error(text)
		}
	}
	r.Reasons = []trial.Reason{{Request: "ping", End: "refused", Word: "unavailable", Count: 1}}
	if text := Refusals(r); !strings.Contains(text, "1 request was refused") || !strings.Contains(text, "did not accept it,") {
		t.Error(text)
	}
}

func TestJSONIsTheResult(t *testing.T) {
	r := found()
	text := must.Value(JSON(r))(t)
	var back trial.Result
	if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(&back, r) {
		t.Errorf("%v: %+v", err, back)
	}
}

var (
	external = regexp.MustCompile(`(?i)(src|href|url\(|@import|<script|<link|<iframe|https?:)`)
	drawn    = regexp.MustCompile(`(?s)<svg.*?</svg>`)
)

// TestThePageIsSelfContained: the page loads no resources, and foreign text is escaped.
func TestThePageIsSelfContained(t *testing.T) {
	r := found()
	r.Ends["broken"] = 2
	text := must.Value(HTML(r))(t)
	page := string(text)
	if found := external.FindString(page); found != "" {
		t.Errorf("the page has %q", found)
	}
	for _, want := range []string{
		"ten times the &lt;rate&gt; for a second", "2 March 2026, 12:00 UTC", "1 of 2 limits not held", "buy_1 does not have 1 leads",
		`<td class="held">held</td>`, `<td class="missed">not held</td>`, "burst &amp; more, 1000 a second", "Latency over time", "Percentiles", "Rate over time",
		"/v1/ping", "rate_limited", `style="width:20.00%" title="commit 2ms"`,
		// 1002 arrivals in three measured seconds; errors and mismatches are marked.
		`<div class="tile"><b>334</b><span>arrivals a second`, `<div class="tile"><b>12ms</b><span>p50 of sale`, `<b>31ms</b><span>p99 of sale`,
		`<b>480ms</b><span>max of sale`, `<b>1000</b><span>leads sold`, `<div class="tile bad"><b>2</b><span>errors`, `<div class="tile bad"><b>1</b><span>mismatches`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q", want)
		}
	}
	if strings.Contains(page, "ZgotmplZ") || strings.Contains(page, "NaN") || strings.Contains(page, "Inf ") {
		t.Error("a value that is none")
	}
	if n := len(drawn.FindAllString(page, -1)); n != 4 {
		t.Errorf("%d drawings", n)
	}
	for _, svg := range drawn.FindAllString(page, -1) {
		wellFormed(t, svg)
	}
	held := found()
	held.Limits = held.Limits[:1]
	if text, err := HTML(held); err != nil || !strings.Contains(string(text), "all 1 limits held") {
		t.Errorf("%v", err)
	}
}

func wellFormed(t *testing.T, svg string) {
	t.Helper()
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Errorf("%v in %s", err, svg)
			return
		}
	}
}

// TestAnEmptyPage: an interrupted test with little data has a valid page.
func TestAnEmptyPage(t *testing.T) {
	r := &trial.Result{Scenario: "none", Account: &trial.Account{}, Interrupted: true, Latencies: []trial.Latency{{Of: "ping"}}}
	text, err := HTML(r)
	if err != nil || strings.Contains(string(text), "NaN") || !strings.Contains(string(text), "interrupted") {
		t.Errorf("%v", err)
	}
	for _, svg := range drawn.FindAllString(string(text), -1) {
		wellFormed(t, svg)
	}
}

// TestScales: ticks are round numbers, few enough to read, and cover all values.
func TestScales(t *testing.T) {
	name := tickTime
	for _, test := range []struct{ least, most, from, to float64 }{
		{12, 31, 10, 50}, {0.4, 480, 0.2, 500}, {10, 10, 10, 50}, {0.003, 9000, 0.002, 10000}, {1, 1000, 1, 1000},
	} {
		s := logScale(test.least, test.most, name)
		if math.Abs(s.least/test.from-1) > 1e-9 || math.Abs(s.most/test.to-1) > 1e-9 || len(s.ticks) < 3 || len(s.ticks) > 9 {
			t.Errorf("%v to %v: from %v to %v, %v", test.least, test.most, s.least, s.most, s.ticks)
		}
		if p := s.part(test.most); p < 0 || p > 1 || s.part(test.least) < 0 {
			t.Errorf("%v lies at %v", test.most, p)
		}
	}
	for _, most := range []float64{0, 1, 7, 99, 100, 101, 1234, 0.03} {
		s := linearScale(most, name)
		if s.most < most || most > 0 && s.most > 1.5*most+1e-9 && most > 1 || len(s.ticks) > 11 || len(s.ticks) < 2 {
			t.Errorf("%v: up to %v, %d ticks", most, s.most, len(s.ticks))
		}
	}
	if s := logScale(math.Inf(1), 0, name); !(s.most > s.least) {
		t.Errorf("of nothing: %+v", s)
	}
}
