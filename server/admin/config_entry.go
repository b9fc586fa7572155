package admin

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/config/canonical"
	"pingpost/config/syntax"
	"pingpost/server/admin/payload"
	"pingpost/server/httperror"
	"pingpost/server/request"
)

// ConfigEntryStore reads and changes single entries of the configuration, such as one buyer. The
// exchange implements it.
type ConfigEntryStore interface {
	// ConfigEntries returns the current entries of a kind.
	ConfigEntries(kind canonical.Collection) ([]ConfigEntry, error)
	// ConfigEntry returns an entry, or engine.ErrNotFound.
	ConfigEntry(ref canonical.EntryRef) (*ConfigEntry, error)
	// ChangeConfigEntry applies or removes an entry. The error is *ConfigChangeRefusedError,
	// engine.ErrNotFound or *syntax.Problems.
	ChangeConfigEntry(change *ConfigEntryChange) (*ConfigEntryChangeResult, error)
	// History returns the changes of the configuration, newest first.
	History(query ConfigHistoryQuery) (*ConfigHistoryPage, error)
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
	canonical.EntryRef
	Document []byte // JSON; nil: remove the entry
	IfMatch  string // etag of the version that the change is based on; empty: a new entry
	By       string
	Dry      bool
}

// ConfigEntryChangeResult is the result of a ConfigEntryChange: the changes, the initial values in the
// entry that have no effect because a value was set before, and warnings.
type ConfigEntryChangeResult struct {
	ETag      string   `json:"etag,omitempty"` // empty: the entry was removed
	Changes   []string `json:"changes"`
	Unapplied []string `json:"unapplied"`
	Warnings  []string `json:"warnings"`
}

// ConfigChangeRefusedError is the error for an entry that cannot be changed as requested. Both is set
// if the change is based on another version of the entry than the current one. The error then contains
// both versions.
type ConfigChangeRefusedError struct {
	Message string
	Both    bool
	Current *ConfigEntry    // nil: it was removed
	Sent    json.RawMessage // without secrets
}

func (c *ConfigChangeRefusedError) Error() string { return c.Message }

// maxItem is the greatest size of a configuration entry in bytes.
const maxItem = 1 << 20

func (a *Admin) addConfigEntryHistoryDriftRoutes(add, addForLargeBody func(method, path string, h fasthttp.RequestHandler)) {
	add("GET", "/admin/v1/config/history", a.withAnswerOrErrorSent(a.getConfigHistory))
	add("GET", "/admin/v1/config/drift", a.withAnswerOrErrorSent(a.getConfigDrift))
	addForLargeBody("POST", "/admin/v1/config/drift", a.withAnswerOrErrorSent(a.resolveConfigDrift))
	add("GET", "/admin/v1/config/defaults", a.withAnswerOrErrorSent(a.getConfigEntryDefaults))
	for _, kind := range canonical.Collections {
		at := "/admin/v1/config/" + string(kind)
		add("GET", at, a.withAnswerOrErrorSent(func(*fasthttp.RequestCtx) (any, error) { return a.listConfigEntries(kind) }))
		add("GET", at+"/{id}", a.withAnswerOrErrorSent(func(ctx *fasthttp.RequestCtx) (any, error) {
			return a.getConfigEntry(ctx, configEntryRefFromPath(ctx, kind))
		}))
		addForLargeBody("PUT", at+"/{id}", a.withAnswerOrErrorSent(func(ctx *fasthttp.RequestCtx) (any, error) {
			return a.putOrDeleteConfigEntry(ctx, configEntryRefFromPath(ctx, kind), payload.RequestBody(ctx))
		}))
		add("DELETE", at+"/{id}", a.withAnswerOrErrorSent(func(ctx *fasthttp.RequestCtx) (any, error) {
			return a.putOrDeleteConfigEntry(ctx, configEntryRefFromPath(ctx, kind), nil)
		}))
	}
}

func configEntryRefFromPath(ctx *fasthttp.RequestCtx, kind canonical.Collection) canonical.EntryRef {
	id := payload.PathParameter(ctx, "id")
	return canonical.EntryRef{Kind: kind, ID: strings.Clone(id)}
}

func (a *Admin) listConfigEntries(kind canonical.Collection) (answer any, err error) {
	items, err := a.exchange.ConfigEntries(kind)
	if err != nil {
		return nil, err
	}
	return map[string]any{"items": append([]ConfigEntry{}, items...)}, nil
}

func (a *Admin) getConfigEntry(ctx *fasthttp.RequestCtx, ref canonical.EntryRef) (answer any, err error) {
	item, err := a.exchange.ConfigEntry(ref)
	if err != nil {
		return nil, err
	}
	ctx.Response.Header.Set("ETag", `"`+item.ETag+`"`)
	return item, nil
}

// getConfigEntryDefaults answers GET config/defaults with the default values of each kind of
// configuration entry.
func (a *Admin) getConfigEntryDefaults(*fasthttp.RequestCtx) (answer any, err error) {
	defaults, err := canonical.DefaultEntries()
	if err != nil {
		panic("BUG: cannot encode the default configuration entries: " + err.Error())
	}
	return defaults, nil
}

// putOrDeleteConfigEntry creates or replaces the configuration entry ref by the body of a PUT, or
// removes it for a DELETE.
func (a *Admin) putOrDeleteConfigEntry(ctx *fasthttp.RequestCtx, ref canonical.EntryRef, body []byte) (answer any, err error) {
	change := &ConfigEntryChange{EntryRef: ref, Dry: isDryRun(ctx.QueryArgs()), By: callerNameOf(ctx)}
	if string(ctx.Method()) == fasthttp.MethodPut {
		var members map[string]json.RawMessage
		if err := json.Unmarshal(body, &members); err != nil || members == nil {
			return nil, request.NewMalformedJSONError("The body is not a JSON object.")
		}
		change.Document = body
	}
	if change.IfMatch, err = payload.ReadExpectedETag(ctx, change.Document != nil); err != nil {
		return nil, err
	}
	changed, err := a.exchange.ChangeConfigEntry(change)
	if err != nil {
		return nil, makeErrorPathsRelativeToEntry(ref, err)
	}
	if changed.ETag != "" {
		ctx.Response.Header.Set("ETag", `"`+changed.ETag+`"`)
	}
	changed.Changes, changed.Unapplied = append([]string{}, changed.Changes...), append([]string{}, changed.Unapplied...)
	changed.Warnings = append([]string{}, changed.Warnings...)
	return changed, nil
}

// makeErrorPathsRelativeToEntry returns an error of the configuration with the paths of its
// mistakes inside the entry ref. Other errors stay unchanged.
func makeErrorPathsRelativeToEntry(ref canonical.EntryRef, err error) error {
	var problems *syntax.Problems
	if !errors.As(err, &problems) {
		return err
	}
	list := configurationFieldErrors(*problems)
	for i := range list {
		if at, ok := ref.PathWithin((*problems)[i].Path); ok {
			list[i].Field = cmp.Or(at, "document")
		}
	}
	return &payload.DetailedError{Failure: httperror.New(422, errcode.InvalidPayload, "The entry is invalid; field_errors lists each mistake."), Fields: list}
}

// asAPIError returns the 409 for the conflict. If Both is set, the answer has both versions.
func (c *ConfigChangeRefusedError) asAPIError() error {
	conflict := &payload.DetailedError{Failure: httperror.New(409, errcode.Conflict, c.Message)}
	if c.Both {
		conflict.Members = map[string]any{"current": c.Current, "sent": c.Sent}
	}
	return conflict
}

// ConfigHistoryQuery selects one page of the configuration's history.
type ConfigHistoryQuery struct {
	Kind  canonical.Collection // empty: all
	ID    string               // of that kind; empty: all
	Limit int
	After uint32 // a version; returns older ones; zero: from the newest on
}

// ConfigHistoryPage is one page of the configuration's history, newest version first.
type ConfigHistoryPage struct {
	Entries []ConfigHistoryVersion
	Next    uint32 // version after which the next page starts; zero: no more pages
}

// ConfigHistoryVersion is one version of the configuration, with its differences from the version
// before.
type ConfigHistoryVersion struct {
	Version uint32              `json:"version"`
	At      *time.Time          `json:"at"` // null: an earlier version of the program did not record it
	By      string              `json:"by"`
	From    string              `json:"from"`
	Changes []ConfigValueChange `json:"changes"`
	More    int                 `json:"more,omitempty"` // number of omitted changes
	Lost    bool                `json:"lost,omitempty"` // its document, or the one before it, cannot be read
}

// ConfigValueChange is one value that differs between two versions of the configuration.
type ConfigValueChange struct {
	Path   string          `json:"path"`
	Before json.RawMessage `json:"before,omitempty"` // absent: it was added
	After  json.RawMessage `json:"after,omitempty"`  // absent: it was removed
}

const (
	defaultPage = 50
	maxPage     = 500
)

func (a *Admin) getConfigHistory(ctx *fasthttp.RequestCtx) (answer any, err error) {
	query, err := readConfigHistoryQuery(ctx.QueryArgs())
	if err != nil {
		return nil, err
	}
	page, err := a.exchange.History(query)
	if err != nil {
		return nil, err
	}
	history := struct {
		Entries []ConfigHistoryVersion `json:"entries"`
		Next    *string                `json:"next"`
	}{Entries: append([]ConfigHistoryVersion{}, page.Entries...)}
	for i := range history.Entries {
		history.Entries[i].Changes = append([]ConfigValueChange{}, history.Entries[i].Changes...)
	}
	if page.Next != 0 {
		next := strconv.FormatUint(uint64(page.Next), 10)
		history.Next = &next
	}
	return history, nil
}

// readConfigHistoryQuery parses the query parameters of GET config/history.
func readConfigHistoryQuery(args *fasthttp.Args) (q ConfigHistoryQuery, err error) {
	bad := func(field, expected string) (ConfigHistoryQuery, error) {
		return q, payload.NewInvalidFieldError(field, errcode.FieldNotAllowedValue, expected)
	}
	q.Limit, q.Kind, q.ID = defaultPage, canonical.Collection(args.Peek("kind")), string(args.Peek("id"))
	if q.Kind != "" && !slices.Contains(canonical.Collections[:], q.Kind) {
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
			return bad("after", "next of the page before")
		}
		q.After = uint32(after)
	}
	return q, nil
}
