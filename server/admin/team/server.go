package team

import (
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine"
	"pingpost/engine/market"
	"pingpost/engine/state"
	"pingpost/keys/token"
	"pingpost/server/httperror"
)

// PathAccept is the operation by which an invited person creates an account and signs in.
const PathAccept = "/admin/v1/invitations/{invitation}/accept"

// Server is the part of the admin server that the handlers use.
type Server interface {
	// Engine returns the engine that the request uses. It returns nil while the exchange starts or stops.
	Engine(ctx *fasthttp.RequestCtx) *engine.Engine
	CredentialHasher() *token.Issuer
	// Seal encrypts a secret under a name, and Unseal decrypts it under the same name.
	Seal(name, value string) []byte
	Unseal(name string, sealed []byte) (value string, ok bool)
	// Now returns the time of sessions and codes: the computer's.
	Now() time.Time
	// ExchangeNow returns the exchange's time, which events have and by which invitations expire.
	ExchangeNow() time.Time
	Tenant() string
	// PublicURL returns the configured address of the console, without a slash at its end, or "".
	PublicURL() string

	// Caller returns the authenticated caller of the request.
	Caller(ctx *fasthttp.RequestCtx) Caller
	// NormalizeUserName returns a user name in lower case, or false for an invalid one.
	NormalizeUserName(name string) (normal string, ok bool)
	// HashPassword returns the hash of a new password, or the API error of an unacceptable one.
	HashPassword(field, password string) (hash string, err error)
	// StartSessionOfAccount starts a session of an account and returns its description for the answer.
	StartSessionOfAccount(ctx *fasthttp.RequestCtx, account state.OperatorUser) (answer any, err error)
	// EndOtherSessions ends the account's sessions, except the caller's.
	EndOtherSessions(ctx *fasthttp.RequestCtx, account string)
	// CountCodeAttemptAsWrong counts a wrong code for an account from the client's network, like a
	// failed login. The caller undoes it after a success. The error is a 429.
	CountCodeAttemptAsWrong(ctx *fasthttp.RequestCtx, account string) (undo func(), err error)
	// CountFailureAndSelectError counts the failure as a wrong credential and returns it, or a 429 if
	// the client's network has sent too many.
	CountFailureAndSelectError(ctx *fasthttp.RequestCtx, failure httperror.Error) httperror.Error
}

// Caller is the authenticated caller of a request.
type Caller struct {
	Name         string
	Role         market.OperatorRole
	HasAccount   bool
	UsesAPIToken bool // an API token authenticates the caller
}

// Handlers serve the operations of this package.
type Handlers struct{ server Server }

// NewHandlers returns handlers for the admin server.
func NewHandlers(server Server) *Handlers { return &Handlers{server} }

// Handler returns the document of an answer, or an error.
type Handler func(ctx *fasthttp.RequestCtx) (answer any, err error)

// AuthenticatedOperations lists the operations that need authentication, by method and path.
func (h *Handlers) AuthenticatedOperations() (byMethodAndPath map[string]Handler) {
	return map[string]Handler{
		"GET /admin/v1/invitations":                 h.listInvitationsWithClosed,
		"POST /admin/v1/invitations":                h.invite,
		"DELETE /admin/v1/invitations/{invitation}": h.revokeInvitation,
		"POST /admin/v1/users/{name}/totp":          h.enrollSecondFactor,
		"POST /admin/v1/users/{name}/totp/confirm":  h.confirmSecondFactor,
		"DELETE /admin/v1/users/{name}/totp":        h.removeSecondFactor,
	}
}

// UnauthenticatedOperations lists the operations that need no authentication, by method and path.
func (h *Handlers) UnauthenticatedOperations() (byMethodAndPath map[string]Handler) {
	return map[string]Handler{
		"GET /admin/v1/invitations/{invitation}": h.showInvitation,
		"POST " + PathAccept:                     h.acceptInvitation,
	}
}

var errNotOwnFactor = httperror.New(403, errcode.Forbidden, "You can change only the second factor of your own account. Only an admin may remove another user's second factor.")
