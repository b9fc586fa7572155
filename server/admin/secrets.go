package admin

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/config"
	"pingpost/engine"
	"pingpost/outbound/webhook/signature"
	"pingpost/server/admin/payload"
	"pingpost/server/httperror"
	"pingpost/server/instructions"
)

// replaceStoredOutgoingSecret answers PUT secrets/NAME: it replaces the value of a stored secret that
// the exchange presents to others. It cannot add a secret.
func (a *Admin) replaceStoredOutgoingSecret(ctx *fasthttp.RequestCtx, e *engine.Engine) (answer any, err error) {
	var body struct {
		Value string `json:"value"`
	}
	if err := payload.DecodeJSONBody(ctx, &body); err != nil {
		return nil, err
	}
	name := payload.PathParameter(ctx, "name")
	if config.IsAddressVariable(name) {
		return nil, httperror.New(404, errcode.NotFound, "This secret is a variable of the configuration file. Change the variable, then run pingpost apply.")
	}
	if _, ok := e.State().SealedSecret(name); !ok || instructions.IsLinkSecret(name) {
		return nil, httperror.New(404, errcode.NotFound, "There is no secret of this name. Name it in the configuration first.")
	}
	if body.Value == "" {
		return nil, payload.NewInvalidFieldError("value", errcode.FieldMissingRequired, "the new secret")
	}
	if expected := config.DescribeSecretMistake(name, body.Value); expected != "" {
		return nil, payload.NewInvalidFieldError("value", errcode.FieldInvalidFormat, expected)
	}
	return nil, e.AsOperator(callerNameOf(ctx)).SetOutgoingSecret(name, a.exchange.Seal(name, body.Value))
}

// secretNameJSON is a stored secret in a list, without its value.
type secretNameJSON struct {
	Name string `json:"name"`
}

// listReplaceableSecretNames answers GET secrets with the names of the secrets that an operator can replace by
// PUT secrets/NAME.
func (a *Admin) listReplaceableSecretNames(ctx *fasthttp.RequestCtx, e *engine.Engine) (answer any, err error) {
	names := slices.DeleteFunc(e.State().SecretNames(), func(name string) bool {
		return config.IsAddressVariable(name) || config.IsPreviousWebhookSecretName(name) || instructions.IsLinkSecret(name)
	})
	list := make([]secretNameJSON, len(names))
	for i, name := range names {
		list[i].Name = name
	}
	return map[string]any{"secrets": list}, nil
}

// webhookSecretBytes is the number of random bytes of a webhook secret, equal to the size
// of the hash.
const webhookSecretBytes = 32

// newWebhookSecret returns a random webhook secret in the form that receivers' libraries
// expect: whsec_ and base64.
func newWebhookSecret() string {
	var random [webhookSecretBytes]byte
	_, _ = rand.Read(random[:])
	return signature.Prefix + base64.StdEncoding.EncodeToString(random[:])
}

// WebhookSecretPrefixHint returns the beginning of a webhook secret, by which operators recognize it
// in lists.
func WebhookSecretPrefixHint(secret string) string {
	key := strings.TrimPrefix(secret, signature.Prefix)
	return signature.Prefix + key[:min(4, len(key)/4)]
}

// webhookSecretHintJSON describes one of a supplier's webhook secrets in JSON, without its value.
// Previous marks the older one after a rotation.
type webhookSecretHintJSON struct {
	Hint     string `json:"hint"`
	Previous bool   `json:"previous"`
}

// listSupplierWebhookSecretHints returns the hints of the supplier's one or two webhook secrets, newest first.
func (a *Admin) listSupplierWebhookSecretHints(o *supplierOrBuyer) []webhookSecretHintJSON {
	hints := []webhookSecretHintJSON{}
	for i, name := range [...]string{config.WebhookSecretName(o.id), config.PreviousWebhookSecretName(o.id)} {
		if value, ok := a.exchange.RevealSecret(name); ok {
			hints = append(hints, webhookSecretHintJSON{WebhookSecretPrefixHint(value), i == 1})
		}
	}
	return hints
}

// rotateSupplierWebhookSecret creates a new secret for signing a supplier's webhooks. Only this answer
// shows it. The previous secret also signs until an operator removes it, so that the receiver
// can switch at any time. With a third secret the request must name the one that it replaces.
//
// It first stores the current secret under the name of the previous one, and then the new secret.
// If the process stops between these two events, the secret that receivers know still signs. If
// the request replaces the current secret, the previous one stays.
func (a *Admin) rotateSupplierWebhookSecret(ctx *fasthttp.RequestCtx, o *supplierOrBuyer) (answer any, err error) {
	if o.configuredSupplierWebhookOrNil() == nil {
		return nil, fmt.Errorf("%w: the supplier %q has no webhook; give it one in the configuration first", engine.ErrConflict, o.id)
	}
	a.rotating.Lock()
	defer a.rotating.Unlock()
	replaced, err := readReplacedHintFromBody(ctx)
	if err != nil {
		return nil, err
	}
	name, previous := config.WebhookSecretName(o.id), config.PreviousWebhookSecretName(o.id)
	old, signs := a.exchange.RevealSecret(name)
	before, both := a.exchange.RevealSecret(previous)
	switch both = both && signs; {
	case signs && replaced == WebhookSecretPrefixHint(old), both && replaced == WebhookSecretPrefixHint(before), !both && replaced == "":
	case both:
		return nil, newTwoSecretsValidError(a.listSupplierWebhookSecretHints(o))
	default:
		return nil, newUnknownReplacedHintError(payload.ConvertAll(a.listSupplierWebhookSecretHints(o), func(s *webhookSecretHintJSON) string { return s.Hint }))
	}
	if signs && replaced != WebhookSecretPrefixHint(old) {
		if err := o.engine.AsOperator(callerNameOf(ctx)).SetOutgoingSecret(previous, a.exchange.Seal(previous, old)); err != nil {
			return nil, err
		}
	}
	secret := newWebhookSecret()
	if err := o.engine.AsOperator(callerNameOf(ctx)).SetOutgoingSecret(name, a.exchange.Seal(name, secret)); err != nil {
		return nil, err
	}
	return payload.SetCreatedAndNoStore(ctx, struct {
		Secret string `json:"secret"`
		Hint   string `json:"hint"`
	}{secret, WebhookSecretPrefixHint(secret)})
}

// removePreviousSupplierWebhookSecret removes the older of a supplier's two webhook secrets. Webhooks are then
// signed with the newer one only.
func (a *Admin) removePreviousSupplierWebhookSecret(ctx *fasthttp.RequestCtx, o *supplierOrBuyer) (answer any, err error) {
	a.rotating.Lock()
	defer a.rotating.Unlock()
	return nil, o.engine.AsOperator(callerNameOf(ctx)).RemoveOutgoingSecret(config.PreviousWebhookSecretName(o.id))
}
