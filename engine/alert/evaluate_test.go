package alert

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pingpost/engine/event"
)

const second = int64(time.Second)

// simulation evaluates rules in virtual time, and applies the changes to a table.
type simulation struct {
	table     Table
	evaluator Evaluator
	settings  *Settings
	now       int64
	log       []string
}

func (s *simulation) evaluate(samples ...Sample) {
	s.evaluateWith(func(*Rule) ([]Sample, bool) { return samples, true })
}

func (s *simulation) evaluateWith(measure Measure) {
	for _, change := range s.evaluator.Evaluate(s.settings, s.table.FiringAlerts(), measure, s.now) {
		s.table.ApplyChange(change)
		s.log = append(s.log, strings.TrimSpace(fmt.Sprintf("%ds %s %s %s", s.now/second, change.Subject, change.Transition, strings.Join(change.Channels, ","))))
	}
	s.now += 15 * second
}

func settingsWith(rule Rule) *Settings {
	rule.ID = "r"
	return &Settings{Rules: []Rule{rule}, Channels: []Channel{{ID: "mail"}, {ID: "chat"}, {ID: "off", Off: true}}}
}

// values returns samples of one buyer with these values, one for each evaluation.
func values(percents ...int) (all []Sample) {
	for _, p := range percents {
		all = append(all, Sample{Subject: "acme", Value: Quantity(p) * One})
	}
	return all
}

// An alert that fires shows since when its value is good. The delay begins again after a bad value.
func TestCurrentValueHasTimeSinceGood(t *testing.T) {
	rule := Rule{Kind: CapUsed, Threshold: 80 * One, ResolveThreshold: 70 * One, ResolveFor: 60}
	s := simulation{settings: settingsWith(rule)}
	var got []int64
	evaluate := func(percent int) {
		s.evaluate(values(percent)...)
		got = append(got, s.evaluator.Values()[Key{"r", "acme"}].GoodSince/second)
	}
	s.now = 15 * second
	for _, percent := range []int{60, 80, 60, 60, 75, 60} {
		evaluate(percent)
	}
	s.evaluateWith(func(*Rule) ([]Sample, bool) { return nil, false })
	got = append(got, s.evaluator.Values()[Key{"r", "acme"}].GoodSince/second)
	for range 4 {
		evaluate(60)
	}
	if want := []int64{0, 0, 45, 45, 0, 90, 90, 90, 90, 90, 0}; !slices.Equal(got, want) {
		t.Errorf("good since %v, want %v: %v", got, want, s.log)
	}
}

// A rule on caps of 80 %, which resolves below 70 %. An evaluation takes place every 15 seconds.
func TestAlertFiresAndResolves(t *testing.T) {
	above := Rule{Kind: CapUsed, Threshold: 80 * One, ResolveThreshold: 70 * One}
	below := Rule{Kind: AcceptRate, Threshold: 20 * One, ResolveThreshold: 30 * One}
	with := func(rule Rule, firesAfter, resolvesAfter int64, channels ...string) Rule {
		rule.For, rule.ResolveFor, rule.Channels = firesAfter, resolvesAfter, channels
		return rule
	}
	quiet, unknown := Sample{Subject: "acme", Quiet: true}, Sample{Subject: "acme", Unknown: true}
	for name, test := range map[string]struct {
		rule    Rule
		samples []Sample
		want    string
	}{
		"at the threshold":                     {with(above, 0, 0), values(79, 80), "15s acme fired mail,chat"},
		"below the threshold of a low value":   {with(below, 0, 0), values(20, 19), "15s acme fired mail,chat"},
		"to one channel":                       {with(above, 0, 0, "chat"), values(80), "0s acme fired chat"},
		"to a channel that is off":             {with(above, 0, 0, "off"), values(80), "0s acme fired"},
		"after a time":                         {with(above, 30, 0), values(80, 80, 80), "30s acme fired mail,chat"},
		"a short peak":                         {with(above, 30, 0), values(80, 90, 10, 80, 90), ""},
		"resolved":                             {with(above, 0, 0), values(80, 69), "0s acme fired mail,chat; 15s acme resolved mail,chat"},
		"between the thresholds":               {with(above, 0, 0), values(80, 75, 79, 70, 69), "0s acme fired mail,chat; 60s acme resolved mail,chat"},
		"resolved after a time":                {with(above, 0, 30), values(80, 60, 60, 60), "0s acme fired mail,chat; 45s acme resolved mail,chat"},
		"good for too short":                   {with(above, 0, 30), values(80, 60, 75, 60, 60), "0s acme fired mail,chat"},
		"no flapping around the threshold":     {with(above, 0, 0), values(80, 79, 80, 79, 80, 79), "0s acme fired mail,chat"},
		"resolved low value":                   {with(below, 0, 0), values(10, 25, 30), "0s acme fired mail,chat; 30s acme resolved mail,chat"},
		"too few requests do not fire":         {with(below, 0, 0), []Sample{quiet, quiet}, ""},
		"too few requests resolve":             {with(below, 0, 15), append(values(10), quiet, quiet), "0s acme fired mail,chat; 30s acme resolved mail,chat"},
		"an unknown value keeps the alert":     {with(below, 0, 0), append(values(10), unknown, unknown), "0s acme fired mail,chat"},
		"an unknown value does not end a wait": {with(below, 30, 0), append(append(values(10), unknown), values(10)...), "30s acme fired mail,chat"},
	} {
		t.Run(name, func(t *testing.T) {
			s := simulation{settings: settingsWith(test.rule)}
			for _, sample := range test.samples {
				s.evaluate(sample)
			}
			if got := strings.Join(s.log, "; "); got != test.want {
				t.Errorf("%s\nwant %s", got, test.want)
			}
		})
	}
}

func TestAlertEndsWithItsSubjectOrRule(t *testing.T) {
	rule := Rule{Kind: CapUsed, Threshold: 80 * One, ResolveThreshold: 80 * One}
	for name, end := range map[string]func(*simulation){
		"the subject is removed":   func(s *simulation) { s.evaluate() },
		"the rule is turned off":   func(s *simulation) { s.settings.Rules[0].Off = true; s.evaluate(values(90)...) },
		"the rule watches another": func(s *simulation) { s.settings.Rules[0].Subject = "other"; s.evaluate(values(90)...) },
		"the rule is removed":      func(s *simulation) { s.settings.Rules = nil; s.evaluate(values(90)...) },
		"the threshold is increased": func(s *simulation) {
			s.settings = settingsWith(Rule{Kind: CapUsed, Threshold: 95 * One, ResolveThreshold: 95 * One})
			s.evaluate(values(90)...)
		},
	} {
		s := simulation{settings: settingsWith(rule)}
		s.evaluate(values(90)...)
		if end(&s); s.table.FiringCount() != 0 || len(s.log) != 2 || !strings.Contains(s.log[1], "resolved") {
			t.Errorf("%s: %q", name, s.log)
		}
	}
}

// A source that cannot answer changes no alert and no time.
func TestUnavailableSourceKeepsAlerts(t *testing.T) {
	s := simulation{settings: settingsWith(Rule{Kind: BuyerDaysLeft, Threshold: 2 * One, ResolveThreshold: 3 * One, For: 30, ResolveFor: 30})}
	unavailable := func(*Rule) ([]Sample, bool) { return nil, false }
	s.evaluate(values(1)...)
	s.evaluateWith(unavailable)
	s.evaluate(values(1)...)
	s.evaluateWith(unavailable)
	s.evaluate(values(5)...)
	s.evaluateWith(unavailable)
	s.evaluate(values(5)...)
	if got := strings.Join(s.log, "; "); got != "30s acme fired mail,chat; 90s acme resolved mail,chat" {
		t.Error(got)
	}
}

func TestSilence(t *testing.T) {
	rule := Rule{Kind: CapUsed, Threshold: 80 * One, ResolveThreshold: 80 * One}
	for name, test := range map[string]struct {
		silence Silence
		samples []Sample
		want    string
	}{
		"it fires without a notification":   {Silence{Rule: "r", Until: 60 * second}, values(90, 90), "0s acme fired"},
		"it is announced at the end":        {Silence{Rule: "r", Until: 30 * second}, values(90, 90, 90, 90), "0s acme fired; 30s acme announced mail,chat"},
		"it ends in silence":                {Silence{Rule: "r", Until: 60 * second}, values(90, 10), "0s acme fired; 15s acme resolved"},
		"it ends unannounced":               {Silence{Rule: "r", Until: 10 * second}, values(90, 10), "0s acme fired; 15s acme resolved"},
		"of this subject":                   {Silence{Rule: "r", Subject: "acme", Until: 60 * second}, values(90), "0s acme fired"},
		"of another subject":                {Silence{Rule: "r", Subject: "other", Until: 60 * second}, values(90), "0s acme fired mail,chat"},
		"of another rule":                   {Silence{Rule: "other", Until: 60 * second}, values(90), "0s acme fired mail,chat"},
		"announced once, then resolved":     {Silence{Rule: "r", Until: 15 * second}, values(90, 90, 90, 10), "0s acme fired; 15s acme announced mail,chat; 45s acme resolved mail,chat"},
		"the end is no reason to fire late": {Silence{Rule: "r", Until: 15 * second}, values(10, 10, 10), ""},
	} {
		s := simulation{settings: settingsWith(rule)}
		s.settings.Silences = []Silence{test.silence}
		for _, sample := range test.samples {
			s.evaluate(sample)
		}
		if got := strings.Join(s.log, "; "); got != test.want {
			t.Errorf("%s: %s\nwant %s", name, got, test.want)
		}
	}
}

// A channel that is added while an alert fires gets one notification of it.
func TestNewChannelIsTold(t *testing.T) {
	s := simulation{settings: settingsWith(Rule{Kind: CapUsed, Threshold: 80 * One, ResolveThreshold: 80 * One})}
	channels := s.settings.Channels
	s.settings.Channels = nil
	s.evaluate(values(90)...)
	s.settings.Channels = channels
	s.evaluate(values(90)...)
	s.evaluate(values(90)...)
	if got := strings.Join(s.log, "; "); got != "0s acme fired; 15s acme announced mail,chat" {
		t.Error(got)
	}
}

// After a restart the table is loaded and the evaluator is new. An alert does not fire again.
func TestRestartKeepsFiringAlerts(t *testing.T) {
	s := simulation{settings: settingsWith(Rule{Kind: CapUsed, Threshold: 80 * One, ResolveThreshold: 80 * One, For: 15, ResolveFor: 15})}
	s.evaluate(values(90)...)
	s.evaluate(values(90)...)
	restarted := simulation{settings: s.settings, now: s.now}
	if err := restarted.table.DecodeSnapshot(s.table.EncodeSnapshot()); err != nil {
		t.Fatal(err)
	}
	for _, sample := range values(90, 90, 90, 10, 10) {
		restarted.evaluate(sample)
	}
	if got := strings.Join(restarted.log, "; "); got != "90s acme resolved mail,chat" {
		t.Error(got)
	}
}

// naiveModel is a rule's alert of one subject by definition: it looks back over all values.
func naiveModel(rule *Rule, history []Quantity) (firing bool) {
	steps := func(seconds int64) int { return int((seconds + 14) / 15) }
	for i := range history {
		all := func(n int, holds func(Quantity) bool) bool {
			return i >= n && !slices.ContainsFunc(history[i-n:i+1], func(q Quantity) bool { return !holds(q) })
		}
		switch {
		case !firing && all(steps(rule.For), func(q Quantity) bool { return q >= rule.Threshold }):
			firing = true
		case firing && all(steps(rule.ResolveFor), func(q Quantity) bool { return q < rule.ResolveThreshold }):
			firing = false
		}
	}
	return firing
}

// Random values give the same alerts as the naive model, also with restarts in between.
func TestEvaluatorMatchesNaiveModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rule := Rule{
			Kind: CapUsed, Threshold: 80 * One, ResolveThreshold: Quantity(rapid.IntRange(60, 80).Draw(t, "resolve")) * One,
			For: int64(rapid.IntRange(0, 60).Draw(t, "for")), ResolveFor: int64(rapid.IntRange(0, 60).Draw(t, "resolve for")),
		}
		s := simulation{settings: settingsWith(rule)}
		history := map[string][]Quantity{}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			var samples []Sample
			for _, subject := range []string{"a", "b"} {
				value := Quantity(rapid.SampledFrom([]int{50, 65, 75, 79, 80, 81, 95}).Draw(t, "value")) * One
				history[subject] = append(history[subject], value)
				samples = append(samples, Sample{Subject: subject, Value: value})
			}
			s.evaluate(samples...)
			for subject, seen := range history {
				_, got := s.table.firing[Key{"r", subject}]
				if want := naiveModel(&rule, seen); got != want {
					t.Fatalf("%s after %v: firing %t, want %t", subject, seen, got, want)
				}
			}
		}
		for i := 1; i < len(s.table.history); i++ { // fired and resolved alternate for each subject
			for k := i - 1; k >= 0; k-- {
				if a, b := s.table.history[k], s.table.history[i]; a.Subject == b.Subject {
					if a.Transition == b.Transition {
						t.Fatalf("%s %s twice", b.Subject, b.Transition)
					}
					break
				}
			}
		}
	})
}

func TestFiringAlertsAreLimited(t *testing.T) {
	s := simulation{settings: settingsWith(Rule{Kind: CapUsed, Threshold: One, ResolveThreshold: One})}
	samples := make([]Sample, maxFiring+50)
	for i := range samples {
		samples[i] = Sample{Subject: fmt.Sprint(i), Value: 5 * One}
	}
	s.evaluate(samples...)
	s.evaluate(samples...)
	if n := s.table.FiringCount(); n != maxFiring {
		t.Errorf("%d alerts fire, want %d", n, maxFiring)
	}
}

// A change that was not recorded is returned again.
func TestUnrecordedChangeIsRepeated(t *testing.T) {
	var v Evaluator
	settings := settingsWith(Rule{Kind: CapUsed, Threshold: One, ResolveThreshold: One, For: 15})
	measure := func(*Rule) ([]Sample, bool) { return values(90), true }
	v.Evaluate(settings, nil, measure, 0)
	for _, now := range []int64{15, 30} {
		if changes := v.Evaluate(settings, nil, measure, now*second); len(changes) != 1 || changes[0].Transition != event.AlertFired {
			t.Errorf("at %d s: %v", now, changes)
		}
	}
}
