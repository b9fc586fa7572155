package payload

import (
	"bytes"
	"errors"
	"net/url"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/internal/strictjson"
	"pingpost/server/request"
)

// BodyRead is the name under which a request stores its body once it has been read.
const BodyRead = "body"

// RequestBody returns the request's body, which was read before the handler runs.
func RequestBody(ctx *fasthttp.RequestCtx) []byte {
	body, _ := ctx.UserValue(BodyRead).([]byte)
	return body
}

// PathParameter returns a variable part of the request's path, such as id in /buyers/{id},
// percent-decoded.
func PathParameter(ctx *fasthttp.RequestCtx, name string) string {
	raw, _ := ctx.UserValue(name).(string)
	if plain, err := url.PathUnescape(raw); err == nil {
		return plain
	}
	return raw
}

// DecodeJSONBody decodes the request's body, which must be a JSON object, into the struct to which
// destination points. It ignores unknown members.
func DecodeJSONBody(ctx *fasthttp.RequestCtx, destination any) error {
	err := strictjson.UnmarshalUnambiguous(RequestBody(ctx), destination)
	var syntax *strictjson.SyntaxError
	var wrong *strictjson.TypeError
	switch {
	case errors.As(err, &syntax), !bytes.HasPrefix(bytes.TrimLeft(RequestBody(ctx), " \t\r\n"), []byte("{")): // null would fit any type
		return request.NewMalformedJSONError(request.DescribeJSONError(err))
	case err == nil:
		return nil
	case errors.As(err, &wrong) && wrong.Field != "":
		return NewInvalidFieldError(wrong.Field, errcode.FieldWrongType, "a value of another type")
	}
	return NewInvalidFieldError("body", errcode.FieldWrongType, "an object whose members have their types and ranges")
}
