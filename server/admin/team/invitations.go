package team

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine"
	"pingpost/engine/market"
	"pingpost/engine/state"
	"pingpost/server/admin/payload"
	"pingpost/server/httperror"
)

const (
	invitationPrefix      = "ppi_"
	invitationTokenLength = len(invitationPrefix) + 43

	defaultInvitationLife = 72 * time.Hour
	minInvitationLife     = time.Minute
	maxInvitationLife     = 30 * 24 * time.Hour
)

var (
	errUnknownInvitation   = httperror.New(404, errcode.NotFound, "There is no invitation of this id. The list of invitations shows the ids.")
	errWrongInvitation     = httperror.New(404, errcode.NotFound, "There is no such invitation. Check that the link is complete, or ask an admin for a new one.").CountedAsWrongCredential()
	errUsedInvitation      = httperror.New(410, errcode.InvitationEnded, "The invitation was used already. Log in with the account, or ask an admin for a new invitation.")
	errRevokedInvitation   = httperror.New(410, errcode.InvitationEnded, "The invitation was revoked. Ask an admin for a new one.")
	errExpiredInvitation   = httperror.New(410, errcode.InvitationEnded, "The invitation has expired. Ask an admin for a new one.")
	errTokenInvites        = httperror.New(403, errcode.Forbidden, "An API token cannot invite, because the account would outlive the token. Log in and invite in a session.")
	invalidUserNameMessage = "1 to 64 of a-z, 0-9 and . _ - @ +, beginning and ending with a letter or digit"
)

// invitationJSON describes an invitation in JSON. Only the answer that creates it has its token and
// link. Its URL is set if the console's address is configured.
type invitationJSON struct {
	Token   string  `json:"token,omitempty"`
	Link    string  `json:"link,omitempty"` // from the dashboard's address on
	URL     string  `json:"url,omitempty"`  // the whole link
	ID      string  `json:"id"`
	Role    string  `json:"role"`
	Name    *string `json:"name"`
	Status  string  `json:"status"`
	By      string  `json:"by"`
	Created *string `json:"created_at"`
	Expires *string `json:"expires_at"`
	Closed  *string `json:"closed_at"`
}

// invitationID returns the id of an invitation in the API: the beginning of its hash.
func invitationID(hash [32]byte) string { return hex.EncodeToString(hash[:8]) }

func (h *Handlers) describeInvitation(i *state.Invitation) invitationJSON {
	status := "open"
	switch {
	case i.Status == state.InvitationUsed:
		status = "used"
	case i.Status == state.InvitationRevoked:
		status = "revoked"
	case !i.IsAcceptable(h.server.ExchangeNow().UnixNano()):
		status = "expired"
	}
	return invitationJSON{
		ID: invitationID(i.Hash), Role: i.Role.String(), Name: payload.NullIfEmpty(i.Name), Status: status, By: i.By,
		Created: payload.FormatTimeOrNull(i.At), Expires: payload.FormatTimeOrNull(i.Expires), Closed: payload.FormatTimeOrNull(i.Closed),
	}
}

// listInvitationsWithClosed lists the open invitations and those that ended lately.
func (h *Handlers) listInvitationsWithClosed(ctx *fasthttp.RequestCtx) (answer any, err error) {
	e := h.server.Engine(ctx)
	if e == nil {
		return nil, httperror.Unavailable
	}
	return map[string]any{"invitations": payload.ConvertAll(e.State().InvitationsWithClosed(), h.describeInvitation)}, nil
}

// invite creates an invitation. Only this answer shows its token.
func (h *Handlers) invite(ctx *fasthttp.RequestCtx) (answer any, err error) {
	var body struct {
		Role      string  `json:"role"`
		Name      *string `json:"name"`
		ExpiresIn *string `json:"expires_in"`
	}
	e, caller := h.server.Engine(ctx), h.server.Caller(ctx)
	if e == nil {
		return nil, httperror.Unavailable
	}
	if err := payload.DecodeJSONBody(ctx, &body); err != nil {
		return nil, err
	}
	if caller.UsesAPIToken {
		return nil, errTokenInvites
	}
	role, ok := market.ParseRole(body.Role)
	var wrong payload.FieldErrors
	wrong.AddIf(!ok, "role", errcode.FieldNotAllowedValue, "viewer, operator or admin")
	made, life := state.Invitation{Role: role}, defaultInvitationLife
	if body.Name != nil {
		made.Name, ok = h.server.NormalizeUserName(*body.Name)
		wrong.AddIf(!ok, "name", errcode.FieldInvalidFormat, invalidUserNameMessage)
	}
	if body.ExpiresIn != nil {
		life, ok = parseInvitationLifetime(*body.ExpiresIn)
		wrong.AddIf(!ok, "expires_in", errcode.FieldInvalidFormat, "a time from 1m to 30d, such as 72h or 7d")
	}
	if len(wrong) > 0 {
		return nil, payload.NewInvalidFieldsError(wrong)
	}
	secret := newInvitationToken()
	made.Hash = h.server.CredentialHasher().HashInvitation([]byte(secret))
	made.Expires = h.server.ExchangeNow().Add(life).UnixNano()
	if err := e.AsOperator(caller.Name).CreateInvitation(&made); err != nil {
		return nil, err
	}
	stored, _ := e.State().InvitationEvenIfClosed(made.Hash)
	shown := h.describeInvitation(&stored)
	shown.Token, shown.Link = secret, "/#/invite/"+secret
	if address := h.server.PublicURL(); address != "" {
		shown.URL = address + shown.Link
	}
	return payload.SetCreatedAndNoStore(ctx, &shown)
}

func newInvitationToken() string {
	var random [32]byte
	_, _ = rand.Read(random[:])
	return invitationPrefix + base64.RawURLEncoding.EncodeToString(random[:])
}

// parseInvitationLifetime parses a duration such as 72h or 7d, within the limits of an invitation.
func parseInvitationLifetime(text string) (life time.Duration, ok bool) {
	if number, isDays := strings.CutSuffix(text, "d"); isDays {
		days, err := strconv.ParseUint(number, 10, 8)
		life = time.Duration(days) * 24 * time.Hour
		return life, err == nil && life >= minInvitationLife && life <= maxInvitationLife
	}
	life, err := time.ParseDuration(text)
	return life, err == nil && life >= minInvitationLife && life <= maxInvitationLife
}

// revokeInvitation revokes an invitation. Revoking an ended one has no effect.
func (h *Handlers) revokeInvitation(ctx *fasthttp.RequestCtx) (answer any, err error) {
	e := h.server.Engine(ctx)
	if e == nil {
		return nil, httperror.Unavailable
	}
	id := payload.PathParameter(ctx, "invitation")
	for _, i := range e.State().InvitationsWithClosed() {
		if invitationID(i.Hash) == id {
			return nil, e.AsOperator(h.server.Caller(ctx).Name).RevokeInvitation(i.Hash)
		}
	}
	return nil, errUnknownInvitation
}

// requireAcceptableInvitation returns the acceptable invitation whose token is in the path. Wrong
// tokens count as wrong credentials.
func (h *Handlers) requireAcceptableInvitation(ctx *fasthttp.RequestCtx, e *engine.Engine) (state.Invitation, error) {
	token := payload.PathParameter(ctx, "invitation")
	if len(token) != invitationTokenLength {
		return state.Invitation{}, h.server.CountFailureAndSelectError(ctx, errWrongInvitation)
	}
	i, ok := e.State().InvitationEvenIfClosed(h.server.CredentialHasher().HashInvitation([]byte(token)))
	switch {
	case !ok:
		return i, h.server.CountFailureAndSelectError(ctx, errWrongInvitation)
	case i.Status == state.InvitationUsed:
		return i, errUsedInvitation
	case i.Status == state.InvitationRevoked:
		return i, errRevokedInvitation
	case !i.IsAcceptable(h.server.ExchangeNow().UnixNano()):
		return i, errExpiredInvitation
	}
	return i, nil
}

// showInvitation shows the role and the expiry to the invited person, who has no account yet.
func (h *Handlers) showInvitation(ctx *fasthttp.RequestCtx) (answer any, err error) {
	e := h.server.Engine(ctx)
	if e == nil {
		return nil, httperror.Unavailable
	}
	i, err := h.requireAcceptableInvitation(ctx, e)
	if err != nil {
		return nil, err
	}
	ctx.Response.Header.Set("Cache-Control", "no-store")
	return map[string]any{
		"role": i.Role.String(), "name": payload.NullIfEmpty(i.Name), "tenant": h.server.Tenant(),
		"by": i.By, "expires_at": payload.FormatTimeOrNull(i.Expires),
	}, nil
}

// acceptInvitation creates the account of the invited person, and a session. The password is hashed, which is
// expensive, only for a valid token.
func (h *Handlers) acceptInvitation(ctx *fasthttp.RequestCtx) (answer any, err error) {
	var body struct {
		Name     *string `json:"name"`
		Password string  `json:"password"`
	}
	e := h.server.Engine(ctx)
	if e == nil {
		return nil, httperror.Unavailable
	}
	i, err := h.requireAcceptableInvitation(ctx, e)
	if err != nil {
		return nil, err
	}
	if err := payload.DecodeJSONBody(ctx, &body); err != nil {
		return nil, err
	}
	name, ok := i.Name, true
	if body.Name != nil {
		name, ok = h.server.NormalizeUserName(*body.Name)
	}
	if !ok || name == "" {
		return nil, payload.NewInvalidFieldError("name", errcode.FieldInvalidFormat, invalidUserNameMessage)
	}
	if _, taken := e.State().OperatorUser(name); taken {
		return nil, payload.NewInvalidFieldError("name", errcode.FieldNotAllowedValue, "a name that no other user has")
	}
	hash, err := h.server.HashPassword("password", body.Password)
	if err != nil {
		return nil, err
	}
	if err := e.AsOperator(name).AcceptInvitation(i.Hash, name, hash); err != nil {
		if _, ended := h.requireAcceptableInvitation(ctx, e); ended != nil && errors.Is(err, engine.ErrNotFound) {
			return nil, ended // another request was faster
		}
		return nil, err
	}
	account, _ := e.State().OperatorUser(name)
	ctx.SetStatusCode(fasthttp.StatusCreated)
	return h.server.StartSessionOfAccount(ctx, account)
}
