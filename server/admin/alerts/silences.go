package alerts

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine/alert"
	"pingpost/server/admin/payload"
	"pingpost/server/httperror"
)

// silenceAnswer is a silence in JSON.
type silenceAnswer struct {
	ID      string  `json:"id"`
	Rule    string  `json:"rule"`
	Subject *string `json:"subject"` // null: all subjects of the rule
	Until   string  `json:"until"`
	By      string  `json:"by"`
	Note    string  `json:"note"`
}

func newSilenceAnswer(s *alert.Silence) silenceAnswer {
	return silenceAnswer{s.ID, s.Rule, payload.NullIfEmpty(s.Subject), payload.FormatTimeToSeconds(s.Until), s.By, s.Note}
}

// maxSilence is the longest duration of a silence.
const maxSilence = 366 * 24 * time.Hour

// addSilence suppresses the notifications of a rule, or of one of its subjects, until a time.
func (a *API) addSilence(ctx *fasthttp.RequestCtx, s Service) (answer any, err error) {
	var body struct {
		Rule    string `json:"rule"`
		Subject string `json:"subject"`
		Until   string `json:"until"`
		Note    string `json:"note"`
	}
	if err := payload.DecodeJSONBody(ctx, &body); err != nil {
		return nil, err
	}
	now := s.Now()
	until, err := time.Parse(time.RFC3339, body.Until)
	var faults payload.FieldErrors
	faults.AddIf(err != nil || until.UnixNano() <= now || until.UnixNano() > now+int64(maxSilence), "until", errcode.FieldOutOfRange, "a time in the future in RFC 3339, at most 366 days from now")
	AddErrorUnlessPrintableLine(&faults, "subject", body.Subject, maxName)
	AddErrorUnlessPrintableLine(&faults, "note", body.Note, maxNote)
	if len(faults) > 0 {
		return nil, payload.NewInvalidFieldsError(faults)
	}
	var random [8]byte
	_, _ = rand.Read(random[:])
	silence := alert.Silence{ID: "silence_" + hex.EncodeToString(random[:]), Rule: body.Rule, Subject: body.Subject, Until: until.UnixNano(), By: a.CallerName(ctx), Note: body.Note}
	err = s.ChangeSettings(silence.By, func(settings *alert.Settings) error {
		rule := settings.FindRule(body.Rule)
		if rule == nil {
			return payload.NewInvalidFieldError("rule", errcode.FieldNotAllowedValue, "the id of a rule")
		}
		if err := checkSubjectOfSilence(s, rule, body.Subject); err != nil {
			return err
		}
		removeExpiredSilences(settings, now)
		if len(settings.Silences) >= alert.MaxSilences {
			return httperror.New(409, errcode.Conflict, fmt.Sprintf("There are %d silences already, the most that an exchange may have. Delete one first.", alert.MaxSilences))
		}
		settings.Silences = append(settings.Silences, silence)
		return nil
	})
	if err != nil {
		return nil, err
	}
	ctx.SetStatusCode(fasthttp.StatusCreated)
	return newSilenceAnswer(&silence), nil
}

// checkSubjectOfSilence returns an error if the rule can have no alert about the subject, so that a
// silence would have no effect.
func checkSubjectOfSilence(s Service, rule *alert.Rule, subject string) error {
	kind := alert.FindKind(rule.Kind)
	switch {
	case subject == "" || kind == nil:
		return nil
	case kind.Subject == alert.SubjectExchange:
		return payload.NewInvalidFieldError("subject", errcode.FieldNotAllowedValue, "nothing: the rule watches the whole exchange")
	case rule.Subject != "" && rule.Subject != subject:
		return payload.NewInvalidFieldError("subject", errcode.FieldNotAllowedValue, "the subject of the rule, or nothing")
	case !s.IsConfiguredSubject(kind.Subject, subject):
		return newUnknownSubjectError(kind.Subject)
	}
	return nil
}

func removeExpiredSilences(settings *alert.Settings, now int64) {
	settings.Silences = slices.DeleteFunc(settings.Silences, func(s alert.Silence) bool { return s.Until <= now })
}

// deleteSilence ends a silence. The next evaluation announces the alerts that fire and were not
// announced before.
func (a *API) deleteSilence(ctx *fasthttp.RequestCtx, s Service) (answer any, err error) {
	id := payload.PathParameter(ctx, "id")
	return nil, s.ChangeSettings(a.CallerName(ctx), func(settings *alert.Settings) error {
		count := len(settings.Silences)
		settings.Silences = slices.DeleteFunc(settings.Silences, func(s alert.Silence) bool { return s.ID == id })
		if len(settings.Silences) == count {
			return NewNotFoundError("silence", id)
		}
		removeExpiredSilences(settings, s.Now())
		return nil
	})
}
