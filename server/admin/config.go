package admin

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/config/syntax"
	"pingpost/engine"
	"pingpost/engine/market"
	"pingpost/internal/strictjson"
	"pingpost/server/httperror"
	"pingpost/server/request"
)

var (
	errConfigTooLarge   = httperror.New(413, errcode.PayloadTooLarge, "The configuration is larger than 4 MiB. Write a larger one to the configuration file, and send SIGHUP.")
	errEntryTooLarge    = httperror.New(413, errcode.PayloadTooLarge, "The entry is larger than 1 MiB. Write a larger one to the configuration file, and send SIGHUP.")
	errListTooLarge     = httperror.New(413, errcode.PayloadTooLarge, "The suppression list exceeds 4 GiB or 50,000,000 entries. Divide it into several lists.")
	errUploadUnderWay   = httperror.New(409, errcode.Conflict, "Another suppression list is being uploaded. Send this one after that upload has ended.")
	errApplyUnderWay    = httperror.New(409, errcode.Conflict, "Another configuration is being applied. Check its changes, then send this one again.")
	errCrossOrigin      = httperror.New(403, errcode.Forbidden, "A page of another origin sent this request through a browser. Send it from a page of this address, or without a browser.")
	errNotAuthenticated = httperror.New(401, errcode.Unauthorized, "Authentication is required: a session, a personal API token as a bearer token, or HTTP Basic with a user's name and password, or with any name and the configured password.")
	errBadPassword      = httperror.New(401, errcode.Unauthorized, "The password is wrong. Send the configured password by HTTP Basic, with any user name.").CountedAsWrongCredential()
)

// operatorRequestTimeout limits the time to receive an operator's request, and the time that a connection may be
// idle. The answer may take twice as long.
const operatorRequestTimeout = 30 * time.Second

// sendError answers with an error under a new request id. fields are the errors of single
// fields of the payload.
func (a *Admin) sendError(ctx *fasthttp.RequestCtx, failure httperror.Error, fields ...market.FieldError) {
	httperror.Write(ctx, httperror.NewRequestID(), failure, fields...)
}

// detailedAPIError is an error of the API with the errors of single fields of the request, and with
// further members of its JSON document.
type detailedAPIError struct {
	failure httperror.Error
	fields  []market.FieldError
	members map[string]any
}

func (d *detailedAPIError) Error() string { return d.failure.Message }

func newInvalidFieldsError(fields []market.FieldError) error {
	return &detailedAPIError{failure: httperror.InvalidPayload, fields: fields}
}

// fieldErrors collects the errors of a request's fields.
type fieldErrors []market.FieldError

// addErrorIf adds an error of a field if isInvalid is set.
func (f *fieldErrors) addErrorIf(isInvalid bool, field, code, expected string) {
	if isInvalid {
		*f = append(*f, market.FieldError{Field: field, Code: code, Expected: expected})
	}
}

func newInvalidFieldError(fieldName, code, expected string) error {
	return newInvalidFieldsError([]market.FieldError{{Field: fieldName, Code: code, Expected: expected}})
}

// encodedJSON is an encoded JSON document.
type encodedJSON []byte

// withAnswer returns a handler that answers with the document that h returns, as JSON or as a stream,
// or with its error. Without a document the status is 204, unless h has set another one.
func (a *Admin) withAnswer(h func(ctx *fasthttp.RequestCtx) (answer any, err error)) fasthttp.RequestHandler {
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
		case interface{ sendAnswer(*fasthttp.RequestCtx) }:
			answer.sendAnswer(ctx)
		case encodedJSON:
			ctx.SetContentType(httperror.TypeJSON)
			ctx.SetBody(answer)
		default:
			sendJSON(ctx, answer)
		}
	}
}

// withEngine is withAnswer for a handler that needs the engine. While the exchange starts or stops
// there is no engine, and the answer is a 503.
func (a *Admin) withEngine(h func(ctx *fasthttp.RequestCtx, e *engine.Engine) (answer any, err error)) fasthttp.RequestHandler {
	return a.withAnswer(func(ctx *fasthttp.RequestCtx) (answer any, err error) {
		e := a.operator.Engine()
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
	var detailed *detailedAPIError
	var conflict *ConfigEntryConflict
	var problems *syntax.Problems
	var rotation *engine.TooManySecretsError
	switch {
	case errors.As(err, &failure):
		a.sendError(ctx, failure)
	case errors.As(err, &detailed):
		a.sendError(ctx, detailed.failure, detailed.fields...)
		addMembersToErrorAnswer(ctx, detailed.members)
	case errors.As(err, &conflict):
		a.sendAsAPIError(ctx, conflict.asAPIError())
	case errors.As(err, &rotation):
		a.sendAsAPIError(ctx, newSecretToReplaceRequiredError(convertAll(rotation.Active, newCredentialSummary)))
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
	document := a.operator.Configuration()
	if document == nil {
		return nil, httperror.Unavailable
	}
	return encodedJSON(document), nil
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
	changed, err := a.operator.ApplyConfiguration(document, variables, isDryRun(ctx.QueryArgs()), callerNameOf(ctx))
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
		return requestBodyOf(ctx), nil, nil
	}
	var sent struct {
		Document  *string           `json:"document"`
		Variables map[string]string `json:"variables"`
	}
	decoder := json.NewDecoder(bytes.NewReader(requestBodyOf(ctx)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&sent); err != nil || sent.Document == nil || decoder.More() {
		return nil, nil, request.NewMalformedJSONError("The body is not an object of document, a text, and variables, an object of texts.")
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

// decodeJSONBody decodes the request's body, which must be a JSON object, into the struct to
// which destination points.
func decodeJSONBody(ctx *fasthttp.RequestCtx, destination any) error {
	err := strictjson.Unmarshal(requestBodyOf(ctx), destination)
	var syntax *strictjson.SyntaxError
	var wrong *strictjson.TypeError
	switch {
	case errors.As(err, &syntax), !bytes.HasPrefix(bytes.TrimLeft(requestBodyOf(ctx), " \t\r\n"), []byte("{")): // null would fit any type
		return request.NewMalformedJSONError(request.DescribeJSONError(err))
	case err == nil:
		return nil
	case errors.As(err, &wrong) && wrong.Field != "":
		return newInvalidFieldError(wrong.Field, errcode.FieldWrongType, "a value of another type")
	}
	return newInvalidFieldError("body", errcode.FieldWrongType, "an object whose members have their types and ranges")
}
