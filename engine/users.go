package engine

import (
	"fmt"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// Limits of operators' accounts.
const (
	MaxUsers     = 1000
	MaxAPITokens = 100 // active ones of one user
)

// User is a new or changed operator's account.
type User struct {
	Name     string
	Role     market.Role
	Password string // a hash; empty: unchanged
}

// SetUser creates or changes an account, and ends the account's sessions and tokens. An equal
// account commits nothing. keepAdmin protects the last admin; callers set it if accounts are
// the only way to sign in. ErrConflict: too many accounts, or the last admin would lose the
// role. ErrNotFound: a new account without a password.
func (e Operator) SetUser(u User, keepAdmin bool) (created bool, err error) {
	e.staffing.Lock()
	defer e.staffing.Unlock()
	before, known := e.state.User(u.Name)
	switch {
	case !known && u.Password == "":
		return false, fmt.Errorf("%w: there is no user %q; a new one needs a password", ErrNotFound, u.Name)
	case !known && len(e.state.Users()) >= MaxUsers:
		return false, fmt.Errorf("%w: there are %d users already, which is the limit; remove one first", ErrConflict, MaxUsers)
	case known && u.Password == "":
		if u.Password = before.Password; u.Role == before.Role {
			return false, nil
		}
	}
	if known && u.Role != market.RoleAdmin {
		if err := e.checkLastAdmin(u.Name, keepAdmin); err != nil {
			return false, err
		}
	}
	return !known, e.commit(&event.UserSet{Name: u.Name, Role: u.Role, Password: u.Password, At: e.opt.Clock.Now(), By: e.by}, nil)
}

// SetPassword sets a user's password, if the account is unchanged since the caller checked
// it. ErrConflict: the account has changed. ErrNotFound: the account was removed.
func (e Operator) SetPassword(checked *state.User, password string) error {
	e.staffing.Lock()
	defer e.staffing.Unlock()
	switch is, ok := e.state.User(checked.Name); {
	case !ok:
		return fmt.Errorf("%w: there is no user %q", ErrNotFound, checked.Name)
	case is != *checked:
		return fmt.Errorf("%w: user %q was changed at the same time; read it again", ErrConflict, checked.Name)
	}
	return e.commit(&event.UserSet{Name: checked.Name, Role: checked.Role, Password: password, At: e.opt.Clock.Now(), By: e.by}, nil)
}

// RemoveUser removes an account with its sessions and tokens. With keepAdmin, it does not
// remove the last admin (ErrConflict).
func (e Operator) RemoveUser(name string, keepAdmin bool) error {
	e.staffing.Lock()
	defer e.staffing.Unlock()
	if _, ok := e.state.User(name); !ok {
		return fmt.Errorf("%w: there is no user %q", ErrNotFound, name)
	}
	if err := e.checkLastAdmin(name, keepAdmin); err != nil {
		return err
	}
	return e.commit(&event.UserSet{Name: name, Removed: true, At: e.opt.Clock.Now(), By: e.by}, nil)
}

// checkLastAdmin returns ErrConflict if the user is the last admin and keepAdmin is set.
func (e *Engine) checkLastAdmin(name string, keepAdmin bool) error {
	isAdmin := false
	for _, user := range e.state.Users() {
		if user.Role != market.RoleAdmin {
			continue
		}
		if user.Name != name {
			return nil
		}
		isAdmin = true
	}
	if !isAdmin || !keepAdmin {
		return nil
	}
	return fmt.Errorf("%w: %q is the last admin, and no admin.password is configured; create another admin first", ErrConflict, name)
}

// AddAPIToken activates a personal token and removes the user's expired ones. owner is the
// account at the time of authentication. ErrNotFound: the account does not exist.
// ErrConflict: the account has changed, it has too many tokens, or the token's role exceeds
// the user's.
func (e Operator) AddAPIToken(owner state.User, token *state.APIToken) error {
	e.staffing.Lock()
	defer e.staffing.Unlock()
	user, ok := e.state.User(token.User)
	switch {
	case !ok:
		return fmt.Errorf("%w: there is no user %q", ErrNotFound, token.User)
	case user != owner:
		return fmt.Errorf("%w: user %q was changed meanwhile; sign in again", ErrConflict, user.Name)
	case token.Role > user.Role:
		return fmt.Errorf("%w: user %q has the role %s, and a token cannot have a higher one", ErrConflict, user.Name, user.Role)
	}
	now, active := e.opt.Clock.Now(), 0
	for _, old := range e.state.APITokens(token.User) {
		if !old.IsExpired(now) {
			active++
			continue
		}
		if err := e.revokeAPIToken(&old, now); err != nil {
			return err
		}
	}
	if active >= MaxAPITokens {
		return fmt.Errorf("%w: user %q has %d active tokens, which is the limit; revoke one first", ErrConflict, user.Name, MaxAPITokens)
	}
	return e.commit(&event.APITokenSet{
		User: token.User, Name: token.Name, Role: token.Role, Hash: token.Hash, Hint: token.Hint, Expires: token.Expires, At: now, By: e.by,
	}, nil)
}

// RevokeAPIToken revokes a personal token at once. To revoke it again has no effect.
func (e Operator) RevokeAPIToken(token *state.APIToken) error {
	return e.revokeAPIToken(token, e.opt.Clock.Now())
}

func (e Operator) revokeAPIToken(token *state.APIToken, now int64) error {
	return e.commit(&event.APITokenSet{User: token.User, Hash: token.Hash, Hint: token.Hint, Revoked: true, At: now, By: e.by}, nil)
}
