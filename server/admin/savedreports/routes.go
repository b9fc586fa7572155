package savedreports

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine/savedreport"
	"pingpost/server/admin/alerts"
	"pingpost/server/admin/payload"
	"pingpost/server/httperror"
)

// API has the operations on saved reports.
type API struct {
	// Service returns the service, or nil while the exchange starts or stops.
	Service func() Service
	// CallerName returns the name of the authenticated operator.
	CallerName func(*fasthttp.RequestCtx) string
}

// AddRoutes registers the operations on saved reports with the function add.
func (a *API) AddRoutes(add func(method, path string, h alerts.Handler)) {
	route := func(method, path string, h func(*fasthttp.RequestCtx, Service) (any, error)) {
		add(method, "/admin/v1/saved-reports"+path, func(ctx *fasthttp.RequestCtx) (answer any, err error) {
			service := a.Service()
			if service == nil {
				return nil, httperror.Unavailable
			}
			return h(ctx, service)
		})
	}
	route("GET", "", listReports)
	route("POST", "", a.addReport)
	route("PUT", "/{id}", a.replaceReport)
	route("DELETE", "/{id}", a.deleteReport)
	route("POST", "/{id}/send", a.sendReport)
}

const noun = "saved report"

func listReports(_ *fasthttp.RequestCtx, s Service) (answer any, err error) {
	progress := s.MailAttemptStates()
	return struct {
		Reports []reportAnswer `json:"saved_reports"`
		Channel *string        `json:"channel"` // null: there is no e-mail channel
	}{
		payload.ConvertAll(s.SavedReportTable().All(), func(e *savedreport.Entry) reportAnswer { return newReportAnswer(s, e, progress[e.ID]) }),
		payload.NullIfEmpty(s.MailChannelID()),
	}, nil
}

// parseReportFromBody reads and checks the report of a request's body.
func parseReportFromBody(ctx *fasthttp.RequestCtx, s Service) (*savedreport.SavedReport, error) {
	var body savedreport.SavedReport
	if err := payload.DecodeJSONBody(ctx, &body); err != nil {
		return nil, err
	}
	_, faults := NewQuestion(&body.Query, time.Unix(0, s.Now()), s.Zone())
	faults.AddIf(strings.TrimSpace(body.Name) == "", "name", errcode.FieldMissingRequired, "a name")
	alerts.AddErrorUnlessPrintableLine(&faults, "name", body.Name, maxName)
	if body.Schedule != nil {
		addScheduleErrors(&faults, body.Schedule)
	}
	if len(faults) > 0 {
		return nil, payload.NewInvalidFieldsError(faults)
	}
	return &body, nil
}

// checkNameIsFree returns a conflict if another report has the name.
func checkNameIsFree(s Service, id, name string) error {
	for _, entry := range s.SavedReportTable().All() {
		if entry.ID != id && strings.EqualFold(entry.Name, name) {
			return httperror.New(409, errcode.Conflict, fmt.Sprintf("Another saved report has the name %q. Choose another name, or change that report.", entry.Name))
		}
	}
	return nil
}

func (a *API) addReport(ctx *fasthttp.RequestCtx, s Service) (answer any, err error) {
	wanted, err := parseReportFromBody(ctx, s)
	if err != nil {
		return nil, err
	}
	var random [8]byte
	_, _ = rand.Read(random[:])
	id := "report_" + hex.EncodeToString(random[:])
	err = s.ChangeSavedReport(a.CallerName(ctx), func() (string, *savedreport.SavedReport, error) {
		if len(s.SavedReportTable().All()) >= savedreport.MaxReports {
			return "", nil, httperror.New(409, errcode.Conflict, fmt.Sprintf("There are %d saved reports already, the most that an exchange may have. Delete one first.", savedreport.MaxReports))
		}
		return id, wanted, checkNameIsFree(s, id, wanted.Name)
	})
	if err != nil {
		return nil, err
	}
	ctx.SetStatusCode(fasthttp.StatusCreated)
	return answerWithReportAndSetETag(ctx, s, id)
}

// answerWithReportAndSetETag returns the report after a change. Another request may have removed it meanwhile.
func answerWithReportAndSetETag(ctx *fasthttp.RequestCtx, s Service, id string) (answer any, err error) {
	entry, found := s.SavedReportTable().Find(id)
	if !found {
		return nil, alerts.NewNotFoundError(noun, id)
	}
	changed := newReportAnswer(s, &entry, s.MailAttemptStates()[id])
	alerts.SetETag(ctx, changed.ETag)
	return changed, nil
}

// checkVersion returns an error unless the report exists and has the expected version.
func checkVersion(s Service, id, expected string) error {
	entry, found := s.SavedReportTable().Find(id)
	if !found {
		return alerts.NewNotFoundError(noun, id)
	}
	return alerts.CheckETag(noun, id, expected, alerts.ETagOf(&entry.SavedReport))
}

func (a *API) replaceReport(ctx *fasthttp.RequestCtx, s Service) (answer any, err error) {
	id := strings.Clone(payload.PathParameter(ctx, "id"))
	wanted, err := parseReportFromBody(ctx, s)
	if err != nil {
		return nil, err
	}
	expected, err := payload.ReadExpectedETag(ctx, false)
	if err != nil {
		return nil, err
	}
	err = s.ChangeSavedReport(a.CallerName(ctx), func() (string, *savedreport.SavedReport, error) {
		if err := checkVersion(s, id, expected); err != nil {
			return "", nil, err
		}
		return id, wanted, checkNameIsFree(s, id, wanted.Name)
	})
	if err != nil {
		return nil, err
	}
	return answerWithReportAndSetETag(ctx, s, id)
}

// deleteReport removes a report. Its waiting e-mail is not sent.
func (a *API) deleteReport(ctx *fasthttp.RequestCtx, s Service) (answer any, err error) {
	id := strings.Clone(payload.PathParameter(ctx, "id"))
	expected, err := payload.ReadExpectedETag(ctx, false)
	if err != nil {
		return nil, err
	}
	return nil, s.ChangeSavedReport(a.CallerName(ctx), func() (string, *savedreport.SavedReport, error) {
		return id, nil, checkVersion(s, id, expected)
	})
}

// sendReport sends a report now and answers with the result, which is a success of this request also
// if the SMTP server refuses the e-mail. The report is sent if any recipient has it; the error then names
// the others.
func (a *API) sendReport(ctx *fasthttp.RequestCtx, s Service) (answer any, err error) {
	entry, found := s.SavedReportTable().Find(payload.PathParameter(ctx, "id"))
	if !found {
		return nil, alerts.NewNotFoundError(noun, payload.PathParameter(ctx, "id"))
	}
	var body struct {
		Recipients []string `json:"recipients"`
	}
	if len(payload.RequestBody(ctx)) > 0 {
		if err := payload.DecodeJSONBody(ctx, &body); err != nil {
			return nil, err
		}
	}
	if body.Recipients == nil && entry.Schedule != nil {
		body.Recipients = entry.Schedule.Recipients
	}
	var faults payload.FieldErrors
	if addRecipientErrors(&faults, "recipients", body.Recipients); len(faults) > 0 {
		return nil, payload.NewInvalidFieldsError(faults)
	}
	result := struct {
		Sent  bool    `json:"sent"`
		Error *string `json:"error"`
	}{}
	if result.Sent, err = s.Send(&entry, body.Recipients, a.CallerName(ctx)); err != nil {
		result.Error = payload.NullIfEmpty(alerts.RemoveUnprintableAndCut(err.Error(), 300))
	}
	return result, nil
}
