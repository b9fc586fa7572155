package public

import (
	"bytes"
	"net/url"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine/market"
	"pingpost/internal/strictjson"
	"pingpost/server/httperror"
	"pingpost/server/request"
)

// tokenRequest has the parameters of a token request. A missing parameter is empty, because OAuth
// treats empty and missing ones alike.
type tokenRequest struct {
	grant, scope string
	login        oauthClientLogin
}

// oauthClientLogin is the id and the secret that an OAuth client sent.
type oauthClientLogin struct{ id, secret string }

func (l oauthClientLogin) isEmpty() bool { return l == oauthClientLogin{} }

// fieldOfParameter returns a pointer to the field that stores the parameter with this name, or nil for
// a parameter that is ignored.
func (f *tokenRequest) fieldOfParameter(parameterName string) *string {
	switch parameterName {
	case "grant_type":
		return &f.grant
	case "client_id":
		return &f.login.id
	case "client_secret":
		return &f.login.secret
	case "scope":
		return &f.scope
	}
	return nil
}

const typeForm = "application/x-www-form-urlencoded"

var (
	errTokenType   = httperror.New(415, errcode.UnsupportedMediaType, "The body must be a form or a JSON object, sent as Content-Type: application/x-www-form-urlencoded or application/json.")
	errTokenForm   = httperror.New(400, errcode.InvalidRequest, "The form is not well-formed: it must be pairs of name=value with & between them, percent-encoded, at most 32.")
	errTokenTwice  = httperror.New(400, errcode.InvalidRequest, "A parameter is given twice. Send each one once.")
	errTokenMember = httperror.New(400, errcode.InvalidRequest, "grant_type, client_id, client_secret and scope must be strings.")
)

// parseTokenRequestBody parses the body of a token request, which is a form or JSON according to its
// Content-Type. readErr is the error of reading the body, if any.
func parseTokenRequestBody(header *fasthttp.RequestHeader, r *scratch, readErr httperror.Error) (tokenRequest, httperror.Error) {
	kind := header.ContentType()
	switch {
	case readErr.Status != 0:
		return tokenRequest{}, readErr
	case len(header.ContentEncoding()) > 0:
		return tokenRequest{}, errTokenType
	case request.IsJSON(kind):
		return parseJSONTokenRequest(&r.object, r.body)
	case request.HasMediaType(kind, typeForm):
		return parseURLEncodedTokenRequest(r.body)
	}
	return tokenRequest{}, errTokenType
}

func parseJSONTokenRequest(object *strictjson.Object, body []byte) (f tokenRequest, bad httperror.Error) {
	if err := object.Parse(body); err != nil {
		return tokenRequest{}, httperror.New(400, errcode.InvalidRequest, request.DescribeJSONError(err))
	}
	for _, member := range object.Members() {
		into := f.fieldOfParameter(string(member.Name))
		switch {
		case into == nil, member.Kind == market.JSONNull:
		case member.Kind != market.JSONString:
			return tokenRequest{}, errTokenMember
		default:
			*into = string(member.Text)
		}
	}
	return f, httperror.Error{}
}

// maxParameters is the greatest number of parameters in a token request's form. Four are used,
// and others are ignored.
const maxParameters = 32

func parseURLEncodedTokenRequest(body []byte) (f tokenRequest, bad httperror.Error) {
	if bytes.Count(body, []byte{'&'}) >= maxParameters {
		return tokenRequest{}, errTokenForm
	}
	pairs, err := url.ParseQuery(string(body))
	if err != nil {
		return tokenRequest{}, errTokenForm
	}
	for name, values := range pairs {
		if len(values) > 1 {
			return tokenRequest{}, errTokenTwice
		}
		if into := f.fieldOfParameter(name); into != nil {
			*into = values[0]
		}
	}
	return f, httperror.Error{}
}

// readBasicAuthLogin returns the OAuth client's id and secret from HTTP Basic. Both are form-encoded
// inside it (RFC 6749, 2.3.1). hasAuthorizationHeader reports whether there is an Authorization header
// of any scheme. A header that is malformed, repeated or of another scheme gives an empty login.
func readBasicAuthLogin(header *fasthttp.RequestHeader) (l oauthClientLogin, hasAuthorizationHeader bool) {
	lines := header.PeekAll(fasthttp.HeaderAuthorization)
	if len(lines) != 1 {
		return oauthClientLogin{}, len(lines) > 1
	}
	id, secret, ok := request.ParseBasicAuth(string(lines[0]))
	if !ok {
		return oauthClientLogin{}, true
	}
	var badID, badSecret error
	l.id, badID = url.QueryUnescape(id)
	l.secret, badSecret = url.QueryUnescape(secret)
	if badID != nil || badSecret != nil {
		return oauthClientLogin{}, true
	}
	return l, true
}
