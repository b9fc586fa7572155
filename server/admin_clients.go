package server

import (
	"strings"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// owned is for a path below a supplier or a buyer: it finds the owner of what
// the path is about.
func (a *Admin) owned(kind event.NameKind, h func(*fasthttp.RequestCtx, *owner)) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		e := a.engineOr503(ctx)
		if e == nil {
			return
		}
		id := parameter(ctx, "id")
		ref := e.State().RefOf(kind, id)
		if ref == 0 {
			a.fail(ctx, fault{404, errcode.NotFound, "No supplier or buyer of this id was ever configured."})
			return
		}
		h(ctx, &owner{engine: e, kind: kind, id: id, ref: ref})
	}
}

// owner is a supplier or a buyer that an operator looks at.
type owner struct {
	engine *engine.Engine
	kind   event.NameKind
	id     string
	ref    market.Ref
}

// live are the owner's good credentials of a kind, oldest first.
func (o *owner) live(kind event.CredentialKind) []state.Credential {
	return o.engine.State().CredentialsOf(kind, o.kind, o.ref)
}

// secretsOf are the good secrets of one of the owner's clients.
func (o *owner) secretsOf(client string) (secrets []state.Credential) {
	for _, c := range o.live(event.CredentialOAuthClient) {
		if c.Client == client {
			secrets = append(secrets, c)
		}
	}
	return secrets
}

// clients lists an owner's OAuth clients, each with its good secrets: how each
// begins, since when it is good, and what tokens it is good for.
func (a *Admin) clients(ctx *fasthttp.RequestCtx, o *owner) {
	var names []string
	secrets := make(map[string][]byte)
	for _, c := range o.live(event.CredentialOAuthClient) {
		if secrets[c.Client] == nil {
			names = append(names, c.Client)
		} else {
			secrets[c.Client] = append(secrets[c.Client], ',')
		}
		body := appendSecret(append(secrets[c.Client], '{'), &c)
		secrets[c.Client] = append(appendScopes(append(body, ','), c.Scopes), '}')
	}
	body := []byte(`{"clients":[`)
	for i, name := range names {
		if i > 0 {
			body = append(body, ',')
		}
		body = market.AppendJSONString(append(body, `{"client_id":`...), []byte(name))
		body = append(append(append(body, `,"secrets":[`...), secrets[name]...), "]}"...)
	}
	ctx.SetContentType(typeJSON)
	ctx.SetBody(append(body, "]}\n"...))
}

func appendScopes(body []byte, scopes event.Scopes) []byte {
	body = append(body, `"scopes":[`...)
	for i, name := range scopes.Names() {
		if i > 0 {
			body = append(body, ',')
		}
		body = append(append(append(body, '"'), name...), '"')
	}
	return append(body, ']')
}

// addSecret makes a new secret for an OAuth client, and the client with its
// first one. It is shown this once; two are good side by side, a third pushes the
// oldest out. Without scopes in the body it has those of the newest one.
func (a *Admin) addSecret(ctx *fasthttp.RequestCtx, o *owner) {
	client := parameter(ctx, "client")
	if client == "" || len(client) > maxClient || strings.ContainsFunc(client, notInClient) {
		a.fail(ctx, faultPayload, market.FieldError{
			Field: "client_id", Code: errcode.FieldInvalidFormat, Expected: "1 to 128 visible ASCII characters and no colon",
		})
		return
	}
	live := o.secretsOf(client)
	otherwise := event.ScopePing | event.ScopePost
	if o.kind == event.NameBuyer {
		otherwise = event.ScopeWebhook
	}
	if len(live) > 0 {
		otherwise = live[len(live)-1].Scopes
	}
	scopes, ok := a.scopes(ctx, otherwise)
	if !ok {
		return
	}
	secret := newSecret("sec_", live)
	err := o.engine.By(actorOf(ctx)).AddCredential(&engine.Credential{
		Kind: event.CredentialOAuthClient, Owner: o.kind, ID: o.id, Client: client, Scopes: scopes,
		Hash: a.operator.Tokens().HashClient([]byte(client), []byte(secret)), Hint: KeyHint(secret),
	})
	if err != nil {
		a.failWith(ctx, err)
		return
	}
	body := market.AppendJSONString([]byte(`{"client_id":`), []byte(client))
	body = append(body, `,"client_secret":"`+secret+`","hint":"`+KeyHint(secret)+`",`...)
	sendSecret(ctx, append(appendScopes(body, scopes), '}'))
}

// maxClient is the longest name of a client; the configuration has the same.
const maxClient = 128

func notInClient(r rune) bool { return r <= ' ' || r > '~' || r == ':' }

// scopes reads {"scopes": […]}; without a body, or without the member, they are
// otherwise. Not ok: it was answered already.
func (a *Admin) scopes(ctx *fasthttp.RequestCtx, otherwise event.Scopes) (scopes event.Scopes, ok bool) {
	var body struct {
		Scopes *[]string `json:"scopes"`
	}
	if len(bodyOf(ctx)) == 0 {
		return otherwise, true
	}
	if !a.document(ctx, &body) {
		return 0, false
	}
	if body.Scopes == nil {
		return otherwise, true
	}
	for _, name := range *body.Scopes {
		scope, known := event.ParseScope(name)
		if !known {
			scopes = 0
			break
		}
		scopes |= scope
	}
	if scopes == 0 {
		a.fail(ctx, faultPayload, market.FieldError{
			Field: "scopes", Code: errcode.FieldNotAllowedValue, Expected: "one or more of ping, post and webhook",
		})
	}
	return scopes, scopes != 0
}

// revokeClient ends a client: all of its secrets, and every token of theirs.
func (a *Admin) revokeClient(ctx *fasthttp.RequestCtx, o *owner) {
	a.revokeAll(ctx, o.engine, o.secretsOf(parameter(ctx, "client")), func(*state.Credential) bool { return true })
}

// revokeSecret ends one of a client's secrets, and every token given for it.
func (a *Admin) revokeSecret(ctx *fasthttp.RequestCtx, o *owner) {
	hint := parameter(ctx, "hint")
	a.revokeAll(ctx, o.engine, o.secretsOf(parameter(ctx, "client")), func(c *state.Credential) bool { return c.Hint == hint })
}
