package server

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine"
	"pingpost/engine/market"
	"pingpost/server/config"
	"pingpost/server/strictjson"
)

// slowest is how long an operator's request or answer may take on the wire.
const slowest = 30 * time.Second

// fail answers with an error in the interface's form.
func (a *Admin) fail(ctx *fasthttp.RequestCtx, f fault, fields ...market.FieldError) {
	fail(ctx, newRequestID(), f, fields...)
}

// newRequestID draws one where there may be no engine yet.
func newRequestID() market.RequestID {
	var random [10]byte
	_, _ = rand.Read(random[:])
	return market.RequestID(market.MakeID(time.Now().UnixMilli(), random))
}

// failWith answers with what the engine said.
func (a *Admin) failWith(ctx *fasthttp.RequestCtx, err error) {
	var problems *config.Problems
	switch {
	case errors.Is(err, engine.ErrNotFound):
		a.fail(ctx, fault{404, errcode.NotFound, err.Error()})
	case errors.Is(err, engine.ErrConflict):
		a.fail(ctx, fault{409, errcode.InvalidTransition, err.Error()})
	case errors.As(err, &problems):
		a.fail(ctx, fault{422, errcode.InvalidPayload, err.Error()}, mistakes(*problems)...)
	default:
		a.fail(ctx, fault{503, errcode.Unavailable, err.Error()})
	}
}

// mistakes are a document's problems as the interface lists them.
func mistakes(problems config.Problems) []market.FieldError {
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

// maxMistakes bounds a list of them.
const maxMistakes = 200

// engineOr503 is the engine, once there is one.
func (a *Admin) engineOr503(ctx *fasthttp.RequestCtx) *engine.Engine {
	e := a.operator.Engine()
	if e == nil {
		a.fail(ctx, faultUnavailable)
	}
	return e
}

// hash gives the state's hash and the position of the log it stands at.
func (a *Admin) hash(ctx *fasthttp.RequestCtx) {
	seq, hash, err := a.operator.Hash()
	if err != nil {
		a.failWith(ctx, err)
		return
	}
	ctx.SetContentType(typeJSON)
	ctx.SetBodyString(fmt.Sprintf(`{"seq":%d,"hash":"%016x"}`+"\n", seq, hash))
}

func (a *Admin) config(ctx *fasthttp.RequestCtx) {
	document := a.operator.Configuration()
	if document == nil {
		a.fail(ctx, faultUnavailable)
		return
	}
	ctx.SetContentType(typeJSON)
	ctx.SetBody(document)
}

// apply puts a document into force; with ?dry=1 it says what would change.
func (a *Admin) apply(ctx *fasthttp.RequestCtx) {
	changes, unapplied, err := a.operator.Apply(bodyOf(ctx), isDry(ctx.QueryArgs()), actorOf(ctx))
	if err != nil {
		a.failWith(ctx, err)
		return
	}
	body := appendTexts([]byte(`{"changes":[`), changes)
	body = appendTexts(append(body, `],"unapplied":[`...), unapplied)
	ctx.SetContentType(typeJSON)
	ctx.SetBody(append(body, "]}\n"...))
}

// appendTexts writes a list's texts.
func appendTexts(body []byte, texts []string) []byte {
	for i, text := range texts {
		if i > 0 {
			body = append(body, ',')
		}
		body = market.AppendJSONString(body, []byte(text))
	}
	return body
}

// isDry takes any word for yes but those that clearly say no: a document must
// not come into force because the word was another.
func isDry(query *fasthttp.Args) bool {
	if !query.Has("dry") {
		return false
	}
	switch string(query.Peek("dry")) {
	case "0", "false", "no":
		return false
	}
	return true
}

// document reads a small JSON object; false: it was answered already.
func (a *Admin) document(ctx *fasthttp.RequestCtx, into any) bool {
	err := strictjson.Unmarshal(bodyOf(ctx), into)
	var syntax *strictjson.SyntaxError
	var wrong *strictjson.TypeError
	switch {
	case errors.As(err, &syntax), !bytes.HasPrefix(bytes.TrimLeft(bodyOf(ctx), " \t\r\n"), []byte("{")): // null would fit anything
		a.fail(ctx, malformed(explain(err)))
	case err == nil:
		return true
	case errors.As(err, &wrong) && wrong.Field != "":
		a.fail(ctx, faultPayload, market.FieldError{
			Field: wrong.Field, Code: errcode.FieldWrongType, Expected: "a value of another type",
		})
	default:
		a.fail(ctx, faultPayload, market.FieldError{
			Field: "body", Code: errcode.FieldWrongType, Expected: "an object whose members have their types and ranges",
		})
	}
	return false
}

func (a *Admin) secret(ctx *fasthttp.RequestCtx) {
	var body struct {
		Value string `json:"value"`
	}
	e := a.engineOr503(ctx)
	if e == nil || !a.document(ctx, &body) {
		return
	}
	name := parameter(ctx, "name")
	if _, ok := e.State().Secret(name); !ok {
		a.fail(ctx, fault{404, errcode.NotFound, "There is no secret of this name; it is named in the configuration first."})
		return
	}
	if body.Value == "" {
		a.fail(ctx, faultPayload, market.FieldError{Field: "value", Code: errcode.FieldMissingRequired, Expected: "the new secret"})
		return
	}
	if strings.HasPrefix(name, "supplier/") && !config.Signs(body.Value) {
		a.fail(ctx, faultPayload, market.FieldError{Field: "value", Code: errcode.FieldInvalidFormat, Expected: "a webhook secret: whsec_ followed by base64"})
		return
	}
	if err := e.By(actorOf(ctx)).SetSecret(name, a.operator.Seal(name, body.Value)); err != nil {
		a.failWith(ctx, err)
		return
	}
	ctx.SetStatusCode(fasthttp.StatusNoContent)
}
