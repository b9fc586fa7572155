package alerts

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine/alert"
	"pingpost/engine/market"
	"pingpost/server/admin/payload"
	"pingpost/server/httperror"
)

// ruleAnswer is a rule in JSON, with its etag and the subject type and unit of its kind.
type ruleAnswer struct {
	alert.Rule
	Title       string            `json:"title"`
	SubjectType alert.SubjectKind `json:"subject_type"`
	Unit        alert.Unit        `json:"unit"`
	ETag        string            `json:"etag"`
}

func newRuleAnswer(r *alert.Rule) ruleAnswer {
	answer := ruleAnswer{Rule: *r, ETag: ETagOf(r)}
	answer.Channels = append([]string{}, r.Channels...)
	if kind := alert.FindKind(r.Kind); kind != nil {
		answer.Title, answer.SubjectType, answer.Unit = kind.Title, kind.Subject, kind.Unit
	}
	return answer
}

func listRules(_ *fasthttp.RequestCtx, s Service) (answer any, err error) {
	return struct {
		Rules []ruleAnswer `json:"rules"`
		Kinds []alert.Kind `json:"kinds"`
	}{payload.ConvertAll(s.AlertTable().Settings().Rules, newRuleAnswer), alert.Kinds}, nil
}

func getRule(ctx *fasthttp.RequestCtx, s Service) (answer any, err error) {
	id := payload.PathParameter(ctx, "id")
	rule := s.AlertTable().Settings().FindRule(id)
	if rule == nil {
		return nil, NewNotFoundError("alert rule", id)
	}
	found := newRuleAnswer(rule)
	SetETag(ctx, found.ETag)
	return found, nil
}

// ruleBody is the body of a PUT of a rule.
type ruleBody struct {
	Name             string          `json:"name"`
	Kind             alert.KindName  `json:"kind"`
	Subject          string          `json:"subject"`
	Threshold        json.RawMessage `json:"threshold"`
	ResolveThreshold json.RawMessage `json:"resolve_threshold"`
	For              *int64          `json:"for_s"`
	ResolveFor       *int64          `json:"resolve_for_s"`
	Window           *int64          `json:"window_s"`
	Minimum          *int64          `json:"minimum"`
	Channels         []string        `json:"channels"`
	Off              bool            `json:"off"`
}

// Defaults and limits of rules, in seconds and requests.
const (
	defaultFor     = 60
	defaultWindow  = 900
	defaultMinimum = 50
	maxFor         = 86_400
	maxMinimum     = 1_000_000
)

// windowLimits returns the shortest and longest window of a kind, and the step between them, in
// seconds. The report counts in quarters of an hour.
func windowLimits(kind *alert.Kind) (shortestSeconds, longestSeconds, stepSeconds int64) {
	if kind.Source == "report" {
		return 900, 86_400, 900
	}
	return 300, 3600, 60
}

// putRule creates or replaces a rule.
func (a *API) putRule(ctx *fasthttp.RequestCtx, s Service) (answer any, err error) {
	var body ruleBody
	if err := payload.DecodeJSONBody(ctx, &body); err != nil {
		return nil, err
	}
	expected, err := payload.ReadExpectedETag(ctx, true)
	if err != nil {
		return nil, err
	}
	rule, faults := body.parse(strings.Clone(payload.PathParameter(ctx, "id")))
	if len(faults) > 0 {
		return nil, payload.NewInvalidFieldsError(faults)
	}
	err = s.ChangeSettings(a.CallerName(ctx), func(settings *alert.Settings) error {
		before := settings.FindRule(rule.ID)
		present := ""
		if before != nil {
			present = ETagOf(before)
		}
		if err := CheckETag("alert rule", rule.ID, expected, present); err != nil {
			return err
		}
		if err := checkSubjectOfRule(s, &rule, before); err != nil {
			return err
		}
		for i, channel := range rule.Channels {
			if settings.FindChannel(channel) == nil {
				return payload.NewInvalidFieldError(fmt.Sprintf("channels[%d]", i), errcode.FieldNotAllowedValue, "the id of a channel")
			}
		}
		switch {
		case before != nil:
			*before = rule
		case len(settings.Rules) >= alert.MaxRules:
			return httperror.New(409, errcode.Conflict, fmt.Sprintf("There are %d alert rules already, the most that an exchange may have. Delete one first.", alert.MaxRules))
		default:
			settings.Rules = append(settings.Rules, rule)
			ctx.SetStatusCode(fasthttp.StatusCreated)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	changed := newRuleAnswer(&rule)
	SetETag(ctx, changed.ETag)
	return changed, nil
}

// checkSubjectOfRule returns an error if no object has the id of the rule's subject. The version before
// may name an object that was removed since; a change of the rule's other values keeps it.
func checkSubjectOfRule(s Service, rule, before *alert.Rule) error {
	kind := alert.FindKind(rule.Kind)
	if rule.Subject == "" || kind == nil || before != nil && before.Subject == rule.Subject && before.Kind == rule.Kind || s.IsConfiguredSubject(kind.Subject, rule.Subject) {
		return nil
	}
	return newUnknownSubjectError(kind.Subject)
}

func newUnknownSubjectError(subjectType alert.SubjectKind) error {
	return payload.NewInvalidFieldError("subject", errcode.FieldUnknown, fmt.Sprintf("the id of a %s that is configured", subjectType))
}

// parse checks the body and returns the rule with its defaults.
func (b *ruleBody) parse(id string) (rule alert.Rule, faults payload.FieldErrors) {
	rule = alert.Rule{
		ID: id, Name: b.Name, Kind: b.Kind, Subject: b.Subject, Channels: append([]string{}, b.Channels...), Off: b.Off,
		For: valueOr(b.For, defaultFor), ResolveFor: valueOr(b.ResolveFor, defaultFor),
	}
	faults.AddIf(!isRuleOrChannelID(id), "id", errcode.FieldInvalidFormat, expectedID)
	kind := alert.FindKind(b.Kind)
	if kind == nil {
		names := make([]string, len(alert.Kinds))
		for i := range alert.Kinds {
			names[i] = string(alert.Kinds[i].Name)
		}
		faults.AddIf(true, "kind", errcode.FieldNotAllowedValue, strings.Join(names, ", "))
		return rule, faults
	}
	rule.Name = cmp.Or(b.Name, kind.Title)
	AddErrorUnlessPrintableLine(&faults, "name", b.Name, maxName)
	AddErrorUnlessPrintableLine(&faults, "subject", b.Subject, maxName)
	faults.AddIf(b.Subject != "" && kind.Subject == alert.SubjectExchange, "subject", errcode.FieldNotAllowedValue, "nothing: this kind watches the whole exchange")
	faults.AddIf(rule.For < 0 || rule.For > maxFor, "for_s", errcode.FieldOutOfRange, fmt.Sprintf("0 to %d seconds", maxFor))
	faults.AddIf(rule.ResolveFor < 0 || rule.ResolveFor > maxFor, "resolve_for_s", errcode.FieldOutOfRange, fmt.Sprintf("0 to %d seconds", maxFor))
	faults.AddIf(len(rule.Channels) > alert.MaxChannels, "channels", errcode.FieldTooLong, fmt.Sprintf("at most %d channels", alert.MaxChannels))
	slices.Sort(rule.Channels)
	rule.Channels = slices.Compact(rule.Channels)
	b.parseThresholds(&rule, kind, &faults)
	b.parseWindow(&rule, kind, &faults)
	return rule, faults
}

func (b *ruleBody) parseThresholds(rule *alert.Rule, kind *alert.Kind, faults *payload.FieldErrors) {
	expected := "a number from 0 to 1000000, with at most six decimals"
	if kind.Unit == alert.UnitPercent {
		expected = "a percentage from 0 to 100"
	}
	parse := func(field string, text json.RawMessage) (q alert.Quantity) {
		q, err := market.ParseMoney(text)
		faults.AddIf(err != nil || kind.Unit == alert.UnitPercent && q > 100*alert.One, field, errcode.FieldOutOfRange, expected)
		return q
	}
	if len(b.Threshold) == 0 {
		faults.AddIf(true, "threshold", errcode.FieldMissingRequired, expected)
		return
	}
	rule.Threshold = parse("threshold", b.Threshold)
	faults.AddIf(!kind.Below && rule.Threshold == 0, "threshold", errcode.FieldOutOfRange, "more than 0, because a high value fires this alert")
	if rule.ResolveThreshold = rule.Threshold; len(b.ResolveThreshold) == 0 {
		return
	}
	rule.ResolveThreshold = parse("resolve_threshold", b.ResolveThreshold)
	faults.AddIf(kind.Below && rule.ResolveThreshold < rule.Threshold, "resolve_threshold", errcode.FieldOutOfRange, "at least the threshold, because a low value fires this alert")
	faults.AddIf(!kind.Below && rule.ResolveThreshold > rule.Threshold, "resolve_threshold", errcode.FieldOutOfRange, "at most the threshold, because a high value fires this alert")
}

func (b *ruleBody) parseWindow(rule *alert.Rule, kind *alert.Kind, faults *payload.FieldErrors) {
	if !kind.Window {
		faults.AddIf(b.Window != nil, "window_s", errcode.FieldNotAllowedValue, "nothing: this kind has no window")
		faults.AddIf(b.Minimum != nil, "minimum", errcode.FieldNotAllowedValue, "nothing: this kind has no window")
		return
	}
	shortest, longest, step := windowLimits(kind)
	rule.Window, rule.Minimum = valueOr(b.Window, defaultWindow), valueOr(b.Minimum, defaultMinimum)
	faults.AddIf(rule.Window < shortest || rule.Window > longest || rule.Window%step != 0, "window_s", errcode.FieldOutOfRange,
		fmt.Sprintf("%d to %d seconds, a multiple of %d", shortest, longest, step))
	faults.AddIf(rule.Minimum < 1 || rule.Minimum > maxMinimum, "minimum", errcode.FieldOutOfRange, fmt.Sprintf("1 to %d requests", maxMinimum))
}

func valueOr(given *int64, value int64) int64 {
	if given != nil {
		return *given
	}
	return value
}

// deleteRule removes a rule and its silences. Its alerts end at the next evaluation.
func (a *API) deleteRule(ctx *fasthttp.RequestCtx, s Service) (answer any, err error) {
	id := payload.PathParameter(ctx, "id")
	expected, err := payload.ReadExpectedETag(ctx, false)
	if err != nil {
		return nil, err
	}
	return nil, s.ChangeSettings(a.CallerName(ctx), func(settings *alert.Settings) error {
		rule := settings.FindRule(id)
		if rule == nil {
			return NewNotFoundError("alert rule", id)
		}
		if err := CheckETag("alert rule", id, expected, ETagOf(rule)); err != nil {
			return err
		}
		settings.Rules = slices.DeleteFunc(settings.Rules, func(r alert.Rule) bool { return r.ID == id })
		settings.Silences = slices.DeleteFunc(settings.Silences, func(silence alert.Silence) bool { return silence.Rule == id })
		return nil
	})
}
