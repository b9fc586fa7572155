package admin

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/config/canonical"
	"pingpost/config/syntax"
	"pingpost/engine/market"
	"pingpost/server/httperror"
	"pingpost/server/request"
)

// Configurer changes single entries of the configuration.
type Configurer interface {
	// Items returns the current entries of a kind.
	Items(kind canonical.Kind) ([]Item, error)
	// Item returns an entry, or engine.ErrNotFound.
	Item(ref canonical.Ref) (*Item, error)
	// ChangeItem applies or removes an entry. The error is *ItemConflict,
	// engine.ErrNotFound or *syntax.Problems.
	ChangeItem(change *ItemChange) (*ItemChanged, error)
	// History returns the changes of the configuration, newest first.
	History(query HistoryQuery) (*HistoryPage, error)
}

// Item is a current entry of the configuration.
type Item struct {
	ID       string          `json:"id"`
	Owner    string          `json:"owner"`          // file or api
	File     string          `json:"file,omitempty"` // the file that owns it, if a file does
	ETag     string          `json:"etag"`
	Paused   *bool           `json:"paused,omitempty"` // buyers and campaigns only
	Document json.RawMessage `json:"document"`         // without secrets
}

// ItemChange is a requested change of an entry.
type ItemChange struct {
	canonical.Ref
	Document []byte // JSON; nil: remove the entry
	IfMatch  string // etag of the version that the change is based on; empty: a new entry
	By       string
	Dry      bool
}

// ItemChanged is the result of a change.
type ItemChanged struct {
	ETag      string   `json:"etag,omitempty"` // empty: the entry was removed
	Changes   []string `json:"changes"`
	Unapplied []string `json:"unapplied"`
	Warnings  []string `json:"warnings"`
}

// ItemConflict says why an entry cannot be changed. After a concurrent change it contains
// both versions.
type ItemConflict struct {
	Message string
	Both    bool
	Current *Item           // nil: it was removed
	Sent    json.RawMessage // without secrets
}

func (c *ItemConflict) Error() string { return c.Message }

// maxItem is the most bytes of an entry.
const maxItem = 1 << 20

func (a *Admin) addConfigEntryRoutes(add, addLarge func(method, path string, h fasthttp.RequestHandler)) {
	add("GET", "/admin/v1/config/history", a.configHistory)
	add("GET", "/admin/v1/config/defaults", a.configDefaults)
	for _, kind := range canonical.Kinds {
		at := "/admin/v1/config/" + string(kind)
		add("GET", at, func(ctx *fasthttp.RequestCtx) { a.listConfigEntries(ctx, kind) })
		add("GET", at+"/{id}", func(ctx *fasthttp.RequestCtx) { a.configEntry(ctx, refIn(ctx, kind)) })
		addLarge("PUT", at+"/{id}", func(ctx *fasthttp.RequestCtx) { a.changeConfigEntry(ctx, refIn(ctx, kind), bodyOf(ctx)) })
		add("DELETE", at+"/{id}", func(ctx *fasthttp.RequestCtx) { a.changeConfigEntry(ctx, refIn(ctx, kind), nil) })
	}
}

func refIn(ctx *fasthttp.RequestCtx, kind canonical.Kind) canonical.Ref {
	id := parameter(ctx, "id")
	return canonical.Ref{Kind: kind, ID: strings.Clone(id)}
}

func (a *Admin) listConfigEntries(ctx *fasthttp.RequestCtx, kind canonical.Kind) {
	items, err := a.operator.Items(kind)
	if err != nil {
		a.failWith(ctx, err)
		return
	}
	a.sendJSON(ctx, struct {
		Items []Item `json:"items"`
	}{append([]Item{}, items...)})
}

func (a *Admin) configEntry(ctx *fasthttp.RequestCtx, ref canonical.Ref) {
	item, err := a.operator.Item(ref)
	if err != nil {
		a.failWith(ctx, err)
		return
	}
	ctx.Response.Header.Set("ETag", `"`+item.ETag+`"`)
	a.sendJSON(ctx, item)
}

// configDefaults sends the defaults of each kind of entry: GET config/defaults.
func (a *Admin) configDefaults(ctx *fasthttp.RequestCtx) {
	defaults, err := canonical.DefaultEntries()
	if err != nil {
		panic("BUG: the defaults are no document: " + err.Error())
	}
	a.sendJSON(ctx, defaults)
}

// sendJSON answers with a value as JSON.
func (a *Admin) sendJSON(ctx *fasthttp.RequestCtx, document any) {
	ctx.SetContentType(httperror.TypeJSON)
	encoder := json.NewEncoder(ctx)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(document); err != nil {
		panic("BUG: an answer does not encode: " + err.Error())
	}
}

// changeConfigEntry applies an entry, or removes it if the body is nil.
func (a *Admin) changeConfigEntry(ctx *fasthttp.RequestCtx, ref canonical.Ref, body []byte) {
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
	changed.Warnings = append([]string{}, changed.Warnings...)
	a.sendJSON(ctx, changed)
}

// object returns a body that is a JSON object. If it returns nil, it has written the
// answer.
func (a *Admin) object(ctx *fasthttp.RequestCtx, body []byte) []byte {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil || members == nil {
		a.fail(ctx, request.MalformedJSON("The body is not a JSON object."))
		return nil
	}
	return body
}

// precondition returns the version that a change is based on, so that no operator
// overwrites another's change unseen.
func (a *Admin) precondition(ctx *fasthttp.RequestCtx, put bool) (etag string, ok bool) {
	match := string(ctx.Request.Header.Peek("If-Match"))
	fresh := string(ctx.Request.Header.Peek("If-None-Match"))
	switch etag = strings.Trim(strings.TrimPrefix(match, "W/"), `"`); {
	case etag != "" && etag != "*" && fresh == "":
		return etag, true
	case match == "" && fresh == "*" && put:
		return "", true
	}
	a.fail(ctx, httperror.InvalidPayload, market.FieldError{
		Field: "If-Match", Code: errcode.FieldMissingRequired,
		Expected: "the etag of the version that this was made out of, as GET gives it; or If-None-Match: * to make a new one",
	})
	return "", false
}

func (a *Admin) failItem(ctx *fasthttp.RequestCtx, ref canonical.Ref, err error) {
	var conflict *ItemConflict
	var problems *syntax.Problems
	switch {
	case errors.As(err, &conflict):
		a.failConflict(ctx, conflict)
	case errors.As(err, &problems):
		list := mistakes(*problems)
		for i := range list {
			if at, ok := ref.PathWithin((*problems)[i].Path); ok && at != "" {
				list[i].Field = at
			} else if ok {
				list[i].Field = "document"
			}
		}
		a.fail(ctx, httperror.New(422, errcode.InvalidPayload, "The entry is invalid; field_errors lists each mistake."), list...)
	default:
		a.failWith(ctx, err)
	}
}

// failConflict adds both versions to the error, if there are two.
func (a *Admin) failConflict(ctx *fasthttp.RequestCtx, conflict *ItemConflict) {
	a.fail(ctx, httperror.New(409, errcode.Conflict, conflict.Message))
	if !conflict.Both {
		return
	}
	current, _ := json.Marshal(conflict.Current)
	sent := conflict.Sent
	if sent == nil {
		sent = json.RawMessage("null")
	}
	a.addToError(ctx, map[string]json.RawMessage{"current": current, "sent": sent})
}

// HistoryQuery selects changes of the configuration.
type HistoryQuery struct {
	Kind  canonical.Kind // empty: all
	ID    string         // of that kind; empty: all
	Limit int
	After uint32 // a version; returns older ones; zero: from the newest on
}

// HistoryPage is a page of changes, newest first.
type HistoryPage struct {
	Entries []HistoryEntry
	Next    uint32 // version after which the next page starts; zero: no more pages
}

// HistoryEntry is a version of the configuration and its changes.
type HistoryEntry struct {
	Version uint32          `json:"version"`
	At      *time.Time      `json:"at"` // null: an earlier version of the program did not record it
	By      string          `json:"by"`
	From    string          `json:"from"`
	Changes []HistoryChange `json:"changes"`
	More    int             `json:"more,omitempty"` // number of omitted changes
	Lost    bool            `json:"lost,omitempty"` // its document, or the one before it, cannot be read
}

// HistoryChange is one difference.
type HistoryChange struct {
	Path   string          `json:"path"`
	Before json.RawMessage `json:"before,omitempty"` // absent: it was added
	After  json.RawMessage `json:"after,omitempty"`  // absent: it was removed
}

const (
	defaultPage = 50
	maxPage     = 500
)

func (a *Admin) configHistory(ctx *fasthttp.RequestCtx) {
	query, ok := a.historyQuery(ctx)
	if !ok {
		return
	}
	page, err := a.operator.History(query)
	if err != nil {
		a.failWith(ctx, err)
		return
	}
	answer := struct {
		Entries []HistoryEntry `json:"entries"`
		Next    *string        `json:"next"`
	}{Entries: append([]HistoryEntry{}, page.Entries...)}
	for i := range answer.Entries {
		answer.Entries[i].Changes = append([]HistoryChange{}, answer.Entries[i].Changes...)
	}
	if page.Next != 0 {
		next := strconv.FormatUint(uint64(page.Next), 10)
		answer.Next = &next
	}
	a.sendJSON(ctx, answer)
}

// historyQuery parses the query. If it returns false, it has written the answer.
func (a *Admin) historyQuery(ctx *fasthttp.RequestCtx) (q HistoryQuery, ok bool) {
	args := ctx.QueryArgs()
	bad := func(field, expected string) (HistoryQuery, bool) {
		a.fail(ctx, httperror.InvalidPayload, market.FieldError{Field: field, Code: errcode.FieldNotAllowedValue, Expected: expected})
		return q, false
	}
	q.Limit, q.Kind, q.ID = defaultPage, canonical.Kind(args.Peek("kind")), string(args.Peek("id"))
	if q.Kind != "" && !isKind(q.Kind) {
		return bad("kind", "suppliers, buyers, campaigns or suppression_lists")
	}
	if q.ID != "" && q.Kind == "" {
		return bad("id", "a kind beside it")
	}
	if args.Has("limit") {
		limit, err := args.GetUint("limit")
		if err != nil || limit < 1 || limit > maxPage {
			return bad("limit", "1 to 500")
		}
		q.Limit = limit
	}
	if args.Has("after") {
		after, err := strconv.ParseUint(string(args.Peek("after")), 10, 32)
		if err != nil || after == 0 {
			return bad("after", "what next was in the page before")
		}
		q.After = uint32(after)
	}
	return q, true
}

func isKind(kind canonical.Kind) bool {
	for _, known := range canonical.Kinds {
		if kind == known {
			return true
		}
	}
	return false
}
