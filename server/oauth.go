package server

import (
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
	"pingpost/server/token"
)

var (
	faultClientMissing = fault{401, errcode.InvalidClient, "The request does not say whose it is. Send client_id and client_secret, in the body or by HTTP Basic."}
	faultClientUnknown = fault{401, errcode.InvalidClient, "The client is not known, or the secret is not one of its own, or no longer good."}
	faultClientTwice   = fault{400, errcode.InvalidRequest, "The client is named both in the body and in the Authorization header. Use one of them."}
	faultGrantMissing  = fault{400, errcode.InvalidRequest, "grant_type is missing. Send grant_type=client_credentials."}
	faultGrantUnknown  = fault{400, errcode.UnsupportedGrantType, "Only the grant_type client_credentials is supported here."}
	faultScopeInvalid  = fault{400, errcode.InvalidScope, "The scope is not one of this client's. Leave it out to get all that the client has, or name some of them with spaces between."}
)

const (
	headerChallenge  = "WWW-Authenticate"
	challengeBasic   = `Basic realm="pingpost"`
	grantCredentials = "client_credentials"
)

// giveToken gives a client an access token: POST /oauth/token, the client
// credentials grant of RFC 6749. A login by HTTP Basic is judged before the
// body, as on every path; one in the body when the body could be read.
func (s *Server) giveToken(ctx *fasthttp.RequestCtx, id market.RequestID, r *room, read fault) {
	ctx.Response.Header.Set("Cache-Control", "no-store")
	ctx.Response.Header.Set("Pragma", "no-cache")
	form, bad := readTokenForm(&ctx.Request.Header, r, read)
	shown, basic := basicLogin(&ctx.Request.Header)
	if !basic {
		shown = form.login
	}
	client, known := s.clientOf(shown)
	switch {
	case basic && (form.login.secret != "" || form.login.id != "" && form.login.id != shown.id):
		bad = faultClientTwice
	case bad.status != 0 && !basic: // whose it is cannot be known
	case shown.isEmpty() && !basic:
		bad = faultClientMissing
	case !known:
		bad = faultClientUnknown
	}
	if bad.status != 0 {
		failOAuth(ctx, id, s.wary.judge(ctx, bad, s.clock.Now()))
		return
	}
	scopes, bad := granted(&form, &client)
	if bad.status != 0 {
		failOAuth(ctx, id, bad)
		return
	}
	s.sendToken(ctx, id, r, &token.Claims{
		Owner: client.Owner, Ref: client.Ref, Scopes: scopes, Secret: client.Hash,
		Expires: s.clock.Now() + int64(s.opt.TokenLifetime),
	})
}

// What is longer than these can be nobody's, and is not hashed: a wrong login costs
// no more than a right one.
const (
	maxClientID     = 128
	maxClientSecret = 4096
)

// clientOf finds the client whose id and secret these are. Both are hashed
// together and the hash looked up, so that it takes as long for a client that
// there is as for one that there is not.
func (s *Server) clientOf(l login) (client state.Credential, known bool) {
	if len(l.id) > maxClientID || len(l.secret) > maxClientSecret {
		return state.Credential{}, false
	}
	client, known = s.engine.State().Credential(s.opt.Tokens.HashClient([]byte(l.id), []byte(l.secret)))
	if !known || client.Kind != event.CredentialOAuthClient || client.Client != l.id {
		return state.Credential{}, false
	}
	if _, known = s.callerOf(&client); known {
		client.Used.Note(s.clock.Now())
	}
	return client, known
}

// granted is what the client asks for, or all that it has where it does not say.
func granted(form *tokenForm, client *state.Credential) (scopes event.Scopes, bad fault) {
	switch form.grant {
	case "":
		return 0, faultGrantMissing
	case grantCredentials:
	default:
		return 0, faultGrantUnknown
	}
	for name := range strings.SplitSeq(form.scope, " ") {
		if name == "" {
			continue
		}
		scope, ok := event.ParseScope(name)
		if !ok || !client.Scopes.Has(scope) {
			return 0, faultScopeInvalid
		}
		scopes |= scope
	}
	if scopes == 0 {
		scopes = client.Scopes
	}
	return scopes, fault{}
}

func (s *Server) sendToken(ctx *fasthttp.RequestCtx, id market.RequestID, r *room, claims *token.Claims) {
	var text [64]byte
	ctx.SetStatusCode(fasthttp.StatusOK)
	ctx.SetContentType(typeJSON)
	ctx.Response.Header.SetBytesV(headerRequestID, id.AppendTo(text[:0]))
	r.out = s.opt.Tokens.AppendToken(append(r.out[:0], `{"access_token":"`...), claims)
	r.out = append(r.out, `","token_type":"Bearer","expires_in":`...)
	r.out = strconv.AppendInt(r.out, int64(s.opt.TokenLifetime/time.Second), 10)
	r.out = claims.Scopes.AppendTo(append(r.out, `,"scope":"`...))
	ctx.SetBody(append(r.out, `"}`...))
}

// failOAuth answers with an error as OAuth's clients read it, which is the
// interface's form with a member more. Errors of HTTP itself have none of
// OAuth's codes and stay as on every path.
func failOAuth(ctx *fasthttp.RequestCtx, id market.RequestID, f fault) {
	fail(ctx, id, f)
	switch f.code {
	case errcode.InvalidClient:
		ctx.Response.Header.Set(headerChallenge, challengeBasic)
	case errcode.InvalidRequest, errcode.InvalidScope, errcode.UnsupportedGrantType:
	default:
		return
	}
	body := appendFault(nil, id, f)
	body = market.AppendJSONString(append(body[:len(body)-1], `,"error_description":`...), []byte(f.message))
	ctx.SetBody(append(body, '}'))
}
