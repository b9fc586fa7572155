package admin

import (
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine"
	"pingpost/engine/market"
	"pingpost/engine/state"
	"pingpost/keys/passphrase"
	"pingpost/server/admin/payload"
	"pingpost/server/clientaddr"
	"pingpost/server/httperror"
)

const (
	apiTokenPrefix = "ppa_"
	maxTokenDays   = 3650
)

var (
	errUnknownAPIToken = httperror.New(404, errcode.NotFound, "You have no API token of this id. The list of API tokens shows the ids.")
	errTokenMakesToken = httperror.New(403, errcode.Forbidden, "An API token cannot create API tokens. Log in and create it in a session.")
	errNoAccount       = httperror.New(409, errcode.InvalidTransition, "This sign-in has no account, and only users have API tokens. Create a user first.")
	errOtherToken      = httperror.New(403, errcode.Forbidden, "An API token without the role admin may revoke only itself. Log in and revoke other tokens in a session.")
	errAboveRole       = httperror.New(403, errcode.Forbidden, "The role has more permissions than yours. Choose your own role or a lower one.")
)

// apiTokenID returns the id of a personal API token in the API: the beginning of its hash.
func apiTokenID(token *state.APIToken) string { return hex.EncodeToString(token.Hash[:8]) }

// listAPITokens lists the caller's personal API tokens, or the tokens of all users if the
// caller is an admin.
func (a *Admin) listAPITokens(ctx *fasthttp.RequestCtx, e *engine.Engine) (answer any, err error) {
	return map[string]any{"tokens": payload.ConvertAll(a.tokensVisibleToCaller(ctx), a.describeAPIToken)}, nil
}

// tokensVisibleToCaller returns the API tokens that the caller may list and revoke: all tokens for an
// admin, and otherwise the caller's own.
func (a *Admin) tokensVisibleToCaller(ctx *fasthttp.RequestCtx) []state.APIToken {
	who, s := principalFrom(ctx), a.engineOfRequestOrNil(ctx).State()
	switch {
	case who.role >= market.RoleAdmin:
		return s.APITokensWithExpired("")
	case who.hasAccount:
		return s.APITokensWithExpired(who.name)
	}
	return nil
}

// apiTokenJSON describes a personal API token in JSON. Only the answer that creates the token has
// its value.
type apiTokenJSON struct {
	Token    string  `json:"token,omitempty"` // in the answer that creates it
	ID       string  `json:"id"`
	Hint     string  `json:"hint"`
	Name     string  `json:"name"`
	User     string  `json:"user"`
	Role     string  `json:"role"`
	Created  *string `json:"created_at"`
	Expires  *string `json:"expires_at"`
	LastUsed *string `json:"last_used"`
}

func (a *Admin) describeAPIToken(token *state.APIToken) apiTokenJSON {
	return apiTokenJSON{
		ID: apiTokenID(token), Hint: token.Hint, Name: token.Name, User: token.User, Role: token.Role.String(),
		Created: payload.FormatTimeOrNull(token.At), Expires: payload.FormatTimeOrNull(token.Expires), LastUsed: payload.FormatTimeOrNull(a.sessions.tokenLastUsedSinceStart(token.Hash)),
	}
}

// addAPIToken creates a personal API token for the caller. Only this answer shows the token.
func (a *Admin) addAPIToken(ctx *fasthttp.RequestCtx, e *engine.Engine) (answer any, err error) {
	var body struct {
		Name      string  `json:"name"`
		Role      *string `json:"role"`
		ExpiresIn *string `json:"expires_in"`
	}
	who := principalFrom(ctx)
	if err := payload.DecodeJSONBody(ctx, &body); err != nil {
		return nil, err
	}
	made := state.APIToken{User: who.name, Name: body.Name, Role: who.role, Hint: ""}
	var wrong payload.FieldErrors
	wrong.AddIf(body.Name == "" || sanitizeActorName(body.Name) != body.Name, "name", errcode.FieldInvalidFormat, "a name for the token: 1 to 64 bytes of printable characters")
	if body.Role != nil {
		role, ok := market.ParseRole(*body.Role)
		wrong.AddIf(!ok, "role", errcode.FieldNotAllowedValue, "viewer, operator or admin")
		made.Role = role
	}
	if body.ExpiresIn != nil {
		days, ok := parseTokenLifetimeDays(*body.ExpiresIn)
		wrong.AddIf(!ok, "expires_in", errcode.FieldInvalidFormat, "days, such as 30d, at most "+strconv.Itoa(maxTokenDays)+"d; without it the token has no end")
		made.Expires = time.Now().AddDate(0, 0, days).UnixNano()
	}
	switch {
	case len(wrong) > 0:
		return nil, payload.NewInvalidFieldsError(wrong)
	case who.token != nil:
		return nil, errTokenMakesToken
	case !who.hasAccount:
		return nil, errNoAccount
	case made.Role > who.role:
		return nil, errAboveRole
	}
	token := newSecretWithUniqueHint(apiTokenPrefix, nil)
	made.Hash, made.Hint = a.exchange.CredentialHasher().HashOperatorAPIToken([]byte(token)), SecretPrefixHint(token)
	if err := e.AsOperator(callerNameOf(ctx)).AddAPIToken(who.account, &made); err != nil {
		return nil, err
	}
	stored, _, _ := e.State().APITokenEvenIfExpired(made.Hash)
	shown := a.describeAPIToken(&stored)
	shown.Token = token
	return payload.SetCreatedAndNoStore(ctx, &shown)
}

func parseTokenLifetimeDays(text string) (days int, ok bool) {
	number, isDays := strings.CutSuffix(text, "d")
	days, err := strconv.Atoi(number)
	return days, isDays && err == nil && days >= 1 && days <= maxTokenDays
}

// revokeAPIToken revokes one of the caller's API tokens, or any token if the caller is an
// admin. A caller that authenticated with an API token below the role admin may revoke only
// that token, because a thief might hold it.
func (a *Admin) revokeAPIToken(ctx *fasthttp.RequestCtx, e *engine.Engine) (answer any, err error) {
	id := payload.PathParameter(ctx, "id")
	for _, token := range a.tokensVisibleToCaller(ctx) {
		if apiTokenID(&token) == id {
			if who := principalFrom(ctx); who.token != nil && who.role < market.RoleAdmin && who.token.Hash != token.Hash {
				return nil, errOtherToken
			}
			if err := e.AsOperator(callerNameOf(ctx)).RevokeAPIToken(&token); err != nil {
				return nil, err
			}
			a.sessions.forgetLastTokenUse(token.Hash)
			return nil, nil
		}
	}
	return nil, errUnknownAPIToken
}

var (
	errUnknownUser    = httperror.New(404, errcode.NotFound, "There is no user of this name.")
	errTokenSetsUser  = httperror.New(403, errcode.Forbidden, "An API token cannot create accounts, change roles or set passwords. Log in and do it in a session, or send a password over HTTP Basic.")
	errNotOwnPassword = httperror.New(403, errcode.Forbidden, "Only an admin may set another user's password.")
	errOldPassword    = httperror.New(403, errcode.Forbidden, "The old password is wrong.")
)

// listUsers lists the accounts of all users, with role, creation and last use.
func (a *Admin) listUsers(ctx *fasthttp.RequestCtx, e *engine.Engine) (answer any, err error) {
	return map[string]any{"users": payload.ConvertAll(e.State().OperatorUsers(), func(user *state.OperatorUser) accountJSON { return a.describeUser(e, user) })}, nil
}

// accountJSON describes a user's account in JSON.
type accountJSON struct {
	Name     string  `json:"name"`
	Role     string  `json:"role"`
	Created  *string `json:"created_at"`
	LastSeen *string `json:"last_seen"`
	TOTP     bool    `json:"totp"`
}

func (a *Admin) describeUser(e *engine.Engine, user *state.OperatorUser) accountJSON {
	return accountJSON{user.Name, user.Role.String(), payload.FormatTimeOrNull(user.Created), payload.FormatTimeOrNull(a.sessions.userLastSeenSinceStart(user.Name)), hasActiveSecondFactor(e, user.Name)}
}

// createOrChangeUser creates a user's account, or changes the role or password of an existing one. API
// tokens cannot: the account would outlive the revocation of a stolen token.
func (a *Admin) createOrChangeUser(ctx *fasthttp.RequestCtx, e *engine.Engine) (answer any, err error) {
	var body struct {
		Role     string  `json:"role"`
		Password *string `json:"password"`
	}
	if principalFrom(ctx).token != nil {
		return nil, errTokenSetsUser
	}
	if err := payload.DecodeJSONBody(ctx, &body); err != nil {
		return nil, err
	}
	wanted := engine.NewOrChangedUser{}
	var wrong payload.FieldErrors
	var ok bool
	wanted.Name, ok = lowercaseValidUserName(payload.PathParameter(ctx, "name"))
	wrong.AddIf(!ok, "name", errcode.FieldInvalidFormat, "1 to 64 of a-z, 0-9 and . _ - @ +, beginning and ending with a letter or digit")
	wanted.Role, ok = market.ParseRole(body.Role)
	wrong.AddIf(!ok, "role", errcode.FieldNotAllowedValue, "viewer, operator or admin")
	before, known := e.State().OperatorUser(wanted.Name)
	wrong.AddIf(body.Password == nil && !known, "password", errcode.FieldMissingRequired, "a new user's password")
	if body.Password != nil {
		addPasswordLengthErrors(&wrong, "password", *body.Password)
	}
	if len(wrong) > 0 {
		return nil, payload.NewInvalidFieldsError(wrong)
	}
	if body.Password != nil {
		var err error
		if wanted.Password, err = a.sessions.keeper.HashPassword(*body.Password); err != nil {
			return nil, newPasswordCheckError(err)
		}
	}
	ended := e.State().APITokensWithExpired(wanted.Name)
	made, err := e.AsOperator(callerNameOf(ctx)).CreateOrChangeUser(wanted, a.locked)
	if err != nil {
		return nil, err
	}
	user, _ := e.State().OperatorUser(wanted.Name)
	if user != before { // its sessions have become invalid; this frees their memory
		a.sessions.endSessionsAndForgetUses(wanted.Name, ended, false)
	}
	if made {
		ctx.SetStatusCode(fasthttp.StatusCreated)
	}
	return a.describeUser(e, &user), nil
}

// addPasswordLengthErrors adds an error if a new password is too short or too long. field is the name
// of the member that contains it.
func addPasswordLengthErrors(f *payload.FieldErrors, field, password string) {
	f.AddIf(len(password) > passphrase.MaxLength, field, errcode.FieldTooLong, "at most "+strconv.Itoa(passphrase.MaxLength)+" bytes")
	f.AddIf(len([]rune(password)) < passphrase.MinLength, field, errcode.FieldOutOfRange, "at least "+strconv.Itoa(passphrase.MinLength)+" characters")
}

func (a *Admin) removeUser(ctx *fasthttp.RequestCtx, e *engine.Engine) (answer any, err error) {
	name, ok := lowercaseValidUserName(payload.PathParameter(ctx, "name"))
	if !ok {
		return nil, errUnknownUser
	}
	tokens := e.State().APITokensWithExpired(name)
	if err := e.AsOperator(callerNameOf(ctx)).RemoveUser(name, a.locked); err != nil {
		return nil, err
	}
	a.sessions.endSessionsAndForgetUses(name, tokens, true)
	return nil, nil
}

// setPassword changes a user's password. Users must also send their old password; an admin may change
// other users' passwords without it. Wrong old passwords count as failed logins. API tokens cannot set
// passwords.
func (a *Admin) setPassword(ctx *fasthttp.RequestCtx, e *engine.Engine) (answer any, err error) {
	var body struct {
		Old *string `json:"old"`
		New string  `json:"new"`
	}
	who := principalFrom(ctx)
	if who.token != nil {
		return nil, errTokenSetsUser
	}
	if err := payload.DecodeJSONBody(ctx, &body); err != nil {
		return nil, err
	}
	name, _ := lowercaseValidUserName(payload.PathParameter(ctx, "name"))
	self := who.hasAccount && who.name == name
	if !self && who.role < market.RoleAdmin {
		return nil, errNotOwnPassword
	}
	user, ok := e.State().OperatorUser(name)
	if !ok {
		return nil, errUnknownUser
	}
	var wrong payload.FieldErrors
	addPasswordLengthErrors(&wrong, "new", body.New)
	wrong.AddIf(self && body.Old == nil, "old", errcode.FieldMissingRequired, "the password so far")
	if len(wrong) > 0 {
		return nil, payload.NewInvalidFieldsError(wrong)
	}
	if body.Old != nil {
		if err := a.checkOldPassword(ctx, &user, *body.Old); err != nil {
			return nil, err
		}
	}
	hash, err := a.sessions.keeper.HashPassword(body.New)
	if err != nil {
		return nil, newPasswordCheckError(err)
	}
	tokens := e.State().APITokensWithExpired(name)
	if err := e.AsOperator(callerNameOf(ctx)).SetPassword(&user, hash); err != nil {
		return nil, err
	}
	a.sessions.endSessionsAndForgetUses(name, tokens, false)
	return nil, nil
}

// checkOldPassword returns an error if oldPassword is not the user's current password, or cannot be
// checked because too many logins failed.
func (a *Admin) checkOldPassword(ctx *fasthttp.RequestCtx, user *state.OperatorUser, oldPassword string) error {
	from := clientaddr.NetworkForLimits(a.authFailures.ClientAddress(ctx))
	if wait := a.sessions.countLoginAsFailedOrWait(from, user.Name, time.Now().UnixNano()); wait > 0 {
		a.meter.CountWrongCredential()
		a.authFailures.LogTooManyFailures(from)
		return errTooManyLogins.WithRetryAfter(wait)
	}
	right, err := a.sessions.keeper.CheckPassword(user.Password, oldPassword)
	if err == nil && !right {
		a.meter.CountWrongCredential()
		return errOldPassword
	}
	a.sessions.uncountFailedLogin(from, user.Name)
	if err != nil {
		return newPasswordCheckError(err)
	}
	return nil
}
