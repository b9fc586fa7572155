package engine

import (
	"bytes"
	"fmt"
	"slices"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// Credential authenticates a supplier or a buyer: it is an API key, the secret of an OAuth
// client, or a sandbox's static bearer token. The engine gets only its hash, never the credential
// itself.
type Credential struct {
	Kind   event.SupplierOrBuyerCredentialKind
	Owner  event.ConfigObjectKind // supplier or buyer
	ID     string                 // of the owner
	Client string                 // for the secret of an OAuth client: its client id
	Scopes event.OAuthScopes      // none for an API key
	Hash   [32]byte
	Hint   string // its first characters, by which operators recognize it

	Replaces string // hint of the active secret that this one revokes; empty: none
}

// maxActiveSecrets limits the active secrets of one OAuth client, and the active API keys of one
// supplier. Two allow a rotation without an interruption: the old secret still works while the
// owner installs the new one.
const maxActiveSecrets = 2

// newCredentialAddedEvent returns the event that activates credential c, in the operator's name.
func (e OperatorActions) newCredentialAddedEvent(c *Credential) *event.CredentialAddedOrRevoked {
	return &event.CredentialAddedOrRevoked{
		Credential: c.Kind, Owner: c.Owner, OwnerRef: e.state.RefOf(c.Owner, c.ID), Client: c.Client,
		Scopes: c.Scopes, Hash: c.Hash, Hint: c.Hint, At: e.opt.Clock.Now(), By: e.by,
	}
}

// TooManyCredentialsError is returned by AddCredential if the maximum of secrets or API keys is active
// already and the new one does not name the secret that it replaces. The caller can choose one from
// Active.
type TooManyCredentialsError struct {
	Active []state.Credential // oldest first
}

func (e *TooManyCredentialsError) Error() string {
	return fmt.Sprintf("the supplier or OAuth client has %d active keys or secrets, which is the limit; name the one that the new one replaces", len(e.Active))
}

// UnknownReplacedHintError is returned by AddCredential if no active credential has the hint of the one
// that the new credential replaces. Active has the credentials that can be replaced.
type UnknownReplacedHintError struct {
	Active []state.Credential // oldest first
}

func (e *UnknownReplacedHintError) Error() string {
	return fmt.Sprintf("no active key or secret has the given hint; the supplier or OAuth client has %d active ones", len(e.Active))
}

// AddCredential activates a credential and revokes the one that it replaces. It revokes first, so
// that a crash between the two steps never leaves a third active secret. The errors:
//
//   - TooManyCredentialsError: one secret or API key too many.
//   - UnknownReplacedHintError: the credential to replace does not exist or was revoked.
//   - ErrConflict: the client id or the credential already belongs to another supplier or buyer.
//   - ErrNotFound: the credential's owner was never configured.
func (e OperatorActions) AddCredential(c *Credential) error {
	e.configuring.Lock()
	defer e.configuring.Unlock()
	record := e.newCredentialAddedEvent(c)
	if record.OwnerRef == 0 {
		return fmt.Errorf("%w: no supplier or buyer %q was ever configured", ErrNotFound, c.ID)
	}
	if c.Kind == event.CredentialOAuthClient {
		owner, ref, taken := e.state.OwnerOfOAuthClient(c.Client)
		if taken && (owner != record.Owner || ref != record.OwnerRef) {
			return fmt.Errorf("%w: the OAuth client %q belongs to another supplier or buyer; revoke it there, or choose another client id", ErrConflict, c.Client)
		}
	}
	if err := e.rejectCredentialOfOtherOwner(c); err != nil {
		return err
	}
	active := e.replaceableCredentials(record)
	replaced := slices.IndexFunc(active, func(r state.Credential) bool { return c.Replaces != "" && r.Hint == c.Replaces })
	if replaced < 0 && len(active) >= maxActiveSecrets {
		return &TooManyCredentialsError{Active: active}
	}
	if replaced < 0 && c.Replaces != "" {
		return &UnknownReplacedHintError{Active: active}
	}
	if replaced >= 0 {
		if err := e.commitRevocation(&active[replaced]); err != nil {
			return err
		}
	}
	return e.commit(record, nil)
}

// rejectCredentialOfOtherOwner returns ErrConflict if the credential already belongs to another
// supplier or buyer.
func (e *Engine) rejectCredentialOfOtherOwner(c *Credential) error {
	known, ok := e.state.CredentialByHash(c.Hash)
	if !ok || (known.Owner == c.Owner && known.Ref == e.state.RefOf(c.Owner, c.ID)) {
		return nil
	}
	return fmt.Errorf("%w: a key, secret or token for supplier or buyer %q already belongs to supplier or buyer %q; give each its own",
		ErrConflict, c.ID, e.state.NameOf(known.Owner, known.Ref))
}

// replaceableCredentials returns the active credentials that the new credential in record can
// replace, oldest first: those of its kind, owner and OAuth client. Bearer tokens replace none.
func (e *Engine) replaceableCredentials(record *event.CredentialAddedOrRevoked) (active []state.Credential) {
	if record.Credential == event.CredentialBearer {
		return nil // bearer tokens do not replace each other
	}
	for _, c := range e.state.CredentialsOf(record.Credential, record.Owner, record.OwnerRef) {
		if c.Client == record.Client {
			active = append(active, c)
		}
	}
	return active
}

// RevokeCredential revokes a credential and all access tokens that were issued with it, at once.
// Revoking a credential again has no effect.
func (e OperatorActions) RevokeCredential(c *state.Credential) error {
	e.configuring.Lock()
	defer e.configuring.Unlock()
	return e.commitRevocation(c)
}

func (e OperatorActions) commitRevocation(c *state.Credential) error {
	return e.commit(&event.CredentialAddedOrRevoked{
		Credential: c.Kind, Owner: c.Owner, OwnerRef: c.Ref, Client: c.Client,
		Hash: c.Hash, Hint: c.Hint, Revoked: true, At: e.opt.Clock.Now(), By: e.by,
	}, nil)
}

// Limits of operators' accounts.
const (
	MaxUsers     = 1000
	MaxAPITokens = 100 // active ones of one user
)

// NewOrChangedUser is the account that CreateOrChangeUser creates or changes. An operator signs in with an
// account to administer the exchange.
type NewOrChangedUser struct {
	Name     string
	Role     market.OperatorRole
	Password string // a hash; empty: unchanged
}

// CreateOrChangeUser creates or changes an operator's account. A change ends the account's sessions
// and tokens. A call with the present role and without a password commits no event.
// protectLastAdmin protects the last admin: callers set it if accounts are the only way to sign in.
// The errors:
//
//   - ErrConflict: there are too many accounts, or the last admin would lose the role.
//   - ErrNotFound: the account is new and has no password.
func (e OperatorActions) CreateOrChangeUser(account NewOrChangedUser, protectLastAdmin bool) (created bool, err error) {
	e.staffing.Lock()
	defer e.staffing.Unlock()
	before, known := e.state.OperatorUser(account.Name)
	switch {
	case !known && account.Password == "":
		return false, fmt.Errorf("%w: there is no user %q; a new one needs a password", ErrNotFound, account.Name)
	case !known && len(e.state.OperatorUsers()) >= MaxUsers:
		return false, fmt.Errorf("%w: there are %d users already, which is the limit; remove one first", ErrConflict, MaxUsers)
	case known && account.Password == "":
		if account.Password = before.Password; account.Role == before.Role {
			return false, nil
		}
	}
	if known && account.Role != market.RoleAdmin {
		if err := e.checkLastAdmin(account.Name, protectLastAdmin); err != nil {
			return false, err
		}
	}
	return !known, e.commit(&event.UserAccountChanged{Name: account.Name, Role: account.Role, Password: account.Password, At: e.opt.Clock.Now(), By: e.by}, nil)
}

// SetPassword sets a user's password, and ends the user's sessions and tokens. verifiedUser is the
// account with which the caller verified the user. ErrConflict means that the account has changed
// since then, and ErrNotFound that it was removed.
func (e OperatorActions) SetPassword(verifiedUser *state.OperatorUser, passwordHash string) error {
	e.staffing.Lock()
	defer e.staffing.Unlock()
	switch is, ok := e.state.OperatorUser(verifiedUser.Name); {
	case !ok:
		return fmt.Errorf("%w: there is no user %q", ErrNotFound, verifiedUser.Name)
	case is != *verifiedUser:
		return fmt.Errorf("%w: user %q was changed at the same time; read it again", ErrConflict, verifiedUser.Name)
	}
	return e.commit(&event.UserAccountChanged{Name: verifiedUser.Name, Role: verifiedUser.Role, Password: passwordHash, At: e.opt.Clock.Now(), By: e.by}, nil)
}

// RemoveUser removes an operator's account with its sessions and tokens. If protectLastAdmin is set, it
// returns ErrConflict for the last admin. ErrNotFound means that no account has this name.
func (e OperatorActions) RemoveUser(name string, protectLastAdmin bool) error {
	e.staffing.Lock()
	defer e.staffing.Unlock()
	if _, ok := e.state.OperatorUser(name); !ok {
		return fmt.Errorf("%w: there is no user %q", ErrNotFound, name)
	}
	if err := e.checkLastAdmin(name, protectLastAdmin); err != nil {
		return err
	}
	return e.commit(&event.UserAccountChanged{Name: name, Removed: true, At: e.opt.Clock.Now(), By: e.by}, nil)
}

// checkLastAdmin returns ErrConflict if protectLastAdmin is set and the named user is the only account
// with the admin role.
func (e *Engine) checkLastAdmin(name string, protectLastAdmin bool) error {
	isAdmin := false
	for _, user := range e.state.OperatorUsers() {
		if user.Role != market.RoleAdmin {
			continue
		}
		if user.Name != name {
			return nil
		}
		isAdmin = true
	}
	if !isAdmin || !protectLastAdmin {
		return nil
	}
	return fmt.Errorf("%w: %q is the last admin, and no admin.password is configured; create another admin first", ErrConflict, name)
}

// AddAPIToken activates an operator's personal API token, and removes the same user's expired ones.
// verifiedOwner is the account as it was when the caller authenticated the user. The errors:
//
//   - ErrNotFound: the account does not exist.
//   - ErrConflict: the account has changed, has too many active tokens, or has a lower role than
//     the token.
func (e OperatorActions) AddAPIToken(verifiedOwner state.OperatorUser, token *state.APIToken) error {
	e.staffing.Lock()
	defer e.staffing.Unlock()
	user, ok := e.state.OperatorUser(token.User)
	switch {
	case !ok:
		return fmt.Errorf("%w: there is no user %q", ErrNotFound, token.User)
	case user != verifiedOwner:
		return fmt.Errorf("%w: user %q was changed meanwhile; sign in again", ErrConflict, user.Name)
	case token.Role > user.Role:
		return fmt.Errorf("%w: user %q has the role %s, and a token cannot have a higher one", ErrConflict, user.Name, user.Role)
	}
	now, active := e.opt.Clock.Now(), 0
	for _, old := range e.state.APITokensWithExpired(token.User) {
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
	return e.commit(&event.APITokenAddedOrRevoked{
		User: token.User, Name: token.Name, Role: token.Role, Hash: token.Hash, Hint: token.Hint, Expires: token.Expires, At: now, By: e.by,
	}, nil)
}

// RevokeAPIToken revokes an operator's personal API token at once. Revoking a token again has no
// effect.
func (e OperatorActions) RevokeAPIToken(token *state.APIToken) error {
	return e.revokeAPIToken(token, e.opt.Clock.Now())
}

func (e OperatorActions) revokeAPIToken(token *state.APIToken, nowNanos int64) error {
	return e.commit(&event.APITokenAddedOrRevoked{User: token.User, Hash: token.Hash, Hint: token.Hint, Revoked: true, At: nowNanos, By: e.by}, nil)
}

// MaxInvitations limits the invitations that can be accepted at the same time.
const MaxInvitations = 1000

// CreateInvitation creates an invitation to open an operator's account. ErrConflict means that there are too
// many open invitations, or that the invitation names an account that exists.
func (e OperatorActions) CreateInvitation(i *state.Invitation) error {
	e.staffing.Lock()
	defer e.staffing.Unlock()
	now, open := e.opt.Clock.Now(), 0
	for _, other := range e.state.InvitationsWithClosed() {
		if other.IsAcceptable(now) {
			open++
		}
	}
	if open >= MaxInvitations {
		return fmt.Errorf("%w: there are %d open invitations, which is the limit; revoke one first", ErrConflict, MaxInvitations)
	}
	if _, taken := e.state.OperatorUser(i.Name); taken {
		return fmt.Errorf("%w: there is a user %q already; invite the person under another name", ErrConflict, i.Name)
	}
	return e.commit(&event.InvitationCreatedOrRevoked{Hash: i.Hash, Role: i.Role, Name: i.Name, Expires: i.Expires, At: now, By: e.by}, nil)
}

// RevokeInvitation revokes an open invitation. Revoking it again has no effect.
func (e OperatorActions) RevokeInvitation(hash [32]byte) error {
	e.staffing.Lock()
	defer e.staffing.Unlock()
	if i, ok := e.state.InvitationEvenIfClosed(hash); !ok || i.Status != state.InvitationOpen {
		return nil
	}
	return e.commit(&event.InvitationCreatedOrRevoked{Hash: hash, Revoked: true, At: e.opt.Clock.Now(), By: e.by}, nil)
}

// AcceptInvitation creates the account of an invited person, and uses up the invitation, in one
// event. So of two that accept it at the same time, one wins. The role is the invitation's. The
// errors:
//
//   - ErrNotFound: the invitation does not exist or is not acceptable any more.
//   - ErrConflict: the name is not the invitation's, an account has it, or there are too many.
func (e OperatorActions) AcceptInvitation(hash [32]byte, name, passwordHash string) error {
	e.staffing.Lock()
	defer e.staffing.Unlock()
	now := e.opt.Clock.Now()
	i, ok := e.state.InvitationEvenIfClosed(hash)
	_, taken := e.state.OperatorUser(name)
	switch {
	case !ok || !i.IsAcceptable(now):
		return fmt.Errorf("%w: the invitation was used, revoked or has expired; ask an admin for a new one", ErrNotFound)
	case i.Name != "" && i.Name != name:
		return fmt.Errorf("%w: the invitation is for the user name %q; use this name", ErrConflict, i.Name)
	case taken:
		return fmt.Errorf("%w: there is a user %q already; choose another name", ErrConflict, name)
	case len(e.state.OperatorUsers()) >= MaxUsers:
		return fmt.Errorf("%w: there are %d users already, which is the limit; ask an admin to remove one", ErrConflict, MaxUsers)
	}
	return e.commit(&event.UserAccountChanged{Name: name, Role: i.Role, Password: passwordHash, At: now, By: e.by, Invitation: hash}, nil)
}

// EnrollSecondFactor stores a new, encrypted TOTP secret for a user. The sign-in requires it once
// ConfirmSecondFactor confirms it. It replaces an unconfirmed secret. ErrConflict means that the user
// has a confirmed one already, and ErrNotFound that the account does not exist.
func (e OperatorActions) EnrollSecondFactor(user string, sealed []byte) error {
	e.staffing.Lock()
	defer e.staffing.Unlock()
	if _, ok := e.state.OperatorUser(user); !ok {
		return fmt.Errorf("%w: there is no user %q", ErrNotFound, user)
	}
	if factor, _ := e.state.SecondFactorEvenIfUnconfirmed(user); factor.Active {
		return fmt.Errorf("%w: user %q has a second factor already; remove it first", ErrConflict, user)
	}
	return e.commit(&event.UserSecondFactorChangedOrUsed{User: user, Change: event.SecondFactorEnrolled, Sealed: sealed, At: e.opt.Clock.Now(), By: e.by}, nil)
}

// ConfirmSecondFactor turns on a user's second factor, with the hashes of its recovery codes. step
// is the time step of the code that confirmed it. ErrConflict means that the factor with this
// encrypted secret was replaced, removed or confirmed meanwhile.
func (e OperatorActions) ConfirmSecondFactor(verified *state.SecondFactor, step uint64, recovery []event.RecoveryCodeHash) error {
	e.staffing.Lock()
	defer e.staffing.Unlock()
	now, ok := e.state.SecondFactorEvenIfUnconfirmed(verified.User)
	if !ok || now.Active || !bytes.Equal(now.Sealed, verified.Sealed) {
		return fmt.Errorf("%w: the second factor of user %q was changed at the same time; begin again", ErrConflict, verified.User)
	}
	return e.commit(&event.UserSecondFactorChangedOrUsed{
		User: verified.User, Change: event.SecondFactorConfirmed, Step: step, Recovery: recovery, At: e.opt.Clock.Now(), By: e.by,
	}, nil)
}

// MarkSecondFactorStepUsed uses up the code of a time step, and all earlier ones. A code is accepted
// once, also after a restart: ErrConflict means that it is used up, or that the factor was changed.
func (e OperatorActions) MarkSecondFactorStepUsed(verified *state.SecondFactor, step uint64) error {
	e.staffing.Lock()
	defer e.staffing.Unlock()
	now, ok := e.state.SecondFactorEvenIfUnconfirmed(verified.User)
	if !ok || !now.Active || !bytes.Equal(now.Sealed, verified.Sealed) || step <= now.LastStep {
		return fmt.Errorf("%w: the code was used already, or the second factor was changed meanwhile; use the next code of the present factor", ErrConflict)
	}
	return e.commit(&event.UserSecondFactorChangedOrUsed{User: now.User, Change: event.SecondFactorUsed, Step: step, At: e.opt.Clock.Now(), By: e.by}, nil)
}

// UseRecoveryCode uses up one of a user's recovery codes. ErrConflict means that the user has no
// such code, or used it already.
func (e OperatorActions) UseRecoveryCode(user string, code event.RecoveryCodeHash) error {
	e.staffing.Lock()
	defer e.staffing.Unlock()
	if now, _ := e.state.SecondFactorEvenIfUnconfirmed(user); !now.Active || !slices.Contains(now.Recovery, code) {
		return fmt.Errorf("%w: the recovery code is wrong or was used already", ErrConflict)
	}
	return e.commit(&event.UserSecondFactorChangedOrUsed{
		User: user, Change: event.SecondFactorUsed, Recovery: []event.RecoveryCodeHash{code}, At: e.opt.Clock.Now(), By: e.by,
	}, nil)
}

// RemoveSecondFactor removes a user's second factor. Without one it has no effect.
func (e OperatorActions) RemoveSecondFactor(user string) error {
	e.staffing.Lock()
	defer e.staffing.Unlock()
	if _, ok := e.state.SecondFactorEvenIfUnconfirmed(user); !ok {
		return nil
	}
	return e.commit(&event.UserSecondFactorChangedOrUsed{User: user, Change: event.SecondFactorRemoved, At: e.opt.Clock.Now(), By: e.by}, nil)
}
