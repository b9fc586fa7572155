package server

import (
	"bytes"
	"net/url"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine/market"
	"pingpost/server/strictjson"
)

// tokenForm is what the body of a request for a token says. What was left out
// is empty, as is what was sent without a value: to OAuth they are the same.
type tokenForm struct {
	grant, scope string
	login        login
}

// login is by what a client shows who it is.
type login struct{ id, secret string }

func (l login) isEmpty() bool { return l == login{} }

// parameter is where a parameter goes; nil: nobody asked for it.
func (f *tokenForm) parameter(name string) *string {
	switch name {
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
	faultTokenType   = fault{415, errcode.UnsupportedMediaType, "The body must be a form or a JSON object, sent as Content-Type: application/x-www-form-urlencoded or application/json."}
	faultTokenForm   = fault{400, errcode.InvalidRequest, "The form is not well-formed: it must be pairs of name=value with & between them, percent-encoded, at most 32."}
	faultTokenTwice  = fault{400, errcode.InvalidRequest, "A parameter is given twice. Send each one once."}
	faultTokenMember = fault{400, errcode.InvalidRequest, "grant_type, client_id, client_secret and scope must be strings."}
)

// readTokenForm reads a body in either form, by its Content-Type.
func readTokenForm(header *fasthttp.RequestHeader, r *room, read fault) (tokenForm, fault) {
	kind := header.ContentType()
	switch {
	case read.status != 0:
		return tokenForm{}, read
	case len(header.ContentEncoding()) > 0:
		return tokenForm{}, faultTokenType
	case isJSON(kind):
		return parseTokenJSON(&r.object, r.body)
	case isOfType(kind, typeForm):
		return parseTokenForm(r.body)
	}
	return tokenForm{}, faultTokenType
}

func parseTokenJSON(object *strictjson.Object, body []byte) (f tokenForm, bad fault) {
	if err := object.Parse(body); err != nil {
		return tokenForm{}, fault{400, errcode.InvalidRequest, explain(err)}
	}
	for _, member := range object.Members() {
		into := f.parameter(string(member.Name))
		switch {
		case into == nil, member.Kind == market.JSONNull:
		case member.Kind != market.JSONString:
			return tokenForm{}, faultTokenMember
		default:
			*into = string(member.Text)
		}
	}
	return f, fault{}
}

// maxParameters bounds a form's pairs: OAuth has four of them here, and the
// others are passed over.
const maxParameters = 32

func parseTokenForm(body []byte) (f tokenForm, bad fault) {
	if bytes.Count(body, []byte{'&'}) >= maxParameters {
		return tokenForm{}, faultTokenForm
	}
	pairs, err := url.ParseQuery(string(body))
	if err != nil {
		return tokenForm{}, faultTokenForm
	}
	for name, values := range pairs {
		if len(values) > 1 {
			return tokenForm{}, faultTokenTwice
		}
		if into := f.parameter(name); into != nil {
			*into = values[0]
		}
	}
	return f, fault{}
}

// basicLogin reads HTTP Basic, where id and secret are encoded as in a form
// before they are joined (RFC 6749, 2.3.1). What is there and cannot be read is
// nobody's login, and shown all the same.
func basicLogin(header *fasthttp.RequestHeader) (l login, shown bool) {
	lines := header.PeekAll(fasthttp.HeaderAuthorization)
	if len(lines) != 1 {
		return login{}, len(lines) > 1
	}
	id, secret, ok := basicAuth(string(lines[0]))
	if !ok {
		return login{}, true
	}
	var badID, badSecret error
	l.id, badID = url.QueryUnescape(id)
	l.secret, badSecret = url.QueryUnescape(secret)
	if badID != nil || badSecret != nil {
		return login{}, true
	}
	return l, true
}
