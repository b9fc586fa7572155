package server

import (
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

const (
	apiTokenPrefix = "ppa_"
	maxTokenDays   = 3650
)

var (
	faultNoAPIToken  = fault{404, errcode.NotFound, "You have no API token of this id. A listing shows those there are."}
	faultTokensToken = fault{403, errcode.Forbidden, "A token cannot make tokens. Log in, and make it by a session."}
	faultNoAccount   = fault{409, errcode.InvalidTransition, "Who comes by the configured password has no account, and only a user has tokens. Make a user first."}
	faultOtherToken  = fault{403, errcode.Forbidden, "A token may end itself, and no other. Log in, and end others by a session."}
	faultAboveRole   = fault{403, errcode.Forbidden, "A token may do no more than its user."}
)

// apiTokenID is by what an operator names a token: the beginning of its hash.
func apiTokenID(token *state.APIToken) string { return hex.EncodeToString(token.Hash[:8]) }

// apiTokens lists one's own tokens; an admin's list is of all.
func (a *Admin) apiTokens(ctx *fasthttp.RequestCtx) {
	e := a.engineOr503(ctx)
	if e == nil {
		return
	}
	body := []byte(`{"tokens":[`)
	for i, token := range a.visibleTokens(ctx) {
		if i > 0 {
			body = append(body, ',')
		}
		body = append(a.appendAPIToken(append(body, '{'), &token), '}')
	}
	ctx.SetContentType(typeJSON)
	ctx.SetBody(append(body, "]}\n"...))
}

// visibleTokens are those that who asks may see.
func (a *Admin) visibleTokens(ctx *fasthttp.RequestCtx) []state.APIToken {
	who, s := askerOf(ctx), a.operator.Engine().State()
	switch {
	case who.role >= market.RoleAdmin:
		return s.APITokens("")
	case who.user:
		return s.APITokens(who.name)
	}
	return nil
}

func (a *Admin) appendAPIToken(body []byte, token *state.APIToken) []byte {
	body = append(body, `"id":"`+apiTokenID(token)+`","hint":"`+token.Hint+`","name":`...)
	body = market.AppendJSONString(body, []byte(token.Name))
	body = market.AppendJSONString(append(body, `,"user":`...), []byte(token.User))
	body = append(body, `,"role":"`+token.Role.String()+`","created_at":`...)
	body = append(appendWhen(body, token.At), `,"expires_at":`...)
	body = append(appendWhen(body, token.Expires), `,"last_used":`...)
	return appendWhen(body, a.entrance.tokenSeen(token.Hash))
}

// addAPIToken makes a token of one's own. It is shown this once.
func (a *Admin) addAPIToken(ctx *fasthttp.RequestCtx) {
	var body struct {
		Name      string  `json:"name"`
		Role      *string `json:"role"`
		ExpiresIn *string `json:"expires_in"`
	}
	who := askerOf(ctx)
	e := a.engineOr503(ctx)
	if e == nil || !a.document(ctx, &body) {
		return
	}
	made := state.APIToken{User: who.name, Name: body.Name, Role: who.role, Hint: ""}
	var wrong []market.FieldError
	if body.Name == "" || actorName(body.Name) != body.Name {
		wrong = append(wrong, market.FieldError{Field: "name", Code: errcode.FieldInvalidFormat, Expected: "what you call it: 1 to 64 bytes that can be printed"})
	}
	if body.Role != nil {
		role, ok := market.ParseRole(*body.Role)
		if !ok {
			wrong = append(wrong, market.FieldError{Field: "role", Code: errcode.FieldNotAllowedValue, Expected: "viewer, operator or admin"})
		}
		made.Role = role
	}
	if body.ExpiresIn != nil {
		days, ok := parseDays(*body.ExpiresIn)
		if !ok {
			wrong = append(wrong, market.FieldError{Field: "expires_in", Code: errcode.FieldInvalidFormat, Expected: "days, such as 30d, at most " + strconv.Itoa(maxTokenDays) + "d; without it the token has no end"})
		}
		made.Expires = time.Now().AddDate(0, 0, days).UnixNano()
	}
	switch {
	case len(wrong) > 0:
		a.fail(ctx, faultPayload, wrong...)
	case who.token != nil:
		a.fail(ctx, faultTokensToken)
	case !who.user:
		a.fail(ctx, faultNoAccount)
	case made.Role > who.role:
		a.fail(ctx, faultAboveRole)
	default:
		a.giveAPIToken(ctx, &made)
	}
}

func (a *Admin) giveAPIToken(ctx *fasthttp.RequestCtx, made *state.APIToken) {
	e := a.operator.Engine()
	token := newSecret(apiTokenPrefix, nil)
	made.Hash, made.Hint = a.operator.Tokens().HashPersonal([]byte(token)), KeyHint(token)
	if err := e.By(actorOf(ctx)).AddAPIToken(askerOf(ctx).session.user, made); err != nil {
		a.failWith(ctx, err)
		return
	}
	stored, _, _ := e.State().APIToken(made.Hash)
	sendSecret(ctx, append(a.appendAPIToken([]byte(`{"token":"`+token+`",`), &stored), '}'))
}

func parseDays(text string) (days int, ok bool) {
	number, isDays := strings.CutSuffix(text, "d")
	days, err := strconv.Atoi(number)
	return days, isDays && err == nil && days >= 1 && days <= maxTokenDays
}

// revokeAPIToken ends one of one's own tokens, or as an admin anyone's. Who comes by a
// token that may do less than its user ends that alone: it may have been lost.
func (a *Admin) revokeAPIToken(ctx *fasthttp.RequestCtx) {
	e := a.engineOr503(ctx)
	if e == nil {
		return
	}
	id := parameter(ctx, "id")
	for _, token := range a.visibleTokens(ctx) {
		if apiTokenID(&token) == id {
			if who := askerOf(ctx); who.token != nil && who.role < market.RoleAdmin && who.token.Hash != token.Hash {
				a.fail(ctx, faultOtherToken)
				return
			}
			a.entrance.forgetToken(token.Hash)
			a.done(ctx, e.By(actorOf(ctx)).RevokeAPIToken(&token))
			return
		}
	}
	a.fail(ctx, faultNoAPIToken)
}
