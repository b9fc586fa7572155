package engine

import (
	"fmt"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// Bounds of what operators have.
const (
	MaxUsers     = 1000
	MaxAPITokens = 100 // of one user, that are good
)

// User is an operator's account as it is to be. The engine is given the password's
// hash and never itself.
type User struct {
	Name     string
	Role     market.Role
	Password string // empty: as it was
}

// SetUser makes an account or changes one, and with that ends the tokens that it had.
// Where nothing changes nothing is logged. ErrConflict: it would be one too many, or
// keeper is set and no admin would be left; keeper is so where accounts are the only
// way in. ErrNotFound: there is none, and no password for a new one.
func (e Operator) SetUser(u User, keeper bool) (made bool, err error) {
	e.staffing.Lock()
	defer e.staffing.Unlock()
	before, known := e.state.User(u.Name)
	switch {
	case !known && u.Password == "":
		return false, fmt.Errorf("%w: there is no user %q; a new one needs a password", ErrNotFound, u.Name)
	case !known && len(e.state.Users()) >= MaxUsers:
		return false, fmt.Errorf("%w: there are %d users, which is the most", ErrConflict, MaxUsers)
	case known && u.Password == "":
		if u.Password = before.Password; u.Role == before.Role {
			return false, nil
		}
	}
	if known && u.Role != market.RoleAdmin {
		if err := e.anotherAdmin(u.Name, keeper); err != nil {
			return false, err
		}
	}
	return !known, e.commit(&event.UserSet{Name: u.Name, Role: u.Role, Password: u.Password, At: e.opt.Clock.Now(), By: e.by}, nil)
}

// SetPassword gives a user another password, where it is still the one that it was
// judged to be. ErrConflict: it is another by now. ErrNotFound: it is gone.
func (e Operator) SetPassword(judged *state.User, password string) error {
	e.staffing.Lock()
	defer e.staffing.Unlock()
	switch is, ok := e.state.User(judged.Name); {
	case !ok:
		return fmt.Errorf("%w: there is no user %q", ErrNotFound, judged.Name)
	case is != *judged:
		return fmt.Errorf("%w: user %q was changed by someone else just now", ErrConflict, judged.Name)
	}
	return e.commit(&event.UserSet{Name: judged.Name, Role: judged.Role, Password: password, At: e.opt.Clock.Now(), By: e.by}, nil)
}

// RemoveUser ends an account and the tokens that it has. For keeper see SetUser.
func (e Operator) RemoveUser(name string, keeper bool) error {
	e.staffing.Lock()
	defer e.staffing.Unlock()
	if _, ok := e.state.User(name); !ok {
		return fmt.Errorf("%w: there is no user %q", ErrNotFound, name)
	}
	if err := e.anotherAdmin(name, keeper); err != nil {
		return err
	}
	return e.commit(&event.UserSet{Name: name, Removed: true, At: e.opt.Clock.Now(), By: e.by}, nil)
}

// anotherAdmin refuses to do without a user who is the last admin.
func (e *Engine) anotherAdmin(without string, keeper bool) error {
	was := false
	for _, user := range e.state.Users() {
		if user.Role != market.RoleAdmin {
			continue
		}
		if user.Name != without {
			return nil
		}
		was = true
	}
	if !was || !keeper {
		return nil
	}
	return fmt.Errorf("%w: %q is the last admin, and no admin_password is configured; make another admin first", ErrConflict, without)
}

// AddAPIToken makes a personal token good. Those of the same user that are past their
// end go. Of is the user as it was when it was let in. ErrNotFound: there is no such user.
// ErrConflict: it is another by now, it would be one too many, or it may do more than its
// user may.
func (e Operator) AddAPIToken(of state.User, token *state.APIToken) error {
	e.staffing.Lock()
	defer e.staffing.Unlock()
	user, ok := e.state.User(token.User)
	switch {
	case !ok:
		return fmt.Errorf("%w: there is no user %q", ErrNotFound, token.User)
	case user != of:
		return fmt.Errorf("%w: user %q was changed meanwhile; log in again", ErrConflict, user.Name)
	case token.Role > user.Role:
		return fmt.Errorf("%w: user %q is %s, and so may its tokens be", ErrConflict, user.Name, user.Role)
	}
	now, good := e.opt.Clock.Now(), 0
	for _, old := range e.state.APITokens(token.User) {
		if !old.IsExpired(now) {
			good++
			continue
		}
		if err := e.endAPIToken(&old, now); err != nil {
			return err
		}
	}
	if good >= MaxAPITokens {
		return fmt.Errorf("%w: user %q has %d tokens, which is the most; revoke some", ErrConflict, user.Name, MaxAPITokens)
	}
	return e.commit(&event.APITokenSet{
		User: token.User, Name: token.Name, Role: token.Role, Hash: token.Hash, Hint: token.Hint, Expires: token.Expires, At: now, By: e.by,
	}, nil)
}

// RevokeAPIToken ends a personal token at once. One that is revoked already stays so.
func (e Operator) RevokeAPIToken(token *state.APIToken) error {
	return e.endAPIToken(token, e.opt.Clock.Now())
}

func (e Operator) endAPIToken(token *state.APIToken, now int64) error {
	return e.commit(&event.APITokenSet{User: token.User, Hash: token.Hash, Hint: token.Hint, Revoked: true, At: now, By: e.by}, nil)
}
