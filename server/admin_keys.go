package server

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"slices"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// hintLength is how much of a key an operator sees again.
const hintLength = 8

// KeyHint is the part of a key by which an operator knows it; short keys show
// less of themselves.
func KeyHint(key string) string { return key[:min(hintLength, len(key)/4)] }

// rotate makes a new API key for a supplier. It is shown this once; two keys
// are good side by side, a third pushes the oldest out.
func (a *Admin) rotate(ctx *fasthttp.RequestCtx) {
	e := a.engineOr503(ctx)
	if e == nil {
		return
	}
	id := parameter(ctx, "id")
	key := newSecret("key_", e.State().CredentialsOf(event.CredentialAPIKey, event.NameSupplier, e.State().RefOf(event.NameSupplier, id)))
	err := e.By(actorOf(ctx)).AddCredential(&engine.Credential{
		Kind: event.CredentialAPIKey, Owner: event.NameSupplier, ID: id,
		Hash: sha256.Sum256([]byte(key)), Hint: KeyHint(key),
	})
	if err != nil {
		a.failWith(ctx, err)
		return
	}
	sendSecret(ctx, []byte(`{"api_key":"`+key+`","hint":"`+KeyHint(key)+`"}`))
}

// sendSecret answers with a secret that was just made. It is never told again.
func sendSecret(ctx *fasthttp.RequestCtx, body []byte) {
	ctx.SetStatusCode(fasthttp.StatusCreated)
	ctx.SetContentType(typeJSON)
	ctx.Response.Header.Set("Cache-Control", "no-store")
	ctx.SetBody(append(body, '\n'))
}

// newSecret draws a secret that begins like none of the live ones: by its
// beginning an operator names it.
func newSecret(prefix string, live []state.Credential) string {
	for {
		var random [24]byte
		_, _ = rand.Read(random[:])
		secret := prefix + hex.EncodeToString(random[:])
		if !slices.ContainsFunc(live, func(c state.Credential) bool { return c.Hint == KeyHint(secret) }) {
			return secret
		}
	}
}

// parameter is a part of the path that the route has a name for, as it was
// before it was percent-encoded.
func parameter(ctx *fasthttp.RequestCtx, name string) string {
	raw, _ := ctx.UserValue(name).(string)
	if plain, err := url.PathUnescape(raw); err == nil {
		return plain
	}
	return raw
}

// keys lists a supplier's live keys: how each begins, since when it is good, and when it
// was used last.
func (a *Admin) keys(ctx *fasthttp.RequestCtx) {
	e := a.engineOr503(ctx)
	if e == nil {
		return
	}
	id := parameter(ctx, "id")
	ref := e.State().RefOf(event.NameSupplier, id)
	if ref == 0 {
		a.fail(ctx, fault{404, errcode.NotFound, "No supplier of this id was ever configured."})
		return
	}
	body := []byte(`{"keys":[`)
	for i, key := range e.State().CredentialsOf(event.CredentialAPIKey, event.NameSupplier, ref) {
		if i > 0 {
			body = append(body, ',')
		}
		body = append(appendSecret(append(body, '{'), &key), '}')
	}
	ctx.SetContentType(typeJSON)
	ctx.SetBody(append(body, "]}\n"...))
}

// appendSecret writes what an operator sees again of a secret.
func appendSecret(body []byte, c *state.Credential) []byte {
	body = market.AppendJSONString(append(body, `"hint":`...), []byte(c.Hint))
	body = time.Unix(0, c.At).UTC().AppendFormat(append(body, `,"since":"`...), time.RFC3339)
	return appendWhen(append(body, `","last_used":`...), c.Used.At())
}

func (a *Admin) revoke(ctx *fasthttp.RequestCtx) {
	e := a.engineOr503(ctx)
	if e == nil {
		return
	}
	hint := parameter(ctx, "hint")
	live := e.State().CredentialsOf(event.CredentialAPIKey, event.NameSupplier, e.State().RefOf(event.NameSupplier, parameter(ctx, "id")))
	a.revokeAll(ctx, e, live, func(c *state.Credential) bool { return c.Hint == hint })
}

// revokeAll revokes those of an owner's credentials that are meant.
func (a *Admin) revokeAll(ctx *fasthttp.RequestCtx, e *engine.Engine, live []state.Credential, meant func(*state.Credential) bool) {
	found := false
	for i := range live {
		if !meant(&live[i]) {
			continue
		}
		found = true
		if err := e.By(actorOf(ctx)).RevokeCredential(&live[i]); err != nil {
			a.failWith(ctx, err)
			return
		}
	}
	if !found {
		a.fail(ctx, faultNoCredential)
		return
	}
	ctx.SetStatusCode(fasthttp.StatusNoContent)
}

var faultNoCredential = fault{404, errcode.NotFound, "There is no such credential, or it is revoked already. A listing shows those that are good."}
