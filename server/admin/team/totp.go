package team

import (
	"crypto/rand"
	"errors"
	"strings"
	"time"

	"github.com/pquerna/otp"
	"github.com/pquerna/otp/hotp"
	"github.com/pquerna/otp/totp"
	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
	"pingpost/server/admin/payload"
	"pingpost/server/httperror"
)

const (
	period        = 30 // seconds of a time step
	recoveryCodes = 10
)

var (
	// ErrCodeRequired answers a sign-in with the right password and without the code that the account
	// needs. It is no failed login.
	ErrCodeRequired = httperror.New(401, errcode.SecondFactorRequired, "The account has a second factor. Send the code of the authenticator app, or a recovery code, as code with the password.")
	// ErrWrongCode answers a wrong code, and a code that was used already.
	ErrWrongCode = httperror.New(401, errcode.SecondFactorRequired, "The code is wrong or was used already. Wait for the next code of the authenticator app, and check that the clock of its device is right.").CountedAsWrongCredential()

	errTokenFactor  = httperror.New(403, errcode.Forbidden, "An API token cannot change second factors. Log in and change it in a session.")
	errConfirmCode  = httperror.New(403, errcode.Forbidden, "The code is wrong or was used already. Wait for the next code of the authenticator app, and check that the clock of its device is right.")
	errNotEnrolled  = httperror.New(409, errcode.InvalidTransition, "The user has no second factor to confirm. Enroll first.")
	errUnknownUser  = httperror.New(404, errcode.NotFound, "There is no user of this name.")
	errUnsealFactor = httperror.New(503, errcode.Unavailable, "The exchange cannot decrypt the secret of the second factor. An admin can remove the second factor of the user.")
)

// totpSealingName is the name under which a user's TOTP secret is encrypted, so that the secret of one user
// is useless for another.
func totpSealingName(user string) string { return "users/" + user + "/totp" }

// authorizeSecondFactorChange returns the caller if the path names the caller's own account and no API
// token is used. With orAdmin, an admin may name another account.
func (h *Handlers) authorizeSecondFactorChange(ctx *fasthttp.RequestCtx, orAdmin bool) (caller Caller, user string, isSelf bool, err error) {
	caller = h.server.Caller(ctx)
	user, _ = h.server.NormalizeUserName(payload.PathParameter(ctx, "name"))
	isSelf = caller.HasAccount && caller.Name == user
	switch {
	case caller.UsesAPIToken:
		err = errTokenFactor
	case !isSelf && !(orAdmin && caller.Role == market.RoleAdmin):
		err = errNotOwnFactor
	}
	return caller, user, isSelf, err
}

// enrollSecondFactor creates a TOTP secret for the caller. Only this answer shows it. It has no effect
// until the user confirms it with a code.
func (h *Handlers) enrollSecondFactor(ctx *fasthttp.RequestCtx) (answer any, err error) {
	e := h.server.Engine(ctx)
	if e == nil {
		return nil, httperror.Unavailable
	}
	_, user, _, err := h.authorizeSecondFactorChange(ctx, false)
	if err != nil {
		return nil, err
	}
	key, err := totp.Generate(totp.GenerateOpts{Issuer: "pingpost " + h.server.Tenant(), AccountName: user, Period: period})
	if err != nil {
		return nil, httperror.New(503, errcode.Unavailable, "The exchange cannot create the secret of the second factor: "+err.Error())
	}
	if err := e.AsOperator(user).EnrollSecondFactor(user, h.server.Seal(totpSealingName(user), key.Secret())); err != nil {
		return nil, err
	}
	return payload.SetCreatedAndNoStore(ctx, map[string]string{"secret": key.Secret(), "otpauth_url": key.URL()})
}

// confirmSecondFactor turns on the caller's second factor with a code of it. Only this answer shows the
// recovery codes. It ends the user's other sessions, which were started without a second factor.
func (h *Handlers) confirmSecondFactor(ctx *fasthttp.RequestCtx) (answer any, err error) {
	var body struct {
		Code string `json:"code"`
	}
	e := h.server.Engine(ctx)
	if e == nil {
		return nil, httperror.Unavailable
	}
	if err := payload.DecodeJSONBody(ctx, &body); err != nil {
		return nil, err
	}
	_, user, _, err := h.authorizeSecondFactorChange(ctx, false)
	if err != nil {
		return nil, err
	}
	factor, ok := e.State().SecondFactorEvenIfUnconfirmed(user)
	if !ok || factor.Active {
		return nil, errNotEnrolled
	}
	undo, err := h.server.CountCodeAttemptAsWrong(ctx, user)
	if err != nil {
		return nil, err
	}
	secret, ok := h.server.Unseal(totpSealingName(user), factor.Sealed)
	if !ok {
		return nil, errUnsealFactor
	}
	step, ok := findTimeStepOfCode(secret, normalizeCode(body.Code), h.server.Now())
	if !ok {
		return nil, errConfirmCode
	}
	undo()
	codes, hashes := h.newRecoveryCodes(user)
	if err := e.AsOperator(user).ConfirmSecondFactor(&factor, step, hashes); err != nil {
		return nil, err
	}
	h.server.EndOtherSessions(ctx, user)
	ctx.Response.Header.Set("Cache-Control", "no-store")
	return map[string]any{"recovery_codes": codes}, nil
}

// removeSecondFactor turns off a second factor. Users need a code for their own if it is confirmed; an
// admin needs no code for another user's.
func (h *Handlers) removeSecondFactor(ctx *fasthttp.RequestCtx) (answer any, err error) {
	var body struct {
		Code string `json:"code"`
	}
	e := h.server.Engine(ctx)
	if e == nil {
		return nil, httperror.Unavailable
	}
	if len(payload.RequestBody(ctx)) > 0 {
		if err := payload.DecodeJSONBody(ctx, &body); err != nil {
			return nil, err
		}
	}
	caller, user, isSelf, err := h.authorizeSecondFactorChange(ctx, true)
	if err != nil {
		return nil, err
	}
	if _, ok := e.State().OperatorUser(user); !ok {
		return nil, errUnknownUser
	}
	factor, _ := e.State().SecondFactorEvenIfUnconfirmed(user)
	if isSelf && factor.Active {
		undo, err := h.server.CountCodeAttemptAsWrong(ctx, user)
		if err != nil {
			return nil, err
		}
		switch err := h.UseCode(e, &factor, body.Code); {
		case errors.Is(err, ErrWrongCode):
			return nil, errConfirmCode
		case err != nil:
			return nil, err
		}
		undo()
	}
	return nil, e.AsOperator(caller.Name).RemoveSecondFactor(user)
}

// UseCode checks a code, or a recovery code, of an active second factor, and uses it up. The error is
// ErrWrongCode, or says why the code could not be checked.
func (h *Handlers) UseCode(e *engine.Engine, factor *state.SecondFactor, code string) error {
	code = normalizeCode(code)
	actions := e.AsOperator(factor.User)
	if len(code) != int(otp.DigitsSix) {
		return wrongCodeIfConflict(actions.UseRecoveryCode(factor.User, h.hashRecoveryCode(factor.User, code)))
	}
	secret, ok := h.server.Unseal(totpSealingName(factor.User), factor.Sealed)
	if !ok {
		return errUnsealFactor
	}
	step, ok := findTimeStepOfCode(secret, code, h.server.Now())
	if !ok {
		return ErrWrongCode
	}
	return wrongCodeIfConflict(actions.MarkSecondFactorStepUsed(factor, step))
}

func wrongCodeIfConflict(err error) error {
	if errors.Is(err, engine.ErrConflict) {
		return ErrWrongCode
	}
	return err
}

// findTimeStepOfCode returns the time step of a code: the present one, the one before or the one after.
func findTimeStepOfCode(secret, code string, now time.Time) (step uint64, ok bool) {
	present := uint64(now.Unix()) / period
	for step = present - 1; step <= present+1; step++ {
		right, err := hotp.ValidateCustom(code, step, secret, hotp.ValidateOpts{Digits: otp.DigitsSix, Algorithm: otp.AlgorithmSHA1})
		if err == nil && right {
			return step, true
		}
	}
	return 0, false
}

// normalizeCode returns the code in lower case, without the spaces and hyphens that people type into
// codes. It returns an empty text for a code of more than 64 bytes.
func normalizeCode(code string) string {
	if len(code) > 64 {
		return ""
	}
	return strings.ToLower(strings.NewReplacer(" ", "", "-", "").Replace(code))
}

// newRecoveryCodes returns one-time codes of 60 random bits, and their hashes.
func (h *Handlers) newRecoveryCodes(user string) (codes []string, hashes []event.RecoveryCodeHash) {
	for range recoveryCodes {
		code := strings.ToLower(rand.Text()[:12])
		codes = append(codes, code[:4]+"-"+code[4:8]+"-"+code[8:])
		hashes = append(hashes, h.hashRecoveryCode(user, code))
	}
	return codes, hashes
}

func (h *Handlers) hashRecoveryCode(user, code string) event.RecoveryCodeHash {
	hash := h.server.CredentialHasher().HashRecoveryCode([]byte(user), []byte(code))
	return event.RecoveryCodeHash(hash[:16])
}
