package public

import (
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/market/escape"
	"pingpost/engine/state"
	"pingpost/keys/token"
	"pingpost/server/httperror"
	"pingpost/server/request"
)

var (
	errClientMissing = httperror.New(401, errcode.InvalidClient, "The client credentials are missing. Send client_id and client_secret, in the body or by HTTP Basic.")
	errClientUnknown = httperror.New(401, errcode.InvalidClient, "The client is unknown, or the secret is wrong or was revoked.").CountedAsWrongCredential()
	errClientTwice   = httperror.New(400, errcode.InvalidRequest, "The client credentials are both in the body and in the Authorization header. Use one of them.")
	errGrantMissing  = httperror.New(400, errcode.InvalidRequest, "grant_type is missing. Send grant_type=client_credentials.")
	errGrantUnknown  = httperror.New(400, errcode.UnsupportedGrantType, "Only the grant_type client_credentials is supported here.")
	errScopeInvalid  = httperror.New(400, errcode.InvalidScope, "The client does not have this scope. Omit scope to get all scopes of the client, or list some of them, separated by spaces.")
)

const grantCredentials = "client_credentials"

// issueToken answers POST /oauth/token with an access token (RFC 6749, grant type
// client_credentials). To a client that authenticates by HTTP Basic it reports a wrong credential
// rather than an error of the body. For a client with its secret in the body it is the opposite.
func (s *Server) issueToken(ctx *fasthttp.RequestCtx, id market.RequestID, r *scratch, readErr httperror.Error) {
	ctx.Response.Header.Set("Cache-Control", "no-store")
	ctx.Response.Header.Set("Pragma", "no-cache")
	form, bad := parseTokenRequestBody(&ctx.Request.Header, r, readErr)
	shown, basic := readBasicAuthLogin(&ctx.Request.Header)
	if !basic {
		shown = form.login
	}
	client, known := s.authenticateOAuthClient(r.engine, shown)
	switch {
	case basic && (form.login.secret != "" || form.login.id != "" && form.login.id != shown.id):
		bad = errClientTwice
	case bad.Status != 0 && !basic: // no credential could be read from the body
	case shown.isEmpty() && !basic:
		bad = errClientMissing
	case !known:
		bad = errClientUnknown
	}
	if bad.Status != 0 {
		sendOAuthError(ctx, id, s.authFailures.CountFailureAndSelectError(ctx, bad, s.clock.Now()))
		return
	}
	scopes, bad := checkGrantTypeAndScopes(&form, &client)
	if bad.Status != 0 {
		sendOAuthError(ctx, id, bad)
		return
	}
	if faults := request.QueryParameterNameErrors(ctx); len(faults) > 0 {
		httperror.Write(ctx, id, httperror.InvalidPayload, faults...)
		return
	}
	s.signAndSendToken(ctx, id, r, &token.Claims{
		Owner: client.Owner, Ref: client.Ref, Scopes: scopes, Secret: client.Hash,
		Expires: s.clock.Now() + int64(s.opt.TokenLifetime),
	})
}

// Longer values cannot be valid and are not hashed, so a wrong login costs no more than a
// right one.
const (
	maxClientID     = 128
	maxClientSecret = 4096
)

// authenticateOAuthClient returns the OAuth client with this id and secret, and records the use of the
// secret. It finds the client by the hash of both together, so that an unknown client takes as
// long as a known one.
func (s *Server) authenticateOAuthClient(e *engine.Engine, l oauthClientLogin) (client state.Credential, known bool) {
	if len(l.id) > maxClientID || len(l.secret) > maxClientSecret {
		return state.Credential{}, false
	}
	client, known = e.State().CredentialByHash(s.opt.Tokens.HashClientCredentials([]byte(l.id), []byte(l.secret)))
	if !known || client.Kind != event.CredentialOAuthClient || client.Client != l.id {
		return state.Credential{}, false
	}
	if _, known = s.findSupplierOrBuyer(&client); known {
		client.LastUse.RecordUse(s.clock.Now())
	}
	return client, known
}

// checkGrantTypeAndScopes returns the scopes that the token request asks for, or all scopes of the
// client if it names no scope. It returns an error for a missing or unsupported grant type, and for a
// scope that the client does not have.
func checkGrantTypeAndScopes(form *tokenRequest, client *state.Credential) (scopes event.OAuthScopes, bad httperror.Error) {
	switch form.grant {
	case "":
		return 0, errGrantMissing
	case grantCredentials:
	default:
		return 0, errGrantUnknown
	}
	for name := range strings.SplitSeq(form.scope, " ") {
		if name == "" {
			continue
		}
		scope, ok := event.ParseOAuthScope(name)
		if !ok || !client.Scopes.ContainsAll(scope) {
			return 0, errScopeInvalid
		}
		scopes |= scope
	}
	if scopes == 0 {
		scopes = client.Scopes
	}
	return scopes, httperror.Error{}
}

func (s *Server) signAndSendToken(ctx *fasthttp.RequestCtx, id market.RequestID, r *scratch, claims *token.Claims) {
	var text [64]byte
	ctx.SetStatusCode(fasthttp.StatusOK)
	ctx.SetContentType(httperror.TypeJSON)
	ctx.Response.Header.SetBytesV(httperror.HeaderRequestID, id.AppendAsText(text[:0]))
	r.out = s.opt.Tokens.AppendSealedToken(append(r.out[:0], `{"access_token":"`...), claims)
	r.out = append(r.out, `","token_type":"Bearer","expires_in":`...)
	r.out = strconv.AppendInt(r.out, int64(s.opt.TokenLifetime/time.Second), 10)
	r.out = claims.Scopes.AppendSpaceSeparatedNames(append(r.out, `,"scope":"`...))
	ctx.SetBody(append(r.out, `"}`...))
}

// sendOAuthError answers a token request with an error. An OAuth error also has the member
// error_description, which OAuth libraries read. General HTTP errors have no OAuth code, and
// only the API's members.
func sendOAuthError(ctx *fasthttp.RequestCtx, id market.RequestID, f httperror.Error) {
	httperror.Write(ctx, id, f)
	switch f.Code {
	case errcode.InvalidClient:
		ctx.Response.Header.Set(httperror.HeaderChallenge, httperror.ChallengeBasic)
	case errcode.InvalidRequest, errcode.InvalidScope, errcode.UnsupportedGrantType:
	default:
		return
	}
	body := httperror.AppendJSON(nil, id, f)
	body = escape.AppendJSONString(append(body[:len(body)-1], `,"error_description":`...), []byte(f.Message))
	ctx.SetBody(append(body, '}'))
}
