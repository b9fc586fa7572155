// Package posting answers the admin API's requests for posting instructions: it renders them, makes
// links for suppliers and revokes these.
package posting

import (
	"errors"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/config/schema"
	"pingpost/server/admin/payload"
	"pingpost/server/httperror"
	"pingpost/server/instructions"
)

// GetInstructions answers GET campaigns/{id}/instructions: the document for the supplier in the
// query, in the format in the query.
func GetInstructions(ctx *fasthttp.RequestCtx, p *instructions.Publisher) (answer any, err error) {
	query := ctx.QueryArgs()
	document, err := p.Document(payload.PathParameter(ctx, "id"), string(query.Peek("supplier")))
	if err != nil {
		return nil, asAPIError(err)
	}
	format := string(query.Peek("format"))
	if format == "" {
		format = "json"
	}
	file, ok, err := document.Render(format, nil, time.Now())
	if !ok {
		return nil, payload.NewInvalidFieldError("format", errcode.FieldNotAllowedValue, instructions.Formats)
	}
	if err != nil {
		return nil, err
	}
	return fileAnswer(file), nil
}

// fileAnswer is an answer with a file instead of JSON.
type fileAnswer instructions.File

// SendAnswer implements payload.NonJSONAnswer.
func (f fileAnswer) SendAnswer(ctx *fasthttp.RequestCtx) {
	header := &ctx.Response.Header
	header.Set("Cache-Control", "no-store")
	ctx.SetContentType(f.ContentType)
	if f.Policy != "" {
		header.Set("Content-Security-Policy", f.Policy)
	}
	if f.Name != "" {
		header.Set("Content-Disposition", `attachment; filename="`+f.Name+`"`)
	}
	ctx.SetBody(f.Body)
}

// AddLink answers POST campaigns/{id}/instructions/link with a new public link to the document for
// the supplier in the body.
func AddLink(ctx *fasthttp.RequestCtx, p *instructions.Publisher) (answer any, err error) {
	var sent struct {
		Supplier  string `json:"supplier"`
		ExpiresIn string `json:"expires_in"`
	}
	if err := payload.DecodeJSONBody(ctx, &sent); err != nil {
		return nil, err
	}
	lifetime := schema.Duration(instructions.DefaultLinkLifetime)
	if sent.ExpiresIn != "" {
		lifetime, err = schema.ParseDuration(strings.TrimSpace(sent.ExpiresIn))
		switch {
		case err != nil:
			return nil, payload.NewInvalidFieldError("expires_in", errcode.FieldInvalidFormat, "a duration such as 12h or 7d")
		case lifetime < schema.Duration(instructions.MinLinkLifetime) || lifetime > schema.Duration(instructions.MaxLinkLifetime):
			return nil, payload.NewInvalidFieldError("expires_in", errcode.FieldOutOfRange, "1m to 90d")
		}
	}
	link, err := p.NewLink(payload.PathParameter(ctx, "id"), sent.Supplier, time.Duration(lifetime))
	if err != nil {
		return nil, asAPIError(err)
	}
	return payload.SetCreatedAndNoStore(ctx, struct {
		URL     string `json:"url"`
		Expires string `json:"expires_at"`
	}{link.URL, payload.FormatTimeToSeconds(link.Expires.UnixNano())})
}

// RevokeLinks answers DELETE suppliers/{id}/instructions/links: all links of the supplier end.
func RevokeLinks(ctx *fasthttp.RequestCtx, p *instructions.Publisher, operator string) (answer any, err error) {
	err = p.RevokeLinks(payload.PathParameter(ctx, "id"), operator)
	if errors.Is(err, instructions.ErrUnknownSupplier) {
		return nil, httperror.New(404, errcode.NotFound, "No supplier of this id was ever configured.")
	}
	return nil, asAPIError(err)
}

// asAPIError returns the API's error for an error of the publisher.
func asAPIError(err error) error {
	switch {
	case errors.Is(err, instructions.ErrUnavailable):
		return httperror.Unavailable
	case errors.Is(err, instructions.ErrUnreadableLinks):
		return httperror.New(503, errcode.Unavailable, "The exchange cannot read which links of the supplier are revoked. Revoke all links of the supplier; then create a new one.")
	case errors.Is(err, instructions.ErrUnknownCampaign):
		return httperror.New(404, errcode.NotFound, "No campaign of this id is configured.")
	case errors.Is(err, instructions.ErrUnknownSupplier):
		return payload.NewInvalidFieldError("supplier", errcode.FieldUnknown, "the id of a supplier that is configured")
	case errors.Is(err, instructions.ErrNotAccepted):
		return payload.NewInvalidFieldError("supplier", errcode.FieldNotAllowedValue, "a supplier from which the campaign accepts leads")
	}
	return err
}
