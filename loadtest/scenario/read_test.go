package scenario

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pingpost/internal/must"
)

// small is a valid scenario; the tests change it.
const small = `name: small
about: little
kinds: {pingpost: 3, ingest: 1}
phases:
  - {name: warm, for: 1s, rate: 5, warmup: true}
  - name: steady
    for: 10s
    rate: 20
    arrival: fixed
  - {name: after, for: 5s, rate: 20}
campaigns:
  - {method: ping_post}
  - {method: waterfall, count: 2}
buyers:
  - {count: 2, bid: "12.50", latency: "normal:10ms,2ms"}
  - recorded: true
limits:
  latency:
    sale: {p99: 50ms}
  recovery: {latency: sale, after: steady, like: steady, within: 2s}
  ratios:
    - {latency: ping, phase: after, to: steady, most: 1.5}
`

func TestWhatIsLeftOut(t *testing.T) {
	s := must.Value(Parse("small.yaml", []byte(small)))(t)
	if s.InFlight != 2000 || s.Supplier != (Supplier{1_000_000, 1_000_000}) || s.Limits.Late != 20*time.Millisecond {
		t.Errorf("%+v", s)
	}
	if p := s.Phases; p[0].Arrival != Poisson || p[1].Arrival != Fixed || p[1].For != 10*time.Second || p[2].Rate != 20 {
		t.Errorf("%+v", p)
	}
	if b := s.Buyers; b[0].Count != 2 || b[1].Count != 1 || b[1].Bid != "10" || b[0].PingRate != 1_000_000 {
		t.Errorf("%+v", b)
	}
	if s.Campaigns[0].Count != 1 || s.Limits.Recovery.Times != 1.5 || s.Limits.Ratios[0].At != 99 || s.Webhooks != nil {
		t.Errorf("%+v %+v", s.Campaigns, s.Limits)
	}
}

func TestMistakesAreToldWithTheirLine(t *testing.T) {
	for _, test := range []struct{ old, new, says string }{
		{"about: little", "abuot: little", "small.yaml:2: unknown field \"abuot\""},
		{"rate: 20\n", "rate: fast\n", "small.yaml:8: "},
		{"for: 10s", "for: 10", "small.yaml:7: "},
		{"for: 10s", "for: 0s", "small.yaml:7: for 0s"},
		{"rate: 20\n", "rate: -1\n", "small.yaml:8: rate -1"},
		{"arrival: fixed", "arrival: sometimes", `small.yaml:9: arrival "sometimes"`},
		{"name: steady", "name: warm", "small.yaml:6: phases: give each phase a unique name"},
		{"pingpost: 3, ingest: 1", "pongpost: 3", `small.yaml:3: kinds: unknown kind "pongpost"`},
		{"pingpost: 3, ingest: 1", "ingest: 0", "small.yaml:3: kinds: give at least one kind"},
		{"method: ping_post", "method: weighted", "small.yaml:12: campaigns: pings need"},
		{"method: waterfall", "method: luck", `small.yaml:13: method "luck"`},
		{"count: 2}", "count: -2}", "small.yaml:13: count -2"},
		{`bid: "12.50"`, `bid: 8-20`, "small.yaml:15: bid 8-20: with a campaign of method waterfall"},
		{`bid: "12.50"`, `bid: much`, "small.yaml:15: bid"},
		{"normal:10ms,2ms", "gamma:2", `small.yaml:15: latency "gamma:2"`},
		{"recorded: true", "recorded: true\n    no_bid: 2", "small.yaml:17: no_bid 2: give a share"},
		{"- {count: 2, bid: \"12.50\", latency: \"normal:10ms,2ms\"}", "- {recorded: true}", "small.yaml:15: buyers: a campaign of method ping_post needs"},
		{"recorded: true", "ping_rate: -1", "small.yaml:16: ping_rate -1"},
		{"sale: {p99: 50ms}", "sail: {p99: 50ms}", `small.yaml:19: unknown latency "sail"`},
		{"sale: {p99: 50ms}", "sale: {p99: -50ms}", "small.yaml:19: latency of sale"},
		{"sale: {p99: 50ms}", "sale: {p98: 50ms}", `small.yaml:19: unknown field "p98"`},
		{"after: steady", "after: never", `small.yaml:20: there is no measured phase "never"`},
		{"after: steady", "after: after", "small.yaml:20: after after: another phase must follow"},
		{"within: 2s", "within: 0s", "small.yaml:20: recovery"},
		{"to: steady", "to: warm", `small.yaml:22: there is no measured phase "warm"`},
		{"most: 1.5", "most: 0", "small.yaml:22: ratios"},
		{"limits:\n", "in_flight: -4\nlimits:\n", "small.yaml:17: in_flight -4"},
		{"limits:\n", "limits:\n  errors: 3\n", "small.yaml:18: errors 3"},
		{"limits:\n", "webhooks: {in_flight: 65}\nlimits:\n", "small.yaml:17: in_flight 65"},
		{"limits:\n", "supplier: {ping_rate: -5}\nlimits:\n", "small.yaml:17: supplier"},
		{"name: small\n", "name: my small\n", "small.yaml:1: name"},
		{"about: little", "about: [", "small.yaml:"},
	} {
		text := strings.Replace(small, test.old, test.new, 1)
		if text == small {
			t.Fatalf("%q is not in the document", test.old)
		}
		_, err := Parse("small.yaml", []byte(text))
		if err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: want %s, got %v", test.new, test.says, err)
		}
	}
}

func TestEveryMistakeAtOnce(t *testing.T) {
	text := strings.NewReplacer("for: 10s", "for: -1s", "method: waterfall", "method: luck", "most: 1.5", "most: -1").Replace(small)
	_, err := Parse("small.yaml", []byte(text))
	if err == nil || strings.Count(err.Error(), "\n") != 2 {
		t.Errorf("%v", err)
	}
}

func TestWhatIsNoScenario(t *testing.T) {
	for _, text := range []string{"", "- a\n- b\n", "{", "name: x\n\tkinds: 3", strings.Repeat("#", maxDocument+1)} {
		if _, err := Parse("x.yaml", []byte(text)); err == nil {
			t.Errorf("%.20q was read", text)
		}
	}
}

func TestBuiltIns(t *testing.T) {
	names := Names()
	if got := strings.Join(names, " "); got != "burst catalog-large ingest ping pingpost slow-buyer soak webhook-storm" {
		t.Errorf("built in are %s", got)
	}
	for _, name := range names {
		s, err := Load(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if s.Name != name || s.About == "" {
			t.Errorf("%s calls itself %q, %q", name, s.Name, s.About)
		}
		text, _ := Text(name)
		if !strings.HasPrefix(text, "# ") {
			t.Errorf("%s does not say what it is for", name)
		}
	}
}

func TestLoadFromAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mine.yaml")
	must.Succeed(t, os.WriteFile(path, []byte(small), 0o600))
	if s, err := Load(path); err != nil || s.Name != "small" {
		t.Errorf("%v %v", s, err)
	}
	if _, err := Load("nothing-of-this-name"); err == nil || !strings.Contains(err.Error(), "pingpost, slow-buyer") {
		t.Errorf("%v", err)
	}
	if _, ok := Text("../scenario/ingest"); ok {
		t.Error("a path is a built-in scenario")
	}
}
