package admin

import (
	"context"
	"encoding/json"
	"errors"
	"io"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/config/canonical"
	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/report"
	"pingpost/report/projection"
	"pingpost/server/admin/audit"
	"pingpost/server/admin/payload"
	"pingpost/server/clientaddr"
	"pingpost/server/httperror"
	"pingpost/server/request"
)

// maxAuditExports is the number of exports of the audit log that may run at the same time.
const maxAuditExports = 2

var (
	errNotRecorded       = httperror.New(503, errcode.Unavailable, "The audit log cannot record this action, so the exchange did not carry it out. Check the exchange's log, then send the request again.")
	errTooManyActions    = httperror.New(429, errcode.RateLimited, "You send too many requests that the audit log records. Try again after the time in Retry-After.")
	errTooManyAuditReads = httperror.New(503, errcode.Unavailable, "Too many exports of the audit log are running. Send this request again after the time in Retry-After.")
)

// newAuditRecorder returns the recorder of operators' actions.
func (a *Admin) newAuditRecorder() *audit.Recorder {
	return audit.NewRecorder(audit.Options{IsStopping: a.isStartingOrStopping, Logger: a.logger, ConfigEntry: func(kind, id string) (json.RawMessage, bool) {
		entry, err := a.exchange.ConfigEntry(canonical.EntryRef{Kind: canonical.Collection(kind), ID: id})
		if err != nil {
			return nil, false
		}
		return entry.Document, true
	}})
}

// actorOf returns the caller as the actor of a record.
func (a *Admin) actorOf(ctx *fasthttp.RequestCtx, caller *principal) *audit.Actor {
	actor := &audit.Actor{Name: caller.name, Role: caller.role, Address: a.authFailures.ClientAddress(ctx), Credential: event.BySharedPassword}
	switch {
	case caller.method == byOIDC:
		actor.Credential = event.ByOIDC
	case caller.session != nil && caller.hasAccount:
		actor.Credential = event.BySession
	case caller.session != nil:
		actor.Credential = event.BySharedSession
	case caller.token != nil:
		actor.Credential, actor.Token = event.ByAPIToken, apiTokenID(caller.token)
	case caller.hasAccount:
		actor.Credential = event.ByAccountPassword
	}
	return actor
}

// recordAction returns a handler that records the operation in the audit log, and calls h. The first
// record is durable before h runs. If the log cannot take it, the answer is a 503 and h does not run.
// Reads and dry runs have no record. A viewer who sends too many such requests gets a 429, except for the
// end of a session: each one needs a sign-in, which counts. While the exchange
// starts or stops, the answer is a 503.
func (a *Admin) recordAction(method, path string, h fasthttp.RequestHandler) fasthttp.RequestHandler {
	if method == fasthttp.MethodGet {
		return h
	}
	a.recorded[method+" "+path] = true
	return func(ctx *fasthttp.RequestCtx) {
		if ctx.UserValue(bodyExpected) != nil || isDryRun(ctx.QueryArgs()) || path == "/admin/v1/bench" && isTestLeadDryRun(ctx) {
			h(ctx)
			return
		}
		if a.engineOfRequestOrNil(ctx) == nil {
			a.sendError(ctx, httperror.Unavailable) // the action could run later, without a record
			return
		}
		caller := principalFrom(ctx)
		actor := a.actorOf(ctx, &caller)
		if path != pathSession || caller.session == nil {
			if wait := a.audit.CountViewerActionOrWait(actor); wait > 0 {
				a.sendError(ctx, errTooManyActions.WithRetryAfter(wait))
				return
			}
		}
		action, err := a.audit.Begin(ctx, a.engineOfRequestOrNil(ctx), actor, method, path)
		if err != nil {
			a.sendError(ctx, a.unrecordedError(method+" "+path, err))
			if errors.Is(err, engine.ErrNotLeader) {
				httperror.MarkMaySendAgain(ctx)
			}
			return
		}
		defer httperror.ClearMaySendAgain(ctx) // the log has the begin of the action, so no other node may repeat it
		returned := false
		defer func() {
			if !returned {
				action.EndPanicked()
			}
		}()
		h(ctx)
		returned = true
		action.End(ctx)
	}
}

// isStartingOrStopping reports whether the exchange starts or stops.
func (a *Admin) isStartingOrStopping() bool { return a.exchange.EngineWhileReady() == nil }

// unrecordedError returns the API error of an operation that the audit log cannot record. It is a
// fault only while the exchange serves: the log accepts no records once the exchange stops, or once this
// node no longer leads its cluster.
func (a *Admin) unrecordedError(operation string, cause error) httperror.Error {
	if a.isStartingOrStopping() || engine.IsEndOfLeadership(cause) {
		return httperror.Unavailable
	}
	a.logger.Error("an operator's action was refused, because the audit log cannot record it", "operation", operation, "error", cause)
	return errNotRecorded
}

// recordSignIn records that the session of who begins, at the request of an operation. The answer must
// have its status already. If the log cannot take the record, or a viewer has caused too many, it
// returns an error; the session must then not begin.
func (a *Admin) recordSignIn(ctx *fasthttp.RequestCtx, who *principal, operation string) error {
	actor := &audit.Actor{Name: who.name, Role: who.role, Address: a.authFailures.ClientAddress(ctx), Credential: event.BySharedPassword}
	switch {
	case who.method == byOIDC:
		actor.Credential = event.ByOIDC
	case who.hasAccount:
		actor.Credential = event.ByAccountPassword
	}
	if wait := a.audit.CountViewerActionOrWait(actor); wait > 0 {
		return errTooManyActions.WithRetryAfter(wait)
	}
	if err := a.audit.RecordSignIn(a.engineOfRequestOrNil(ctx), actor, operation, ctx.Response.StatusCode()); err != nil {
		return a.unrecordedError(operation, err)
	}
	return nil
}

// recordFailedSignIn records a wrong credential. account is the name of an existing account, or empty: a
// person may have typed a password in place of the name.
func (a *Admin) recordFailedSignIn(ctx *fasthttp.RequestCtx, account string) {
	a.recordFailedSignInOrRefusal(ctx, &audit.Actor{Name: account}, "sign_in", "session", fasthttp.StatusUnauthorized)
}

// basicAuthAccountNameOrEmpty returns the name that the request gives by HTTP Basic if an account has it.
func (a *Admin) basicAuthAccountNameOrEmpty(ctx *fasthttp.RequestCtx) string {
	given, _, _ := request.ParseBasicAuth(string(ctx.Request.Header.Peek("Authorization")))
	name, ok := lowercaseValidUserName(given)
	e := a.engineOfRequestOrNil(ctx)
	if !ok || e == nil {
		return ""
	}
	user, _ := e.State().OperatorUser(name)
	return user.Name
}

// recordRefusal records that a caller's role does not allow an operation, and returns the answer: the
// refusal, or a 429 if the caller has caused too many records. Reads have no record.
func (a *Admin) recordRefusal(ctx *fasthttp.RequestCtx, caller *principal, operation string, refusal httperror.Error) (refusalOrRateLimit httperror.Error) {
	if operation == "" || ctx.IsGet() || ctx.IsHead() {
		return refusal
	}
	actor := a.actorOf(ctx, caller)
	if wait := a.audit.CountViewerActionOrWait(actor); wait > 0 {
		return errTooManyActions.WithRetryAfter(wait)
	}
	a.recordFailedSignInOrRefusal(ctx, actor, operation, "", fasthttp.StatusForbidden)
	return refusal
}

func (a *Admin) recordFailedSignInOrRefusal(ctx *fasthttp.RequestCtx, actor *audit.Actor, operation, targetKind string, status int) {
	actor.Address = a.authFailures.ClientAddress(ctx)
	a.audit.RecordOrCountFailure(a.engineOfRequestOrNil(ctx), actor, operation, targetKind, status, clientaddr.NetworkForLimits(actor.Address))
}

// auditHandler returns the handler of GET audit: one page in JSON, or all matching records in CSV or
// NDJSON.
func (a *Admin) auditHandler() fasthttp.RequestHandler {
	exports := make(chan struct{}, maxAuditExports)
	return a.withCurrentReport(func(ctx *fasthttp.RequestCtx, source *report.Report, _ bool) (answer any, err error) {
		r := a.newSearchParameterParser(ctx)
		query, format := r.readAuditQuery()
		if len(r.faults) > 0 {
			return nil, payload.NewInvalidFieldsError(r.faults)
		}
		ctx.Response.Header.Set("Cache-Control", "no-store")
		if format == formJSON {
			return a.searchAudit(source, query)
		}
		select {
		case exports <- struct{}{}:
		default:
			return nil, errTooManyAuditReads
		}
		rows := &auditExportEncoder{exporter: audit.Exporter{CSV: format == formCSV, Query: *query, Search: func(q *report.ActionQuery) ([]projection.ActionRow, market.RequestID, error) {
			return source.SearchActions(context.Background(), q)
		}}}
		first, err := rows.appendNextRows(rows.exporter.AppendHead(nil))
		if err != nil && !errors.Is(err, io.EOF) {
			<-exports
			return nil, a.apiErrorOfReport(err)
		}
		body := newStreamedBody(ctx.Conn(), rows.exporter.ContentType(), rows, a.logger)
		body.buf, body.release = append(body.buf, first...), func() { <-exports }
		return body, nil
	})
}

func (a *Admin) searchAudit(source *report.Report, query *report.ActionQuery) (answer any, err error) {
	found, next, err := source.SearchActions(context.Background(), query)
	if err != nil {
		return nil, a.apiErrorOfReport(err)
	}
	page := struct {
		Entries []audit.Entry `json:"entries"`
		Next    *string       `json:"next"` // null: last page
	}{Entries: payload.ConvertAll(found, audit.NewEntry)}
	if !next.IsZero() {
		page.Next = payload.NullIfEmpty(next.String())
	}
	return page, nil
}

// auditExportPage is the number of records that an export reads at a time.
const auditExportPage = 50

// readAuditQuery parses the parameters of GET audit.
func (r *searchParameterParser) readAuditQuery() (query *report.ActionQuery, format outputFormat) {
	q := &report.ActionQuery{
		Actor: r.parameter("actor"), Operation: r.parameter("operation"), TargetKind: r.parameter("target_kind"), Target: r.parameter("target"), Text: r.parameter("q"),
		From: r.readTimeNanos("from"), To: r.readTimeNanos("to"), Limit: r.readLimit(defaultFound, maxFound),
		After: readAfterCursor(r, market.ParseRequestID, "next of the page before"),
	}
	r.faults.AddIf(q.From != 0 && q.To != 0 && q.From >= q.To, "to", errcode.FieldOutOfRange, "a time after from; the search ends before it")
	r.faults.AddIf(len(q.Text) > maxAuditText, "q", errcode.FieldTooLong, "at most 200 bytes")
	if name := r.parameter("credential"); name != "" {
		credential, ok := event.ParseOperatorCredentialKind(name)
		r.faults.AddIf(!ok, "credential", errcode.FieldNotAllowedValue, "session, api_token, account_password, shared_password, shared_password_session, oidc or none")
		q.Credential = &credential
	}
	switch outcome := r.parameter("outcome"); outcome {
	case "":
	case audit.OutcomeDone, audit.OutcomeFailed, audit.OutcomeUnknown:
		q.Outcome = outcome
	default:
		r.faults.AddIf(true, "outcome", errcode.FieldNotAllowedValue, "done, failed or unknown")
	}
	format, ok := parseOutputFormat(r.parameter("format"), "")
	r.faults.AddIf(!ok || format == formParquet, "format", errcode.FieldNotAllowedValue, "json, csv or ndjson")
	if format != formJSON {
		q.Limit = auditExportPage
	}
	return q, format
}

// maxAuditText is the greatest length of the text that a search of the audit log looks for.
const maxAuditText = 200

// auditExportEncoder encodes an export of the audit log for a streamed answer, a page at a time.
type auditExportEncoder struct{ exporter audit.Exporter }

func (l *auditExportEncoder) appendNextRows(dst []byte) ([]byte, error) {
	dst, more, err := l.exporter.AppendNextPage(dst)
	if err == nil && !more {
		err = io.EOF
	}
	return dst, err
}

func (*auditExportEncoder) Close() {}

// verifiedCallerNameOrOperator returns the caller's account, or the name that the identity provider gave. It is
// the same for all callers with the shared password, because these choose their names.
func verifiedCallerNameOrOperator(ctx *fasthttp.RequestCtx) string {
	if caller := principalFrom(ctx); caller.hasAccount || caller.method == byOIDC {
		return caller.name
	}
	return sharedName
}

// findLeadsOfPerson answers POST leads/find.
func (a *Admin) findLeadsOfPerson(ctx *fasthttp.RequestCtx, _ *engine.Engine) (answer any, err error) {
	if a.exchange.Report() == nil {
		return nil, errNoReport
	}
	answer, err = a.persons.FindLeads(ctx, verifiedCallerNameOrOperator(ctx))
	var failure httperror.Error
	var detailed *payload.DetailedError
	if err == nil || errors.As(err, &failure) || errors.As(err, &detailed) {
		return answer, err
	}
	return nil, a.apiErrorOfReport(err)
}

// revealContact answers POST leads/{id}/reveal with the unmasked contact data of a lead.
func (a *Admin) revealContact(ctx *fasthttp.RequestCtx, _ *engine.Engine) (answer any, err error) {
	return a.persons.RevealContact(ctx, verifiedCallerNameOrOperator(ctx))
}
