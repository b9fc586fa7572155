package alerts

import (
	"slices"
	"strconv"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine/alert"
	"pingpost/engine/event"
	"pingpost/server/admin/payload"
)

// alertAnswer is an alert that fires or is pending, in JSON.
type alertAnswer struct {
	Rule      string         `json:"rule"`
	Name      string         `json:"name"`
	Kind      alert.KindName `json:"kind"`
	Subject   *string        `json:"subject"` // null: the exchange
	Value     alert.Quantity `json:"value"`
	Threshold alert.Quantity `json:"threshold"`
	Unit      alert.Unit     `json:"unit"`
	Since     string         `json:"since"`
	FiresAt   *string        `json:"fires_at,omitempty"` // of a pending alert
	// GoodSince and ResolvesAt are of an alert that fires although its value is good again, because it is
	// not good for long enough to resolve.
	GoodSince  *string `json:"good_since,omitempty"`
	ResolvesAt *string `json:"resolves_at,omitempty"`
	Silenced   bool    `json:"silenced"`
	alert.Message
}

func newAlertAnswer(settings *alert.Settings, key alert.Key, recorded alert.KindName, sample alert.Sample, threshold alert.Quantity, since, now int64) alertAnswer {
	rule := settings.FindRule(key.Rule)
	answer := alertAnswer{
		Rule: key.Rule, Subject: payload.NullIfEmpty(key.Subject), Value: sample.Value, Threshold: threshold, Since: payload.FormatTimeToSeconds(since),
		Silenced: settings.IsSilenced(key.Rule, key.Subject, now),
		Message:  alert.DescribeChange(rule, recorded, event.AlertFired, key.Subject, sample.Value, threshold, sample.Note),
	}
	if rule != nil {
		answer.Name = rule.Name
	}
	if kind := alert.KindOfChange(rule, recorded); kind != nil {
		answer.Kind, answer.Unit = kind.Name, kind.Unit
	}
	return answer
}

// getStatus answers with the alerts that fire, those that are pending, the silences, and the health
// of the channels.
func (a *API) getStatus(ctx *fasthttp.RequestCtx, s Service) (answer any, err error) {
	settings, now := s.AlertTable().Settings(), s.Now()
	pending, valueOf, evaluated := s.LastEvaluation()
	firing := s.AlertTable().FiringAlerts()
	document := struct {
		Evaluated *string         `json:"evaluated_at"`
		Firing    []alertAnswer   `json:"firing"`
		Pending   []alertAnswer   `json:"pending"`
		Silences  []silenceAnswer `json:"silences"`
		Channels  []channelAnswer `json:"channels"`
	}{Evaluated: payload.FormatTimeOrNull(evaluated), Firing: []alertAnswer{}, Pending: []alertAnswer{}, Channels: a.describeChannels(ctx, s)}
	for i := range firing {
		f := &firing[i]
		current, ok := valueOf(f.Key)
		if !ok || current.Quiet {
			current.Sample = alert.Sample{Value: f.Value, Note: f.Note}
		}
		kind := f.Kind
		if rule := settings.FindRule(f.Rule); rule != nil && ok && !current.Quiet {
			kind = rule.Kind // of the present value; an operator may have changed it
		}
		row := newAlertAnswer(settings, f.Key, kind, current.Sample, f.Threshold, f.Since, now)
		if rule := settings.FindRule(f.Rule); rule != nil && current.GoodSince > 0 {
			row.GoodSince = payload.NullIfEmpty(payload.FormatTimeToSeconds(current.GoodSince))
			row.ResolvesAt = payload.NullIfEmpty(payload.FormatTimeToSeconds(current.GoodSince + rule.ResolveFor*int64(time.Second)))
		}
		document.Firing = append(document.Firing, row)
	}
	for i := range pending {
		p := &pending[i]
		rule := settings.FindRule(p.Rule)
		fires := slices.ContainsFunc(firing, func(f alert.FiringAlert) bool { return f.Key == p.Key })
		if rule == nil || fires {
			continue
		}
		row := newAlertAnswer(settings, p.Key, rule.Kind, p.Sample, rule.Threshold, p.Since, now)
		row.FiresAt = payload.NullIfEmpty(payload.FormatTimeToSeconds(p.Since + rule.For*int64(time.Second)))
		document.Pending = append(document.Pending, row)
	}
	current := slices.DeleteFunc(slices.Clone(settings.Silences), func(silence alert.Silence) bool { return silence.Until <= now })
	document.Silences = payload.ConvertAll(current, newSilenceAnswer)
	ctx.Response.Header.Set("Cache-Control", "no-store")
	return document, nil
}

// historyEntry is a change of an alert in JSON.
type historyEntry struct {
	Number        uint64              `json:"number"`
	At            string              `json:"at"`
	Transition    string              `json:"transition"`
	Rule          string              `json:"rule"`
	Name          string              `json:"name"`
	Subject       *string             `json:"subject"`
	Value         alert.Quantity      `json:"value"`
	Threshold     alert.Quantity      `json:"threshold"`
	Unit          alert.Unit          `json:"unit"`
	Notifications []notificationEntry `json:"notifications"`
	alert.Message
}

// notificationEntry is one notification of a change of an alert, in the JSON of the admin API's history.
type notificationEntry struct {
	Channel string  `json:"channel"`
	Outcome string  `json:"outcome"` // queued, sent, failed or dropped
	At      *string `json:"at"`
	Error   *string `json:"error"`
}

var outcomeNames = map[event.AlertOrNotificationTransition]string{
	0: "queued", event.NotificationSent: "sent", event.NotificationFailed: "failed", event.NotificationDropped: "dropped",
}

// Limits of a page of the history.
const (
	defaultHistory = 50
	maxHistory     = 500
)

// getHistory answers with a page of the alerts' changes, newest first.
func getHistory(ctx *fasthttp.RequestCtx, s Service) (answer any, err error) {
	limit, before := defaultHistory, uint64(0)
	args := ctx.QueryArgs()
	if args.Has("limit") {
		if limit, err = args.GetUint("limit"); err != nil || limit < 1 || limit > maxHistory {
			return nil, payload.NewInvalidFieldError("limit", errcode.FieldOutOfRange, "a whole number from 1 to "+strconv.Itoa(maxHistory))
		}
	}
	if args.Has("after") {
		if before, err = strconv.ParseUint(string(args.Peek("after")), 10, 63); err != nil || before == 0 {
			return nil, payload.NewInvalidFieldError("after", errcode.FieldNotAllowedValue, "next of the page before")
		}
	}
	settings := s.AlertTable().Settings()
	changes := s.AlertTable().History(before, limit+1)
	page := struct {
		Entries []historyEntry `json:"entries"`
		Next    *uint64        `json:"next"`
	}{}
	if len(changes) > limit {
		changes = changes[:limit]
		page.Next = &changes[limit-1].Number
	}
	page.Entries = payload.ConvertAll(changes, func(c *alert.Change) historyEntry { return newHistoryEntry(settings, c) })
	return page, nil
}

func newHistoryEntry(settings *alert.Settings, c *alert.Change) historyEntry {
	rule := settings.FindRule(c.Rule)
	entry := historyEntry{
		Number: c.Number, At: payload.FormatTimeToSeconds(c.At), Transition: c.Transition.String(), Rule: c.Rule, Subject: payload.NullIfEmpty(c.Subject),
		Value: c.Value, Threshold: c.Threshold, Message: alert.DescribeChange(rule, c.Kind, c.Transition, c.Subject, c.Value, c.Threshold, c.Note),
		Notifications: payload.ConvertAll(c.Notifications, func(n *alert.Notification) notificationEntry {
			return notificationEntry{n.Channel, outcomeNames[n.Outcome], payload.FormatTimeOrNull(n.At), payload.NullIfEmpty(n.Error)}
		}),
	}
	if rule != nil {
		entry.Name = rule.Name
	}
	if kind := alert.KindOfChange(rule, c.Kind); kind != nil {
		entry.Unit = kind.Unit
	}
	return entry
}
