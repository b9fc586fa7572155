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
	add("GET", "/admin/v1/config/history", a.withAnswer(a.getConfigHistory))
	add("GET", "/admin/v1/config/defaults", a.withAnswer(a.getConfigDefaults))
	for _, kind := range canonical.Kinds {
		at := "/admin/v1/config/" + string(kind)
		add("GET", at, a.withAnswer(func(*fasthttp.RequestCtx) (any, error) { return a.listConfigEntries(kind) }))
		add("GET", at+"/{id}", a.withAnswer(func(ctx *fasthttp.RequestCtx) (any, error) { return a.getConfigEntry(ctx, configRefFrom(ctx, kind)) }))
		addLarge("PUT", at+"/{id}", a.withAnswer(func(ctx *fasthttp.RequestCtx) (any, error) {
			return a.changeConfigEntry(ctx, configRefFrom(ctx, kind), requestBodyOf(ctx))
		}))
		add("DELETE", at+"/{id}", a.withAnswer(func(ctx *fasthttp.RequestCtx) (any, error) {
			return a.changeConfigEntry(ctx, configRefFrom(ctx, kind), nil)
		}))
	}
}

func configRefFrom(ctx *fasthttp.RequestCtx, kind canonical.Kind) canonical.Ref {
	id := pathParameter(ctx, "id")
	return canonical.Ref{Kind: kind, ID: strings.Clone(id)}
}

func (a *Admin) listConfigEntries(kind canonical.Kind) (answer any, err error) {
	items, err := a.operator.Items(kind)
	if err != nil {
		return nil, err
	}
	return map[string]any{"items": append([]ConfigEntry{}, items...)}, nil
}

func (a *Admin) getConfigEntry(ctx *fasthttp.RequestCtx, ref canonical.Ref) (answer any, err error) {
	item, err := a.operator.Item(ref)
	if err != nil {
		return nil, err
	}
	ctx.Response.Header.Set("ETag", `"`+item.ETag+`"`)
	return item, nil
}

// getConfigDefaults answers GET config/defaults with the default values of each kind of
// configuration entry.
func (a *Admin) getConfigDefaults(*fasthttp.RequestCtx) (answer any, err error) {
	defaults, err := canonical.DefaultEntries()
	if err != nil {
		panic("BUG: the defaults are no document: " + err.Error())
	}
	return defaults, nil
}

// changeConfigEntry creates or replaces the configuration entry ref by the body of a PUT, or
// removes it for a DELETE.
func (a *Admin) changeConfigEntry(ctx *fasthttp.RequestCtx, ref canonical.Ref, body []byte) (answer any, err error) {
	change := &ConfigEntryChange{Ref: ref, Dry: isDryRun(ctx.QueryArgs()), By: callerNameOf(ctx)}
	if string(ctx.Method()) == fasthttp.MethodPut {
		var members map[string]json.RawMessage
		if err := json.Unmarshal(body, &members); err != nil || members == nil {
			return nil, request.MalformedJSON("The body is not a JSON object.")
		}
		change.Document = body
	}
	if change.IfMatch, err = readIfMatch(ctx, change.Document != nil); err != nil {
		return nil, err
	}
	changed, err := a.operator.ChangeItem(change)
	if err != nil {
		return nil, withPathsInEntry(ref, err)
	}
	if changed.ETag != "" {
		ctx.Response.Header.Set("ETag", `"`+changed.ETag+`"`)
	}
	changed.Changes, changed.Unapplied = append([]string{}, changed.Changes...), append([]string{}, changed.Unapplied...)
	changed.Warnings = append([]string{}, changed.Warnings...)
	return changed, nil
}

// readIfMatch returns the ETag of the version on which the operator based a change, from the
// header If-Match. A new entry needs If-None-Match: * instead, and has an empty ETag. So
// operators cannot overwrite each other's changes by mistake.
func readIfMatch(ctx *fasthttp.RequestCtx, put bool) (etag string, err error) {
	match := string(ctx.Request.Header.Peek("If-Match"))
	fresh := string(ctx.Request.Header.Peek("If-None-Match"))
	switch etag = strings.Trim(strings.TrimPrefix(match, "W/"), `"`); {
	case etag != "" && etag != "*" && fresh == "":
		return etag, nil
	case match == "" && fresh == "*" && put:
		return "", nil
	}
	return "", invalidField("If-Match", errcode.FieldMissingRequired,
		"the etag of the version that this was made out of, as GET gives it; or If-None-Match: * to make a new one")
}

// withPathsInEntry returns an error of the configuration with the paths of its mistakes inside the
// entry ref. Other errors stay unchanged.
func withPathsInEntry(ref canonical.Ref, err error) error {
	var problems *syntax.Problems
	if !errors.As(err, &problems) {
		return err
	}
	list := fieldErrorsOfProblems(*problems)
	for i := range list {
		if at, ok := ref.PathWithin((*problems)[i].Path); ok {
			list[i].Field = cmp.Or(at, "document")
		}
	}
	return &detailedError{failure: httperror.New(422, errcode.InvalidPayload, "The entry is invalid; field_errors lists each mistake."), fields: list}
}

// asAPIError returns the 409 for the conflict. If another operator changed the entry meanwhile, it
// has both versions.
func (c *ConfigEntryConflict) asAPIError() error {
	conflict := &detailedError{failure: httperror.New(409, errcode.Conflict, c.Message)}
	if c.Both {
		conflict.members = map[string]any{"current": c.Current, "sent": c.Sent}
	}
	return conflict
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

func (a *Admin) getConfigHistory(ctx *fasthttp.RequestCtx) (answer any, err error) {
	query, err := readHistoryQuery(ctx.QueryArgs())
	if err != nil {
		return nil, err
	}
	page, err := a.operator.History(query)
	if err != nil {
		return nil, err
	}
	history := struct {
		Entries []HistoryEntry `json:"entries"`
		Next    *string        `json:"next"`
	}{Entries: append([]HistoryEntry{}, page.Entries...)}
	for i := range history.Entries {
		history.Entries[i].Changes = append([]HistoryChange{}, history.Entries[i].Changes...)
	}
	if page.Next != 0 {
		next := strconv.FormatUint(uint64(page.Next), 10)
		history.Next = &next
	}
	return history, nil
}

// readHistoryQuery parses the query parameters of GET config/history.
func readHistoryQuery(args *fasthttp.Args) (q HistoryQuery, err error) {
	bad := func(field, expected string) (HistoryQuery, error) {
		return q, invalidField(field, errcode.FieldNotAllowedValue, expected)
	}
	q.Limit, q.Kind, q.ID = defaultPage, canonical.Kind(args.Peek("kind")), string(args.Peek("id"))
	if q.Kind != "" && !slices.Contains(canonical.Kinds[:], q.Kind) {
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
	return q, nil
}
