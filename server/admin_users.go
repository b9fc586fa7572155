package server

import (
	"strconv"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine"
	"pingpost/engine/market"
	"pingpost/engine/state"
	"pingpost/server/passphrase"
)

var (
	faultNoUser      = fault{404, errcode.NotFound, "There is no user of this name."}
	faultNotOneself  = fault{403, errcode.Forbidden, "Another's password is for an admin to set."}
	faultOldPassword = fault{403, errcode.Forbidden, "The old password is not the user's."}
)

// users lists all accounts.
func (a *Admin) users(ctx *fasthttp.RequestCtx) {
	e := a.engineOr503(ctx)
	if e == nil {
		return
	}
	body := []byte(`{"users":[`)
	for i, user := range e.State().Users() {
		if i > 0 {
			body = append(body, ',')
		}
		body = a.appendUser(body, &user)
	}
	ctx.SetContentType(typeJSON)
	ctx.SetBody(append(body, "]}\n"...))
}

func (a *Admin) appendUser(body []byte, user *state.User) []byte {
	body = market.AppendJSONString(append(body, `{"name":`...), []byte(user.Name))
	body = append(body, `,"role":"`+user.Role.String()+`","created_at":`...)
	body = append(appendWhen(body, user.Created), `,"last_seen":`...)
	return append(appendWhen(body, a.entrance.userSeen(user.Name)), '}')
}

// setUser makes an account, or gives one another role or password.
func (a *Admin) setUser(ctx *fasthttp.RequestCtx) {
	var body struct {
		Role     string  `json:"role"`
		Password *string `json:"password"`
	}
	e := a.engineOr503(ctx)
	if e == nil || !a.document(ctx, &body) {
		return
	}
	wanted := engine.User{}
	var wrong []market.FieldError
	var ok bool
	if wanted.Name, ok = userName(parameter(ctx, "name")); !ok {
		wrong = append(wrong, market.FieldError{Field: "name", Code: errcode.FieldInvalidFormat, Expected: "1 to 64 of a-z, 0-9 and . _ - @ +, beginning and ending with a letter or digit"})
	}
	if wanted.Role, ok = market.ParseRole(body.Role); !ok {
		wrong = append(wrong, market.FieldError{Field: "role", Code: errcode.FieldNotAllowedValue, Expected: "viewer, operator or admin"})
	}
	before, known := e.State().User(wanted.Name)
	switch {
	case body.Password != nil:
		wrong = append(wrong, passwordErrors("password", *body.Password)...)
	case !known:
		wrong = append(wrong, market.FieldError{Field: "password", Code: errcode.FieldMissingRequired, Expected: "a new user's password"})
	}
	if len(wrong) > 0 {
		a.fail(ctx, faultPayload, wrong...)
		return
	}
	if body.Password != nil {
		var err error
		if wanted.Password, err = a.entrance.keeper.Hash(*body.Password); err != nil {
			a.failHashing(ctx, err)
			return
		}
	}
	ended := e.State().APITokens(wanted.Name)
	made, err := e.By(actorOf(ctx)).SetUser(wanted, a.locked)
	if err != nil {
		a.failWith(ctx, err)
		return
	}
	user, _ := e.State().User(wanted.Name)
	if user != before { // its sessions are no good; this frees their memory
		a.entrance.forget(wanted.Name, ended, false)
	}
	if made {
		ctx.SetStatusCode(fasthttp.StatusCreated)
	}
	ctx.SetContentType(typeJSON)
	ctx.SetBody(append(a.appendUser(nil, &user), '\n'))
}

// passwordErrors says what is wrong with a new password.
func passwordErrors(field, password string) []market.FieldError {
	switch {
	case len(password) > passphrase.Most:
		return []market.FieldError{{Field: field, Code: errcode.FieldTooLong, Expected: "at most " + strconv.Itoa(passphrase.Most) + " bytes"}}
	case len([]rune(password)) < passphrase.Least:
		return []market.FieldError{{Field: field, Code: errcode.FieldOutOfRange, Expected: "at least " + strconv.Itoa(passphrase.Least) + " characters"}}
	}
	return nil
}

func (a *Admin) removeUser(ctx *fasthttp.RequestCtx) {
	e := a.engineOr503(ctx)
	if e == nil {
		return
	}
	name, ok := userName(parameter(ctx, "name"))
	if !ok {
		a.fail(ctx, faultNoUser)
		return
	}
	tokens := e.State().APITokens(name)
	if err := e.By(actorOf(ctx)).RemoveUser(name, a.locked); err != nil {
		a.failWith(ctx, err)
		return
	}
	a.entrance.forget(name, tokens, true)
	ctx.SetStatusCode(fasthttp.StatusNoContent)
}

// setPassword gives a user another password: the user itself, who knows the old one, or
// an admin. Guesses of the old one are counted as logins are.
func (a *Admin) setPassword(ctx *fasthttp.RequestCtx) {
	var body struct {
		Old *string `json:"old"`
		New string  `json:"new"`
	}
	who := askerOf(ctx)
	e := a.engineOr503(ctx)
	if e == nil || !a.document(ctx, &body) {
		return
	}
	name, _ := userName(parameter(ctx, "name"))
	self := who.user && who.name == name
	if !self && who.role < market.RoleAdmin {
		a.fail(ctx, faultNotOneself)
		return
	}
	user, ok := e.State().User(name)
	if !ok {
		a.fail(ctx, faultNoUser)
		return
	}
	wrong := passwordErrors("new", body.New)
	if self && body.Old == nil {
		wrong = append(wrong, market.FieldError{Field: "old", Code: errcode.FieldMissingRequired, Expected: "the password so far"})
	}
	if len(wrong) > 0 {
		a.fail(ctx, faultPayload, wrong...)
		return
	}
	if body.Old != nil && !a.knows(ctx, &user, *body.Old) {
		return
	}
	hash, err := a.entrance.keeper.Hash(body.New)
	if err != nil {
		a.failHashing(ctx, err)
		return
	}
	tokens := e.State().APITokens(name)
	if err := e.By(actorOf(ctx)).SetPassword(&user, hash); err != nil {
		a.failWith(ctx, err)
		return
	}
	a.entrance.forget(name, tokens, false)
	ctx.SetStatusCode(fasthttp.StatusNoContent)
}

// knows tells whether somebody who is let in knows a user's password. Not: it was
// answered already.
func (a *Admin) knows(ctx *fasthttp.RequestCtx, user *state.User, password string) bool {
	from := networkOf(a.wary.of(ctx))
	if wait := a.entrance.attempt(from, user.Name, time.Now().UnixNano()); wait > 0 {
		a.failLogins(ctx, wait)
		return false
	}
	right, err := a.entrance.keeper.Check(user.Password, password)
	switch {
	case err != nil:
		a.entrance.forgive(from, user.Name)
		a.failHashing(ctx, err)
	case !right:
		a.fail(ctx, faultOldPassword)
	default:
		a.entrance.forgive(from, user.Name)
	}
	return right && err == nil
}
