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

// Configurer reads and changes single entries of the configuration, such as one buyer. The
// exchange implements it.
type Configurer interface {
	// Items returns the current entries of a kind.
	Items(kind canonical.Kind) ([]ConfigEntry, error)
	// Item returns an entry, or engine.ErrNotFound.
	Item(ref canonical.Ref) (*ConfigEntry, error)
	// ChangeItem applies or removes an entry. The error is *ConfigEntryConflict,
	// engine.ErrNotFound or *syntax.Problems.
	ChangeItem(change *ConfigEntryChange) (*ConfigEntryChanged, error)
	// History returns the changes of the configuration, newest first.
	History(query HistoryQuery) (*HistoryPage, error)
}

// ConfigEntry is an active entry of the configuration, such as one buyer, in JSON.
type ConfigEntry struct {
	ID       string          `json:"id"`
	Owner    string          `json:"owner"`          // file or api
	File     string          `json:"file,omitempty"` // the file that owns it, if a file does
	ETag     string          `json:"etag"`
	Paused   *bool           `json:"paused,omitempty"` // buyers and campaigns only
	Document json.RawMessage `json:"document"`         // without secrets
}

// ConfigEntryChange is an operator's request to create, replace or remove one entry of the
// configuration.
type ConfigEntryChange struct {
	canonical.Ref
	Document []byte // JSON; nil: remove the entry
	IfMatch  string // etag of the version that the change is based on; empty: a new entry
	By       string
	Dry      bool
}

// ConfigEntryChanged is the result of a ConfigEntryChange: the differences, and remarks on
// them.
type ConfigEntryChanged struct {
	ETag      string   `json:"etag,omitempty"` // empty: the entry was removed
	Changes   []string `json:"changes"`
	Unapplied []string `json:"unapplied"`
	Warnings  []string `json:"warnings"`
}

// ConfigEntryConflict is the error for an entry that cannot be changed as requested. If another
// operator changed the entry meanwhile, it contains both versions.
type ConfigEntryConflict struct {
	Message string
	Both    bool
	Current *ConfigEntry    // nil: it was removed
	Sent    json.RawMessage // without secrets
}

func (c *ConfigEntryConflict) Error() string { return c.Message }

// maxItem is the greatest size of a configuration entry in bytes.
const maxItem = 1 << 20

func (a *Admin) addConfigEntryRoutes(add, addLarge func(method, path string, h fasthttp.RequestHandler)) {
	add("GET", "/admin/v1/config/history", a.sendConfigHistory)
	add("GET", "/admin/v1/config/defaults", a.sendConfigDefaults)
	for _, kind := range canonical.Kinds {
		at := "/admin/v1/config/" + string(kind)
		add("GET", at, func(ctx *fasthttp.RequestCtx) { a.listConfigEntries(ctx, kind) })
		add("GET", at+"/{id}", func(ctx *fasthttp.RequestCtx) { a.sendConfigEntry(ctx, configRefFrom(ctx, kind)) })
		addLarge("PUT", at+"/{id}", func(ctx *fasthttp.RequestCtx) { a.changeConfigEntry(ctx, configRefFrom(ctx, kind), bodyOf(ctx)) })
		add("DELETE", at+"/{id}", func(ctx *fasthttp.RequestCtx) { a.changeConfigEntry(ctx, configRefFrom(ctx, kind), nil) })
	}
}

func configRefFrom(ctx *fasthttp.RequestCtx, kind canonical.Kind) canonical.Ref {
	id := pathParameter(ctx, "id")
	return canonical.Ref{Kind: kind, ID: strings.Clone(id)}
}

func (a *Admin) listConfigEntries(ctx *fasthttp.RequestCtx, kind canonical.Kind) {
	items, err := a.operator.Items(kind)
	if err != nil {
		a.sendEngineError(ctx, err)
		return
	}
	sendJSON(ctx, struct {
		Items []ConfigEntry `json:"items"`
	}{append([]ConfigEntry{}, items...)})
}

func (a *Admin) sendConfigEntry(ctx *fasthttp.RequestCtx, ref canonical.Ref) {
	item, err := a.operator.Item(ref)
	if err != nil {
		a.sendEngineError(ctx, err)
		return
	}
	ctx.Response.Header.Set("ETag", `"`+item.ETag+`"`)
	sendJSON(ctx, item)
}

// sendConfigDefaults answers GET config/defaults with the default values of each kind of
// configuration entry.
func (a *Admin) sendConfigDefaults(ctx *fasthttp.RequestCtx) {
	defaults, err := canonical.DefaultEntries()
	if err != nil {
		panic("BUG: the defaults are no document: " + err.Error())
	}
	sendJSON(ctx, defaults)
}

// changeConfigEntry creates or replaces the configuration entry ref by the body of a PUT, or
// removes it for a DELETE.
func (a *Admin) changeConfigEntry(ctx *fasthttp.RequestCtx, ref canonical.Ref, body []byte) {
	change := &ConfigEntryChange{Ref: ref, Dry: isDryRun(ctx.QueryArgs()), By: callerNameOf(ctx)}
	if string(ctx.Method()) == fasthttp.MethodPut {
		if change.Document = a.requireJSONObject(ctx, body); change.Document == nil {
			return
		}
	}
	var ok bool
	if change.IfMatch, ok = a.readIfMatch(ctx, change.Document != nil); !ok {
		return
	}
	changed, err := a.operator.ChangeItem(change)
	if err != nil {
		a.sendConfigEntryError(ctx, ref, err)
		return
	}
	if changed.ETag != "" {
		ctx.Response.Header.Set("ETag", `"`+changed.ETag+`"`)
	}
	changed.Changes, changed.Unapplied = append([]string{}, changed.Changes...), append([]string{}, changed.Unapplied...)
	changed.Warnings = append([]string{}, changed.Warnings...)
	sendJSON(ctx, changed)
}

// requireJSONObject returns the body if it is a JSON object. Otherwise it answers with an error
// and returns nil.
func (a *Admin) requireJSONObject(ctx *fasthttp.RequestCtx, body []byte) []byte {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil || members == nil {
		a.sendError(ctx, request.MalformedJSON("The body is not a JSON object."))
		return nil
	}
	return body
}

// readIfMatch returns the ETag of the version on which the operator based a change, from the
// header If-Match. A new entry needs If-None-Match: * instead, and has an empty ETag. So
// operators cannot overwrite each other's changes by mistake. If ok is false, it has already
// sent an error.
func (a *Admin) readIfMatch(ctx *fasthttp.RequestCtx, put bool) (etag string, ok bool) {
	match := string(ctx.Request.Header.Peek("If-Match"))
	fresh := string(ctx.Request.Header.Peek("If-None-Match"))
	switch etag = strings.Trim(strings.TrimPrefix(match, "W/"), `"`); {
	case etag != "" && etag != "*" && fresh == "":
		return etag, true
	case match == "" && fresh == "*" && put:
		return "", true
	}
	a.sendError(ctx, httperror.InvalidPayload, market.FieldError{
		Field: "If-Match", Code: errcode.FieldMissingRequired,
		Expected: "the etag of the version that this was made out of, as GET gives it; or If-None-Match: * to make a new one",
	})
	return "", false
}

func (a *Admin) sendConfigEntryError(ctx *fasthttp.RequestCtx, ref canonical.Ref, err error) {
	var conflict *ConfigEntryConflict
	var problems *syntax.Problems
	switch {
	case errors.As(err, &conflict):
		a.sendConfigConflict(ctx, conflict)
	case errors.As(err, &problems):
		list := fieldErrorsOf(*problems)
		for i := range list {
			if at, ok := ref.PathWithin((*problems)[i].Path); ok && at != "" {
				list[i].Field = at
			} else if ok {
				list[i].Field = "document"
			}
		}
		a.sendError(ctx, httperror.New(422, errcode.InvalidPayload, "The entry is invalid; field_errors lists each mistake."), list...)
	default:
		a.sendEngineError(ctx, err)
	}
}

// sendConfigConflict answers 409. If another operator changed the entry meanwhile, the answer
// has both versions.
func (a *Admin) sendConfigConflict(ctx *fasthttp.RequestCtx, conflict *ConfigEntryConflict) {
	a.sendError(ctx, httperror.New(409, errcode.Conflict, conflict.Message))
	if !conflict.Both {
		return
	}
	sent := conflict.Sent
	if sent == nil {
		sent = json.RawMessage("null")
	}
	addErrorMembers(ctx, map[string]any{"current": conflict.Current, "sent": sent})
}

// HistoryQuery selects one page of the configuration's history.
type HistoryQuery struct {
	Kind  canonical.Kind // empty: all
	ID    string         // of that kind; empty: all
	Limit int
	After uint32 // a version; returns older ones; zero: from the newest on
}

// HistoryPage is one page of the configuration's history, newest version first.
type HistoryPage struct {
	Entries []HistoryEntry
	Next    uint32 // version after which the next page starts; zero: no more pages
}

// HistoryEntry is one version of the configuration, with its differences from the version
// before.
type HistoryEntry struct {
	Version uint32          `json:"version"`
	At      *time.Time      `json:"at"` // null: an earlier version of the program did not record it
	By      string          `json:"by"`
	From    string          `json:"from"`
	Changes []HistoryChange `json:"changes"`
	More    int             `json:"more,omitempty"` // number of omitted changes
	Lost    bool            `json:"lost,omitempty"` // its document, or the one before it, cannot be read
}

// HistoryChange is one value that differs between two versions of the configuration.
type HistoryChange struct {
	Path   string          `json:"path"`
	Before json.RawMessage `json:"before,omitempty"` // absent: it was added
	After  json.RawMessage `json:"after,omitempty"`  // absent: it was removed
}

const (
	defaultPage = 50
	maxPage     = 500
)

func (a *Admin) sendConfigHistory(ctx *fasthttp.RequestCtx) {
	query, ok := a.readHistoryQuery(ctx)
	if !ok {
		return
	}
	page, err := a.operator.History(query)
	if err != nil {
		a.sendEngineError(ctx, err)
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
	sendJSON(ctx, answer)
}

// readHistoryQuery parses the query parameters of GET config/history. If ok is false, it has
// already sent an error.
func (a *Admin) readHistoryQuery(ctx *fasthttp.RequestCtx) (q HistoryQuery, ok bool) {
	args := ctx.QueryArgs()
	bad := func(field, expected string) (HistoryQuery, bool) {
		a.sendError(ctx, httperror.InvalidPayload, market.FieldError{Field: field, Code: errcode.FieldNotAllowedValue, Expected: expected})
		return q, false
	}
	q.Limit, q.Kind, q.ID = defaultPage, canonical.Kind(args.Peek("kind")), string(args.Peek("id"))
	if q.Kind != "" && !isConfigKind(q.Kind) {
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

func isConfigKind(kind canonical.Kind) bool {
	for _, known := range canonical.Kinds {
		if kind == known {
			return true
		}
	}
	return false
}
