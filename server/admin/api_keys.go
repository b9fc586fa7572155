package admin

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/state"
	"pingpost/server/admin/payload"
	"pingpost/server/httperror"
)

// hintLength is the greatest length of a hint, the beginning of a key by which operators
// recognize it.
const hintLength = 8

// SecretPrefixHint returns the beginning of a secret key, by which operators recognize it in lists. It
// is at most a quarter of the key.
func SecretPrefixHint(secret string) string { return secret[:min(hintLength, len(secret)/4)] }

// addSupplierAPIKey creates an API key for a supplier. Only this answer shows the key. A supplier may
// have two valid keys. With a third one the request must name the key that it replaces, by its
// hint.
func (a *Admin) addSupplierAPIKey(ctx *fasthttp.RequestCtx, e *engine.Engine) (answer any, err error) {
	replaced, err := readReplacedHintFromBody(ctx)
	if err != nil {
		return nil, err
	}
	id := payload.PathParameter(ctx, "id")
	key := newSecretWithUniqueHint("key_", e.State().CredentialsOf(event.CredentialAPIKey, event.ObjectSupplier, e.State().RefOf(event.ObjectSupplier, id)))
	err = e.AsOperator(callerNameOf(ctx)).AddCredential(&engine.Credential{
		Kind: event.CredentialAPIKey, Owner: event.ObjectSupplier, ID: id,
		Hash: sha256.Sum256([]byte(key)), Hint: SecretPrefixHint(key), Replaces: replaced,
	})
	if err != nil {
		return nil, err
	}
	return payload.SetCreatedAndNoStore(ctx, struct {
		Key  string `json:"api_key"`
		Hint string `json:"hint"`
	}{key, SecretPrefixHint(key)})
}

// newSecretWithUniqueHint returns a random secret that begins with prefix. Its hint differs from
// the hints of liveCredentials, so that operators can tell them apart.
func newSecretWithUniqueHint(prefix string, liveCredentials []state.Credential) string {
	for {
		var random [24]byte
		_, _ = rand.Read(random[:])
		secret := prefix + hex.EncodeToString(random[:])
		if !slices.ContainsFunc(liveCredentials, func(c state.Credential) bool { return c.Hint == SecretPrefixHint(secret) }) {
			return secret
		}
	}
}

// listSupplierAPIKeys lists the valid API keys of a supplier, each by its hint, with the times of
// creation and last use.
func (a *Admin) listSupplierAPIKeys(ctx *fasthttp.RequestCtx, e *engine.Engine) (answer any, err error) {
	id := payload.PathParameter(ctx, "id")
	ref := e.State().RefOf(event.ObjectSupplier, id)
	if ref == 0 {
		return nil, httperror.New(404, errcode.NotFound, "No supplier of this id was ever configured.")
	}
	return map[string]any{"keys": payload.ConvertAll(e.State().CredentialsOf(event.CredentialAPIKey, event.ObjectSupplier, ref), newCredentialSummary)}, nil
}

// credentialSummary describes a key, secret or token in a list, by its hint and without its value.
type credentialSummary struct {
	Hint     string  `json:"hint"`
	Since    string  `json:"since"`
	LastUsed *string `json:"last_used"`
}

func newCredentialSummary(credential *state.Credential) credentialSummary {
	return credentialSummary{credential.Hint, payload.FormatTimeToSeconds(credential.At), payload.FormatTimeOrNull(credential.LastUse.MinuteUnixNanos())}
}

func (a *Admin) revokeSupplierAPIKey(ctx *fasthttp.RequestCtx, e *engine.Engine) (answer any, err error) {
	hint := payload.PathParameter(ctx, "hint")
	live := e.State().CredentialsOf(event.CredentialAPIKey, event.ObjectSupplier, e.State().RefOf(event.ObjectSupplier, payload.PathParameter(ctx, "id")))
	return nil, revokeMatchingCredentials(e.AsOperator(callerNameOf(ctx)), live, func(c *state.Credential) bool { return c.Hint == hint })
}

// revokeMatchingCredentials revokes those of liveCredentials for which matches returns true.
// Without such credentials it returns an error.
func revokeMatchingCredentials(operator engine.OperatorActions, liveCredentials []state.Credential, matches func(*state.Credential) bool) error {
	found := false
	for i := range liveCredentials {
		if !matches(&liveCredentials[i]) {
			continue
		}
		found = true
		if err := operator.RevokeCredential(&liveCredentials[i]); err != nil {
			return err
		}
	}
	if !found {
		return errUnknownCredential
	}
	return nil
}

var errUnknownCredential = httperror.New(404, errcode.NotFound, "There is no such credential, or it was revoked. The list of credentials shows the valid ones.")

// readReplacedHintFromBody returns the member replaces of the request's body: the hint of the secret
// that the new one replaces. The body may be missing.
func readReplacedHintFromBody(ctx *fasthttp.RequestCtx) (hint string, err error) {
	var body struct {
		Replaces string `json:"replaces"`
	}
	if len(payload.RequestBody(ctx)) > 0 {
		err = payload.DecodeJSONBody(ctx, &body)
	}
	return body.Replaces, err
}

var errTwoSecretsValid = httperror.New(409, errcode.ConfirmationRequired, "Two secrets are valid, and a new one replaces one of them. Choose a secret in live that is no longer in use, and send its hint in the member replaces.")

// newTwoSecretsValidError is the error that two secrets are valid already, so that the
// request must name the one to replace. The answer lists the valid secrets.
func newTwoSecretsValidError(validSecrets any) error {
	return &payload.DetailedError{Failure: errTwoSecretsValid, Members: map[string]any{"live": validSecrets}}
}

// newUnknownReplacedHintError is the error that the request names a secret to replace that is not valid.
// validHints are the hints of the valid ones.
func newUnknownReplacedHintError(validHints []string) error {
	expected := "missing, because no key or secret is valid"
	if len(validHints) > 0 {
		expected = "the hint of a valid key or secret: " + strings.Join(validHints, ", ")
	}
	return payload.NewInvalidFieldError("replaces", errcode.FieldNotAllowedValue, expected)
}

// addMembersToErrorAnswer adds JSON members to the error that the request's answer already contains.
func addMembersToErrorAnswer(ctx *fasthttp.RequestCtx, members map[string]any) {
	if members == nil {
		return
	}
	var document map[string]any
	if err := json.Unmarshal(ctx.Response.Body(), &document); err != nil {
		panic("BUG: an error answer is not a JSON object: " + err.Error())
	}
	maps.Copy(document, members)
	payload.SendJSON(ctx, document)
}
