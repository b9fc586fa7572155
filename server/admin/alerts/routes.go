package alerts

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/server/admin/payload"
	"pingpost/server/httperror"
)

// Handler answers a request with a document or an error.
type Handler = func(ctx *fasthttp.RequestCtx) (answer any, err error)

// API has the operations on alerts.
type API struct {
	// Service returns the service, or nil while the exchange starts or stops.
	Service func() Service
	// CallerName returns the name of the authenticated operator.
	CallerName func(*fasthttp.RequestCtx) string
	// IsAdmin reports whether the authenticated operator has the role admin.
	IsAdmin func(*fasthttp.RequestCtx) bool
}

// AddRoutes registers the operations with the function add.
func (a *API) AddRoutes(add func(method, path string, h Handler)) {
	route := func(method, path string, h func(*fasthttp.RequestCtx, Service) (any, error)) {
		add(method, "/admin/v1/alerts"+path, func(ctx *fasthttp.RequestCtx) (answer any, err error) {
			service := a.Service()
			if service == nil {
				return nil, httperror.Unavailable
			}
			return h(ctx, service)
		})
	}
	route("GET", "", a.getStatus)
	route("GET", "/history", getHistory)
	route("GET", "/rules", listRules)
	route("GET", "/rules/{id}", getRule)
	route("PUT", "/rules/{id}", a.putRule)
	route("DELETE", "/rules/{id}", a.deleteRule)
	route("GET", "/channels", a.listChannels)
	route("GET", "/channels/{id}", a.getChannel)
	route("PUT", "/channels/{id}", a.putChannel)
	route("DELETE", "/channels/{id}", a.deleteChannel)
	route("POST", "/channels/{id}/test", testChannel)
	route("POST", "/silences", a.addSilence)
	route("DELETE", "/silences/{id}", a.deleteSilence)
}

// ETagOf returns a hash of a rule or channel, or of another entry.
func ETagOf(entry any) string {
	text, err := json.Marshal(entry)
	if err != nil {
		panic("BUG: cannot encode an entry: " + err.Error())
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// SetETag adds the header with the version of an entry.
func SetETag(ctx *fasthttp.RequestCtx, etag string) {
	ctx.Response.Header.Set("ETag", `"`+etag+`"`)
}

// CheckETag compares the version on which a change is based with the present one. expected is empty
// for a new entry, and present is empty if there is none.
func CheckETag(what, id, expected, present string) error {
	switch {
	case expected == present:
		return nil
	case expected == "":
		return httperror.New(409, errcode.Conflict, fmt.Sprintf("The %s %q exists already. Send its etag in If-Match to change it.", what, id))
	case present == "":
		return NewNotFoundError(what, id)
	}
	return httperror.New(409, errcode.Conflict, fmt.Sprintf("The %s %q was changed meanwhile. Load it again, and repeat your change.", what, id))
}

// NewNotFoundError returns the error of an id without an entry, a 404.
func NewNotFoundError(what, id string) error {
	return httperror.New(404, errcode.NotFound, fmt.Sprintf("There is no %s %q.", what, RemoveUnprintableAndCut(id, 64)))
}

const (
	maxName = 100 // bytes of a rule's or channel's name
	maxNote = 200 // bytes of a silence's note
)

// isRuleOrChannelID reports whether a text can be the id of a rule or channel.
func isRuleOrChannelID(id string) bool {
	for i := range len(id) {
		c := id[i]
		letter := c >= 'a' && c <= 'z' || c >= '0' && c <= '9'
		if !letter && (i == 0 || c != '_' && c != '-' && c != '.') {
			return false
		}
	}
	return len(id) >= 1 && len(id) <= 64
}

const expectedID = "1 to 64 of a-z, 0-9 and _ - . , beginning with a letter or digit"

// AddErrorUnlessPrintableLine adds an error if a text is not one printable line of at most maxBytes.
func AddErrorUnlessPrintableLine(faults *payload.FieldErrors, field, text string, maxBytes int) {
	faults.AddIf(len(text) > maxBytes, field, errcode.FieldTooLong, fmt.Sprintf("at most %d bytes", maxBytes))
	faults.AddIf(len(text) <= maxBytes && RemoveUnprintableAndCut(text, maxBytes) != text, field, errcode.FieldInvalidFormat, "a line of printable characters")
}
