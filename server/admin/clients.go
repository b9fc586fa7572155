package admin

import (
	"encoding/hex"
	"slices"
	"strings"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
	"pingpost/server/admin/payload"
	"pingpost/server/httperror"
)

// supplierOrBuyerHandler handles a request about the supplier or buyer that its path names.
type supplierOrBuyerHandler func(ctx *fasthttp.RequestCtx, o *supplierOrBuyer) (answer any, err error)

// withSupplierOrBuyerFromPath returns a handler that finds the supplier or buyer (kind) in the
// path, and passes it to h. It answers 404 if there never was one with this id.
func (a *Admin) withSupplierOrBuyerFromPath(kind event.ConfigObjectKind, h supplierOrBuyerHandler) fasthttp.RequestHandler {
	return a.withEngine(func(ctx *fasthttp.RequestCtx, e *engine.Engine) (answer any, err error) {
		id := payload.PathParameter(ctx, "id")
		ref := e.State().RefOf(kind, id)
		if ref == 0 {
			return nil, errUnknownOwner
		}
		return h(ctx, &supplierOrBuyer{engine: e, kind: kind, id: id, ref: ref})
	})
}

var errUnknownOwner = httperror.New(404, errcode.NotFound, "No supplier or buyer of this id was ever configured.")

// supplierOrBuyer is the supplier or buyer that the request's path names. Its handlers list and
// change its credentials and its webhook.
type supplierOrBuyer struct {
	engine *engine.Engine
	kind   event.ConfigObjectKind
	id     string
	ref    market.PermanentNumber
}

// liveCredentials returns the owner's valid credentials of one kind, such as API keys, oldest
// first.
func (o *supplierOrBuyer) liveCredentials(kind event.SupplierOrBuyerCredentialKind) []state.Credential {
	return o.engine.State().CredentialsOf(kind, o.kind, o.ref)
}

// liveOAuthClientSecrets returns the valid secrets of the owner's OAuth client clientID.
func (o *supplierOrBuyer) liveOAuthClientSecrets(clientID string) (secrets []state.Credential) {
	for _, c := range o.liveCredentials(event.CredentialOAuthClient) {
		if c.Client == clientID {
			secrets = append(secrets, c)
		}
	}
	return secrets
}

// listOAuthClients lists the OAuth clients of a supplier or buyer. For each valid secret it has the
// hint, the scopes, and the times of creation and last use.
func (a *Admin) listOAuthClients(ctx *fasthttp.RequestCtx, o *supplierOrBuyer) (answer any, err error) {
	type client struct {
		ID      string                    `json:"client_id"`
		Secrets []scopedCredentialSummary `json:"secrets"`
	}
	clients := []client{}
	for _, c := range o.liveCredentials(event.CredentialOAuthClient) {
		i := slices.IndexFunc(clients, func(known client) bool { return known.ID == c.Client })
		if i < 0 {
			i, clients = len(clients), append(clients, client{ID: c.Client})
		}
		clients[i].Secrets = append(clients[i].Secrets, newScopedCredentialSummary(&c))
	}
	return map[string]any{"clients": clients}, nil
}

// scopedCredentialSummary describes a client secret or a static token in a list, by its hint and
// without its value.
type scopedCredentialSummary struct {
	ID string `json:"id,omitempty"` // of a static token
	credentialSummary
	Scopes []string `json:"scopes"`
}

func newScopedCredentialSummary(credential *state.Credential) scopedCredentialSummary {
	return scopedCredentialSummary{credentialSummary: newCredentialSummary(credential), Scopes: credential.Scopes.Names()}
}

// addOAuthClientSecret creates a secret for an OAuth client. The first secret also creates the
// client. Only this answer shows the secret. Two secrets of a client may be valid. With a third
// one the body must name the secret that it replaces. If the body has no scopes, the new secret
// has those of the newest one. A first secret then has ping and post, or webhook for a buyer.
func (a *Admin) addOAuthClientSecret(ctx *fasthttp.RequestCtx, o *supplierOrBuyer) (answer any, err error) {
	client := payload.PathParameter(ctx, "client")
	if client == "" || len(client) > maxClient || strings.ContainsFunc(client, isInvalidInClientID) {
		return nil, payload.NewInvalidFieldError("client_id", errcode.FieldInvalidFormat, "1 to 128 visible ASCII characters and no colon")
	}
	live := o.liveOAuthClientSecrets(client)
	otherwise := event.ScopePing | event.ScopePost
	if o.kind == event.ObjectBuyer {
		otherwise = event.ScopeWebhook
	}
	if len(live) > 0 {
		otherwise = live[len(live)-1].Scopes
	}
	scopes, err := readScopesFromBody(ctx, otherwise)
	if err != nil {
		return nil, err
	}
	replaced, err := readReplacedHintFromBody(ctx)
	if err != nil {
		return nil, err
	}
	secret := newSecretWithUniqueHint("sec_", live)
	err = o.engine.AsOperator(callerNameOf(ctx)).AddCredential(&engine.Credential{
		Kind: event.CredentialOAuthClient, Owner: o.kind, ID: o.id, Client: client, Scopes: scopes,
		Hash: a.exchange.CredentialHasher().HashClientCredentials([]byte(client), []byte(secret)), Hint: SecretPrefixHint(secret), Replaces: replaced,
	})
	if err != nil {
		return nil, err
	}
	return payload.SetCreatedAndNoStore(ctx, struct {
		Client    string   `json:"client_id"`
		NewClient bool     `json:"new_client"` // the client had no valid secret before
		Secret    string   `json:"client_secret"`
		Hint      string   `json:"hint"`
		Scopes    []string `json:"scopes"`
	}{client, len(live) == 0, secret, SecretPrefixHint(secret), scopes.Names()})
}

// maxClient is the greatest length of an OAuth client's id in bytes. The configuration has the
// same limit.
const maxClient = 128

func isInvalidInClientID(r rune) bool { return r <= ' ' || r > '~' || r == ':' }

// readScopesFromBody returns the scopes in the request's body, or defaultScopes if the body has no
// scopes. It returns an error for an unknown scope or an empty list.
func readScopesFromBody(ctx *fasthttp.RequestCtx, defaultScopes event.OAuthScopes) (scopes event.OAuthScopes, err error) {
	var body struct {
		Scopes *[]string `json:"scopes"`
	}
	if len(payload.RequestBody(ctx)) > 0 {
		err = payload.DecodeJSONBody(ctx, &body)
	}
	if err != nil || body.Scopes == nil {
		return defaultScopes, err
	}
	for _, name := range *body.Scopes {
		scope, known := event.ParseOAuthScope(name)
		if !known {
			scopes = 0
			break
		}
		scopes |= scope
	}
	if scopes == 0 {
		err = payload.NewInvalidFieldError("scopes", errcode.FieldNotAllowedValue, "one or more of ping, post and webhook")
	}
	return scopes, err
}

// revokeOAuthClient revokes all secrets of an OAuth client. Access tokens that the client got with
// them end too.
func (a *Admin) revokeOAuthClient(ctx *fasthttp.RequestCtx, o *supplierOrBuyer) (answer any, err error) {
	return nil, revokeMatchingCredentials(o.engine.AsOperator(callerNameOf(ctx)), o.liveOAuthClientSecrets(payload.PathParameter(ctx, "client")), func(*state.Credential) bool { return true })
}

// revokeOAuthClientSecret revokes one secret of an OAuth client, by its hint. Access tokens that the
// client got with it end too.
func (a *Admin) revokeOAuthClientSecret(ctx *fasthttp.RequestCtx, o *supplierOrBuyer) (answer any, err error) {
	hint := payload.PathParameter(ctx, "hint")
	return nil, revokeMatchingCredentials(o.engine.AsOperator(callerNameOf(ctx)), o.liveOAuthClientSecrets(payload.PathParameter(ctx, "client")), func(c *state.Credential) bool { return c.Hint == hint })
}

// sandboxOnly returns a handler that calls h in a sandbox and answers 404 elsewhere. Static
// tokens exist only in a sandbox.
func (a *Admin) sandboxOnly(h supplierOrBuyerHandler) supplierOrBuyerHandler {
	return func(ctx *fasthttp.RequestCtx, o *supplierOrBuyer) (answer any, err error) {
		if !a.exchange.IsSandbox() {
			return nil, httperror.New(404, errcode.NotFound, "Only a sandbox has static tokens. Set sandbox: true in its configuration, or use an OAuth client.")
		}
		return h(ctx, o)
	}
}

// staticTokenIDFromHash returns the id of a static token in the API: the beginning of its hash. The
// hint cannot be the id, because tokens from a configuration may begin alike.
func staticTokenIDFromHash(credential *state.Credential) string {
	return hex.EncodeToString(credential.Hash[:6])
}

// listStaticTokens lists the static tokens of a supplier or buyer, without their values.
func (a *Admin) listStaticTokens(ctx *fasthttp.RequestCtx, o *supplierOrBuyer) (answer any, err error) {
	return map[string]any{"tokens": payload.ConvertAll(o.liveCredentials(event.CredentialBearer), func(c *state.Credential) scopedCredentialSummary {
		token := newScopedCredentialSummary(c)
		token.ID = staticTokenIDFromHash(c)
		return token
	})}, nil
}

// addStaticToken creates a static bearer token for a supplier or buyer. Only this answer shows the
// token, and it is valid until an operator revokes it. If the body has no scopes, the token has
// all scopes.
func (a *Admin) addStaticToken(ctx *fasthttp.RequestCtx, o *supplierOrBuyer) (answer any, err error) {
	scopes, err := readScopesFromBody(ctx, event.ScopePing|event.ScopePost|event.ScopeWebhook)
	if err != nil {
		return nil, err
	}
	token := newSecretWithUniqueHint("tok_", o.liveCredentials(event.CredentialBearer))
	made := engine.Credential{
		Kind: event.CredentialBearer, Owner: o.kind, ID: o.id, Scopes: scopes,
		Hash: a.exchange.CredentialHasher().HashStaticBearerToken([]byte(token)), Hint: SecretPrefixHint(token),
	}
	if err := o.engine.AsOperator(callerNameOf(ctx)).AddCredential(&made); err != nil {
		return nil, err
	}
	return payload.SetCreatedAndNoStore(ctx, struct {
		Token  string   `json:"token"`
		ID     string   `json:"id"`
		Hint   string   `json:"hint"`
		Scopes []string `json:"scopes"`
	}{token, staticTokenIDFromHash(&state.Credential{Hash: made.Hash}), SecretPrefixHint(token), scopes.Names()})
}

func (a *Admin) revokeStaticToken(ctx *fasthttp.RequestCtx, o *supplierOrBuyer) (answer any, err error) {
	id := payload.PathParameter(ctx, "token")
	return nil, revokeMatchingCredentials(o.engine.AsOperator(callerNameOf(ctx)), o.liveCredentials(event.CredentialBearer), func(c *state.Credential) bool { return staticTokenIDFromHash(c) == id })
}
