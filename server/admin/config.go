package admin

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/config/canonical"
	"pingpost/config/syntax"
	"pingpost/engine"
	"pingpost/engine/market"
	"pingpost/engine/state"
	"pingpost/server/admin/payload"
	"pingpost/server/httperror"
	"pingpost/server/request"
)

var (
	errConfigTooLarge   = httperror.New(413, errcode.PayloadTooLarge, "The configuration is larger than 4 MiB. Write a larger one to the configuration file, and run pingpost config take file (with provisioning: enforce, send SIGHUP).")
	errEntryTooLarge    = httperror.New(413, errcode.PayloadTooLarge, "The entry is larger than 1 MiB. Write a larger one to the configuration file, and run pingpost config take file (with provisioning: enforce, send SIGHUP).")
	errListTooLarge     = httperror.New(413, errcode.PayloadTooLarge, "The suppression list exceeds 4 GiB or 50,000,000 entries. Divide it into several lists.")
	errUploadUnderWay   = httperror.New(409, errcode.Conflict, "Another suppression list is being uploaded. Send this one after that upload has ended.")
	errApplyUnderWay    = httperror.New(409, errcode.Conflict, "Another configuration is being applied. Check its changes, then send this one again.")
	errCrossOrigin      = httperror.New(403, errcode.Forbidden, "A page of another origin sent this request through a browser. Send it from a page of this address, or without a browser.")
	errNotAuthenticated = httperror.New(401, errcode.Unauthorized, "Authentication is required: a session, a personal API token as a bearer token, or HTTP Basic with a user's name and password, or with any name and the configured password.")
	errBadPassword      = httperror.New(401, errcode.Unauthorized, "The password is wrong. Send the configured password by HTTP Basic, with any user name.").CountedAsWrongCredential()
)

// operatorRequestTimeout limits the time to receive an operator's request, and the time that a
// connection may be idle. The answer may take twice as long.
const operatorRequestTimeout = 30 * time.Second

// sendError answers with an error under a new request id. fields are the errors of single
// fields of the payload.
func (a *Admin) sendError(ctx *fasthttp.RequestCtx, failure httperror.Error, fields ...market.FieldError) {
	httperror.Write(ctx, httperror.NewRequestID(), failure, fields...)
}

// withAnswerOrErrorSent returns a handler that answers with the document that h returns, as JSON or as
// a stream, or with its error. Without a document the status is 204, unless h has set another one. A
// stream ends when the caller's access ends.
func (a *Admin) withAnswerOrErrorSent(h func(ctx *fasthttp.RequestCtx) (answer any, err error)) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		answer, err := h(ctx)
		if err != nil {
			a.sendAsAPIError(ctx, err)
			return
		}
		switch answer := answer.(type) {
		case nil:
			if ctx.Response.StatusCode() == fasthttp.StatusOK {
				ctx.SetStatusCode(fasthttp.StatusNoContent)
			}
		case *streamedBody:
			caller, presentEngine := principalFrom(ctx), a.exchange.EngineWhileReady
			if a.node != nil && a.engineOfRequestOrNil(ctx) == a.node.ReadEngine() { // a read of old data
				presentEngine = a.node.ReadEngine
			}
			answer.isCallerValid = func() bool { return a.isStillValid(presentEngine(), &caller) }
			answer.sendAnswer(ctx)
		case interface{ sendAnswer(*fasthttp.RequestCtx) }:
			answer.sendAnswer(ctx)
		case payload.NonJSONAnswer:
			answer.SendAnswer(ctx)
		case payload.EncodedJSON:
			payload.SendEncodedJSON(ctx, answer)
		default:
			payload.SendJSON(ctx, answer)
		}
	}
}

// engineKey is the name under which a request stores its engine.
const engineKey = "engine"

// engineOfRequestOrNil returns the engine of the request, or nil if the exchange was starting or stopping when
// the request first asked. A request uses one engine until its end, because the exchange may begin to
// stop between two of its steps.
func (a *Admin) engineOfRequestOrNil(ctx *fasthttp.RequestCtx) *engine.Engine {
	if e, known := ctx.UserValue(engineKey).(*engine.Engine); known {
		return e
	}
	e := a.exchange.EngineWhileReady()
	ctx.SetUserValue(engineKey, e)
	return e
}

// withEngine is withAnswerOrErrorSent for a handler that needs the engine. While the exchange starts or stops
// there is no engine, and the answer is a 503.
func (a *Admin) withEngine(h func(ctx *fasthttp.RequestCtx, e *engine.Engine) (answer any, err error)) fasthttp.RequestHandler {
	return a.withAnswerOrErrorSent(func(ctx *fasthttp.RequestCtx) (answer any, err error) {
		e := a.engineOfRequestOrNil(ctx)
		if e == nil {
			return nil, httperror.Unavailable
		}
		return h(ctx, e)
	})
}

// sendAsAPIError answers with the HTTP status that fits an error of a handler, the engine or the
// configuration. Unknown errors are a 503.
func (a *Admin) sendAsAPIError(ctx *fasthttp.RequestCtx, err error) {
	var failure httperror.Error
	var detailed *payload.DetailedError
	var conflict *ConfigChangeRefusedError
	var problems *syntax.Problems
	var rotation *engine.TooManyCredentialsError
	var unknownHint *engine.UnknownReplacedHintError
	switch {
	case errors.As(err, &failure):
		a.sendError(ctx, failure)
	case errors.As(err, &detailed):
		a.sendError(ctx, detailed.Failure, detailed.Fields...)
		addMembersToErrorAnswer(ctx, detailed.Members)
	case errors.As(err, &conflict):
		a.sendAsAPIError(ctx, conflict.asAPIError())
	case errors.As(err, &rotation):
		a.sendAsAPIError(ctx, newTwoSecretsValidError(payload.ConvertAll(rotation.Active, newCredentialSummary)))
	case errors.As(err, &unknownHint):
		a.sendAsAPIError(ctx, newUnknownReplacedHintError(payload.ConvertAll(unknownHint.Active, func(c *state.Credential) string { return c.Hint })))
	case errors.Is(err, engine.ErrNotFound):
		a.sendError(ctx, httperror.New(404, errcode.NotFound, err.Error()))
	case errors.Is(err, engine.ErrConflict):
		a.sendError(ctx, httperror.New(409, errcode.InvalidTransition, err.Error()))
	case errors.Is(err, engine.ErrNoAccount):
		a.sendError(ctx, httperror.New(409, errcode.NoAccount, err.Error()))
	case errors.As(err, &problems):
		a.sendError(ctx, httperror.New(422, errcode.InvalidPayload, err.Error()), configurationFieldErrors(*problems)...)
	default:
		a.sendError(ctx, httperror.New(503, errcode.Unavailable, err.Error()))
	}
}

// configurationFieldErrors returns the validation errors of a configuration document as field
// errors of an answer, at most maxMistakes.
func configurationFieldErrors(problems syntax.Problems) []market.FieldError {
	problems = problems[:min(len(problems), maxMistakes)]
	list := make([]market.FieldError, 0, len(problems))
	for _, problem := range problems {
		field := problem.Path
		if field == "" {
			field = "document"
		}
		list = append(list, market.FieldError{Field: field, Code: errcode.FieldInvalidFormat, Expected: problem.Message})
	}
	return list
}

// maxMistakes is the greatest number of field errors in one answer.
const maxMistakes = 200

func (a *Admin) getConfiguration(*fasthttp.RequestCtx) (answer any, err error) {
	document := a.exchange.ActiveConfigurationJSON()
	if document == nil {
		return nil, httperror.Unavailable
	}
	return payload.EncodedJSON(document), nil
}

// ConfigurationChangeResult is the answer to a configuration document: the changes that it makes,
// the initial values in it that have no effect, and warnings.
type ConfigurationChangeResult struct {
	Changes   []string `json:"changes"`
	Unapplied []string `json:"unapplied"` // initial values without effect, because others exist already
	Warnings  []string `json:"warnings"`  // about things that are allowed but probably unintended
}

// applyConfiguration activates the configuration document in the request's body, and answers
// with the changes. With ?dry=1 it only lists the changes.
func (a *Admin) applyConfiguration(ctx *fasthttp.RequestCtx) (answer any, err error) {
	document, variables, err := readConfigurationDocument(ctx)
	if err != nil {
		return nil, err
	}
	changed, err := a.exchange.ApplyConfiguration(document, variables, isDryRun(ctx.QueryArgs()), callerNameOf(ctx))
	if err != nil {
		return nil, err
	}
	changed.Changes, changed.Unapplied = append([]string{}, changed.Changes...), append([]string{}, changed.Unapplied...)
	changed.Warnings = append([]string{}, changed.Warnings...)
	return changed, nil
}

// TypeApply is the media type of a document with the environment variables that it uses.
const TypeApply = "application/vnd.pingpost.apply+json"

// readConfigurationDocument returns the configuration document in the request's body. With the
// media type TypeApply the body also has the variables that the document uses.
func readConfigurationDocument(ctx *fasthttp.RequestCtx) (document []byte, variables map[string]string, err error) {
	if kind, _, _ := strings.Cut(string(ctx.Request.Header.ContentType()), ";"); !strings.EqualFold(strings.TrimSpace(kind), TypeApply) {
		return payload.RequestBody(ctx), nil, nil
	}
	var sent struct {
		Document  *string           `json:"document"`
		Variables map[string]string `json:"variables"`
	}
	decoder := json.NewDecoder(bytes.NewReader(payload.RequestBody(ctx)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&sent); err != nil || sent.Document == nil || decoder.More() {
		return nil, nil, request.NewMalformedJSONError("The body is not a JSON object with the member document (a text) and, optionally, variables (an object of texts).")
	}
	return []byte(*sent.Document), sent.Variables, nil
}

// isDryRun reports whether the request has the parameter dry. Any value counts except 0, false
// and no. So a misspelt value does not make a document take effect.
func isDryRun(query *fasthttp.Args) bool {
	if !query.Has("dry") {
		return false
	}
	switch string(query.Peek("dry")) {
	case "0", "false", "no":
		return false
	}
	return true
}

// ConfigDriftStore compares the configuration file with the exchange's own entries. The exchange
// implements it.
type ConfigDriftStore interface {
	// ConfigDrift reads the file and returns the differences that need a decision.
	ConfigDrift() (*ConfigDrift, error)
	// ResolveConfigDrift takes one side of the drift. The error may be *ConfigChangeRefusedError,
	// engine.ErrNotFound or *syntax.Problems.
	ResolveConfigDrift(request *ConfigDriftResolution) (*ConfigurationChangeResult, error)
}

// ConfigDrift has the entries of the configuration file that changed since the operator last
// accepted them, and that the exchange does not have in the file's version, in JSON.
type ConfigDrift struct {
	File      string             `json:"file"`
	FileError string             `json:"file_error,omitempty"` // why the file cannot be compared
	Enforced  bool               `json:"enforced"`             // the file always applies, so there is no drift
	Entries   []ConfigDriftEntry `json:"entries"`
}

// ConfigDriftEntry is one entry that drifts, in JSON.
type ConfigDriftEntry struct {
	Entry   string               `json:"entry"` // such as buyers[buy_blue]
	Kind    canonical.Collection `json:"kind"`
	ID      string               `json:"id"`
	Change  DriftChange          `json:"change"`
	Changes []string             `json:"changes"` // from the exchange's version to the file's
}

// DriftChange says what happened to an entry of the file.
type DriftChange string

// The values of DriftChange.
const (
	DriftAdded   DriftChange = "added"
	DriftChanged DriftChange = "changed"
	DriftRemoved DriftChange = "removed"
)

// ConfigDriftResolution is an operator's decision about drifting entries, from JSON.
type ConfigDriftResolution struct {
	Side    DriftSide `json:"side"`
	Entries []string  `json:"entries"` // as ConfigDriftEntry.Entry; empty: all
	By      string    `json:"-"`
}

// DriftSide is the version of an entry that an operator chooses.
type DriftSide string

// The values of DriftSide.
const (
	DriftSideFile     DriftSide = "file"
	DriftSideExchange DriftSide = "exchange"
)

// maxDriftEntries bounds the entries that one request names.
const maxDriftEntries = 10_000

func (a *Admin) getConfigDrift(*fasthttp.RequestCtx) (answer any, err error) {
	drift, err := a.exchange.ConfigDrift()
	if err != nil {
		return nil, err
	}
	drift.Entries = append([]ConfigDriftEntry{}, drift.Entries...)
	return drift, nil
}

// resolveConfigDrift answers POST config/drift: it takes the file's or the exchange's side, and
// returns the changes.
func (a *Admin) resolveConfigDrift(ctx *fasthttp.RequestCtx) (answer any, err error) {
	request := ConfigDriftResolution{By: callerNameOf(ctx)}
	if err := payload.DecodeJSONBody(ctx, &request); err != nil {
		return nil, err
	}
	var faults payload.FieldErrors
	faults.AddIf(request.Side != DriftSideFile && request.Side != DriftSideExchange, "side", errcode.FieldNotAllowedValue, "file or exchange")
	faults.AddIf(len(request.Entries) > maxDriftEntries, "entries", errcode.FieldTooLong, "at most 10,000 entries")
	if len(faults) > 0 {
		return nil, payload.NewInvalidFieldsError(faults)
	}
	result, err := a.exchange.ResolveConfigDrift(&request)
	if err != nil {
		return nil, err
	}
	return map[string]any{"changes": append([]string{}, result.Changes...), "unapplied": append([]string{}, result.Unapplied...)}, nil
}
