package server

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"github.com/valyala/fasthttp"

	"pingpost/engine"
	"pingpost/engine/market"
	"pingpost/server/config"
	"pingpost/server/webhook/signature"
)

// hookSecretBytes is how many random bytes a webhook's secret has: as many as the
// hash that it keys.
const hookSecretBytes = 32

// newHookSecret draws a secret in the form that receivers' libraries read.
func newHookSecret() string {
	var random [hookSecretBytes]byte
	_, _ = rand.Read(random[:])
	return signature.Prefix + base64.StdEncoding.EncodeToString(random[:])
}

// HookHint is the part of a webhook's secret by which an operator knows it.
func HookHint(secret string) string {
	key := strings.TrimPrefix(secret, signature.Prefix)
	return signature.Prefix + key[:min(4, len(key)/4)]
}

// appendHints writes how the secrets begin that sign what a supplier is told, the
// newer one first.
func (a *Admin) appendHints(body []byte, o *owner) []byte {
	for i, name := range [...]string{config.WebhookSecretName(o.id), config.PreviousSecretName(o.id)} {
		value, ok := a.operator.Reveal(name)
		if !ok {
			continue
		}
		if body[len(body)-1] != '[' {
			body = append(body, ',')
		}
		body = market.AppendJSONString(append(body, `{"hint":`...), []byte(HookHint(value)))
		body = append(strconv.AppendBool(append(body, `,"previous":`...), i == 1), '}')
	}
	return body
}

// rotateSecret makes a new secret to sign with, shown this once. The one before it
// signs beside it, so that a receiver can change over in its own time, until it is
// ended or the next one is made.
//
// The old one is kept under its new name first: whatever is cut off between the
// two facts, what receivers know still signs.
func (a *Admin) rotateSecret(ctx *fasthttp.RequestCtx, o *owner) {
	if o.webhook() == nil {
		a.failWith(ctx, fmt.Errorf("%w: the supplier %q has no webhook; give it one in the configuration first", engine.ErrConflict, o.id))
		return
	}
	a.rotating.Lock()
	defer a.rotating.Unlock()
	name, previous := config.WebhookSecretName(o.id), config.PreviousSecretName(o.id)
	if old, ok := a.operator.Reveal(name); ok {
		if err := o.engine.By(actorOf(ctx)).SetSecret(previous, a.operator.Seal(previous, old)); err != nil {
			a.failWith(ctx, err)
			return
		}
	}
	secret := newHookSecret()
	if err := o.engine.By(actorOf(ctx)).SetSecret(name, a.operator.Seal(name, secret)); err != nil {
		a.failWith(ctx, err)
		return
	}
	sendSecret(ctx, []byte(`{"secret":"`+secret+`","hint":"`+HookHint(secret)+`"}`))
}

// endPrevious ends the secret before the present one.
func (a *Admin) endPrevious(ctx *fasthttp.RequestCtx, o *owner) {
	a.rotating.Lock()
	defer a.rotating.Unlock()
	a.done(ctx, o.engine.By(actorOf(ctx)).DropSecret(config.PreviousSecretName(o.id)))
}
