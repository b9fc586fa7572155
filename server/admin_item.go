package server

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine/market"
	"pingpost/server/config"
)

// Configurer changes the configuration entry by entry.
type Configurer interface {
	// Items are the entries of a kind in force.
	Items(kind config.Kind) ([]Item, error)
	// Item is one of them; engine.ErrNotFound.
	Item(ref config.Ref) (*Item, error)
	// ChangeItem puts an entry into force, or takes one out. The error is *ItemConflict,
	// engine.ErrNotFound or *config.Problems.
	ChangeItem(change *ItemChange) (*ItemChanged, error)
	// History is what changed in the configuration, the newest first.
	History(query HistoryQuery) (*HistoryPage, error)
}

// Item is an entry of the configuration in force.
type Item struct {
	ID       string          `json:"id"`
	Owner    string          `json:"owner"`          // file or api
	File     string          `json:"file,omitempty"` // that has the word on it, where a file has
	ETag     string          `json:"etag"`
	Paused   *bool           `json:"paused,omitempty"` // of buyers and campaigns
	Document json.RawMessage `json:"document"`         // without secrets
}

// ItemChange is what an operator wants of an entry.
type ItemChange struct {
	config.Ref
	Document []byte // JSON; nil: it is to go
	IfMatch  string // etag of the one that it was made out of; empty: there is none yet
	By       string
	Dry      bool
}

// ItemChanged is what became of it.
type ItemChanged struct {
	ETag      string   `json:"etag,omitempty"` // none: it is gone
	Changes   []string `json:"changes"`
	Unapplied []string `json:"unapplied"`
}

// ItemConflict says why an entry cannot be changed as it was asked for. Where somebody
// else was faster it has both versions.
type ItemConflict struct {
	Message string
	Both    bool
	Current *Item           // nil: there is none any more
	Sent    json.RawMessage // without secrets
}

func (c *ItemConflict) Error() string { return c.Message }

// maxItem bounds an entry that is sent.
const maxItem = 1 << 20

func (a *Admin) itemRoutes(add, addLarge func(method, path string, h fasthttp.RequestHandler)) {
	add("GET", "/admin/v1/config/history", a.history)
	for _, kind := range config.Kinds {
		at := "/admin/v1/config/" + string(kind)
		add("GET", at, func(ctx *fasthttp.RequestCtx) { a.items(ctx, kind) })
		add("GET", at+"/{id}", func(ctx *fasthttp.RequestCtx) { a.item(ctx, refIn(ctx, kind)) })
		addLarge("PUT", at+"/{id}", func(ctx *fasthttp.RequestCtx) { a.changeItem(ctx, refIn(ctx, kind), bodyOf(ctx)) })
		add("DELETE", at+"/{id}", func(ctx *fasthttp.RequestCtx) { a.changeItem(ctx, refIn(ctx, kind), nil) })
	}
}

func refIn(ctx *fasthttp.RequestCtx, kind config.Kind) config.Ref {
	id := parameter(ctx, "id")
	return config.Ref{Kind: kind, ID: strings.Clone(id)}
}

func (a *Admin) items(ctx *fasthttp.RequestCtx, kind config.Kind) {
	items, err := a.operator.Items(kind)
	if err != nil {
		a.failWith(ctx, err)
		return
	}
	a.tell(ctx, struct {
		Items []Item `json:"items"`
	}{append([]Item{}, items...)})
}

func (a *Admin) item(ctx *fasthttp.RequestCtx, ref config.Ref) {
	item, err := a.operator.Item(ref)
	if err != nil {
		a.failWith(ctx, err)
		return
	}
	ctx.Response.Header.Set("ETag", `"`+item.ETag+`"`)
	a.tell(ctx, item)
}

// tell answers with a document.
func (a *Admin) tell(ctx *fasthttp.RequestCtx, document any) {
	ctx.SetContentType(typeJSON)
	encoder := json.NewEncoder(ctx)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(document); err != nil {
		panic("BUG: an answer does not encode: " + err.Error())
	}
}

// changeItem puts an entry; without a body it takes one out.
func (a *Admin) changeItem(ctx *fasthttp.RequestCtx, ref config.Ref, body []byte) {
	change := &ItemChange{Ref: ref, Dry: isDry(ctx.QueryArgs()), By: actorOf(ctx)}
	if string(ctx.Method()) == fasthttp.MethodPut {
		if change.Document = a.object(ctx, body); change.Document == nil {
			return
		}
	}
	var ok bool
	if change.IfMatch, ok = a.precondition(ctx, change.Document != nil); !ok {
		return
	}
	changed, err := a.operator.ChangeItem(change)
	if err != nil {
		a.failItem(ctx, ref, err)
		return
	}
	if changed.ETag != "" {
		ctx.Response.Header.Set("ETag", `"`+changed.ETag+`"`)
	}
	changed.Changes, changed.Unapplied = append([]string{}, changed.Changes...), append([]string{}, changed.Unapplied...)
	a.tell(ctx, changed)
}

// object is a body that is a JSON object; nil: it was answered already.
func (a *Admin) object(ctx *fasthttp.RequestCtx, body []byte) []byte {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil || members == nil {
		a.fail(ctx, malformed("The body is not a JSON object."))
		return nil
	}
	return body
}

// precondition is what a change was made out of, so that nobody undoes unseen what
// another operator did meanwhile.
func (a *Admin) precondition(ctx *fasthttp.RequestCtx, put bool) (etag string, ok bool) {
	match := string(ctx.Request.Header.Peek("If-Match"))
	fresh := string(ctx.Request.Header.Peek("If-None-Match"))
	switch etag = strings.Trim(strings.TrimPrefix(match, "W/"), `"`); {
	case etag != "" && etag != "*" && fresh == "":
		return etag, true
	case match == "" && fresh == "*" && put:
		return "", true
	}
	a.fail(ctx, faultPayload, market.FieldError{
		Field: "If-Match", Code: errcode.FieldMissingRequired,
		Expected: "the etag of the version that this was made out of, as GET gives it; or If-None-Match: * to make a new one",
	})
	return "", false
}

func (a *Admin) failItem(ctx *fasthttp.RequestCtx, ref config.Ref, err error) {
	var conflict *ItemConflict
	var problems *config.Problems
	switch {
	case errors.As(err, &conflict):
		a.failConflict(ctx, conflict)
	case errors.As(err, &problems):
		list := mistakes(*problems)
		for i := range list {
			if at, ok := (*problems)[i].Within(ref); ok && at != "" {
				list[i].Field = at
			} else if ok {
				list[i].Field = "document"
			}
		}
		a.fail(ctx, fault{422, errcode.InvalidPayload, "The entry cannot be put into force; see what is wrong at each place."}, list...)
	default:
		a.failWith(ctx, err)
	}
}

// failConflict has both versions beside the error, where there are two.
func (a *Admin) failConflict(ctx *fasthttp.RequestCtx, conflict *ItemConflict) {
	a.fail(ctx, fault{409, errcode.Conflict, conflict.Message})
	if !conflict.Both {
		return
	}
	var document map[string]json.RawMessage
	if err := json.Unmarshal(ctx.Response.Body(), &document); err != nil {
		panic("BUG: an error is no object: " + err.Error())
	}
	document["current"], _ = json.Marshal(conflict.Current)
	if document["sent"] = conflict.Sent; conflict.Sent == nil {
		document["sent"] = json.RawMessage("null")
	}
	ctx.Response.ResetBody()
	a.tell(ctx, document)
}
