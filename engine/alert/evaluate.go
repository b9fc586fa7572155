package alert

import (
	"slices"
	"time"

	"pingpost/engine/event"
)

// Sample is the measured value of one subject of a rule.
type Sample struct {
	Subject string
	Value   Quantity
	Note    string // details for the operator
	// Quiet marks a subject with too few requests for a rate. It counts as good.
	Quiet bool
	// Unknown marks a value that cannot be measured yet, for example a rate just after a start. The
	// alert keeps its state.
	Unknown bool
}

// ValueAtLastEvaluation is a value at the last evaluation.
type ValueAtLastEvaluation struct {
	Sample
	// GoodSince is the time, in Unix nanoseconds, since which the value of an alert that fires is good.
	// Zero: it is not good, or no alert fires.
	GoodSince int64
}

// Measure returns the values of all subjects of a rule. ok is false if the source cannot answer
// now; the rule's alerts then keep their state.
type Measure func(rule *Rule) (samples []Sample, ok bool)

// PendingAlert is an alert whose value is bad, but not for long enough to fire.
type PendingAlert struct {
	Key
	Since  int64 // Unix nanoseconds
	Sample Sample
}

// maxFiring bounds the alerts that fire at once, and so the memory of the table.
const maxFiring = 2000

// Evaluator finds the alerts that fire or resolve. Its memory holds the times since which values
// are bad or good; it is lost at a restart, and the delays then begin again. The alerts that fire
// are in the Table instead, so they survive a restart. One goroutine calls it.
type Evaluator struct {
	badSince  map[Key]PendingAlert
	goodSince map[Key]int64
	values    map[Key]ValueAtLastEvaluation // at the last evaluation
}

// evaluation is the work of one call of Evaluate.
type evaluation struct {
	*Evaluator
	settings *Settings
	firing   map[Key]FiringAlert
	now      int64
	next     Evaluator // replaces the Evaluator, so that it forgets subjects that no longer exist
	changes  []*event.AlertOrNotificationChanged
}

// Evaluate measures all rules at nowUnixNanos and returns the changes to record, in the order of
// the rules. firing are the alerts that fire so far. A change that the caller cannot record is
// returned again by the next call.
func (v *Evaluator) Evaluate(settings *Settings, firing []FiringAlert, measure Measure, nowUnixNanos int64) []*event.AlertOrNotificationChanged {
	run := evaluation{Evaluator: v, settings: settings, firing: make(map[Key]FiringAlert, len(firing)), now: nowUnixNanos}
	run.next = Evaluator{make(map[Key]PendingAlert), make(map[Key]int64), make(map[Key]ValueAtLastEvaluation)}
	for _, f := range firing {
		run.firing[f.Key] = f
	}
	for i := range settings.Rules {
		if rule := &settings.Rules[i]; !rule.Off {
			run.evaluateRule(rule, measure)
		}
	}
	for _, f := range firing {
		rule := settings.FindRule(f.Rule)
		if rule == nil || rule.Off {
			run.resolve(f, rule, Sample{Value: f.Value, Note: noteRuleOff})
		}
	}
	*v = run.next
	return run.changes
}

func (e *evaluation) evaluateRule(rule *Rule, measure Measure) {
	kind := FindKind(rule.Kind)
	if kind == nil { // a newer program's kind
		return
	}
	samples, ok := measure(rule)
	if !ok {
		e.keepPreviousStateOfRule(rule.ID)
		return
	}
	seen := make(map[string]bool, len(samples))
	for _, sample := range samples {
		if rule.Subject != "" && rule.Subject != sample.Subject {
			continue
		}
		seen[sample.Subject] = true
		e.evaluateSample(rule, kind, sample)
	}
	for key, f := range e.firing {
		if key.Rule == rule.ID && !seen[key.Subject] {
			e.resolve(f, rule, Sample{Value: f.Value, Note: noteSubjectGone})
		}
	}
}

// keepPreviousStateOfRule copies the times and values of a rule, because its source cannot answer.
func (e *evaluation) keepPreviousStateOfRule(rule string) {
	for key, pending := range e.badSince {
		if key.Rule == rule {
			e.next.badSince[key] = pending
		}
	}
	for key, since := range e.goodSince {
		if key.Rule == rule {
			e.next.goodSince[key] = since
		}
	}
	for key, value := range e.values {
		if key.Rule == rule {
			e.next.values[key] = value
		}
	}
}

func (e *evaluation) evaluateSample(rule *Rule, kind *Kind, sample Sample) {
	key := Key{rule.ID, sample.Subject}
	firing, fires := e.firing[key]
	if sample.Unknown {
		if pending, ok := e.badSince[key]; ok {
			e.next.badSince[key] = pending
		}
		return
	}
	e.next.values[key] = ValueAtLastEvaluation{Sample: sample}
	if !fires {
		e.fireIfBadForLong(rule, kind, key, sample)
		return
	}
	if sample.Quiet || !kind.isBad(sample.Value, rule.ResolveThreshold) {
		since, ok := e.goodSince[key]
		if !ok {
			since = e.now
		}
		e.next.goodSince[key] = since
		e.next.values[key] = ValueAtLastEvaluation{sample, since}
		if e.now-since >= rule.ResolveFor*int64(time.Second) {
			e.resolve(firing, rule, sample)
			return
		}
	}
	if channels := e.channelsToNotify(rule, key); !firing.Announced && len(channels) > 0 {
		e.add(event.AlertAnnounced, key, rule.Threshold, sample, channels)
	}
}

func (k *Kind) isBad(value, threshold Quantity) bool {
	if k.Below {
		return value < threshold
	}
	return value >= threshold
}

func (e *evaluation) fireIfBadForLong(rule *Rule, kind *Kind, key Key, sample Sample) {
	if sample.Quiet || !kind.isBad(sample.Value, rule.Threshold) {
		return
	}
	pending, ok := e.badSince[key]
	if !ok {
		pending = PendingAlert{Key: key, Since: e.now}
	}
	pending.Sample = sample
	e.next.badSince[key] = pending
	if e.now-pending.Since >= rule.For*int64(time.Second) && len(e.firing) < maxFiring {
		e.firing[key] = FiringAlert{Key: key}
		e.add(event.AlertFired, key, rule.Threshold, sample, e.channelsToNotify(rule, key))
	}
}

// resolve adds the end of an alert. rule is nil if it was removed. It notifies the channels only if
// they were notified that the alert fired.
func (e *evaluation) resolve(f FiringAlert, rule *Rule, sample Sample) {
	var channels []string
	if rule != nil && f.Announced {
		channels = e.channelsToNotify(rule, f.Key)
	}
	threshold := f.Threshold
	if rule != nil {
		threshold = rule.ResolveThreshold
	}
	e.add(event.AlertResolved, f.Key, threshold, sample, channels)
}

// channelsToNotify returns the channels of the rule, or none during a silence.
func (e *evaluation) channelsToNotify(rule *Rule, key Key) []string {
	if e.settings.IsSilenced(key.Rule, key.Subject, e.now) {
		return nil
	}
	return e.settings.EnabledChannelIDsOf(rule)
}

func (e *evaluation) add(transition event.AlertOrNotificationTransition, key Key, threshold Quantity, sample Sample, channels []string) {
	e.changes = append(e.changes, &event.AlertOrNotificationChanged{
		Transition: transition, Rule: key.Rule, Subject: key.Subject, Value: int64(sample.Value), Threshold: int64(threshold),
		Note: sample.Note, Channels: channels, At: e.now,
	})
}

// PendingAlerts returns the alerts whose values are bad, but that do not fire yet, sorted by rule and
// subject.
func (v *Evaluator) PendingAlerts() []PendingAlert {
	all := make([]PendingAlert, 0, len(v.badSince))
	for _, pending := range v.badSince {
		all = append(all, pending)
	}
	slices.SortFunc(all, func(a, b PendingAlert) int { return compareKeys(a.Key, b.Key) })
	return all
}

// Values returns the values at the last evaluation. The caller must not change them; the next
// evaluation makes a new map.
func (v *Evaluator) Values() map[Key]ValueAtLastEvaluation { return v.values }
